"""An observed estimate beside what calibration, and the fitted curve, would produce."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import as_flag, check_type
from bayescal.plots import style
from bayescal.plots.text import count
from bayescal.validation.consistency import Consistency

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["consistency"]

BARS = 40
WIDTH = 62
ABOVE = 1.05
CONSISTENCY_ROOM = 1.2
SHORT_NAMES = {"ece": "ECE", "mce": "MCE", "debiased_ece": "Debiased ECE"}


def consistency(result: Consistency, ax: Axes | None = None, *, legend: bool = True) -> Axes:
    """Draw a consistency check.

    Two histograms of the estimator: on outcomes simulated as if the model were calibrated, and on
    outcomes simulated from the fitted curve. The line is the estimate on the data. The title gives
    the verdict.

    Parameters
    ----------
    result : Consistency
        From `bayescal.check_consistency`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    legend : bool
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on, for further changes.

    Raises
    ------
    InputError
        If `result` is not a Consistency.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
    >>> result = bc.check_consistency(bc.fit(y_true, y_prob, random_state=1))
    >>> ax = bc.plots.consistency(result)
    >>> ax.get_xlabel()
    'ECE in 300 cases'
    """
    check_type(result, Consistency, "result", "Pass what bayescal.check_consistency returns.")
    axes = style.as_axes(ax, 5, 3.4)
    edges = _edges(result)
    tops = [
        _draw_histogram(axes, values[~np.isnan(values)], edges, colour, label)
        for values, colour, label in (
            (result.under_calibration, style.NON_EVENTS, "If calibrated"),
            (result.under_posterior, style.CURVE, "If the fitted curve is true"),
        )
    ]
    axes.vlines(
        result.observed, 0, ABOVE * max(tops), color=style.EVENTS, lw=2, label="In the data"
    )
    _finish(
        axes, result, edges, CONSISTENCY_ROOM * max(tops) if as_flag(legend, "legend") else None
    )
    if legend:
        _draw_legend(axes)
    return axes


def _draw_histogram(ax: Axes, values: Floats, edges: Floats, colour: str, label: str) -> float:
    """Shares of the simulated data sets, a light fill under an outline; returns the highest."""
    share = np.histogram(values, edges)[0] / values.size
    ax.stairs(share, edges, fill=True, color=colour, alpha=0.25, lw=0, label=label)
    ax.stairs(share, edges, color=colour, lw=1.2)
    return float(share.max())


def _finish(ax: Axes, result: Consistency, edges: Floats, top: float | None) -> None:
    name = SHORT_NAMES.get(result.estimator, result.estimator)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0, top)
    ax.set_yticks([])
    ax.set_xlabel(f"{name} in {count(result.cases, 'case')}")
    ax.set_ylabel("Simulated data sets")
    ax.spines[["top", "right", "left"]].set_visible(False)
    verdict = "\n".join(wrap(result.verdict[0].upper() + result.verdict[1:], WIDTH))
    ax.set_title(f"{name} {result.observed:.3g}\n{verdict}", loc="left", fontsize="medium")


def _draw_legend(ax: Axes) -> None:
    """Draw the legend in the room above the histograms."""
    ax.legend(
        loc="upper center",
        ncols=3,
        fontsize="x-small",
        framealpha=0.8,
        edgecolor="none",
        handlelength=1.5,
        columnspacing=1.2,
        borderaxespad=0,
    )


def _edges(result: Consistency) -> Floats:
    """Edges of bars over both histograms and the line, from 0 unless a value is negative."""
    values = np.concatenate([result.under_calibration, result.under_posterior, [result.observed]])
    low, high = min(float(np.nanmin(values)), 0.0), float(np.nanmax(values))
    room = (high - low) / BARS or 0.01
    return np.linspace(low - room if low < 0 else 0.0, high + room, BARS + 1)
