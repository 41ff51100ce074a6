"""A histogram of draws of a functional, with its interval and a region."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.plots import style
from bayescal.plots._legend import legend_beneath
from bayescal.plots._names import axis_label, ideal
from bayescal.plots._shares import Shares, edges_over, shares_of
from bayescal.plots.text import chance, percent
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["as_text", "histogram"]

PICTURE_BELOW = -0.09
TOP = 1.08


def histogram(
    values: Floats,
    name: str,
    numbers: tuple[float, float, float],
    level: float,
    region: tuple[float, float] | None = None,
    ax: Axes | None = None,
    has_exact: bool = True,
    legend: bool = False,
) -> Axes:
    """Draw these draws of a functional, with estimate, lower and upper end and a region."""
    estimate, *ends = numbers
    floor = 0.0 if FUNCTIONALS[name].is_distance else -np.inf
    edges = edges_over(values, ideal(name), (*ends, *(region or ())), floor)
    shares = shares_of(values, edges, ideal(name))

    axes = style.as_axes(ax, 5, 3.4)
    if region is not None:
        label = as_text(region, name).capitalize()
        axes.axvspan(*region, color=style.NON_EVENTS, alpha=0.25, lw=0, label=label)
    share = f"No error: {chance(shares.atom)} of the draws"
    _draw_shares(axes, shares, ideal(name), share if has_exact else "Exactly calibrated")
    _draw_interval(axes, estimate, (ends[0], ends[1]), level)
    shown = [*edges[[0, -1]], *(region or ())]
    axes.set_xlim(min(shown) - 0.02 * np.ptp(shown), max(shown))
    axes.set_ylim(2 * PICTURE_BELOW, TOP)
    axes.locator_params(axis="x", nbins=6)
    axes.set_yticks([])
    axes.set_xlabel(axis_label(name))
    axes.spines[["top", "right", "left"]].set_visible(False)
    if legend:
        legend_beneath(axes, columns=3)
    return axes


def _draw_shares(ax: Axes, shares: Shares, at: float, label: str) -> None:
    """Draw bars, scaled so that the highest is the probability of all bars together, and a stem."""
    if shares.share.any():
        height = shares.share * (1 - shares.atom) / shares.share.max()
        ax.stairs(height, shares.edges, fill=True, color=style.CURVE, alpha=0.45, lw=0)
        ax.stairs(height, shares.edges, color=style.CURVE, lw=1.2)
    if shares.atom:
        stem: dict[str, Any] = {"color": style.EVENTS, "zorder": 3}
        ax.vlines(at, 0, shares.atom, lw=2.5, label=label, **stem)
        ax.plot(at, shares.atom, "D", ms=6, clip_on=False, **stem)


def _draw_interval(ax: Axes, estimate: float, ends: tuple[float, float], level: float) -> None:
    ax.axhline(0, color=style.INK, lw=0.6)
    label = f"{percent(level)} credible interval"
    ax.plot(ends, [PICTURE_BELOW] * 2, color=style.INK, lw=3, solid_capstyle="butt", label=label)
    dot: dict[str, Any] = {"color": "white", "mec": style.INK, "ms": 6, "clip_on": False, "ls": ""}
    ax.plot(estimate, PICTURE_BELOW, marker="o", label="Estimate", **dot)


def as_text(region: tuple[float, float], name: str) -> str:
    """A region in words."""
    if FUNCTIONALS[name].is_distance and region[0] == 0:
        return f"below {region[1]:g}"
    return f"{region[0]:g} to {region[1]:g}"
