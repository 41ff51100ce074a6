"""Random recalibration by the kernel of SmoothECE."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from bayescal._base.arrays import Floats, RandomState, random_generator
from bayescal._base.log_odds import log_odds_of
from bayescal.data.validate import check_choice
from bayescal.estimators.smoothed.smooth import smooth_ece_curve
from bayescal.recalibrate._base import Recalibrator

__all__ = ["SmoothRecalibrator"]

SMOOTH_METRICS = ("identity", "logit")


class SmoothRecalibrator(Recalibrator):
    """Random recalibration: noise moves each score, and the outcomes around there are its answer.

    With t the score plus normal noise of standard deviation sigma, reflected at 0 and 1, the
    recalibrated probability is E[y | t], the curve of `bayescal.estimators.smooth_ece_curve` at t.
    Over the noise it is exactly calibrated in the cases that it was fitted to, and no farther from
    the scores on average than SmoothECE at sigma plus sigma, or twice SmoothECE at the default.

    Parameters
    ----------
    bandwidth : float, optional
        sigma, at least 1e-6. By default SmoothECE itself, or .001 if that is smaller.
    metric : {"identity", "logit"}
        Whether the noise is added to scores, or to their log-odds, where nothing is reflected.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Of the noise. An integer gives equal probabilities each time that the same cases are
        transformed.

    Attributes
    ----------
    bandwidth_ : float
        sigma.
    scores_, outcomes_, weights_ : ndarray of shape (n_samples,)
        The cases that it was fitted to, which the curve is computed from.
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of SmoothRecalibrator
        With more than two classes, the one of each class against the rest.

    Notes
    -----
    Equal scores get different probabilities, so that it is for showing how near calibration a model
    is, and not for patients. It does not keep the order of the scores either.

    The authors prove the distance up to a constant (Theorem 20). For sigma: the mean distance of
    E[y | t] from E[s | t] is SmoothECE at sigma, and E[s | t] is the best guess of s from t in
    squared error, and so, on average, no farther from s than t is.

    References
    ----------
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024, section 5.4 and Theorem 20.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 500, random_state=1)
    >>> recalibrator = recalibrate.SmoothRecalibrator(random_state=1).fit(y_prob, y_true)
    >>> recalibrator.transform([0.2, 0.2, 0.8]).round(2)
    array([0.21, 0.24, 0.64])
    """

    reaches_zero = True

    def __init__(
        self,
        bandwidth: float | None = None,
        metric: str = "identity",
        random_state: RandomState = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.metric = metric
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks for: answers to equal scores differ."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        check_choice(self.metric, SMOOTH_METRICS, "metric")
        random_generator(self.random_state)
        self.scores_, self.outcomes_ = scores.copy(), outcomes.copy()
        self.weights_ = np.ones(scores.size) if weights is None else weights.copy()
        curve = smooth_ece_curve(
            outcomes,
            scores,
            bandwidth=self.bandwidth,
            grid=[0.5],
            metric=self.metric,
            sample_weight=weights,
        )
        self.bandwidth_ = curve.bandwidth

    def _map(self, scores: Floats) -> Floats:
        noise = self.bandwidth_ * random_generator(self.random_state).normal(size=scores.size)
        curve = smooth_ece_curve(
            self.outcomes_,
            self.scores_,
            bandwidth=self.bandwidth_,
            grid=_moved(scores, noise, self.metric),
            metric=self.metric,
            sample_weight=self.weights_,
        )
        return np.clip(curve.outcome, 0, 1)


def _moved(scores: Floats, noise: Floats, metric: str) -> Floats:
    """Scores with noise, reflected at 0 and 1, or added to the log-odds."""
    if metric == "logit":
        moved: Floats = expit(log_odds_of(scores) + noise)
        return moved
    turned = np.mod(scores + noise, 2)
    return np.where(turned <= 1, turned, 2 - turned)
