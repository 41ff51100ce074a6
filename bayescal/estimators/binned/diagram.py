"""The binned reliability diagram as numbers, with as many bins as predict new outcomes best."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats, RandomState, random_generator
from bayescal._base.docstrings import documented
from bayescal.data.validate import as_count, as_level, check_choice
from bayescal.data.weights import are_counts
from bayescal.estimators.binned.bins import as_bins, bins_of, width_index
from bayescal.estimators.door import OutcomesLike, read
from bayescal.estimators.proportions import jeffreys
from bayescal.estimators.uncertainty._resamples import Cells, cells_of

__all__ = ["BinnedReliability", "binned_reliability"]

MOST_CANDIDATES = 1000

EQUAL_ERRORS = 1e-12
"""Relative difference of errors that differ by rounding alone; the fewest bins are then taken."""


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

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or an option is out of
        range.

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
    cases = read(y_true, y_prob, sample_weight, replicates=False).counted()
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
