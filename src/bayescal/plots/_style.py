"""What the figures share: colours that differ in hue and in grey, and the axes' look."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CURVE", "DIAGONAL", "EVENTS", "INK", "NON_EVENTS", "probability_axes"]

# From Okabe and Ito's palette, which colour-blind readers can tell apart. Greys from dark to light:
# ink, curve, diagonal, events, non-events.
CURVE = "#0072B2"
EVENTS = "#D55E00"
NON_EVENTS = "#999999"
DIAGONAL = "#666666"
INK = "#333333"


def probability_axes(ax: Axes, low: float, high: float) -> None:
    """Make square axes for predicted against actual probabilities."""
    ax.set_xlim(low, high)
    ax.set_ylim(low, high)
    ax.set_aspect("equal")
    ax.set_xlabel("Predicted probability")
    ax.set_ylabel("Probability of the event")
    ax.spines[["top", "right"]].set_visible(False)
