"""A slope and a shift for each class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bayescal._base.arrays import Floats
from bayescal._base.log_odds import logarithms
from bayescal.recalibrate._regression import LinearRecalibrator
from bayescal.recalibrate._softmax import best_scales, log_probabilities

__all__ = ["VectorScalingRecalibrator"]


class VectorScalingRecalibrator(LinearRecalibrator):
    """Vector scaling: softmax(slope_j log p_j + bias_j), by exact maximum likelihood.

    Every class has a slope and a bias of its own, so that classes can be over-confident to
    different degrees and too frequent or too rare.

    Attributes
    ----------
    slopes_ : ndarray of shape (n_classes,)
        All 1 for the identity.
    biases_ : ndarray of shape (n_classes,)
        Their sum is zero.
    classes_ : ndarray of shape (n_classes,)

    See Also
    --------
    BetaRecalibrator : The same map for two classes, by default with slopes of 0 or above.
    TemperatureRecalibrator : One slope for all classes and no bias.

    Notes
    -----
    Guo et al. scale the logits of a network. Log-probabilities differ from them by a number for
    each case, which no longer cancels when the slopes differ, so the two are not the same map;
    this one needs nothing but probabilities. It is Dirichlet calibration with a diagonal matrix.

    When the likelihood has no maximum (a class without cases, or classes that are separated)
    `fit` raises SeparationError. Probabilities of exactly 0 and 1 are read as a quarter of
    the way to the nearest other one, and none as nearer than 1e-12.

    References
    ----------
    Guo et al., "On Calibration of Modern Neural Networks", ICML 2017, section 4.2.
    Kull et al., "Beyond temperature scaling: Obtaining well-calibrated multi-class probabilities
    with Dirichlet calibration", NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal import recalibrate
    >>> rng = np.random.default_rng(1)
    >>> truth = rng.dirichlet([1, 1, 1], 5000)
    >>> y_true = (rng.random((5000, 1)) > truth.cumsum(axis=1)).sum(axis=1)
    >>> y_prob = truth * [1, 1, 3]
    >>> y_prob = y_prob / y_prob.sum(axis=1, keepdims=True)
    >>> recalibrator = recalibrate.VectorScalingRecalibrator().fit(y_prob, y_true)
    >>> recalibrator.predict_proba([[0.2, 0.2, 0.6]]).round(1)
    array([[0.3, 0.3, 0.3]])
    """

    slopes_: Floats
    biases_: Floats

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        super()._fit(scores, outcomes, weights)
        event, rest, shift = self.coef_.tolist()
        self.slopes_ = np.array([rest, event])
        self.biases_ = np.array([-shift / 2, shift / 2])

    def _design(self, scores: Floats) -> tuple[Floats, Floats | float]:
        log_s, log_q = logarithms(scores)
        return np.column_stack([log_s, -log_q, np.ones_like(log_s)]), 0.0

    def _fit_classes(
        self, proba: Floats, code: NDArray[np.intp], weights: Floats | None, **of_cases: Any
    ) -> None:
        self.slopes_, self.biases_ = best_scales(log_probabilities(proba), code, weights)

    def _map_classes(self, proba: Floats, **of_cases: Any) -> Floats:
        eta = self.slopes_ * log_probabilities(proba) + self.biases_
        probability: Floats = softmax(eta, axis=1)
        return probability
