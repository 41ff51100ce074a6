"""Bias and intervals of any estimator: bootstrap, jackknife, simulation."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from bayescal.core.arrays import Floats, RandomState, blocks, random_generator
from bayescal.core.errors import MOST_DRAWS, InputError, as_count, as_level, check_choice
from bayescal.core.text import documented, percent, rounded, shortened
from bayescal.data.cases import aligned, as_scores, check_same_length
from bayescal.data.clusters import Clusters
from bayescal.data.rows import levels_of
from bayescal.data.table import CalibrationData
from bayescal.data.weights import are_counts
from bayescal.estimators import binned, clinical
from bayescal.estimators.bins import Cells, cells_of
from bayescal.estimators.registry import ESTIMATORS, Cases, Estimator, OutcomesLike, Statistic, read

# By name of the estimator: `(cases, ci_prob=, **options) -> (lower, upper)`.
ANALYTIC: dict[str, Callable[..., tuple[float, float]]] = {
    "calibration_in_the_large": clinical.calibration_in_the_large_interval,
    "calibration_intercept": clinical.calibration_intercept_interval,
    "calibration_slope": clinical.calibration_slope_interval,
    "debiased_ece": binned.debiased_interval,
    "observed_expected": clinical.observed_expected_interval,
}


ROUNDING = 1e-12


RESAMPLES_BLOCK = 1 << 18
CASES_PER_CELL = 8


def _sizes(replicates: int, width: int) -> Iterator[int]:
    """How many replicates of this width to take at a time, so that memory stays bounded."""
    return (part.stop - part.start for part in blocks(replicates, width, RESAMPLES_BLOCK))


def draw(cells: Cells, replicates: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Bootstrap resamples, as blocks of cases per cell of shape (some, cells)."""
    number = cells.counts.size
    if not cells.integral or cells.size > CASES_PER_CELL * number:
        chances = cells.counts / cells.counts.sum()
        for some in _sizes(replicates, number):
            yield rng.multinomial(cells.size, chances, size=some).astype(np.float64)
        return
    cell = np.repeat(np.arange(number), cells.counts.astype(np.intp))
    for some in _sizes(replicates, cells.size):
        drawn = cell[rng.integers(cells.size, size=(some, cells.size))]
        drawn += number * np.arange(some)[:, None]
        counted = np.bincount(drawn.ravel(), minlength=some * number)
        yield counted.reshape(some, number).astype(np.float64)


def cells_of_clusters(clusters: Clusters, score: Floats) -> Cells:
    """Both outcomes at each score, whether or not they occur."""
    trials, hits = (
        np.bincount(clusters.row, each, score.size) for each in (clusters.trials, clusters.hits)
    )
    counts = np.column_stack([trials - hits, hits]).ravel()
    outcomes = np.tile([0.0, 1.0], score.size)
    return Cells(np.repeat(score, 2), outcomes, counts, round(float(trials.sum())), False)


def draw_clusters(
    clusters: Clusters, cells: int, replicates: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Resamples of whole clusters within strata, as blocks of cases per cell.

    Of k clusters k - 1 are drawn, each counting k / (k - 1): means then vary as those of k new
    clusters do (Rao & Wu 1988).
    """
    others = clusters.matrix(clusters.trials - clusters.hits, 2 * clusters.row, cells)
    cases = others + clusters.matrix(clusters.hits, 2 * clusters.row + 1, cells)
    layers = [np.flatnonzero(clusters.stratum == layer) for layer in range(clusters.strata)]
    for some in _sizes(replicates, max(cells, clusters.size)):
        counted = np.empty((some, clusters.size))
        for own in layers:
            k = own.size
            counted[:, own] = rng.multinomial(k - 1, np.full(k, 1 / k), some) * (k / (k - 1))
        yield np.asarray(counted @ cases)


def leave_one_out(
    cells: Cells, most: int, rng: np.random.Generator
) -> tuple[Iterator[Floats], Floats]:
    """The data less one case, for each cell, or for `most` random cases if there are more cells.

    Returns the blocks of cases per cell, and the share of the cases that each row stands for.
    """
    shares = cells.counts / cells.counts.sum()
    left_out = np.arange(shares.size)
    if shares.size > most:
        left_out = rng.choice(shares.size, most, p=shares)
        shares = np.full(most, 1 / most)

    def rows() -> Iterator[Floats]:
        start = 0
        for some in _sizes(left_out.size, cells.counts.size):
            block = np.tile(cells.counts, (some, 1))
            block[np.arange(some), left_out[start : start + some]] -= 1
            start += some
            yield block

    return rows(), shares


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
    return np.asarray(ndtr(ndtri(below) + moved / slope))


def known(values: Floats, applied: Applied, tail: float) -> Floats:
    """The values that are defined, if the others are too few to hide a tail."""
    undefined = ~np.isfinite(values)
    if undefined.mean() > tail:
        raise InputError(
            f"estimator {applied.name!r} is undefined on {undefined.sum()} of {values.size} "
            "resamples, too many to know the tails of an interval. It needs more data."
        )
    return values[~undefined]


MOST_RESAMPLED = 20_000
SIMULATED_BLOCK = 1 << 20

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class AlikeCases:
    """Cases of which some are alike: those of one cluster.

    Each has an event where a normal variable is below the quantile of its probability; variables of
    a cluster are correlated, so that every outcome keeps its probability. Cases are in order of
    score.
    """

    cluster: NDArray[np.intp]
    correlation: float

    def normal(self, rng: np.random.Generator, size: int) -> Floats:
        """The variables of the cases in so many replicates, of shape (size, cases)."""
        shared = rng.standard_normal((size, int(self.cluster.max()) + 1))[:, self.cluster]
        own = rng.standard_normal(shared.shape)
        return np.asarray(np.sqrt(self.correlation) * shared + np.sqrt(1 - self.correlation) * own)


def cases_by_score(scores: Floats, weights: Floats | None) -> tuple[Floats, Counts]:
    """Distinct scores in ascending order, and whole numbers of cases at each.

    What is left of a case at one score is added to the next, so that their sum is the sum of the
    weights, rounded.
    """
    levels = levels_of(scores)
    trials = levels.trials if weights is None else levels.totals(weights)
    return levels.score, np.diff(np.rint(np.cumsum(trials)), prepend=0).astype(np.int64)


class SimulatedOutcomes:
    """Outcomes simulated at the same scores, drawn once, for any number of estimators.

    Up to 20,000 cases every case has an outcome of its own. Beyond, and where scores are resampled,
    the events at each score are drawn, and are weights of the estimator. `probability` is
    (replicates, distinct scores); table k of m takes the sets k, k + m, and so on (`turn`).
    """

    def __init__(
        self,
        score: Floats,
        trials: Counts,
        probability: Floats,
        random_state: int | np.random.Generator,
        turn: tuple[int, int] = (0, 1),
        alike: AlikeCases | None = None,
        resample_scores: bool = False,
    ) -> None:
        self._score, self._trials, self._probability = score, trials, probability
        self._random_state, self._turn, self._alike = random_state, turn, alike
        self._resample_scores, self._size = resample_scores, int(trials.sum())

    def estimates(self, applied: Applied) -> Floats:
        """The estimate on each data set, (replicates,); NaN where the estimator is undefined."""
        few = self._size <= MOST_RESAMPLED
        if not self._resample_scores and (few or not applied.weighs):
            statistic = applied.at(np.repeat(self._score, self._trials))
            outcomes = self._outcomes if few else self._in_turn(self._draw_outcomes())
            return np.concatenate([statistic(block) for block in outcomes])
        scores, events = np.repeat(self._score, 2), np.tile([0.0, 1.0], self._score.size)
        return np.concatenate([applied.to_weights(scores, events, w) for w in self._weights])

    @cached_property
    def _outcomes(self) -> list[NDArray[Any]]:
        return list(self._in_turn(self._draw_outcomes()))

    @cached_property
    def _weights(self) -> list[NDArray[Any]]:
        return list(self._in_turn(self._draw_weights()))

    def _in_turn(self, drawn: Iterator[NDArray[Any]]) -> Iterator[NDArray[Any]]:
        """Blocks of the data sets, of each those whose turn it is."""
        (own, tables), start = self._turn, 0
        for block in drawn:
            mine, start = block[(own - start) % tables :: tables], start + len(block)
            if len(mine):
                yield mine

    def _draw_outcomes(self) -> Iterator[NDArray[Any]]:
        """Blocks of one outcome a case, of shape (some, cases)."""
        rng, alike = random_generator(self._random_state), self._alike
        one_each = bool((self._trials == 1).all())
        for part in blocks(len(self._probability), self._size, SIMULATED_BLOCK):
            chance = self._probability[part]
            if alike is not None:
                chance = ndtri(chance)
            if not one_each:
                chance = np.repeat(chance, self._trials, axis=1)
            rank = rng.random(chance.shape) if alike is None else alike.normal(rng, len(chance))
            yield rank < chance

    def _draw_weights(self) -> Iterator[NDArray[Any]]:
        """Blocks of cases without and with the event at each score, (some, 2 * distinct)."""
        rng, trials = random_generator(self._random_state), self._trials
        if self._alike is not None:
            starts = np.cumsum(trials) - trials
            for outcomes in self._draw_outcomes():
                yield _paired(trials, np.add.reduceat(outcomes, starts, axis=1, dtype=np.int64))
            return
        for part in blocks(len(self._probability), 2 * trials.size, SIMULATED_BLOCK):
            chance = self._probability[part]
            cases = np.broadcast_to(trials, chance.shape)
            if self._resample_scores:
                cases = rng.multinomial(self._size, trials / self._size, size=len(chance))
            yield _paired(cases, rng.binomial(cases, chance))


def _paired(cases: Counts, hits: Counts) -> Floats:
    """Cases without and with the event side by side, of shape (some, 2 * distinct)."""
    return np.stack([cases - hits, hits], axis=2).reshape(len(hits), -1).astype(np.float64)


@dataclass(frozen=True)
class Applied:
    """An estimator with its options, and what it can take.

    `core(scores, outcomes, weights)` is of a function that is not in the register, for many
    weightings of the cases at once, as `Estimator.weighted` is.
    """

    name: str
    function: Callable[..., Any]
    options: dict[str, Any]
    entry: Estimator | None = None
    core: Callable[[Floats, Floats, Floats], Floats] | None = None

    @property
    def span(self) -> tuple[float, float]:
        """Least and greatest possible value; distances in another metric have no greatest one."""
        if self.entry is None:
            return -math.inf, math.inf
        low, high = self.entry.span
        return low, math.inf if self.options.get("metric", "identity") != "identity" else high

    @property
    def weighs(self) -> bool:
        """Whether it takes sample_weight."""
        try:
            return "sample_weight" in inspect.signature(self.function).parameters
        except ValueError:  # some built-in callables do not say
            return False

    def to_data(self, data: Cases | CalibrationData) -> float:
        """The estimate on a data set; refuse one that is not a finite number."""
        if self.entry is not None:
            value = float(self.function(data, **self.options))
        else:
            cases = read(data)
            outcomes, scores, weights = cases.outcomes[0], cases.scores, cases.weights
            if self.core is None:
                value = self._alone(outcomes, scores, weights)
            else:
                order = np.argsort(scores)
                once = np.ones(scores.size) if weights is None else weights[order]
                value = float(self.core(scores[order], outcomes[order], once[None])[0])
        if not math.isfinite(value):
            raise InputError(f"estimator {self.name!r} is {value!r} on the data.")
        return value

    def to_weights(self, scores: Floats, outcomes: Floats, weights: Floats) -> Floats:
        """The estimate for each row of numbers of cases, scores ascending; NaN where undefined."""
        if self.entry is not None and self.entry.weighted is not None:
            options = self.entry.defaults | self.options
            values = self.entry.weighted(scores, outcomes, weights, **options)
            return np.asarray(values, dtype=np.float64)
        if self.core is not None:
            return self.core(scores, outcomes, weights)
        drawn = weights > 0
        return np.array(
            [
                self._or_nan(outcomes[some], scores[some], weight[some])
                for some, weight in zip(drawn, weights, strict=True)
            ]
        )

    def at(self, scores: Floats) -> Statistic:
        """The estimate at these scores, one case each, of each row of outcomes; may be NaN."""
        if self.entry is None:
            return lambda outcomes: np.array(
                [self._or_nan(row.astype(np.float64), scores, None) for row in outcomes]
            )
        try:
            return self.entry.prepare(scores, None, **self.entry.defaults | self.options)
        except InputError:
            return lambda outcomes: np.full(len(outcomes), np.nan)

    def _or_nan(self, outcomes: NDArray[Any], scores: Floats, weights: Floats | None) -> float:
        try:
            if self.entry is not None:
                return float(self.entry.core(outcomes[None], scores, weights, **self.options)[0])
            return self._alone(outcomes, scores, weights)
        except InputError:
            return math.nan

    def _alone(self, outcomes: NDArray[Any], scores: Floats, weights: Floats | None) -> float:
        """The estimate on one set of outcomes, of repeated rows where it takes no weights."""
        extra = {}
        if weights is not None and self.weighs:
            extra = {"sample_weight": weights}
        elif weights is not None:
            if not are_counts(weights):
                raise InputError(
                    f"estimator {self.name!r} takes no sample_weight, so sample_weight must hold "
                    "whole numbers of cases."
                )
            repeats = weights.astype(np.intp)
            outcomes, scores = np.repeat(outcomes, repeats), np.repeat(scores, repeats)
        value = self.function(outcomes, scores, **extra, **self.options)
        if np.shape(value) != () or not isinstance(value, (int, float, np.number, np.ndarray)):
            raise InputError(
                f"estimator {self.name!r} returned {type(value).__name__}, not one number. "
                "Pass one that maps outcomes and scores to a number."
            )
        return float(value)


def applied_of(estimator: Any, options: dict[str, Any]) -> Applied:
    """An estimator of the register, by its name or itself, or any other function."""
    if callable(estimator):
        name = str(getattr(estimator, "__name__", type(estimator).__name__))
        if name not in ESTIMATORS or ESTIMATORS[name].function is not estimator:
            return Applied(name, estimator, options)
        estimator = name
    entry = ESTIMATORS[check_choice(estimator, ESTIMATORS, "estimator")]
    for option in entry.by_case:
        if options.get(option) is not None:
            raise InputError(
                f"{option}= of {entry.name!r} has a value for each case, and data sets that are "
                "drawn have other cases. Leave it out, or resample the cases yourself."
            )
    return Applied(entry.name, entry.function, options, entry)


class Bias(NamedTuple):
    """Mean difference of an estimator from the true error, and the standard error of that mean.

    Attributes
    ----------
    bias : float
    standard_error : float
        By simulation; 0 only if every simulation gave the same difference.
    """

    bias: float
    standard_error: float


def estimator_bias(
    estimator: str | Callable[..., float],
    sample: Callable[[np.random.Generator], Any],
    *,
    n_simulations: int = 10,
    random_state: RandomState = None,
    **options: Any,
) -> Bias:
    """Bias of an estimator where the probability of every case is known.

    The mean over simulated data sets of the estimate less the data set's own mean |s_i - t_i|,
    with t_i the probability of the event of case i.

    Parameters
    ----------
    estimator : str or callable
        A name of an estimator of this module, or any function of `(y_true, y_prob)`.
    sample : callable
        Draws a data set: from a `numpy.random.Generator` to `(y_true, y_prob, probability)`, each
        of shape (n_samples,). A fourth item, if there is one, is a mapping of options that have a
        value for each case, such as `{"cells": tree.leaf(y_prob, X)}`.
    n_simulations : int
        Number of data sets, from 2 to 1,000,000.
    random_state : int, numpy.random.Generator or None
        Seed or source of randomness.
    **options
        Of the estimator.

    Returns
    -------
    Bias
        `bias` and `standard_error`.

    Raises
    ------
    InputError
        If `sample` is not such a function, or the estimator refuses what it draws.

    Notes
    -----
    The target is how far the scores are from the probabilities of the cases, and not from the
    calibration curve. The two are the same where the probability depends on the score alone, as in
    `bayescal.simulate`. Where it varies among cases of one score the target is the larger of the
    two, and even a perfect estimate of the calibration error has a negative bias.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943,
    appendix C, where there are ten simulations.

    Examples
    --------
    Binned errors of an exactly calibrated model are bias; more so with more bins:

    >>> from bayescal import estimators, simulate
    >>> truth = simulate.truth("clinical-middle-calibrated")
    >>> def sample(rng):
    ...     y_true, y_prob = truth.sample(500, rng)
    ...     return y_true, y_prob, truth.curve(y_prob)
    >>> for n_bins in (4, 16):
    ...     bias = estimators.estimator_bias("ece", sample, n_bins=n_bins, random_state=1)
    ...     print(f"{n_bins} bins: {bias.bias:.3f} (standard error {bias.standard_error:.3f})")
    4 bins: 0.025 (standard error 0.004)
    16 bins: 0.047 (standard error 0.003)
    """
    applied = applied_of(estimator, options)
    if not callable(sample):
        raise InputError(
            f"sample must be a function of a random generator, got {shortened(repr(sample))}."
        )
    rng = random_generator(random_state)
    differences = []
    for _ in range(as_count(n_simulations, "n_simulations", 2, MOST_DRAWS)):
        y_true, y_prob, probability, by_case = _drawn(sample, rng)
        y_true, y_prob, probability, *_ = aligned(
            y_true=y_true, y_prob=y_prob, probability=probability, across=(), **by_case
        )
        cases, truth = read(y_true, y_prob), as_scores(probability, "probability")
        check_same_length(truth.size, "probability", cases.scores.size, "y_prob")
        estimate = replace(applied, options=options | by_case).to_data(cases)
        differences.append(estimate - np.abs(cases.scores - truth).mean())
    spread = np.std(differences, ddof=1) / np.sqrt(len(differences))
    return Bias(float(np.mean(differences)), float(spread))


def _drawn(
    sample: Callable[[np.random.Generator], Any], rng: np.random.Generator
) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Outcomes, scores, probabilities, and options with a value for each case."""
    try:
        data_set = sample(rng)
    except TypeError as error:
        raise InputError(f"sample must take a numpy.random.Generator, but: {error}.") from error
    if not isinstance(data_set, tuple) or len(data_set) not in (3, 4):
        raise InputError(
            "sample must return (y_true, y_prob, probability), and may add a mapping of options, "
            f"but returned {type(data_set).__name__}"
            + (f" of {len(data_set)}." if isinstance(data_set, tuple) else ".")
        )
    by_case = dict(data_set[3]) if len(data_set) == 4 else {}
    return data_set[0], data_set[1], data_set[2], by_case


INTERVAL_METHODS = ("analytic", "basic", "bca", "consistency", "percentile")
FEWEST_RESAMPLES = 100


class Interval(NamedTuple):
    """An estimate and its interval.

    Attributes
    ----------
    estimate, lower, upper : float
    method : str
    ci_prob : float
    """

    estimate: float
    lower: float
    upper: float
    method: str
    ci_prob: float

    def __str__(self) -> str:
        ends = self.lower, self.upper
        middle, low, high = rounded((self.estimate, *ends), *ends)
        level = percent(self.ci_prob)
        if self.method == "consistency":
            return f"{middle} (if calibrated, {level} of estimates: {low} to {high})"
        return f"{middle} ({level} {self.method} interval: {low} to {high})"


@documented
def estimator_interval(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    estimator: str | Callable[..., Any] = "ece",
    *,
    method: str = "percentile",
    ci_prob: float = 0.95,
    n_resamples: int = 1000,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
    **options: Any,
) -> Interval:
    """Interval for an estimate.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    estimator : str or callable
        The name of an estimator of this module, or `estimator(y_true, y_prob, **options)` that
        returns a number. One that takes no `sample_weight` gets resampled cases as rows.
    method : {"percentile", "basic", "bca", "consistency", "analytic"}
        See Notes.
    ci_prob : float in (0, 1)
        Probability of the interval.
    n_resamples : int
        Number of resamples, at least 100. "analytic" takes none.
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases. Unless all are integers, a resample has Kish's effective number of cases.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Equal seeds and equal cases, in any order, give equal intervals.
    **options
        Passed to the estimator, such as `n_bins`.

    Returns
    -------
    Interval
        A named tuple (estimate, lower, upper, method, ci_prob), within the estimator's span.

    Raises
    ------
    InputError
        If the data, the estimator or an option is not what it must be; if the estimator is
        undefined on so many resamples that the tails of the interval are unknown; if "bca" meets
        sampling weights or a bias beyond every resample; if "analytic" is not known.

    Notes
    -----
    With q the quantiles of the estimate over resamples of the cases with replacement:

    * "percentile" is (q_lower, q_upper). A resample of a calibrated model is not calibrated, so an
      estimator that is biased upwards, as `ece` is, goes up once more: the interval can lie
      wholly above the estimate, and the true error below both.
    * "basic" is (2 estimate - q_upper, 2 estimate - q_lower), which takes the bias off.
    * "bca" moves the levels of the quantiles by the bias (the share of resamples below the
      estimate, ties half) and the acceleration (the skewness of the jackknife, over the distinct
      cases, or as many random ones as there are resamples).
    * "analytic" needs no resamples. For `debiased_ece` of order 2 it is the normal interval of Sun
      et al. for the square, which reaches down to 0 unless a one-sided test of calibration rejects;
      for `observed_expected`, `calibration_in_the_large`, `calibration_intercept` and
      `calibration_slope`, that of the function of the same name ending in `_interval`.
    * "consistency" simulates outcomes from the scores themselves. It is the central range of the
      estimate if the model were calibrated: where an estimate lies outside, these are not
      the data of a calibrated model. It is no interval for the true error. The scores stay as they
      are, where Broecker & Smith resample them too.

    No bootstrap interval of a calibration error covers well near calibration, where the error
    stops at its least value. The analytic one of `debiased_ece` does, for the error that is left
    after binning: nominal 95 % intervals covered .94 to 1.00 in a simulation of uniform scores, 15
    bins of equal width, 200, 1000 and 5000 cases and true errors of 0, .018, .036, .085 and .177.
    For the true error itself see `bayescal.compare`.

    References
    ----------
    Efron, "Better Bootstrap Confidence Intervals", JASA 82, 1987.
    Broecker & Smith, "Increasing the Reliability of Reliability Diagrams", Weather and
    Forecasting 22, 2007.
    Sun, Chaudhari, Barnett & Dobriban, "A Confidence Interval for the l2 Expected Calibration
    Error", arXiv:2408.08998, 2024.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 500, random_state=1)
    >>> for method in ("percentile", "basic", "consistency"):
    ...     print(estimators.estimator_interval(y_true, y_prob, method=method, random_state=1))
    0.06 (95 % percentile interval: 0.05 to 0.11)
    0.06 (95 % basic interval: 0.01 to 0.07)
    0.06 (if calibrated, 95 % of estimates: 0.04 to 0.08)
    """
    level = as_level(ci_prob)
    check_choice(method, INTERVAL_METHODS, "method")
    count = as_count(n_resamples, "n_resamples", FEWEST_RESAMPLES, MOST_DRAWS)
    cases = read(y_true, y_prob, sample_weight, replicates=False)
    applied = applied_of(estimator, options)
    estimate = applied.to_data(y_true if isinstance(y_true, CalibrationData) else cases)
    if method == "analytic":
        if applied.entry is None or applied.name not in ANALYTIC:
            raise InputError(
                f"estimator {applied.name!r} has no analytic interval; these have: "
                f"{', '.join(sorted(ANALYTIC))}. Use another method."
            )
        ends = ANALYTIC[applied.name](cases, ci_prob=level, **applied.options)
        return _within_span(applied, estimate, ends, method, level)
    rng = random_generator(random_state)
    cells = cells_of(cases.outcomes[0], cases.scores, cases.weights)
    if method == "consistency":
        score, trials = cases_by_score(cases.scores, cases.weights)
        calibrated = np.broadcast_to(score, (count, score.size))
        values = SimulatedOutcomes(score, trials, calibrated, rng).estimates(applied)
    else:
        values = resampled(applied, cells, draw(cells, count, rng))
    tails = _tails(level)
    if method == "bca":
        values = known(values, applied, tails[0])
        tails = bca_levels(tails, values, estimate, applied, cells, count, rng)
    return _between_quantiles(applied, estimate, values, tails, method, level)


class Resamples:
    """Resamples of a table, drawn once, for the intervals of any number of estimators.

    With clusters these are drawn whole; without, an interval is that of `estimator_interval` with
    the same seed.
    """

    def __init__(
        self,
        data: CalibrationData,
        n_resamples: int,
        random_state: int | np.random.Generator,
        clusters: Clusters | None = None,
    ) -> None:
        self._data, rng = data, random_generator(random_state)
        if clusters is None:
            cases = read(data)
            self._cells = cells_of(cases.outcomes[0], cases.scores, cases.weights)
            weights = draw(self._cells, n_resamples, rng)
        else:
            self._cells = cells_of_clusters(clusters, data.score)
            weights = draw_clusters(clusters, self._cells.counts.size, n_resamples, rng)
        self._weights = list(weights)

    def interval(self, applied: Applied, method: str, ci_prob: float) -> Interval:
        """The interval of one estimator, "percentile" or "basic"."""
        values = resampled(applied, self._cells, self._weights)
        estimate, tails = applied.to_data(self._data), _tails(ci_prob)
        return _between_quantiles(applied, estimate, values, tails, method, ci_prob)


def _tails(level: float) -> Floats:
    return np.array([(1 - level) / 2, (1 + level) / 2])


def _between_quantiles(
    applied: Applied, estimate: float, values: Floats, tails: Floats, method: str, level: float
) -> Interval:
    lower, upper = np.quantile(known(values, applied, (1 - level) / 2), tails)
    if method == "basic":
        lower, upper = 2 * estimate - upper, 2 * estimate - lower
    return _within_span(applied, estimate, (lower, upper), method, level)


def _within_span(
    applied: Applied, estimate: float, ends: tuple[float, float], method: str, level: float
) -> Interval:
    lower, upper = np.clip(ends, *applied.span)
    return Interval(estimate, float(lower), float(upper), method, level)
