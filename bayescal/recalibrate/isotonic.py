"""Isotonic regression."""

from __future__ import annotations

import numpy as np
from sklearn.isotonic import IsotonicRegression

from bayescal._base.arrays import Floats
from bayescal.recalibrate._base import Recalibrator

__all__ = ["IsotonicRecalibrator"]


class IsotonicRecalibrator(Recalibrator):
    """Isotonic regression: the non-decreasing map of least squared error, by scikit-learn.

    Cases with equal scores share their mean outcome. Between the scores it was fitted to the map
    is interpolated, and beyond them it is flat.

    Attributes
    ----------
    isotonic_ : sklearn.isotonic.IsotonicRegression
        The fitted regression.
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of IsotonicRecalibrator
        With more than two classes, the one of each class against the rest.

    Notes
    -----
    It merges scores: cases in one step get one probability, so discrimination can change. The
    first and last steps are often exactly 0 and 1, where a single contradiction makes the log
    score infinite. One class only, or a single score, gives a constant.

    References
    ----------
    Zadrozny & Elkan, "Transforming Classifier Scores into Accurate Multiclass Probability
    Estimates", KDD 2002.

    Examples
    --------
    >>> from bayescal import recalibrate
    >>> recalibrator = recalibrate.IsotonicRecalibrator()
    >>> recalibrator.fit([0.1, 0.3, 0.6, 0.9], [0, 1, 0, 1]).transform([0.0, 0.3, 0.5, 1.0])
    array([0. , 0.5, 0.5, 1. ])
    """

    reaches_zero = True
    isotonic_: IsotonicRegression

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        self.isotonic_ = regression.fit(scores, outcomes, weights)

    def _map(self, scores: Floats) -> Floats:
        probability: Floats = np.clip(self.isotonic_.predict(scores), 0, 1)
        return probability
