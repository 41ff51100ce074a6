"""Repeated patients inside sites, periods and factors: `python docs/benchmarks/cluster_groups.py`.

Patients are seen several times and have a random effect of their own on the log-odds. Each data set
is fitted with and without `cluster=`. Intervals of O/E and of the calibration slope of every group,
of the average and of the present month are held against the curve of the population, the mean over
patients. Patients are seen in one site, in two sites, or every month. Runs are kept beside the
results as they are made, so that a benchmark that was stopped goes on where it was.
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
from bayescal._base.logistic import logistic_mle
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "cluster_groups.json"
MEAN, SPREAD, WITHIN = -1.0, 1.0, 0.7
"""Log-odds of the scores: mean, standard deviation, and that between visits of one patient."""
DRAWS = 1000
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(41)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
GRID, SHARE = np.polynomial.hermite_e.hermegauss(61)
GRID, SHARE = MEAN + SPREAD * GRID, SHARE / SHARE.sum()
ENDS = ("observed_expected", "calibration_slope")


class Cell(NamedTuple):
    """How patients are seen.

    Attributes
    ----------
    kind : {"site", "period", "sex"}
        What curves vary by; "sex" is crossed with two ages.
    patients : int
        Of each group; of those seen everywhere, in all.
    crossing : int
        In how many groups each patient is seen.
    frailty, between : float
        Standard deviation of the effects of patients, and of the shifts of groups; of the log
        slopes it is half of it.
    change : float
        Of the shift, in the last two periods.
    """

    kind: str
    groups: int
    patients: int
    visits: int
    crossing: int
    frailty: float
    between: float
    change: float = 0.0


CELLS = {
    "sites": Cell("site", 12, 20, 6, 1, 1.0, 0.3),
    "few patients": Cell("site", 6, 8, 12, 1, 1.0, 0.3),
    "independent": Cell("site", 12, 120, 1, 1, 0.0, 0.3),
    "two sites": Cell("site", 12, 20, 6, 2, 1.0, 0.3),
    "factors": Cell("sex", 4, 30, 6, 1, 1.0, 0.2),
    "months": Cell("period", 6, 100, 2, 6, 1.0, 0.0),
    "months, change": Cell("period", 6, 100, 2, 6, 1.0, 0.0, 0.6),
}


def population(shift: float, slope: float, frailty: float) -> np.ndarray:
    """The curve of the population at GRID, the mean over patients."""
    at = shift + slope * (GRID - MEAN) + MEAN
    return WEIGHTS @ expit(at + frailty * NODES[:, None])


def truths(shift: float, slope: float, frailty: float) -> dict[str, float]:
    """O/E, and the slope of the nearest logistic curve, of a population."""
    curve = population(shift, slope, frailty)
    size = 1e6 * SHARE
    line = logistic_mle(expit(GRID), size, size * curve)[0]
    ratio = float(curve @ SHARE / (expit(GRID) @ SHARE))
    return dict(zip(ENDS, (ratio, float(line[1])), strict=True))


def sample(cell: Cell, rng: np.random.Generator) -> tuple[Any, ...]:
    """Outcomes, scores, patients and groups, and the coordinates of the groups."""
    at = rng.standard_normal((cell.groups, 2)) * cell.between * np.array([1.0, 0.5])
    if cell.kind == "period":
        at[-2:, 0] += cell.change
    everywhere = cell.crossing == cell.groups
    patients = cell.patients * (1 if everywhere else cell.groups)
    patient = np.repeat(np.arange(patients), cell.visits * (cell.groups if everywhere else 1))
    turn = np.arange(patient.size) % (cell.visits * (cell.groups if everywhere else 1))
    if everywhere:
        group = turn // cell.visits
    else:
        group = (patient % cell.groups + turn % cell.crossing) % cell.groups
    apart = np.sqrt(SPREAD**2 - WITHIN**2) * rng.standard_normal(patients)
    x = MEAN + apart[patient] + WITHIN * rng.standard_normal(patient.size)
    effect = cell.frailty * rng.standard_normal(patients)
    shift, log_slope = at[group].T
    risk = expit(MEAN + shift + np.exp(log_slope) * (x - MEAN) + effect[patient])
    outcome = (rng.random(patient.size) < risk).astype(int)
    return outcome, expit(x), patient, group, at


def fitted(cell: Cell, cases: tuple[Any, ...], seed: int, *, clustered: bool) -> Any:
    """The posterior of one data set."""
    outcome, score, patient, group, _ = cases
    role: dict[str, Any] = {"site": group, "period": group}
    vary: Any = cell.kind
    roles = {cell.kind: role[cell.kind]} if cell.kind in role else {}
    if cell.kind == "period":
        vary = bc.walk("period")
    if cell.kind == "sex":
        roles = {"factors": {"sex": group % 2, "age": group // 2}}
        vary = ["sex", "age", bc.by("sex", "age")]
    data = bc.CalibrationData(outcome, score, cluster=patient if clustered else None, **roles)
    return bc.fit(data, vary=vary, curve="logistic", draws=DRAWS, random_state=seed)


def covered(view: Any, truth: dict[str, float]) -> dict[str, tuple[bool, float]]:
    """Whether intervals of a view contain the truth, and their lengths."""
    ends = {name: view.interval(name) for name in ENDS}
    return {
        name: (bool(low <= truth[name] <= high), float(high - low))
        for name, (low, high) in ends.items()
    }


def one_run(name: str, seed: int) -> dict[str, Any]:
    """Coverage in one data set, with and without clusters."""
    cell = CELLS[name]
    cases = sample(cell, np.random.default_rng([seed, *name.encode()]))
    at, done = cases[-1], {}
    groups = range(cell.groups)
    each = [truths(at[k, 0], np.exp(at[k, 1]), cell.frailty) for k in groups]
    for how in ("independent", "cluster"):
        post = fitted(cell, cases, seed, clustered=how == "cluster")
        if cell.kind == "period":
            views = {"now": [(post.now(), each[-1])], "first": [(post.at(period="0"), each[0])]}
        elif cell.kind == "site":
            views = {
                "site": [(post.at(site=str(k)), each[k]) for k in list(groups)[:4]],
                "average": [(post.average(), truths(0.0, 1.0, cell.frailty))],
            }
        else:
            levels = [(str(k % 2), str(k // 2)) for k in groups]
            views = {
                "cell": [
                    (post.at(sex=sex, age=age), each[k]) for k, (sex, age) in enumerate(levels)
                ]
            }
        row: dict[str, Any] = {}
        for who, pairs in views.items():
            answers = [covered(view, truth) for view, truth in pairs]
            for end in ENDS:
                row[f"{who}.{end}"] = [
                    float(np.mean([one[end][k] for one in answers])) for k in (0, 1)
                ]
        if cell.kind == "period":
            row["changed"] = [float(post.prob_changed > 0.9), float(post.prob_changed)]
        done[how] = row
    return done


def summarised(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over the data sets: shares covered and lengths."""
    return {
        how: {
            key: [round(float(np.mean([run[how][key][k] for run in runs])), 4) for k in (0, 1)]
            for key in runs[0][how]
        }
        for how in ("independent", "cluster")
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    options = parser.parse_args()
    kept = Rows("cluster_groups")
    cells = {}
    for name, cell in CELLS.items():
        runs = kept.of(name, options.runs, partial(one_run, name))
        cells[name] = {"runs": len(runs), **cell._asdict(), **summarised(runs)}
    versions = library_versions("bayescal", "numpy", "scipy")
    RESULTS.write_text(json.dumps({"versions": versions, "cells": cells}, indent=1) + "\n")


if __name__ == "__main__":
    main()
