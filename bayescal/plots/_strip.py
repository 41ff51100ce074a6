"""A strip of scores: those of the cases with the event upwards, of the others downwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.data.table import CalibrationData
from bayescal.plots import style
from bayescal.plots._observed import ScoreCounts, count_scores
from bayescal.plots.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_scores"]

GAP = 0.02
HEIGHT = 0.13
ROOM = 0.24  # for several

Side: TypeAlias = tuple[Floats, int, str, str]
"""Cases of each bin, 1 for upwards or -1, a colour, and what stands beside."""


def draw_scores(
    ax: Axes,
    data: CalibrationData,
    *,
    stack: tuple[int, int] = (0, 1),
    colours: tuple[str, str] = (style.EVENTS, style.NON_EVENTS),
    names: tuple[str, str] | None = None,
) -> None:
    """Draw a strip above square axes, over their range; events and others on one scale of counts.

    Of a table without outcomes all scores stand upwards, in the colour of the others and with the
    first name.

    Parameters
    ----------
    stack : tuple of int
        How many strips are below it, and how many there are in all.
    colours : tuple of str
        Of the events, and of the others.
    names : tuple of str, optional
        What stands beside each; by default how many there are.
    """
    low, high = ax.get_xlim()
    below, strips = stack
    height = HEIGHT if strips == 1 else ROOM / strips
    strip = ax.inset_axes((0, 1 + GAP + below * (height + GAP / 2), 1, height))
    counts = count_scores(data, low, high)
    sides_of = _by_outcome if data.has_outcomes else _alone
    sides = sides_of(data, counts, colours, names)
    top = max(1e-300, *(cases.max() for cases, *_ in sides))
    for cases, side, colour, name in sides:
        if cases.any():
            tops = np.where(cases > 0, side * cases, np.nan)
            strip.stairs(tops, counts.edges, fill=True, color=colour, lw=0.5)
        strip.text(
            1.01,
            0.5 + side * 0.28,
            name,
            transform=strip.transAxes,
            fontsize="x-small",
            color=style.INK,
            va="center",
        )
    strip.axhline(0, color=style.INK, lw=0.5)
    strip.set_xlim(low, high)
    strip.set_ylim(-1.1 * top, 1.1 * top)
    strip.spines[:].set_visible(False)
    strip.set_xticks([])
    strip.xaxis.set_visible(False)
    ticks = [0, top] if strips == 1 and not data.is_pseudo else []
    strip.set_yticks(ticks, [count(tick) for tick in ticks], fontsize="xx-small")
    strip.tick_params(axis="y", length=2, pad=1)
    strip.patch.set_visible(False)
    strip.set_label("scores")


def _by_outcome(
    data: CalibrationData,
    counts: ScoreCounts,
    colours: tuple[str, str],
    names: tuple[str, str] | None,
) -> list[Side]:
    """Events upwards, others downwards."""
    others = "without" if data.follow_up is None else "without, or left"
    told = names or (count(data.events, "event"), f"{count(data.n - data.events)} {others}")
    if data.is_pseudo and names is None:
        told = ("with the event", others)
    return [(counts.events, 1, colours[0], told[0]), (counts.non_events, -1, colours[1], told[1])]


def _alone(
    data: CalibrationData,
    counts: ScoreCounts,
    colours: tuple[str, str],
    names: tuple[str, str] | None,
) -> list[Side]:
    """All scores upwards."""
    told = names[0] if names else count(data.n, "score")
    return [(counts.events + counts.non_events, 1, colours[1], told)]
