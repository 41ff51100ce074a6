"""The reliability diagram: how often the event happened, against how often it was predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayescal._validate import as_level
from bayescal.data import CalibrationData
from bayescal.errors import InputError
from bayescal.plots import _style
from bayescal.plots._bands import Bands, curve_bands, error_interval
from bayescal.plots._observed import Observed, count_scores, observed_proportions
from bayescal.plots._text import count, interval, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.posterior import CalibrationPosterior

__all__ = ["reliability"]

ROOM = 1.15
LEGEND_WIDTH = 0.55
STEPS = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def reliability(
    post: CalibrationPosterior,
    ax: Axes | None = None,
    *,
    ci_probs: Sequence[float] = (0.5, 0.95),
    bins: int | Literal["auto"] | None = "auto",
    limits: tuple[float, float] | Literal["auto", "full"] = "auto",
    p: float = 1,
    legend: bool = True,
) -> Axes:
    """Draw the reliability diagram of a fit.

    The posterior median of the calibration curve with pointwise bands, over the range of the
    observed scores; observed proportions in bins of about equally many cases, with Jeffreys
    intervals; and above, the scores of the cases with the event (up) and without it (down), each
    scaled to its own highest bar. The bins are drawn for comparison: the curve was not fitted to
    them. The title gives the true calibration error with its interval.

    Parameters
    ----------
    post : CalibrationPosterior
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    ci_probs : sequence of float in (0, 1)
        Probabilities of the bands. The widest also goes with the bins and the title.
    bins : int, "auto" or None
        How many bins of observed proportions, at most; None draws none.
    limits : {"auto", "full"} or pair of float
        Range of both axes. "full" is 0 to 1; "auto" is that too, unless all scores and observed
        proportions lie in one half: then it is the part from 0 (or up to 1) that holds them.
    p : float, at least 1
        Norm of the true calibration error in the title.
    legend : bool
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on, for further changes.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> ax = bc.plots.reliability(post)
    >>> ax.get_xlabel()
    'Predicted probability'
    """
    levels = _as_levels(ci_probs)
    widest = levels[0]
    bands = curve_bands(post, levels)
    observed = None if bins is None else observed_proportions(post.data, bins, widest)
    low, high = _as_limits(limits, bands, observed)
    error = error_interval(post, widest, p)

    axes = _new_axes() if ax is None else ax
    _style.probability_axes(axes, low, high)
    axes.plot([low, high], [low, high], color=_style.DIAGONAL, lw=1, ls="--", label="Ideal")
    _draw_curve(axes, bands, levels)
    if observed is not None:
        _draw_observed(axes, observed, widest)
    _draw_scores(axes, post.data, low, high)
    name = "TCE" if p == 1 else f"TCE (p = {p:g})"
    cases = f"{count(post.data.n, 'case')}, {count(post.data.events)} with the event"
    axes.set_title(f"{name} {interval(*error, widest)}\n{cases}", loc="left", fontsize="medium")
    if legend:
        _draw_legend(axes, bands, observed)
    return axes


def _draw_curve(ax: Axes, bands: Bands, levels: Sequence[float]) -> None:
    shades = np.linspace(0.18, 0.36, len(levels))
    for level, shade, lower, upper in zip(levels, shades, bands.lower, bands.upper, strict=True):
        ax.fill_between(
            bands.score,
            lower,
            upper,
            color=_style.CURVE,
            alpha=shade,
            lw=0,
            label=f"{percent(level)} band",
        )
    ax.plot(bands.score, bands.median, color=_style.CURVE, lw=2, label="Posterior median")


def _draw_observed(ax: Axes, observed: Observed, level: float) -> None:
    ends = [observed.proportion - observed.lower, observed.upper - observed.proportion]
    points, *_ = ax.errorbar(
        observed.score,
        observed.proportion,
        yerr=np.maximum(ends, 0),
        fmt="o",
        ms=4,
        mfc="white",
        mec=_style.INK,
        mew=0.8,
        ecolor=_style.INK,
        elinewidth=0.7,
        alpha=0.7,
        label=f"Observed, {percent(level)} interval",
    )
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    x, y = observed.score, observed.proportion
    if ((left <= x) & (x <= right) & (bottom <= y) & (y <= top)).all():
        points.set_clip_on(False)  # whole markers at 0 and 1


def _draw_scores(ax: Axes, data: CalibrationData, low: float, high: float) -> None:
    """A strip above the axes: scores of events upwards, of non-events downwards."""
    strip = ax.inset_axes((0, 1.02, 1, 0.13))
    counts = count_scores(data, low, high)
    width = np.diff(counts.edges)
    for cases, side, colour, name in (
        (counts.events, 1, _style.EVENTS, "event"),
        (counts.non_events, -1, _style.NON_EVENTS, "no event"),
    ):
        seen = cases > 0
        if seen.any():
            height = side * cases[seen] / cases.max()
            strip.bar(
                counts.edges[:-1][seen],
                height,
                width[seen],
                align="edge",
                color=colour,
                edgecolor=colour,
                lw=0.5,
            )
        strip.text(
            1.01,
            0.5 + side * 0.28,
            name,
            transform=strip.transAxes,
            fontsize="x-small",
            color=_style.INK,
            va="center",
        )
    strip.axhline(0, color=_style.INK, lw=0.5)
    strip.set_xlim(low, high)
    strip.set_ylim(-1.1, 1.1)
    strip.axis("off")
    strip.set_label("scores")


def _draw_legend(ax: Axes, bands: Bands, observed: Observed | None) -> None:
    """In the corner off the diagonal that curve and intervals leave freer."""
    x, lower, upper = [bands.score], [bands.lower[0]], [bands.upper[0]]
    if observed is not None:
        x, lower, upper = ([*x, observed.score], [*lower, observed.lower], [*upper, observed.upper])
    low, high = ax.get_xlim()
    place = (np.concatenate(x) - low) / (high - low)
    over_left = np.concatenate(upper)[place < LEGEND_WIDTH].max(initial=low)
    under_right = np.concatenate(lower)[place > 1 - LEGEND_WIDTH].min(initial=high)
    ax.legend(
        loc="upper left" if high - over_left >= under_right - low else "lower right",
        fontsize="x-small",
        framealpha=0.8,
        edgecolor="none",
        handlelength=1.5,
        labelspacing=0.3,
    )


def _new_axes() -> Axes:
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(figsize=(5, 5.6), layout="constrained")
    return axes


def _as_levels(ci_probs: Sequence[float]) -> list[float]:
    """Probabilities of the bands, the widest first, so that narrower ones are drawn over it."""
    levels = sorted({as_level(level, "ci_probs") for level in ci_probs}, reverse=True)
    if not levels:
        raise InputError("ci_probs is empty: give at least one probability, such as 0.95.")
    return levels


def _as_limits(
    limits: tuple[float, float] | str, bands: Bands, observed: Observed | None
) -> tuple[float, float]:
    if limits == "full":
        return 0.0, 1.0
    if limits == "auto":
        drawn = [bands.score, bands.median]
        if observed is not None:
            drawn.append(observed.proportion)
        values = np.concatenate(drawn)
        return _zoom(float(values.min()), float(values.max()))
    if isinstance(limits, str) or len(limits) != 2 or not 0 <= limits[0] < limits[1] <= 1:
        raise InputError(
            f"limits must be 'auto', 'full' or two numbers from 0 to 1 in order, got {limits!r}."
        )
    return float(limits[0]), float(limits[1])


def _zoom(lowest: float, highest: float) -> tuple[float, float]:
    """From 0 to a round number above what lies in the lower half, likewise the upper half."""
    if highest < 0.5:
        return 0.0, _round_up(ROOM * highest)
    if lowest > 0.5:
        return 1 - _round_up(ROOM * (1 - lowest)), 1.0
    return 0.0, 1.0


def _round_up(value: float) -> float:
    """The next of 1, 1.5, 2, 3, ... times a power of ten, at most 1."""
    if value <= 0:
        return 1.0
    scale = 10.0 ** np.floor(np.log10(value))
    step = next((step for step in STEPS if step * scale >= value), STEPS[-1])
    return float(min(step * scale, 1.0))
