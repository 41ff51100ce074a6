"""Histogram binning."""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import Floats
from bayescal.data.validate import check_choice
from bayescal.estimators.binned.bins import as_bins
from bayescal.recalibrate._input import as_amount
from bayescal.recalibrate._steps import (
    StepRecalibrator,
    Steps,
    cuts_between,
    equal_mass,
    exact_rows,
)

__all__ = ["HistogramRecalibrator"]

_BINNINGS = ("mass", "width")
_CENTRES = ("score", "half")


class HistogramRecalibrator(StepRecalibrator):
    """Histogram binning: every score becomes the mean outcome of its bin.

    Parameters
    ----------
    n_bins : int
        Number of bins, at most 1,000,000.
    binning : {"mass", "width"}
        "mass": bins of equally many cases, where equal scores all go to the bin of the first, cut
        half-way between neighbouring scores. "width": intervals of equal length, closed on the
        right; 0 belongs to the first.
    prior_weight : float
        Imaginary cases added to each bin; 0 gives the plain mean. With 2 and centre "half" it is
        Laplace's rule, (hits + 1) / (cases + 2).
    prior_centre : {"score", "half"}
        Mean outcome of the imaginary cases: the mean score of the bin, or one half.

    Attributes
    ----------
    edges_ : ndarray of shape (n_steps - 1,)
        Highest score of each step but the last.
    levels_ : ndarray of shape (n_steps,)
        Recalibrated probability of each step.
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of HistogramRecalibrator
        With more than two classes, the one of each class against the rest.

    Notes
    -----
    An interval without cases says nothing: a score that falls there becomes its middle. Without a
    prior a bin of one outcome gives exactly 0 or 1.

    References
    ----------
    Zadrozny & Elkan, "Obtaining calibrated probability estimates from decision trees and naive
    Bayesian classifiers", ICML 2001.

    Examples
    --------
    >>> from bayescal import recalibrate
    >>> recalibrator = recalibrate.HistogramRecalibrator(n_bins=2)
    >>> recalibrator.fit([0.1, 0.3, 0.6, 0.9], [0, 1, 1, 1]).transform([0.2, 0.4, 0.7])
    array([0.5, 0.5, 1. ])
    """

    def __init__(
        self,
        n_bins: int = 10,
        binning: str = "mass",
        prior_weight: float = 0.0,
        prior_centre: str = "score",
    ) -> None:
        self.n_bins = n_bins
        self.binning = binning
        self.prior_weight = prior_weight
        self.prior_centre = prior_centre

    def _steps(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> Steps:
        bins = as_bins(self.n_bins)
        check_choice(self.binning, _BINNINGS, "binning")
        check_choice(self.prior_centre, _CENTRES, "prior_centre")
        extra = as_amount(self.prior_weight, "prior_weight")
        if self.binning == "mass":
            rows = exact_rows(scores, outcomes, weights)
            _, first = equal_mass(rows.trials, np.array([bins]))
            trials, hits, total = (
                np.add.reduceat(column, first)
                for column in (rows.trials, rows.hits, rows.trials * rows.score)
            )
            edge = cuts_between(rows.score, first[1:])
            middle = np.zeros(first.size)
        else:
            edge = np.arange(1, bins) / bins
            index = np.searchsorted(edge, scores)
            case = np.ones_like(scores) if weights is None else weights
            trials, hits, total = (
                np.bincount(index, column, minlength=bins)
                for column in (case, case * outcomes, case * scores)
            )
            middle = (np.arange(bins) + 0.5) / bins
        filled = np.maximum(trials, np.finfo(np.float64).tiny)
        centre = total / filled if self.prior_centre == "score" else 0.5
        level = np.where(trials > 0, (hits + extra * centre) / (filled + extra), middle)
        return Steps(edge, np.clip(level, 0, 1))
