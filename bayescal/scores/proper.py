"""Proper scores and their rules, for probabilities of an event and of several classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core import decision
from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError
from bayescal.core.text import documented, shortened
from bayescal.data.cases import (
    aligned,
    as_vector,
    as_weights,
    check_same_length,
    column_names,
    is_matrix,
)
from bayescal.data.matrices import as_class_matrix, as_probability_matrix
from bayescal.data.read import Cases, Outcomes, read_cases
from bayescal.data.rows import levels_of

# Of the probability given to what happened, and of those given to what did not, which run along
# the first axis.
Loss = Callable[[Floats, Floats], Floats]

IMPOSSIBLE = 1e-300


def brier(given: Floats, others: Floats) -> Floats:
    """Squared distance from the prediction to the corner of the class that happened."""
    return np.asarray((1 - given) ** 2 + (others**2).sum(axis=0))


def half_brier(given: Floats, others: Floats) -> Floats:
    """Half of the squared distance from the prediction to the corner of the class that happened."""
    return brier(given, others) / 2


def squared_error(given: Floats, others: Floats) -> Floats:
    """(score - outcome)^2 of an event: `half_brier` for two classes."""
    return np.asarray(others[0] ** 2)


def log(given: Floats, others: Floats) -> Floats:
    """Surprise at what happened, in nats."""
    with np.errstate(divide="ignore"):
        loss: Floats = 0 - np.log(given)
    return loss


def spherical(given: Floats, others: Floats) -> Floats:
    """One less the cosine of the angle from the prediction to the corner."""
    cosine = given / np.sqrt(given**2 + (others**2).sum(axis=0))
    return np.asarray(np.maximum(1 - cosine, 0))


def bernoulli_dawid_sebastiani(given: Floats, others: Floats) -> Floats:
    """Log determinant of the prediction's covariance, plus squared distance in its metric.

    A contradiction, which costs infinitely much, counts as 0 here.
    """
    known = np.where(given > IMPOSSIBLE, given, 1)
    with np.errstate(divide="ignore"):
        loss: Floats = np.log(known) + np.log(others).sum(axis=0) + 1 / known - 1
    return np.where(given > IMPOSSIBLE, loss, 0)


def contradiction(given: Floats, others: Floats) -> Floats:
    """1 where what happened had been given probability 0, else 0."""
    return np.where(given > IMPOSSIBLE, 0.0, 1.0)


BINARY: dict[str, Loss] = {"brier": squared_error, "log": log, "spherical": spherical}
# The losses that are 0 for certainty in what happened, and never less, by name.
MULTICLASS: dict[str, Loss] = BINARY | {"brier": brier}


def entropy(loss: Loss, rate: Floats) -> Floats:
    """Expected loss when a binary event is predicted by its own probability."""
    return _share(loss, rate) + _share(loss, 1 - rate)


def _share(loss: Loss, rate: Floats) -> Floats:
    given = np.where(rate > 0, rate, 1)
    return rate * loss(given, (1 - given)[None])


def mean_loss(
    y_true: Outcomes,
    y_prob: ArrayLike | None,
    sample_weight: ArrayLike | None,
    two: Loss,
    many: Loss,
) -> float | Floats:
    """Average loss: `two` of the scores of an event, or `many` of a matrix of classes."""
    if not is_matrix(y_prob):
        cases = read_cases(y_true, y_prob, sample_weight, single=True).counted()
        return cases.result(mean(cases, two))
    happened, prob, mass = read_classes(y_true, y_prob, sample_weight)
    values = many(prob[happened], prob[~happened].reshape(prob.shape[0], -1).T)
    return float(np.average(values, weights=mass))


def read_classes(
    y_true: Any, y_prob: Any, sample_weight: Any
) -> tuple[NDArray[np.bool_], Floats, Floats]:
    """Which class happened, the probability of each, and the weight, of the cases that count."""
    y_true, y_prob, sample_weight = aligned(
        y_true=y_true, y_prob=y_prob, sample_weight=sample_weight
    )
    prob = as_class_matrix(y_prob, "y_prob")
    labels, classes = as_vector(y_true, "y_true"), prob.shape[1]
    known = np.isin(labels, np.arange(classes))
    if not known.all():
        at = int((~known).argmax())
        raise InputError(
            f"y_true[{at}] = {shortened(repr(labels.tolist()[at]))} is not one of the "
            f"{classes} classes. With a matrix of probabilities a label is a column number, from "
            f"0 to {classes - 1}."
        )
    check_same_length(labels.size, "y_true", prob.shape[0], "y_prob")
    return _that_count(labels[:, None] == np.arange(classes), prob, sample_weight)


def _that_count(first: Any, second: Floats, sample_weight: Any) -> tuple[Any, Floats, Floats]:
    """Rows of two matrices that have a weight, and the weight of each."""
    weights = as_weights(sample_weight, len(second))
    mass = np.ones(len(second)) if weights is None else weights
    return first[mass > 0], second[mass > 0], mass[mass > 0]


def pooled_groups(truth: Floats, seen: Floats, mass: Floats) -> tuple[Floats, Floats, Floats]:
    """The distinct rows that are seen, what is true of them on average, and their share."""
    level, member = np.unique(seen, axis=0, return_inverse=True)
    member = member.ravel()
    share = np.bincount(member, mass)
    total = np.column_stack([np.bincount(member, mass * column) for column in truth.T])
    return level, total / share[:, None], share / share.sum()


def expected_loss(loss: Loss, truth: Floats, prob: Floats) -> Floats:
    """Expected loss of each prediction, when `truth` holds the probabilities of the classes."""
    total = np.zeros(truth.shape[0])
    for happens, true in enumerate(truth.T):
        values = loss(prob[:, happens], np.delete(prob, happens, axis=1).T)
        total += true * np.where(true > 0, values, 0)
    return total


def as_groups(
    truth: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    """True and predicted class probabilities of groups of cases, and the mass of each group."""
    truth, y_prob, sample_weight = aligned(truth=truth, y_prob=y_prob, sample_weight=sample_weight)
    known = as_probability_matrix(truth, "truth")
    prob = as_class_matrix(y_prob, "y_prob", column_names(truth))
    if known.shape != prob.shape:
        raise InputError(
            f"truth has shape {known.shape} but y_prob has {prob.shape}. "
            "Both need a row for each group and a column for each class."
        )
    return _that_count(known, prob, sample_weight)


# Weight and events at the distinct scores, ascending, to those of the groups they form.
Pool = Callable[[Floats, Floats], tuple[Floats, Floats]]


def mean(cases: Cases, loss: Loss) -> Floats:
    """Average loss, of shape (replicates,)."""
    total = np.zeros(cases.outcomes.shape[0])
    for part in blocks(cases.scores.size, total.size):
        scores = cases.scores[part].astype(np.float64, copy=False)
        given = np.abs(1 - cases.outcomes[:, part] - scores)
        values = loss(given, (1 - given)[None])
        total += values.sum(axis=1) if cases.weights is None else values @ cases.weights[part]
    return total / cases.mass


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
    return np.asarray(2 * lead / np.where(pairs > 0, pairs, np.nan))


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
    from scipy.optimize import isotonic_regression  # takes long to import, and assess needs none

    start = isotonic_regression(hits / mass, weights=mass).blocks[:-1]
    return np.add.reduceat(mass, start), np.add.reduceat(hits, start)


def _brier(scores: Floats, outcomes: Floats, weights: Floats) -> Floats:
    return np.asarray(weights @ (outcomes - scores) ** 2 / weights.sum(axis=1))


def _scaled_brier(scores: Floats, outcomes: Floats, weights: Floats) -> Floats:
    rate = weights @ outcomes / weights.sum(axis=1)
    variance = np.where((rate > 0) & (rate < 1), rate * (1 - rate), np.nan)
    return 1 - _brier(scores, outcomes, weights) / variance


def _dxy(scores: Floats, outcomes: Floats, weights: Floats) -> Floats:
    levels = levels_of(scores)
    return dxy(levels.totals(weights), levels.totals(weights * outcomes))


def _c_statistic(scores: Floats, outcomes: Floats, weights: Floats) -> Floats:
    return (1 + _dxy(scores, outcomes, weights)) / 2


# The cores of some scores of an event, by name in `bayescal.scores`.
WEIGHTED: dict[str, Callable[[Floats, Floats, Floats], Floats]] = {
    "brier_score": _brier,
    "c_statistic": _c_statistic,
    "scaled_brier_score": _scaled_brier,
    "somers_dxy": _dxy,
}


@documented
def brier_score(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    scale_by_half: bool | str = "auto",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Brier score: the mean squared difference of probability and outcome.

    For an event, mean (score - outcome)^2. For k classes, mean sum_k (p_k - [class is k])^2,
    which for two classes is twice the former.

    Parameters
    ----------
    %(cases_or_classes)s
    scale_by_half : bool or "auto"
        Whether to halve the sum over classes, so that the score lies between 0 and 1. "auto" does
        for an event, and does not for a matrix.
    %(counts)s

    Returns
    -------
    float or ndarray
        From 0 to 1 when halved, else from 0 to 2; one for each replicate when `y_true` has leading
        dimensions.

    %(refuses)s
        Also if the rows of a matrix do not sum to 1.

    Notes
    -----
    With Gruber & Buettner's released code two columns give something else: the outcome of the
    second class is taken for both.

    References
    ----------
    Brier, "Verification of forecasts expressed in terms of probability", Monthly Weather Review
    78, 1950.

    Examples
    --------
    >>> from bayescal import scores
    >>> round(scores.brier_score([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.075
    >>> round(scores.brier_score([0, 2], [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]), 3)
    0.2
    """
    halves = _halves(scale_by_half, is_matrix(y_prob))
    two, many = (squared_error, half_brier) if halves else (brier, brier)
    return mean_loss(y_true, y_prob, sample_weight, two, many)


@documented
def root_brier_score(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    scale_by_half: bool | str = "auto",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Root Brier score: an upper bound of the L2 calibration error.

    The Brier score is the squared calibration error E |p - P(class | p)|^2 plus what remains
    uncertain when p is known, E sum_k P(k | p) (1 - P(k | p)), so its root is at least the error.
    For an event, halved, it bounds the true calibration error of order 2.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples)
        As in `brier_score`.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        As in `brier_score`.
    scale_by_half : bool or "auto"
        As in `brier_score`: "auto" halves for a vector, so that its value is the paper's RBS
        divided by sqrt(2). Pass False, or both columns, for the paper's.
    %(counts)s

    %(returns_number)s

    Notes
    -----
    The paper's RBS is sqrt(E |p - e_y|^2), with the squares of all classes summed, also when there
    are two; it bounds the canonical calibration error of order 2. Halved, it bounds the error of
    one probability, sqrt(E (s - P(event | s))^2), which is that error divided by sqrt(2).

    It needs no bins, but is far above the error unless the scores are nearly certain. What can
    be read off it is a gain: a recalibration that merges no scores changes the mean of its square
    by exactly the change in squared calibration error (Proposition 4.5).

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, Theorem 3.1.

    Examples
    --------
    >>> from bayescal import scores
    >>> y_true, y_prob = [0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]
    >>> round(scores.root_brier_score(y_true, y_prob), 3)
    0.274
    >>> round(scores.root_brier_score(y_true, y_prob, scale_by_half=False), 3)
    0.387
    """
    square = brier_score(y_true, y_prob, scale_by_half=scale_by_half, sample_weight=sample_weight)
    return square**0.5


@documented
def log_score(
    y_true: Outcomes, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Log score: the mean of -log of the probability given to what happened, in nats.

    Also called log loss, cross-entropy and ignorance. Its excess over the entropy of what happens,
    E KL(P(class | p) || p), is a calibration error, of which the score is an upper bound.

    Parameters
    ----------
    %(cases_or_classes)s
    %(counts)s

    Returns
    -------
    float or ndarray
        At least 0, and infinite when anything happened that had been given probability 0.

    References
    ----------
    Good, "Rational decisions", Journal of the Royal Statistical Society B 14, 1952.

    Examples
    --------
    >>> from bayescal import scores
    >>> round(scores.log_score([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.299
    >>> scores.log_score([0, 1], [1.0, 1.0])
    inf
    """
    return mean_loss(y_true, y_prob, sample_weight, log, log)


@documented
def spherical_score(
    y_true: Outcomes, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Spherical score: the mean of 1 - (probability given to what happened) / |p|.

    |p| is the Euclidean length of the vector of class probabilities: (score, 1 - score) for an
    event.

    Parameters
    ----------
    %(cases_or_classes)s
    %(counts)s

    %(returns_share)s

    Notes
    -----
    Where it is meant as a reward it is written without the "1 -".

    References
    ----------
    Gneiting & Raftery, "Strictly proper scoring rules, prediction, and estimation", Journal of
    the American Statistical Association 102, 2007, section 3.

    Examples
    --------
    >>> from bayescal import scores
    >>> round(scores.spherical_score([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.071
    """
    return mean_loss(y_true, y_prob, sample_weight, spherical, spherical)


@documented
def bernoulli_dawid_sebastiani_score(
    y_true: Outcomes, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Dawid-Sebastiani score of the mean and variance that a probability implies.

    Of a number with a predicted mean and variance the score is `dawid_sebastiani_score`; this one
    takes probabilities. For an event of score s it is mean log v + (y - s)^2 / v, v = s (1 - s).
    For k classes, the indicators of all but one have mean p and a covariance with determinant
    prod_k p_k, and the score is mean sum_k log p_k + 1 / p_c - 1, with c the class that happened.

    Parameters
    ----------
    %(cases_or_classes)s
    %(counts)s

    Returns
    -------
    float or ndarray
        Any number: certainty that proves right is rewarded without limit, so a probability of
        exactly 0 gives minus infinity; or infinity, if what was ruled out happens even once.

    See Also
    --------
    dawid_sebastiani_score : The score of a predicted mean and variance.

    Notes
    -----
    It has no least value, so that it bounds no calibration error from above.

    References
    ----------
    Dawid & Sebastiani, "Coherent dispersion criteria for optimal experimental design", Annals of
    Statistics 27, 1999.

    Examples
    --------
    >>> from bayescal import scores
    >>> round(scores.bernoulli_dawid_sebastiani_score([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    -1.443
    """
    total = mean_loss(
        y_true, y_prob, sample_weight, bernoulli_dawid_sebastiani, bernoulli_dawid_sebastiani
    )
    wrong = mean_loss(y_true, y_prob, sample_weight, contradiction, contradiction)
    if isinstance(total, float):
        return np.inf if wrong else total
    return np.where(np.asarray(wrong) > 0, np.inf, total)


@documented
def scaled_brier_score(
    y_true: Outcomes, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Scaled Brier score: the share of the base rate's Brier score that the scores save.

    1 - mean (score - y)^2 / (r (1 - r)), with r the mean outcome. Also called Brier skill score
    and index of prediction accuracy.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    %(counts)s

    Returns
    -------
    float or ndarray
        1 for certainty that proves right, 0 for the base rate, below 0 for worse than that. One
        for each replicate when `y_true` has leading dimensions, NaN where there is but one class.

    %(refuses)s
        Also if all outcomes are the same.

    References
    ----------
    Kattan & Gerds, "The index of prediction accuracy: an intuitive measure useful for evaluating
    risk prediction models", Diagnostic and Prognostic Research 2, 2018.

    Examples
    --------
    >>> from bayescal import scores
    >>> round(scores.scaled_brier_score([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.7
    """
    cases = read_cases(y_true, y_prob, sample_weight).counted()
    rate = base_rate(cases)
    variance = np.where(cases.has_both, rate * (1 - rate), np.nan)
    return cases.result(
        1 - mean(cases, squared_error) / variance,
        "y_true holds one class only, so the base rate is certain and its Brier score is 0: "
        "nothing can be a share of it. Use brier_score.",
    )


def _halves(scale_by_half: bool | str, matrix: bool) -> bool:
    if isinstance(scale_by_half, str) and scale_by_half == "auto":
        return not matrix
    if not isinstance(scale_by_half, (bool, np.bool_)):
        given = shortened(repr(scale_by_half))
        raise InputError(f"scale_by_half must be True, False or 'auto', got {given}.")
    return bool(scale_by_half)


@documented
def c_statistic(
    y_true: Outcomes, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """C-statistic: how often an event has a higher score than a non-event. Also called AUC.

    The share of pairs of an event and a non-event in which the event has the higher score; a pair
    with equal scores counts half. It does not mind whether the scores are calibrated.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    %(counts)s

    Returns
    -------
    float or ndarray
        From 0 to 1, and 1/2 when scores say nothing. One for each replicate when `y_true` has
        leading dimensions, NaN where there is but one class.

    %(refuses)s
        Also if all outcomes are the same, or a table was compressed to the grid, where the ranks of
        the scores are lost.

    References
    ----------
    Harrell, Califf, Pryor, Lee & Rosati, "Evaluating the yield of medical tests", JAMA 247, 1982.

    Examples
    --------
    >>> from bayescal import scores
    >>> scores.c_statistic([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.7])
    0.875
    """
    return (1 + somers_dxy(y_true, y_prob, sample_weight=sample_weight)) / 2


@documented
def somers_dxy(
    y_true: Outcomes, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Somers' Dxy: 2 C - 1, the rank correlation of score and outcome.

    Pairs of an event and a non-event that the scores order rightly, less those that they order
    wrongly, as a share of all.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities.
    %(counts)s

    Returns
    -------
    float or ndarray
        From -1 to 1. One for each replicate when `y_true` has leading dimensions, NaN where there
        is but one class.

    Notes
    -----
    With m_i the weight below case i plus half of that at its score, less half of the total, Dxy is
    2 sum over events of w_i m_i / (weight of events times weight of non-events). Pairs of two
    events cancel.

    References
    ----------
    Somers, "A new asymmetric measure of association for ordinal variables", American Sociological
    Review 27, 1962.

    Examples
    --------
    >>> from bayescal import scores
    >>> scores.somers_dxy([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.7])
    0.75
    """
    cases = read_cases(y_true, y_prob, sample_weight, needs="scores").counted().ranked()
    return cases.result(
        somers(cases),
        "y_true holds one class only, so there is no pair of an event and a non-event to compare.",
    )
