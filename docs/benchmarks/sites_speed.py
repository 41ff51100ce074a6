"""How long hierarchical fits take, and their memory: `python docs/benchmarks/sites_speed.py`.

Each row is measured in a fresh process. Times are CPU seconds of the process and of those it
starts, and for NUTS seconds of the clock as well, since it works on two cores. `--only` measures
some rows and keeps the others.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

import bayescal as bc
from bayescal._base.versions import library_versions

RESULTS = Path(__file__).parent / "results" / "sites_speed.json"
MEAN, WIDTH, SPREAD = -1.3, 1.2, 0.3


class Case(NamedTuple):
    """How many sites of how many patients, and what fits them."""

    sites: int
    patients: int
    engine: str
    repeats: int


CASES = {
    "15 sites of 700": Case(15, 700, "importance", 3),
    "15 sites of 700, NUTS": Case(15, 700, "nuts", 1),
    "100 sites of 100": Case(100, 100, "importance", 3),
    "100 sites of 10 000": Case(100, 10_000, "importance", 3),
    "500 sites of 200": Case(500, 200, "importance", 1),
}


def cases(sites: int, patients: int) -> tuple[np.ndarray, ...]:
    """Outcomes, scores and labels."""
    rng = np.random.default_rng(1)
    site = np.repeat(np.arange(sites), patients)
    x = rng.normal(MEAN, WIDTH, site.size)
    shift = rng.normal(0, SPREAD, sites)[site]
    slope = np.exp(rng.normal(0, SPREAD / 2, sites))[site]
    true = expit(MEAN + shift + slope * (x - MEAN))
    labels = np.array([f"{k:03}" for k in range(sites)])[site]
    return (rng.random(site.size) < true).astype(int), expit(x), labels


def used() -> float:
    """CPU seconds of this process and of those that it started and that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def megabytes() -> float:
    """Largest memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str) -> dict[str, Any]:
    """Seconds of the table, of the fit and of what a new site will meet; memory; diagnostics."""
    case = CASES[name]
    outcome, score, labels = cases(case.sites, case.patients)
    bc.fit(outcome[:100], score[:100], groups=labels[:100], curve="logistic", random_state=1)
    before, start = megabytes(), used()
    data = bc.CalibrationData(outcome, score, groups=labels)
    table = used() - start
    fits, clock, normal = [], [], bc.by("site", robust=False)
    for _ in range(case.repeats):
        start, now = used(), time.perf_counter()
        post = bc.fit(data, vary=normal, curve="logistic", engine=case.engine, random_state=1)
        fits.append(used() - start)
        clock.append(time.perf_counter() - now)
    start = used()
    post.new_site().interval("tce")
    numbers = {key: value for key, value in post.diagnostics.items() if key != "engine"}
    return {
        "sites": case.sites,
        "patients": case.sites * case.patients,
        "engine": case.engine,
        "table_cpu_seconds": table,
        "fit_cpu_seconds": float(np.median(fits)),
        "fit_clock_seconds": float(np.median(clock)),
        "new_site_cpu_seconds": used() - start,
        "megabytes": megabytes(),
        "megabytes_before": before,
        "diagnostics": numbers,
    }


def main() -> None:
    """Measure every row, or those of `--only`."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--here", choices=list(CASES), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options.here)))
        return
    record = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {"rows": {}}
    for name in options.only:
        command = [sys.executable, __file__, "--here", name]
        answer = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        record["rows"][name] = json.loads(answer.splitlines()[-1])
        record["versions"] = library_versions("bayescal", "numpy", "scipy", "pymc")
        RESULTS.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
        print(name, json.dumps(record["rows"][name]), flush=True)


if __name__ == "__main__":
    main()
