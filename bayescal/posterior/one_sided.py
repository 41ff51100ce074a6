"""How sure the side of an error is, and curves whose errors count by it.

Where a curve may be on either side of the diagonal, |g - s| counts chance as error. In the draws of
stretches that are often calibrated an error therefore counts by how sure its side is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from bayescal.core.arrays import Floats, blocks
from bayescal.model.problem import Problem

__all__ = ["nearest_row", "one_sided", "side_shares", "sure_region", "sureness"]

UNSURE, SURE = 0.6, 0.95
"""Probabilities of a side at which an error begins to count, and counts in full."""


def side_shares(problem: Problem, u: Floats) -> tuple[Floats, Floats]:
    """Shares of the draws of a family that are above, and below, the diagonal.

    Parameters
    ----------
    problem : Problem
        Of that family.
    u : ndarray of shape (draws, d)

    Returns
    -------
    above, below : ndarray of shape (rows,)
        At the scores of the problem.
    """
    above, below = np.zeros((2, problem.score.size))
    curves = problem.curves_at()
    for part in blocks(len(u), problem.score.size):
        error = curves.probability(u[part]) - problem.stated
        above += np.count_nonzero(error > 0, axis=0)
        below += np.count_nonzero(error < 0, axis=0)
    return above / len(u), below / len(u)


def nearest_row(log_odds: Floats, score: Floats) -> NDArray[np.intp]:
    """The row, of ascending log-odds, that is nearest to each of these scores inside (0, 1)."""
    between = (log_odds[1:] + log_odds[:-1]) / 2
    return np.asarray(np.searchsorted(between, logit(score)))


def sureness(above: Floats, below: Floats) -> Floats:
    """How much an error counts, and on which side.

    Parameters
    ----------
    above, below : ndarray of shape (rows,)
        Probability that the curve is above the diagonal, and below it.

    Returns
    -------
    ndarray of shape (rows,)
        Positive where the curve is rather above. Its size is 0 up to a probability of 0.6 for the
        likelier side, 1 from 0.95 on, and linear between.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.posterior.one_sided import sureness
    >>> sureness(np.array([0.5, 0.775, 0.1]), np.array([0.5, 0.0, 0.9])).round(2)
    array([ 0.  ,  0.5 , -0.86])
    """
    size = np.clip((np.maximum(above, below) - UNSURE) / (SURE - UNSURE), 0, 1)
    return np.asarray(np.where(above >= below, size, -size))


def sure_region(error: Floats, level: float) -> tuple[NDArray[np.int8], float]:
    """The largest set of scores whose sides of the diagonal are sure jointly.

    Scores enter in order of how sure their side is.

    Parameters
    ----------
    error : ndarray of shape (draws, rows)
        g - s in draws of the curve.
    level : float in (0, 1)
        Least joint probability.

    Returns
    -------
    region : ndarray of shape (rows,)
        1 where above, -1 where below, 0 where the diagonal cannot be ruled out.
    probability : float
        The joint probability reached.

    References
    ----------
    Bolin & Lindgren (2015), Excursion and contour uncertainty regions for latent Gaussian models,
    JRSS B 77.
    """
    above, below = (error > 0).mean(axis=0), (error < 0).mean(axis=0)
    side = np.where(above >= below, 1, -1)
    order = np.argsort(-np.maximum(above, below), kind="stable")
    on_side = (error * side > 0)[:, order]
    joint = np.logical_and.accumulate(on_side, axis=1).mean(axis=0)
    size = int(np.count_nonzero(joint >= level))
    region = np.zeros(side.size, dtype=np.int8)
    region[order[:size]] = side[order[:size]]
    return region, float(joint[size - 1]) if size else 1.0


def one_sided(curve: Floats, score: Floats, side: Floats) -> Floats:
    """The curve where it lies on the side given, as far off as that is sure; else the diagonal.

    Parameters
    ----------
    curve : ndarray of shape (draws, rows)
        g at each score.
    score : ndarray of shape (rows,) or (draws, rows)
    side : ndarray of shape (rows,) or (draws, rows)
        In [-1, 1]; see `sureness`.

    Returns
    -------
    ndarray of shape (draws, rows)
        s + sign |phi| max(0, sign (g - s)), with phi the side.
    """
    error = curve - score
    return np.asarray(score + np.where(side * error > 0, np.abs(side) * error, 0.0))
