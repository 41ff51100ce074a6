"""The scores of binary cases that are checked already, one value for each replicate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import isotonic_regression

from bayescal._base import decision
from bayescal._base.arrays import Floats, blocks, gaps
from bayescal.data.read import Cases
from bayescal.data.table import levels_of
from bayescal.scores._rules import Loss, entropy, squared_error

__all__ = [
    "Pool",
    "base_rate",
    "decompose",
    "dxy",
    "isotonic_groups",
    "mean",
    "net_benefit",
    "somers",
]

Pool = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""Weight and events at the distinct scores, ascending, to those of the groups they form."""


def mean(cases: Cases, loss: Loss) -> Floats:
    """Average loss, of shape (replicates,)."""
    if loss is squared_error:
        return _mean_square(cases)
    total = np.zeros(cases.outcomes.shape[0])
    for part in blocks(cases.scores.size, total.size):
        scores = cases.scores[part].astype(np.float64, copy=False)
        given = np.abs(1 - cases.outcomes[:, part] - scores)
        values = loss(given, (1 - given)[None])
        total += values.sum(axis=1) if cases.weights is None else values @ cases.weights[part]
    return total / cases.mass


def _mean_square(cases: Cases) -> Floats:
    """Average of (score - outcome)^2, of shape (replicates,)."""
    total: Any = 0.0
    for part in blocks(cases.scores.size, cases.outcomes.shape[0]):
        gap = gaps(cases.outcomes[:, part], cases.scores[part])
        weighted = gap if cases.weights is None else gap * cases.weights[part]
        total = np.vecdot(gap, weighted) + total
    mean: Floats = total / cases.mass
    return mean


def base_rate(cases: Cases) -> Floats:
    """Mean outcome, of shape (replicates,)."""
    return cases.events() / cases.mass


def somers(cases: Cases) -> Floats:
    """Somers' Dxy, of shape (replicates,); NaN where there is one class only."""
    levels = levels_of(cases.scores)
    mass = levels.totals(cases.weight)
    return np.array([dxy(mass, levels.totals(row)) for row in cases.event_weights()])


def dxy(mass: Floats, hits: Floats) -> Floats:
    """Somers' Dxy of weight and events at the distinct scores, ascending along the last axis."""
    total = mass.sum(axis=-1, keepdims=True)
    centred_rank = np.cumsum(mass, axis=-1) - (mass + total) / 2
    lead = np.einsum("...i,...i->...", hits, centred_rank)
    events = hits.sum(axis=-1)
    pairs = events * (total[..., 0] - events)
    value: Floats = 2 * lead / np.where(pairs > 0, pairs, np.nan)
    return value


def net_benefit(cases: Cases, thresholds: Floats) -> Floats:
    """Net benefit per case, of shape (replicates, thresholds)."""
    order = np.argsort(thresholds)
    least = decision.least_treated(thresholds[order])
    reached = np.searchsorted(least, cases.scores, side="right")

    def treated(weights: Floats) -> Floats:
        """Weight of the cases that reach each threshold."""
        count = np.bincount(reached, weights, thresholds.size + 1)
        total = np.empty(thresholds.size)
        total[order] = count[::-1].cumsum()[-2::-1]
        return total

    everyone = treated(cases.weight)
    events = np.reshape([treated(row) for row in cases.event_weights()], (-1, thresholds.size))
    return decision.net_benefit(events, everyone, thresholds) / cases.mass


def decompose(cases: Cases, loss: Loss, pool: Pool) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean score, miscalibration, discrimination and uncertainty, each of shape (replicates,)."""
    levels = levels_of(cases.scores)
    mass = levels.totals(cases.weight)
    recalibrated, base = np.empty((2, cases.outcomes.shape[0]))
    for at, row in enumerate(cases.event_weights()):
        hits = levels.totals(row)
        together, events = pool(mass, hits)
        recalibrated[at] = together @ entropy(loss, events / together) / together.sum()
        base[at] = entropy(loss, hits.sum() / mass.sum())
    score = mean(cases, loss)
    return score, np.maximum(score - recalibrated, 0), np.maximum(base - recalibrated, 0), base


def isotonic_groups(mass: Floats, hits: Floats) -> tuple[Floats, Floats]:
    """Neighbouring scores that a monotone fit gives the same value, taken together."""
    start = isotonic_regression(hits / mass, weights=mass).blocks[:-1]
    return np.add.reduceat(mass, start), np.add.reduceat(hits, start)
