"""Take results over from another copy of the repository, on this machine, where they were made."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import provenance
from calling import HERE, REPOSITORY

RESULTS = Path("results")
ALSO = {
    "deciding_coverage": "kl_coverage.json",
    "ends_drawn": "ends/drawn.npz",
    "interval_coverage": "coverage-*.json",
}
"""Results that do not have the name of their script."""


def files_of(name: str, folder: Path) -> Iterator[Path]:
    """Result files of a script, as paths below the folder of benchmarks.

    Parameters
    ----------
    name : str
        The script.
    folder : Path
        The folder of benchmarks in some copy.
    """
    shapes = [f"{name}.*", f"{name}/**/*", f"papers/{name}.*", f"first_sets/{name}.jsonl"]
    others = [RESULTS / ALSO[other] for other in ALSO if other != name]
    for shape in (*shapes, *filter(None, [ALSO.get(name)])):
        for path in (folder / RESULTS).glob(shape):
            file = path.relative_to(folder)
            if path.is_file() and not any(map(file.match, map(str, others))):
                yield file


def take(name: str, copy: Path, theirs: dict[str, Any], code: str) -> tuple[bool, str]:
    """Copy the result of a script if it is of the code that stands here.

    Parameters
    ----------
    name : str
        The script.
    copy : Path
        The top of the other copy.
    theirs : dict
        What is recorded of the script there.
    code : str
        The hash of the code that it uses here.

    Returns
    -------
    taken : bool
    answer : str
        In words.
    """
    if theirs["code"] != code:
        return False, "not taken: made by other code"
    if provenance.records().get(name, {}).get("code") == code:
        return False, "not taken: one of this code is here"
    command = ["git", "merge-base", "--is-ancestor", theirs["commit"], "HEAD"]
    if subprocess.run(command, cwd=REPOSITORY, capture_output=True).returncode:
        return False, f"not taken: commit {theirs['commit']} is not in the history of this branch"
    there = copy / "docs" / "benchmarks"
    files = list(files_of(name, there))
    if not files:
        return False, "not taken: no result file is there"
    for file in set(files_of(name, HERE)) - set(files):
        (HERE / file).unlink()
    for file in files:
        (HERE / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(there / file, HERE / file)
    return True, f"taken, {len(files)} {'file' if len(files) == 1 else 'files'}"
