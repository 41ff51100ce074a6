"""A monotone spline on the log-odds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, softmax

from bayescal._base.arrays import Floats
from bayescal._base.log_odds import log_odds_of
from bayescal.data.build.builder import collapse
from bayescal.recalibrate._base import Recalibrator
from bayescal.recalibrate._input import as_amount, as_knots
from bayescal.recalibrate._rising import PULL, best_slopes, common_map, rise_of, roughness_of
from bayescal.recalibrate._softmax import log_probabilities

__all__ = ["MonotoneRecalibrator"]


class MonotoneRecalibrator(Recalibrator):
    """A smooth map of the log-odds that never falls, by penalised maximum likelihood.

    The slope of logit g against logit s is a broken line, non-negative at each knot and constant
    beyond the outer ones. The fit maximises the log likelihood less half of

        penalty * (sum of squared differences between slopes at neighbouring knots)
        + 0.01 * (shift^2 + mean of (slope - 1)^2)

    so that a large penalty gives logistic recalibration, and the maximum always exists.

    With more than two classes one increasing map f of the log-probability serves them all,
    softmax(f(log p)), with the same penalty on its slopes; the order of the classes within a case
    stays as it was, and a large penalty gives temperature scaling.

    Parameters
    ----------
    n_knots : int
        Number of knots, from 2 to 1000: at quantiles of the log-odds of the scores, fewer when
        scores are equal; with more than two classes evenly over the range of the log-probabilities.
    penalty : float
        How strongly differences between the slopes of neighbouring knots are penalised.

    Attributes
    ----------
    knots_ : ndarray of shape (n_knots,)
        Log-odds where the slope may bend; log-probabilities with more than two classes.
    slopes_ : ndarray of shape (n_knots,)
        Slope at each knot; all 1 for the identity.
    centre_, shift_ : float
        At log-odds `centre_`, the median, the map adds `shift_`. With two classes only, since a
        softmax forgets a shift of all classes.
    classes_ : ndarray of shape (n_classes,)

    Notes
    -----
    It is not the diagonal intra order-preserving map (DIAG) of Rahimi et al., which sends the
    logits of all classes through one strictly increasing function: that is `DiagonalRecalibrator`.
    Slopes here can be 0, so that predictions that differ may become equal, and then the gain in a
    proper score is not that in its calibration error alone.

    For two classes a diagonal map is antisymmetric about even odds, so that it has no shift. This
    one then keeps the order of the cases instead, and may shift them.

    Probabilities of exactly 0 and 1 are read as a quarter of the way to the nearest other one, and
    none as nearer than 1e-12. With more than two classes fitting
    keeps n_samples * n_classes * n_knots numbers in memory.

    References
    ----------
    Rahimi et al., "Intra Order-preserving Functions for Calibration of Multi-Class Neural
    Networks", NeurIPS 2020.
    Ramsay, "Monotone Regression Splines in Action", Statistical Science 1988.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("D5", 10_000, random_state=1)
    >>> recalibrate.MonotoneRecalibrator().fit(y_prob, y_true).transform([0.5, 0.9]).round(2)
    array([0.28, 0.43])
    """

    reads_log_odds = True
    knots_: Floats
    slopes_: Floats
    centre_: float
    shift_: float

    def __init__(self, n_knots: int = 8, penalty: float = 10.0) -> None:
        self.n_knots = n_knots
        self.penalty = penalty

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        number, penalty = self._options()
        rows = collapse(scores, outcomes, weights)
        log_odds = log_odds_of(rows.score)
        self.knots_, self.centre_ = _placed(log_odds, rows.trials, number)
        size = self.knots_.size
        rise = rise_of(log_odds, self.knots_, np.eye(size))
        rise -= rise_of(np.array([self.centre_]), self.knots_, np.eye(size))
        basis = np.column_stack([np.ones_like(log_odds), rise])
        roughness = np.zeros((size + 1, size + 1))
        roughness[1:, 1:] = roughness_of(size, penalty)
        roughness[0, 0] = PULL
        identity = np.concatenate([[0.0], np.ones(size)])

        def likelihood(coef: Floats) -> tuple[float, Floats]:
            eta = self.centre_ + basis @ coef
            value = rows.hits @ log_expit(eta) + (rows.trials - rows.hits) @ log_expit(-eta)
            return float(value), basis.T @ (rows.hits - rows.trials * expit(eta))

        best = best_slopes(likelihood, roughness, identity, float(rows.trials.sum()), size)
        self.shift_, self.slopes_ = float(best[0]), best[1:]

    def _map(self, scores: Floats) -> Floats:
        rise = rise_of(log_odds_of(scores), self.knots_, self.slopes_)
        to_centre = rise_of(np.array([self.centre_]), self.knots_, self.slopes_)
        probability: Floats = expit(self.centre_ + self.shift_ + (rise - to_centre))
        return probability

    def _fit_classes(
        self, proba: Floats, code: NDArray[np.intp], weights: Floats | None, **of_cases: Any
    ) -> None:
        logs = log_probabilities(proba)
        self.knots_, self.slopes_ = common_map(logs, code, weights, *self._options())

    def _map_classes(self, proba: Floats, **of_cases: Any) -> Floats:
        logs = log_probabilities(proba)
        eta = rise_of(logs.ravel(), self.knots_, self.slopes_).reshape(logs.shape)
        probability: Floats = softmax(eta, axis=1)
        return probability

    def _options(self) -> tuple[int, float]:
        return as_knots(self.n_knots, 2), as_amount(self.penalty, "penalty")


def _placed(log_odds: Floats, trials: Floats, number: int) -> tuple[Floats, float]:
    """Knots at distinct quantiles, at least two, and the median."""
    share = (np.cumsum(trials) - trials / 2) / trials.sum()
    knots = np.unique(np.interp(np.linspace(0, 1, number), share, log_odds))
    if knots.size < 2:
        knots = knots[0] + np.array([-1.0, 1.0])
    return knots, float(np.clip(np.interp(0.5, share, log_odds), knots[0], knots[-1]))
