"""Bayesian binning into quantiles."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, softmax

from bayescal._base.arrays import Floats
from bayescal.recalibrate._steps import (
    StepRecalibrator,
    Steps,
    cuts_between,
    equal_mass,
    exact_rows,
)

__all__ = ["BBQRecalibrator"]

_REACH = 10
_FEWEST_CASES = 5
_PRIOR_CASES = 2.0
_PRIOR_EDGE = 0.005
_NEGLIGIBLE = 1e-16


class BBQRecalibrator(StepRecalibrator):
    """Bayesian binning into quantiles: histogram binning averaged over the number of bins.

    Every number of bins of equal mass from N^(1/3) / 10 to 10 N^(1/3), with five cases to a bin at
    least, is a model. In each bin the event has an unknown probability with a Beta prior worth
    two cases, centred on the mean score. The models are equally probable beforehand and are
    averaged by their evidence; each contributes the posterior mean of the bin that a score is in.

    Attributes
    ----------
    n_bins_ : ndarray of shape (n_models,)
        Number of bins of each model; fewer hold cases when scores are equal.
    probability_ : ndarray of shape (n_models,)
        Posterior probability of each model.
    edges_ : ndarray of shape (n_steps - 1,)
        Highest score of each step of the average but the last.
    levels_ : ndarray of shape (n_steps,)
        Recalibrated probability of each step.
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of BBQRecalibrator
        With more than two classes, the one of each class against the rest.

    Notes
    -----
    Equal scores are never parted. The prior mean is kept within 0.005 and 0.995, as in the
    authors' code. That code differs in three ways: it centres the prior on the middle of the bin's
    interval, which for the outermost bins starts at 0 or ends at 1; a bin's estimate adds one case
    rather than the prior's two; and models are dropped at an elbow in their evidence. The package
    probcal has Jeffreys' prior in each bin, and netcal approximates the evidence by BIC and cuts
    at equal width.

    References
    ----------
    Naeini, Cooper & Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian Binning",
    AAAI 2015.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("D5", 10_000, random_state=1)
    >>> recalibrate.BBQRecalibrator().fit(y_prob, y_true).transform([0.5, 0.9]).round(2)
    array([0.3 , 0.48])
    """

    n_bins_: NDArray[np.intp]
    probability_: Floats

    def _steps(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> Steps:
        rows = exact_rows(scores, outcomes, weights)
        self.n_bins_ = _numbers(float(rows.trials.sum()))
        scheme, first = equal_mass(rows.trials, self.n_bins_)
        start = np.flatnonzero(np.diff(scheme, prepend=-1))
        last = np.append(first[1:], rows.score.size)
        last[start[1:] - 1] = rows.score.size

        trials, hits, total = (
            _between(column, first, last)
            for column in (rows.trials, rows.hits, rows.trials * rows.score)
        )
        a = _PRIOR_CASES * np.clip(total / trials, _PRIOR_EDGE, 1 - _PRIOR_EDGE)
        self.probability_ = softmax(np.add.reduceat(_log_evidence(trials, hits, a), start))

        counted = (self.probability_ > _NEGLIGIBLE)[scheme]
        level = (self.probability_[scheme] * (hits + a) / (trials + _PRIOR_CASES))[counted]
        size = rows.score.size + 1
        rise = np.bincount(first[counted], level, size) - np.bincount(last[counted], level, size)
        step = np.unique(first[counted])
        levels = np.clip(np.cumsum(rise)[step], 0, 1)
        return Steps(cuts_between(rows.score, step[1:]), levels)


def _numbers(cases: float) -> NDArray[np.intp]:
    """Numbers of bins to average over."""
    cases = round(cases, 6)
    root = math.cbrt(cases)
    fewest = max(1, math.floor(root / _REACH))
    most = min(math.ceil(cases / _FEWEST_CASES), math.ceil(_REACH * root))
    return np.arange(fewest, max(most, fewest) + 1)


def _log_evidence(trials: Floats, hits: Floats, a: Floats) -> Floats:
    """Log probability of the outcomes in each bin, the event's own averaged over its prior."""
    b = _PRIOR_CASES - a
    prior = gammaln(a) + gammaln(b) - math.lgamma(_PRIOR_CASES)
    posterior = gammaln(hits + a) + gammaln(trials - hits + b) - gammaln(trials + _PRIOR_CASES)
    evidence: Floats = posterior - prior
    return evidence


def _between(column: Floats, first: NDArray[np.intp], last: NDArray[np.intp]) -> Floats:
    """Sums over the rows from `first` up to `last`."""
    running = np.concatenate([[0.0], np.cumsum(column)])
    total: Floats = running[last] - running[first]
    return total
