"""How long answers take, and what they cost in memory, beside rivals: one run, one machine.

    pip install -e .[bench]
    python docs/benchmarks/speed.py
    python docs/_scripts/speed_quoted.py  # what README and pages say of speed

Times are CPU seconds of one thread, medians over several calls, after one that is not counted.
Parts are measured one by one and stored as they end; `--only fit cold` measures these alone and
keeps the others; so does `--cells fit gain` in the part on sizes, which stores row after row. What
is not installed is named in the results. `--most 1e6` stops at that many cases. The parts:

    fit         fit + TCE at 200 cases, against samplers that were compiled before
    sizes       cost and memory against n, from 10^2 to 10^8, ours, rivals, and one sort
    cold        import, first fit, demo and an error message, each in a fresh process
    estimators  estimators beside those of other packages, at 10^4 and 10^6 (see peers.py)
    grid        what 2048 cells cost against an exact table of 20 000 scores
"""

from __future__ import annotations

import peers  # first, since it sets the number of threads

# isort: split
import argparse
import datetime
import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import speed_cells

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

RESULTS = Path(__file__).parent / "results" / "speed.json"
LIBRARIES = (
    "bayescal", "numpy", "scipy", "xarray", "pymc", "nutpie", "blackjax", "jax", "relplot",
    "calibre", "netcal", "probcal", "scikit-learn", "uncertainty-calibration",
)  # fmt: skip
CASES = 200
COMPARED = ("ece_width", "logit_smooth", "brier", "ici_lowess", "ece_interval")
COMPARED_AT = (10_000, 1_000_000)


def repeated(call: Callable[[], Any], repeats: int) -> dict[str, Any]:
    """Median and least CPU seconds of a call, after one that is not counted."""
    call()
    times = [peers.timed(call, 1)[0] for _ in range(repeats)]
    return {"seconds": statistics.median(times), "least": min(times), "repeats": repeats}


# fit + TCE at 200 cases


def fit(options: argparse.Namespace) -> dict[str, Any]:
    """Ours, nothing, and the samplers: time, mean and spread of the TCE, effective draws."""
    import bayescal as bc
    from speed_samplers import SAMPLERS, calibration_error

    y, s = bc.simulate.sample("clinical-middle-overconfident", CASES, random_state=1)
    y = np.asarray(y, dtype=float)
    post = bc.fit(y, s, curve="beta", random_state=0)
    rows = {
        "nothing": repeated(lambda: (y, s), 50),
        "bayescal": repeated(lambda: bc.fit(y, s, curve="beta", random_state=0).tce(), 50)
        | described(post.tce().to_numpy(), np.stack(drawn(post), axis=-1))
        | {"weighted_draws": float(post.tree["sample_stats"]["ess"].item())},
        "bayescal, fit alone": repeated(lambda: bc.fit(y, s, curve="beta", random_state=0), 50),
        "bayescal, average": repeated(lambda: bc.fit(y, s, random_state=0).tce(), 20),
    }
    for name, prepare in SAMPLERS.items():
        try:
            sample = prepare(y, s)
        except ImportError as error:
            rows[name] = {"absent": str(error)}
            continue
        draws = sample(y, s)
        error = calibration_error(draws, s)
        times = repeated(
            lambda sample=sample: calibration_error(sample(y, s), s), 3 if name == "pymc" else 11
        )
        rows[name] = times | described(error, draws)
    return {"cases": CASES, "draws": 4000, "rows": rows}


def drawn(post: Any) -> list[Any]:
    """Draws of the coordinates, each of shape (4, 1000)."""
    posterior = post.tree["posterior"]
    return [posterior[name].to_numpy() for name in ("shift", "log_slope", "asymmetry")]


def described(error: Any, draws: Any) -> dict[str, float]:
    """Mean and spread of the TCE, and the least effective number of draws of all numbers."""
    import arviz_stats

    every = [np.asarray(error), *np.moveaxis(draws, -1, 0)]
    effective = [float(arviz_stats.base.array_stats.ess(values)) for values in every]
    return {
        "tce": float(np.mean(error)),
        "tce_sd": float(np.std(error)),
        "effective_draws": min(effective),
    }


# Cost against n


def sizes(options: argparse.Namespace) -> dict[str, Any]:
    """Each kind of work at each size, until it takes a minute; many cases in a process alone."""
    rows = [row for row in options.known.get("rows", []) if row["what"] not in options.cells]
    titles = {name: cell.title for name, cell in speed_cells.CELLS.items()}
    values = {"rows": rows, "titles": titles}
    with tempfile.TemporaryDirectory() as folder:
        for name in options.cells:
            largest = min(speed_cells.CELLS[name].largest, options.most)
            wanted = [n for n in speed_cells.SIZES if n <= largest]
            together = [n for n in wanted if n <= speed_cells.TOGETHER]
            for part in (together, *([n] for n in wanted if n > speed_cells.TOGETHER)):
                measured = [{"what": name} | row for row in in_child(name, part, folder)]
                for row in measured:
                    print(f"  {name:28s}{row}", flush=True)
                rows += measured
                options.save(values)
                if measured[-1].get("seconds", np.inf) > speed_cells.LONGEST:
                    break
    return values


def in_child(name: str, wanted: list[int], folder: str) -> list[dict[str, Any]]:
    """Time and peak memory of a kind of work at these sizes, in one process; or why not."""
    command = [sys.executable, speed_cells.__file__, name, folder, *map(str, wanted)]
    failed = ""
    try:
        done = subprocess.run(command, capture_output=True, timeout=speed_cells.GIVEN)
        printed = done.stdout
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            failed = lines[-1] if lines else f"status {done.returncode}"
    except subprocess.TimeoutExpired as error:
        printed, failed = error.stdout or b"", f"more than {speed_cells.GIVEN:.0f} s"
    rows = [json.loads(line) for line in printed.splitlines() if line.startswith(b"{")]
    return rows + ([{"n": wanted[len(rows)], "failed": failed}] if failed else [])


# Fresh processes

SAMPLE = (
    "import bayescal as bc;y, s = bc.simulate.sample('clinical-middle-overconfident', 200, "
    "random_state=1);post = bc.fit(y, s, random_state=0)"
)
FAMILY = SAMPLE.replace("random_state=0", "curve='beta', random_state=0")
SMALL = """
import json, resource, subprocess, sys, time
begin = time.perf_counter()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wall, used = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
cpu, mb = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
print(json.dumps({"seconds": cpu, "wall": wall, "mb": mb}))
"""
STARTS = {
    "interpreter": ["-c", "pass"],
    "libraries": ["-c", "import numpy, scipy.special, xarray"],
    "import": ["-c", "import bayescal"],
    "fit": ["-c", SAMPLE],
    "fit and TCE": ["-c", f"{SAMPLE};post.tce()"],
    "family and TCE": ["-c", f"{FAMILY};post.tce()"],
    "demo": ["-m", "bayescal", "demo"],
    "error message": ["-m", "bayescal", "assess", "absent.csv"],
}


def cold(options: argparse.Namespace) -> dict[str, Any]:
    """CPU seconds, seconds by the clock, and peak memory of fresh processes; medians of five."""
    rows = {}
    for name, arguments in STARTS.items():
        runs = [started(arguments) for _ in range(6)][1:]
        rows[name] = {
            key: statistics.median(run[key] for run in runs) for key in ("seconds", "wall", "mb")
        }
        print(f"  {name:16s}", rows[name], flush=True)
    return {"rows": rows}


def started(arguments: list[str]) -> dict[str, float]:
    """One fresh interpreter, started by a small one: a child's peak includes its parent's.

    It keeps compiled modules between starts, as Python does unless it is told not to.
    """
    wrapped = [sys.executable, "-c", SMALL, sys.executable, *arguments]
    usual = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(wrapped, capture_output=True, check=True, env=usual)
    return json.loads(done.stdout)


# Estimators, and the grid


def estimators(options: argparse.Namespace) -> dict[str, Any]:
    """Quantities that other packages compute too, as in peers.py, at two sizes."""
    packages, absent = peers.installed()
    rows = []
    for quantity in COMPARED:
        for n in COMPARED_AT:
            calls = {
                name: package[quantity]
                for name, package in packages.items()
                if quantity in package and n <= min(package[quantity].largest, options.most)
            }
            if calls:
                row = {
                    "quantity": quantity,
                    "title": peers.QUANTITIES[quantity].title,
                    "n": n,
                    "calls": peers.side_by_side(calls, *peers.data(n)),
                }
                peers.show(row)
                rows.append(row)
    return {"absent": absent, "rows": rows}


def grid(options: argparse.Namespace) -> dict[str, Any]:
    """What the grid moves at the mode: an exact table of 20 000 scores against its 2048 cells."""
    import bayescal as bc
    from bayescal.data.table import Rows
    from bayescal.inference.density import CurveDensity
    from bayescal.model.problem import prepare

    worst: dict[str, float] = {}
    for name in ("D1", "D3", "D5", "clinical-low-asymmetric", "clinical-middle-overconfident"):
        y, s = bc.simulate.sample(name, 20_000, random_state=0)
        exact, cells = bc.CalibrationData(y, s), bc.CalibrationData(y, s)
        score, row = np.unique(s, return_inverse=True)
        counts = Rows(score, np.bincount(row) * 1.0, np.bincount(row, np.asarray(y, dtype=float)))
        exact._contents = exact._contents._replace(tables={None: counts})
        at = np.linspace(0.01, 0.99, 99)
        problems = [prepare(table, random_state=0) for table in (cells, exact)]
        modes = [CurveDensity(problem).mode() for problem in problems]
        curves = [
            problem.probability(mode.point[None], at)[0]
            for problem, mode in zip(problems, modes, strict=True)
        ]
        errors = [
            problem.trials
            @ np.abs(problem.probability(mode.point[None])[0] - problem.score)
            / problem.n
            for problem, mode in zip(problems, modes, strict=True)
        ]
        sd = np.sqrt(np.diag(np.linalg.inv(modes[1].information)))
        moved = {
            "mode_in_sd": float(np.max(np.abs(modes[0].point - modes[1].point) / sd)),
            "tce_at_mode": float(abs(errors[0] - errors[1])),
            "curve_at_mode": float(np.max(np.abs(curves[0] - curves[1]))),
        }
        worst = {key: max(worst.get(key, 0.0), value) for key, value in moved.items()}
    return worst


PARTS = {"fit": fit, "sizes": sizes, "cold": cold, "estimators": estimators, "grid": grid}


def versions() -> dict[str, str]:
    """Of every library there is; the others are called absent."""
    known = {}
    for name in LIBRARIES:
        try:
            known[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            known[name] = "absent"
    return known


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--most", type=float, default=1e8, help="most cases")
    cells = list(speed_cells.CELLS)
    parser.add_argument("--cells", nargs="+", choices=cells, metavar="CELL", default=cells)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    record = json.loads(options.output.read_text("utf-8")) if options.output.is_file() else {}
    record = {part: record[part] for part in PARTS if "measured" in record.get(part, {})}
    for part in options.only:
        print(part, flush=True)
        begin = time.perf_counter()
        options.known = record.get(part, {})

        def save(values: dict[str, Any], part: str = part, begin: float = begin) -> None:
            measured = {
                "on": datetime.date.today().isoformat(),
                "machine": peers.machine(),
                "versions": versions(),
                "minutes": round((time.perf_counter() - begin) / 60, 1),
            }
            record[part] = {"measured": measured, **values}
            options.output.write_text(json.dumps(record, indent=1) + "\n", "utf-8")

        options.save = save
        save(PARTS[part](options))


if __name__ == "__main__":
    main()
