"""How long hierarchical fits take, and their memory: `python docs/benchmarks/sites_speed.py`.

Each row is measured in a fresh process. Times are CPU seconds of the process and of those it
starts, the least of a few repeats, beside those of one warm fit of one curve in the same process,
and for NUTS seconds of the clock as well, since it works on two cores. `--only` measures some rows
and keeps the others.
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
    """Groups of how many patients, and what fits them.

    `levels` are of sites, of crossed factors, of periods, or of sites and periods, as `roles` says;
    `patients` are those of each group.
    """

    levels: tuple[int, ...]
    patients: int
    roles: str = "sites"
    repeats: int = 3
    engine: str = "importance"
    robust: bool = True


CASES = {
    "15 sites of 700": Case((15,), 700),
    "15 sites of 700, normal effects": Case((15,), 700, robust=False),
    "15 sites of 700, NUTS": Case((15,), 700, repeats=1, engine="nuts", robust=False),
    "100 sites of 100": Case((100,), 100),
    "100 sites of 1000": Case((100,), 1000),
    "100 sites of 10 000": Case((100,), 10_000),
    "500 sites of 200": Case((500,), 200, repeats=1),
    "4 x 4 x 4 cells of 200": Case((4, 4, 4), 200, "factors"),
    "14 x 14 cells of 200": Case((14, 14), 200, "factors", repeats=1),
    "24 periods of 500": Case((24,), 500, "periods"),
    "100 sites x 24 periods of 20": Case((100, 24), 20, "sites and periods", repeats=1),
    "500 sites x 24 periods of 20": Case((500, 24), 20, "sites and periods", repeats=1),
}
TABLES = {"sites": "sites", "factors": "subgroups", "periods": "periods"}
"""The table of all groups, as each posterior calls it."""


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


def crossed(levels: tuple[int, ...], patients: int) -> tuple[np.ndarray, ...]:
    """Outcomes, scores and the labels of each axis: effects of the axes add up."""
    rng = np.random.default_rng(1)
    size = patients * int(np.prod(levels))
    each = [rng.integers(count, size=size) for count in levels]
    x = rng.normal(MEAN, WIDTH, size)
    shift = sum(
        rng.normal(0, SPREAD, count)[level] for count, level in zip(levels, each, strict=True)
    )
    labels = [
        np.array([f"{k:03}" for k in range(count)])[level]
        for count, level in zip(levels, each, strict=True)
    ]
    return (rng.random(size) < expit(x + shift)).astype(int), expit(x), *labels


def roles_of(case: Case) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Outcomes, scores, and the labels under the names of their roles."""
    if case.roles == "sites":
        outcome, score, labels = cases(case.levels[0], case.patients)
        return outcome, score, {"groups": labels}
    outcome, score, *labels = crossed(case.levels, case.patients)
    if case.roles == "factors":
        return outcome, score, {"groups": {f"factor {k}": each for k, each in enumerate(labels)}}
    names = ["periods"] if case.roles == "periods" else ["groups", "periods"]
    return outcome, score, dict(zip(names, labels, strict=True))


def a_fit() -> float:
    """Least CPU seconds of a warm fit of one curve to 1000 cases, and of its calibration error."""
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    seconds = []
    for _ in range(8):
        start = used()
        bc.fit(y_true, y_prob, curve="beta", random_state=1).tce()
        seconds.append(used() - start)
    return min(seconds)


def used() -> float:
    """CPU seconds of this process and of those that it started and that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def megabytes() -> float:
    """Largest memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str) -> dict[str, Any]:
    """Seconds of the table of cases, the fit, all groups, a new level; memory; diagnostics."""
    case = CASES[name]
    outcome, score, roles = roles_of(case)
    unit = a_fit()
    first = slice(None, 100)
    few = {
        role: {key: each[first] for key, each in labels.items()}
        if isinstance(labels, dict)
        else labels[first]
        for role, labels in roles.items()
    }
    warm: dict[str, Any] = {"curve": "logistic", "engine": "importance", "random_state": 1}
    if case.roles == "sites and periods":
        few = {"groups": few["groups"]}
    bc.fit(outcome[first], score[first], **few, **warm)
    before, start = megabytes(), used()
    table = 0.0
    options: dict[str, Any] = {"curve": "logistic", "engine": case.engine, "random_state": 1}
    asked: tuple[Any, ...] = (outcome, score)
    if case.roles == "sites":
        options["vary"] = bc.by("site", robust=case.robust)
        asked = (bc.CalibrationData(outcome, score, groups=roles.pop("groups")),)
        table = used() - start
    elif case.roles == "sites and periods":
        options["vary"] = ["site", bc.walk("period")]
    fits, clock = [], []
    for _ in range(case.repeats):
        start, now = used(), time.perf_counter()
        post = bc.fit(*asked, **roles, **options)
        fits.append(used() - start)
        clock.append(time.perf_counter() - now)
    start = used()
    if case.roles in TABLES:
        rows = getattr(post, TABLES[case.roles])
        rows() if callable(rows) else rows
    groups, start = used() - start, used()
    if case.roles != "factors":
        post.new("site" if "sites" in case.roles else None).interval("tce")
    numbers = {key: value for key, value in post.diagnostics.items() if key != "engine"}
    return {
        "groups": int(np.prod(case.levels)),
        "patients": int(outcome.size),
        "engine": case.engine,
        "table_cpu_seconds": table,
        "fit_cpu_seconds": min(fits),
        "fit_clock_seconds": min(clock),
        "groups_cpu_seconds": groups,
        "new_site_cpu_seconds": used() - start,
        "a_fit_cpu_seconds": unit,
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
