"""Several curves compared: which there are, how far each is off, and which is furthest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_items, check_choice
from bayescal.core.text import shortened
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.term import JOINED
from bayescal.posterior.functionals import FUNCTIONALS

__all__ = [
    "OFF_BY",
    "Part",
    "Side",
    "check_levels",
    "off_by",
    "parts_of",
    "share_off",
    "shares_of_worst",
    "two_of",
]

# A difference, or a distance from perfect calibration, that is counted by default.
OFF_BY = 0.05
# Which side of the value at perfect calibration counts.
Side: TypeAlias = Literal["both", "above", "below"]
COMPARED_SIDES = ("both", "above", "below")


class Part(NamedTuple):
    """A level of one axis, such as a site or a sex, or a combination of levels of several.

    Attributes
    ----------
    factor : str
        The axis; of a combination, the names of its axes.
    level : str
        Of a combination, its level of every axis.
    levels : dict of str to str
        By axis.
    """

    factor: str
    level: str
    levels: dict[str, str]


def parts_of(
    axes: Mapping[str, Sequence[str]], cells: Sequence[tuple[str, ...]], by: Any = None
) -> list[Part]:
    """The levels of one axis, or of every one; or the combinations of levels that occur.

    Parameters
    ----------
    axes : mapping of str to sequence of str
        The levels of each axis in order.
    cells : sequence of tuple of str
        The level of each group in every axis.
    by : str or sequence of str, optional
        One axis, or several for their combinations; by default every axis in turn.
    """
    names = list(axes)
    given = names if by is None else [by] if isinstance(by, str) else as_items(by, "by")
    chosen = [check_choice(name, names, "by") for name in given]
    if not chosen:
        raise InputError("by is empty. Name what curves are compared by, such as by='site'.")
    if by is None or len(chosen) == 1:
        return [Part(name, level, {name: level}) for name in chosen for level in axes[name]]
    at = [names.index(name) for name in chosen]
    occurring = {tuple(cell[k] for k in at) for cell in cells}
    order = [{level: k for k, level in enumerate(axes[name])} for name in chosen]
    ordered = sorted(occurring, key=lambda cell: [of[x] for of, x in zip(order, cell, strict=True)])
    joint = JOINED.join(chosen)
    return [Part(joint, ", ".join(cell), dict(zip(chosen, cell, strict=True))) for cell in ordered]


def check_levels(problem: MultilevelProblem, given: Mapping[str, Any]) -> dict[str, str]:
    """Levels by axis as text, in the order of the axes."""
    axes, levels = problem.axes, {}
    for axis, level in given.items():
        known = axes[check_choice(axis, axes, "the role of a level")]
        levels[axis] = check_choice(str(level), known, f"level of {axis}")
    levels = {axis: levels[axis] for axis in axes if axis in levels}
    if not problem.groups_with(levels):
        told = ", ".join(f"{axis}={level!r}" for axis, level in levels.items())
        raise InputError(
            f"no case has {told}. Ask for fewer levels: the subgroup of some is all cases that "
            "have these."
        )
    return levels


def two_of(parts: Sequence[Part], first: Any, second: Any) -> list[Part]:
    """The parts of two levels; all of them, if no level is given."""
    if first is None and second is None:
        return list(parts)
    if first is None or second is None:
        raise InputError(
            "first and second go together, and only one was given, "
            f"{shortened(repr(second if first is None else first))}. Give two levels of "
            f"{shortened(parts[0].factor)}, or none for any two."
        )
    known = [each.level for each in parts]
    return [
        parts[known.index(check_choice(str(level), known, argument))]
        for level, argument in ((first, "first"), (second, "second"))
    ]


def off_by(values: Floats, name: str, side: Side = "both") -> Floats:
    """How far draws of a functional are from its value at perfect calibration, in its units.

    `side` "both" takes the distance; "above" how far above that value, negative below it; "below"
    the opposite.
    """
    functional = FUNCTIONALS[check_choice(name, FUNCTIONALS, "name")]
    check_choice(side, COMPARED_SIDES, "side")
    if side == "below" and functional.is_distance:
        raise InputError(
            f"side='below' was given for {name!r}, which is a distance and never below its value "
            "at perfect calibration, 0. Leave side= out, or choose a functional that has two "
            "sides, such as 'observed_expected'."
        )
    off: Floats = values - functional.ideal
    if side == "both":
        return np.abs(off)
    return off if side == "above" else -off


def shares_of_worst(off: Floats) -> Floats:
    """Share of the draws in which each curve is furthest off; equal ones divide a draw.

    For `off` of shape (curves, draws); the shares, one a curve, sum to one.
    """
    largest = off == off.max(axis=0)
    return np.asarray((largest / largest.sum(axis=0)).mean(axis=1))


def share_off(off: Floats, limit: float) -> float:
    """Share of the draws in which a curve or more is off by more than the limit."""
    return float((off > limit).any(axis=0).mean())
