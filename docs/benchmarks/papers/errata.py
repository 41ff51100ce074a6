"""Misprints of Blasiok & Nakkiran and of Gruber & Buettner that one computation shows.

Those that need a simulation are in the modules of the papers.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

__all__ = ["blasiok", "gruber"]

MIRRORS = range(-6, 7)


def reflected(x: float, y: float, sigma: float) -> tuple[float, float]:
    """Both expressions of Blasiok's equation 2, for the density at y of a reflected score x.

    The first is a sum over all points that reflection takes to y; the second over the two kinds of
    shift, 2k + y and 2k - y. Where y is 0 or 1 both kinds are one, and are counted twice.
    """
    images = {round(2 * k + side * y, 12) for k in MIRRORS for side in (1, -1)}
    by_points = sum(norm.pdf(image, x, sigma) for image in images)
    by_shifts = sum(norm.pdf(2 * k + side * y, x, sigma) for k in MIRRORS for side in (1, -1))
    return float(by_points), float(by_shifts)


def derivative_of_logit(t: float, step: float = 1e-6) -> float:
    """Of log(t / (1 - t)), by a difference; Corollary 18 has it at most 4, and it is at least 4."""
    logit = [np.log(at / (1 - at)) for at in (t - step, t + step)]
    return float((logit[1] - logit[0]) / (2 * step))


def blasiok() -> dict[str, float]:
    """One number for each misprint."""
    inside, end = reflected(0.3, 0.4, 0.2), reflected(0.3, 0.0, 0.2)
    u = 0.3
    return {
        "equation 2 inside, first": inside[0],
        "equation 2 inside, second": inside[1],
        "equation 2 at 0, first": end[0],
        "equation 2 at 0, second": end[1],
        "corollary 18, derivative at 1/2": derivative_of_logit(0.5),
        "corollary 18, derivative at .01": derivative_of_logit(0.01),
        "corollary 18, printed distance of .3 and .5": abs(np.log(u / 0.5) - np.log(0.5 / 0.5)),
        "corollary 18, meant": abs(np.log(u / (1 - u))),
        "lemma 23, integral of the kernel": float(norm.cdf(9) - norm.cdf(-9)),
    }


def gruber() -> dict[str, float]:
    """The calibration term of the Brier score is CE_2 squared, and which line is the precision."""
    score, risk = np.array([0.3, 0.8]), np.array([0.1, 0.9])
    proba, truth = (np.column_stack([1 - p, p]) for p in (score, risk))
    ce_2 = float(np.sqrt(((truth - proba) ** 2).sum(axis=1).mean()))

    def brier(of: np.ndarray) -> float:
        outcomes = np.eye(2)
        loss = [((outcomes[k] - of) ** 2).sum(axis=1) * truth[:, k] for k in (0, 1)]
        return float(np.sum(loss, axis=0).mean())

    return {
        "calibration term": brier(proba) - brier(truth),
        "CE_2": ce_2,
        "CE_2 squared": ce_2**2,
        "first line of equation 46, below .5": float(risk[score < 0.5].mean()),
        "second line of equation 46, from .5 on": float(risk[score >= 0.5].mean()),
    }
