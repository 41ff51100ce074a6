"""The smooth reliability diagram of Błasiok and Nakkiran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import Floats, RandomState
from bayescal.core.errors import as_flag
from bayescal.core.text import documented
from bayescal.estimators.registry import OutcomesLike
from bayescal.estimators.smooth import SmoothReliability
from bayescal.estimators.smooth import smooth_reliability as numbers_of
from bayescal.plots import style
from bayescal.plots._legend import legend_beneath
from bayescal.plots._limits import as_limits
from bayescal.plots.text import percent, rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["smooth_reliability"]

SMOOTH_GRID = 401
THINNEST, THICKEST = 0.4, 9.0
"""Width of the curve, in points, where there are no scores and where they are densest."""
VISIBLE, DRAWN = 0.02, 1e-3
"""Shares of the largest density from which scores are in the range of the axes, and are drawn."""
EDGE_GAP, EDGE_HEIGHT = 0.012, 0.1


@documented
def smooth_reliability(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    limits: tuple[float, float] | Literal["auto", "full"] = "full",
    method: str = "basic",
    ci_prob: float = 0.95,
    n_resamples: int = 200,
    legend: bool = True,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Axes:
    """Draw the smooth reliability diagram: the mean outcome around each score, without bins.

    The curve is as wide as the scores are dense, so that its distance from the diagonal, weighed by
    its width, is the error. The band is the range of the curve over resamples of the cases. At the
    upper edge stands the density of the scores of the cases with the event, at the lower edge that
    of the others, on one scale. The legend gives SmoothECE with its interval. `bayescal.estimators.
    smooth_reliability` has the numbers, and says what they are.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or CalibrationData
        Outcomes, 0 or 1. A table stands for outcomes, scores and weights.
    %(scores)s
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    limits : {"full", "auto"} or pair of float
        Range of both axes. "full" is 0 to 1; "auto" is the half of it, or less, that holds the
        scores and the curve, if one does.
    method : {"basic", "percentile", "bca"}
        Of the interval of SmoothECE.
    ci_prob : float in (0, 1)
        Probability of the interval, and share of the resamples in the band.
    n_resamples : int
        Number of resamples of the cases, at least 100.
    legend : bool
        Whether to draw a legend.
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases, or sampling weights.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Equal seeds draw equal figures.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on, for further changes.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, there is but one case,
        or an option is out of range.

    References
    ----------
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> ax = bc.plots.smooth_reliability(y_true, y_prob, random_state=1)
    >>> ax.get_xlabel()
    'Predicted probability'
    """
    shown = numbers_of(
        y_true,
        y_prob,
        grid=np.linspace(0, 1, SMOOTH_GRID),
        method=method,
        ci_prob=ci_prob,
        n_resamples=n_resamples,
        sample_weight=sample_weight,
        random_state=random_state,
    )
    dense = shown.density >= VISIBLE * shown.density.max()
    low, high = as_limits(limits, np.concatenate([shown.score[dense], shown.outcome[dense]]))
    axes = style.as_axes(ax, 5, 6.2)
    style.probability_axes(axes, low, high)
    axes.plot([low, high], [low, high], color=style.DIAGONAL, lw=1, ls="--", label="Ideal")
    axes.fill_between(
        shown.score,
        shown.lower,
        shown.upper,
        where=shown.density >= DRAWN * shown.density.max(),
        color=style.CURVE,
        alpha=0.22,
        lw=0,
        label=f"{percent(shown.ci_prob)} of bootstrap curves",
    )
    _draw_curve(axes, shown)
    top = max(shown.event_density.max(), shown.non_event_density.max())
    _draw_edge(axes, shown.score, shown.event_density / top, style.EVENTS, "events", True)
    _draw_edge(axes, shown.score, shown.non_event_density / top, style.NON_EVENTS, "others", False)
    axes.spines["bottom"].set_position(("axes", -EDGE_GAP - EDGE_HEIGHT))
    axes.plot([], [], ls="", label=_error(shown))
    if as_flag(legend, "legend"):
        legend_beneath(axes, columns=2, foot=EDGE_GAP + EDGE_HEIGHT)
    return axes


def _draw_curve(ax: Axes, shown: SmoothReliability) -> None:
    """The curve, each piece as wide as the density at its middle."""
    from matplotlib.collections import LineCollection

    points = np.stack([shown.score, shown.outcome], axis=1)
    middle = (shown.density[1:] + shown.density[:-1]) / 2 / shown.density.max()
    pieces = np.stack([points[:-1], points[1:]], axis=1)[middle >= DRAWN]
    middle = middle[middle >= DRAWN]
    ax.add_collection(
        LineCollection(
            list(pieces),
            linewidths=THINNEST + (THICKEST - THINNEST) * middle,
            colors=style.CURVE,
            capstyle="round",
            label="Smoothed outcomes, as wide as scores are dense",
        ),
        autolim=False,
    )


def _draw_edge(
    ax: Axes, score: Floats, height: Floats, colour: str, name: str, upwards: bool
) -> None:
    """A density outside the upper or the lower edge of the axes, with its foot at the edge."""
    foot = 1 + EDGE_GAP if upwards else -EDGE_GAP - EDGE_HEIGHT
    edge = ax.inset_axes((0, foot, 1, EDGE_HEIGHT), sharex=ax)
    edge.fill_between(score, height, color=colour, lw=0)
    edge.set_ylim((0, 1) if upwards else (1, 0))
    edge.axis("off")
    edge.text(
        1.01,
        0.35 if upwards else 0.65,
        name,
        transform=edge.transAxes,
        fontsize="x-small",
        color=style.INK,
        va="center",
    )
    edge.set_label(name)


def _error(shown: SmoothReliability) -> str:
    """SmoothECE with its interval, as text."""
    interval = shown.smooth_ece
    numbers = (interval.estimate, interval.lower, interval.upper)
    estimate, lower, upper = rounded(numbers, interval.lower, interval.upper)
    return f"SmoothECE {estimate} ({percent(interval.ci_prob)} interval {lower} to {upper})"
