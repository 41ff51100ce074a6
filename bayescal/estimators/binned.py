"""Binned calibration errors, their debiased and expected forms, of one event and of classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, erf, ndtr, ndtri

from bayescal.core.arrays import Floats, RandomState, power_mean, random_generator
from bayescal.core.errors import InputError, as_count, as_flag, as_level, as_order, check_choice
from bayescal.core.text import documented, shortened
from bayescal.data.weights import are_counts
from bayescal.estimators import registry
from bayescal.estimators.bins import (
    BINS_SAME,
    Bins,
    Cells,
    as_bins,
    as_cut,
    bins_of,
    bins_or_cells,
    cells_of,
    jeffreys,
    read_with_cells,
    width_index,
)
from bayescal.estimators.registry import Cases, Core, OutcomesLike, Statistic, Tested


def ece_core(scores: Floats, weights: Floats | None, *, p: float, **cut: Any) -> Statistic:
    """Core of `ece`."""
    bins = bins_or_cells(scores, weights, **cut)

    def statistic(outcomes: NDArray[Any]) -> Floats:
        if p == 1:
            return np.asarray(np.abs(bins.excess(outcomes)).sum(-1) / bins.total)
        return power_mean(bins.gap(outcomes), p, lambda power: power @ bins.mass / bins.mass.sum())

    return statistic


@registry.estimator(
    "Expected calibration error",
    prepare=ece_core,
    paper="Naeini, Cooper & Hauskrecht 2015",
    estimates="binned calibration error, an average over bins",
    span=(0, 1),
    bound="below TCE of the same order in the population; biased upwards in a sample",
    by_case=("cells",),
)
def ece(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "width",
    p: float = 1,
    ties: str = "together",
    cells: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Expected calibration error: the mean gap between score and outcome over bins.

    (sum_b w_b |mean outcome - mean score|^p)^(1/p), with w_b the share of the cases in bin b.

    Parameters
    ----------
    %(replicated_cases)s
    n_bins : int
        Number of bins; those that stay empty do not count.
    binning : {"width", "mass", "rank", "quantile"}
        "width": intervals of equal length, closed on the right; 0 belongs to the first. The
        others are bins of equally many cases, and differ where `n_bins` does not divide their
        number n. "mass": the larger bins come first, as `numpy.array_split` cuts the sorted
        scores (Kumar et al.). "rank": case i of 0, 1, ..., n - 1 goes to bin floor(i n_bins / n)
        (Roelofs et al.). "quantile": cut at the quantiles of the scores, as R, pandas and
        scikit-learn do.
    p : float
        Order of the norm, at least 1.
    ties : {"together", "split"}
        What bins of equally many cases do with equal scores that a cut would part. "together":
        all go to the bin of the first. "split": the cut stands, and each side gets its part of
        their outcomes on average over all orders of the cases. Neither depends on the order of
        the rows.
    cells : array-like of shape (n_samples,), optional
        Label of the cell that each case is in, such as its leaf of a tree; in place of bins.
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases. Unless all are integers, bins are cut at equal shares of the total.

    %(returns_share)s

    %(refuses)s
        Also if `cells` does not give one label to each case.

    Notes
    -----
    It is biased upwards: a perfectly calibrated model with 20 cases gets about 0.2. See
    `bayescal.check_consistency` for what calibration alone would give, and `debiased_ece`. Errors
    of opposite sign within a bin cancel; in `pde` they do not.

    The code of Roelofs et al. cuts by "rank" and parts equal scores in the order of their rows,
    so that its value changes with that order; "split" is what it gives on average, bin by bin.

    References
    ----------
    Naeini, Cooper & Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian Binning",
    AAAI 2015.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.ece([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.25
    >>> estimators.ece([[0, 1], [1, 0]], [0.2, 0.7]).round(3)
    array([0.25, 0.75])
    >>> round(estimators.ece([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], cells=["a", "b", "a", "b"]), 3)
    0.05
    """
    cases, labels = read_with_cells(y_true, y_prob, sample_weight, cells)
    cut = as_cut(n_bins, binning, ties)
    return registry.evaluate(ece_core, cases, p=as_order(p), cells=labels, **cut)


def _over_bins(statistic: Callable[[Bins, NDArray[Any]], Floats]) -> Core:
    """The core of a statistic of the outcomes in bins."""

    def core(scores: Floats, weights: Floats | None, **cut: Any) -> Statistic:
        bins = bins_of(scores, weights, **cut)
        return lambda outcomes: statistic(bins, outcomes)

    return core


_ace_core = _over_bins(
    lambda bins, outcomes: np.abs(bins.gap(outcomes)).sum(-1) / np.count_nonzero(bins.mass)
)


@registry.estimator(
    "Adaptive calibration error",
    prepare=_ace_core,
    paper="Nixon, Dusenberry, Zhang, Jerfel & Tran 2019",
    estimates="binned calibration error, every bin counting the same",
    span=(0, 1),
    bound="with bins of equal mass, below TCE in the population; biased upwards in a sample",
)
def ace(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "mass",
    ties: str = "together",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Adaptive calibration error: the mean gap over bins, each bin counting the same.

    1/B sum_b |mean outcome - mean score|, over the B bins that hold a case. It differs from `ece`
    where bins of equal mass cannot hold equally many cases.

    Parameters
    ----------
    %(replicated_cases)s
    n_bins : int
        Number of bins; those that stay empty do not count.
    binning : {"mass", "rank", "quantile", "width"}
        As in `ece`. "width" gives the *average* calibration error of Neumann et al., which the
        package netcal calls ACE.
    ties : {"together", "split"}
        As in `ece`.
    %(weights)s

    %(returns_share)s

    Notes
    -----
    Nixon et al. average it over the classes as well. Of two classes the gaps are the same, bin
    for bin.

    References
    ----------
    Nixon, Dusenberry, Zhang, Jerfel & Tran, "Measuring Calibration in Deep Learning", CVPR
    Workshops 2019, section 4.
    Neumann, Zisserman & Vedaldi, "Relaxed Softmax", 2018.

    Examples
    --------
    >>> from bayescal import estimators
    >>> y_true, y_prob = [0, 1, 1, 1, 0], [0.2, 0.7, 0.8, 0.9, 0.4]
    >>> round(estimators.ace(y_true, y_prob, n_bins=2), 3)
    0.125
    >>> round(estimators.ece(y_true, y_prob, n_bins=2, binning="mass"), 3)
    0.12
    """
    cases = registry.read(y_true, y_prob, sample_weight, single=True)
    return registry.evaluate(_ace_core, cases, **as_cut(n_bins, binning, ties))


_mce_core = _over_bins(lambda bins, outcomes: np.abs(bins.gap(outcomes)).max(axis=1))


@registry.estimator(
    "Maximum calibration error",
    prepare=_mce_core,
    paper="Naeini, Cooper & Hauskrecht 2015",
    estimates="the largest calibration error of a bin",
    span=(0, 1),
)
def mce(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "width",
    ties: str = "together",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Maximum calibration error: the largest gap between score and outcome over bins.

    Parameters
    ----------
    %(replicated_cases)s
    n_bins : int
        Number of bins.
    binning : {"width", "mass", "rank", "quantile"}
        As in `ece`. With "width" the largest gap is often that of a bin with a case or two.
    ties : {"together", "split"}
        As in `ece`.
    %(weights)s

    %(returns_share)s

    References
    ----------
    Naeini, Cooper & Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian Binning",
    AAAI 2015.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.mce([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4]), 3)
    0.4
    """
    cases = registry.read(y_true, y_prob, sample_weight, single=True)
    return registry.evaluate(_mce_core, cases, **as_cut(n_bins, binning, ties))


def debiased_core(
    scores: Floats, weights: Floats | None, *, p: int, signed: bool, **cut: Any
) -> Statistic:
    """Core of `debiased_ece`."""
    bins = bins_of(scores, weights, **cut)
    return lambda outcomes: _corrected(bins, bins.rate(outcomes), p, signed)


@registry.estimator(
    "Debiased ECE",
    prepare=debiased_core,
    paper="Kumar, Liang & Ma 2019; Broecker 2012; Ferro & Fricker 2012",
    estimates="binned calibration error, without the part that chance adds",
    bound="below TCE of the same order in the population",
    span=(0, 1),
)
def debiased_ece(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "mass",
    p: int = 2,
    ties: str = "together",
    signed: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Binned calibration error less what the chance in the outcomes adds to it (Kumar et al.).

    For p = 2, sum_b w_b (gap_b^2 - r_b (1 - r_b) / (n_b - 1)), with r_b the mean outcome of the
    n_b cases in bin b: unbiased for the binned square error. It is floored at 0 and rooted.

    For p = 1, twice the ECE less its mean over normal resamples of the bins' mean outcomes, with
    variances r_b (1 - r_b) / n_b, floored at 0. The mean is taken in closed form: this is the
    limit of what the authors' code prints as its resamples grow.

    Parameters
    ----------
    %(replicated_cases)s
    n_bins : int
        Number of bins.
    binning : {"mass", "rank", "quantile", "width"}
        As in `ece`.
    p : {1, 2}
        Order of the norm.
    ties : {"together", "split"}
        As in `ece`.
    signed : bool
        Return the estimate of the p-th power before it is floored and rooted. It may be negative.
    %(weights_by_kish)s

    %(returns_number)s

    Raises
    ------
    InputError
        As `ece`; also if `p` is neither 1 nor 2.

    Notes
    -----
    One case says nothing of the variance in its bin. A bin with fewer than two cases counts as
    having no error, for both orders, and keeps its share of the cases.

    References
    ----------
    Kumar, Liang & Ma, "Verified Uncertainty Calibration", NeurIPS 2019, section 5 and appendix.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> round(estimators.ece(y_true, y_prob, binning="mass", p=2), 3)
    0.033
    >>> estimators.debiased_ece(y_true, y_prob)
    0.0
    """
    if as_order(p) not in (1, 2):
        given = shortened(repr(p))
        raise InputError(f"p must be 1 or 2: the debiased error is known for those, got {given}.")

    cases = registry.read(y_true, y_prob, sample_weight, single=True)
    cut = as_cut(n_bins, binning, ties)
    return registry.evaluate(debiased_core, cases, p=p, signed=as_flag(signed, "signed"), **cut)


def _corrected(bins: Bins, rate: Floats, p: int, signed: bool) -> Floats:
    several = bins.mass >= 2 - BINS_SAME  # cases shared out between bins add up to integers
    gap, variance = np.abs(rate - bins.score), rate * (1 - rate)
    cases = np.where(several, bins.mass, 2)
    if p == 2:
        error = gap**2 - variance / (cases - 1)
    else:
        error = _debiased_absolute(gap, variance, cases)
    error *= several
    power: Floats = (error * bins.mass).sum(-1) / bins.mass.sum(-1)
    return power if signed else np.maximum(power, 0) ** (1 / p)


def _debiased_absolute(gap: Floats, variance: Floats, cases: Floats) -> Floats:
    """Twice each bin's gap less the mean of |Normal(gap, sd)|."""
    sd = np.sqrt(variance / cases)
    z = gap / np.where(sd > 0, sd, 1)
    folded = sd * math.sqrt(2 / math.pi) * np.exp(-(z**2) / 2) + gap * erf(z / math.sqrt(2))
    return np.asarray(2 * gap - np.where(sd > 0, folded, gap))


def debiased_interval(
    cases: Cases,
    *,
    ci_prob: float,
    n_bins: int = 15,
    binning: str = "mass",
    p: int = 2,
    ties: str = "together",
    signed: bool = False,
) -> tuple[float, float]:
    """Interval of the debiased square error (Sun et al. 2024), rooted unless `signed`.

    With U = outcome - score, m_b and q_b the means of U and U^2 in bin b, and T the debiased
    square error, n var(T) is sum_b w_b (4 m_b^2 q_b - 3 m_b^4) - (sum_b w_b m_b^2)^2 where the
    model is not calibrated. Where it is, var(T) is
    2 / n^2 sum_b sum_{j != k in b} v_j v_k / (n_b - 1)^2, with v = score (1 - score).
    """
    if p != 2:
        raise InputError("debiased_ece has an analytic interval for p=2 only.")
    options: dict[str, Any] = {"n_bins": n_bins, "binning": binning, "ties": ties}
    outcomes, scores, weights = cases.outcomes[0], cases.scores, cases.weights
    bins = bins_of(scores, weights, **options)
    statistic = debiased_core(scores, weights, p=2, signed=True, **options)
    square = float(statistic(cases.outcomes)[0])
    sd = _sd(bins, outcomes - scores)
    one_sided, two_sided = ndtri(ci_prob) * sd, ndtri((1 + ci_prob) / 2) * sd
    floored = max(square, 0)
    lower = float(np.median([floored - two_sided, floored / 2, floored - one_sided]))
    if square < ndtri(ci_prob) * _sd_if_calibrated(bins, scores):
        lower = 0
    ends = max(lower, 0), floored + two_sided
    return ends if signed else (math.sqrt(ends[0]), math.sqrt(ends[1]))


def _sd(bins: Bins, residual: Floats) -> float:
    """Standard error of the square where the model is not calibrated."""
    n, gap = bins.mass.sum(), _mean(bins, residual)
    share = bins.mass / n
    apart = share @ (4 * gap**2 * _mean(bins, residual**2) - 3 * gap**4) - (share @ gap**2) ** 2
    return math.sqrt(max(apart, 0) / n)


def _sd_if_calibrated(bins: Bins, scores: Floats) -> float:
    """Standard error of the square, given the scores, where the model is calibrated."""
    cases, chance = np.maximum(bins.mass, 2), scores * (1 - scores)
    pairs = (cases * _mean(bins, chance)) ** 2 - cases * _mean(bins, chance**2)
    return math.sqrt(2 * max((pairs / (cases - 1) ** 2).sum(), 0)) / float(bins.mass.sum())


def _mean(bins: Bins, values: Floats) -> Floats:
    """Mean over each bin of several cases, 0 in others."""
    several = bins.mass >= 2 - BINS_SAME
    return np.asarray(several * (bins.shares @ values) / np.where(bins.mass > 0, bins.mass, 1))


LARGEST_SIZE = 1e15


@documented
def expected_ece(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    sizes: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "width",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Mean `ece` of order 1 of samples of a size, drawn from these cases as the population.

    mu(n) = sum_b p_b (sd_b sqrt(2 / pi) exp(-gap_b^2 / (2 sd_b^2)) + gap_b (1 - 2 Phi(-gap_b /
    sd_b))), with p_b the share of bin b, gap_b its mean score less its mean outcome, and sd_b^2 =
    (variance of its scores + rate_b (1 - rate_b)) / (n p_b): the mean absolute value of normal gaps
    (Proposition 3.3 of the paper). It falls towards the `ece` of the population as n grows.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    sizes : int or array-like of shape (n_sizes,), optional
        Numbers of cases n, at least 1. By default that of the cases given.
    n_bins : int
        Number of bins.
    binning : {"width", "mass", "quantile", "rank"}
        As in `ece`; the cuts are those of the population.
    sample_weight : array-like of shape (n_samples,), optional
        Shares of the cases in the population, up to a factor.

    Returns
    -------
    float or ndarray of shape (n_sizes,)
        From `ece` to 1.

    %(refuses)s

    Notes
    -----
    It is an approximation: bins with few cases have no normal gaps, the share of a bin varies from
    sample to sample, and mean score and mean outcome of a bin are taken for independent, as the
    paper does. Of samples of 200, 1000 and 5000 cases of simulate's "clinical-middle-overconfident"
    it is .102, .070 and .063, where the means of 300 simulated samples are .100, .069 and .063; of
    "calibrated" .090, .040 and .018, and .090, .041 and .018.

    The gaps of a sample are larger than those of its population, so that the value at its own size
    is above its own `ece`: give the cases of a large data set, or a known curve.

    A population with a known curve is each score twice, with and without the event, weighed by the
    chance of either.

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, Proposition 3.3 and appendix D.5.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 100_000, random_state=1)
    >>> estimators.expected_ece(y_true, y_prob, [100, 1000, 10_000]).round(4)
    array([0.1325, 0.0679, 0.0595])
    >>> round(estimators.ece(y_true, y_prob), 4)
    0.0587
    """
    cut = as_cut(n_bins, binning, "together")
    cases = registry.read(y_true, y_prob, sample_weight, replicates=False).counted()
    number = _as_sizes(cases.mass if sizes is None else sizes)
    outcomes, scores = cases.outcomes[0].astype(np.float64), cases.scores
    bins = bins_of(scores, cases.weights, **cut)
    filled = bins.mass > 0
    gap = bins.mean(scores - outcomes)[filled]
    rate = bins.mean(outcomes)
    square = bins.mean(scores**2) - bins.score**2 + rate * (1 - rate)
    share = bins.mass[filled] / bins.total
    sd = np.sqrt(np.maximum(square[filled], 0) / share / number[..., None])
    z = np.divide(gap, sd, out=np.full_like(sd, np.inf), where=sd > 0)
    size = np.abs(z)
    mean = np.sqrt(2 / np.pi) * np.exp(-0.5 * size**2) * sd + np.abs(gap) * (1 - 2 * ndtr(-size))
    values = mean @ share
    return values if np.ndim(values) else float(values)


def _as_sizes(sizes: Any) -> Floats:
    try:
        number = np.asarray(sizes, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        number = np.empty((0, 0))
    if number.ndim > 1 or not number.size or not ((number >= 1) & (number <= LARGEST_SIZE)).all():
        raise InputError(
            "sizes must be a number of cases, or several, from 1 to 1e15, got "
            f"{shortened(repr(sizes))}."
        )
    return number


MOST_CANDIDATES = 1000

# Relative difference of errors that differ by rounding alone; the fewest bins are then taken.
EQUAL_ERRORS = 1e-12


class BinnedReliability(NamedTuple):
    """The binned reliability diagram of a set of scores.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Of the bins, which are of equal width and closed on the right.
    score, outcome : ndarray of shape (n_bins,)
        Mean score and mean outcome of the cases in each bin; NaN where there are none.
    lower, upper : ndarray of shape (n_bins,)
        Jeffreys interval of the outcome's mean.
    trials : ndarray of shape (n_bins,)
        Number of cases.
    ece : float
        Calibration error of order 1 over these bins: the mean distance of the bars from the
        diagonal.
    n_bins : int
    candidates : ndarray of int of shape (candidates,)
        Numbers of bins that were compared; empty when the number was given.
    error : ndarray of shape (candidates,)
        Mean squared error of each on cases left out.
    ci_prob : float
        Of the intervals.
    """

    edges: Floats
    score: Floats
    outcome: Floats
    lower: Floats
    upper: Floats
    trials: Floats
    ece: float
    n_bins: int
    candidates: NDArray[np.intp]
    error: Floats
    ci_prob: float


@documented
def binned_reliability(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int | Literal["cross-validated"] = "cross-validated",
    most_bins: int = 50,
    n_folds: int = 10,
    ci_prob: float = 0.95,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
) -> BinnedReliability:
    """Numbers of the binned reliability diagram, which `bayescal.plots.binned_reliability` draws.

    The number of bins is the one whose mean outcomes, computed without a tenth of the cases,
    predict the outcomes of that tenth with the least squared error, over all tenths: bins are a
    regression of outcomes on scores, and this is its mean squared error on new cases.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    n_bins : int or "cross-validated"
        Number of bins of equal width.
    most_bins : int
        Numbers of bins from 1 to this are compared, at most 1000.
    n_folds : int
        Parts of the cases that are left out in turn, from 2 to the number of cases.
    ci_prob : float in (0, 1)
        Probability of the interval of each bin.
    %(weights_by_kish)s
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Decides which cases are left out together. Equal seeds and equal cases, in any order, give
        equal numbers.

    Returns
    -------
    BinnedReliability

    Notes
    -----
    In a bin without other cases the prediction is the mean of all other outcomes. Of equal errors
    the fewest bins count. A case with a count is as many cases, which may be left out apart.

    References
    ----------
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024, section 6.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    >>> bins = estimators.binned_reliability(y_true, y_prob, random_state=1)
    >>> bins.n_bins, round(bins.ece, 4)
    (12, 0.0771)
    """
    level = as_level(ci_prob)
    most = as_count(most_bins, "most_bins", 1, MOST_CANDIDATES)
    cases = registry.read(y_true, y_prob, sample_weight, replicates=False).counted()
    if isinstance(n_bins, str):
        check_choice(n_bins, ("cross-validated",), "n_bins")
        folds = as_count(n_folds, "n_folds", 2, int(cases.mass), limit="the number of cases")
        candidates = np.arange(1, most + 1)
        cells = cells_of(cases.outcomes[0], cases.scores, cases.weights)
        error = _cross_validated(cells, candidates, folds, random_generator(random_state))
        number = int(candidates[np.argmax(error <= error.min() * (1 + EQUAL_ERRORS))])
    else:
        number, candidates, error = as_bins(n_bins), np.arange(0), np.empty(0)
    bins = bins_of(cases.scores, cases.weights, number, "width", "together")
    filled = bins.mass > 0
    rate = np.where(filled, bins.rate(cases.outcomes)[0], np.nan)
    score = np.where(filled, bins.score, np.nan)
    lower, upper = jeffreys(bins.mass, np.where(filled, rate, 0) * bins.mass, level)
    ece = float(np.abs(bins.excess(cases.outcomes)[0]).sum() / bins.total)
    edges = np.linspace(0, 1, number + 1)
    return BinnedReliability(
        edges, score, rate, lower, upper, bins.mass, ece, number, candidates, error, level
    )


def _cross_validated(
    cells: Cells, candidates: NDArray[np.intp], n_folds: int, rng: np.random.Generator
) -> Floats:
    """Mean squared error of each number of bins on cases left out."""
    row, fold, mass = _parts(cells.counts, n_folds, rng)
    outcome = cells.outcomes[row]
    error = np.empty(candidates.size)
    for at, number in enumerate(candidates.tolist()):
        cell = width_index(cells.scores, number)[row] + number * fold
        trials, hits = (
            np.bincount(cell, values, n_folds * number).reshape(n_folds, number)
            for values in (mass, mass * outcome)
        )
        others, events = trials.sum(axis=0) - trials, hits.sum(axis=0) - hits
        overall = events.sum(axis=1, keepdims=True) / others.sum(axis=1, keepdims=True)
        rate = np.where(others > 0, events / np.where(others > 0, others, 1), overall)
        error[at] = np.sum(hits * (1 - 2 * rate) + trials * rate**2)
    error /= mass.sum()
    return error


def _parts(
    weight: Floats, n_folds: int, rng: np.random.Generator
) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    """Cell, fold and weight of each part that is left out at once.

    Counts are shared out evenly to the folds, and what is left of them at random.
    """
    size = np.arange(weight.size)
    shared = np.floor(weight / n_folds) if are_counts(weight) else np.zeros(weight.size)
    rest = weight - n_folds * shared
    single = np.repeat(size, rest.astype(np.intp) if are_counts(weight) else 1)
    dealt = rng.permutation(np.arange(single.size) % n_folds)
    many = np.flatnonzero(shared > 0)
    row = np.concatenate([np.repeat(many, n_folds), single])
    fold = np.concatenate([np.tile(np.arange(n_folds), many.size), dealt])
    left = np.ones(single.size) if are_counts(weight) else weight
    return row, fold, np.concatenate([np.repeat(shared[many], n_folds), left])


_CUTS = ("quantile", "together")


@documented
def hosmer_lemeshow_test(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_groups: int = 10,
    development: bool = False,
    sample_weight: ArrayLike | None = None,
) -> Tested:
    """Hosmer-Lemeshow test of calibration: events against expected events over groups.

    sum_g (O_g - E_g)^2 / (E_g (1 - E_g / n_g)), with O_g events, E_g the sum of the scores, and
    n_g cases in group g. Under calibration it is chi-square, with as many degrees of freedom as
    groups where the model comes from other data, and two fewer on the data that it was fitted to.

    Parameters
    ----------
    %(replicated_cases)s
    n_groups : int
        Groups, cut at the quantiles of the scores as R does. Equal scores stay together, so that
        there may be fewer.
    development : bool
        Whether the model was fitted to these very cases.
    %(weights_by_kish)s

    Returns
    -------
    Tested
        Statistic, p-value and degrees of freedom.

    Raises
    ------
    InputError
        As `ece`; also if too few groups are left for a degree of freedom.

    Notes
    -----
    A group whose scores are all 0, or all 1, leaves nothing to chance: it counts for no degree of
    freedom, and an outcome that contradicts it makes the statistic infinite and the p-value 0.

    The groups are arbitrary, and in a large sample the test rejects models that are as good as
    calibrated: a p-value says nothing of how large the error is.

    References
    ----------
    Hosmer & Lemeshow, "Goodness of fit tests for the multiple logistic regression model",
    Communications in Statistics 1980.
    Hosmer, Lemeshow & Sturdivant, "Applied Logistic Regression", 3rd ed. 2013, section 5.2.2.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> test = estimators.hosmer_lemeshow_test(y_true, y_prob)
    >>> round(test.statistic, 2), round(test.pvalue, 2), test.df
    (4.38, 0.93, 10.0)
    """
    number = as_bins(n_groups, "n_groups")
    cases = registry.read(y_true, y_prob, sample_weight)
    bins = bins_of(cases.scores, cases.weights, number, *_CUTS)
    occupied = bins.mass > 0
    score, size = bins.score[occupied], bins.mass[occupied]
    chance = (score > 0) & (score < 1)
    variance = np.where(chance, score * (1 - score), 1) / size
    df = chance.sum() - 2.0 * as_flag(development, "development")
    if df < 1:
        raise InputError(
            f"y_prob makes {chance.sum()} groups with mean scores strictly between 0 and 1, "
            f"and the test needs {3 if development else 1}. Ask for more groups with n_groups=, if "
            "there are as many distinct scores."
        )

    def chi_square(outcomes: NDArray[Any]) -> Floats:
        gap = bins.rate(outcomes)[:, occupied] - score
        certain = np.where(gap == 0, 0, np.inf)
        with np.errstate(over="ignore"):
            return np.asarray(np.where(chance, gap**2 / variance, certain).sum(axis=1))

    statistic = registry.evaluate(lambda *_: chi_square, cases)
    return registry.tested(statistic, chdtrc(df, statistic), float(df))
