"""Check that an sdist and a wheel hold the files of their source, all of them and no others.

`python .ci/contents.py SOURCE DIST`, where SOURCE has nothing but the files that git knows.
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

LEFT_OUT = {".dockerignore", ".gitattributes", ".github", ".pre-commit-config.yaml"} | {
    ".readthedocs.yaml",
    ".zenodo.json",
    "Dockerfile",
}
"""At the top of the source: what only this repository needs."""
MADE = {"PKG-INFO"}
"""What the build adds to an sdist."""


def of_source(source: Path) -> set[str]:
    """Files that the sdist should have."""
    files = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    return {path.as_posix() for path in files if path.parts[0] not in LEFT_OUT}


def of_sdist(path: Path) -> set[str]:
    """Files of an sdist, without its top folder."""
    with tarfile.open(path) as archive:
        names = [member.name for member in archive if member.isfile()]
    return {name.partition("/")[2] for name in names} - MADE


def of_wheel(path: Path) -> set[str]:
    """Files of a wheel, without what describes it."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    return {name for name in names if ".dist-info/" not in name}


def differences(where: str, packed: set[str], expected: set[str]) -> list[str]:
    """One line for each file that is missing or too many."""
    missing = [f"{where} has no {name}" for name in sorted(expected - packed)]
    return missing + [f"{where} should not have {name}" for name in sorted(packed - expected)]


def main() -> None:
    """Compare, and end with an error that names each difference."""
    source, dist = map(Path, sys.argv[1:])
    (sdist,), (wheel,) = dist.glob("*.tar.gz"), dist.glob("*.whl")
    expected = of_source(source)
    package = {name for name in expected if name.startswith("bayescal/")}
    wrong = differences(sdist.name, of_sdist(sdist), expected)
    wrong += differences(wheel.name, of_wheel(wheel), package)
    if wrong:
        raise SystemExit("\n".join(wrong))
    for path in (sdist, wheel):
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
