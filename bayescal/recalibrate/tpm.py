"""The binomial process model of Dong et al."""

from __future__ import annotations

from bayescal._base.arrays import Floats
from bayescal.estimators.bpm import BPMCurve, fit_bpm_curve
from bayescal.recalibrate._base import Recalibrator

__all__ = ["TPMRecalibrator"]


class TPMRecalibrator(Recalibrator):
    """The curve of the binomial process model: Algorithm 1 of Dong et al.

    It is of the beta family, logit g(s) = a log s - b log(1 - s) + c, fitted by least squares to
    the mean outcomes of bins of equal mass, over many numbers of bins, with a and b of at least 0.

    Parameters
    ----------
    objective : {"paper", "likelihood", "unconstrained", "released"}
        What is optimised; see `fit_bpm_curve`.

    Attributes
    ----------
    curve_ : BPMCurve
        With coefficients `a`, `b`, `c` and the loss.
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of TPMRecalibrator
        With more than two classes, the one of each class against the rest.

    See Also
    --------
    bayescal.estimators.fit_bpm_curve : The fit, and how it differs from the authors' code.
    BetaRecalibrator : The same family by maximum likelihood.

    Notes
    -----
    Separated outcomes, one class only and equal scores give a finite curve, since a and b are
    kept within 100 of zero. The curve never falls, unless it is "unconstrained" or "released".

    References
    ----------
    Dong et al., "Combining Priors with Experience: Confidence Calibration Based on Binomial
    Process Modeling", AAAI 2025, equations 8 to 12, Algorithm 1.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("D5", 10_000, random_state=1)
    >>> recalibrate.TPMRecalibrator().fit(y_prob, y_true).transform([0.5, 0.9]).round(2)
    array([0.27, 0.44])
    """

    curve_: BPMCurve

    def __init__(self, objective: str = "paper") -> None:
        self.objective = objective

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        self.curve_ = fit_bpm_curve(
            outcomes, scores, objective=self.objective, sample_weight=weights
        )

    def _map(self, scores: Floats) -> Floats:
        return self.curve_.curve(scores)
