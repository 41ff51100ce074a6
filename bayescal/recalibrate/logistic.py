"""A straight line on the log-odds."""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.log_odds import logarithms
from bayescal.recalibrate._regression import LinearRecalibrator

__all__ = ["LogisticRecalibrator"]


class LogisticRecalibrator(LinearRecalibrator):
    """Logistic recalibration: logit g(s) = intercept + slope logit s.

    The exact, unpenalised maximum likelihood, with the outcomes as they are.

    Attributes
    ----------
    intercept_, slope_ : float
        Of the joint fit. The slope is below 1 when the scores are too extreme, and negative when
        they order the outcomes the wrong way round.
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of LogisticRecalibrator
        With more than two classes, the one of each class against the rest.

    Notes
    -----
    Platt scaling as published works on the scores of a support vector machine and moves the
    targets inwards, to (n1 + 1) / (n1 + 2) and 1 / (n0 + 2). Here the scores are probabilities,
    read on the log-odds scale (those of exactly 0 and 1 as a quarter of the way to the nearest
    other score), and the targets stay: the coefficients are those that a clinical validation
    reports. When the scores separate the
    outcomes, or all are equal, there is no maximum and `fit` raises SeparationError.

    References
    ----------
    Cox, "Two further applications of a model for binary regression", Biometrika 1958.
    Platt, "Probabilistic Outputs for Support Vector Machines and Comparisons to Regularized
    Likelihood Methods", 1999.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 5000, random_state=1)
    >>> recalibrator = recalibrate.LogisticRecalibrator().fit(y_prob, y_true)
    >>> round(recalibrator.slope_, 2)
    0.53
    >>> recalibrator.predict_proba([0.1, 0.9]).round(2)
    array([[0.84, 0.16],
           [0.34, 0.66]])
    """

    intercept_: float
    slope_: float

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        super()._fit(scores, outcomes, weights)
        self.intercept_, self.slope_ = self.coef_.tolist()

    def _design(self, scores: Floats) -> tuple[Floats, Floats | float]:
        log_s, log_q = logarithms(scores)
        return np.column_stack([np.ones_like(log_s), log_s - log_q]), 0.0
