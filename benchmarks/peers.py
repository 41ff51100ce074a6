"""Our estimators beside those of other packages: the same quantity, the same data, the same run.

    pip install -e .[bench]
    python benchmarks/peers.py

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
import resource
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
from peer_calls import PEERS, QUANTITIES, Call, Calls, bayescal
from scipy.special import expit, logit

RESULTS = Path(__file__).parent / "results" / "peers.json"
LIBRARIES = ("bayescal", "numpy", "scipy")
LARGE = 10_000_000
SHORTEST = 0.02
ENOUGH = 1.5
ROUNDS = 15


def data(n: int, seed: int = 0) -> tuple[Any, Any]:
    """Outcomes and over-confident scores without ties."""
    rng = np.random.default_rng(seed)
    scores = rng.beta(2, 1, n)
    return (rng.random(n) < expit(-0.3 + 0.6 * logit(scores))).astype(int), scores


def installed() -> tuple[dict[str, Calls], list[str]]:
    """The calls of every package there is, ours first, and the names of those that are absent."""
    found, absent = {"bayescal": bayescal()}, []
    for name, calls in PEERS.items():
        try:
            found[name] = calls()
        except ImportError:
            absent.append(name)
    return found, absent


def seconds(call: Callable[[], object], number: int) -> float:
    """CPU seconds of a call, a mean over several in a row."""
    gc.collect()
    gc.disable()
    start = time.process_time()
    for _ in range(number):
        call()
    spent = (time.process_time() - start) / number
    gc.enable()
    return spent


def side_by_side(calls: dict[str, Call], y: Any, p: Any) -> list[dict[str, Any]]:
    """Time packages in turn; a slow one leaves after fewer rounds."""
    work = {name: lambda call=call: call.run(y, p) for name, call in calls.items()}
    values = {name: call.value(work[name]()) for name, call in calls.items()}
    first = {name: seconds(run, 1) for name, run in work.items()}
    number = {name: max(1, math.ceil(SHORTEST / max(first[name], 1e-6))) for name in work}
    rounds = {
        name: min(ROUNDS, max(1, round(ENOUGH / (number[name] * first[name])))) for name in work
    }
    times: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(max(rounds.values())):
        for name, run in work.items():
            if turn < rounds[name]:
                times[name].append(seconds(run, number[name]))
    return [
        {
            "package": name,
            "minimum": min(times[name]),
            "median": statistics.median(times[name]),
            "rounds": rounds[name],
            "value": values[name],
            "differs": calls[name].differs,
        }
        for name in calls
    ]


def rows(found: dict[str, Calls], wanted: list[str], largest: int) -> Iterator[dict[str, Any]]:
    """Every quantity at every size, by all packages that have it."""
    for quantity in wanted:
        what = QUANTITIES[quantity]
        for n in what.sizes:
            calls = {
                name: package[quantity]
                for name, package in found.items()
                if quantity in package and n <= min(package[quantity].largest, largest)
            }
            if "bayescal" in calls:
                timed = side_by_side(calls, *data(n))
                yield {"quantity": quantity, "n": n, "goal": what.goal, "calls": timed}


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


def memory(found: dict[str, Calls], wanted: list[str], slowest: float) -> list[dict[str, Any]]:
    """Peak memory above the input at ten million cases, in multiples of the input."""
    y, p = data(LARGE)
    table = []
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "y.npy", y)
        np.save(Path(folder) / "p.npy", p)
        del y, p
        for quantity in wanted:
            for package in found:
                if quantity not in found[package] or not QUANTITIES[quantity].linear:
                    continue
                child = [sys.executable, __file__, "--peak-of", package, quantity, folder]
                try:
                    done = subprocess.run(child, capture_output=True, timeout=slowest, check=True)
                except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as stopped:
                    print(f"  {quantity:20s} {package:24s} {type(stopped).__name__}", flush=True)
                    continue
                peak = float(done.stdout.split()[-1])
                print(f"  {quantity:20s} {package:24s} {peak:6.2f}", flush=True)
                table.append({"quantity": quantity, "package": package, "peak": peak})
    return table


def peak_of(package: str, quantity: str, folder: str) -> float:
    """Peak memory of one call in this process, less what it held before, by the input's size."""
    call = {"bayescal": bayescal, **PEERS}[package]()[quantity]
    call.run(*data(200))
    y, p = np.load(Path(folder) / "y.npy"), np.load(Path(folder) / "p.npy")
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    call.run(y, p)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return (peak - pages * resource.getpagesize()) / (y.nbytes + p.nbytes)


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
    parser.add_argument("--slowest", type=float, default=60, help="seconds for a memory run")
    parser.add_argument("--output", type=Path, default=RESULTS)
    parser.add_argument("--peak-of", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.peak_of:
        print(peak_of(*options.peak_of))
        return

    wanted = options.quantities or list(QUANTITIES)
    found, absent = installed()
    print("Not installed, and skipped:", ", ".join(absent) or "none")
    record: dict[str, Any] = {
        "machine": machine(),
        "versions": {
            name: importlib.metadata.version(name)
            for name in (*LIBRARIES, *(peer for peer in PEERS if peer in found))
        },
        "absent": absent,
        "rows": [],
    }
    for row in rows(found, wanted, options.largest):
        show(row)
        record["rows"].append(row)
    record["memory"] = memory(found, wanted, options.slowest) if options.memory else []
    options.output.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
