"""Robust against normal effects of sites: `python docs/benchmarks/sites_robust.py [--runs N]`.

Data sets of 14 or 15 sites with 20 to 500 patients each, of which one or two are unlike the others,
or none, or whose effects have heavy tails. Each is fitted with robust effects, with normal ones
(`bc.by("site", robust=False)`), and as one table. Runs are kept beside the results as they are
made, so that a benchmark that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import bayescal as bc
from kept import Rows
from sites import GRID, NEW_SITES, SLOPE_SHARE, cases, coordinates, covered, curve, prefixed

RESULTS = Path(__file__).with_name("results")
UNLIKE = 1.2, float(np.log(0.6))
"""Shift and log slope of a site that is unlike the others."""
OFF, DRAWS, SOME = 0.05, 1000, 3
ROBUST = {"robust": True, "normal": False}


class Cell(NamedTuple):
    """What sites are drawn from.

    Attributes
    ----------
    spread : float
        Standard deviation of the shift between the like sites; of t effects their scale. That of
        the log slope is half of it.
    unlike : int
        How many sites have the coordinates `UNLIKE`.
    fixed : bool
        Whether the unlike sites have 150 patients each, and not from 20 to 500.
    degrees : float
        Of the t law of the effects; infinite for normal effects.
    """

    sites: int
    spread: float
    unlike: int = 0
    fixed: bool = False
    degrees: float = np.inf


CELLS = {
    "one unlike": Cell(14, 0.12, 1, fixed=True),
    "two unlike": Cell(14, 0.12, 2, fixed=True),
    "any size": Cell(14, 0.12, 1),
    "heavy tails": Cell(14, 0.12, degrees=2.2),
    "equal": Cell(15, 0.0),
    "normal .15": Cell(15, 0.15),
    "normal .33": Cell(15, 0.33),
    "five sites": Cell(5, 0.33),
}


def sites_of(cell: Cell, size: int, rng: np.random.Generator) -> np.ndarray:
    """Coordinates of sites of which none is unlike the others, of shape (size, 2)."""
    at = coordinates(size, cell.spread, "calibrated", rng)
    if np.isfinite(cell.degrees):
        at /= np.sqrt(rng.chisquare(cell.degrees, (size, 1)) / cell.degrees)
    return at


def score_of(draws: np.ndarray, true: np.ndarray) -> np.ndarray:
    """Mean score of 95 % intervals of curves: their width, and 40 times what they miss by.

    Parameters
    ----------
    draws : ndarray of shape (draws, curves, scores)
    true : ndarray of shape (curves, scores), or (many, scores) of one curve
    """
    lower, upper = np.quantile(draws, [0.025, 0.975], axis=0)
    missed = np.maximum(lower - true, 0) + np.maximum(true - upper, 0)
    return (upper - lower + 2 / 0.05 * missed).mean(axis=1)


def one_run(name: str, seed: int) -> dict[str, float]:
    """What one data set says of sites, of the average of the like ones and of a new one."""
    cell = CELLS[name]
    rng = np.random.default_rng([seed, *name.encode()])
    at, new_at = sites_of(cell, cell.sites, rng), sites_of(cell, NEW_SITES * cell.sites, rng)
    at[: cell.unlike], new_at[: NEW_SITES * cell.unlike] = UNLIKE, UNLIKE
    outcome, score, site = cases(at, rng, cell.unlike * cell.fixed)
    labels = np.array([f"{k:03}" for k in range(cell.sites)])
    data, true = bc.CalibrationData(outcome, score, site=labels[site]), curve(at, GRID)
    sample = np.sort(score)[:: max(score.size // 100, 1)]
    near = np.abs(curve(new_at, sample) - sample).mean(axis=1) < OFF
    row = {"truth": float(near.mean())}
    options: dict[str, Any] = {"curve": "logistic", "random_state": seed, "draws": DRAWS}
    one = bc.fit(outcome, score, prior="clinical", **options)
    row["pooled.error"] = float(np.mean((of_view(one).mean(axis=0) - true) ** 2))
    some = new_at[:: cell.sites]
    for how, robust in ROBUST.items():
        start = time.process_time()
        post = bc.fit(data, vary=bc.by("site", robust=robust), **options)
        answers = {"seconds": time.process_time() - start, "k": post.diagnostics["pareto_k"]}
        drawn = np.stack([of_view(post.site(label))[:, 0] for label in labels], axis=1)
        each = score_of(drawn, true)
        answers["error"] = float(np.mean((drawn.mean(axis=0) - true) ** 2))
        answers["rest.score"] = float(each[cell.unlike :].mean())
        new, average = post.new_site(), post.average_site()
        answers["near"] = new.prob_tce_below(OFF)
        answers["new.score"] = float(score_of(of_view(new), curve(some, GRID)).mean())
        answers["average.score"] = float(score_of(of_view(average), GRID[None]).mean())
        answers |= prefixed("new", covered(new, some, sample))
        answers |= prefixed("average", covered(average, np.zeros((1, 2)), sample))
        answers |= of_sites(post, at, score, site, range(cell.unlike), "unlike")
        answers |= of_sites(post, at, score, site, range(cell.unlike, cell.unlike + SOME), "rest")
        if cell.unlike:
            answers["unlike.score"] = float(each[: cell.unlike].mean())
        if robust:
            answers |= stated(post.prob_unlike().to_numpy(), cell.unlike)
        row |= prefixed(how, answers)
    return row


def of_view(view: Any) -> np.ndarray:
    """Draws of a curve, of shape (draws, 1, scores)."""
    drawn: np.ndarray = view.curve(GRID).to_numpy().reshape(-1, 1, GRID.size)
    return drawn


def of_sites(
    post: Any, at: np.ndarray, score: np.ndarray, site: np.ndarray, which: range, who: str
) -> dict[str, float]:
    """Coverage of some of the sites, on average over them."""
    each = [
        covered(post.site(post.labels[k]), at[k : k + 1], np.sort(score[site == k])) for k in which
    ]
    return (
        {f"{who}.{key}": float(np.mean([one[key] for one in each])) for key in each[0]}
        if each
        else {}
    )


def stated(prob: np.ndarray, unlike: int) -> dict[str, float]:
    """Probabilities of being unlike: their mean, and of the like ones how many are above .5."""
    answers = {
        "prob.rest": float(prob[unlike:].mean()),
        "false": float((prob[unlike:] > 0.5).sum()),
    }
    if unlike:
        answers |= {
            "prob.unlike": float(prob[:unlike].mean()),
            "found": float((prob[:unlike] > 0.5).mean()),
        }
    return answers


def main() -> None:
    """Make the runs that are not there yet, and write the means of all that are."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--cells", nargs="+", choices=list(CELLS), default=list(CELLS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    kept, record = Rows("sites_robust"), []
    for name, cell in CELLS.items():
        if name in options.cells:
            rows = kept.of(name, options.runs, partial(one_run, name))
            values = {key: np.array([row[key] for row in rows]) for key in rows[0]}
            described = {key: value for key, value in cell._asdict().items() if np.isfinite(value)}
            record.append(
                {"cell": name, **described, "runs": len(rows), "slope_share": SLOPE_SHARE}
                | {"mean": {key: float(each.mean()) for key, each in values.items()}}
                | {
                    "error": {
                        key: float(each.std(ddof=1) / np.sqrt(each.size))
                        for key, each in values.items()
                    }
                }
            )
    lines = ",\n".join(map(json.dumps, record))
    (RESULTS / "sites_robust.json").write_text(f'{{"cells": [\n{lines}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
