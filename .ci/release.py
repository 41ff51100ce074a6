"""The check before a release: `python .ci/release.py 0.1.0`. It is not part of `.ci/run`.

The version stands in `pyproject.toml` alone and is the one to release; the citation file, the
changes and the site name it, and so do the results of the benchmarks.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Scripts that are run again for a release, each with a result of its name. `claim` is not: its
# protocol allows one run, which is published with the version that it was of.
BENCHMARKS = ("coverage", "gain", "papers", "planning", "speed", "structured")


def problems(root: Path, asked: str) -> list[str]:
    """What is not of this release, one line each."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    wrong = []
    if project["version"] != asked:
        wrong.append(f"pyproject.toml: the version is {project['version']}, not {asked}")
    citation = (root / "CITATION.cff").read_text("utf-8")
    cited = re.search(r"^version: \"?([^\"\n]+)", citation, re.M)
    if cited is None or cited[1] != asked:
        wrong.append(f"CITATION.cff: the version is {cited[1] if cited else 'missing'}")
    changes = (root / "CHANGELOG.md").read_text("utf-8")
    section = re.search(rf"^## \[?{re.escape(asked)}\b.*", changes, re.M)
    if section is None:
        wrong.append(f"CHANGELOG.md: there is no section for {asked}")
    elif re.search(r" \d{4}-\d\d-\d\d$", section[0]) is None:
        wrong.append(f"CHANGELOG.md: no date ends the heading {section[0].removeprefix('## ')!r}")
    if "no release yet" in (root / "docs" / "install.md").read_text("utf-8"):
        wrong.append("docs/install.md: it says that there is no release yet")
    if f"(version {asked})" not in (root / "docs" / "cite.md").read_text("utf-8"):
        wrong.append(f"docs/cite.md: the version to cite is not {asked}")
    for name in BENCHMARKS:
        path = root / "docs" / "benchmarks" / f"{name}.json"
        made = json.loads(path.read_text("utf-8"))["version"] if path.is_file() else "missing"
        if made != asked:
            wrong.append(f"docs/benchmarks/{name}.py: its result is of version {made}")
    return wrong


def main() -> None:
    """Print what is wrong, and end with status 1 if anything is."""
    wrong = problems(ROOT, sys.argv[1])
    print("\n".join(wrong) or "version, citation, changes and results are those of the release")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
