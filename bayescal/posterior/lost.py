"""Net benefit lost to miscalibration: what treating by the score loses against its actual risk.

Who treats from a risk of t on, and knows the curve g, treats where g >= t. Who takes the score s
for the risk treats where s >= t. Where the two differ, |g - t| / (1 - t) net benefit is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.decision import least_treated
from bayescal.core.errors import InputError, as_items, as_level, as_levels
from bayescal.core.text import shortened
from bayescal.posterior.curve_draws import CurveDraws

__all__ = ["LOST", "USUAL_THRESHOLDS", "as_risks", "lost_options", "net_benefit_lost"]

# Its name in the registry.
LOST = "net_benefit_lost"

# Up to which a patient without the event who is treated costs no more than one missed.
USUAL_THRESHOLDS = (0.0, 0.5)
MOST_THRESHOLDS = 256


def as_risks(threshold: Any, name: str = "threshold") -> tuple[float, float]:
    """The lowest and the highest threshold: of a number that number, twice.

    `threshold`: the pair ascends; its first may be 0; `name`: what errors call it; returns `low,
    high`.
    """
    if np.isscalar(threshold) or (isinstance(threshold, np.ndarray) and not threshold.ndim):
        return (as_level(threshold, name),) * 2
    given = as_items(threshold, name)
    if len(given) != 2:
        raise InputError(
            f"{name} must be a risk, or the lowest and the highest risk of a range, got "
            f"{shortened(repr(threshold))}."
        )
    first, last = given
    low = 0.0 if np.isscalar(first) and first == 0 else as_level(first, name)
    high = as_level(last, name)
    if low > high:
        raise InputError(
            f"{name} must have the lowest risk first, got {shortened(repr(threshold))}. Swap them."
        )
    return low, high


def lost_options(thresholds: Any) -> dict[str, dict[str, Any]]:
    """Options of the functional at each threshold and over their range, by the name of the row."""
    at = sorted(set(as_levels(thresholds, "thresholds")))
    rows: dict[str, dict[str, Any]] = {f"{LOST}@{t:g}": {"threshold": t} for t in at}
    if len(at) > 1:
        rows[f"{LOST}@{at[0]:g} to {at[-1]:g}"] = {"threshold": (at[0], at[-1])}
    return rows


def net_benefit_lost(
    draws: CurveDraws, threshold: float | tuple[float, float] = USUAL_THRESHOLDS
) -> Floats:
    """Net benefit lost to miscalibration at a threshold, or the most that is lost over a range.

    E_w [(g - t) (1(g >= t) - 1(s >= t))] / (1 - t), which is never negative.

    Parameters
    ----------
    draws : CurveDraws
    threshold : float in (0, 1) or pair of float
        The risk t from which a patient is treated; or the lowest and the highest such risk. By
        default all up to one half, where treating a patient without the event costs no more than
        leaving one with the event untreated.

    Returns
    -------
    ndarray of shape (draws,)
        In net benefit per patient.

    Notes
    -----
    Over a range the loss is highest at an end of it, or where a score begins or ceases to be
    treated: between scores it is convex but for the factor 1 / (1 - t). Cases of a row that differ
    in score are taken as evenly spread between the neighbouring rows.

    2 (1 - t) times the loss, integrated over all t, is E_w (g - s)^2; and (1 - t) times it is at
    most E_w |g - s|.

    References
    ----------
    Kleinberg, Paes Leme, Schneider & Teng (2023), U-calibration: forecasting for an unknown agent,
    COLT. Hu & Wu (2024), Predict to minimize swap regret for all payoff-bounded tasks, FOCS: the
    calibration decision loss.
    """
    low, high = as_risks(threshold)
    is_spread = draws.population.merged or draws.population.score.ndim > 1
    lost_at = _of_spread(draws) if is_spread else _of_points(draws)
    lost = np.zeros(len(draws.curve))
    for t in _thresholds(draws, low, high):
        np.maximum(lost, lost_at(t, t < high) / (1 - t), out=lost)
    return lost


# From a threshold, and whether thresholds just above it count too, to E_w |g - t| of the lost.
LostAt = Callable[[float, bool], Floats]


def _thresholds(draws: CurveDraws, low: float, high: float) -> Floats:
    """Where the loss may be highest."""
    score = draws.population.score
    inside = np.unique(score[(low < score) & (score < high)])
    some = np.linspace(0, inside.size - 1, min(inside.size, MOST_THRESHOLDS)).astype(np.intp)
    return np.unique(np.concatenate([[low, high], inside[some]]))


def _of_points(draws: CurveDraws) -> LostAt:
    """Of scores that each treat all of their cases or none."""
    score, curve = draws.population.score, draws.curve

    def lost(t: float, treated: Any) -> Floats:
        short = np.where(treated, -1.0, 1.0) * (curve - t)
        return draws.mean(np.maximum(short, 0, out=short))

    def at(t: float, above: bool) -> Floats:
        here = lost(t, score >= least_treated(t))
        return np.maximum(here, lost(t, least_treated(score) > t)) if above else here

    return at


def _of_spread(draws: CurveDraws) -> LostAt:
    """Of scores that are spread evenly between rows, with the error of their row."""
    score, error = draws.population.score, draws.error
    middle = (score[..., 1:] + score[..., :-1]) / 2
    first, last = 2 * score[..., :1] - middle[..., :1], 2 * score[..., -1:] - middle[..., -1:]
    lower = np.concatenate([np.maximum(first, 0), middle], axis=-1)
    upper = np.concatenate([middle, np.minimum(last, 1)], axis=-1)
    width = np.maximum(upper - lower, np.finfo(float).tiny)

    def at(t: float, above: bool) -> Floats:
        low, high = lower - t, upper - t
        near, far = np.clip(0.0, low, high), np.clip(-error, low, high)
        return draws.mean(((near + error) ** 2 - (far + error) ** 2) / (2 * width))

    return at
