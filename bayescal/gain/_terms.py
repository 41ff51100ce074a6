"""The gain in one draw, term by term, from a curve and a weight for every score."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from bayescal.core.arrays import Floats, blocks
from bayescal.core.decision import least_treated, net_benefit

__all__ = [
    "PARTS",
    "SCORES",
    "Terms",
    "are_certain",
    "as_happened",
    "brier_gain",
    "brier_gains",
    "curve_terms",
    "divergence",
    "fall_in_error",
    "infinite_log_gain",
    "log_gains",
    "log_score",
    "mean",
    "merged",
    "net_benefit_name",
    "told_impossible",
    "treated",
    "with_infinite_log_gain",
]

Terms = dict[str, Floats]

SCORES = ("tce", "brier", "log_score")
# Keeps 0 log 0 at 0.
TINY = 1e-300

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
    logs: tuple[Floats, Floats],
    moved: Mapping[float, Floats],
) -> Terms:
    """Gains when the event probability is known at every score before.

    Shapes: `curve`, `weight` (draws, rows); `before`, `after`, `group`, `logs` (rows,); result
    (draws,).
    """
    mass, hits, score = merged(curve, weight, after, group)
    total = np.where(mass > 0, mass, 1)
    pooled = hits / total
    brier = brier_gain(curve, weight, before, after)
    event, other = logs
    logarithmic = mean(weight, curve * event) + mean(weight, (1 - curve) * other)
    square, relative = brier, logarithmic
    if score.size < group.size:  # scores are merged, and refinement changes too
        square = mean(weight, (curve - before) ** 2) - mean(mass, (pooled - score) ** 2)
        relative = logarithmic - (mean(weight, _entropy(curve)) - mean(mass, _entropy(pooled)))
    gains = {
        "tce": fall_in_error(curve, weight, before, after, group),
        "brier": brier,
        "log_score": logarithmic,
        "brier_calibration": square,
        "brier_refinement": brier - square,
        "log_calibration": relative,
        "log_refinement": logarithmic - relative,
    }
    for threshold, change in moved.items():
        worth = net_benefit(curve, 1.0, threshold)
        gains[net_benefit_name(threshold)] = mean(weight, worth * change)
    return gains


def fall_in_error(
    curve: Floats, weight: Floats, before: Floats, after: Floats, group: NDArray[np.intp]
) -> Floats:
    """Fall of the mean absolute error, where rows with equal `after` are one; see `curve_terms`."""
    if int(group.max()) + 1 == group.size:  # exactly 0 of a map that changes nothing
        return mean(weight, np.abs(curve - before) - np.abs(curve - after))
    mass, hits, score = merged(curve, weight, after, group)
    left = np.sum(np.abs(hits - mass * score), axis=1)
    return np.asarray(mean(weight, np.abs(curve - before)) - left)


def brier_gain(curve: Floats, weight: Floats, before: Floats, after: Floats) -> Floats:
    """Fall of the expected Brier score when the event probability is known.

    Shapes: `curve`, `weight` (draws, rows); `before`, `after` (rows,); result (draws,).
    """
    return mean(weight, (curve - before) ** 2 - (curve - after) ** 2)


def brier_gains(curve: Floats, weight: Floats, before: Floats, afters: Floats) -> Floats:
    """`brier_gain` of several updates of one model, from two products of matrices.

    Shapes: `afters` (updates, rows); result (updates, draws).
    """
    rise = afters - before
    return 2 * rise @ (weight * curve).T - (rise * (afters + before)) @ weight.T


def merged(
    curve: Floats, weight: Floats, after: Floats, group: NDArray[np.intp]
) -> tuple[Floats, Floats, Floats]:
    """Mass and expected events of each distinct score after, and the score.

    Shapes: `curve`, `weight` (draws, rows); `after`, `group` (rows,); `mass`, `hits` (draws,
    groups); `score` (groups,).
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


def _entropy(rate: Floats) -> Floats:
    """Expected log loss of the rate itself."""
    values: Floats = -xlogy(rate, rate) - xlogy(1 - rate, 1 - rate)
    return values


def are_certain(score: Floats) -> bool:
    """Whether any score is 0 or 1, so that an outcome can contradict it."""
    return bool(score.min(initial=1) == 0 or score.max(initial=0) == 1)


def told_impossible(outcome: Floats, score: Floats) -> NDArray[np.bool_]:
    """Whether the probability given to what happened is 0, so that the log loss is infinite."""
    wrong = np.zeros(score.shape, dtype=bool)
    for part in blocks(score.shape[-1], score.size // score.shape[-1]):
        if are_certain(score[..., part]):
            wrong[..., part] = _of_what_happened(outcome[part], score[..., part]) == 0
    return wrong


def log_score(outcome: Floats, score: Floats) -> Floats:
    """Log of the probability given to what happened; 0 where that probability is 0."""
    values = np.empty_like(score)
    for part in blocks(score.size):
        told = _of_what_happened(outcome[part], score[part])
        told[told == 0] = 1
        np.log(told, out=values[part])
    return values


def _of_what_happened(outcome: Floats, score: Floats) -> Floats:
    """The probability given to the outcome; 1 where it is not known."""
    told = np.where(outcome > 0, score, 1 - score)
    return np.where(np.isnan(outcome), 1.0, told)


def as_happened(
    outcome: Floats, before: Floats, after: Floats, means: Callable[[Floats], Floats]
) -> Floats:
    """Mean gain in log score of the cases of each row whose outcome is known.

    Shapes: `outcome`, `before`, `after` (n,); result (rows,).
    """
    known = means(np.where(np.isnan(outcome), 0.0, 1.0))
    gain = means(log_score(outcome, after) - log_score(outcome, before))
    return gain / np.where(known > 0, known, 1.0)


def infinite_log_gain(outcome: Floats, before: Floats, after: Floats) -> float:
    """What patients who were told the impossible add to the gain in log score.

    Shapes: `outcome`, `before` (n,); `after` (repeats, n).
    """
    added = 0.0
    for part in blocks(outcome.size, len(after)):
        if not (are_certain(before[part]) or are_certain(after[:, part])):
            continue
        first = told_impossible(outcome[part], before[part])
        second = told_impossible(outcome[part], after[:, part])
        if (second & ~first).any():
            return -np.inf
        if (first & ~second).any():
            added = np.inf
    return added


def with_infinite_log_gain(gains: Terms, infinite: float) -> Terms:
    """The gains, with an infinite one in log score, which is one of calibration."""
    return gains | {name: gains[name] + infinite for name in ("log_score", "log_calibration")}


def log_gains(
    before: Floats, after: Floats, happened: Callable[[], Floats]
) -> tuple[Floats, Floats]:
    """Gain in log score at each row if the event happens, and if it does not.

    Shapes: `before`, `after`, `event`, `other` (rows,).
    """
    certain = (before == 0) | (before == 1) | (after == 0) | (after == 1)
    first, second = (np.where(certain, 0.5, score) for score in (before, after))
    event, other = np.log(second / first), np.log((1 - second) / (1 - first))
    if not certain.any():
        return event, other
    gain = happened()
    return np.where(certain, gain, event), np.where(certain, gain, other)
