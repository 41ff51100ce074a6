"""Our estimators beside those of other packages: the same quantity, the same data, the same run.

    pip install -e .[bench]
    python docs/benchmarks/peers.py

Times are CPU seconds of one thread. Ours and the peers' take turns, so that a busy machine slows
both; the minimum is what to compare. Packages that are not installed are skipped and named. What
each package is asked to do stands in `peer_calls.py`.
"""

from __future__ import annotations

import os

THREADS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")
os.environ.update({f"{library}_NUM_THREADS": "1" for library in THREADS})
os.environ["POLARS_MAX_THREADS"] = "1"

import argparse
import gc
import importlib.metadata
import json
import math
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit

from peer_calls import PEERS, QUANTITIES, Call, Calls, bayescal, unchecked

RESULTS = Path(__file__).parent / "results" / "peers.json"
LIBRARIES = ("bayescal", "numpy", "scipy")
LARGE = 10_000_000
SHORTEST = 0.02
ENOUGH = 0.6
SLOW = 2.0
ROUNDS = 15


def data(n: int, seed: int = 0) -> tuple[Any, Any]:
    """Outcomes and over-confident scores without ties."""
    rng = np.random.default_rng(seed)
    scores = rng.beta(2, 1, n)
    return (rng.random(n) < expit(-0.3 + 0.6 * logit(scores))).astype(int), scores


def installed() -> tuple[dict[str, Calls], list[str]]:
    """The calls of every package there is, ours first, and the names of those that are absent."""
    packages, absent = {"bayescal": bayescal()}, []
    for name, calls in PEERS.items():
        try:
            packages[name] = calls()
        except ImportError:
            absent.append(name)
    return packages, absent


def timed(call: Callable[[], Any], number: int) -> tuple[float, Any]:
    """CPU seconds of a call, a mean over several in a row, and what the last returned."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    for _ in range(number):
        returned = call()
    spent = (time.process_time() - start) / number
    gc.enable()
    return spent, returned


def side_by_side(calls: dict[str, Call], y: Any, p: Any) -> list[dict[str, Any]]:
    """Time packages in turn; a slow one leaves after fewer rounds, or after its first call."""
    work = {name: lambda call=call: call.run(y, p) for name, call in calls.items()}
    values, first = {}, {}
    for name, call in calls.items():
        first[name], returned = timed(work[name], 1)
        values[name] = call.value(returned)
        if first[name] < SLOW:
            first[name], _ = timed(work[name], 1)
    number = {name: max(1, math.ceil(SHORTEST / max(first[name], 1e-6))) for name in work}
    rounds = {name: min(ROUNDS, round(ENOUGH / (number[name] * first[name]))) for name in work}
    times = {name: [first[name]] for name in work}
    for turn in range(max(rounds.values())):
        for name, run in work.items():
            if turn < rounds[name]:
                times[name].append(timed(run, number[name])[0])
    return [
        {
            "package": name,
            "minimum": min(times[name]),
            "median": statistics.median(times[name]),
            "rounds": len(times[name]),
            "value": values[name],
            "differs": calls[name].differs,
        }
        for name in calls
    ]


def rows(packages: dict[str, Calls], wanted: list[str], largest: int) -> Iterator[dict[str, Any]]:
    """Every quantity at every size, by all packages that have it.

    Where a peer checks nothing, what ours takes without checks stands beside.
    """
    ours_unchecked = unchecked()
    for quantity in wanted:
        what = QUANTITIES[quantity]
        for n in what.sizes:
            calls = {
                name: package[quantity]
                for name, package in packages.items()
                if quantity in package and n <= min(package[quantity].largest, largest)
            }
            if "bayescal" in calls:
                if quantity in ours_unchecked:
                    calls[""] = ours_unchecked[quantity]
                times = side_by_side(calls, *data(n))
                yield {
                    "quantity": quantity,
                    "title": what.title,
                    "n": n,
                    "goal": what.goal,
                    "calls": [call for call in times if call["package"]],
                    "unchecked": times[-1]["minimum"] if "" in calls else None,
                }


def show(row: dict[str, Any]) -> None:
    ours = row["calls"][0]["minimum"]
    print(f"\n{QUANTITIES[row['quantity']].title}, n = {row['n']}")
    for call in row["calls"]:
        ratio = call["minimum"] / ours
        print(
            f"  {call['package']:24s}{call['minimum']:11.6f} s {ratio:8.2f}{call['value']:14.8f}"
            f"  {call['differs']}",
            flush=True,
        )
    if row.get("unchecked") is not None:
        print(f"  {'ours without checks':24s}{row['unchecked']:11.6f} s", flush=True)


def memory(wanted: list[str]) -> dict[str, float]:
    """Our peak memory above the input at ten million cases, in multiples of the input."""
    table = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, values in zip("yp", data(LARGE), strict=True):
            np.save(Path(folder) / f"{name}.npy", values)
        for quantity in wanted:
            if QUANTITIES[quantity].linear:
                child = [sys.executable, __file__, "--peak-of", quantity, folder]
                done = subprocess.run(child, capture_output=True, check=True)
                table[quantity] = float(done.stdout.split()[-1])
                print(f"  {quantity:20s}{table[quantity]:6.2f}", flush=True)
    return table


def peak_of(quantity: str, folder: str) -> float:
    """Peak memory of one call in this process, less what it held before, by the input's size."""
    call = bayescal()[quantity]
    call.run(*data(200))
    y, p = np.load(Path(folder) / "y.npy"), np.load(Path(folder) / "p.npy")
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    call.run(y, p)
    return (resident("VmHWM") - before) / (y.nbytes + p.nbytes)


def resident(field: str) -> int:
    """Bytes of memory that Linux says this process holds, or has held at most."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(field))


def machine() -> dict[str, Any]:
    """The processor and Python."""
    cpu = Path("/proc/cpuinfo")
    lines = cpu.read_text().splitlines() if cpu.is_file() else []
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.processor(),
        "system": platform.system(),
        "python": platform.python_version(),
        "threads": 1,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("quantities", nargs="*", help="names in peer_calls.py; all of them if none")
    parser.add_argument("--largest", type=int, default=10**6, help="most cases")
    parser.add_argument("--memory", action="store_true", help="peak memory at 10^7 cases as well")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--peak-of", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.peak_of:
        print(peak_of(*options.peak_of))
        return

    wanted = options.quantities or list(QUANTITIES)
    packages, absent = installed()
    gc.freeze()  # collecting what the packages hold would take longer than most calls
    print("Not installed, and skipped:", ", ".join(absent) or "none")
    record: dict[str, Any] = {
        "machine": machine(),
        "versions": {
            name: importlib.metadata.version(name)
            for name in (*LIBRARIES, *(peer for peer in PEERS if peer in packages))
        },
        "absent": absent,
        "memory": memory(wanted) if options.memory else {},
        "rows": [],
    }
    for row in rows(packages, wanted, options.largest):
        show(row)
        record["rows"].append(row)
        options.output.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
