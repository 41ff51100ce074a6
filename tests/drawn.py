"""What an axes shows, by its labels."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.lines import Line2D


def labelled(ax: Axes, label: str) -> Line2D:
    """The one line of that label."""
    (actual,) = [line for line in ax.get_lines() if line.get_label() == label]
    return actual


def legend(ax: Axes) -> list[str]:
    """The texts of the legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]
