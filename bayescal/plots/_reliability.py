"""The reliability diagram: how often the event happened, against how often it was predicted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from bayescal.core.errors import InputError, as_flag, as_levels
from bayescal.plots import style
from bayescal.plots._bands import Bands, curve_bands, error_interval
from bayescal.plots._legend import legend_beneath
from bayescal.plots._limits import as_limits
from bayescal.plots._observed import Observed, observed_of
from bayescal.plots._on_diagonal import draw_on_diagonal
from bayescal.plots._overlays import as_overlays, draw_overlays, smoother_at
from bayescal.plots._several import as_models, draw_models
from bayescal.plots._sides import draw_sides, sides_of
from bayescal.plots._strip import draw_scores
from bayescal.plots.text import count, interval, percent
from bayescal.posterior.posterior import as_posterior, check_outcomes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["reliability"]


def reliability(
    post: CalibrationPosterior | Mapping[str, CalibrationPosterior],
    ax: Axes | None = None,
    *,
    ci_probs: Sequence[float] = (0.5, 0.95),
    n_bins: int | Literal["auto"] | None = "auto",
    limits: tuple[float, float] | Literal["auto", "full"] = "auto",
    p: float = 1,
    legend: bool = True,
    overlay: str | Sequence[str] = (),
    off_diagonal: bool = False,
    on_diagonal: bool = False,
) -> Axes:
    """Draw the reliability diagram of a fit, or of several.

    The posterior mean of the calibration curve with pointwise bands, over the range of the
    observed scores; observed proportions in bins of about equally many cases, with Jeffreys
    intervals (of times to an event Kaplan-Meier by the horizon, with competing events
    Aalen-Johansen); and above, the scores of the cases
    with the event (up) and without it (down), on one scale of counts. The bins are shown for
    comparison: the curve is not fitted to them. The title gives the true calibration error with its
    interval. Of a site of which there are scores alone, there are no bins, and the strip has the
    scores upwards.

    Where there are few distinct scores, each of which can have a risk of its own, the curve is
    drawn as points with intervals at these.

    Several fits by name, of models or of groups, are drawn with the widest band each, and with
    their errors in the legend.

    Parameters
    ----------
    post : CalibrationPosterior or mapping of str to CalibrationPosterior
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    ci_probs : sequence of float in (0, 1)
        Probabilities of the bands. The widest also goes with the bins and the title.
    n_bins : int, "auto" or None
        How many bins of observed proportions, at most; None draws none, and neither does "auto"
        for several fits.
    limits : {"auto", "full"} or pair of float
        Range of both axes. "full" is 0 to 1; "auto" is that too, unless all scores and observed
        proportions lie in one half: then it is the part from 0 (or up to 1) that holds them.
    p : float, at least 1
        Norm of the true calibration error in the title.
    legend : bool
        Whether to draw a legend.
    overlay : str or sequence of str
        Smoothers to draw as thin lines: "smooth", that of SmoothECE, or one that
        `bayescal.estimators.flexible_curve` knows, such as "isotonic" and "loess".
    off_diagonal : bool
        Whether to mark the scores at which the curve leaves the diagonal, by
        `post.off_diagonal`: one joint statement, with the probability of the widest band.
    on_diagonal : bool
        Whether to draw a strip beneath: by score, how probable it is that the curve is exactly on
        the diagonal, from white to dark; of an averaged posterior, or of `pieces`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on, for further changes.

    Raises
    ------
    InputError
        If an argument is out of range, overlays or marks are asked of several fits, or bins or
        overlays of a fit that has no outcomes.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> ax = bc.plots.reliability(post)
    >>> ax.get_xlabel()
    'Predicted probability'

    One curve a group:

    >>> groups = ["north", "south"] * 100
    >>> data = bc.CalibrationData(y_true, y_prob, site=groups)
    >>> fits = {name: bc.fit(data.select(name), random_state=1) for name in data.groups}
    >>> ax = bc.plots.reliability(fits)
    """
    levels, smoothers = _as_levels(ci_probs), as_overlays(overlay)
    as_flag(off_diagonal, "off_diagonal")
    as_flag(on_diagonal, "on_diagonal")
    widest = levels[0]
    if isinstance(post, Mapping):
        if smoothers or off_diagonal or on_diagonal:
            raise InputError(
                "overlay, off_diagonal and on_diagonal are for one fit: draw each model on axes of "
                "its own."
            )
        several = as_models(post)
        counted = None if isinstance(n_bins, str) and n_bins == "auto" else n_bins
        return draw_models(ax, several, widest, counted, limits, p, legend)
    bands = curve_bands(as_posterior(post), levels)
    if smoothers:
        check_outcomes(post, "overlay")
    observed = observed_of(post, n_bins, widest)
    drawn = [bands.score, bands.mean, *(() if observed is None else (observed.proportion,))]
    low, high = as_limits(limits, np.concatenate(drawn))
    error = error_interval(post, widest, p)
    lines = {name: smoother_at(post.problem.unclustered, name, bands.score) for name in smoothers}
    sides = sides_of(post, widest) if off_diagonal else None

    axes = style.as_axes(ax, 5, 6)
    style.probability_axes(axes, low, high)
    axes.plot([low, high], [low, high], color=style.DIAGONAL, lw=1, ls="--", label="Ideal")
    _draw_curve(axes, bands, levels)
    if observed is not None:
        _draw_observed(axes, observed, widest, _observed_by(post))
    draw_overlays(axes, lines, bands.score)
    if sides is not None:
        draw_sides(axes, sides)
    if on_diagonal:
        draw_on_diagonal(axes, post)
    draw_scores(axes, post.data)
    name = "TCE" if p == 1 else f"TCE (p = {p:g})"
    title = f"{name} {interval(*error, widest)}\n{_cases(post)}"
    axes.set_title(title, loc="left", fontsize="medium")
    if as_flag(legend, "legend"):
        legend_beneath(axes, strip=bool(on_diagonal))
    return axes


def _cases(post: CalibrationPosterior) -> str:
    if not post.has_outcomes:
        return f"{count(post.data.n, 'score')}, without outcomes"
    followed = post.data.follow_up
    if post.data.is_pseudo and followed is None:
        return f"Sampling weights worth {post.data.effective_size:,.1f} cases"
    told = f"{count(post.data.n, 'case')}, {count(post.data.events)} with the event"
    if followed is None:
        return told
    other = f"{count(followed.competing)} with a competing one, " if followed.competing else ""
    return f"{told} by {followed.horizon:g}, {other}{count(followed.censored)} left before"


def _draw_curve(ax: Axes, bands: Bands, levels: Sequence[float]) -> None:
    shades = np.linspace(0.18, 0.36, len(levels))
    if bands.at_scores:
        widths = np.linspace(4, 9, len(levels))
        ends = zip(levels, shades, widths, bands.lower, bands.upper, strict=True)
        for level, shade, width, lower, upper in ends:
            told = f"{percent(level)} interval"
            look = {"color": style.CURVE, "alpha": 1.6 * shade, "lw": width, "label": told}
            ax.vlines(bands.score, lower, upper, capstyle="butt", clip_on=False, **look)
        look = {"color": style.CURVE, "lw": 0.8, "ls": ":", "marker": "s", "ms": 4}
        ax.plot(bands.score, bands.mean, label="Posterior mean", clip_on=False, **look)
        return
    for level, shade, lower, upper in zip(levels, shades, bands.lower, bands.upper, strict=True):
        ax.fill_between(
            bands.score,
            lower,
            upper,
            color=style.CURVE,
            alpha=shade,
            lw=0,
            label=f"{percent(level)} band",
        )
    ax.plot(bands.score, bands.mean, color=style.CURVE, lw=2, label="Posterior mean")


def _observed_by(post: CalibrationPosterior) -> str:
    """How the observed risks of groups were estimated."""
    followed = post.data.follow_up
    if followed is None:
        return "Observed"
    return "Aalen-Johansen" if followed.competing else "Kaplan-Meier"


def _draw_observed(ax: Axes, observed: Observed, level: float, what: str) -> None:
    ends = [observed.proportion - observed.lower, observed.upper - observed.proportion]
    points, *_ = ax.errorbar(
        observed.score,
        observed.proportion,
        yerr=np.maximum(ends, 0),
        fmt="o",
        ms=4,
        mfc="white",
        mec=style.INK,
        mew=0.8,
        ecolor=style.INK,
        elinewidth=0.7,
        alpha=0.7,
        label=f"{what}, {percent(level)} interval",
    )
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    x, y = observed.score, observed.proportion
    if ((left <= x) & (x <= right) & (bottom <= y) & (y <= top)).all():
        points.set_clip_on(False)  # whole markers at 0 and 1


def _as_levels(ci_probs: Sequence[float]) -> list[float]:
    """Probabilities of the bands, the widest first, so that narrower ones are drawn over it."""
    levels = sorted(set(as_levels(ci_probs, "ci_probs")), reverse=True)
    if not levels:
        raise InputError("ci_probs is empty: give at least one probability, such as 0.95.")
    return levels
