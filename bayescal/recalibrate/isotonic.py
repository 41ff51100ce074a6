"""Isotonic regression."""

from __future__ import annotations

import numpy as np
from scipy.optimize import isotonic_regression
from sklearn.isotonic import IsotonicRegression

from bayescal._base.arrays import Floats
from bayescal.data.read import Cases
from bayescal.data.table import levels_of
from bayescal.recalibrate._base import Recalibrator

__all__ = ["IsotonicRecalibrator"]


class IsotonicRecalibrator(Recalibrator):
    """Isotonic regression: the non-decreasing map of least squared error, by scikit-learn.

    Cases with equal scores share their mean outcome. Between the scores it was fitted to the map
    is interpolated, and beyond them it is flat.

    Attributes
    ----------
    isotonic_ : sklearn.isotonic.IsotonicRegression
        The regression, fitted to the ends of the steps, which are all that it keeps.
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
        score, trials, hits = _by_score(Cases(outcomes[None], scores, weights).counted())
        fitted = isotonic_regression(hits / trials, weights=trials)
        ends = np.unique(np.concatenate([fitted.blocks[:-1], fitted.blocks[1:] - 1]))
        regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        self.isotonic_ = regression.fit(score[ends], np.clip(fitted.x[ends], 0, 1))

    def _map(self, scores: Floats) -> Floats:
        probability: Floats = np.clip(self.isotonic_.predict(scores), 0, 1)
        return probability


def _by_score(cases: Cases) -> tuple[Floats, Floats, Floats]:
    """The distinct scores, ascending, and the cases and events of each."""
    if cases.weights is None:
        cases = cases.ranked()
    levels = levels_of(cases.scores)
    (events,) = cases.event_weights()
    return levels.score, levels.totals(cases.weight), levels.totals(events)
