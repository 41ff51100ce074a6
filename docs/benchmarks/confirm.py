"""Whether results of earlier code are those of the present code, without making all of them again.

Of a script that keeps rows, the first data sets of each cell are stored, and made again. Of any
other one a short run of the code that made the result is held against one of the present code.
"""

from __future__ import annotations

import json
import math
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import kept
import provenance
from calling import ALONE, HERE, REPOSITORY, at_commit, commit, copied, few, run_in_copy

FIRST_SETS = HERE / "results" / "first_sets"
"""Of each script that keeps rows: those of the first data sets of each cell."""
SETS_TO_CONFIRM = 2


def same(one: Any, other: Any) -> bool:
    """Whether two rows say the same: numbers to a millionth, all else but times exactly."""
    if isinstance(one, dict) and isinstance(other, dict):
        told = [key for key in one if key != "time" and not key.endswith("seconds")]
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in told)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)):
        both_missing = math.isnan(one) and math.isnan(other)
        return both_missing or math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12)
    return bool(one == other)


def stored(file: Path) -> Any:
    """What a script stored, as lists and mappings; of columns all but the versions."""
    if file.suffix == ".json":
        return json.loads(file.read_text("utf-8"))
    with np.load(file) as columns:
        return {name: columns[name].tolist() for name in columns.files if name != "versions"}


def keep_first_sets(name: str, folder: Path) -> int | None:
    """Store the first rows of each cell of a run, and count all; None if it keeps no rows."""
    rows = kept.read(folder / kept.ROWS)
    if not rows:
        return None
    first = [
        json.dumps({"cell": cell, "set": number, "row": row})
        for (cell, number), row in sorted(rows.items())
        if number < SETS_TO_CONFIRM
    ]
    FIRST_SETS.mkdir(parents=True, exist_ok=True)
    (FIRST_SETS / f"{name}.jsonl").write_text("\n".join([*first, ""]), "utf-8")
    return len(rows)


def confirm(name: str, script: Path) -> tuple[dict[str, Any] | None, str]:
    """What to record of a result that is as it was, or nothing; and the answer in words.

    Parameters
    ----------
    name : str
    script : Path
    """
    record = provenance.records().get(name)
    if record is None or name in ALONE:
        return None, f"{'times are its result' if record else 'nothing is stored'}: run it"
    before = kept.read(FIRST_SETS / f"{name}.jsonl")
    if before:
        told, answer = by_first_sets(name, script, before, record)
    else:
        told, answer = by_short_runs(name, script, record["commit"])
    if told is None:
        return None, answer
    now = {
        "version": version("bayescal"),
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "code": provenance.here().code(name),
    }
    return now | told, answer


def by_first_sets(
    name: str, script: Path, before: dict[tuple[str, int], Any], record: dict[str, Any]
) -> tuple[dict[str, Any] | None, str]:
    """Make the first data sets of each cell again.

    Those that differ may have been made on another machine, where a search ends elsewhere: the code
    that made the result then makes them here too.
    """
    with copied(name) as copy:
        wrong, again, used = first_sets(name, script, copy, REPOSITORY)
        if wrong:
            return None, f"FAILED: {wrong}"
    others, where = differing(before, again), ""
    if others:
        with at_commit(record["commit"]) as root:
            if root is None:
                return None, f"{others}, and the commit that made them is not here: run it"
            wrong, before, _ = first_sets(name, script, root / "docs" / "benchmarks", root)
        if wrong or before.keys() != again.keys():
            return None, f"{others}, and the code that made them does not run here: run it"
        if others_here := differing(before, again):
            return None, f"{others_here} where both versions run: run it"
        where = " where both versions run"
    told = {"sets": len(before), "of": record["data_sets"]}
    counted = f"{len(before)} of {record['data_sets']} data sets"
    return told, f"{counted} are as they were{where} ({used:.0f} s)"


def first_sets(
    name: str, script: Path, benchmarks: Path, package: Path
) -> tuple[str, dict[tuple[str, int], Any], float]:
    """What went wrong, rows of the first data sets of each cell, and CPU seconds."""
    more = {kept.FIRST: str(SETS_TO_CONFIRM), "PYTHONPATH": str(package)}
    wrong, used = run_in_copy(name, script, benchmarks, [], more)
    files = (benchmarks / "results" / f"{name}-batches").glob(f"*/{kept.ROWS}")
    return wrong, {key: row for file in files for key, row in kept.read(file).items()}, used


def differing(before: dict[tuple[str, int], Any], again: dict[tuple[str, int], Any]) -> str:
    """How many data sets differ, and which is the first, in words; empty if none does."""
    other = [key for key, row in before.items() if key not in again or not same(row, again[key])]
    if not other:
        return ""
    cell, number = other[0]
    return f"{len(other)} of {len(before)} data sets differ, first set {number} of {cell}"


def by_short_runs(name: str, script: Path, made: str) -> tuple[dict[str, Any] | None, str]:
    """Run the code that made a result, and the present code, with few repeats."""
    arguments = few(script)
    if not arguments:
        return None, "no data sets are stored, and no option makes a short run: run it"
    with at_commit(made) as root, copied(name) as copy:
        if root is None:
            return None, "no data sets are stored, and the commit that made it is not here: run it"
        former = root / "docs" / "benchmarks"
        if not (former / script.relative_to(HERE)).is_file():
            return None, "the script is not that of the commit that made it: run it"
        told = []
        for where, package in ((former, root), (copy, REPOSITORY)):
            for own in where.rglob(f"{name}.json"):
                own.unlink()
            start = time.time()
            wrong, used = run_in_copy(name, script, where, arguments, {"PYTHONPATH": str(package)})
            if wrong:
                return None, f"FAILED: {wrong}"
            told.append(
                {
                    str(file.relative_to(where)): stored(file)
                    for file in sorted([*where.rglob("*.json"), *where.rglob("*.npz")])
                    if file.stat().st_mtime >= start and "-batches" not in str(file)
                }
            )
    words = " ".join(arguments)
    if not told[0] or not same(*told):
        return None, f"short runs ({words}) of both versions differ: run it"
    return {"short": words}, f"short runs ({words}) of both versions are the same ({used:.0f} s)"
