"""Make the links of a README absolute, as the page of a package index needs them.

`python .ci/links.py SOURCE`: SOURCE is a copy of the repository; its README is changed.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")


def absolute(text: str, home: str, version: str) -> str:
    """A text whose links lead to the files of a version; pictures to what they hold."""

    def link(match: re.Match[str]) -> str:
        mark, words, path = match.groups()
        return f"{mark}[{words}]({home}/{'raw' if mark else 'blob'}/v{version}/{path})"

    return LINK.sub(link, text)


def main() -> None:
    """Rewrite the README of a source."""
    source = Path(sys.argv[1])
    project = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["project"]
    readme = source / "README.md"
    if home := project.get("urls", {}).get("Homepage"):  # without an address there is none to name
        text = absolute(readme.read_text("utf-8"), home, project["version"])
        readme.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
