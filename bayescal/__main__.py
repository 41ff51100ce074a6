"""`python -m bayescal`: the command line."""

from __future__ import annotations

from bayescal.cli import main

if __name__ == "__main__":
    main()
