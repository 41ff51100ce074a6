"""Print the files of tests that one of two environments runs: `python .ci/quick.py 0`, or 1.

One environment has the newest Python, the other the oldest dependencies. Both run the tests of
rooms that use other libraries. Of tests that mostly compute with NumPy, and of arguments that are
refused, each runs every sixth file; the two have no file in common. Tests of texts, of names and
of stored results do not depend on versions: neither runs them. The README's command runs all
tests but the long ones on Python 3.11, and every night all run on every Python
(`.github/workflows/nightly.yml`).
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TESTS = Path("tests")
DIVIDED = re.compile(
    r"tests/(assessment|estimators|fitting|gain|model|multilevel|planning|scores|validation)/"
    r"|tests/posterior/(?!test_arviz|test_edited_trees|test_posterior|test_on)"
    r"|tests/test_(hostile|hostile_arguments|invariance|labels)\.py"
)
NEITHER = re.compile(
    r"tests/(papers/|test_(architecture|benchmarks|cards|cautions|ci|collection|combinations|docs"
    r"|docs_tables|forge|learning_pages|one_of_each|page_tables|parameter_words|prose_numbers"
    r"|provenance|public_types|reference_data|robust_part|site|words)\.py"
    r"|test_\w+_(benchmark|page)\.py)"
)


PARTS = 6
"""Of the files that are divided each environment runs one part of so many."""


def share(files: list[str], which: int) -> list[str]:
    """The files for one of the two environments."""
    divided = [name for name in files if DIVIDED.match(name)]
    left_out = {name for k, name in enumerate(divided) if k % PARTS != which}
    return [name for name in files if name not in left_out and not NEITHER.match(name)]


def main() -> None:
    """Print one file a line."""
    files = sorted(path.as_posix() for path in TESTS.rglob("test_*.py"))
    print("\n".join(share(files, int(sys.argv[1]))))


if __name__ == "__main__":
    main()
