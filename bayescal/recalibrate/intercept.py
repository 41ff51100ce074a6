"""A shift of the log-odds."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal._base.log_odds import log_odds_of
from bayescal.recalibrate._base import Recalibrator
from bayescal.recalibrate._regression import maximum_likelihood

__all__ = ["InterceptRecalibrator"]


class InterceptRecalibrator(Recalibrator):
    """Shift all log-odds by one number: logit g(s) = logit s + shift.

    The shift maximises the likelihood, so that on the data it was fitted to the mean recalibrated
    probability equals the mean outcome (calibration-in-the-large). It leaves the order of cases,
    and so every measure of discrimination, as it was.

    Attributes
    ----------
    shift_ : float
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of InterceptRecalibrator
        With more than two classes, the one of each class against the rest.

    Notes
    -----
    With one class only the shift is infinite, and `fit` raises SeparationError. Scores of
    exactly 0 and 1 are read as a quarter of the way to the nearest other score, and none as nearer
    than 1e-12.

    References
    ----------
    Steyerberg et al., "Validation and updating of predictive logistic regression models",
    Statistics in Medicine 2004.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("clinical-low-shifted", 5000, random_state=1)
    >>> recalibrator = recalibrate.InterceptRecalibrator().fit(y_prob, y_true)
    >>> round(recalibrator.shift_, 2)
    0.49
    >>> bool(abs(recalibrator.transform(y_prob).mean() - y_true.mean()) < 1e-9)
    True
    """

    reads_log_odds = True
    shift_: float

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        means = np.array([np.average(values, weights=weights) for values in (outcomes, scores)])
        observed, predicted = log_odds_of(means)

        def design(part: Floats) -> tuple[Floats, Floats]:
            return np.ones((part.size, 1)), log_odds_of(part) + (observed - predicted)

        coef = maximum_likelihood(design, scores, outcomes, weights)
        self.shift_ = float(coef[0] + observed - predicted)

    def _map(self, scores: Floats) -> Floats:
        probability: Floats = expit(log_odds_of(scores) + self.shift_)
        return probability
