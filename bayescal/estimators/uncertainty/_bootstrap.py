"""Replicates of an estimate, and the quantiles of them that BCa takes."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.estimators.uncertainty._resamples import Applied, Cells, blocks, draw, leave_one_out

__all__ = ["bca_levels", "if_calibrated", "known", "resampled"]

MOST_CASES = 20_000
ROUNDING = 1e-12


def resampled(applied: Applied, cells: Cells, count: int, rng: np.random.Generator) -> Floats:
    """The estimate on resamples of the cases."""
    if cells.size < 2:
        raise InputError("y_true holds one case, which cannot be resampled: pass more.")
    return np.concatenate([applied.to_weights(cells, block) for block in draw(cells, count, rng)])


def if_calibrated(
    applied: Applied,
    cells: Cells,
    scores: Floats,
    weights: Floats | None,
    count: int,
    rng: np.random.Generator,
) -> Floats:
    """The estimate on outcomes simulated from the scores: of each case, or counted if too many."""
    if cells.whole:
        distinct, row = np.unique(cells.scores, return_inverse=True)
        trials = np.bincount(row, cells.counts).astype(np.int64)
        if cells.size > MOST_CASES:
            pairs = Cells(np.repeat(distinct, 2), np.tile([0.0, 1.0], distinct.size), *cells[2:])
            values = []
            for some in blocks(count, pairs.scores.size):
                hits = rng.binomial(trials, distinct, size=(some, distinct.size))
                counted = np.stack([trials - hits, hits], axis=2).reshape(some, -1)
                values.append(applied.to_weights(pairs, counted.astype(np.float64)))
            return np.concatenate(values)
        scores, weights = np.repeat(distinct, trials), None
    return np.concatenate(
        [
            applied.to_outcomes(rng.random((some, scores.size)) < scores, scores, weights)
            for some in blocks(count, scores.size)
        ]
    )


def bca_levels(
    tails: Floats,
    values: Floats,
    estimate: float,
    applied: Applied,
    cells: Cells,
    count: int,
    rng: np.random.Generator,
) -> Floats:
    """Levels of the quantiles, moved by the bias and the acceleration of the estimate."""
    if not cells.whole:
        raise InputError(
            "method 'bca' leaves out one case at a time, so sample_weight must hold whole numbers "
            "of cases. Use 'percentile' or 'basic'."
        )
    difference = values - estimate
    difference[np.abs(difference) <= ROUNDING * max(1.0, abs(estimate))] = 0
    below = float(np.mean((difference < 0) + (difference == 0) / 2))
    if below in (0, 1):
        where = "below" if below else "above"
        raise InputError(
            f"every resample of {applied.name!r} lies {where} the estimate: its bias is too large "
            "for 'bca'. Use 'basic', or an estimator with less bias."
        )
    rows, shares = leave_one_out(cells, count, rng)
    left = np.concatenate([applied.to_weights(cells, block) for block in rows])
    if not np.isfinite(left).all():
        raise InputError(
            f"estimator {applied.name!r} is undefined when one of the cases is left out, which "
            "'bca' needs to do. Use 'percentile' or 'basic'."
        )
    influence = shares @ left - left
    variance = float(shares @ influence**2)
    skewness = shares @ influence**3 / variance**1.5 if variance > 0 else 0.0
    moved = ndtri(below) + ndtri(tails)
    slope = np.maximum(1 - skewness / (6 * np.sqrt(cells.size)) * moved, ROUNDING)
    levels: Floats = ndtr(ndtri(below) + moved / slope)
    return levels


def known(values: Floats, applied: Applied, tail: float) -> Floats:
    """The values that are defined, if the others are too few to hide a tail."""
    undefined = ~np.isfinite(values)
    if undefined.mean() > tail:
        raise InputError(
            f"estimator {applied.name!r} is undefined on {undefined.sum()} of {values.size} "
            "resamples, too many to know the tails of an interval. It needs more data."
        )
    return values[~undefined]
