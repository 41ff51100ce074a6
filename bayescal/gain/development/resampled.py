"""Harrell's bootstrap of a model: how far its apparent performance flatters it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal.core.arrays import Floats, by_group
from bayescal.core.optimise import fit_logistic, log_odds_of
from bayescal.gain.development.folds import seeded

__all__ = ["MEASURES_RESAMPLED", "Resampled", "line_measures", "resample_model"]

MEASURES_RESAMPLED = (
    "tce",
    "observed_expected",
    "calibration_in_the_large",
    "calibration_intercept",
    "calibration_slope",
)
MOST_TRIES = 100


@dataclass(frozen=True)
class Resampled:
    """Measures of calibration of models fitted to bootstrap resamples of the cases.

    Attributes
    ----------
    apparent : ndarray of shape (measures,)
        Of the model on the cases that it was fitted to; in the order of `MEASURES_RESAMPLED`.
    own : ndarray of shape (resamples, measures)
        Of each resampled model on its resample.
    all_cases : ndarray of shape (resamples, measures)
        Of each resampled model on all cases.
    """

    apparent: Floats
    own: Floats
    all_cases: Floats

    @property
    def corrected(self) -> Floats:
        """Apparent measures less their mean optimism, of shape (measures,)."""
        return np.asarray(self.apparent - np.mean(self.own - self.all_cases, axis=0))

    def interval(self, ci_prob: float) -> Floats:
        """Equal-tailed range of the resampled models on all cases, of shape (2, measures)."""
        ends = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
        return np.asarray(np.quantile(self.all_cases, ends, axis=0))


def resample_model(
    model: Any,
    X: Any,
    outcome: Floats,
    score: Floats,
    n_resamples: int,
    rng: np.random.Generator,
    progress: Callable[[int], object],
    group: NDArray[np.int64] | None = None,
) -> Resampled:
    """Fit a model to bootstrap resamples, and measure each on its resample and on all cases.

    Parameters
    ----------
    model : estimator
        Cloned for each resample.
    outcome, score : ndarray of shape (n,)
        Scores are those of the model fitted to all cases.
    progress : callable
        Called after each fit with the number of fits that are done.
    group : ndarray of shape (n,), optional
        The number of each case's group; whole groups are then resampled.
    """
    from sklearn.base import clone
    from sklearn.utils import _safe_indexing

    own, all_cases = [], []
    members = None
    if group is not None:
        members = np.split(by_group(group), np.cumsum(np.bincount(group))[:-1])
    for done in range(n_resamples):
        kept = _resample(outcome, members, rng)
        fitted = seeded(clone(model), rng)
        fitted.fit(_safe_indexing(X, kept), outcome[kept])
        predicted = fitted.predict_proba(X)[:, 1]
        own.append(line_measures(outcome[kept], predicted[kept]))
        all_cases.append(line_measures(outcome, predicted))
        progress(done + 1)
    return Resampled(line_measures(outcome, score), np.array(own), np.array(all_cases))


def line_measures(outcome: Floats, score: Floats) -> Floats:
    """Measures of one set of predictions, by logistic recalibration, of shape (measures,).

    Scores nearer than 1e-12 to 0 or 1 are read as 1e-12 away.
    """
    x, ones = log_odds_of(score), np.ones((1, outcome.size))
    basis = np.vstack([ones, x])
    (line,), _ = fit_logistic(basis, ones[0], (basis @ outcome)[None], start=np.array([0.0, 1.0]))
    (shift,), _ = fit_logistic(ones, ones[0], (ones @ outcome)[None], offset=x)
    error = np.abs(expit(line @ basis) - score).mean()
    return np.array([error, outcome.mean() / score.mean(), shift[0], *line])


def _resample(
    outcome: Floats, members: Sequence[NDArray[np.intp]] | None, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Indices of a resample that has both outcomes; the last one tried if none has.

    Of groups, whose cases are `members`, or of single cases.
    """
    size = outcome.size if members is None else len(members)
    for _ in range(MOST_TRIES):
        kept = rng.integers(size, size=size)
        if members is not None:
            kept = np.concatenate([members[unit] for unit in kept])
        if 0 < outcome[kept].sum() < kept.size:
            break
    return kept
