"""A legend that covers nothing: beneath the axes and their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayescal.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["legend_beneath"]

BENEATH = 36.0  # points, for ticks and label of the axis
STRIP = 15.0


def legend_beneath(
    ax: Axes,
    *,
    columns: int = 3,
    look: dict[str, Any] | None = None,
    strip: bool = False,
    foot: float = 0.0,
) -> None:
    """Draw the legend beneath the axes, where no curve can run.

    Parameters
    ----------
    look : dict, optional
        Options of the legend.
    strip : bool
        Whether a strip beneath the axes moves the labels down.
    foot : float
        Where the axis with the labels is, as a share of the axes' height below them.
    """
    from matplotlib.transforms import ScaledTranslation

    down = ScaledTranslation(0, -(BENEATH + STRIP * strip) / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -foot),
        bbox_transform=ax.transAxes + down,
        borderaxespad=0,
        ncols=columns,
        **(look or style.SMALL_LEGEND),
    )
