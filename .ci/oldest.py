"""Print constraints for pip: every dependency at the oldest version that pyproject.toml allows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(\[[\w,-]+\])?>=(?P<oldest>[\w.]+)[^;]*(?P<marker>;.*)?"
)


def oldest(requirement: str) -> str | None:
    """The constraint for one requirement: nothing where it has no lower bound."""
    match = REQUIREMENT.fullmatch(requirement.strip())
    if match is None:
        return None
    return f"{match['name']}=={match['oldest']}{match['marker'] or ''}"


def main() -> None:
    """Print a line for each requirement of a user, and of the tests."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    users = ("nutpie", "parquet", "dask", "dev")
    groups = [project["dependencies"], *(project["optional-dependencies"][name] for name in users)]
    for requirement in (text for group in groups for text in group):
        constraint = oldest(requirement)
        print(constraint or f"# {requirement}: no lower bound")


if __name__ == "__main__":
    main()
