"""What each estimator of the register costs: in sorts of the scores, and in copies of the input.

    python docs/benchmarks/estimator_cost.py

One sort is `numpy.sort` of the same scores, in CPU seconds of one thread, the least of several.
Memory is the peak of a process of its own above what it held before, by the size of outcomes and
scores. Each estimator has the scores as 64-bit and as 32-bit floats. The results are stored, and
the page of estimators shows them.
"""

from __future__ import annotations

import os

THREADS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")
os.environ.update({f"{library}_NUM_THREADS": "1" for library in THREADS})

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from peers import data, machine, resident

RESULTS = Path(__file__).parent / "results" / "estimator_cost.json"
SIZES = (10_000, 1_000_000, 10_000_000)
TYPES = ("float64", "float32")
ROUNDS = 3
ENOUGH = 2.0
LONGEST = 100


def least(call: Callable[[], Any]) -> float:
    """CPU seconds of a call, the least of several unless it is slow."""
    seconds: list[float] = []
    while len(seconds) < ROUNDS and sum(seconds) < ENOUGH:
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return min(seconds)


def measured(name: str, n: int, kind: str) -> dict[str, Any]:
    """Cost of one estimator in this process."""
    import bayescal.estimators
    from bayescal.estimators.registry import ESTIMATORS

    estimate = ESTIMATORS[name].function
    assert estimate is getattr(bayescal.estimators, name)
    y, p = data(300)
    estimate(y, p.astype(kind))
    y, p = data(n)
    p = p.astype(kind)
    size = y.nbytes + p.nbytes
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    estimate(y, p)
    peak = resident("VmHWM") - before
    seconds, sort = least(lambda: estimate(y, p)), least(lambda: np.sort(p.astype(np.float64)))
    return {
        "name": name,
        "n": n,
        "type": kind,
        "seconds": seconds,
        "sort": sort,
        "sorts": seconds / sort,
        "bytes": peak,
        "copies": peak / size,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="names of the register; all of them if none")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--types", nargs="*", default=TYPES)
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        warnings.simplefilter("ignore")
        name, n, kind = options.one
        print(json.dumps(measured(name, int(n), kind)))
        return

    import bayescal.estimators  # noqa: F401, fills the register
    from bayescal.estimators.registry import ESTIMATORS

    stored = json.loads(options.output.read_text("utf-8"))["rows"] if options.names else []
    rows = {(row["name"], row["n"], row["type"]): row for row in stored}
    for n in options.sizes:
        for name in options.names or ESTIMATORS:
            for kind in options.types:
                child = [sys.executable, __file__, "--one", name, str(n), kind]
                try:
                    done = subprocess.run(child, capture_output=True, check=True, timeout=LONGEST)
                    row = json.loads(done.stdout)
                except subprocess.TimeoutExpired:
                    row = {"name": name, "n": n, "type": kind, "sorts": None, "copies": None}
                rows[name, n, kind] = row
                print(f"{n:>9,} {name:30s}{kind:8s} {row['sorts']}  {row['copies']}", flush=True)
                record = {"machine": machine(), "rows": list(rows.values())}
                options.output.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
