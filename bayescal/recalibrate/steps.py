"""Maps without parameters: bins, isotonic steps, monotone mixtures, smoothed steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.optimize import minimize
from scipy.special import expit, gammaln, log_expit, log_softmax, softmax
from sklearn.isotonic import IsotonicRegression
from sklearn.utils.validation import check_is_fitted

from bayescal.core.arrays import Floats, RandomState, random_generator
from bayescal.core.errors import InputError, check_choice
from bayescal.core.optimise import log_odds_of
from bayescal.data.cases import aligned
from bayescal.data.read import as_numbers
from bayescal.data.rows import Rows, collapse
from bayescal.estimators.bins import as_bins
from bayescal.estimators.smooth import smooth_ece_curve
from bayescal.recalibrate.base import (
    Recalibrator,
    as_amount,
    as_knots,
    both_columns,
    exact_rows,
    in_order,
    log_probabilities,
)

_SAME = 1e-9


class StepRecalibrator(Recalibrator):
    """A step function of the score; a method writes `_steps`."""

    reaches_zero = True

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        self.edges_, self.levels_ = self._steps(exact_rows(scores, outcomes, weights))

    def _map(self, scores: Floats) -> Floats:
        return np.asarray(self.levels_[np.searchsorted(self.edges_, scores, side="left")])

    def _steps(self, rows: Rows) -> tuple[Floats, Floats]:
        """Highest score of each step but the last, and the level of each, of distinct scores."""
        raise NotImplementedError


def equal_mass(
    trials: Floats, n_bins: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Cut rows into bins of equal mass, for several numbers of bins at once.

    A row goes to the bin where its first case falls, so that some bins may stay empty; those are
    left out.

    Shapes: `scheme`, `first` (bins,).
    """
    scheme = np.repeat(np.arange(n_bins.size), n_bins)
    index = np.arange(scheme.size) - np.repeat(np.cumsum(n_bins) - n_bins, n_bins)
    above = np.cumsum(trials)
    below = np.concatenate([[0.0], above[:-1]])
    cut = above[-1] * (index / n_bins[scheme] - _SAME)
    first = np.searchsorted(below, cut)
    repeated = (first[1:] == first[:-1]) & (scheme[1:] == scheme[:-1])
    kept = np.concatenate([~repeated, [True]]) & (first < trials.size)
    return scheme[kept], first[kept]


def cuts_between(score: Floats, first: NDArray[np.intp]) -> Floats:
    """Half-way from the row before each of these to the row itself; never as high as that."""
    low, high = score[first - 1], score[first]
    middle = low + (high - low) / 2
    return np.where(middle < high, middle, low)


PULL = 0.01


def common_map(
    logits: Floats,
    code: NDArray[np.intp],
    weights: Floats | None,
    n_knots: int,
    penalty: float,
    least: float = 0.0,
) -> tuple[Floats, Floats]:
    """Knots, and slopes of at least `least`, of the best map f in softmax(f(logits))."""
    table, row = np.unique(np.column_stack([logits, code]), axis=0, return_inverse=True)
    logits, label = table[:, :-1], table[:, -1].astype(np.intp)
    case = np.bincount(row.ravel(), weights).astype(np.float64)
    low, high = logits.min(), logits.max()
    knots = np.linspace(low, high if high > low else low + 1, n_knots)
    basis = rise_of(logits.ravel(), knots, np.eye(n_knots)).reshape(*logits.shape, n_knots)
    row = np.arange(label.size)

    def likelihood(slopes: Floats) -> tuple[float, Floats]:
        eta = log_softmax(basis @ slopes, axis=1)
        miss = -np.exp(eta)
        miss[row, label] += 1
        return float(case @ eta[row, label]), np.tensordot(case[:, None] * miss, basis)

    identity = np.ones(n_knots)
    total = float(case.sum())
    rough = roughness_of(n_knots, penalty)
    return knots, best_slopes(likelihood, rough, identity, total, n_knots, least)


def mapped(logits: Floats, knots: Floats, slopes: Floats) -> Floats:
    """Probabilities softmax(f(logits)), of shape (n, k)."""
    eta = rise_of(logits.ravel(), knots, slopes).reshape(logits.shape)
    return np.asarray(softmax(eta, axis=1))


def roughness_of(size: int, penalty: float) -> Floats:
    """Matrix of the penalty on slopes."""
    difference = np.diff(np.eye(size), axis=0)
    return penalty * difference.T @ difference + PULL / size * np.eye(size)


def best_slopes(
    likelihood: Callable[[Floats], tuple[float, Floats]],
    roughness: Floats,
    identity: Floats,
    cases: float,
    slopes: int,
    least: float = 0.0,
) -> Floats:
    """Coefficients, the last `slopes` of them `least` or more, of the penalised maximum."""

    def loss(coef: Floats) -> tuple[float, Floats]:
        value, gradient = likelihood(coef)
        away = roughness @ (coef - identity)
        return float((coef - identity) @ away / 2 - value) / cases, (away - gradient) / cases

    best = minimize(
        loss,
        identity,
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] * (identity.size - slopes) + [(least, None)] * slopes,
        options={"maxiter": 2000, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-9},
    )
    return np.asarray(best.x)


def rise_of(values: Floats, knots: Floats, slopes: Floats) -> Floats:
    """Integral, from the first knot, of broken lines with these slopes at the knots.

    `slopes` has shape (knots,), or (knots, d) for d lines at once.
    """
    integral = make_interp_spline(knots, slopes, k=1).antiderivative()
    rise: Floats = integral(np.clip(values, knots[0], knots[-1]))
    rise += np.multiply.outer(np.minimum(values - knots[0], 0), slopes[0])
    rise += np.multiply.outer(np.maximum(values - knots[-1], 0), slopes[-1])
    return rise


_BINNINGS = ("mass", "width")
_CENTRES = ("score", "half")


class HistogramRecalibrator(StepRecalibrator):
    """Histogram binning: every score becomes the mean outcome of its bin.

    Parameters
    ----------
    n_bins : int
        Number of bins, at most 1,000,000.
    binning : {"mass", "width"}
        "mass": bins of equally many cases, where equal scores all go to the bin of the first, cut
        half-way between neighbouring scores. "width": intervals of equal length, closed on the
        right; 0 belongs to the first.
    prior_weight : float
        Imaginary cases added to each bin; 0 gives the plain mean. With 2 and centre "half" it is
        Laplace's rule, (hits + 1) / (cases + 2).
    prior_centre : {"score", "half"}
        Mean outcome of the imaginary cases: the mean score of the bin, or one half.

    Attributes
    ----------
    edges_ : ndarray of shape (n_steps - 1,)
        Highest score of each step but the last.
    levels_ : ndarray of shape (n_steps,)
        Recalibrated probability of each step.
    %(of_each_class)s

    Notes
    -----
    An interval without cases says nothing: a score that falls there becomes its middle. Without a
    prior a bin of one outcome gives exactly 0 or 1.

    References
    ----------
    Zadrozny & Elkan, "Obtaining calibrated probability estimates from decision trees and naive
    Bayesian classifiers", ICML 2001.

    Examples
    --------
    >>> from bayescal import recalibrate
    >>> recalibrator = recalibrate.HistogramRecalibrator(n_bins=2)
    >>> recalibrator.fit([0.1, 0.3, 0.6, 0.9], [0, 1, 1, 1]).transform([0.2, 0.4, 0.7])
    array([0.5, 0.5, 1. ])
    """

    def __init__(
        self,
        n_bins: int = 10,
        binning: str = "mass",
        prior_weight: float = 0.0,
        prior_centre: str = "score",
    ) -> None:
        self.n_bins = n_bins
        self.binning = binning
        self.prior_weight = prior_weight
        self.prior_centre = prior_centre

    def _steps(self, rows: Rows) -> tuple[Floats, Floats]:
        bins = as_bins(self.n_bins)
        check_choice(self.binning, _BINNINGS, "binning")
        check_choice(self.prior_centre, _CENTRES, "prior_centre")
        extra = as_amount(self.prior_weight, "prior_weight")
        if self.binning == "mass":
            _, first = equal_mass(rows.trials, np.array([bins]))
            edge, middle = cuts_between(rows.score, first[1:]), np.zeros(first.size)
        else:
            edge, middle = np.arange(1, bins) / bins, (np.arange(bins) + 0.5) / bins
        index = np.searchsorted(edge, rows.score)
        trials, hits, total = (
            np.bincount(index, column, minlength=edge.size + 1)
            for column in (rows.trials, rows.hits, rows.trials * rows.score)
        )
        filled = np.maximum(trials, np.finfo(np.float64).tiny)
        centre = total / filled if self.prior_centre == "score" else 0.5
        level = np.where(trials > 0, (hits + extra * centre) / (filled + extra), middle)
        return edge, np.clip(level, 0, 1)


_REACH = 10
_FEWEST_CASES = 5
_PRIOR_CASES = 2.0
_PRIOR_EDGE = 0.005
_NEGLIGIBLE = 1e-16


class BBQRecalibrator(StepRecalibrator):
    """Bayesian binning into quantiles: histogram binning averaged over the number of bins.

    Every number of bins of equal mass from N^(1/3) / 10 to 10 N^(1/3), with five cases to a bin at
    least, is a model. In each bin the event has an unknown probability with a Beta prior worth
    two cases, centred on the mean score. The models are equally probable beforehand and are
    averaged by their evidence; each contributes the posterior mean of the bin that a score is in.

    Attributes
    ----------
    n_bins_ : ndarray of shape (n_models,)
        Number of bins of each model; fewer hold cases when scores are equal.
    probability_ : ndarray of shape (n_models,)
        Posterior probability of each model.
    edges_ : ndarray of shape (n_steps - 1,)
        Highest score of each step of the average but the last.
    levels_ : ndarray of shape (n_steps,)
        Recalibrated probability of each step.
    %(of_each_class)s

    Notes
    -----
    Equal scores are never parted. The prior mean is kept within 0.005 and 0.995, as in the
    authors' code. That code differs in three ways: it centres the prior on the middle of the bin's
    interval, which for the outermost bins starts at 0 or ends at 1; a bin's estimate adds one case
    rather than the prior's two; and models are dropped at an elbow in their evidence. The package
    probcal has Jeffreys' prior in each bin, and netcal approximates the evidence by BIC and cuts
    at equal width.

    References
    ----------
    Naeini, Cooper & Hauskrecht, "Obtaining Well Calibrated Probabilities Using Bayesian Binning",
    AAAI 2015.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("D5", 10_000, random_state=1)
    >>> recalibrate.BBQRecalibrator().fit(y_prob, y_true).transform([0.5, 0.9]).round(2)
    array([0.3 , 0.48])
    """

    def _steps(self, rows: Rows) -> tuple[Floats, Floats]:
        self.n_bins_ = _numbers(float(rows.trials.sum()))
        scheme, first = equal_mass(rows.trials, self.n_bins_)
        start = np.flatnonzero(np.diff(scheme, prepend=-1))
        last = np.append(first[1:], rows.score.size)
        last[start[1:] - 1] = rows.score.size

        trials, hits, total = (
            _between(column, first, last)
            for column in (rows.trials, rows.hits, rows.trials * rows.score)
        )
        a = _PRIOR_CASES * np.clip(total / trials, _PRIOR_EDGE, 1 - _PRIOR_EDGE)
        self.probability_ = softmax(np.add.reduceat(_log_evidence(trials, hits, a), start))

        counted = (self.probability_ > _NEGLIGIBLE)[scheme]
        level = (self.probability_[scheme] * (hits + a) / (trials + _PRIOR_CASES))[counted]
        size = rows.score.size + 1
        rise = np.bincount(first[counted], level, size) - np.bincount(last[counted], level, size)
        step = np.unique(first[counted])
        levels = np.clip(np.cumsum(rise)[step], 0, 1)
        return cuts_between(rows.score, step[1:]), levels


def _numbers(cases: float) -> NDArray[np.intp]:
    """Numbers of bins to average over."""
    cases = round(cases, 6)
    root = math.cbrt(cases)
    fewest = max(1, math.floor(root / _REACH))
    most = min(math.ceil(cases / _FEWEST_CASES), math.ceil(_REACH * root))
    return np.arange(fewest, max(most, fewest) + 1)


def _log_evidence(trials: Floats, hits: Floats, a: Floats) -> Floats:
    """Log probability of the outcomes in each bin, the event's own averaged over its prior."""
    b = _PRIOR_CASES - a
    prior = gammaln(a) + gammaln(b) - math.lgamma(_PRIOR_CASES)
    posterior = gammaln(hits + a) + gammaln(trials - hits + b) - gammaln(trials + _PRIOR_CASES)
    return np.asarray(posterior - prior)


def _between(column: Floats, first: NDArray[np.intp], last: NDArray[np.intp]) -> Floats:
    """Sums over the rows from `first` up to `last`."""
    running = np.concatenate([[0.0], np.cumsum(column)])
    return np.asarray(running[last] - running[first])


class IsotonicRecalibrator(Recalibrator):
    """Isotonic regression: the non-decreasing map of least squared error, by scikit-learn.

    Cases with equal scores share their mean outcome. Between the scores it was fitted to the map
    is interpolated, and beyond them it is flat.

    Attributes
    ----------
    isotonic_ : sklearn.isotonic.IsotonicRegression
        The regression, which keeps the ends of the steps.
    %(of_each_class)s

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

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        rows = exact_rows(scores, outcomes, weights)
        regression = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        self.isotonic_ = regression.fit(rows.score, rows.hits / rows.trials, rows.trials)

    def _map(self, scores: Floats) -> Floats:
        return np.asarray(np.clip(self.isotonic_.predict(scores), 0, 1))


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
        return np.asarray(expit(self.centre_ + self.shift_ + (rise - to_centre)))

    def _fit_classes(
        self, proba: Floats, code: NDArray[np.intp], weights: Floats | None, **of_cases: Any
    ) -> None:
        logs = log_probabilities(proba)
        self.knots_, self.slopes_ = common_map(logs, code, weights, *self._options())

    def _map_classes(self, proba: Floats, **of_cases: Any) -> Floats:
        return mapped(log_probabilities(proba), self.knots_, self.slopes_)

    def _options(self) -> tuple[int, float]:
        return as_knots(self.n_knots, 2), as_amount(self.penalty, "penalty")


def _placed(log_odds: Floats, trials: Floats, number: int) -> tuple[Floats, float]:
    """Knots at distinct quantiles, at least two, and the median."""
    share = (np.cumsum(trials) - trials / 2) / trials.sum()
    knots = np.unique(np.interp(np.linspace(0, 1, number), share, log_odds))
    if knots.size < 2:
        knots = knots[0] + np.array([-1.0, 1.0])
    return knots, float(np.clip(np.interp(0.5, share, log_odds), knots[0], knots[-1]))


LEAST_SLOPE = 0.01
_AGREE = 0.01


class DiagonalRecalibrator(Recalibrator):
    """Diagonal intra order-preserving map (DIAG): softmax(f(z_1), ..., f(z_k)), f increasing.

    z are the logits of a case, one for each class, and f is one strictly increasing function for
    all of them, so that the order of the classes within a case stays as it was and none become
    equal. The slope of f is a broken line, at least 0.01 at each knot and constant beyond the outer
    ones; the fit maximises the log likelihood less half of

        penalty * (sum of squared differences between slopes at neighbouring knots)
        + 0.01 * mean of (slope - 1)^2

    so that a large penalty gives temperature scaling, and the maximum always exists.

    Parameters
    ----------
    n_knots : int
        Number of knots, from 2 to 1000, evenly over the range of the logits.
    penalty : float
        How strongly differences between the slopes of neighbouring knots are penalised.

    Attributes
    ----------
    knots_ : ndarray of shape (n_knots,)
        Logits where the slope may bend.
    slopes_ : ndarray of shape (n_knots,)
        Slope at each knot; all 1 for the identity.
    classes_ : ndarray of shape (n_classes,)

    See Also
    --------
    MonotoneRecalibrator : Of two classes, a rising map that may shift the even odds.

    Notes
    -----
    Logits are the numbers whose softmax the probabilities are: pass them as `logits=`. Without
    them the logarithms of the probabilities are taken, which are the logits less a number for each
    case. A bent f does not forget that number, so that the two maps differ.

    Of probabilities without logits the map is injective: if two predictions became equal, f(log p)
    and f(log p') would differ by one number for all classes, so that p would be above p' in all of
    them or below it in all, and both sum to 1. So the gain in a proper score is the fall of the
    calibration error that belongs to it (Proposition 4.5 of Gruber & Buettner). With logits,
    predictions of equal probabilities can become different, and different ones equal if f makes
    their logits differ by one number, which data of a continuous law do with probability 0.

    Rahimi et al. take a monotone neural network for f; here it is a spline with a single best fit.
    For two classes the map is antisymmetric about even odds. Probabilities of exactly 0 and 1 are
    read as a quarter of the way to the nearest other one, and none as nearer than 1e-12; logits are
    read as they are. Fitting keeps n_samples * n_classes * n_knots numbers in memory.

    References
    ----------
    Rahimi, Shaban, Cheng, Hartley & Boots, "Intra Order-preserving Functions for Calibration of
    Multi-Class Neural Networks", NeurIPS 2020.
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, sections 2.2 and 4.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import softmax
    >>> from bayescal import recalibrate
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.uniform(-2, 2, size=(2000, 3))
    >>> labels = (rng.random((2000, 1)) > softmax(truth, axis=1).cumsum(axis=1)).sum(axis=1)
    >>> logits = truth**3  # too certain
    >>> fitted = recalibrate.DiagonalRecalibrator()
    >>> fitted = fitted.fit(softmax(logits, axis=1), labels, logits=logits)
    >>> fitted.transform([[0.879, 0.119, 0.002]], logits=[[3.0, 1.0, -3.0]]).round(2)
    array([[0.66, 0.3 , 0.03]])
    """

    reads_log_odds = True

    def __init__(self, n_knots: int = 8, penalty: float = 10.0) -> None:
        self.n_knots = n_knots
        self.penalty = penalty

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        logits: Any = None,
    ) -> Self:
        """Learn to recalibrate, from cases that the model was not trained on.

        Parameters
        ----------
        X : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
            Predicted probabilities: of the event, or one column for each class. Or a
            `CalibrationData`, which holds outcomes and weights itself, but no logits.
        y : array-like of shape (n_samples,), optional
            Labels, of any type; none with a `CalibrationData`, whose labels are 0 and 1. Of two
            classes the greater is the event.
        sample_weight : array-like of shape (n_samples,), optional
            Case counts. If any is not whole they are rescaled to Kish's effective sample size.
        classes : array-like of shape (n_classes,), optional
            Labels in the order of the columns; by default those in `y`, sorted.
        logits : array-like of shape (n_samples, n_classes), optional
            What `X` is the softmax of, in the same order of the classes.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If these do not describe the same cases, or an option is out of range.
        """
        arrays = _as_logits(logits, classes, X=X, y=y, sample_weight=sample_weight)
        self.with_logits_ = bool(arrays)
        return self._fit_cases(X, y, sample_weight, classes, **arrays)

    def transform(self, X: Any, logits: Any = None) -> Floats:
        """Recalibrated probabilities.

        Parameters
        ----------
        %(recalibrated_scores)s
        logits : array-like of shape (n_samples, n_classes), optional
            What `X` is the softmax of, if it was fitted with logits.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Of two classes, the probability of the event.

        %(refuses_others)s
        """
        return self._recalibrated(X, **self._as_fitted(X, logits))

    def predict_proba(self, X: Any, logits: Any = None) -> Floats:
        """Recalibrated probability of each class, of shape (n_samples, n_classes).

        Parameters
        ----------
        X, logits : array-like
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)

        %(refuses_others)s
        """
        return both_columns(self._recalibrated(X, **self._as_fitted(X, logits)))

    def predict(self, X: Any, logits: Any = None) -> NDArray[Any]:
        """Class of the largest recalibrated probability.

        Parameters
        ----------
        X, logits : array-like
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_samples,)

        %(refuses_others)s
        """
        return self._labels(self._recalibrated(X, **self._as_fitted(X, logits)))

    def _fit(
        self,
        scores: Floats,
        outcomes: Floats,
        weights: Floats | None,
        logits: Floats | None = None,
    ) -> None:
        self._fit_classes(both_columns(scores), outcomes.astype(np.intp), weights, logits=logits)

    def _map(self, scores: Floats, logits: Floats | None = None) -> Floats:
        return self._map_classes(both_columns(scores), logits=logits)[:, 1]

    def _fit_classes(
        self, proba: Floats, code: NDArray[np.intp], weights: Floats | None, **of_cases: Any
    ) -> None:
        z = self._logits_of(proba, of_cases.get("logits"))
        n_knots, penalty = as_knots(self.n_knots, 2), as_amount(self.penalty, "penalty")
        fitted = common_map(z, code, weights, n_knots, penalty, LEAST_SLOPE)
        self.knots_, self.slopes_ = fitted

    def _map_classes(self, proba: Floats, **of_cases: Any) -> Floats:
        z = self._logits_of(proba, of_cases.get("logits"))
        return mapped(z, self.knots_, self.slopes_)

    def _as_fitted(self, X: Any, logits: Any) -> dict[str, Floats]:
        """Logits of the cases of X, the columns of a data frame in the order of the classes."""
        check_is_fitted(self)
        return _as_logits(logits, self.classes_, X=X)

    def _logits_of(self, proba: Floats, logits: Floats | None) -> Floats:
        """The logits that were passed, or log-probabilities, as it was fitted."""
        if (logits is not None) != self.with_logits_:
            had, has = ("with", "none") if self.with_logits_ else ("without", "some")
            raise InputError(f"logits: it was fitted {had} logits, and {has} were passed now.")
        if logits is None:
            return log_probabilities(proba)
        if logits.shape != proba.shape:
            raise InputError(
                f"logits has shape {logits.shape}, but X stands for {proba.shape[0]} cases and "
                f"{proba.shape[1]} classes. Pass one row a case and one column a class."
            )
        gap = np.abs(softmax(logits, axis=1) - proba).max(axis=1)
        if gap.max() > _AGREE:
            at = int(gap.argmax())
            raise InputError(
                f"logits[{at}] has a softmax that differs from X[{at}] by {gap[at]:.2g}. Pass what "
                "X is the softmax of, for the same cases and with classes in the same order."
            )
        return logits


def _as_logits(logits: Any, classes: Any, **beside: Any) -> dict[str, Floats]:
    """Logits of the same cases as other arguments, if there are any; columns go by class."""
    if logits is None:
        return {}
    aligned(**beside, logits=logits)
    logits = in_order(logits, classes)
    try:
        shape = np.shape(logits)
    except ValueError:
        shape = ()
    if len(shape) != 2 or shape[1] < 2 or shape[0] < 1:
        raise InputError(
            "logits must have one row a case and one column a class, two at least, but has shape "
            f"{shape}. Of one log-odds z a case, pass the columns 0 and z."
        )
    columns = np.asarray(logits.to_numpy() if hasattr(logits, "to_numpy") else logits).T
    matrix = [as_numbers(column, f"logits[:, {k}]") for k, column in enumerate(columns)]
    return {"logits": np.column_stack(matrix)}


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
    %(of_each_class)s

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
        return np.asarray(expit(log_odds_of(scores) + noise))
    turned = np.mod(scores + noise, 2)
    return np.where(turned <= 1, turned, 2 - turned)
