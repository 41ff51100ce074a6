"""Coverage of 95 % intervals of times to an event whose cases come in clusters.

Run `python docs/benchmarks/survival_clusters.py --runs 200`. Patients are measured several times,
and have a random effect on the log-odds of the risk by the horizon. Measurements leave whatever
their score, or early if it is high. Intervals of the averaged posterior, with `cluster=` and
without, are held against the curve of the population. Runs are kept beside the results as they are
made, so that a benchmark that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "survival_clusters.json"
FUNCTIONALS = ("observed_expected", "calibration_slope", "tce")
AT = (0.12, 0.27, 0.5)
"""Scores at which the curve is read."""
MEAN, TOTAL, BETWEEN, FRAILTY, DRAWS = -1.0, 1.1, 0.6, 1.0, 400
SHIFT, SLOPE, LATEST, POWER = 0.2, 0.8, 2.0, 1.2
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
GRID, SHARE = np.polynomial.hermite_e.hermegauss(101)
GRID, SHARE = MEAN + TOTAL * GRID, SHARE / SHARE.sum()


class Cell(NamedTuple):
    """Patients, measurements of each, and how early those with high scores leave."""

    patients: int
    size: int
    rate: float
    by_score: float


CELLS = {
    "60 of 10, whatever the score": Cell(60, 10, 0.7, 0.0),
    "60 of 10, by score": Cell(60, 10, 0.6, 0.9),
    "200 of 5, by score": Cell(200, 5, 0.6, 0.9),
}


def risk(x: Any, effect: Any) -> np.ndarray:
    """Chance of the event by the horizon at log-odds x, of patients with these effects."""
    return expit(MEAN + SHIFT + effect + SLOPE * (x - MEAN))


def marginal(x: np.ndarray) -> np.ndarray:
    """The curve of the population: the mean over patients."""
    return WEIGHTS @ risk(x, FRAILTY * NODES[:, None])


def truths() -> dict[str, float]:
    """Functionals of the curve of the population, and the curve."""
    from bayescal.posterior.functionals import FUNCTIONALS as known
    from bayescal.posterior.functionals import CurveDraws
    from bayescal.posterior.population import Population

    draws = CurveDraws(marginal(GRID)[None], Population(expit(GRID), SHARE[None]))
    true = {name: float(known[name].compute(draws)[0]) for name in FUNCTIONALS}
    at = np.log(AT) - np.log1p(-np.array(AT))
    return true | {f"curve at {s:g}": float(g) for s, g in zip(AT, marginal(at), strict=True)}


def simulate(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Times, events, scores and patients."""
    patient = np.repeat(np.arange(cell.patients), cell.size)
    within = np.sqrt(TOTAL**2 - BETWEEN**2)
    x = MEAN + BETWEEN * rng.standard_normal(cell.patients)[patient]
    x = x + within * rng.standard_normal(patient.size)
    effect = FRAILTY * rng.standard_normal(cell.patients)[patient]
    rate = -np.log1p(-risk(x, effect))
    event = (rng.exponential(1, patient.size) / rate) ** (1 / POWER)
    left = rng.exponential(1, patient.size) / cell.rate
    left = np.minimum(left / np.exp(cell.by_score * (x - MEAN) / TOTAL), LATEST)
    return np.minimum(event, left), event <= left, expit(x), patient


def one_run(name: str, seed: int) -> dict[str, Any]:
    """Intervals of one data set, with the patients named and without."""
    rng = np.random.default_rng([seed, *name.encode()])
    time, event, score, patient = simulate(CELLS[name], rng)
    run: dict[str, Any] = {"censored": float(np.mean(~event & (time < 1)))}
    for how, ids in (("cluster", patient), ("independent", None)):
        options = {"horizon": 1, "cluster": ids, "draws": DRAWS, "random_state": seed}
        post = bc.fit(bc.Survival(time, event), score, **options)
        intervals = {each: list(post.interval(each)) for each in FUNCTIONALS}
        curves = post.curve(AT).to_numpy().reshape(-1, len(AT))
        for s, ends in zip(AT, np.quantile(curves, [0.025, 0.975], axis=0).T, strict=True):
            intervals[f"curve at {s:g}"] = list(map(float, ends))
        run[how] = intervals
    return run


def page_table(stored: dict[str, Any]) -> str:
    """The rows of the page on times to an event."""
    lines = [
        "| patients and measurements, leaving | interval | O/E | slope | TCE "
        "| curve at .12 | at .27 | at .50 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, cell in stored["cells"].items():
        for how, title in {"cluster": "with `cluster=`", "independent": "without"}.items():
            of = [name if how == "cluster" else "", title]
            of += [f"{cell['covered'][f'{how}.{each}'][0]:.2f}" for each in stored["true"]]
            lines.append(f"| {' | '.join(of)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    kept = Rows("survival_clusters")
    true, cells = truths(), {}
    for name, cell in CELLS.items():
        runs = kept.of(name, options.runs, partial(one_run, name))
        rows = {}
        for how in ("cluster", "independent"):
            for each, value in true.items():
                low, high = np.array([run[how][each] for run in runs]).T
                inside = (low <= value) & (value <= high)
                rows[f"{how}.{each}"] = [float(np.mean(inside)), float(np.mean(high - low))]
        censored = float(np.mean([run["censored"] for run in runs]))
        cells[name] = {"runs": len(runs), **cell._asdict(), "censored": censored, "covered": rows}
    versions = library_versions("bayescal", "numpy", "scipy")
    stored = {"versions": versions, "true": true, "cells": cells}
    RESULTS.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
