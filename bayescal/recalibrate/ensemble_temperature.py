"""A mixture of tempered, original and even probabilities."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from scipy.special import expit, softmax

from bayescal._base.arrays import Floats
from bayescal._base.log_odds import log_odds_of
from bayescal.recalibrate._base import Recalibrator
from bayescal.recalibrate._softmax import case_counts, log_probabilities
from bayescal.recalibrate.temperature import TemperatureRecalibrator

__all__ = ["EnsembleTemperatureRecalibrator"]

_LEAST = 1e-300
_STEPS = 100
_ENOUGH = 1e-13
_RIDGE = 1e-12
_SHORTEST = 1e-6


class EnsembleTemperatureRecalibrator(Recalibrator):
    """Ensemble temperature scaling (Mix-n-Match): a mixture of three probabilities.

        weight_0 softmax(log p / temperature) + weight_1 p + weight_2 / n_classes

    The temperature is that of temperature scaling; given it, the weights minimise the same loss
    under the constraint that they are 0 or above and sum to 1. The order of the classes within a
    case stays as it was.

    Parameters
    ----------
    loss : {"log", "brier"}
        What both steps minimise. The authors' code takes the squared error ("brier") unless asked
        for the other.

    Attributes
    ----------
    slope_ : float
        1 / temperature.
    weights_ : ndarray of shape (3,)
        Of the tempered, the original and the even probabilities.
    classes_ : ndarray of shape (n_classes,)

    See Also
    --------
    TemperatureRecalibrator : The first of the three alone.

    Notes
    -----
    By "log", `fit` raises SeparationError when there is no temperature of maximum likelihood. By
    "brier" the temperature is from 0.01 to 100, and the weights are the exact least squares.

    References
    ----------
    Zhang, Kailkhura & Han, "Mix-n-Match: Ensemble and Compositional Methods for Uncertainty
    Calibration in Deep Learning", ICML 2020, section 3.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 5000, random_state=1)
    >>> recalibrator = recalibrate.EnsembleTemperatureRecalibrator().fit(y_prob, y_true)
    >>> float(recalibrator.weights_.sum().round(6))
    1.0
    >>> recalibrator.transform([0.2, 0.5]).round(1)
    array([0.2, 0.5])
    """

    reads_log_odds = True
    slope_: float
    weights_: Floats

    def __init__(self, loss: str = "log") -> None:
        self.loss = loss

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        tempering = TemperatureRecalibrator(self.loss)
        tempering._fit(scores, outcomes, weights)
        self.slope_ = tempering.slope_
        event, count = self._components(scores), case_counts(scores.size, weights)
        if self.loss == "brier":
            squares = event.T @ (count[:, None] * event)
            self.weights_ = least_squares_mixture(squares, event.T @ (count * outcomes))
            return
        density = np.where(outcomes[:, None] == 1, event, 1 - event)
        self.weights_ = _best_mixture(density, count)

    def _map(self, scores: Floats) -> Floats:
        probability: Floats = np.clip(self._components(scores) @ self.weights_, 0, 1)
        return probability

    def _components(self, scores: Floats) -> Floats:
        """The three probabilities of the event, of shape (n, 3)."""
        tempered = expit(self.slope_ * log_odds_of(scores))
        return np.column_stack([tempered, scores, np.full_like(scores, 0.5)])

    def _fit_classes(
        self, proba: Floats, code: NDArray[np.intp], weights: Floats | None, **of_cases: Any
    ) -> None:
        tempering = TemperatureRecalibrator(self.loss)
        tempering._fit_classes(proba, code, weights)
        self.slope_ = tempering.slope_
        row, count = np.arange(code.size), case_counts(code.size, weights)
        parts = self._class_components(proba)
        density = np.column_stack([part[row, code] for part in parts])
        if self.loss == "brier":
            squares = [[count @ np.vecdot(one, other) for other in parts] for one in parts]
            self.weights_ = least_squares_mixture(np.array(squares), count @ density)
        else:
            self.weights_ = _best_mixture(density, count)

    def _map_classes(self, proba: Floats, **of_cases: Any) -> Floats:
        mixed = np.zeros_like(proba)
        for weight, part in zip(self.weights_, self._class_components(proba), strict=True):
            mixed += weight * part
        shares: Floats = mixed / mixed.sum(axis=1, keepdims=True)
        return shares

    def _class_components(self, proba: Floats) -> tuple[Floats, Floats, Floats]:
        """The three probabilities of each class, of shape (n, k) each."""
        tempered = softmax(self.slope_ * log_probabilities(proba), axis=1)
        return tempered, proba, np.full_like(proba, 1 / proba.shape[1])


def least_squares_mixture(squares: Floats, products: Floats) -> Floats:
    """The w, 0 or above with sum 1, of least w @ squares @ w - 2 w @ products.

    The best is, on one of the faces of the simplex, where the gradient is the same for each of its
    weights; so each face is solved, and the best solution without a negative weight kept.
    """
    size = products.size
    best, least = np.full(size, 1 / size), np.inf
    for face in chain.from_iterable(combinations(range(size), k + 1) for k in range(size)):
        chosen = np.array(face)
        system = np.ones((chosen.size + 1, chosen.size + 1))
        system[:-1, :-1], system[-1, -1] = squares[np.ix_(chosen, chosen)] / squares.max(), 0
        target = np.append(products[chosen] / squares.max(), 1)
        weights = np.zeros(size)
        weights[chosen] = np.linalg.lstsq(system, target)[0][:-1]
        loss = float(weights @ squares @ weights - 2 * weights @ products)
        if weights.min() >= 0 and loss < least:
            best, least = weights / weights.sum(), loss
    return best


def _best_mixture(density: Floats, count: Floats) -> Floats:
    """Weights of maximum likelihood of the columns of `density`, which has shape (n, 3).

    Each step is the maximum, over weights of 0 or above, of a quadratic that touches the log
    likelihood less the sum of the weights (Kim, Carbonetto, Stephens & Anitescu, JCGS 2020). The
    largest mean ratio of a column to the mixture bounds what is left to gain.
    """
    share = count / count.sum()
    weights = np.full(density.shape[1], 1 / density.shape[1])

    def loss(tried: Floats) -> float:
        mixed = np.maximum(density @ tried, _LEAST)
        return float(tried.sum() - share @ np.log(mixed))

    for _ in range(_STEPS):
        ratio = density / np.maximum(density @ weights, _LEAST)[:, None]
        mean = share @ ratio
        if mean.max() - 1 < _ENOUGH:
            break
        bend = (ratio.T * share) @ ratio
        bend += _RIDGE * np.trace(bend) * np.eye(weights.size)
        root = cholesky(bend, lower=True)
        peak = solve_triangular(root, bend @ weights + mean - 1, lower=True)
        step = nnls(root.T, peak)[0] - weights
        scale = 1.0
        while scale > _SHORTEST and loss(weights + scale * step) > loss(weights):
            scale /= 2
        weights = weights + scale * step
    return np.asarray(weights / weights.sum())
