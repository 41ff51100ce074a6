"""Replicates of an estimate, and the quantiles of them that BCa takes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.special import ndtr, ndtri

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.estimators.uncertainty._resamples import Cells, leave_one_out
from bayescal.estimators.uncertainty.applied import Applied

__all__ = ["bca_levels", "known", "resampled"]

ROUNDING = 1e-12


def resampled(applied: Applied, cells: Cells, weights: Iterable[Floats]) -> Floats:
    """The estimate on resamples: each a row of cases per cell, given in blocks."""
    if cells.size < 2:
        raise InputError("y_true holds one case, which cannot be resampled: pass more.")
    values = [applied.to_weights(cells.scores, cells.outcomes, block) for block in weights]
    return np.concatenate(values)


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
    if not cells.integral:
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
    left = resampled(applied, cells, rows)
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
