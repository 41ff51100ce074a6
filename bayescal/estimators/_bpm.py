"""Curves of the beta family, fitted to bins of equal mass (Dong et al., Algorithm 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import least_squares, minimize
from scipy.special import expit, gammaln, log_expit, logit, logsumexp

from bayescal._base.arrays import Floats
from bayescal.data.table import levels_of
from bayescal.data.validate import as_scores

__all__ = [
    "BPMCurve",
    "Bins",
    "basis_of",
    "fit_likelihood",
    "fit_released",
    "fit_squares",
    "probability_of",
    "released_bins",
    "schemes",
    "shared_bins",
]

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
    probability: Floats = expit(basis @ coefficients)
    return probability


def fit_released(bins: Bins) -> BPMCurve:
    basis = basis_of(bins.s, bins.q)

    def loss(coefficients: Floats) -> float:
        error = probability_of(coefficients, basis) - bins.hit_rate
        return -float(np.sum(np.exp(-(error**2))))

    start = (5.0, 5.0, 10 * math.log(0.5))
    best = minimize(loss, start, method="Nelder-Mead", options={"fatol": 1e-10})
    return _as_curve(best.x, "released", loss(best.x))


def fit_squares(bins: Bins, *, constrained: bool) -> BPMCurve:
    """Equation 9 as least squares: sum w exp(e^2) is sum w plus the sum of w (exp(e^2) - 1)."""
    basis, root_weight = basis_of(bins.s, bins.q), np.sqrt(bins.weight)

    def error(coefficients: Floats) -> tuple[Floats, Floats, Floats]:
        g = probability_of(coefficients, basis)
        return g, g - bins.hit_rate, _stretch(g - bins.hit_rate)

    def residual(coefficients: Floats) -> Floats:
        _, miss, stretch = error(coefficients)
        scaled: Floats = root_weight * miss * stretch
        return scaled

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
    stretch: Floats = np.sqrt(np.expm1(square) / square)
    return stretch


def _starts(bins: Bins) -> list[Floats]:
    """Perfect calibration, the base rate, and the released code's start."""
    base_rate = np.clip(np.average(bins.hit_rate, weights=bins.weight), 0.001, 0.999)
    return [
        np.array([1.0, 1.0, 0.0]),
        np.array([0.0, 0.0, float(logit(base_rate))]),
        np.array([5.0, 5.0, 10 * math.log(0.5)]),
    ]


def _as_curve(coefficients: Floats, objective: str, loss: float) -> BPMCurve:
    a, b, c = (float(value) for value in coefficients)
    return BPMCurve(a, b, c, objective, loss)
