"""Indices of a smooth calibration curve: ICI, E50, E90, Emax, ECI, and intervals of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from bayescal.core.arrays import Floats, RandomState, blocks, random_generator
from bayescal.core.errors import InputError, SeparationError
from bayescal.core.optimise import binomial_mle
from bayescal.core.text import documented
from bayescal.data.table import tabulate
from bayescal.data.validate import as_draws, as_level, check_choice
from bayescal.data.weights import SAME, quantile
from bayescal.estimators.registry import (
    DOOR_BLOCK,
    Cases,
    Core,
    OutcomesLike,
    Statistic,
    estimator,
    evaluate,
    read,
    read_ranked,
)
from bayescal.estimators.smoothers import (
    BASES,
    CELL,
    LOESS_EDGE,
    MARGIN,
    MOST_SWAY,
    SPREAD,
    as_smoothing,
    full_rank,
    no_curve,
    smoother_of,
    span_of,
)

Index = Callable[[Floats, Floats], Floats]
"""Distances of shape (replicates, rows) and cases of each row, (rows,), to one value each."""


def _mean(gap: Floats, trials: Floats) -> Floats:
    mean: Floats = gap @ trials / trials.sum()
    return mean


def _mean_square(gap: Floats, trials: Floats) -> Floats:
    return 100 * _mean(gap**2, trials)


def _greatest(gap: Floats, trials: Floats) -> Floats:
    greatest: Floats = gap.max(axis=1)
    return greatest


def _median(gap: Floats, trials: Floats) -> Floats:
    return quantile(gap, trials, 0.5)


def _ninetieth(gap: Floats, trials: Floats) -> Floats:
    return quantile(gap, trials, 0.9)


INDICES: dict[str, Index] = {
    "e50": _median,
    "e90": _ninetieth,
    "eci": _mean_square,
    "emax": _greatest,
    "ici": _mean,
}


def gaps(
    scores: Floats, weights: Floats | None, **smoothing: Any
) -> tuple[Callable[[NDArray[Any]], Floats], Floats]:
    """Distances between the curve of each replicate and the distinct scores, and their cases.

    No distance counts as more than 1.
    """
    table = tabulate(scores, weights)
    curve = smoother_of(**smoothing)(table, table.score)

    def gap(outcomes: NDArray[Any]) -> Floats:
        distance = np.abs(curve(table.hits(outcomes)) - table.score)
        return np.asarray(np.minimum(distance, 1))

    return gap, table.trials


def _index_core(name: str) -> Core:
    """Core of an index of every replicate's curve."""
    index = INDICES[name]

    def core(scores: Floats, weights: Floats | None, **smoothing: Any) -> Statistic:
        gap, trials = gaps(scores, weights, **smoothing)
        return lambda outcomes: index(gap(outcomes), trials)

    return core


CORES = {name: _index_core(name) for name in INDICES}
"""By name, the core of each index."""


def _index_of_weightings(name: str) -> Callable[..., Floats]:
    """An index of the curve of each of many weightings of the same cases."""
    index, core = INDICES[name], CORES[name]

    def values(scores: Floats, outcomes: Floats, weights: Floats, **smoothing: Any) -> Floats:
        if smoothing["smoother"] == "loess":
            rows = resamples_of(scores, outcomes, weights)
            curve = resampled_loess(rows, span_of("loess", smoothing["span"]))
            if smoothing["clip"]:
                curve = np.clip(curve, 0, 1)
            gap = np.minimum(np.abs(curve - rows.score), 1)
            return np.concatenate([index(gap[None, i], rows.trials[i]) for i in rows.each()])
        drawn = weights > 0
        alone = [
            core(scores[some], weight[some], **smoothing)(outcomes[None, some])
            for some, weight in zip(drawn, weights, strict=True)
        ]
        return np.concatenate(alone)

    return values


OF_WEIGHTINGS = {name: _index_of_weightings(name) for name in INDICES}
"""By name: `(scores, outcomes, weights, **smoothing) -> values`, one for each weighting."""


def flat(scores: Floats, weights: Floats | None) -> Statistic:
    """Mean square of mean outcome - score, NaN where it is 0."""
    table = tabulate(scores, weights)
    mean = np.average(table.score, weights=table.trials)
    variance = np.average((table.score - mean) ** 2, weights=table.trials)

    def square(outcomes: NDArray[Any]) -> Floats:
        rate = table.hits(outcomes).sum(axis=1) / table.total
        total = variance + (rate - mean) ** 2
        return np.where(total > SAME**2, total, np.nan)

    return square


def eci_core(scores: Floats, weights: Floats | None, *, form: str, **smoothing: Any) -> Statistic:
    """Core of `eci`."""
    square = CORES["eci"](scores, weights, **smoothing)
    if form == "mean-square":
        return square
    level = flat(scores, weights)
    return lambda outcomes: square(outcomes) / 100 / level(outcomes)


def eci_of_weightings(
    scores: Floats, outcomes: Floats, weights: Floats, *, form: str, **smoothing: Any
) -> Floats:
    """`eci` of each of many weightings of the same cases."""
    square = OF_WEIGHTINGS["eci"](scores, outcomes, weights, **smoothing)
    if form == "mean-square":
        return square
    level = [flat(scores, weight)(outcomes[None]) for weight in weights]
    return square / 100 / np.concatenate(level)


Indices = NDArray[np.intp]

RESAMPLED_BLOCK = 1 << 14


class Resamples(NamedTuple):
    """The distinct scores that each resample has, one resample after the other.

    Attributes
    ----------
    distinct : ndarray of shape (distinct,)
        Scores of the data, ascending.
    before : ndarray of int of shape (resamples, distinct + 1)
        Index of the first row of a resample whose score is at least that of the data, or of the
        next resample's first row.
    score, trials, hits : ndarray of shape (rows,)
        Scores ascend within a resample.
    resample : ndarray of int of shape (rows,)
        Index of each row's resample.
    """

    distinct: Floats
    before: Indices
    score: Floats
    trials: Floats
    hits: Floats
    resample: Indices

    @property
    def first(self) -> Indices:
        """The first row of each resample."""
        return self.before[:, 0]

    @property
    def last(self) -> Indices:
        """The last row of each resample."""
        return self.before[:, -1] - 1

    def each(self) -> Iterator[slice]:
        """The rows of each resample."""
        return map(slice, self.first, self.before[:, -1])


def resamples_of(scores: Floats, outcomes: Floats, weights: Floats) -> Resamples:
    """The rows of weightings of the same cases.

    Parameters
    ----------
    scores, outcomes : ndarray of shape (n_samples,)
        In ascending order of the scores.
    weights : ndarray of shape (resamples, n_samples)
        Whole numbers of cases; each resample has one at least.
    """
    start = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    trials = np.add.reduceat(weights, start, axis=1)
    hits = np.add.reduceat(weights * outcomes, start, axis=1)
    drawn = trials > 0
    resample, row = np.nonzero(drawn)
    rows = np.cumsum(drawn.sum(axis=1))
    before = np.zeros((len(weights), start.size + 1), np.intp)
    np.cumsum(drawn, axis=1, out=before[:, 1:])
    before[1:] += rows[:-1, None]
    distinct = scores[start]
    return Resamples(distinct, before, distinct[row], trials[drawn], hits[drawn], resample)


def resampled_loess(resamples: Resamples, span: float) -> Floats:
    """The curve of each resample at its own scores.

    Parameters
    ----------
    span : float
        Share of a resample's cases that a local fit uses.

    Returns
    -------
    ndarray of shape (rows,)
    """
    distinct = resamples.distinct
    power = -int(np.frexp(distinct[-1] - distinct[0])[1])
    score = np.ldexp(resamples.score, power)
    resamples = resamples._replace(distinct=np.ldexp(distinct, power), score=score)

    first, last = resamples.first, resamples.last
    above = np.cumsum(resamples.trials)
    base = above[first] - resamples.trials[first]
    total = above[last] - base
    extent = score[last] - score[first]
    same = np.ldexp(SAME, np.frexp(extent)[1])  # of a range of about 1
    margin = np.where(extent > 0, MARGIN * extent, MARGIN)
    ends = score[first] - margin, score[last] + margin

    cut = _cuts(resamples, above, np.floor(total * span * CELL), same, *ends)
    every = np.arange(first.size)
    anchor = np.concatenate([ends[0], score[cut], ends[1]])
    resample = np.concatenate([every, resamples.resample[cut], every])
    order = np.lexsort((anchor, resample))
    anchor, resample = anchor[order], resample[order]

    def nth(case: Floats) -> Floats:
        row = np.searchsorted(above, base[resample] + case + 0.5)
        values: Floats = score[np.minimum(row, last[resample])]
        return values

    count = np.maximum(1, np.floor(total * span + 1e-5))
    reach = _reaches(anchor, count[resample], (total - count)[resample], nth)
    reach = np.maximum(reach, same[resample])
    value, slope = _local_quadratics(resamples, resample, anchor, reach)

    left = np.cumsum(np.bincount(cut, minlength=score.size)) + 2 * resamples.resample
    curve = np.empty_like(score)
    for part in blocks(score.size, 1, RESAMPLED_BLOCK):
        curve[part] = _joined(score[part], left[part], anchor, value, slope)
    return curve


def _cuts(
    resamples: Resamples, above: Floats, most: Floats, same: Floats, low: Floats, high: Floats
) -> Indices:
    """The rows at whose scores cells of more than `most` cases are cut in two."""
    first, last = resamples.first, resamples.last
    resample, left, right = np.arange(first.size), low, high
    cuts = []
    while first.size:
        below = above[first] - resamples.trials[first]
        half = np.floor((below + 1 + above[last]) / 2)
        row = np.minimum(np.searchsorted(above, half), np.maximum(last - 1, first))
        row -= (row > first) & (half - above[row - 1] < above[row] - half)
        cut = resamples.score[row]
        parted = (left + same[resample] < cut) & (cut < right - same[resample])
        parted &= above[last] - below > most[resample]
        cuts.append(row[parted])
        rest = parted & (row < last)
        lower = (first, row, left, cut, resample)
        upper = (row + 1, last, cut, right, resample)
        first, last, left, right, resample = (
            np.concatenate([one[parted], other[rest]])
            for one, other in zip(lower, upper, strict=True)
        )
    return np.concatenate(cuts)


def _reaches(
    anchor: Floats, count: Floats, most: Floats, nth: Callable[[Floats], Floats]
) -> Floats:
    """Distances within which the nearest `count` cases lie; `nth` gives a case's score."""
    first, last = np.zeros_like(most), most
    while (searched := first < last).any():
        middle = np.floor((first + last) / 2)
        enough = anchor - nth(middle) <= nth(middle + count) - anchor
        first = np.where(searched & ~enough, middle + 1, first)
        last = np.where(enough, middle, last)
    reach: Floats = np.maximum(anchor - nth(first), nth(first + count - 1) - anchor)
    return reach


def _local_quadratics(
    resamples: Resamples, resample: Indices, anchor: Floats, reach: Floats
) -> Floats:
    """Value and slope at each anchor, (2, anchors)."""
    start, size = _near(resamples, resample, anchor, LOESS_EDGE * reach)
    on_edge = size == 0
    if on_edge.any():
        wider = _near(resamples, resample, anchor, (1 + SAME) * reach)
        start, size = np.where(on_edge, wider, (start, size))
    widest = int(size.max())
    windows = [
        sliding_window_view(np.append(values, np.zeros(widest)), widest)
        for values in (resamples.score, resamples.trials, resamples.hits)
    ]
    fits = np.empty((2, anchor.size))
    for part in blocks(anchor.size, widest, RESAMPLED_BLOCK):
        score, trials, hits = (window[start[part], : size[part].max()] for window in windows)
        u = (score - anchor[part, None]) / reach[part, None]
        cube = np.abs(u)
        cube *= cube * cube
        closeness = 1 - cube
        closeness *= closeness * closeness
        closeness[on_edge[part]] = 1
        closeness *= np.arange(u.shape[1]) < size[part, None]
        trials *= closeness
        hits *= closeness
        fits[:, part] = _quadratic(u, trials, hits)
    fits[1] /= reach
    return fits


def _near(
    resamples: Resamples, resample: Indices, anchor: Floats, reach: Floats
) -> tuple[Indices, Indices]:
    """The first row within reach of each anchor, and how many there are."""
    low = np.searchsorted(resamples.distinct, anchor - reach)
    high = np.searchsorted(resamples.distinct, anchor + reach, side="right")
    start = resamples.before[resample, low]
    return start, resamples.before[resample, high] - start


def _quadratic(u: Floats, trials: Floats, hits: Floats) -> tuple[Floats, Floats]:
    """Value and slope at 0, by polynomials orthogonal under the trials of each line of the arrays.

    A power is left out where `_loess` leaves it out.
    """
    size_0 = trials.sum(axis=1)
    mean = _dot(trials, u) / size_0
    line = u - mean[:, None]
    weighted = trials * line
    size_1 = _dot(weighted, line)
    sway = np.abs(weighted).sum(axis=1) * np.maximum(np.abs(mean), 1)
    has_line = _is_determined(size_1, size_0, sway)

    size_1 = np.where(has_line, size_1, 1)
    bend, carry = _dot(weighted, line * line) / size_1, size_1 / size_0
    curved = (line - bend[:, None]) * line
    curved -= carry[:, None]
    weighted = trials * curved
    size_2 = _dot(weighted, curved)
    at_0, slope_at_0 = (mean + bend) * mean - carry, -2 * mean - bend
    sway = np.abs(weighted).sum(axis=1) * np.maximum(np.abs(at_0), np.abs(slope_at_0))
    has_curve = has_line & _is_determined(size_2, size_0, sway)

    rise = np.where(has_line, _dot(hits, line) / size_1, 0)
    turn = np.where(has_curve, _dot(hits, curved) / np.where(has_curve, size_2, 1), 0)
    value = hits.sum(axis=1) / size_0 - rise * mean + turn * at_0
    return value, rise + turn * slope_at_0


def _is_determined(size: Floats, size_0: Floats, sway: Floats) -> NDArray[np.bool_]:
    """Whether a power is more than rounding, and cannot add more than MOST_SWAY."""
    determined: NDArray[np.bool_] = (size > SPREAD**2 * size_0) & (sway <= MOST_SWAY * size)
    return determined


def _dot(first: Floats, second: Floats) -> Floats:
    """Sums of products along the rows."""
    products: Floats = np.einsum("ij,ij->i", first, second)
    return products


def _joined(score: Floats, left: Indices, anchor: Floats, value: Floats, slope: Floats) -> Floats:
    """Cubics between anchors, at scores that follow the anchors `left`."""
    right = left + 1
    width = anchor[right] - anchor[left]
    share = (score - anchor[left]) / width
    rest = 1 - share
    from_left = value[left] * (1 + 2 * share) + slope[left] * width * share
    from_right = value[right] * (1 + 2 * rest) - slope[right] * width * rest
    curve: Floats = from_left * rest**2 + from_right * share**2
    return curve


AUSTIN = "Austin & Steyerberg 2019"


LOESS_DEAR = "Nine local fits, each of three walks over three quarters of the cases."


@estimator(
    "Integrated calibration index (Eavg)",
    prepare=CORES["ici"],
    weighted=OF_WEIGHTINGS["ici"],
    paper=AUSTIN,
    estimates="TCE of order 1, the mean distance of the calibration curve from the score",
    dear=LOESS_DEAR,
)
def ici(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    smoother: str = "loess",
    span: float | None = None,
    n_knots: int = 5,
    clip: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Integrated calibration index: the mean of |smoothed outcome - score| over the cases.

    Harrell calls it Eavg.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    smoother : {"loess", "lowess", "rcs", "logistic", "beta", "isotonic"}
        How outcomes are smoothed; see `flexible_curve`.
    span : float, optional
        Share of the cases in a local fit of "loess" (3/4) or "lowess" (2/3).
    n_knots : int
        Knots of "rcs", from 3 to 7.
    clip : bool
        Cut the curve off at 0 and 1. By default it is R's, which is not cut off.
    %(weights_by_kish)s

    Returns
    -------
    float or ndarray
        One for each replicate when `y_true` has leading dimensions; NaN for replicates in which
        the curve does not exist.

    Raises
    ------
    InputError
        As `flexible_curve`.

    Notes
    -----
    No distance counts as more than 1. The default "loess" is R's, whose local fits may leave
    [0, 1]: with few cases, or few at the ends, this makes all five indices larger, the maximum
    most. `clip=True` cuts the curve off at 0 and 1, and then R's numbers differ.

    With "loess" it is what R prints with `loess` as it comes, to rounding; with "lowess", Eavg of
    rms `val.prob`; with "rcs" and five knots, Eavg of pmcalibration. Each smoother gives another
    number: name it when you report one. All are biased upwards in small samples.

    References
    ----------
    Austin & Steyerberg, "The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models", Statistics in Medicine 38, 2019.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> round(estimators.ici(y_true, y_prob), 3)
    0.063
    >>> round(estimators.ici(y_true, y_prob, smoother="rcs"), 3)
    0.065
    """
    smoothing = as_smoothing(smoother, span, n_knots, clip)
    return _evaluate(CORES["ici"], read_ranked(y_true, y_prob, sample_weight), smoothing)


@estimator(
    "E50",
    prepare=CORES["e50"],
    weighted=OF_WEIGHTINGS["e50"],
    paper=AUSTIN,
    estimates="the median distance of the calibration curve from the score",
    dear=LOESS_DEAR,
)
def e50(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    smoother: str = "loess",
    span: float | None = None,
    n_knots: int = 5,
    clip: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Median of |smoothed outcome - score| over the cases.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    smoother, span, n_knots, clip
        As in `ici`.
    %(weights)s

    Returns
    -------
    float or ndarray
        As `ici`.

    Raises
    ------
    InputError
        As `flexible_curve`.

    References
    ----------
    Austin & Steyerberg, "The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models", Statistics in Medicine 38, 2019.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> round(estimators.e50(y_true, y_prob), 3)
    0.059
    """
    smoothing = as_smoothing(smoother, span, n_knots, clip)
    return _evaluate(CORES["e50"], read_ranked(y_true, y_prob, sample_weight), smoothing)


@estimator(
    "E90",
    prepare=CORES["e90"],
    weighted=OF_WEIGHTINGS["e90"],
    paper=AUSTIN,
    estimates="the 90 % quantile of the distance of the calibration curve from the score",
    dear=LOESS_DEAR,
)
def e90(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    smoother: str = "loess",
    span: float | None = None,
    n_knots: int = 5,
    clip: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """The 90 % quantile of |smoothed outcome - score| over the cases, linear between them.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    smoother, span, n_knots, clip
        As in `ici`.
    %(weights)s

    Returns
    -------
    float or ndarray
        As `ici`.

    Raises
    ------
    InputError
        As `flexible_curve`.

    References
    ----------
    Austin & Steyerberg, "The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models", Statistics in Medicine 38, 2019.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> round(estimators.e90(y_true, y_prob), 3)
    0.131
    """
    smoothing = as_smoothing(smoother, span, n_knots, clip)
    return _evaluate(CORES["e90"], read_ranked(y_true, y_prob, sample_weight), smoothing)


@estimator(
    "Emax",
    prepare=CORES["emax"],
    weighted=OF_WEIGHTINGS["emax"],
    paper=AUSTIN,
    estimates="the greatest distance of the calibration curve from an observed score",
    dear=LOESS_DEAR,
)
def emax(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    smoother: str = "loess",
    span: float | None = None,
    n_knots: int = 5,
    clip: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Maximum of |smoothed outcome - score| over the observed scores.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    smoother, span, n_knots, clip
        As in `ici`.
    %(weights)s

    Returns
    -------
    float or ndarray
        As `ici`.

    Raises
    ------
    InputError
        As `flexible_curve`.

    Notes
    -----
    CalibrationCurves takes its Emax from the logistic curve on a grid over [0, 1] while its Eavg
    is that of the loess curve. Here all five come from one curve, at the observed scores.

    References
    ----------
    Austin & Steyerberg, "The Integrated Calibration Index (ICI) and related metrics for
    quantifying the calibration of logistic regression models", Statistics in Medicine 38, 2019.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> round(estimators.emax(y_true, y_prob), 3)
    0.2
    """
    smoothing = as_smoothing(smoother, span, n_knots, clip)
    return _evaluate(CORES["emax"], read_ranked(y_true, y_prob, sample_weight), smoothing)


@estimator(
    "Estimated calibration index",
    prepare=eci_core,
    weighted=eci_of_weightings,
    paper="Van Hoorde et al. 2015",
    estimates="100 times the square of TCE of order 2",
    dear=LOESS_DEAR,
)
def eci(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    form: str = "mean-square",
    smoother: str = "loess",
    span: float | None = None,
    n_knots: int = 5,
    clip: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Estimated calibration index: the mean square distance of the curve from the scores.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    form : {"mean-square", "relative"}
        "mean-square": 100 mean (smoothed - score)^2. "relative": mean (smoothed - score)^2 /
        mean (mean outcome - score)^2, which is 1 for a curve that is flat.
    smoother, span, n_knots, clip
        As in `ici`.
    %(weights)s

    Returns
    -------
    float or ndarray
        As `ici`; NaN also for replicates in which the relative form is 0 / 0.

    Raises
    ------
    InputError
        As `flexible_curve`; also if every score equals the mean outcome, for the relative form.

    Notes
    -----
    Three indices have this name. That of Van Hoorde et al. is scaled for any number of classes;
    for two it is the mean-square form, which pmcalibration prints too. The relative form compares
    with a model that gives every case the mean outcome.

    References
    ----------
    Van Hoorde, Van Huffel, Timmerman, Bourne & Van Calster, "A spline-based tool to assess and
    visualize the calibration of multiclass risk predictions", Journal of Biomedical Informatics
    54, 2015.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> round(estimators.eci(y_true, y_prob), 3)
    0.603
    >>> round(estimators.eci(y_true, y_prob, form="relative"), 3)
    0.149
    """
    check_choice(form, ["mean-square", "relative"], "form")
    smoothing = as_smoothing(smoother, span, n_knots, clip)
    cases = read_ranked(y_true, y_prob, sample_weight)
    value = _evaluate(CORES["eci"], cases, smoothing)
    if form == "mean-square":
        return value
    level = evaluate(flat, cases)
    if isinstance(level, float) and np.isnan(level):
        raise InputError(
            "The relative form divides by the mean square of mean outcome - score, but every "
            "score in y_prob equals the mean outcome. Pass form='mean-square'."
        )
    return value / 100 / level


def indices_of(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    names: Sequence[str],
    smoother: str = "loess",
    sample_weight: ArrayLike | None = None,
) -> dict[str, float]:
    """Several indices of one smoothed curve, which is fitted once.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or CalibrationData
    y_prob : array-like of shape (n_samples,)
    names : sequence of {"ici", "e50", "e90", "emax", "eci"}
    smoother : str
        As `flexible_curve` takes it, with the span and the knots that it has by default.
    sample_weight : array-like of shape (n_samples,), optional

    Returns
    -------
    dict of str to float
        What the function of each name gives.

    Raises
    ------
    InputError
        As `flexible_curve`.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> from bayescal.estimators.integrated import indices_of
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> indices_of(y_true, y_prob, names=["ici"])["ici"] == estimators.ici(y_true, y_prob)
    True
    """
    smoothing = as_smoothing(smoother, None, 5)
    cases = read(y_true, y_prob, sample_weight, replicates=False, single=True).ranked()
    gap, trials = gaps(cases.scores, cases.weights, **smoothing)
    errors = gap(cases.outcomes)
    if np.isnan(errors).any():
        raise no_curve(smoother)
    return {name: float(INDICES[name](errors, trials)[0]) for name in names}


def _evaluate(core: Core, cases: Cases, smoothing: dict[str, Any]) -> float | Floats:
    """An index of every replicate's curve; refuse the one curve that does not exist."""
    values = evaluate(core, cases, **smoothing)
    if isinstance(values, float) and np.isnan(values):
        raise no_curve(smoothing["smoother"])
    return values


@documented
def ici_interval(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    index: str = "ici",
    smoother: str = "rcs",
    n_knots: int = 5,
    ci_prob: float = 0.95,
    draws: int = 1000,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
) -> tuple[float, float]:
    """Simulated interval of an index of the ICI family, for the smoothers that are regressions.

    Coefficients are drawn from the normal distribution around their estimates with the inverse
    information as covariance. The interval has the equal-tailed quantiles of the index of the drawn
    curves.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    index : {"ici", "e50", "e90", "emax", "eci"}
        Which index; "eci" in its mean-square form.
    smoother : {"rcs", "logistic", "beta"}
        As in `ici`.
    n_knots : int
        Knots of "rcs", from 3 to 7.
    ci_prob : float
        Nominal coverage.
    draws : int
        Number of curves, at least 100; rounded up to a multiple of four.
    %(weights_by_kish)s
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None

    Returns
    -------
    tuple of float
        Lower and upper end.

    Raises
    ------
    InputError
        As `ici`; also for a smoother that is not a regression.

    Notes
    -----
    This is pmcalibration's `ci = "sim"`. Drawn curves differ from the scores even where the true
    curve does not, so that the interval never contains 0. Measured coverage of nominal 95 %
    intervals of the ICI with "rcs": 0 at perfect calibration; at a true ICI of 0.034, .77, .83
    and .91 for 100, 500 and 1000 cases. `bayescal.fit` gives a posterior instead.

    References
    ----------
    Rhodes, "pmcalibration: Calibration Curves for Clinical Prediction Models", R package.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 1000, random_state=1)
    >>> lower, upper = estimators.ici_interval(y_true, y_prob, random_state=1)
    >>> round(lower, 2), round(upper, 2)
    (0.04, 0.09)
    """
    distance = INDICES[check_choice(index, INDICES, "index")]
    check_choice(smoother, BASES, "smoother")
    as_smoothing(smoother, None, n_knots)
    level, number = as_level(ci_prob), as_draws(draws)
    cases = read(y_true, y_prob, sample_weight, replicates=False)
    table = tabulate(cases.scores, cases.weights)
    basis = full_rank(BASES[smoother](table, n_knots), table)(table.score)
    hits = table.hits(cases.outcomes)[0]
    try:
        centre, covariance = binomial_mle(basis.T, table.trials, hits)
        spread = np.linalg.cholesky((covariance + covariance.T) / 2).T
    except (SeparationError, np.linalg.LinAlgError):  # outcomes are parted, or nearly so
        raise no_curve(smoother) from None
    rng = random_generator(random_state)
    drawn = centre + rng.standard_normal((number, centre.size)) @ spread
    values = np.empty(number)
    for part in blocks(number, table.score.size, DOOR_BLOCK):
        values[part] = distance(np.abs(expit(drawn[part] @ basis) - table.score), table.trials)
    lower, upper = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(lower), float(upper)
