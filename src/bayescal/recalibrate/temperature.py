"""A stretch of the log-odds about zero."""

from __future__ import annotations

from bayescal._validate import Floats
from bayescal.recalibrate._regression import LinearRecalibrator, logarithms

__all__ = ["TemperatureRecalibrator"]


class TemperatureRecalibrator(LinearRecalibrator):
    """Temperature scaling: logit g(s) = logit s / temperature.

    Log-odds are stretched about zero by one factor, of maximum likelihood, so that a score of one
    half stays where it is.

    Attributes
    ----------
    slope_ : float
        1 / temperature. It is below 1 when the scores are too extreme, and negative when they
        order the outcomes the wrong way round.
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of TemperatureRecalibrator
        With more than two classes, the one of each class against the rest.

    Notes
    -----
    With a single column s, as with two columns, the softmax of two logits divided by a
    temperature is this map. When the likelihood has no maximum (every score on the right side of
    one half, every one on the wrong side, or all equal to one half) `fit` raises SeparationError.
    Scores are read as no nearer to 0 and 1 than 1e-12.

    References
    ----------
    Guo et al., "On Calibration of Modern Neural Networks", ICML 2017.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 5000, random_state=1)
    >>> recalibrator = recalibrate.TemperatureRecalibrator().fit(y_prob, y_true)
    >>> round(recalibrator.slope_, 2)
    0.95
    >>> float(recalibrator.transform([0.5])[0])
    0.5
    """

    slope_: float

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        super()._fit(scores, outcomes, weights)
        self.slope_ = float(self.coef_[0])

    def _design(self, scores: Floats) -> tuple[Floats, Floats | float]:
        log_s, log_q = logarithms(scores)
        return (log_s - log_q)[:, None], 0.0
