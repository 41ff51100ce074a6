"""Cumulative differences of outcomes and scores: Kolmogorov-Smirnov and Kuiper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, kolmogorov, log_ndtr, ndtr

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, check_choice
from bayescal.core.text import documented
from bayescal.data.rows import Order, ascending
from bayescal.estimators import registry
from bayescal.estimators.bins import Labels, read_with_cells
from bayescal.estimators.registry import Core, OutcomesLike, Statistic, Tested


@dataclass(frozen=True)
class Walk:
    """Cases in ascending order of their scores, each row for some cases (None: one each).

    `order` is their index as given; `ends` where each run of equal scores ends (None: none are
    equal).
    """

    order: Order
    scores: Floats
    cases: Floats | None
    ends: NDArray[np.intp] | None

    @classmethod
    def over(cls, scores: Floats, weights: Floats | None) -> Walk:
        """From scores and numbers of cases."""
        order, ranked = ascending(scores)
        return cls(order, ranked, None if weights is None else weights[order], ends_of(ranked))

    @property
    def total(self) -> float:
        """Number of cases."""
        return float(self.scores.size if self.cases is None else self.cases.sum())

    def differences(self, outcomes: NDArray[Any]) -> Floats:
        """Cumulative sums of outcome less score, of shape (replicates, distinct scores)."""
        gaps: Floats = np.subtract(outcomes[:, self.order], self.scores, dtype=np.float64)
        return self._running(gaps)

    def variances(self) -> Floats:
        """What the variances of those sums are for a calibrated model."""
        variances: Floats = self._running((self.scores * (1 - self.scores))[None])[0]
        if variances[-1] > 0:
            return variances
        raise InputError(
            "y_prob is 0 or 1 for every case, so a calibrated model leaves nothing to chance and "
            "the test is not defined. Compare y_true with y_prob directly."
        )

    def _running(self, values: Floats) -> Floats:
        """Sums of the cases up to each distinct score; `values` is overwritten."""
        if self.cases is not None:
            values *= self.cases
        np.cumsum(values, axis=1, out=values)
        return values if self.ends is None else values[:, self.ends]


def ends_of(ascending: Floats) -> NDArray[np.intp] | None:
    """Where each run of equal scores ends; None when no two are equal."""
    new = ascending[1:] != ascending[:-1]
    return None if new.all() else np.flatnonzero(np.append(new, True))


TERMS = np.arange(8)[:, None]
ODD = 2 * TERMS + 1
SIGN = (-1.0) ** TERMS
LEAST = 1e-2


def supremum_sf(x: Floats) -> Floats:
    """Probability that the largest |W(t)| exceeds x, of x of any shape.

    4 sum_k (-1)^k P(Z > (2k+1) x) converges fast for large x, and one less
    4/pi sum_k (-1)^k / (2k+1) exp(-((2k+1) pi / x)^2 / 8) for small x. k = 0, 1, ...
    """
    far, near = _split(x, 1.0)
    tail = 4 * (SIGN * ndtr(-ODD * far)).sum(axis=0)
    body = 4 / np.pi * (SIGN / ODD * np.exp(-((ODD * np.pi / near) ** 2) / 8)).sum(axis=0)
    return _joined(x, 1.0, tail, 1 - body)


def range_sf(x: Floats) -> Floats:
    """Probability that max W(t) - min W(t) exceeds x (Feller 1951), of x of any shape.

    8 sum_k (-1)^k (k+1) P(Z > (k+1) x) converges fast for large x, and one less
    8 sum_k (1/x^2 + 1/((2k+1) pi)^2) exp(-((2k+1) pi / x)^2 / 2) for small x. k = 0, 1, ...
    """
    far, near = _split(x, 2.0)
    tail = 8 * (SIGN * (TERMS + 1) * ndtr(-(TERMS + 1) * far)).sum(axis=0)
    decay = np.exp(-((ODD * np.pi / near) ** 2) / 2)
    body = 8 * ((1 / near**2 + 1 / (ODD * np.pi) ** 2) * decay).sum(axis=0)
    return _joined(x, 2.0, tail, 1 - body)


def _split(x: Floats, at: float) -> tuple[Floats, Floats]:
    flat = np.ravel(x)
    return np.maximum(flat, at), np.clip(flat, LEAST, at)


def _joined(x: Floats, at: float, tail: Floats, body: Floats) -> Floats:
    return np.where(np.ravel(x) > at, tail, body).reshape(np.shape(x))


Extent = Callable[[Floats], Floats]


def _largest(sums: Floats) -> Floats:
    return np.asarray(np.maximum(sums.max(axis=1), -sums.min(axis=1)))


def _range(sums: Floats) -> Floats:
    return np.asarray(np.maximum(sums.max(axis=1), 0) - np.minimum(sums.min(axis=1), 0))


def _error(extent: Extent) -> Core:
    """Core of how far the cumulative differences go, as a share of all cases."""

    def core(scores: Floats, weights: Floats | None) -> Statistic:
        walk = Walk.over(scores, weights)
        return lambda outcomes: extent(walk.differences(outcomes)) / walk.total

    return core


_POOLED, _KUIPER = _error(_largest), _error(_range)


def _ks(scores: Floats, weights: Floats | None, *, cells: Labels | None = None) -> Statistic:
    """Core of `ks_error`: with cells, the mean over cases of the error of their cell."""
    if cells is None:
        return _POOLED(scores, weights)
    members = [np.flatnonzero(cells == cell) for cell in range(int(cells.max()) + 1)]
    mass = np.ones(scores.size) if weights is None else weights
    parts = [(rows, Walk.over(scores[rows], mass[rows])) for rows in members]

    def statistic(outcomes: NDArray[Any]) -> Floats:
        largest = [_largest(walk.differences(outcomes[:, rows])) for rows, walk in parts]
        return np.asarray(np.sum(largest, axis=0) / mass.sum())

    return statistic


WALK_DEAR = "Running sums are stored beside the sorted cases, and again where scores are tied."


@registry.estimator(
    "Kolmogorov-Smirnov calibration error",
    prepare=_ks,
    paper="Gupta et al. 2021",
    estimates="the largest calibration error of the cases below some score, as a share of all",
    span=(0, 1),
    bound="below TCE of order 1 in the population; biased upwards in a sample",
    by_case=("cells",),
    dear=WALK_DEAR,
)
def ks_error(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    cells: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Kolmogorov-Smirnov calibration error: the largest cumulative difference.

    max over s of |sum of (outcome - score) over cases with a score of at most s| / n, the ECCE-MAD
    of Arrieta-Ibarra et al. and the C* of Sadatsafavi & Petkau.

    Parameters
    ----------
    %(replicated_cases)s
    cells : array-like of shape (n_samples,), optional
        Label of the cell that each case is in, such as its predicted class; the result is then the
        mean over cases of the error of their cell, which is never below that of all together.
    %(weights)s

    %(returns_share)s

    %(refuses)s
        Also if `cells` does not give one label to each case.

    Notes
    -----
    Of more than two classes, with `y_true` whether the predicted class is right and `y_prob` its
    probability, there are two errors of this name. That of Gupta et al., and of the code of Gruber
    & Buettner, takes all cases together, as here without `cells`. Definition C.2 of the latter is
    the mean, over predicted classes, of the error among the cases predicted to be of that class:
    pass the predicted classes as `cells`. Its proof takes the accuracy of all classes together.

    Errors of opposite sign at neighbouring scores cancel: it is small for a model that is right on
    average below every score.

    References
    ----------
    Gupta, Rahimi, Ajanthan, Mensink, Sminchisescu & Hartley, "Calibration of Neural Networks using
    Splines", ICLR 2021.
    Arrieta-Ibarra, Gujral, Tannen, Tygert & Xu, "Metrics of Calibration for Probabilistic
    Predictions", JMLR 23, 2022.
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, definition C.2.

    Examples
    --------
    >>> from bayescal import estimators
    >>> y_true, y_prob = [0, 1, 1, 0], [0.2, 0.4, 0.7, 0.9]
    >>> round(estimators.ks_error(y_true, y_prob), 3)
    0.175
    >>> round(estimators.ks_error(y_true, y_prob, cells=["cat", "dog", "cat", "dog"]), 3)
    0.2
    """
    if cells is None:
        return registry.evaluate(_ks, registry.read_ranked(y_true, y_prob, sample_weight))
    cases, labels = read_with_cells(y_true, y_prob, sample_weight, cells)
    return registry.evaluate(_ks, cases, cells=labels)


@registry.estimator(
    "Kuiper calibration error",
    prepare=_KUIPER,
    paper="Arrieta-Ibarra et al. 2022",
    estimates="the largest calibration error of the cases between two scores, as a share of all",
    span=(0, 1),
    bound="below TCE of order 1 in the population; biased upwards in a sample",
    dear=WALK_DEAR,
)
def kuiper_error(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Kuiper calibration error, or cutoff calibration error: the range of cumulative differences.

    max over r <= s of |sum of (outcome - score) over cases with a score above r and at most s| / n,
    the ECCE-R of Arrieta-Ibarra et al. and, in a sample, the cutoff calibration error of Rossellini
    et al.: the largest |E (outcome - score) 1(score in I)| over intervals I. From `ks_error` to
    twice that.

    Parameters
    ----------
    %(replicated_cases)s
    %(weights)s

    %(returns_share)s

    Notes
    -----
    Its population value can be both tested and used (Rossellini et al.). Tested: intervals are a
    class of small complexity, so that it is estimated with an error of order 1 / sqrt(n) whatever
    the distribution, as the true calibration error is not. Used: whoever treats from a risk of t on
    gains at most this value over 1 - t, in net benefit, by any other cutoff of the same score. The
    functional "cutoff_error" of `bayescal.functionals` is its posterior.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert & Xu, "Metrics of Calibration for Probabilistic
    Predictions", JMLR 23, 2022.
    Rossellini, Soloff, Barber, Ren & Willett, "Can a calibration metric be both testable and
    actionable?", COLT 2025, arXiv:2502.19851.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.kuiper_error([0, 1, 1, 0], [0.2, 0.4, 0.7, 0.9]), 3)
    0.225
    """
    return registry.evaluate(_KUIPER, registry.read_ranked(y_true, y_prob, sample_weight))


def _two_bins(scores: Floats, weights: Floats | None) -> Statistic:
    """Core of `averaged_two_bin_error`: between two scores the sums on either side are constant."""
    walk = Walk.over(scores, weights)
    distinct = walk.scores if walk.ends is None else walk.scores[walk.ends]
    gaps = np.diff(distinct, append=1.0)

    def statistic(outcomes: NDArray[Any]) -> Floats:
        below = walk.differences(outcomes) / walk.total
        all_cases = below[:, -1:]
        squares = below**2 + (all_cases - below) ** 2
        return np.asarray(squares @ gaps + all_cases[:, 0] ** 2 * distinct[0])

    return statistic


@registry.estimator(
    "Averaged two-bin calibration error",
    prepare=_two_bins,
    paper="Hartline, Hu & Wu 2026",
    estimates="the squared errors of the cases on either side of a score, averaged over scores",
    span=(0, 1),
    bound="below the square of TCE of order 1 in the population",
    dear=WALK_DEAR,
)
def averaged_two_bin_error(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """Averaged two-bin calibration error (ATB): squared errors on either side of a threshold.

    The integral over thresholds t from 0 to 1 of (sum of (score - outcome) over cases with a score
    below t, over n)^2 plus the same of the other cases.

    Parameters
    ----------
    %(replicated_cases)s
    %(weights)s

    %(returns_share)s

    Notes
    -----
    It is truthful: whoever knows the risk of each case cannot lower the expected value by telling
    anything else.
    The squared sum of either side is its expectation, squared, plus the variance of the outcomes,
    which no prediction changes. For true risks the expected value is therefore
    sum score (1 - score) / n^2, however many distinct scores there are. It is a square: compare its
    root with other errors.

    References
    ----------
    Hartline, Hu & Wu, "A Perfectly Truthful Calibration Measure", COLT 2026, arXiv:2508.13100.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.averaged_two_bin_error([0, 1, 1, 0], [0.2, 0.4, 0.7, 0.9]), 3)
    0.027
    """
    return registry.evaluate(_two_bins, registry.read_ranked(y_true, y_prob, sample_weight))


@documented
def ks_test(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> Tested:
    """Test of calibration by the largest cumulative difference.

    The statistic is n ks_error / sqrt(sum score (1 - score)). For a calibrated model the cumulative
    differences approach Brownian motion, and this the largest |W(t)|, t in [0, 1].

    Parameters
    ----------
    %(replicated_cases)s
    %(weights_by_kish)s

    Returns
    -------
    Tested
        A named tuple (statistic, pvalue, df); df is NaN.

    %(refuses)s
        Also if every score is 0 or 1, so that a calibrated model leaves nothing to chance.

    Notes
    -----
    The one-part test "BM" of the R package cumulcalib. With few cases or few distinct scores the
    p-value is too large; the package warns where sum score (1 - score) is below 30.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert & Xu, "Metrics of Calibration for Probabilistic
    Predictions", JMLR 23, 2022.
    Sadatsafavi & Petkau, "Non-parametric inference on calibration of predicted risks", Statistics
    in Medicine 43, 2024.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=1)
    >>> bool(estimators.ks_test(y_true, y_prob).pvalue > 0.05)
    True
    """
    core = _standardised(lambda sums, _: _largest(sums))
    statistic = registry.evaluate(core, registry.read_ranked(y_true, y_prob, sample_weight))
    return registry.tested(statistic, supremum_sf(np.asarray(statistic)))


@documented
def kuiper_test(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> Tested:
    """Test of calibration by the range of the cumulative differences.

    The statistic is n kuiper_error / sqrt(sum score (1 - score)), which for a calibrated model
    approaches the range of Brownian motion on [0, 1] (Feller 1951).

    Parameters
    ----------
    %(replicated_cases)s
    %(weights_by_kish)s

    Returns
    -------
    Tested
        A named tuple (statistic, pvalue, df); df is NaN.

    References
    ----------
    Arrieta-Ibarra, Gujral, Tannen, Tygert & Xu, "Metrics of Calibration for Probabilistic
    Predictions", JMLR 23, 2022.
    Feller, "The Asymptotic Distribution of the Range of Sums of Independent Random Variables",
    Annals of Mathematical Statistics 22, 1951.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=1)
    >>> bool(estimators.kuiper_test(y_true, y_prob).pvalue > 0.05)
    True
    """
    core = _standardised(lambda sums, _: _range(sums))
    statistic = registry.evaluate(core, registry.read_ranked(y_true, y_prob, sample_weight))
    return registry.tested(statistic, range_sf(np.asarray(statistic)))


@documented
def cumulative_difference_test(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    part: str = "both",
    sample_weight: ArrayLike | None = None,
) -> Tested:
    """Two-part test of calibration: the mean, and what the cumulative differences do besides.

    With S_k the cumulative differences over sqrt(sum score (1 - score)), and t_k the share of that
    sum up to case k, S_n tests the mean, and the largest |S_k - t_k S_n| the rest: for a calibrated
    model it approaches the largest value of a Brownian bridge, independent of S_n.

    Parameters
    ----------
    %(replicated_cases)s
    part : {"both", "mean", "bridge"}
        "mean": S_n, against a normal distribution, two-sided. "bridge": the largest
        |S_k - t_k S_n|, against Kolmogorov's. "both": Fisher's -2 (log p_mean + log p_bridge).
    %(weights_by_kish)s

    Returns
    -------
    Tested
        A named tuple (statistic, pvalue, df); df is 4 for "both", and otherwise NaN.

    Raises
    ------
    InputError
        As `ks_test`; also if `part` is none of the three.

    Notes
    -----
    "both" is the test "BB" of the R package cumulcalib, and "bridge" its "BB1p".

    References
    ----------
    Sadatsafavi & Petkau, "Non-parametric inference on calibration of predicted risks", Statistics
    in Medicine 43, 2024.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 2000, random_state=1)
    >>> mean = estimators.cumulative_difference_test(y_true, y_prob, part="mean")
    >>> bridge = estimators.cumulative_difference_test(y_true, y_prob, part="bridge")
    >>> bool(bridge.pvalue < 0.001 < mean.pvalue)
    True
    """
    check_choice(part, SUMMARIES, "part")
    of_part, tail, df = SUMMARIES[part]
    statistic = registry.evaluate(
        _standardised(of_part), registry.read_ranked(y_true, y_prob, sample_weight)
    )
    return registry.tested(statistic, tail(np.asarray(statistic)), df)


def _fisher(mean: Floats, bridge: Floats) -> Floats:
    """Fisher's statistic of the two parts."""
    both = np.log(2) + log_ndtr(-np.abs(mean)) + _log_kolmogorov(bridge)
    return np.asarray(-2 * both)


def _bridge(sums: Floats, time: Floats) -> Floats:
    return _largest(sums - time * sums[:, -1:])


def _log_kolmogorov(x: Floats) -> Floats:
    """Logarithm of Kolmogorov's tail, also where the tail itself is 0 in floating point."""
    near: Floats = np.log(kolmogorov(np.minimum(x, 3)))
    return np.where(x > 3, np.log(2) - 2 * x**2, near)


def _standardised(statistic: Callable[[Floats, Floats], Floats]) -> Core:
    """Core of a statistic of the cumulative differences in standard units, and of their time."""

    def core(scores: Floats, weights: Floats | None) -> Statistic:
        walk = Walk.over(scores, weights)
        variances = walk.variances()
        unit, time = np.sqrt(variances[-1]), variances / variances[-1]
        return lambda outcomes: statistic(walk.differences(outcomes) / unit, time)

    return core


# Parts of the two-part test: statistic, its tail under calibration, and degrees of freedom.
SUMMARIES: dict[str, tuple[Callable[[Floats, Floats], Floats], Extent, float]] = {
    "mean": (lambda sums, _: sums[:, -1], lambda z: np.asarray(2 * ndtr(-np.abs(z))), np.nan),
    "bridge": (_bridge, kolmogorov, np.nan),
    "both": (
        lambda sums, time: _fisher(sums[:, -1], _bridge(sums, time)),
        lambda x: np.asarray(chdtrc(4, x)),
        4.0,
    ),
}
