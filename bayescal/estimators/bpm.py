"""Binomial process modelling by maximum likelihood (Dong et al.)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv, expit, gammaln, log_expit, logit, logsumexp

from bayescal.core.arrays import Floats, power_mean
from bayescal.core.errors import InputError, as_order, check_choice
from bayescal.core.text import documented
from bayescal.data.cases import as_scores
from bayescal.data.read import Needs
from bayescal.data.rows import levels_of
from bayescal.estimators.registry import Cases, OutcomesLike, Statistic, estimator, evaluate, read

BPM_EDGE = 1e-10
LARGEST_COEFFICIENT = 100.0
FEWEST_BINS = 2
MOST_BINS_OF_FEW = 5
MOST_COUNTED = 100_000
_PRECISE = {"ftol": 1e-14, "gtol": 1e-10, "maxiter": 1000}


@dataclass(frozen=True)
class BPMCurve:
    """A calibration curve with logit g(s) = a log s - b log(1 - s) + c.

    Parameters
    ----------
    a, b, c : float
        Coefficients; `c` has the opposite sign to the paper's equation 12.
    objective : str
        What was optimised: "paper", "likelihood", "unconstrained" or "released".
    loss : float
        The minimum: equation 9, or minus the sum that equation 8 or the released code maximises.
    """

    a: float
    b: float
    c: float
    objective: str
    loss: float

    def curve(self, scores: ArrayLike) -> Floats:
        """Calibrated probability at each score.

        Parameters
        ----------
        scores : array-like of shape (n_scores,)
            Scores in [0, 1], read as no nearer to 0 and 1 than 1e-10.

        Returns
        -------
        ndarray of shape (n_scores,)

        Raises
        ------
        InputError
            If a score is missing or outside [0, 1].
        """
        s = as_scores(scores, "scores")
        return self.at(s, 1 - s)

    def at(self, s: Floats, q: Floats) -> Floats:
        """Calibrated probability at checked scores s, with q = 1 - s."""
        return probability_of(np.array([self.a, self.b, self.c]), basis_of(s, q))


@dataclass(frozen=True)
class Bins:
    """Rows of all schemes: mean score s, q = 1 - s, mean outcome, and weight in the objective.

    `trials` is the number of cases of each bin.
    """

    s: Floats
    q: Floats
    hit_rate: Floats
    weight: Floats
    trials: Floats


# Bins


def schemes(size: int) -> range:
    """Numbers of bins of the schemes for so many cases."""
    fewest, most = size // 100, size // 20
    step = max(1, (most - fewest) // 10)
    fewest = max(fewest, min(FEWEST_BINS, size))
    return range(fewest, max(most, min(MOST_BINS_OF_FEW, size)) + 1, step)


def shared_bins(outcomes: NDArray[Any], scores: Floats, weights: Floats | None) -> Bins:
    """All schemes in bins of exactly equal mass; tied scores share their mean outcome."""
    if weights is None:
        weights = np.ones_like(scores)
    counted = weights > 0
    levels = levels_of(scores[counted])
    s, mass = levels.score, levels.totals(weights[counted])
    hits = levels.totals((weights * outcomes)[counted])
    position = np.concatenate([[0.0], np.cumsum(mass)])
    total = position[-1]
    # Running sums start where their terms are smallest, so that scores near 0 and 1 keep digits.
    below = np.concatenate([[0.0], np.cumsum(mass * s)])
    above = np.concatenate([np.cumsum((mass * (1 - s))[::-1])[::-1], [0.0]])
    running_hits = np.concatenate([[0.0], np.cumsum(hits)])
    parts = []
    for bins in schemes(int(np.clip(total, 1, MOST_COUNTED))):
        edges = total * np.arange(bins + 1) / bins
        parts.append(
            [
                np.diff(np.interp(edges, position, below)) * (bins / total),
                -np.diff(np.interp(edges, position, above)) * (bins / total),
                np.diff(np.interp(edges, position, running_hits)) * (bins / total),
                np.full(bins, 1 / bins),
                np.full(bins, total / bins),
            ]
        )
    return Bins(*np.concatenate(parts, axis=1))


def released_bins(outcomes: NDArray[Any], scores: Floats) -> Bins:
    """All schemes as the released code cuts them: N // B rows a bin, the last bin dropped."""
    order = np.argsort(scores, kind="stable")
    s, y = scores[order], outcomes[order]
    parts = []
    for bins in schemes(s.size):
        rows, kept = s.size // bins, bins - 1
        used = slice(0, kept * rows)
        mean_s = s[used].reshape(kept, rows).mean(axis=1)
        hit_rate = y[used].reshape(kept, rows).mean(axis=1)
        parts.append([mean_s, 1 - mean_s, hit_rate, np.ones(kept), np.full(kept, rows)])
    return Bins(*np.concatenate(parts, axis=1))


# Fitting


def basis_of(s: Floats, q: Floats) -> Floats:
    """Columns log s, -log(1 - s), 1, with s read as no nearer to 0 and 1 than the edge."""
    log_s, log_q = (np.log(np.clip(part, BPM_EDGE, 1 - BPM_EDGE)) for part in (s, q))
    return np.stack([log_s, -log_q, np.ones_like(log_s)], axis=1)


def probability_of(coefficients: Floats, basis: Floats) -> Floats:
    """Probabilities at the rows of a basis."""
    return np.asarray(expit(basis @ coefficients))


def fit_released(bins: Bins) -> BPMCurve:
    """The curve as the authors' code fits it, which maximises another criterion than the paper."""
    from scipy.optimize import minimize

    basis = basis_of(bins.s, bins.q)

    def loss(coefficients: Floats) -> float:
        error = probability_of(coefficients, basis) - bins.hit_rate
        return -float(np.sum(np.exp(-(error**2))))

    start = (5.0, 5.0, 10 * math.log(0.5))
    best = minimize(loss, start, method="Nelder-Mead", options={"fatol": 1e-10})
    return _as_curve(best.x, "released", loss(best.x))


def fit_squares(bins: Bins, *, constrained: bool) -> BPMCurve:
    """Equation 9 as least squares: sum w exp(e^2) is sum w plus the sum of w (exp(e^2) - 1)."""
    from scipy.optimize import least_squares

    basis, root_weight = basis_of(bins.s, bins.q), np.sqrt(bins.weight)

    def error(coefficients: Floats) -> tuple[Floats, Floats, Floats]:
        g = probability_of(coefficients, basis)
        return g, g - bins.hit_rate, _stretch(g - bins.hit_rate)

    def residual(coefficients: Floats) -> Floats:
        _, miss, stretch = error(coefficients)
        return np.asarray(root_weight * miss * stretch)

    def jacobian(coefficients: Floats) -> Floats:
        g, miss, stretch = error(coefficients)
        slope: Floats = root_weight * np.exp(miss**2) / stretch * g * (1 - g)
        return slope[:, None] * basis

    fits = [
        least_squares(
            residual,
            start,
            jacobian,
            bounds=_limits(constrained),
            ftol=1e-13,
            xtol=1e-10,
            gtol=1e-10,
        )
        for start in _starts(bins)
    ]
    best = min(fits, key=lambda fit: float(fit.cost))
    objective = "paper" if constrained else "unconstrained"
    return _as_curve(best.x, objective, float(bins.weight.sum() + 2 * best.cost))


def fit_likelihood(bins: Bins) -> BPMCurve:
    """Equation 8: the largest mean, over schemes and bins, of the probability of a bin's events.

    The logarithm of that mean is maximised. A number of events that is not whole, of a bin that
    shares cases with its neighbours, has the binomial probability that gamma functions give it.
    """
    from scipy.optimize import minimize

    basis = basis_of(bins.s, bins.q)
    events, others = bins.trials * bins.hit_rate, bins.trials * (1 - bins.hit_rate)
    ways = gammaln(bins.trials + 1) - gammaln(events + 1) - gammaln(others + 1)
    constant = ways + np.log(bins.weight)

    def loss(coefficients: Floats) -> tuple[float, Floats]:
        eta = basis @ coefficients
        terms = constant + events * log_expit(eta) + others * log_expit(-eta)
        total = logsumexp(terms)
        share = np.exp(terms - total)
        return -float(total), -(share * (events - bins.trials * expit(eta))) @ basis

    near = fit_squares(bins, constrained=True)
    starts = [np.array([near.a, near.b, near.c]), *_starts(bins)]
    limits = np.transpose(_limits(constrained=True))
    fits = [
        minimize(loss, start, jac=True, bounds=limits, method="L-BFGS-B", options=_PRECISE)
        for start in starts
    ]
    best = min(fits, key=lambda fit: float(fit.fun))
    return _as_curve(best.x, "likelihood", -float(np.exp(-best.fun)))


def _limits(constrained: bool) -> tuple[Floats, Floats]:
    """Least and greatest a, b and c: of the paper a and b are at least 0 (equations 11 and 12)."""
    greatest = np.array([LARGEST_COEFFICIENT, LARGEST_COEFFICIENT, np.inf])
    return np.where([constrained, constrained, False], 0, -greatest), greatest


def _stretch(miss: Floats) -> Floats:
    """Square root of (exp(e^2) - 1) / e^2, which is 1 at e = 0."""
    square = np.maximum(miss**2, 1e-30)
    return np.asarray(np.sqrt(np.expm1(square) / square))


def _starts(bins: Bins) -> list[Floats]:
    """Perfect calibration, the base rate, and the released code's start."""
    base_rate = np.clip(np.average(bins.hit_rate, weights=bins.weight), 0.001, 0.999)
    return [
        np.array([1.0, 1.0, 0.0]),
        np.array([0.0, 0.0, float(logit(base_rate))]),
        np.array([5.0, 5.0, 10 * math.log(0.5)]),
    ]


def _as_curve(coefficients: Floats, objective: str, loss: float) -> BPMCurve:
    a, b, c = coefficients.tolist()
    return BPMCurve(a, b, c, objective, loss)


_BPM_NODES = 4096
_NARROWEST = 1e8
_OBJECTIVES = ("paper", "likelihood", "unconstrained", "released")
_DENSITIES = ("beta", "empirical")


@documented
def fit_bpm_curve(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    objective: str = "paper",
    sample_weight: ArrayLike | None = None,
) -> BPMCurve:
    """Fit the calibration curve of the binomial process model (Algorithm 1 of Dong et al.).

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    objective : {"paper", "likelihood", "unconstrained", "released"}
        "paper" minimises equation 9, the sum over schemes and bins of
        |bin|/N exp((g(mean score) - mean outcome)^2), with a and b of at least 0 (equations 11 and
        12), so that the curve never falls. "likelihood" maximises equation 8 with the same
        constraint: the sum of |bin|/N times the binomial probability of the bin's number of
        events. "unconstrained" is equation 9 with a and b of either sign. "released" maximises
        what the authors' code does, the unweighted sum of exp(-(g(mean score) - mean outcome)^2)
        without the last bin of each scheme and without the constraint; it is here to reproduce
        their numbers.
    sample_weight : array-like of shape (n_samples,), optional
        Case counts; none with the released objective.

    Returns
    -------
    BPMCurve
        Coefficients a, b, c of logit g(s) = a log s - b log(1 - s) + c, and `curve(scores)`.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of one length, the objective is unknown,
        or weights are given with the released objective.

    See Also
    --------
    tce_bpm : The calibration error of the fitted curve.

    Notes
    -----
    A scheme cuts the ordered scores into B bins of equal mass, with B from N // 100 to N // 20 in
    steps of max(1, (N // 20 - N // 100) // 10); the released code has no such floor and fails
    below N = 240. With few observations that leaves fewer bins than coefficients, so B goes from
    2 at least and up to 5 at least, and never beyond N. With the other objectives an N above
    100 000 counts as 100 000 here, so that schemes stop at 5000 bins.

    With every objective but the released one all observations count, in bins of exactly equal
    mass: an observation on an edge is shared between its two bins, and observations with equal
    scores have their mean outcome, so the order of the rows does not matter. a and b are at most
    100, so that separated outcomes, one class, or equal scores give a finite curve. The best of
    several starts is kept. Equation 8 is a mean of probabilities, not of their logarithms: it has
    local maxima, and gives most weight to bins whose outcomes are nearly all equal. The paper calls
    equations 8 and 9 equivalent; their best curves are the same only if one passes through the mean
    outcome of every bin. Fitted to 5000 CIFAR-10 images and judged on 10 000 others, the binned
    error is .0056 by equation 9 with the constraint, .0070 without it, and .0265 by equation 8.

    The released objective is the authors' procedure step by step: a stable sort, so that the
    order of rows with equal scores matters; bins of N // B, the remainder dropped with the last
    bin; and Nelder-Mead from (5, 5, 10 log 0.5). Its coefficients are not bounded. On 731 solar
    flare forecasts it gives (a, b, c) = (0.168, 1.804, -1.854), and equation 9 gives
    (0.248, 1.602, -1.643).

    References
    ----------
    Dong et al., "Combining Priors with Experience: Confidence Calibration Based on Binomial
    Process Modeling", AAAI 2025, equations 8 to 12, Algorithm 1.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("D5", 10_000, random_state=1)
    >>> fitted = estimators.fit_bpm_curve(y_true, y_prob)
    >>> fitted.curve([0.5, 0.9]).round(2)
    array([0.27, 0.44])
    """
    check_choice(objective, _OBJECTIVES, "objective")
    cases = _read(y_true, y_prob, sample_weight, objective)
    return _fit(cases.outcomes[0], cases.scores, cases.weights, objective)


def _core(
    scores: Floats, weights: Floats | None, *, p: float, objective: str, density: str
) -> Statistic:
    """Core of `tce_bpm`."""
    s, q, mass = _score_distribution(scores, weights, density)

    def statistic(outcomes: NDArray[Any]) -> Floats:
        fits = [_fit(row, scores, weights, objective) for row in outcomes]
        errors = np.array([fitted.at(s, q) - s for fitted in fits])
        return power_mean(errors, p, lambda power: power @ mass)

    return statistic


@estimator(
    "TCE by binomial process modelling",
    prepare=_core,
    paper="Dong et al. 2025",
    estimates="TCE",
    span=(0, 1),
    dear="Ten ways to cut bins take running sums of all cases, and the fitted curve is "
    "evaluated at every score.",
)
def tce_bpm(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    p: float = 1,
    objective: str = "paper",
    density: str = "beta",
    sample_weight: ArrayLike | None = None,
) -> float:
    """True calibration error by the binomial process model (Algorithm 2 of Dong et al.).

    (E|g(s) - s|^p)^(1/p), where g is the curve of `fit_bpm_curve`.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    p : float
        Order of the norm, at least 1.
    objective : {"paper", "likelihood", "unconstrained", "released"}
        How the curve is fitted; see `fit_bpm_curve`.
    density : {"beta", "empirical"}
        What the expectation is over: the Beta density with the mean and variance of the scores,
        or the scores themselves.
    sample_weight : array-like of shape (n_samples,), optional
        Case counts; none with the released objective.

    Returns
    -------
    float
        Estimated calibration error, from 0 to 1.

    Raises
    ------
    InputError
        As `fit_bpm_curve`; also if `p` is below 1 or `density` unknown.

    See Also
    --------
    fit_bpm_curve : The curve behind this number.

    Notes
    -----
    The Beta density is integrated by its quantiles. The released code integrates its formula,
    clipped at 1e-10, and loses the mass beyond: with shapes (2.77, 0.04) four tenths of it. The
    number changes little (3e-6 on 731 solar flare forecasts), because a fitted curve that rises to
    1 is next to the diagonal there. When no Beta density has the mean and variance of the scores
    (all equal, or all 0 and 1), or only one too narrow to integrate so (shapes above 1e8), the
    empirical average is returned.

    References
    ----------
    Dong et al., "Combining Priors with Experience: Confidence Calibration Based on Binomial
    Process Modeling", AAAI 2025, Algorithm 2.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("D5", 10_000, random_state=1)
    >>> round(estimators.tce_bpm(y_true, y_prob), 3)
    0.275
    """
    check_choice(objective, _OBJECTIVES, "objective")
    check_choice(density, _DENSITIES, "density")
    cases = _read(y_true, y_prob, sample_weight, objective)
    value = evaluate(_core, cases, p=as_order(p), objective=objective, density=density)
    assert isinstance(value, float)
    return value


def _read(
    y_true: OutcomesLike, y_prob: ArrayLike | None, sample_weight: ArrayLike | None, objective: str
) -> Cases:
    needs: Needs = "order" if objective == "released" else "rows"
    cases = read(y_true, y_prob, sample_weight, replicates=False, needs=needs)
    return cases if objective == "released" else cases.ranked()


def _fit(
    outcomes: NDArray[Any], scores: Floats, weights: Floats | None, objective: str
) -> BPMCurve:
    if objective == "released":
        if weights is not None:
            raise InputError(
                "sample_weight has no meaning for objective='released', which reproduces code "
                "without weights. Use objective='paper'."
            )
        return fit_released(released_bins(outcomes, scores))
    bins = shared_bins(outcomes, scores, weights)
    if objective == "likelihood":
        return fit_likelihood(bins)
    return fit_squares(bins, constrained=objective == "paper")


def _score_distribution(
    scores: Floats, weights: Floats | None, density: str
) -> tuple[Floats, Floats, Floats]:
    """Scores s, 1 - s and weights that stand for the distribution asked for."""
    mass = np.ones_like(scores) if weights is None else weights
    shapes = _beta_shapes(scores, mass) if density == "beta" else None
    if shapes is None:
        return scores, 1 - scores, mass / mass.sum()
    a, b = shapes
    t = (np.arange(_BPM_NODES) + 0.5) / _BPM_NODES
    s = betaincinv(a, b, t**2 * (3 - 2 * t))
    q = betaincinv(b, a, (1 - t) ** 2 * (1 + 2 * t))
    weight = t * (1 - t)
    return s, q, weight / weight.sum()


def _beta_shapes(scores: Floats, mass: Floats) -> tuple[float, float] | None:
    """Shapes of the Beta density with the scores' mean and variance, if there is a usable one."""
    total = mass.sum()
    mean, rest = np.sum(mass * scores) / total, np.sum(mass * (1 - scores)) / total
    squares = np.sum(mass * (scores - mean) ** 2)
    # Variance with one degree of freedom less than cases.
    if total <= 1 or squares == 0:
        return None
    precision = mean * rest * (total - 1) / squares - 1
    a, b = float(mean * precision), float(rest * precision)
    usable = 0 < a < _NARROWEST and 0 < b < _NARROWEST
    return (a, b) if usable else None
