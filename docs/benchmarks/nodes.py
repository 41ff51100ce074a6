"""Time of fits with Gauss nodes against merged rows: an older tree of the package and this one.

Run `python docs/benchmarks/nodes.py`. The older tree is that of the last commit with merged rows,
which is taken from git; another tree is named as `nodes.py ../before`. Each call is measured in
fresh processes of one thread, the two trees in turns, so that a busy minute of the machine slows
both. Stored are CPU seconds, the least of the turns, their ratio, and the log evidence of several
sites, which merged rows bias, with its Monte Carlo error.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

RESULTS = Path(__file__).parent / "results" / "nodes.json"
ROOT = Path(__file__).resolve().parents[2]
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
TRUTH = "clinical-middle-overconfident"
SITES = {"15 x 700": (15, 700), "100 x 1000": (100, 1000), "500 x 200": (500, 200)}
MERGED_ROWS = "83460c3"
"""The last commit whose fits merge rows."""
LONG = 0.5
"""Seconds from which a call is not repeated in a process."""


def sites(number: int, patients: int) -> tuple[np.ndarray, ...]:
    """Outcomes, scores and labels."""
    rng = np.random.default_rng(3)
    site = np.repeat(np.arange(number), patients)
    x = rng.normal(-1.0, 1.2, site.size)
    shift, slope = rng.normal(0.2, 0.4, number), np.exp(rng.normal(-0.1, 0.2, number))
    y = rng.random(site.size) < expit(shift[site] + slope[site] * x)
    return y.astype(int), expit(x), np.array([f"{k:03}" for k in range(number)])[site]


def calls() -> dict[str, Callable[[], Callable[[], Any]]]:
    """What is timed, by name: each makes its data and gives the call."""
    import bayescal as bc

    def one(n: int, door: Callable[..., Any], **options: Any) -> Callable[[], Any]:
        data = bc.CalibrationData(*bc.simulate.sample(TRUTH, n, random_state=1))
        return lambda: door(data, random_state=0, **options)

    def several(number: int, patients: int) -> Callable[[], Any]:
        y, s, label = sites(number, patients)
        data = bc.CalibrationData(y, s, groups=label)
        return lambda: bc.fit(data, curve="logistic", random_state=1)

    made: dict[str, Callable[[], Callable[[], Any]]] = {}
    for n in (200, 2000, 20_000, 1_000_000):
        made[f"fit, beta, {n:,} cases"] = lambda n=n: one(n, bc.fit, curve="beta")
    for n in (200, 20_000, 1_000_000):
        made[f"compare, {n:,} cases"] = lambda n=n: one(n, bc.compare)
    for name, (number, patients) in SITES.items():
        made[f"sites, {name}"] = lambda a=number, b=patients: several(a, b)
    return made


def measure(name: str) -> dict[str, float]:
    """CPU seconds of a call in this process, and its log evidence if it is of several sites."""
    warnings.simplefilter("ignore")
    call, times = calls()[name](), []
    if not name.startswith("sites"):
        call()
    while True:
        start = time.process_time()
        result = call()
        times.append(time.process_time() - start)
        if len(times) == 15 or sum(times) > LONG:
            break
    row = {"seconds": min(times)}
    if name.startswith("sites"):
        facts = result.diagnostics
        row |= {key: float(facts[key]) for key in ("log_evidence", "log_evidence_error")}
    return row


def in_tree(tree: Path, name: str) -> dict[str, float]:
    """The same in a fresh process, of the package in another tree."""
    command = [sys.executable, __file__, "--here", name]
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", nargs="?", type=Path)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--here", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options.here)))
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(options.before or tree_of(MERGED_ROWS, Path(folder)), options.turns)


def tree_of(commit: str, folder: Path) -> Path:
    """The package of a commit, written into a folder."""
    command = ["git", "archive", commit, "bayescal"]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def compare(before: Path, turns: int) -> None:
    """Time every call in both trees, and store the results."""
    rows: dict[str, Any] = {}
    for name in calls():
        measured = [
            {key: in_tree(tree.resolve(), name) for key, tree in trees.items()}
            for trees in turns * [{"rows": before, "nodes": ROOT}]
        ]
        row = {key: min((turn[key] for turn in measured), key=least) for key in ("rows", "nodes")}
        rows[name] = row | {"ratio": row["rows"]["seconds"] / row["nodes"]["seconds"]}
        print(f"{name:28s}{rows[name]}", flush=True)
        RESULTS.write_text(json.dumps({"rows": rows}, indent=1) + "\n", "utf-8")


def least(row: dict[str, float]) -> float:
    return row["seconds"]


if __name__ == "__main__":
    main()
