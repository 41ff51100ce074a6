"""What each estimator of the register costs: in sorts of the scores, and in copies of the input.

    python docs/benchmarks/estimator_cost.py

One sort is a stable sort of the same scores, `numpy.sort(kind="stable")`, in CPU seconds of one
thread, the least of several. NumPy's default sort is no unit: it takes five times as long on a
processor without the instructions that it was written for.
Memory is the peak of a process of its own above what it held before, by the size of outcomes and
scores. At a million cases there are also scores of 32 bits, and the same numbers widened to 64.
It takes some ten minutes on an idle machine. A run that was stopped goes on where it was, unless
the code, the machine, a library or a setting changed: then it starts again, so that all rows of
the stored results are of one run. The page of estimators shows them.
"""

from __future__ import annotations

import os

THREADS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")
os.environ.update({f"{library}_NUM_THREADS": "1" for library in THREADS})

import argparse
import datetime
import importlib.metadata
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from peers import data, machine, resident

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "estimator_cost.json"
LIBRARIES = ("bayescal", "numpy", "scipy")
SOME, MANY = 1_000_000, 10_000_000
MEASURED = ((SOME, "float64"), (SOME, "float32"), (SOME, "widened"), (MANY, "float64"))
ROUNDS = 3
ENOUGH = 1.0
LONGEST = 60.0


def least(call: Callable[[], Any]) -> float:
    """CPU seconds of a call, the least of several unless it is slow."""
    seconds: list[float] = []
    while len(seconds) < ROUNDS and sum(seconds) < ENOUGH:
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return min(seconds)


def of_type(scores: Any, kind: str) -> Any:
    """Scores of 64 bits, of 32, or rounded to 32 and widened again."""
    return scores.astype("float32").astype("float64") if kind == "widened" else scores.astype(kind)


def measured(name: str, n: int, kind: str, folder: str) -> dict[str, Any]:
    """Cost of one estimator in this process."""
    import bayescal.estimators
    from bayescal.estimators.registry import ESTIMATORS

    estimate = ESTIMATORS[name].function
    assert estimate is getattr(bayescal.estimators, name)
    y, p = data(300)
    estimate(y, of_type(p, kind))
    y = np.load(Path(folder) / f"y{n}.npy")
    p = of_type(np.load(Path(folder) / f"p{n}.npy"), kind)
    size = y.nbytes + p.nbytes
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    estimate(y, p)
    peak = resident("VmHWM") - before
    p64 = p.astype(np.float64)
    seconds, sort = least(lambda: estimate(y, p)), least(lambda: np.sort(p64, kind="stable"))
    return {
        "seconds": seconds,
        "sort": sort,
        "sorts": seconds / sort,
        "input": size,
        "bytes": peak,
        "copies": peak / size,
    }


def in_child(name: str, n: int, kind: str, folder: str) -> dict[str, Any]:
    """The same in a process of its own; without numbers if it takes too long."""
    row = {"name": name, "n": n, "type": kind, "load": os.getloadavg()[0]}
    child = [sys.executable, __file__, "--one", name, str(n), kind, folder]
    try:
        done = subprocess.run(child, stdout=subprocess.PIPE, check=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return row | {"sorts": None, "copies": None}
    return row | json.loads(done.stdout)


def settings() -> dict[str, Any]:
    """What all rows of one run share."""
    commit = subprocess.run(
        ["git", "log", "-1", "--format=%H", "--", "bayescal"],
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
    )
    return {
        "machine": machine(),
        "versions": {name: importlib.metadata.version(name) for name in LIBRARIES},
        "commit": commit.stdout.strip(),
        "rounds": ROUNDS,
        "timeout": LONGEST,
    }


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def run_to_go_on(output: Path, again: bool) -> dict[str, Any]:
    """The stored run if it is of these settings and not finished, else a new one."""
    shared = settings()
    if output.is_file() and not again:
        stored = json.loads(output.read_text("utf-8"))
        same = all(stored.get(key) == value for key, value in shared.items())
        if same and not stored["finished"]:
            return stored
    return shared | {"started": now(), "finished": None, "rows": []}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="names of the register; all of them if none")
    parser.add_argument("--again", action="store_true", help="start again, whatever is stored")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        warnings.simplefilter("ignore")
        name, n, kind, folder = options.one
        print(json.dumps(measured(name, int(n), kind, folder)))
        return

    import bayescal.estimators  # noqa: F401, fills the register
    from bayescal.estimators.registry import ESTIMATORS

    if options.names and options.output == RESULTS:
        parser.error("Some names alone are no full run: say --output, so that the results stay.")
    names = options.names or list(ESTIMATORS)
    run = run_to_go_on(options.output, options.again)
    known = {(row["name"], row["n"], row["type"]) for row in run["rows"]}
    with tempfile.TemporaryDirectory() as folder:
        for n in (SOME, MANY):
            for letter, values in zip("yp", data(n), strict=True):
                np.save(Path(folder) / f"{letter}{n}.npy", values)
        for n, kind in MEASURED:
            for name in names:
                if (name, n, kind) in known:
                    continue
                row = in_child(name, n, kind, folder)
                run["rows"].append(row)
                print(f"{n:>10,} {name:30s}{kind:8s} {row['sorts']}  {row['copies']}", flush=True)
                options.output.write_text(json.dumps(run, indent=1) + "\n", "utf-8")
    run["finished"] = now()
    options.output.write_text(json.dumps(run, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
