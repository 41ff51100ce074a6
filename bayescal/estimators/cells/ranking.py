"""Whether scores order cases as the probabilities of their events do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal.data.build.cases import check_given
from bayescal.data.data import CalibrationData
from bayescal.data.read import Cases
from bayescal.data.sources.alignment import aligned
from bayescal.data.table import levels_of
from bayescal.data.validate import as_scores, check_same_length
from bayescal.estimators.door import Statistic, evaluate, read, read_scores

__all__ = ["probabilistic_kendall_tau"]


@documented
def probabilistic_kendall_tau(
    truth: ArrayLike | CalibrationData,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """How seldom scores order two cases against their probabilities of the event.

    1 - 2 P((t - t')(s - s') < 0) for two different cases, with t the probability of the event and
    s the score. A pair with equal scores or equal probabilities is not discordant, and so counts as
    agreement.

    Parameters
    ----------
    truth : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
        Probability of the event of each case, as in a simulation or from a second model. With
        outcomes, 0 or 1, it is the tau of the sample. Leading dimensions are other truths at the
        same scores. A table stands for outcomes, scores and weights.
    %(scores)s
    %(weights_by_kish)s

    Returns
    -------
    float or ndarray
        From -1 to 1; one for each truth when `truth` has leading dimensions. 1 where no pair is
        discordant.

    Raises
    ------
    InputError
        If the arrays are not probabilities of the same cases, if there are fewer than two cases,
        or if a table was compressed to the grid, where the ranks of the scores are lost.

    Notes
    -----
    It is no calibration error: it stays the same under any rising map of the scores, or of the
    truth. Where neither has ties it is Kendall's tau. Ties make it larger: a constant score has
    the value 1. With m events among n cases, of which the scores order a share d of the pairs of
    an event and another wrongly, the tau of the sample is 1 - 4 m (n - m) d / (n (n - 1)); without
    equal scores d is 1 - `bayescal.scores.c_statistic`.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    section 4 (the probabilistic tau, and the tau of a sample) and Observation 9.

    Examples
    --------
    Average labels can order cases worse than the scores did (Observation 9):

    >>> from bayescal import estimators
    >>> truth = [0.1, 0.1, 0.1, 1, 0.2, 0.2, 0.2, 0.2]
    >>> estimators.probabilistic_kendall_tau(truth, [0.4] * 4 + [0.6] * 4) * 7
    5.0
    >>> averaged = [0.325] * 4 + [0.2] * 4
    >>> round(estimators.probabilistic_kendall_tau(truth, averaged) * 7, 6)
    1.0
    """
    return evaluate(_core, _read(truth, y_prob, sample_weight))


def _read(
    truth: ArrayLike | CalibrationData, y_prob: ArrayLike | None, sample_weight: ArrayLike | None
) -> Cases:
    """Cases with probabilities in the place of outcomes."""
    if isinstance(truth, CalibrationData):
        return read(truth, y_prob, sample_weight, needs="scores")
    check_given(y_prob)
    assert y_prob is not None
    given, y_prob, sample_weight = aligned(
        truth=truth, y_prob=y_prob, sample_weight=sample_weight, across={"truth"}
    )
    scores, weights = read_scores(y_prob, sample_weight)
    shape = _shape(given)
    if len(shape) < 2 or shape[1:] == (1,):
        probability = as_scores(given, "truth")
        check_same_length(probability.size, "truth", scores.size, "y_prob")
        return Cases(probability[None], scores, weights)
    check_same_length(shape[-1], "the last axis of truth", scores.size, "y_prob")
    rows = np.reshape(np.asarray(given), (-1, scores.size))
    probabilities = np.array([as_scores(row, "truth") for row in rows])
    return Cases(probabilities.reshape(-1, scores.size), scores, weights, shape[:-1])


def _shape(truth: ArrayLike) -> tuple[int, ...]:
    """Its shape; that of a number where rows differ in length, which a vector may not hold."""
    try:
        return np.shape(truth)
    except ValueError:
        return ()


def _core(scores: Floats, weights: Floats | None) -> Statistic:
    """Core of `probabilistic_kendall_tau`."""
    cases = np.ones(scores.size) if weights is None else weights
    total = float(cases.sum())
    if total <= 1:
        raise InputError(f"y_prob has {total:.3g} cases, and a pair takes two.")

    def statistic(truths: NDArray[Any]) -> Floats:
        discordant = np.array([_discordant(scores, truth, cases) for truth in truths])
        return 1 - 4 * discordant / (total * (total - 1))

    return statistic


def _discordant(scores: Floats, truth: NDArray[Any], cases: Floats) -> float:
    """Weight of the pairs of cases in which the higher score has the lower truth."""
    order = np.lexsort((truth, scores))
    return _descents(levels_of(truth[order]).row, cases[order])


def _descents(rank: NDArray[Any], cases: Floats) -> float:
    """Weight of the pairs in which the later has the lower rank.

    Each is counted at the highest bit in which the two ranks differ, among the ranks that share
    the bits above it, which stand together in their first order.
    """
    rank, total = rank.astype(np.min_scalar_type(rank.max())), 0.0
    for bit in reversed(range(int(rank.max()).bit_length())):
        zero = (rank >> bit) & 1 == 0
        ones = np.where(zero, 0, cases)
        before = np.cumsum(ones) - ones
        shared = rank >> (bit + 1)
        start = np.flatnonzero(np.concatenate([[True], shared[1:] != shared[:-1]]))
        before -= np.repeat(before[start], np.diff(start, append=rank.size))
        total += float(cases[zero] @ before[zero])
        order = np.argsort(rank >> bit, kind="stable")
        rank, cases = rank[order], cases[order]
    return total
