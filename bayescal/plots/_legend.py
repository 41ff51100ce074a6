"""Where a legend hides least."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayescal._base.arrays import Floats
from bayescal.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["legend_off_diagonal"]

LEGEND_WIDTH = 0.55


def legend_off_diagonal(
    ax: Axes, x: Floats, lower: Floats, upper: Floats, *, look: dict[str, Any] | None = None
) -> None:
    """Draw the legend in the corner off the diagonal that curves and intervals leave freer.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
    x, lower, upper : ndarray of one shape
        What is drawn, from `lower` to `upper` at each `x`.
    look : dict, optional
        Options of the legend.
    """
    low, high = ax.get_xlim()
    fraction = (x - low) / (high - low)
    over_left = upper[fraction < LEGEND_WIDTH].max(initial=low)
    under_right = lower[fraction > 1 - LEGEND_WIDTH].min(initial=high)
    place_is_left = high - over_left >= under_right - low
    ax.legend(loc="upper left" if place_is_left else "lower right", **(look or style.SMALL_LEGEND))
