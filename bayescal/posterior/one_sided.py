"""How far a curve surely is from the diagonal: distances that chance does not inflate.

Where a curve may be on either side of the diagonal, |g - s| counts chance as error. Here a score
counts only where the side of the curve is nearly sure, and only by how far g is on that side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal.posterior.functionals import CurveDraws

__all__ = ["SURE", "lower_distance", "one_sided", "side_of_shares", "sure_region", "sure_side"]

SURE = 0.8


def sure_side(error: Floats, level: float = SURE) -> Floats:
    """The side of the diagonal on which the curve lies with probability above `level`.

    Parameters
    ----------
    error : ndarray of shape (draws, rows)
        g - s in draws of the curve, exactly zero where a draw is on the diagonal; without draws
        that are on it everywhere.
    level : float in [0.5, 1)

    Returns
    -------
    ndarray of shape (rows,)
        1 where above, -1 where below, 0 where neither is sure.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.posterior.one_sided import sure_side
    >>> sure_side(np.array([[0.1, -0.1, 0.0], [0.2, 0.1, 0.0]]))
    array([1., 0., 0.])
    """
    return side_of_shares((error > 0).mean(axis=0), (error < 0).mean(axis=0), level)


def side_of_shares(above: Floats, below: Floats, level: float = SURE) -> Floats:
    """The same, from the shares of the draws that are above and below the diagonal.

    Parameters
    ----------
    above, below : ndarray of shape (rows,)
    level : float in [0.5, 1)

    Returns
    -------
    ndarray of shape (rows,)
    """
    return np.asarray((above > level).astype(np.float64) - (below > level))


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
    """The curve where it lies on the side given, and the diagonal elsewhere.

    Parameters
    ----------
    curve : ndarray of shape (draws, rows)
        g at each score.
    score : ndarray of shape (rows,) or (draws, rows)
    side : ndarray of shape (rows,) or (draws, rows)
        1, -1 or 0; see `sure_side`.

    Returns
    -------
    ndarray of shape (draws, rows)
        s + phi max(0, phi (g - s)), with phi the side.
    """
    return np.asarray(np.where(side * (curve - score) > 0, curve, score))


def lower_distance(
    distance: Callable[[CurveDraws], Floats], draws: CurveDraws, side: Floats
) -> Floats:
    """A distance from calibration, of the part of each curve that lies on its sure side.

    It is never above the distance itself. Distances that are ordered, such as TCE_p in p, or
    quantiles of the error in their level, stay so.

    Parameters
    ----------
    distance : callable
        A functional of `CurveDraws` that is a distance, such as `functionals.tce`.
    draws : CurveDraws
    side : ndarray of shape (rows,) or (draws, rows)
        At the scores of the population; see `sure_side`.

    Returns
    -------
    ndarray of shape (draws,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.posterior.one_sided import lower_distance, sure_side
    >>> from bayescal.posterior.functionals import CurveDraws, tce
    >>> from bayescal.posterior.population import Population
    >>> population = Population(np.array([0.2, 0.6]), np.array([0.5, 0.5]), None)
    >>> draws = CurveDraws(np.array([[0.3, 0.65], [0.4, 0.55]]), population)
    >>> lower_distance(tce, draws, sure_side(draws.error)).round(3)
    array([0.05, 0.1 ])
    """
    score = draws.population.score
    return distance(CurveDraws(one_sided(draws.curve, score, side), draws.population))
