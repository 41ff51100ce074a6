"""The reliability diagram: how often the event happened, against how often it was predicted.

One function draws every curve, whoever's it is: `_draw_curve`. The others are layers around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import Floats, RandomState
from bayescal.core.errors import (
    InputError,
    as_count,
    as_flag,
    as_items,
    as_level,
    as_levels,
    check_choice,
)
from bayescal.core.text import Measured, count, documented, interval, percent, told_apart
from bayescal.data.table import CalibrationData
from bayescal.data.weights import quantile
from bayescal.estimators import binned, smooth
from bayescal.estimators.registry import OutcomesLike
from bayescal.estimators.smoothers import flexible_curve
from bayescal.plots import style
from bayescal.plots._forest import groups_of
from bayescal.plots._numbers import (
    BARS,
    Bands,
    Observed,
    ScoreCounts,
    as_models,
    count_scores,
    curve_bands,
    error_interval,
    observed_of,
)
from bayescal.plots.style import Line, Scale
from bayescal.plots.text import label, short_name
from bayescal.posterior.posterior import as_posterior, check_outcomes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.multilevel.posterior import MultilevelPosterior
    from bayescal.posterior.posterior import CalibrationPosterior

SMOOTHERS = {
    "smooth": "SmoothECE's curve",
    "isotonic": "Isotonic (CORP)",
    "loess": "Loess",
    "lowess": "Lowess",
    "rcs": "Restricted cubic spline",
    "logistic": "Logistic recalibration",
    "beta": "Beta recalibration",
}

# Events are rare below this mean score; the axis is bent where half of the cases stand in this
# share of it.
RARE, ROOT_BELOW, LOG_BELOW = 0.1, 0.2, 0.01
# Share of the cases that may have scores below a log axis.
SMALLEST_SHARE = 0.005

# Strips of scores beneath the axes, as shares of their height; of several models together.
GAP, HEIGHT, SEVERAL_HEIGHT = 0.02, 0.15, 0.3
# From the baseline of a strip to its edges, where its highest bar is 1.
ROOM = 1.08
STRIP_NAME = 12
DIAGONAL_POINTS, DIAGONAL_HEIGHT = 201, 0.03
# Where marks off the diagonal stand, how thick and how wide they are at least, as shares of the
# axes, and how many ranges of scores are named.
FOOT, THICK, SIDES_LEAST, SIDES_SHOWN = 0.006, 0.016, 0.004, 2

SMOOTH_GRID = 401
# Width of the smooth curve, in points, where there are no scores and where they are densest.
THINNEST, THICKEST = 0.8, 9.0
# Shares of the largest density from which scores are in the range of the axes, and are drawn.
VISIBLE, DRAWN = 0.02, 1e-3
# Opacity of a bar without cases, and of the one with the most.
LIGHTEST, DARKEST = 0.12, 0.75
MOST_RISK_BINS = 1000
PANELS_A_ROW = 3
# Characters that stand above a panel.
LONGEST_ABOVE = 24

Limits = tuple[float, float] | Literal["auto", "full"]


def reliability(
    post: CalibrationPosterior | Mapping[str, CalibrationPosterior],
    ax: Axes | None = None,
    *,
    ci_probs: Sequence[float] = (0.5, 0.95),
    n_bins: int | Literal["auto"] | None = "auto",
    limits: Limits = "auto",
    scale: Scale | Literal["auto"] = "auto",
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
    Aalen-Johansen); and beneath, the scores of the cases with the event (up) and without it (down),
    each as high as its own highest bar, so that rare events are seen. The bins are shown for
    comparison: the curve is not fitted to them. The title gives the true calibration error with its
    interval. Of a site of which there are scores alone, there are no bins, and the scores stand
    upwards.

    Curves that can have steps, as in an average over families, are smoothed over the nearest cases
    before mean and bands are taken, and the legend says over how many. Where there are few distinct
    scores, each of which can have a risk of its own, the curve is drawn as points with intervals at
    these.

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
    scale : {"auto", "linear", "root", "log"}
        Of both axes. "auto" is linear, unless events are rare (a mean score below 0.1) and half of
        the cases would stand in the first fifth of the axis ("root") or in its first hundredth
        ("log").
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
    levels, smoothers = _as_levels(ci_probs), _as_overlays(overlay)
    marks = as_flag(off_diagonal, "off_diagonal"), as_flag(on_diagonal, "on_diagonal")
    models, several = as_models(post), isinstance(post, Mapping)
    if several and (smoothers or any(marks)):
        raise InputError(
            "overlay, off_diagonal and on_diagonal are for one fit: draw each model on axes of "
            "its own."
        )
    one, widest = next(iter(models.values())), levels[0]
    if smoothers:
        check_outcomes(one, "overlay")
    shown = levels[:1] if several else levels
    counted = None if several and isinstance(n_bins, str) and n_bins == "auto" else n_bins
    bands = [curve_bands(each, shown, smoothed=True) for each in models.values()]
    seen = [observed_of(each, counted, widest) for each in models.values()]
    errors = [interval(*error_interval(each, widest, p), widest) for each in models.values()]
    named = f"{short_name('tce', p=p)} "
    drawn = [part for band in bands for part in (band.score, band.mean)]
    drawn += [observed.proportion for observed in seen if observed is not None]
    at = bands[0].score
    low, high, bend = _axes_of(models.values(), limits, scale, np.concatenate(drawn))
    lines = {name: smoother_at(one.problem.unclustered, name, at) for name in smoothers}
    sides = _sides_of(one, widest) if marks[0] else None

    size = (5.4, 7.8 + 0.25 * len(models)) if several else (5.0, 6.2)
    axes = style.as_axes(ax, *size, right=0.9 if several else 0.84)
    style.probability_axes(axes, low, high, bend)
    _draw_diagonal(axes, low, high)
    for look, name, band, observed, error in zip(
        style.MODELS, models, bands, seen, errors, strict=False
    ):
        told = f"{name}: {named}{error}" if several else "Posterior mean"
        _draw_curve(axes, band, look, told, () if several else levels)
        if observed is not None:
            _draw_observed(axes, observed, look if several else None, _observed_by(one, widest))
    for look, (name, values) in zip(style.OVERLAYS, lines.items(), strict=False):
        axes.plot(at, values, color=look.color, ls=look.ls, lw=1.2, label=SMOOTHERS[name])
    if sides is not None:
        _draw_sides(axes, *sides, widest)
    foot = _draw_on_diagonal(axes, one) if marks[1] else 0.0
    foot = _draw_scores(axes, models, foot, bend)
    share = 2 * max(band.share for band in bands)
    if share:
        axes.plot([], [], ls="", label=f"Smoothed: {max(100 * share, 1):.0f} % of cases")
    title = (
        f"Means and {percent(widest)} bands" if several else f"{named}{errors[0]}\n{_cases(one)}"
    )
    style.titled(axes, title)
    if as_flag(legend, "legend"):
        handle = 3.2 if several else 1.5
        style.legend_beneath(axes, columns=1 if several else 3, foot=foot, handlelength=handle)
    return axes


def site_curves(
    post: MultilevelPosterior,
    axes: Axes | list[Axes] | None = None,
    *,
    ci_prob: float = 0.95,
) -> list[Axes]:
    """Draw the calibration curve of every site, period or level beside that of the average.

    Parameters
    ----------
    post : MultilevelPosterior
        Of at most 60 sites, periods or levels.
    axes : matplotlib.axes.Axes or sequence of them, optional
        One a curve; by default on a new figure.
    ci_prob : float in (0, 1)
        Probability of the bands.

    Returns
    -------
    list of matplotlib.axes.Axes
        One a curve, in the order of the labels.

    Raises
    ------
    InputError
        If the posterior is of one curve, or there are not as many axes as curves.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> post = bc.fit(y_true, y_prob, site=np.resize(["A", "B", "C"], 300), random_state=1)
    >>> [ax.get_title(loc="left") for ax in bc.plots.site_curves(post)]
    ['A (100 cases)', 'B (100 cases)', 'C (100 cases)']
    """
    from bayescal.multilevel.compared import known_of

    groups, level = groups_of(post), as_level(ci_prob)
    views = {group.level: post.at(group.levels) for group in groups}
    bands = {name: curve_bands(view, [level]) for name, view in views.items()}
    panels = style.as_panels(axes, len(views), "sites", lambda: _small_multiples(len(views), level))
    high = max(max(band.score.max(), band.upper.max()) for band in bands.values())
    high = min(1.0, np.ceil(high * 10) / 10)
    grid = np.linspace(0.001, min(high, 0.999), 100)
    names, _ = told_apart(list(views), LONGEST_ABOVE)
    average = post.average().curve(grid).mean(("chain", "draw"))
    for panel, (name, view) in zip(panels, views.items(), strict=True):
        style.probability_axes(panel, 0, high)
        _draw_diagonal(panel, 0, high)
        panel.plot(grid, average, color=style.EVENTS, lw=1.2, ls=style.MODELS[1].ls)
        _draw_curve(panel, bands[name], style.MODELS[0], "")
        cases = known_of(post.problem, name, view)[0]["cases"]
        known = [count(cases, "case")] if np.isfinite(cases) else []
        size = ", ".join([*known, *([] if view.has_outcomes else ["summary"])])
        shown = label(names[name])
        between = " " if len(f"{shown} ({size})") <= LONGEST_ABOVE else "\n"
        style.titled(panel, f"{shown}{between}({size})")
        panel.set(xlabel="", ylabel="")
        panel.tick_params(labelsize=style.small(0.8))
    return panels


@documented
def smooth_reliability(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    limits: Limits = "full",
    method: str = "basic",
    ci_prob: float = 0.95,
    n_resamples: int = 200,
    legend: bool = True,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Axes:
    """Draw the smooth reliability diagram: the mean outcome around each score, without bins.

    The curve is as wide as the scores are dense, so that its distance from the diagonal, weighed by
    its width, is the error. The band is the range of the curve over resamples of the cases. Beneath
    are the densities of the scores of the cases with the event (up) and of the others (down), each
    as high as its own highest value. The legend gives SmoothECE with its interval.
    `bayescal.estimators.smooth_reliability` has the numbers, and says what they are.

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
    shown = smooth.smooth_reliability(
        y_true,
        y_prob,
        grid=np.linspace(0, 1, SMOOTH_GRID),
        method=method,
        ci_prob=ci_prob,
        n_resamples=n_resamples,
        sample_weight=sample_weight,
        random_state=random_state,
    )
    score, density = shown.score, shown.density / shown.density.max()
    dense = density >= VISIBLE
    low, high = style.as_limits(limits, np.concatenate([score[dense], shown.outcome[dense]]))
    axes = style.as_axes(ax, 5, 6.2)
    style.probability_axes(axes, low, high)
    _draw_diagonal(axes, low, high)
    band, ends = f"{percent(shown.ci_prob)} of bootstrap curves", (shown.lower, shown.upper)
    look: dict[str, Any] = {"color": style.CURVE, "alpha": style.BAND_SHADE, "lw": 0}
    axes.fill_between(score, *ends, where=density >= DRAWN, label=band, **look)
    _draw_as_wide(axes, score, shown.outcome, density)
    step = 0.5 / (SMOOTH_GRID - 1)
    edges = np.linspace(-step, 1 + step, SMOOTH_GRID + 1)
    sides = ScoreCounts(edges, shown.event_density, shown.non_event_density)
    foot = GAP + HEIGHT
    _mirror(axes, (-foot, HEIGHT), sides, (style.EVENTS, style.NON_EVENTS), ("events", "others"))
    style.move_down(axes, foot)
    error = shown.smooth_ece
    numbers = Measured(error.estimate, error.lower, error.upper)
    told = numbers.told(of=f"{percent(error.ci_prob)} interval ")
    axes.plot([], [], ls="", label=f"SmoothECE {told}")
    if as_flag(legend, "legend"):
        style.legend_beneath(axes, columns=2, foot=foot)
    return axes


@documented
def binned_reliability(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    n_bins: int | Literal["cross-validated"] = "cross-validated",
    most_bins: int = 50,
    n_folds: int = 10,
    ci_prob: float = 0.95,
    legend: bool = True,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Axes:
    """Draw the binned reliability diagram: the mean outcome in bins of equal width.

    Bars are as dark as there are cases in them; points are the mean scores and outcomes, with
    Jeffreys intervals. The number of bins is by default the one that predicts outcomes best in
    cross-validation, as in the binned diagrams of Błasiok and Nakkiran. `bayescal.estimators.
    binned_reliability` has the numbers, and says what they are.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,), or CalibrationData
        Outcomes, 0 or 1. A table stands for outcomes, scores and weights.
    %(scores)s
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    n_bins : int or "cross-validated"
        Number of bins.
    most_bins : int
        Numbers of bins from 1 to this are compared, at most 1000.
    n_folds : int
        Parts of the cases that are left out in turn.
    ci_prob : float in (0, 1)
        Probability of the interval of each bin.
    legend : bool
        Whether to draw a legend.
    sample_weight : array-like of shape (n_samples,), optional
        Counts of cases, or sampling weights.
    random_state : int, numpy.random.Generator, numpy.random.RandomState or None
        Decides which cases are left out together.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on, for further changes.

    %(refuses)s

    References
    ----------
    Błasiok & Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", ICLR
    2024, section 6.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> ax = bc.plots.binned_reliability(y_true, y_prob, random_state=1)
    >>> ax.get_ylabel()
    'Probability of the event'
    """
    bins = binned.binned_reliability(
        y_true,
        y_prob,
        n_bins=n_bins,
        most_bins=most_bins,
        n_folds=n_folds,
        ci_prob=ci_prob,
        sample_weight=sample_weight,
        random_state=random_state,
    )
    axes = style.as_axes(ax, 5, 5.2)
    style.probability_axes(axes, 0, 1)
    _draw_diagonal(axes, 0, 1)
    filled = np.flatnonzero(bins.trials > 0)
    shade = LIGHTEST + (DARKEST - LIGHTEST) * bins.trials / bins.trials.max()
    for at in filled:
        look = {"fill": True, "color": style.NON_EVENTS, "alpha": shade[at], "lw": 0}
        axes.stairs(bins.outcome[at : at + 1], bins.edges[at : at + 2], **look)
    axes.plot([], [], "s", color=style.NON_EVENTS, label="Mean outcome, dark where cases are many")
    kept = (bins.score, bins.trials, bins.outcome, bins.outcome, bins.lower, bins.upper)
    seen = Observed(*(each[filled] for each in kept))
    _draw_observed(axes, seen, None, f"{percent(bins.ci_prob)} interval")
    chosen = ", cross-validated" if bins.candidates.size else ""
    axes.plot([], [], ls="", label=f"ECE {bins.ece:.3f} ({count(bins.n_bins, 'bin')}{chosen})")
    if as_flag(legend, "legend"):
        style.legend_beneath(axes, columns=2)
    return axes


def risk_distribution(
    post: CalibrationPosterior,
    axes: Sequence[Axes] | None = None,
    *,
    n_bins: int = 30,
    thresholds: Sequence[float] = (),
) -> list[Axes]:
    """Draw two histograms of the predicted risks: with the event above, without it beneath.

    Each bar is a share of the cases with that outcome, so that a rare outcome is as well seen as a
    common one. The histograms have the same bins and one scale.

    Parameters
    ----------
    post : CalibrationPosterior
        A fit. Its scores and outcomes are drawn, and no curve.
    axes : sequence of two matplotlib.axes.Axes, optional
        Of the cases with the event and of those without it; by default on a new figure.
    n_bins : int
        Number of bins from 0 to a round number above the highest score.
    thresholds : sequence of float
        Risks from which a patient is treated, marked by dashed lines.

    Returns
    -------
    list of matplotlib.axes.Axes

    Raises
    ------
    InputError
        If outcomes are not known, as of times to an event, or an argument is out of range.

    References
    ----------
    Van Calster et al. (2025), Lancet Digital Health 7, 100916.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> upper, lower = bc.plots.risk_distribution(post)
    >>> lower.get_xlabel()
    'Predicted risk'
    """
    of = as_posterior(post)
    bins = as_count(n_bins, "n_bins", maximum=MOST_RISK_BINS)
    marked = as_levels(thresholds, "thresholds")
    check_outcomes(of, "risk_distribution")
    if of.problem.of_times:
        raise InputError(
            "the risks by outcome are of outcomes that are known: some cases left before the "
            "horizon. Draw plots.reliability, whose strip has all risks."
        )
    data = of.problem.unclustered
    highest = style.round_up(float(data.score.max()))
    counts = count_scores(data, np.linspace(0, highest, bins + 1))
    sides = (
        (counts.events, style.EVENTS, "With the event"),
        (counts.non_events, style.NON_EVENTS, "Without the event"),
    )
    panels = style.as_panels(axes, 2, "outcomes", lambda: style.figure_of(2, 1, (5.4, 4.2)))
    shares = [100 * cases / max(cases.sum(), 1e-300) for cases, *_ in sides]
    for panel, share, (cases, colour, name) in zip(panels, shares, sides, strict=True):
        panel.stairs(share, counts.edges, fill=True, color=colour, lw=0)
        for threshold in marked:
            panel.axvline(threshold, color=style.DIAGONAL, lw=1, ls="--")
        panel.set_xlim(0, highest)
        panel.locator_params(axis="x", nbins=6)
        panel.set_ylim(0, 1.06 * max(float(each.max()) for each in shares))
        panel.set_ylabel("% of them")
        told = name if data.is_pseudo else f"{name} ({count(cases.sum())})"
        panel.text(0, 1.03, told, transform=panel.transAxes)
        style.bare(panel)
    panels[-1].set_xlabel("Predicted risk")
    panels[0].tick_params(axis="x", labelbottom=False)
    return panels


def _axes_of(
    models: Any, limits: Limits, scale: Scale | Literal["auto"], drawn: Floats
) -> tuple[float, float, Scale]:
    """Ends of the axes, and how they are bent: so that the cases have most of the room."""
    chosen: Any = check_choice(scale, ("auto", "linear", "root", "log"), "scale")
    low, high = style.as_limits(limits, drawn)
    score = np.concatenate([each.data.score for each in models])
    cases = np.concatenate([each.data.trials for each in models])
    if chosen == "auto":
        half = float(quantile(score, cases, 0.5)) / high
        rare = limits == "auto" and low == 0 and cases @ score < RARE * cases.sum()
        bend = "linear" if not rare or half >= ROOT_BELOW else "root"
        chosen = "log" if bend == "root" and half < LOG_BELOW else bend
    if chosen == "log" and low == 0:
        lowest = max(float(quantile(score, cases, SMALLEST_SHARE)), 1e-6 * high)
        low = float(min(10.0 ** np.floor(np.log10(lowest)), high / 10))
    return low, high, chosen


def _draw_diagonal(ax: Axes, low: float, high: float) -> None:
    ax.plot([low, high], [low, high], color=style.DIAGONAL, lw=1, ls="--", label="Ideal")


def _draw_curve(ax: Axes, bands: Bands, look: Line, told: str, named: Sequence[float] = ()) -> None:
    """A curve and its bands; at few scores points, with an interval at each.

    Parameters
    ----------
    told : str
        What the legend calls it.
    named : sequence of float
        Probabilities of the bands, which are then in the legend too.
    """
    several = len(bands.lower)
    shades = (
        np.linspace(0.18, 0.36, several) if several > 1 else [style.BAND_SHADE if named else 0.16]
    )
    kind = "interval" if bands.at_scores else "band"
    names = [f"{percent(each)} {kind}" for each in named] or [""] * several
    widths = np.linspace(4, 9, several)
    ends = zip(names, shades, widths, bands.lower, bands.upper, strict=True)
    for name, shade, width, lower, upper in ends:
        if bands.at_scores:
            bar: dict[str, Any] = {"lw": width, "capstyle": "butt", "clip_on": False}
            bar |= {"color": look.color, "alpha": 1.6 * shade, "label": name or None}
            ax.vlines(bands.score, lower, upper, **bar)
        else:
            area = {"color": look.color, "alpha": shade, "lw": 0, "label": name or None}
            ax.fill_between(bands.score, lower, upper, **area)
    line: dict[str, Any] = {"color": look.color, "ls": look.ls, "lw": 1.8, "label": told or None}
    if bands.at_scores:
        line |= {"lw": style.THIN, "ls": ":", "marker": "s", "ms": 4, "clip_on": False}
    ax.plot(bands.score, bands.mean, **line)


def _draw_observed(ax: Axes, seen: Observed, look: Line | None, told: str) -> None:
    """Observed proportions with their intervals; of one model among several, without."""
    if look is not None:
        ax.plot(seen.score, seen.proportion, "o", ms=4, mfc="white", mec=look.color)
        return
    ends = np.maximum([seen.proportion - seen.lower, seen.upper - seen.proportion], 0)
    face: dict[str, Any] = {"fmt": "o", "ms": 4, "mfc": "white", "mec": style.INK, "alpha": 0.7}
    face |= {"mew": style.THIN, "ecolor": style.INK, "elinewidth": style.THIN, "label": told}
    points, *_ = ax.errorbar(seen.score, seen.proportion, yerr=ends, **face)
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    x, y = seen.score, seen.proportion
    if ((left <= x) & (x <= right) & (bottom <= y) & (y <= top)).all():
        points.set_clip_on(False)  # whole markers at 0 and 1


def _draw_as_wide(ax: Axes, score: Floats, outcome: Floats, density: Floats) -> None:
    """A curve, each piece as wide as the density at its middle."""
    from matplotlib.collections import LineCollection

    points = np.stack([score, outcome], axis=1)
    middle = (density[1:] + density[:-1]) / 2
    kept = middle >= DRAWN
    pieces = LineCollection(
        list(np.stack([points[:-1], points[1:]], axis=1)[kept]),
        linewidths=THINNEST + (THICKEST - THINNEST) * middle[kept],
        colors=style.CURVE,
        capstyle="round",
        label="Smoothed outcomes, as wide as scores are dense",
    )
    ax.add_collection(pieces, autolim=False)


def _draw_scores(
    ax: Axes, models: Mapping[str, CalibrationPosterior], foot: float, scale: Scale
) -> float:
    """A strip of scores for each model beneath the axes; returns where they end."""
    several, ends = len(models) > 1, np.array(ax.get_xlim())
    first, last = style.bent(ends, scale)
    edges = style.unbent(np.linspace(first, last, BARS + 1), scale)
    edges[[0, -1]] = ends
    height = SEVERAL_HEIGHT / len(models) if several else HEIGHT
    beside, _ = told_apart(list(models), STRIP_NAME)
    for look, (name, one) in zip(style.MODELS, models.items(), strict=False):
        colours = (look.color if several else style.EVENTS, style.NON_EVENTS)
        names = (beside[name], "") if several else _sizes(one.data)
        foot += GAP + height
        counts = count_scores(one.data, edges)
        if not one.has_outcomes:
            counts = ScoreCounts(edges, counts.non_events, counts.events)
            colours = colours[::-1]
        _mirror(ax, (-foot, height), counts, colours, names)
    style.move_down(ax, foot)
    return foot


def _mirror(
    ax: Axes,
    foot_and_height: tuple[float, float],
    counts: ScoreCounts,
    colours: tuple[str, str],
    names: tuple[str, str],
) -> None:
    """Two histograms on one baseline, up and down, each as high as its own highest bar.

    On one scale of counts the bars of a rare event would be too low to be seen.
    """
    from matplotlib.patches import Rectangle, StepPatch
    from matplotlib.transforms import Affine2D

    foot, height = foot_and_height
    onto = Affine2D().scale(1, height / (2 * ROOM)).translate(0, foot + height / 2)
    across, along = onto + ax.transAxes, onto + ax.get_xaxis_transform()
    strip = Rectangle((0, -ROOM), 1, 2 * ROOM, transform=across)
    for cases, side, colour, name in zip(
        (counts.events, counts.non_events), (1, -1), colours, names, strict=True
    ):
        if cases.any():
            tops = np.where(cases > 0, side * cases / cases.max(), np.nan)
            bars = StepPatch(tops, counts.edges, transform=along, fill=True, color=colour, lw=0.5)
            ax.add_artist(bars)
            bars.set_clip_path(strip)
        beside: dict[str, Any] = {"fontsize": style.small(), "color": style.INK, "va": "center"}
        ax.text(1.01, 0.6 * side, name, transform=across, **beside)
    ax.plot([0, 1], [0, 0], color=style.INK, lw=style.THIN, transform=across, clip_on=False)


def _sizes(data: CalibrationData) -> tuple[str, str]:
    """What stands beside the two histograms of scores."""
    if not data.has_outcomes:
        return count(data.n, "score"), ""
    others = "without" if data.follow_up is None else "without, or left"
    if data.is_pseudo:
        return "with the event", others
    return count(data.events, "event"), f"{count(data.n - data.events)} {others}"


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


def _observed_by(post: CalibrationPosterior, level: float) -> str:
    """How the observed risks of groups were estimated."""
    followed, what = post.data.follow_up, "Observed"
    if followed is not None:
        what = "Aalen-Johansen" if followed.competing else "Kaplan-Meier"
    return f"{what}, {percent(level)} interval"


def smoother_at(data: CalibrationData, name: str, score: Floats) -> Floats:
    """A smoother of the outcomes at these scores."""
    if name == "smooth":
        return smooth.smooth_ece_curve(data, grid=score).outcome
    return flexible_curve(data, scores=score, smoother=name)


def _as_overlays(overlay: str | Sequence[str]) -> list[str]:
    """Names of smoothers, checked: known, and no more than colours can tell apart."""
    names = [overlay] if isinstance(overlay, str) else as_items(overlay, "overlay")
    if len(names) > len(style.OVERLAYS):
        raise InputError(
            f"overlay names {len(names)} smoothers, but {len(style.OVERLAYS)} are as many as can "
            "be told apart. Choose among them."
        )
    return [check_choice(name, SMOOTHERS, "overlay") for name in names]


def _as_levels(ci_probs: Sequence[float]) -> list[float]:
    """Probabilities of the bands, the widest first, so that narrower ones are drawn over it."""
    levels = sorted(set(as_levels(ci_probs, "ci_probs")), reverse=True)
    if not levels:
        raise InputError("ci_probs is empty: give at least one probability, such as 0.95.")
    return levels


Ranges = list[tuple[float, float]]


def _sides_of(post: CalibrationPosterior, ci_prob: float) -> tuple[Ranges, Ranges]:
    """Ranges in which `post.off_diagonal` puts every observed score above, and below."""
    region = post.off_diagonal(ci_prob)
    score, side = region["score"].to_numpy(), region.to_numpy()
    starts = np.flatnonzero(np.diff(side, prepend=2))
    ends = np.append(starts[1:], side.size) - 1
    by_side: dict[int, Ranges] = {1: [], -1: [], 0: []}
    for start, end in zip(starts, ends, strict=True):
        by_side[int(side[start])].append((float(score[start]), float(score[end])))
    return by_side[1], by_side[-1]


def _draw_sides(ax: Axes, above: Ranges, below: Ranges, ci_prob: float) -> None:
    """Bars along the foot of the axes: filled where the curve is above, hollow where below."""
    least = SIDES_LEAST * np.ptp(ax.get_xlim())
    for name, ranges, face in (("Above", above, style.EVENTS), ("Below", below, "white")):
        if ranges:
            texts = [
                f"{first:.2g}" if first == last else f"{first:.2g} to {last:.2g}"
                for first, last in ranges[:SIDES_SHOWN]
            ]
            told = ", ".join(texts) + (", ..." if len(ranges) > SIDES_SHOWN else "")
            ax.broken_barh(
                [(first, max(last - first, least)) for first, last in ranges],
                (FOOT, THICK),
                transform=ax.get_xaxis_transform(),
                facecolor=face,
                edgecolor=style.EVENTS,
                lw=1,
                zorder=4,
                label=f"{name} ideal: {told}",
            )
    if not (above or below):
        ax.plot([], [], ls="", label=f"Nowhere off ideal ({percent(ci_prob)} joint)")


def _draw_on_diagonal(ax: Axes, post: CalibrationPosterior) -> float:
    """By score how probable it is that the curve is on the diagonal, from white to dark.

    Returns where the strip ends beneath the axes.
    """
    from matplotlib.colors import LinearSegmentedColormap

    observed, foot = post.data.score, GAP + DIAGONAL_HEIGHT
    edges = np.linspace(observed.min(), observed.max(), DIAGONAL_POINTS + 1)
    if edges[0] == edges[-1]:
        edges = np.array([edges[0] - 0.01, edges[0] + 0.01])
    middle = np.clip((edges[:-1] + edges[1:]) / 2, 0, 1)
    probability = post.prob_on_diagonal(middle).to_numpy()
    strip = ax.inset_axes((0, -foot, 1, DIAGONAL_HEIGHT), sharex=ax)
    shades = LinearSegmentedColormap.from_list("on", ["white", style.CURVE])
    cells: dict[str, Any] = {"cmap": shades, "vmin": 0, "vmax": 1}
    cells |= {"edgecolors": "face", "linewidth": 0.4}
    strip.pcolormesh(edges, [0, 1], probability[None, :], **cells)
    strip.set_facecolor(style.NON_EVENTS)
    strip.set_yticks([])
    strip.tick_params(axis="x", labelbottom=False, length=0)
    for spine in strip.spines.values():
        spine.set_linewidth(style.THIN)
    ax.plot([], [], "s", color=style.CURVE, label="Strip: P(on ideal), dark is 1")
    return foot


def _small_multiples(panels: int, level: float) -> list[Axes]:
    columns = min(panels, PANELS_A_ROW)
    rows = -(-panels // columns)
    size = max(2.3 * columns, 4.8), 2.4 * rows + 1.0
    grid = style.figure_of(rows, columns, size, sharex=True, sharey=True)
    for unused in grid[panels:]:
        unused.remove()
    title = f"Lines: with their {percent(level)} bands. Orange: the average. Grey: ideal"
    figure = style.headed(grid[0], title)
    figure.supxlabel("Predicted probability", fontsize="medium")
    figure.supylabel("Probability of the event", fontsize="medium")
    return grid[:panels]
