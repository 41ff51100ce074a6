"""Coverage of the three populations of a report: `python docs/benchmarks/sites_head.py [--runs N]`.

Data sets of 5, 12 and 40 hospitals with 20 to 500 patients each, drawn as in `sites.py`, whose
standard deviation between hospitals is 0, 0.2 and 0.4, calibrated on average or not. Each gives the
rows of `Assessment.populations`: these hospitals' patients, the average hospital and the next one,
which is a fresh hospital in each set. Of these hospitals' patients, the C-statistic, the Brier
score and the net benefit are held against the truth as well. A last cell has 12 equal, calibrated
hospitals of 500 patients. Runs are kept beside the results as they are made, so that a benchmark
that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit, ndtri

import bayescal as bc
from bayescal.assessment.populations import populations_of
from kept import Rows
from sites import MEAN, POPULATION, RESULTS, TRUTHS, WIDTH, cases, coordinates, curve

HOSPITALS, SPREADS = (5, 12, 40), (0.0, 0.2, 0.4)
EQUAL, EQUAL_SIZE = "equal", 500
CLOSE, CI, FALSE_AT = 0.03, 0.95, 0.8
THRESHOLD = 0.2
NEXT_HOSPITALS = 2000
"""Hospitals of which the median error is taken."""
LAW = expit(MEAN + WIDTH * ndtri((np.arange(400) + 0.5) / 400))
"""Scores at equal shares of their law."""

Run = dict[str, float]


def truth_of(risk: np.ndarray) -> Run:
    """Measures of a curve, as risks at the scores of `LAW`."""
    event, other = risk / risk.size, (1 - risk) / risk.size
    reached = LAW >= THRESHOLD
    odds = THRESHOLD / (1 - THRESHOLD)
    below = np.cumsum(other) - other / 2
    return {
        "tce": float(np.abs(risk - LAW).mean()),
        "observed_expected": float(risk.mean() / LAW.mean()),
        "calibration_slope": slope_of(risk),
        "c_statistic": float(event @ below / (event.sum() * other.sum())),
        "brier": float((risk * (1 - LAW) ** 2 + (1 - risk) * LAW**2).mean()),
        "net_benefit": float(event[reached].sum() - odds * other[reached].sum()),
    }


def slope_of(risk: np.ndarray) -> float:
    """Slope of the logistic curve nearest to the risks."""
    x = np.column_stack([np.ones_like(LAW), np.log(LAW / (1 - LAW))])
    at = np.array([0.0, 1.0])
    for _ in range(50):
        fitted = expit(x @ at)
        hessian = x.T @ (x * (fitted * (1 - fitted))[:, None])
        at = at + np.linalg.solve(hessian, x.T @ (risk - fitted))
    return float(at[1])


def drawn(hospitals: int, spread: float, truth: str, seed: int) -> tuple[np.ndarray, ...]:
    """Coordinates of the hospitals, and their outcomes, scores and numbers."""
    if truth == EQUAL:
        rng = np.random.default_rng([seed, hospitals])
        at, site = np.zeros((hospitals, 2)), np.repeat(np.arange(hospitals), EQUAL_SIZE)
        score = expit(rng.normal(MEAN, WIDTH, site.size))
        return at, (rng.random(site.size) < score).astype(int), score, site
    rng = np.random.default_rng([seed, hospitals, round(100 * spread), TRUTHS.index(truth)])
    at = coordinates(hospitals, spread, truth, rng)
    return at, *cases(at, rng)


def one_run(hospitals: int, spread: float, truth: str, seed: int) -> Run:
    """What one data set says of the three populations, and whether it is true."""
    at, outcome, score, site = drawn(hospitals, spread, truth, seed)
    others = np.random.default_rng([seed, hospitals, round(100 * spread), 7])
    start = time.process_time()
    data = bc.CalibrationData(outcome, score, site=np.array([f"{k:03}" for k in site]))
    post = bc.fit(data, vary="site", curve="logistic", draws=1000, random_state=seed)
    table = populations_of(post, CLOSE, CI)
    row = {"seconds": time.process_time() - start, "k": float(post.diagnostics["pareto_k"])}
    share = np.bincount(site) / site.size
    law = truth if truth in TRUTHS else TRUTHS[0]
    fresh = curve(coordinates(1, spread, law, others), LAW)[0]
    risks = {
        "these": share @ curve(at, LAW),
        "average": curve(np.array([POPULATION[law]]), LAW)[0],
        "next": fresh,
    }
    for name, risk in risks.items():
        true = truth_of(risk)
        for measure in ("tce", "observed_expected", "calibration_slope"):
            lower, upper = (float(table[f"{measure}_{end}"][name]) for end in ("lower", "upper"))
            row[f"{name}.{measure}"] = float(lower <= true[measure] <= upper)
            row[f"{name}.{measure}.width"] = upper - lower
        row[f"{name}.close"] = float(table["verdict"][name] == "close enough")
        row[f"{name}.miscalibrated"] = float(table["verdict"][name] == "miscalibrated")
        row[f"{name}.prob_close"] = float(table["prob_close"][name])
        row[f"{name}.is_close"] = float(true["tce"] < CLOSE)
    true = truth_of(risks["these"])
    told = post.at().performance_summary([THRESHOLD], CI)
    for measure, named in (
        ("c_statistic", "c_statistic"),
        ("brier", "brier"),
        ("net_benefit", f"net_benefit@{THRESHOLD:g}"),
    ):
        lower, upper = float(told["lower"][named]), float(told["upper"][named])
        row[f"these.{measure}"] = float(lower <= true[measure] <= upper)
    if spread:
        later = curve(coordinates(NEXT_HOSPITALS, spread, law, others), LAW)
        limit = FALSE_AT * float(np.median(np.abs(later - LAW).mean(axis=1)))
        row["next.false_close"] = float(post.new().prob_tce_below(limit) >= (1 + CI) / 2)
    return row


def plain_coverage(sets: int) -> float:
    """How often the plain interval of a mean holds the Brier score, of equal hospitals."""
    true, covered = truth_of(LAW)["brier"], []
    for seed in range(sets):
        _, outcome, score, _ = drawn(12, 0.0, EQUAL, seed)
        each = (outcome - score) ** 2
        covered.append(abs(each.mean() - true) < -ndtri(0.025) * each.std() / np.sqrt(each.size))
    return float(np.mean(covered))


def cells() -> Iterator[tuple[int, float, str]]:
    """Every cell, the last of equal hospitals."""
    yield 12, 0.0, EQUAL
    for truth in TRUTHS:
        for hospitals in HOSPITALS:
            for spread in SPREADS:
                yield hospitals, spread, truth


def summarised(rows: list[Run]) -> dict[str, Any]:
    """Means over the runs of a cell."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    means = {name: float(np.mean([row[name] for row in rows])) for name in names}
    return {"runs": len(rows), "mean": {name: round(mean, 5) for name, mean in means.items()}}


ROWS = {
    "these": "the patients of these hospitals",
    "average": "the average hospital",
    "next": "the next hospital",
}


def page_table(stored: dict[str, Any]) -> str:
    """Coverage by hospitals and spread, as the page on groups has it."""
    lines = [
        "| hospitals | sd | sets | population | O/E | slope | TCE | said close enough |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for cell in stored["cells"]:
        if cell["truth"] != TRUTHS[0]:
            continue
        mean = cell["mean"]
        for name, label in ROWS.items():
            measures = ("observed_expected", "calibration_slope", "tce", "close")
            shown = " | ".join(f"{mean[f'{name}.{each}']:.2f}" for each in measures)
            first = f"{cell['hospitals']} | {cell['spread']:g} | {cell['runs']}"
            lines.append(f"| {first if name == 'these' else ' | | '} | {label} | {shown} |")
    return "\n".join(lines)


def main() -> None:
    """Make the runs that are not there yet, and write all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--truths", nargs="+", default=[EQUAL, *TRUTHS], help="only these")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kept, record = Rows("sites_head"), []
    for hospitals, spread, truth in cells():
        if truth in options.truths:
            one = partial(one_run, hospitals, spread, truth)
            rows = kept.of(f"{truth}-{hospitals}-{spread:g}", options.runs, one)
            cell = {"truth": truth, "hospitals": hospitals, "spread": spread}
            record.append(cell | summarised(rows))
    lines = ",\n".join(map(json.dumps, record))
    plain = json.dumps({str(sets): plain_coverage(sets) for sets in (200, 2000)})
    text = f'{{"plain_brier": {plain},\n"cells": [\n{lines}\n]}}\n'
    (RESULTS / "sites_head.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
