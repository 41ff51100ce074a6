"""Densities by the triweight kernel on [0, 1], and the calibration error that they give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import spherical_jn

from bayescal._base.arrays import Floats, blocks, power_mean
from bayescal.estimators.smoothed._cosines import cosines, fast_size, series

__all__ = ["NARROWEST", "triweight_norms"]

TRIWEIGHT_CELLS = 256
TRIWEIGHT_NODES = 1024
"""Cells and nodes to the bandwidth: the cosines of the kernel die out only as 1 / k^4."""
MOST_NODES = 1 << 18
NARROWEST = 3e-4
TRIWEIGHT_FLAT = 1e3
"""Bandwidth at which the densities are constant."""
GROUP = 1 << 17


def triweight_norms(
    scores: Floats,
    outcomes: NDArray[Any],
    weights: Floats | None,
    bandwidth: float | None,
    order: float,
) -> Floats:
    """The norm of score less local mean outcome, NaN where the events give no bandwidth."""
    weight = np.ones(scores.size) if weights is None else weights
    total = float(weight.sum())
    values = np.full(outcomes.shape[0], np.nan)
    for part in blocks(values.size, max(scores.size, TRIWEIGHT_NODES), GROUP):
        hits = outcomes[part] * (weight / total)
        width = _spread(scores, hits) * (2 * total) ** -0.2
        if bandwidth is not None:
            width[:] = min(bandwidth, TRIWEIGHT_FLAT)
        row = np.flatnonzero(width >= NARROWEST)
        if row.size:
            masses = np.concatenate([weight[None] / total, hits[row]])
            values[part.start + row] = _norms(scores, masses, width[row], order)
    return values


def _spread(scores: Floats, hits: Floats) -> Floats:
    """Standard deviation of the scores of the events; 0 without events."""
    events = np.maximum(hits.sum(axis=1), np.finfo(float).tiny)
    middle = float(scores.mean())
    mean = hits @ (scores - middle) / events
    square = hits @ (scores - middle) ** 2 / events
    spread: Floats = np.sqrt(np.maximum(square - mean**2, 0))
    return spread


def _norms(scores: Floats, masses: Floats, width: Floats, order: float) -> Floats:
    """The norm for each bandwidth, from the masses of all cases and of each set of events."""
    least = min(1.0, float(width.min()))
    coefs = cosines(scores, masses, fast_size(TRIWEIGHT_CELLS / least))
    intervals = fast_size(min(TRIWEIGHT_NODES / least, MOST_NODES))
    wave = 3 * np.pi * width[:, None] * np.arange(1, coefs.shape[1])
    damping = 105 * spherical_jn(3, wave) / wave**3
    kernel = np.concatenate([np.ones((width.size, 1)), damping], axis=1)
    density, events = series(coefs[:1] * kernel, intervals), series(coefs[1:] * kernel, intervals)
    covered = density > 1e-9 * density.max(axis=1, keepdims=True)
    rate = events / np.where(covered, density, 1)
    gap = np.where(covered, np.linspace(0, 1, intervals + 1) - rate, 0)
    return power_mean(
        gap, order, lambda power: np.trapezoid(power * density, dx=1 / intervals, axis=1)
    )
