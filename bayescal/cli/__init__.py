"""The `bayescal` command: one file per subcommand, and nothing heavy until one runs."""

from __future__ import annotations

from bayescal.cli.app import main

__all__ = ["main"]
