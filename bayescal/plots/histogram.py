"""Draws of a number as a histogram: of a functional, a gain, an estimator, before and after data.

`bars` draws every histogram. Draws that are exactly one value are a stem, never a bar.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import (
    InputError,
    as_flag,
    as_items,
    as_level,
    check_choice,
    check_type,
)
from bayescal.core.text import (
    NO_CHANGE,
    capitalised,
    chance,
    count,
    interval,
    percent,
    signed,
)
from bayescal.gain import RecalibrationGain
from bayescal.plots import style
from bayescal.plots.text import axis_label, ideal, minus, short_name
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.posterior import as_posterior
from bayescal.validation.consistency import Consistency

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayescal.posterior.posterior import CalibrationPosterior

FEWEST, MOST = 8, 40
# Draws nearer to a value than this are that value.
SAME_DRAW = 1e-9
# How often the range of the draws a value may be away that is still in the picture.
FARTHEST_DRAWN = 10
TAIL_DRAWN = 0.002
PRIOR_ACROSS, PRIOR_TAIL, PRIOR_LEAST = 2, 0.005, 0.01
BELOW, TOP = -0.09, 1.08
CONSISTENCY_BARS = 40
WIDTH = 62
SHORT_NAMES = {"ece": "ECE", "mce": "MCE", "debiased_ece": "Debiased ECE"}
FALLS = {
    "tce": "Fall in true calibration error",
    "brier": "Fall in Brier score",
    "log_score": "Fall in log score",
    "brier_calibration": "Fall in Brier score by calibration",
    "brier_refinement": "Fall in Brier score by refinement",
    "log_calibration": "Fall in log score by calibration",
    "log_refinement": "Fall in log score by refinement",
}

Close = float | tuple[float, float]


def functional(
    post: CalibrationPosterior,
    name: str = "tce",
    ax: Axes | None = None,
    *,
    close: Close | None = None,
    ci_prob: float = 0.95,
    population: Any = "bootstrap",
    legend: bool = True,
    **options: Any,
) -> Axes:
    """Draw the posterior of a functional; by default of the true calibration error.

    The histogram shows the draws. Those of an averaged posterior that are exactly 0 are a stem,
    labelled with their share; the title gives the probability of exact calibration. Below are the
    credible interval of `post.interval` and the estimate of `post.estimate`.

    Parameters
    ----------
    post : CalibrationPosterior
    name : str
        A name in `bayescal.functionals.FUNCTIONALS`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    close : float or pair of float, optional
        Region of practical equivalence, which is shaded: from the first to the second, or up to
        this distance from the value at perfect calibration.
    ci_prob : float in (0, 1)
    population : {"bootstrap", "sample", "beta"} or scores
    legend : bool
        Whether to draw a legend.
    **options
        Passed to the functional, such as `p` for "tce".

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the name is unknown or an argument out of range.

    References
    ----------
    Kruschke, "Rejecting or accepting parameter values in Bayesian estimation", Advances in Methods
    and Practices in Psychological Science 1, 2018.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 200, random_state=1)
    >>> post = bc.fit(y_true, y_prob, curve="beta", random_state=1)
    >>> ax = bc.plots.functional(post, "observed_expected", close=(0.8, 1.25))
    >>> ax.get_title(loc="left").splitlines()[1]
    'P(O/E 0.8 to 1.25) > 0.99'
    >>> bc.plots.functional(post, close=0.02).get_xlabel()
    'True calibration error (TCE)'
    """
    level = as_level(ci_prob)
    values = as_posterior(post).functional(name, population, **options).to_numpy().ravel()
    ends = post.interval(name, level, population=population, **options)
    estimate = post.estimate(name, level, population=population, **options)
    region = None if close is None else _as_region(close, name)
    title = _title(post, name, values, (estimate, *ends), level, region, population, options)
    axes = histogram(
        values, name, (estimate, *ends), level, region, ax, post.prob_calibrated is not None
    )
    style.titled(axes, title)
    if as_flag(legend, "legend"):
        style.legend_beneath(axes)
    return axes


def gain(
    result: RecalibrationGain,
    measure: str = "brier",
    ax: Axes | None = None,
    *,
    ci_prob: float = 0.95,
) -> Axes:
    """Draw the posterior of one gain.

    The histogram is darker where the gain is positive; the bar below it is the credible interval,
    and the point the estimate. The title gives the probability of a gain, and on which patients
    it was estimated. A gain that is infinite, or exactly 0, is not drawn but said. For "tce" the
    bar can be wider than the histogram, because predictions may be exactly calibrated; the title
    gives the probabilities of this.

    Parameters
    ----------
    result : RecalibrationGain
        From `bayescal.recalibration_gain`.
    measure : str
        A row of `result.summary(parts=True)`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    ci_prob : float in (0, 1)

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If `result` is not a gain, or the measure is unknown.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, before = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> gain = bc.recalibration_gain(y_true, before, 0.15 + 0.6 * before, random_state=1)
    >>> bc.plots.gain(gain).get_xlabel()
    'Fall in Brier score per patient'
    """
    cure = "Pass what bayescal.recalibration_gain returns."
    check_type(result, RecalibrationGain, "result", cure)
    lower, upper = result.interval(measure, ci_prob)
    estimate = float(result.summary(ci_prob, parts=True)["estimate"][measure])
    values = result.draws[measure].to_numpy().ravel()
    axes = style.as_axes(ax, 5, 3.2)
    at = measure.rpartition("@")[2]
    name = FALLS.get(measure, f"Rise in net benefit, treating from {at}")
    if measure in result.unchanged or not np.isfinite(values).all():
        told = _in_words(axes, result, measure, values)
    else:
        _draw_gain(axes, values, estimate, (lower, upper), ci_prob)
        told = f"{minus(interval(estimate, lower, upper, ci_prob))}. "
        told += f"Probability that it helped {chance(result.prob_above(0, measure))}. "
        if measure == "tce":
            exact = result.prob_calibrated
            told += f"P(exactly calibrated) {chance(exact['before'])} before, "
            told += f"{chance(exact['after'])} after. "
    _without_heights(axes, f"{name} per patient")
    title = f"{name}: {told}{capitalised(result.evidence)}."
    style.titled(axes, "\n".join(wrap(title, WIDTH)))
    return axes


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
    axes, shown = style.as_axes(ax, 5, 3.4), as_flag(legend, "legend")
    sides = (
        (result.under_calibration, style.NON_EVENTS, "--", "If calibrated"),
        (result.under_posterior, style.CURVE, "-", "If the fitted curve is true"),
    )
    drawn = np.concatenate([sides[0][0], sides[1][0], [result.observed]])
    low, high = min(float(np.nanmin(drawn)), 0.0), float(np.nanmax(drawn))
    room = (high - low) / CONSISTENCY_BARS or 0.01
    edges = np.linspace(low - room if low < 0 else 0.0, high + room, CONSISTENCY_BARS + 1)
    top = 0.0
    for values, colour, dashes, told in sides:
        share = np.histogram(values[~np.isnan(values)], edges)[0] / np.isfinite(values).sum()
        bars(axes, share, edges, colour, 0.25, told, dashes)
        top = max(top, float(share.max()))
    line: dict[str, Any] = {"color": style.EVENTS, "lw": 2, "label": "In the data"}
    axes.vlines(result.observed, 0, 1.05 * top, **line)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, None if not shown else 1.08 * top)
    name = SHORT_NAMES.get(result.estimator, result.estimator)
    _without_heights(axes, f"{name} in {count(result.cases, 'case')}")
    axes.set_ylabel("Simulated data sets")
    verdict = "\n".join(wrap(capitalised(result.verdict), WIDTH))
    style.titled(axes, f"{name} {result.observed:.3g}\n{verdict}")
    if shown:
        style.legend_beneath(axes)
    return axes


def prior_posterior(
    post: CalibrationPosterior,
    axes: Axes | Sequence[Axes] | None = None,
    *,
    coordinates: Sequence[str] | None = None,
    ci_prob: float = 0.95,
) -> list[Axes]:
    """Draw prior and posterior of each working coordinate, and of the true calibration error.

    If the two agree, the data contain little information and the result depends on the prior.
    Stems are probabilities of exactly one value, which an averaged posterior can have; a stem as
    high as the highest bar has probability 1.

    Parameters
    ----------
    post : CalibrationPosterior
    axes : matplotlib.axes.Axes or sequence of them, optional
        Where to draw, one a quantity; by default on a new figure.
    coordinates : sequence of str, optional
        Working coordinates, derived variables such as "alpha", or functionals. By default the
        coordinates (a spline's deviations left out), and "tce".
    ci_prob : float in (0, 1)
        Of the intervals in the titles.

    Returns
    -------
    list of matplotlib.axes.Axes
        The axes drawn on, one a quantity.

    Raises
    ------
    InputError
        If a name is unknown, or there are not as many axes as quantities.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> post = bc.fit(y_true, y_prob, curve="logistic", random_state=1)
    >>> [panel.get_xlabel() for panel in bc.plots.prior_posterior(post)][0]
    'Shift (log-odds)'
    """
    level = as_level(ci_prob)
    draws = {name: _both(post, name) for name in _as_coordinates(as_posterior(post), coordinates)}
    size = len(draws)
    panels = style.as_panels(axes, size, "quantities", lambda: _grid(size))
    for ax, (name, (prior, posterior)) in zip(panels, draws.items(), strict=True):
        _draw_both(ax, name, prior, posterior)
        lower, middle, upper = np.quantile(posterior, [(1 - level) / 2, 0.5, (1 + level) / 2])
        apart = None
        if name in FUNCTIONALS:
            lower, upper = post.interval(name, level)
            apart = FUNCTIONALS[name].apart
        told = minus(interval(middle, lower, upper, level, apart))
        style.titled(ax, f"{short_name(name)}\n{told}")
    style.legend_beneath(panels[0], columns=2)
    return panels


def histogram(
    values: Floats,
    name: str,
    numbers: tuple[float, float, float],
    level: float,
    region: tuple[float, float] | None = None,
    ax: Axes | None = None,
    has_exact: bool = True,
) -> Axes:
    """Draw these draws of a functional, with estimate, lower and upper end and a region."""
    estimate, *ends = numbers
    floor, at = 0.0 if FUNCTIONALS[name].is_distance else -np.inf, ideal(name)
    shares = shares_of(values, edges_over(values, at, (*ends, *(region or ())), floor), at)

    axes = style.as_axes(ax, 5, 3.4)
    if region is not None:
        told = as_text(region, name).capitalize()
        axes.axvspan(*region, color=style.NON_EVENTS, alpha=0.25, lw=0, label=told)
    if shares.share.any():
        # The highest bar is as high as the probability of all bars together, beside a stem.
        height = shares.share * (1 - shares.atom) / shares.share.max()
        bars(axes, height, shares.edges, style.CURVE, 0.45)
    if shares.atom:
        exact = f"No error: {chance(shares.atom)} of the draws"
        stem: dict[str, Any] = {"color": style.EVENTS, "zorder": 3}
        told = exact if has_exact else "Exactly calibrated"
        axes.vlines(at, 0, shares.atom, lw=2.5, label=told, **stem)
        axes.plot(at, shares.atom, "D", ms=6, clip_on=False, **stem)
    axes.axhline(0, color=style.INK, lw=style.THIN)
    _draw_interval(axes, estimate, ends, BELOW, level)
    shown = [*shares.edges[[0, -1]], *(region or ())]
    axes.set_xlim(min(shown) - 0.02 * np.ptp(shown), max(shown))
    axes.set_ylim(2 * BELOW, TOP)
    axes.locator_params(axis="x", nbins=6)
    _without_heights(axes, axis_label(name))
    return axes


def bars(
    ax: Axes,
    height: Floats,
    edges: Floats,
    colour: str,
    fill: float,
    told: str | None = None,
    dashes: str = "-",
) -> None:
    """A histogram: a light fill under an outline, which alone is named."""
    ax.stairs(height, edges, fill=True, color=colour, alpha=fill, lw=0)
    ax.stairs(height, edges, color=colour, ls=dashes, lw=1.2, label=told)


def _draw_interval(
    ax: Axes, estimate: float, ends: Sequence[float], height: float, level: float
) -> None:
    """An interval and its estimate beneath a histogram."""
    told = f"{percent(level)} credible interval"
    bar: dict[str, Any] = {"color": style.INK, "lw": 3, "solid_capstyle": "butt", "label": told}
    ax.plot(ends, [height] * 2, **bar)
    dot: dict[str, Any] = {"color": "white", "mec": style.INK, "ms": 6, "clip_on": False, "ls": ""}
    ax.plot(estimate, height, marker="o", label="Estimate", **dot)


def _without_heights(ax: Axes, told: str) -> None:
    """Axes of a histogram, whose heights say nothing by themselves."""
    ax.set_yticks([])
    ax.set_xlabel(told)
    style.bare(ax, "left")


def _draw_gain(
    ax: Axes, values: Floats, estimate: float, ends: tuple[float, float], level: float
) -> None:
    """Draws of a gain, darker where it is positive, above the interval."""
    edges = edges_over(values, np.inf, ends, -np.inf)
    if edges[0] < 0 < edges[-1]:
        edges -= edges[np.abs(edges).argmin()]  # so that no bar is on both sides of 0
    share = np.histogram(values, edges)[0] / values.size
    helped = edges[:-1] > -np.diff(edges) / 2
    for part, colour in ((~helped, style.NON_EVENTS), (helped, style.CURVE)):
        look: dict[str, Any] = {"fill": True, "color": colour, "alpha": 0.55, "lw": 0}
        ax.stairs(np.where(part, share, 0), edges, **look)
    ax.axvline(0, color=style.DIAGONAL, lw=1, ls="--")
    _draw_interval(ax, estimate, ends, -0.06 * share.max(), level)
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(-0.14 * share.max(), TOP * share.max())


def _in_words(ax: Axes, result: RecalibrationGain, measure: str, values: Floats) -> str:
    """What cannot be drawn, in words; returns the first of them."""
    first, more = NO_CHANGE, ""
    if measure not in result.unchanged:
        (side,) = [sign for sign in (-np.inf, np.inf) if (values == sign).any()][:1]
        share = float((values == side).mean())
        first = signed(side) + (f", with probability {chance(share)}" if share < 1 else "")
        sides = (f"{side}: {count(n, 'case')}" for side, n in result.contradicted.items())
        more = f"\nprobability 0 was given to what happened\n({', '.join(sides)})"
    middle: dict[str, Any] = {"ha": "center", "va": "center", "color": style.INK}
    ax.text(0.5, 0.5, first + more, transform=ax.transAxes, **middle)
    ax.set_xticks([])
    return f"{first}. "


def _draw_both(ax: Axes, name: str, prior: Floats, posterior: Floats) -> None:
    distance = name in FUNCTIONALS and FUNCTIONALS[name].is_distance
    at, floor = ideal(name), 0.0 if distance else -np.inf
    looks = (
        (prior, style.DIAGONAL, "--", 0.15, "o", "Prior"),
        (posterior, style.CURVE, "-", 0.45, "D", "Posterior"),
    )
    both = [shares_of(values, edges_over(values, at, (at,), floor), at) for values, *_ in looks]
    densities = [shares.share / np.diff(shares.edges) for shares in both]
    top = max(float(density.max()) for density in densities) or 1.0
    for shares, density, (_, colour, dashes, fill, marker, told) in zip(
        both, densities, looks, strict=True
    ):
        bars(ax, density / top, shares.edges, colour, fill, told, dashes)
        if shares.atom:
            ax.vlines(at, 0, shares.atom, color=colour, lw=2, ls=dashes)
            ax.plot(at, shares.atom, marker, color=colour, ms=6, clip_on=False)
    ax.axvline(at, color=style.DIAGONAL, lw=style.THIN, ls=":", zorder=0)
    reached = np.quantile(np.concatenate([prior, posterior]), [PRIOR_TAIL, 1 - PRIOR_TAIL])
    low, high = min(*reached, at), max(*reached, at + PRIOR_LEAST)
    ax.set_xlim(low - 0.02 * (high - low), high)
    ax.set_ylim(0, 1.06)
    ax.locator_params(axis="x", nbins=5)
    _without_heights(ax, axis_label(name))


def _both(post: CalibrationPosterior, name: str) -> tuple[Floats, Floats]:
    if name in FUNCTIONALS:
        draws = (post.functional(name, group=group) for group in ("prior", "posterior"))
    else:
        draws = (post.tree[group].to_dataset()[name] for group in ("prior", "posterior"))
    prior, posterior = (values.to_numpy().ravel() for values in draws)
    return prior, posterior


def _as_coordinates(post: CalibrationPosterior, coordinates: Sequence[str] | None) -> list[str]:
    smooth = [
        name
        for name in post.problem.curve.coordinates
        if not name.startswith(("deviation", "cell_"))
    ]
    # Scores alone have no prior draws, and several curves together no coordinates of their own.
    before, after = (
        [str(name) for name in post.tree[group].to_dataset().data_vars]
        if group in post.tree
        else []
        for group in ("prior", "posterior")
    )
    known = [name for name in after if name in before and name != "family"]
    if coordinates is None:
        return [*(name for name in smooth if name in known), "tce"]
    asked = as_items(coordinates, "coordinates")
    if not asked:
        raise InputError("coordinates is empty: name one, such as 'tce'.")
    return [check_choice(name, [*known, *FUNCTIONALS], "coordinates") for name in asked]


def _grid(size: int) -> list[Axes]:
    columns = min(size, PRIOR_ACROSS)
    rows = -(-size // columns)
    grid = style.figure_of(rows, columns, (3.4 * columns, 2.7 * rows))
    for ax in grid[size:]:
        ax.remove()
    return grid[:size]


def as_text(region: tuple[float, float], name: str) -> str:
    """A region in words."""
    if FUNCTIONALS[name].is_distance and region[0] == 0:
        return f"below {region[1]:g}"
    return f"{region[0]:g} to {region[1]:g}"


def _title(
    post: CalibrationPosterior,
    name: str,
    values: Floats,
    numbers: tuple[float, float, float],
    level: float,
    region: tuple[float, float] | None,
    population: str,
    options: dict[str, Any],
) -> str:
    """The estimate and its interval; then the probabilities."""
    apart = FUNCTIONALS[name].apart
    parts = [f"{short_name(name, **options)} {minus(interval(*numbers, level, apart))}"]
    if region is not None:
        inside = _prob_inside(post, name, values, region, population, options)
        parts.append(f"P({short_name(name, **options)} {as_text(region, name)}) {chance(inside)}")
    if post.prob_calibrated is not None and not FUNCTIONALS[name].is_distance:
        parts.append(f"P(exactly calibrated) {chance(post.prob_calibrated)}")
    return "\n".join([parts[0], "; ".join(parts[1:])]).strip()


def _prob_inside(
    post: CalibrationPosterior,
    name: str,
    values: Floats,
    region: tuple[float, float],
    population: str,
    options: dict[str, Any],
) -> float:
    """Probability of the region."""
    if FUNCTIONALS[name].is_distance and region[0] == 0:
        return post.prob_below(region[1], name, population=population, **options)
    return float(((values >= region[0]) & (values <= region[1])).mean())


def _as_region(close: Close, name: str) -> tuple[float, float]:
    """Limits of the region: as given, or one number either side of the value at calibration."""
    try:
        pair = np.ravel(np.asarray(close, dtype=float))
    except (TypeError, ValueError, OverflowError):
        pair = np.array([np.nan])
    if pair.size == 1 and 0 < pair[0] < np.inf:
        low = 0.0 if FUNCTIONALS[name].is_distance else ideal(name) - pair[0]
        return float(low), float(ideal(name) + pair[0])
    if pair.size == 2 and -np.inf < pair[0] < pair[1] < np.inf:
        return float(pair[0]), float(pair[1])
    raise InputError(
        f"close must be a positive number, or two numbers in order, got {close!r:.60}."
    )


class Shares(NamedTuple):
    """A histogram with an atom.

    Attributes
    ----------
    edges : ndarray of shape (bars + 1,)
    share : ndarray of shape (bars,)
        Share of all draws in each bar, those of the atom not counted.
    atom : float
        Share of the draws that equal one value exactly.
    """

    edges: Floats
    share: Floats
    atom: float


def shares_of(values: Floats, edges: Floats, atom_at: float) -> Shares:
    """Count draws in bars, those at one value apart.

    Parameters
    ----------
    values : ndarray of shape (draws,)
    edges : ndarray of shape (bars + 1,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.plots.histogram import shares_of
    >>> shares_of(np.array([0, 0, 0.2, 0.7]), np.array([0, 0.5, 1]), 0).share
    array([0.25, 0.25])
    """
    varies = np.abs(values - atom_at) > SAME_DRAW
    share = np.histogram(values[varies], edges)[0] / values.size
    return Shares(edges, share, float(1 - varies.mean()))


def edges_over(values: Floats, atom_at: float, hold: tuple[float, ...], floor: float) -> Floats:
    """Equal bars over all but the tails, fewer for fewer draws (twice their cube root).

    Parameters
    ----------
    hold : tuple of float
        Values to be in range, unless they are more than ten times as far from the draws as these
        are from each other.
    floor : float
        The least possible value, or minus infinity.
    """
    varies = values[np.abs(values - atom_at) > SAME_DRAW]
    ends = np.quantile(values, [TAIL_DRAWN, 1 - TAIL_DRAWN])
    far = FARTHEST_DRAWN * (np.ptp(ends) or 1.0)
    reached = np.append(ends, np.clip(hold, ends[0] - far, ends[1] + far))
    low, high = float(reached.min()), float(reached.max())
    room = 0.03 * (high - low) or 0.01
    spread = np.ptp(np.quantile(varies, [TAIL_DRAWN, 1 - TAIL_DRAWN])) if varies.size else 0.0
    wide = spread / np.clip(2 * varies.size ** (1 / 3), FEWEST, MOST) or room
    start = floor if low - room <= floor else low - room
    return start + wide * np.arange(np.ceil((high + room - start) / wide) + 1)
