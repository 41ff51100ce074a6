"""Where a curve leaves the diagonal: ranges of scores, marked as a calibration belt marks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayescal.plots import style
from bayescal.plots.text import percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["Sides", "draw_sides", "sides_of"]

Ranges = list[tuple[float, float]]

FOOT, THICK = 0.006, 0.016
SIDES_LEAST = 0.004  # of the axes: what a range of one score is wide
SHOWN = 2


class Sides(NamedTuple):
    """Ranges of observed scores on one side of the diagonal.

    Attributes
    ----------
    above, below : list of (float, float)
        First and last observed score of each range.
    ci_prob : float
        Joint probability of the statement.
    """

    above: Ranges
    below: Ranges
    ci_prob: float


def sides_of(post: CalibrationPosterior, ci_prob: float) -> Sides:
    """Ranges in which `post.off_diagonal` puts every observed score on one side."""
    region = post.off_diagonal(ci_prob)
    score, side = region["score"].to_numpy(), region.to_numpy()
    starts = np.flatnonzero(np.diff(side, prepend=2))
    ends = np.append(starts[1:], side.size) - 1
    by_side: dict[int, Ranges] = {1: [], -1: [], 0: []}
    for start, end in zip(starts, ends, strict=True):
        by_side[int(side[start])].append((float(score[start]), float(score[end])))
    return Sides(by_side[1], by_side[-1], ci_prob)


def draw_sides(ax: Axes, sides: Sides) -> None:
    """Bars along the foot of the axes: filled where the curve is above, hollow where below."""
    low, high = ax.get_xlim()
    least = SIDES_LEAST * (high - low)
    for name, ranges, face in (
        ("Above", sides.above, style.EVENTS),
        ("Below", sides.below, "white"),
    ):
        if ranges:
            ax.broken_barh(
                [(first, max(last - first, least)) for first, last in ranges],
                (FOOT, THICK),
                transform=ax.get_xaxis_transform(),
                facecolor=face,
                edgecolor=style.EVENTS,
                lw=1,
                zorder=4,
                label=f"{name} ideal: {_as_text(ranges)}",
            )
    if not (sides.above or sides.below):
        ax.plot([], [], ls="", label=f"Nowhere off ideal ({percent(sides.ci_prob)} joint)")


def _as_text(ranges: Ranges) -> str:
    """Ranges as text, to two digits; at most two are listed."""
    texts = [
        f"{first:.2g}" if first == last else f"{first:.2g} to {last:.2g}"
        for first, last in ranges[:SHOWN]
    ]
    return ", ".join(texts) + (", ..." if len(ranges) > SHOWN else "")
