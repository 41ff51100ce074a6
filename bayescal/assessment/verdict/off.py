"""Is the model off, and which way: the first answer of an assessment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

from bayescal.assessment.stretches import FEWEST_CASES, Stretch
from bayescal.core.arrays import Floats
from bayescal.core.sampling import BAD_K
from bayescal.core.text import only
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ANSWERS",
    "CANNOT_SAY",
    "LEVEL_AND_SLOPE",
    "NO_SIGN",
    "OVER_A_RANGE",
    "SOME_GROUPS",
    "YES",
    "Off",
    "depth_of_zero",
    "few_words",
    "is_off",
    "sure_ranges",
]

YES, NO_SIGN, CANNOT_SAY = ANSWERS = ("yes", "no sign", "cannot say")

LEVEL_AND_SLOPE = "level and slope together"
OVER_A_RANGE = {"high": "too high over a range", "low": "too low over a range"}
SOME_GROUPS = "some groups are clearly off"
FEWEST = 20
"""Events, and non-events, below which "no sign" would say nothing."""


class Off(NamedTuple):
    """Whether a model is off, and which way.

    Attributes
    ----------
    answer : {"yes", "no sign", "cannot say"}
    ways : tuple of str
        The ways of which each is clear by itself: "too many events predicted" or "too few events
        predicted" (O/E), "over-confident", "under-confident" or "reversed" (the slope), "too high
        over a range" and "too low over a range"; "level and slope together" if only their joint
        region is clear; and "some groups are clearly off". They are named after "yes" alone.
    why : str
        Of "cannot say": the reason, as a clause. Else empty.
    """

    answer: str
    ways: tuple[str, ...] = ()
    why: str = ""


def is_off(
    post: CalibrationPosterior,
    table: pd.DataFrame,
    parts: Sequence[Stretch],
    ci_prob: float,
    verdict: str,
    lower: float = 0.0,
    groups: bool = False,
) -> Off:
    """The first answer of an assessment.

    Of several groups, `lower` is the lower end of the error against the curve of each patient's
    own group, and `groups` says that some of these are clearly off, which makes the answer "yes".

    "yes" if the interval of the true calibration error starts above 0, and a way is clear: perfect
    calibration lies outside the joint region of calibration-in-the-large and slope, or the
    predictions over a range are too high, or too low, with probability (1 + ci_prob) / 2. Also if
    the verdict on the limit is "miscalibrated", which implies the former. At a `ci_prob` of 0.95 at
    most 5 % of the data sets of a calibrated model are to be answered by "yes".

    "cannot say" if one of these is clear but not "yes"; if the interval of O/E or of the slope
    alone excludes its ideal value; if draws cannot be trusted; and, where nothing is clear, with
    fewer than 20 events or non-events. "no sign" otherwise.
    """
    if float(post.diagnostics.get("pareto_k", 0)) > BAD_K:
        return Off(CANNOT_SAY, why="the computation cannot be trusted here")
    jointly, ranges = _is_jointly_clear(post, table, ci_prob), sure_ranges(parts, ci_prob)
    alone = _ways_alone(table)
    above_zero = _ends(table, "tce")[0] > 0
    if verdict == "miscalibrated" or (above_zero and (jointly or ranges)):
        ways = [*alone, *dict.fromkeys(OVER_A_RANGE[part.state] for part in ranges)]
        told = ways or [LEVEL_AND_SLOPE] * (jointly and not groups)
        return Off(YES, (*told, *[SOME_GROUPS] * groups))
    if groups:
        return Off(YES, (SOME_GROUPS,))
    if jointly or ranges or alone or above_zero or lower > 0:
        return Off(CANNOT_SAY, why="the signs are no stronger than chance may give")
    few = _too_few(post)
    return Off(CANNOT_SAY, why=few) if few else Off(NO_SIGN)


def sure_ranges(parts: Sequence[Stretch], ci_prob: float) -> list[Stretch]:
    """Ranges over which predictions are too high, or too low, with probability (1 + ci_prob) / 2.

    Returns
    -------
    list of Stretch
        Each with 4 % of the cases or more.
    """
    # At .975, with a joint region of level and slope, calibrated models are said to be off in .010
    # of 100 to 200 data sets a cell, .020 at most; of 3009 ways that were named 8 were wrong.
    enough = (1 + ci_prob) / 2
    return [
        part
        for part in parts
        if part.state in OVER_A_RANGE and part.probability >= enough and part.cases >= FEWEST_CASES
    ]


def depth_of_zero(x: Floats, y: Floats) -> float:
    """Halfspace depth of the origin among points of the plane.

    The smallest share of the points on one side of a line through the origin. Shearing or scaling
    the plane does not change it.

    Returns
    -------
    float
        Between 0, of an origin outside all points, and about one half.

    References
    ----------
    Rousseeuw & Ruts (1996), Bivariate location depth, Applied Statistics 45.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.assessment.verdict.off import depth_of_zero
    >>> depth_of_zero(np.array([1.0, 2.0, 1.0]), np.array([1.0, 0.0, -1.0]))
    0.0
    >>> depth_of_zero(np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 1.0, -1.0, -1.0]))
    0.5
    """
    angle = np.sort(np.arctan2(y, x))
    ahead = np.searchsorted(np.append(angle, angle + 2 * np.pi), angle + np.pi)
    side = ahead - np.arange(angle.size)
    return float(min(side.min(), (angle.size - side).min()) / angle.size)


def _is_jointly_clear(post: CalibrationPosterior, table: pd.DataFrame, ci_prob: float) -> bool:
    """Whether calibration is outside the joint region of shift and slope.

    The region holds `ci_prob` of a normal posterior. Of scores that define no slope it is the
    interval of the shift.
    """
    if "calibration_slope" not in table.index:
        return _is_clear(table, "calibration_in_the_large")
    shift, slope = (
        post.values_of(name) - FUNCTIONALS[name].ideal
        for name in ("calibration_in_the_large", "calibration_slope")
    )
    return depth_of_zero(shift, slope) < float(ndtr(-np.sqrt(-2 * np.log1p(-ci_prob))))


def _is_clear(table: pd.DataFrame, name: str) -> bool:
    """Whether the interval of a measure excludes its ideal value."""
    lower, upper = _ends(table, name)
    return not lower <= FUNCTIONALS[name].ideal <= upper


def _ends(table: pd.DataFrame, name: str) -> tuple[float, float]:
    return float(table["lower"][name]), float(table["upper"][name])


def _ways_alone(table: pd.DataFrame) -> list[str]:
    """Ways whose own interval is clear."""
    sides = (
        each.side(*_ends(table, name)) for name, each in FUNCTIONALS.items() if name in table.index
    )
    return [side.way for side in sides if side is not None and side.way]


def _too_few(post: CalibrationPosterior) -> str:
    """That events or non-events are too few, as a clause; weights count what they are worth."""
    data = post.data
    events = {"event": data.events, "non-event": data.n - data.events}
    rarer = min(events, key=lambda what: events[what])
    effective = events[rarer] * data.weight_scale
    return few_words(effective, rarer) if effective < FEWEST else ""


def few_words(number: float, noun: str) -> str:
    """That there are only so many, or none, as a clause.

    Examples
    --------
    >>> from bayescal.assessment.verdict.off import few_words
    >>> few_words(3, "event"), few_words(0, "non-event")
    ('there are only 3 events', 'there are no non-events')
    """
    return only(number, noun) if round(number, 1) > 0 else f"there are no {noun}s"
