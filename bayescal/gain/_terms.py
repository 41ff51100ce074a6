"""The gain in one draw, term by term, from a curve and a weight for every score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from bayescal._base.arrays import Floats
from bayescal._base.decision import least_treated, net_benefit

__all__ = [
    "PARTS",
    "SCORES",
    "Terms",
    "curve_terms",
    "divergence",
    "log_score",
    "mean",
    "merged",
    "net_benefit_name",
    "treated",
]

Terms = dict[str, Floats]

SCORES = ("tce", "brier", "log_score")
TINY = 1e-300
"""Keeps 0 log 0 at 0."""

PARTS = ("brier_calibration", "brier_refinement", "log_calibration", "log_refinement")


def net_benefit_name(threshold: float) -> str:
    """Name of the row of a threshold, as in `summary()`."""
    return f"net_benefit@{threshold:g}"


def curve_terms(
    curve: Floats,
    weight: Floats,
    before: Floats,
    after: Floats,
    group: NDArray[np.intp],
    thresholds: Sequence[float],
) -> Terms:
    """Gains when the event probability is known at every score before.

    Parameters
    ----------
    curve, weight : ndarray of shape (draws, rows)
        E[y | before], and the population; each row of `weight` sums to 1.
    before, after : ndarray of shape (rows,)
        Strictly inside (0, 1).
    group : ndarray of shape (rows,)
        Rows with equal `after` share a number.
    thresholds : sequence of float

    Returns
    -------
    dict of ndarray of shape (draws,)
        Positive where recalibration helped.
    """
    mass, hits, score = merged(curve, weight, after, group)
    total = np.where(mass > 0, mass, 1)
    pooled = hits / total
    brier = mean(weight, (curve - before) ** 2 - (curve - after) ** 2)
    logarithmic = mean(weight, curve * np.log(after / before)) + mean(
        weight, (1 - curve) * np.log((1 - after) / (1 - before))
    )
    square, relative = brier, logarithmic
    if score.size < group.size:  # scores are merged, and refinement changes too
        square = mean(weight, (curve - before) ** 2) - mean(mass, (pooled - score) ** 2)
        relative = mean(weight, divergence(curve, before)) - mean(mass, divergence(pooled, score))
    gains = {
        "tce": mean(weight, np.abs(curve - before)) - np.sum(np.abs(hits - mass * score), axis=1),
        "brier": brier,
        "log_score": logarithmic,
        "brier_calibration": square,
        "brier_refinement": brier - square,
        "log_calibration": relative,
        "log_refinement": logarithmic - relative,
    }
    for threshold in thresholds:
        worth = net_benefit(curve, 1.0, threshold)
        change = treated(after, threshold) - treated(before, threshold)
        gains[net_benefit_name(threshold)] = mean(weight, worth * change)
    return gains


def merged(
    curve: Floats, weight: Floats, after: Floats, group: NDArray[np.intp]
) -> tuple[Floats, Floats, Floats]:
    """Mass and expected events of each distinct score after, and the score.

    Parameters
    ----------
    curve, weight : ndarray of shape (draws, rows)
    after : ndarray of shape (rows,)
    group : ndarray of shape (rows,)
        As in `curve_terms`.

    Returns
    -------
    mass, hits : ndarray of shape (draws, groups)
    score : ndarray of shape (groups,)
    """
    size = int(group.max()) + 1
    score = np.zeros(size)
    score[group] = after
    if size == group.size:
        order = np.argsort(group)
        return weight[:, order], (weight * curve)[:, order], score
    member = sparse.csr_array((np.ones(group.size), (group, np.arange(group.size))))
    return (member @ weight.T).T, (member @ (weight * curve).T).T, score


def treated(score: Floats, threshold: float) -> Floats:
    """1 where a patient with this score is treated."""
    return np.where(score >= least_treated(threshold), 1.0, 0.0)


def mean(weight: Floats, values: Floats) -> Floats:
    """Average over the population, one number a draw."""
    return np.asarray(np.einsum("ij,ij->i", weight, np.broadcast_to(values, weight.shape)))


def divergence(truth: Floats, score: Floats) -> Floats:
    """Kullback-Leibler divergence of Bernoulli laws; the score is strictly inside (0, 1)."""
    values: Floats = truth * np.log(truth / score + TINY)
    values += (1 - truth) * np.log((1 - truth) / (1 - score) + TINY)
    return values


def log_score(outcome: Floats, score: Floats) -> Floats:
    """Log of the probability given to what happened."""
    values: Floats = xlogy(outcome, score) + xlogy(1 - outcome, 1 - score)
    return values
