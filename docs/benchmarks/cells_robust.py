"""Robust and normal effects of cells: `python docs/benchmarks/cells_robust.py [--runs N]`.

Cells of three factors (2 x 2 x 3) with effects of their levels, and one of their own. In three
truths one cell of 80 patients, or two of them, which change from data set to data set, have a true
O/E of 1.56; in the others no cell is unlike the rest. Each data set is fitted with normal effects,
the default, and with a robust effect of the cells, by the engine alone; where there is a bad cell
also by a robust fit that is told which it is. Results are kept in `results/cells_robust.json`,
truth by truth.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit

import bayescal as bc
from bayescal.multilevel.blocks.density import EffectsDensity
from bayescal.multilevel.blocks.drawn import draw_round
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.engine import draw_terms
from bayescal.multilevel.problem import MultilevelProblem, prepare_terms
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "cells_robust.json"
FACTORS = {"sex": ("F", "M"), "device": ("A", "B"), "age": ("<60", "60-79", "80+")}
CELLS = tuple(product(*FACTORS.values()))
TRUTHS = {
    "one bad cell": (0.0, 0.0, 0.85, 300, 1),
    "equal cells": (0.0, 0.0, 0.0, 300, 1),
    "differences": (0.25, 0.1, 0.0, 300, 1),
    "one bad cell, all small": (0.0, 0.0, 0.85, 80, 1),
    "two bad cells": (0.0, 0.0, 0.85, 300, 2),
}
"""Standard deviations of the shifts of levels and of cells, the shift of the small cells, how many
patients each other cell has, and how many cells are small."""
SMALL, APART = 80, 5
"""Patients of a small cell; how far two of them are apart in the list of cells."""
MEAN, WIDTH = -1.3, 1.2
DRAWS = 1000


def sample(
    truth: str, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Outcomes, scores, true risks, the cell of each patient, and the small cells."""
    levels, own, shift, others, bad = TRUTHS[truth]
    size = np.full(len(CELLS), others)
    small = (rng.integers(len(CELLS)) + APART * np.arange(bad)) % len(CELLS)
    size[small] = SMALL
    of_cell = own * rng.standard_normal(len(CELLS))
    of_cell[small] += shift
    for k, names in enumerate(FACTORS.values()):
        effect = levels * rng.standard_normal(len(names))
        of_cell += [effect[names.index(cell[k])] for cell in CELLS]
    at = np.repeat(np.arange(len(CELLS)), size)
    log_odds = rng.normal(MEAN, WIDTH, at.size)
    risk = expit(log_odds + of_cell[at])
    return (rng.random(at.size) < risk).astype(int), expit(log_odds), risk, at, small


def draw_told(problem: MultilevelProblem, bad: np.ndarray) -> MultilevelDraws:
    """Posterior draws of a robust fit that is told which cells are unlike the others."""
    density = EffectsDensity(problem)
    of_group = problem.terms[-1].of_group
    levels = tuple(of_group[problem.cells.index(CELLS[k])] for k in bad)
    drawn = draw_round(density.with_unlike(levels), DRAWS, "told")
    return MultilevelDraws.of_effects(
        problem,
        density.average(drawn.points, drawn.rest),
        np.stack(density.scales(drawn.points)),
        density.effects(drawn.levels, drawn.rest),
        "importance",
        4,
        drawn.stats,
    )


def one_run(truth: str, seed: int) -> dict[str, Any]:
    """What the fits of one data set say of the O/E of every cell."""
    rng = np.random.default_rng([seed, list(TRUTHS).index(truth)])
    outcome, score, risk, at, small = sample(truth, rng)
    factors = {name: np.array([CELLS[k][j] for k in at]) for j, name in enumerate(FACTORS)}
    data, row = bc.CalibrationData(outcome, score, factors=factors), {}
    for how in ("normal", "robust", "told") if TRUTHS[truth][2] else ("normal", "robust"):
        start = time.process_time()
        term = bc.by(*FACTORS, robust=None if how == "normal" else True)
        problem = prepare_terms(
            data, [*FACTORS, term], prior="neutral", curve="logistic", random_state=seed
        )
        drawn = draw_told(problem, small) if how == "told" else draw_terms(problem, DRAWS)
        row[f"{how}.seconds"] = time.process_time() - start
        row[f"{how}.k"] = drawn.stats["pareto_k"]
        centre = logit(problem.pooled.frame.centre)
        scores, covered = np.empty((2, len(CELLS)))
        for k, cell in enumerate(CELLS):
            own = drawn.groups[problem.cells.index(cell)]
            off_centre = logit(score[at == k]) - centre
            curve = expit(centre + own[:, :1] + np.exp(own[:, 1:]) * off_centre)
            ratio = curve.sum(axis=1) / score[at == k].sum()
            lower, upper = np.quantile(ratio, [0.025, 0.975])
            true = risk[at == k].sum() / score[at == k].sum()
            off = max(lower - true, true - upper, 0.0)
            scores[k], covered[k] = upper - lower + 2 / 0.05 * off, off == 0
        rest = ~np.isin(np.arange(len(CELLS)), small)
        for name, values in (("score", scores), ("covered", covered)):
            row[f"{how}.small.{name}"] = float(values[small].mean())
            row[f"{how}.rest.{name}"] = float(values[rest].mean())
            row[f"{how}.all.{name}"] = float(values.mean())
        if how == "robust":
            unlike = drawn.unlike.mean(axis=1)[[problem.cells.index(cell) for cell in CELLS]]
            row["unlike.small"], row["unlike.rest"] = unlike[small].mean(), unlike[rest].mean()
    return {name: float(value) for name, value in row.items()}


def summarised(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over the runs of a truth."""
    record: dict[str, Any] = {"runs": len(rows)}
    record["mean"] = {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}
    record["found"] = float(np.mean([row["unlike.small"] > 0.5 for row in rows]))
    for how in ("normal", "robust"):
        k = np.array([row[f"{how}.k"] for row in rows])
        record[f"{how}.largest_k"] = float(k.max())
        record[f"{how}.k_above_0.7"] = float((k > 0.7).mean())
    return record


def main() -> None:
    """Run what is not stored yet."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--truth", choices=list(TRUTHS), action="append")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    stored, kept = {}, Rows("cells_robust")
    for truth in options.truth or TRUTHS:
        rows = kept.of(truth, options.runs, partial(one_run, truth))
        stored[truth] = {"truth": truth} | summarised(rows)
        options.output.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
