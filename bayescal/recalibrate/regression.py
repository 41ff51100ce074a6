"""Maps with a few parameters: intercept, logistic, beta, temperature, vectors of them, splines."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from scipy.special import expit, softmax

from bayescal.core.arrays import Floats
from bayescal.core.errors import SeparationError, as_flag, check_choice
from bayescal.core.optimise import binomial_mle, log_odds_of, logarithms
from bayescal.data.rows import Rows, collapse
from bayescal.recalibrate.base import (
    LOSSES,
    Recalibrator,
    as_knots,
    best_scales,
    best_slope,
    both_columns,
    case_counts,
    exact_rows,
    least_squares_slope,
    log_probabilities,
)

Design = Callable[[Floats], tuple[Floats, Floats | float]]


class LinearRecalibrator(Recalibrator):
    """Log-odds g(s) = offset(s) + basis(s) @ coef, fitted by unpenalised maximum likelihood.

    A method writes `_design`, and gives its coefficients names.
    """

    reads_log_odds = True

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        self.coef_ = maximum_likelihood(self._design, exact_rows(scores, outcomes, weights))

    def _map(self, scores: Floats) -> Floats:
        basis, offset = self._design(scores)
        return np.asarray(expit(offset + basis @ self.coef_))

    def _design(self, scores: Floats) -> tuple[Floats, Floats | float]:
        """Basis of shape (n, k) and offset at these scores."""
        raise NotImplementedError


def maximum_likelihood(design: Design, rows: Rows) -> Floats:
    """Coefficients at the maximum of the likelihood of cases in rows of distinct scores."""
    basis, offset = design(rows.score)
    return binomial_mle(basis, rows.trials, rows.hits, offset)[0]


def _beta_design(scores: Floats) -> tuple[Floats, float]:
    """The basis of a log s - b log(1 - s) + c."""
    log_s, log_q = logarithms(scores)
    return np.column_stack([log_s, -log_q, np.ones_like(log_s)]), 0.0


class InterceptRecalibrator(Recalibrator):
    """Shift all log-odds by one number: logit g(s) = logit s + shift.

    The shift maximises the likelihood, so that on the data it was fitted to the mean recalibrated
    probability equals the mean outcome (calibration-in-the-large). It leaves the order of cases,
    and so every measure of discrimination, as it was.

    Attributes
    ----------
    shift_ : float
    %(of_each_class)s

    Notes
    -----
    With one class only the shift is infinite, and `fit` raises SeparationError. Scores of
    exactly 0 and 1 are read as a quarter of the way to the nearest other score, and none as nearer
    than 1e-12.

    References
    ----------
    Steyerberg et al., "Validation and updating of predictive logistic regression models",
    Statistics in Medicine 2004.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("clinical-low-shifted", 5000, random_state=1)
    >>> recalibrator = recalibrate.InterceptRecalibrator().fit(y_prob, y_true)
    >>> round(recalibrator.shift_, 2)
    0.49
    >>> bool(abs(recalibrator.transform(y_prob).mean() - y_true.mean()) < 1e-9)
    True
    """

    reads_log_odds = True

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        means = np.array([np.average(values, weights=weights) for values in (outcomes, scores)])
        observed, predicted = log_odds_of(means)

        def design(part: Floats) -> tuple[Floats, Floats]:
            return np.ones((part.size, 1)), log_odds_of(part) + (observed - predicted)

        coef = maximum_likelihood(design, exact_rows(scores, outcomes, weights))
        self.shift_ = float(coef[0] + observed - predicted)

    def _map(self, scores: Floats) -> Floats:
        return np.asarray(expit(log_odds_of(scores) + self.shift_))


class LogisticRecalibrator(LinearRecalibrator):
    """Logistic recalibration: logit g(s) = intercept + slope logit s.

    The exact, unpenalised maximum likelihood, with the outcomes as they are.

    Attributes
    ----------
    intercept_, slope_ : float
        Of the joint fit. The slope is below 1 when the scores are too extreme, and negative when
        they order the outcomes the wrong way round.
    %(of_each_class)s

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

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        super()._fit(scores, outcomes, weights)
        self.intercept_, self.slope_ = self.coef_.tolist()

    def _design(self, scores: Floats) -> tuple[Floats, Floats | float]:
        log_s, log_q = logarithms(scores)
        return np.column_stack([np.ones_like(log_s), log_s - log_q]), 0.0


_FACES = ([0, 1, 2], [1, 2], [0, 2], [2])
_LEVEL = 1e-9
_AS_IT_IS = np.array([1.0, 1.0, 0.0])


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
    %(of_each_class)s

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

    def __init__(self, constrained: bool = True) -> None:
        self.constrained = constrained

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        rows = exact_rows(scores, outcomes, weights)
        if as_flag(self.constrained, "constrained"):
            self.coef_ = self._on_a_face(rows)
        else:
            self.coef_ = maximum_likelihood(self._design, rows)
        self.a_, self.b_, self.c_ = self.coef_.tolist()

    def _design(self, scores: Floats) -> tuple[Floats, float]:
        return _beta_design(scores)

    def _on_a_face(self, rows: Rows) -> Floats:
        """The best coefficients, of which the constraint may fix some at 0.

        The likelihood is concave, so a maximum with some fixed at 0 is the maximum if it would
        rise for none of them. Where there is none without the constraint it has to fall, or
        there would be others as good.
        """
        basis, _ = self._design(rows.score)
        level = _LEVEL * (rows.trials @ np.abs(basis))
        failure = None
        for face in _FACES:
            try:
                start = _AS_IT_IS[face]
                fitted, _ = binomial_mle(basis[:, face], rows.trials, rows.hits, start=start)
            except SeparationError as error:
                failure, level = failure or error, -np.abs(level)
                continue
            coef = np.zeros(3)
            coef[face] = fitted
            rise = basis.T @ (rows.hits - rows.trials * expit(basis @ coef))
            fixed = [j for j in range(3) if j not in face]
            if coef[:2].min() >= 0 and (rise[fixed] <= level[fixed]).all():
                return coef
        raise failure or SeparationError("The search for the maximum of the likelihood failed.")


class TemperatureRecalibrator(LinearRecalibrator):
    """Temperature scaling: logit g(s) = logit s / temperature.

    Log-odds are stretched about zero by one factor, of least log score (maximum likelihood) or
    Brier score, so that a score of one half stays where it is. With more than two classes one
    temperature serves them all, softmax(log p / temperature), and their order within a case stays
    as it was.

    Parameters
    ----------
    loss : {"log", "brier"}
        What is minimised. "log" is that of Guo et al.; Zhang et al. (Mix-n-Match), whose fit Gruber
        & Buettner use, take the squared error unless asked for the other.

    Attributes
    ----------
    slope_ : float
        1 / temperature. It is below 1 when the scores are too extreme, and by "log" negative when
        they order the outcomes the wrong way round. By "brier" it is from 0.01 to 100.
    temperature_ : float
        What the log-odds are divided by, 1 / `slope_`; infinite where that is 0.
    classes_ : ndarray of shape (n_classes,)

    Notes
    -----
    Log-probabilities are logits less a constant for each case, which the softmax forgets, so the
    logits themselves are not needed. By "log", when the likelihood has no maximum (with two
    classes: every score on the right side of one half, every one on the wrong side, or all equal to
    one half) `fit` raises SeparationError. Probabilities of exactly 0 and 1 are read as a quarter
    of the way to the nearest other one, and none as nearer than 1e-12.

    With ResNet110 on CIFAR-10, fitted to 5000 images, the temperature is 2.40 by "log" and 2.52 by
    "brier"; the binned top-label error of 10 000 other images is .0094 and .0063.

    References
    ----------
    Guo et al., "On Calibration of Modern Neural Networks", ICML 2017.
    Zhang, Kailkhura & Han, "Mix-n-Match: Ensemble and Compositional Methods for Uncertainty
    Calibration in Deep Learning", ICML 2020.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 5000, random_state=1)
    >>> recalibrator = recalibrate.TemperatureRecalibrator().fit(y_prob, y_true)
    >>> round(recalibrator.slope_, 2)
    0.95
    >>> round(recalibrator.temperature_, 2)
    1.06
    >>> float(recalibrator.transform([0.5])[0])
    0.5
    """

    def __init__(self, loss: str = "log") -> None:
        self.loss = loss

    @property
    def temperature_(self) -> float:
        """What the log-odds are divided by."""
        return 1 / self.slope_ if self.slope_ else np.inf

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        if check_choice(self.loss, LOSSES, "loss") == "brier":
            logs = np.column_stack(logarithms(scores)[::-1])
            self.coef_ = np.array([least_squares_slope(logs, outcomes.astype(np.intp), weights)])
        else:
            super()._fit(scores, outcomes, weights)
        self.slope_ = float(self.coef_[0])

    def _fit_classes(
        self, proba: Floats, code: NDArray[np.intp], weights: Floats | None, **of_cases: Any
    ) -> None:
        by_brier = check_choice(self.loss, LOSSES, "loss") == "brier"
        fitted = least_squares_slope if by_brier else best_slope
        self.slope_ = fitted(log_probabilities(proba), code, weights)

    def _map_classes(self, proba: Floats, **of_cases: Any) -> Floats:
        return np.asarray(softmax(self.slope_ * log_probabilities(proba), axis=1))

    def _design(self, scores: Floats) -> tuple[Floats, Floats | float]:
        log_s, log_q = logarithms(scores)
        return (log_s - log_q)[:, None], 0.0


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

    def __init__(self, loss: str = "log") -> None:
        self.loss = loss

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        tempering = TemperatureRecalibrator(self.loss)
        tempering._fit(scores, outcomes, weights)
        self._mix(tempering.slope_, both_columns(scores), outcomes.astype(np.intp), weights)

    def _map(self, scores: Floats) -> Floats:
        return np.clip(self._map_classes(both_columns(scores))[:, 1], 0, 1)

    def _fit_classes(
        self, proba: Floats, code: NDArray[np.intp], weights: Floats | None, **of_cases: Any
    ) -> None:
        tempering = TemperatureRecalibrator(self.loss)
        tempering._fit_classes(proba, code, weights)
        self._mix(tempering.slope_, proba, code, weights)

    def _mix(
        self, slope: float, proba: Floats, code: NDArray[np.intp], weights: Floats | None
    ) -> None:
        """Keep the slope, and the weights that are best with it."""
        self.slope_ = slope
        row, count = np.arange(code.size), case_counts(code.size, weights)
        parts = self._parts(proba)
        density = np.column_stack([part[row, code] for part in parts])
        if self.loss == "brier":
            squares = [[count @ np.vecdot(one, other) for other in parts] for one in parts]
            self.weights_ = least_squares_mixture(np.array(squares), count @ density)
        else:
            self.weights_ = _best_mixture(density, count)

    def _map_classes(self, proba: Floats, **of_cases: Any) -> Floats:
        mixed = np.tensordot(self.weights_, self._parts(proba), axes=1)
        return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))

    def _parts(self, proba: Floats) -> Floats:
        """The three probabilities of each class, of shape (3, n, k)."""
        tempered = softmax(self.slope_ * log_probabilities(proba), axis=1)
        return np.stack([tempered, proba, np.full_like(proba, 1 / proba.shape[1])])


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

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        super()._fit(scores, outcomes, weights)
        event, rest, shift = self.coef_.tolist()
        self.slopes_ = np.array([rest, event])
        self.biases_ = np.array([-shift / 2, shift / 2])

    def _design(self, scores: Floats) -> tuple[Floats, float]:
        return _beta_design(scores)

    def _fit_classes(
        self, proba: Floats, code: NDArray[np.intp], weights: Floats | None, **of_cases: Any
    ) -> None:
        self.slopes_, self.biases_ = best_scales(log_probabilities(proba), code, weights)

    def _map_classes(self, proba: Floats, **of_cases: Any) -> Floats:
        eta = self.slopes_ * log_probabilities(proba) + self.biases_
        return np.asarray(softmax(eta, axis=1))


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


class SplineRecalibrator(Recalibrator):
    """Spline calibration: the slope of a spline fitted to the cumulative calibration error.

    Let h(t) be the sum of outcome minus score over the t N lowest scores, divided by N (its
    largest absolute value is the Kolmogorov-Smirnov calibration error). A natural cubic spline
    with evenly spaced knots is fitted to h by least squares, and a score at quantile t becomes
    score + h'(t), cut off at 0 and 1.

    Parameters
    ----------
    n_knots : int
        Number of knots, both ends included, from 3 to 1000.

    Attributes
    ----------
    scores_ : ndarray of shape (n_rows,)
        Distinct scores, or means of neighbouring ones when there are more than 2048.
    levels_ : ndarray of shape (n_rows,)
        Recalibrated probability at these, interpolated between them and constant beyond.
    %(of_each_class)s

    Notes
    -----
    The least squares are over all t in (0, 1), with h a straight line between distinct scores, so
    that equal scores share their mean outcome and the order of the cases does not matter. The
    authors' code takes them over the N cases in the order in which they were sorted, and counts
    the first as quantile 0; with distinct scores the two differ by about 1 / N. The map may fall.

    References
    ----------
    Gupta et al., "Calibration of Neural Networks using Splines", ICLR 2021.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("D5", 10_000, random_state=1)
    >>> recalibrate.SplineRecalibrator().fit(y_prob, y_true).transform([0.5, 0.9]).round(2)
    array([0.3 , 0.41])
    """

    reaches_zero = True

    def __init__(self, n_knots: int = 6) -> None:
        self.n_knots = n_knots

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        knots = np.linspace(0, 1, as_knots(self.n_knots, 3))
        rows = collapse(scores, outcomes, weights)
        quantile, error = _cumulative(rows)
        basis = CubicSpline(knots, np.eye(knots.size), bc_type="natural")
        t, root_weight = _quadrature(np.union1d(quantile, knots))
        design = basis(t) * root_weight[:, None]
        coef = np.linalg.lstsq(design, np.interp(t, quantile, error) * root_weight)[0]
        slope = basis.derivative()((quantile[1:] + quantile[:-1]) / 2) @ coef
        self.scores_ = rows.score
        self.levels_ = np.clip(rows.score + slope, 0, 1)

    def _map(self, scores: Floats) -> Floats:
        return np.asarray(np.interp(scores, self.scores_, self.levels_))


def _cumulative(rows: Rows) -> tuple[Floats, Floats]:
    """Corners of h: quantiles, and the cumulative difference there."""
    total = rows.trials.sum()
    quantile = np.concatenate([[0.0], np.cumsum(rows.trials) / total])
    quantile[-1] = 1
    difference = np.cumsum(rows.hits - rows.trials * rows.score) / total
    return quantile, np.concatenate([[0.0], difference])


def _quadrature(corners: Floats) -> tuple[Floats, Floats]:
    """Nodes and roots of weights that integrate squares of cubics between corners exactly."""
    half = np.diff(corners)[:, None] / 2
    nodes = (corners[:-1, None] + half) + half * _NODES
    return nodes.ravel(), np.sqrt(half * _WEIGHTS).ravel()
