"""A strip beneath the axes: how probable it is that the curve is on the diagonal, by score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["draw_on_diagonal"]

POINTS = 201
GAP, HEIGHT = 0.012, 0.03
PAD = 15  # points that tick labels move down to make room


def draw_on_diagonal(ax: Axes, post: CalibrationPosterior) -> None:
    """Draw the strip, from white (surely off) to dark (surely on), and its legend entry.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Whose range of scores is drawn.
    post : CalibrationPosterior
        Of `pieces`, or averaged.
    """
    from matplotlib.colors import LinearSegmentedColormap

    observed = post.data.score
    edges = np.linspace(observed.min(), observed.max(), POINTS + 1)
    if edges[0] == edges[-1]:
        edges = np.array([edges[0] - 0.01, edges[0] + 0.01])
    middle = np.clip((edges[:-1] + edges[1:]) / 2, 0, 1)
    probability = post.prob_on_diagonal(middle).to_numpy()
    strip = ax.inset_axes((0, -GAP - HEIGHT, 1, HEIGHT), sharex=ax)
    strip.pcolormesh(
        edges,
        [0, 1],
        probability[None, :],
        cmap=LinearSegmentedColormap.from_list("on", ["white", style.CURVE]),
        vmin=0,
        vmax=1,
        edgecolors="face",
        linewidth=0.4,
    )
    strip.set_facecolor(style.NON_EVENTS)
    strip.set_yticks([])
    strip.tick_params(axis="x", labelbottom=False, length=0)
    for spine in strip.spines.values():
        spine.set_linewidth(0.6)
    ax.tick_params(axis="x", pad=PAD, length=0)
    ax.plot([], [], "s", color=style.CURVE, label="Strip: P(on ideal), dark is 1")
