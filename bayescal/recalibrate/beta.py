"""Beta calibration."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal._base.errors import SeparationError, as_flag
from bayescal._base.log_odds import logarithms
from bayescal._base.logistic import binomial_mle
from bayescal.data.build.builder import collapse
from bayescal.data.table import Rows
from bayescal.recalibrate._regression import LinearRecalibrator, maximum_likelihood, of_all_cases

__all__ = ["BetaRecalibrator"]

_FACES = ([0, 1, 2], [1, 2], [0, 2], [2])
_LEVEL = 1e-9


class BetaRecalibrator(LinearRecalibrator):
    """Beta calibration: logit g(s) = a log s - b log(1 - s) + c, by exact maximum likelihood.

    Parameters
    ----------
    constrained : bool
        Keep a and b at 0 or above, as Kull et al. do, so that the map never falls.

    Attributes
    ----------
    a_, b_, c_ : float
        The identity has a = b = 1 and c = 0; a = b is logistic recalibration.
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of BetaRecalibrator
        With more than two classes, the one of each class against the rest.

    Notes
    -----
    The constrained fit is the maximum over a, b >= 0. The package betacal fits without the
    constraint, sets a negative coefficient to 0 and fits the rest again, to scikit-learn's
    tolerance: its coefficients differ from these by about 1e-3, and by more when there are few
    scores away from 0 and 1. Its third parameter m is the score at which g is one half.

    When the likelihood has no maximum (the outcomes are separated, or there are fewer than three
    distinct scores) `fit` raises SeparationError. Scores of exactly 0
    and 1 are read as a quarter of the way to the nearest other score, none as nearer than 1e-12.

    References
    ----------
    Kull, Silva Filho & Flach, "Beta calibration: a well-founded and easily implemented improvement
    on logistic calibration for binary classifiers", AISTATS 2017.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-asymmetric", 5000, random_state=1)
    >>> recalibrator = recalibrate.BetaRecalibrator().fit(y_prob, y_true)
    >>> round(recalibrator.a_, 1), round(recalibrator.b_, 1)
    (1.5, 0.7)
    """

    coef_: Floats
    a_: float
    b_: float
    c_: float

    def __init__(self, constrained: bool = True) -> None:
        self.constrained = constrained

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        cases = (scores, outcomes, weights)
        constrained = as_flag(self.constrained, "constrained")
        if constrained:
            rows = collapse(*cases)
            free, start = self._face(rows)
            self.coef_ = np.zeros(3)
            self.coef_[free] = of_all_cases(
                lambda part: (self._design(part)[0][:, free], 0.0), rows, start, *cases
            )
            self.coef_[:2] = np.maximum(self.coef_[:2], 0)
        else:
            self.coef_ = maximum_likelihood(self._design, *cases)
        self.a_, self.b_, self.c_ = self.coef_.tolist()

    def _design(self, scores: Floats) -> tuple[Floats, float]:
        log_s, log_q = logarithms(scores)
        return np.column_stack([log_s, -log_q, np.ones_like(log_s)]), 0.0

    def _face(self, rows: Rows) -> tuple[list[int], Floats]:
        """Which coefficients are not fixed at 0 by the constraint, and the best ones for a table.

        The likelihood is concave, so a maximum with some fixed at 0 is the maximum if it would
        rise for none of them. Where there is none without the constraint it has to fall, or
        there would be others as good.
        """
        basis, _ = self._design(rows.score)
        level = _LEVEL * (rows.trials @ np.abs(basis))
        failure = None
        for face in _FACES:
            try:
                fitted = binomial_mle(basis[:, face], rows.trials, rows.hits)[0]
            except SeparationError as error:
                failure, level = failure or error, -np.abs(level)
                continue
            coef = np.zeros(3)
            coef[face] = fitted
            rise = basis.T @ (rows.hits - rows.trials * expit(basis @ coef))
            fixed = [j for j in range(3) if j not in face]
            if coef[:2].min() >= 0 and (rise[fixed] <= level[fixed]).all():
                return list(face), fitted
        raise failure or SeparationError("The search for the maximum of the likelihood failed.")
