"""What the figures share: colours that differ in hue and in grey, and the axes' look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescal.core.errors import InputError, check_type

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "CURVE",
    "DIAGONAL",
    "EVENTS",
    "INK",
    "LEGEND",
    "MODELS",
    "MODEL_LEGEND",
    "NON_EVENTS",
    "OVERLAYS",
    "SMALL_LEGEND",
    "TICKS",
    "Line",
    "as_axes",
    "as_panels",
    "new_axes",
    "probability_axes",
]

# From Okabe and Ito's palette, which colour-blind readers can tell apart. Greys from dark to light:
# ink, curve, diagonal, events, non-events.
CURVE = "#0072B2"
EVENTS = "#D55E00"
NON_EVENTS = "#999999"
DIAGONAL = "#666666"
INK = "#333333"


class Line(NamedTuple):
    """How a line looks: a colour, and dashes for readers who do not see it."""

    color: str
    ls: Any


MODELS = (
    Line(CURVE, "-"),
    Line("#D55E00", (0, (5, 1.5))),
    Line("#009E73", (0, (5, 1.5, 1, 1.5))),
    Line("#CC79A7", (0, (1.2, 1.2))),
    Line("#E69F00", (0, (8, 1.5, 1, 1.5, 1, 1.5))),
    Line(INK, (0, (3, 3))),
)
"""Lines of models in one figure, which differ in hue, in grey and in dashes."""

OVERLAYS = (
    Line("#D55E00", "-"),
    Line("#009E73", (0, (5, 1.5))),
    Line(INK, (0, (1.2, 1.2))),
    Line("#CC79A7", (0, (5, 1.5, 1, 1.5))),
)
"""Lines of smoothers drawn over a posterior."""

TICKS = 8
"""Most steps between ticks; a number that follows the size of the axes would move their labels."""

LEGEND: dict[str, Any] = {"fontsize": "medium", "framealpha": 0.8, "edgecolor": "none"}

SMALL_LEGEND: dict[str, Any] = {
    "fontsize": "x-small",
    "framealpha": 0.8,
    "edgecolor": "none",
    "handlelength": 1.5,
    "labelspacing": 0.3,
}

MODEL_LEGEND: dict[str, Any] = SMALL_LEGEND | {"handlelength": 3.2}
"""A legend whose handles are long enough to tell dashes apart."""


def new_axes(width: float, height: float) -> Axes:
    """Axes on a figure of their own."""
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(width, height), layout="constrained")
    return axes


def as_axes(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes to draw on: those given, or new ones."""
    return new_axes(width, height) if ax is None else _checked(ax, "ax")


def _checked(ax: Any, name: str) -> Axes:
    from matplotlib.axes import Axes

    return check_type(ax, Axes, name, "Pass matplotlib's, or none for a new figure.")


def as_panels(axes: Any, needed: int, what: str) -> list[Axes]:
    """One axes, a sequence of them, or the array that matplotlib's `subplots` gives."""
    panels = list(np.atleast_1d(np.asarray(axes, dtype=object)).flat)
    if len(panels) != needed:
        raise InputError(
            f"axes holds {len(panels)}, but there are {needed} {what}. "
            "Give one each, or none for a new figure."
        )
    return [_checked(ax, f"axes[{at}]") for at, ax in enumerate(panels)]


def probability_axes(ax: Axes, low: float, high: float) -> None:
    """Make square axes for predicted against actual probabilities."""
    ax.set_xlim(low, high)
    ax.set_ylim(low, high)
    ax.set_aspect("equal")
    ax.set_xlabel("Predicted probability")
    ax.set_ylabel("Probability of the event")
    ax.spines[["top", "right"]].set_visible(False)
