"""Lines over a range: over thresholds, periods, numbers of patients, and missing outcomes.

`_draw_band` draws every line with its interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import (
    InputError,
    as_flag,
    as_level,
    as_number,
    check_choice,
    check_type,
)
from bayescal.core.text import capitalised, chance, count, interval, percent, shortened
from bayescal.data.cases import as_vector
from bayescal.plots import style
from bayescal.plots._numbers import as_models
from bayescal.plots.style import Line
from bayescal.plots.text import ideal, label, short_name
from bayescal.posterior.functionals import FUNCTIONALS, LOST, USUAL_THRESHOLDS, as_risks
from bayescal.posterior.posterior import as_posterior

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from bayescal.fitting.unknown import KnownFit
    from bayescal.multilevel.posterior import MultilevelPosterior
    from bayescal.posterior.posterior import CalibrationPosterior

# Thresholds at which net benefit, and what is lost of it, are drawn.
STEPS, LOST_STEPS = 100, 60
# Share of the highest net benefit that is drawn below 0, where harm begins.
BELOW_ZERO = 0.12
# Least height of the axes: of net benefit, and of what is lost of 1000 patients.
LEAST, LOST_LEAST = 1e-3, 0.1
# What fits in a row of the legend of a figure of the usual size, beside its lines.
LETTERS = 48
STRIP = (0, 1.04, 1, 0.16)
MOST_TICKS = 12
DELTAS_DRAWN = tuple(np.linspace(-1.5, 1.5, 13).tolist())

VALUES = (("_of_recalibrating", " of recalibrating", style.MODELS[0]), ("", "", style.MODELS[1]))
# Each strategy's name and colour, from light to dark.
SHADES = {
    "treat_none": ("Treat no one", "#ffffff"),
    "treat_all": ("Treat everyone", "#bbbbbb"),
    "model": ("Model", "#56B4E9"),
    "updated_model": ("Updated model", style.CURVE),
}
# Room around a single threshold; as many as are marked; opacity of the palest line.
ALONE, FEW_THRESHOLDS, PALEST = 0.05, 12, 0.35
VALUE_CURE = "Pass what post.value_of_information(thresholds) returns."

PLAN_COLUMNS = ("n", "studies", "width", "width_assured", "reached", "reached_error", "closed_form")
TOLD_AS = {"update": "an update is recommended"}
HALF = 1.96


def net_benefit(
    post: CalibrationPosterior | Mapping[str, CalibrationPosterior],
    thresholds: Any = None,
    ax: Axes | None = None,
    *,
    ci_prob: float = 0.95,
    population: Any = "bootstrap",
    legend: bool = True,
) -> Axes:
    """Draw the decision curve of a model, or of several.

    The posterior median of the net benefit of treating the patients with a score of at least the
    threshold, with a pointwise band, and of treating everyone and no one. The strip above
    is the probability that the model is better than both.

    Parameters
    ----------
    post : CalibrationPosterior or mapping of str to CalibrationPosterior
        A fit, or several by name. Several are drawn side by side; to compare two on the same
        patients use `bayescal.recalibration_gain`, which keeps the pairs.
    thresholds : array-like, optional
        Risks at which a patient is treated, in (0, 1); by default 99 from 0 to a round
        number above the highest score.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    ci_prob : float in (0, 1)
    population : {"bootstrap", "sample", "beta"} or scores
    legend : bool
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on; its strip is among its `child_axes`.

    Raises
    ------
    InputError
        If an argument is out of range, or there are more models than can be told apart.

    References
    ----------
    Vickers & Elkin (2006), Decision curve analysis, Medical Decision Making 26.
    Cruz & Korthauer (2024), Bayesian decision curve analysis with bayesDCA, Statistics in
    Medicine 43.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> ax = bc.plots.net_benefit(bc.fit(y_true, y_prob, random_state=1))
    >>> ax.get_xlabel()
    'Risk at which a patient is treated'
    """
    level, models = as_level(ci_prob), as_models(post)
    if thresholds is None:
        highest = max(float(one.data.score.max()) for one in models.values())
        thresholds = style.round_up(highest) * np.arange(1, STEPS) / STEPS
    at = np.unique(as_vector(thresholds, "thresholds"))
    benefit = {name: one.net_benefit(at, population) for name, one in models.items()}
    everyone = next(iter(benefit.values()))["treat_all"]

    axes, shown, tops = style.as_axes(ax, 5.4, 4.4, top=0.78), as_flag(legend, "legend"), [LEAST]
    for look, (name, one) in zip(style.MODELS, benefit.items(), strict=False):
        ends = _quantiles(one["model"], level)
        _draw_band(axes, at, ends, look, name, shade=0.25 if len(benefit) == 1 else 0.15)
        tops.append(float(ends[2].max()))
    ends = _quantiles(everyone, level)
    _draw_band(axes, at, ends, Line(style.INK, "-"), "Treat everyone", lw=1)
    axes.axhline(0, color=style.INK, lw=1, ls=":", label="Treat no one")
    top = max(*tops, float(ends[2].max()))
    axes.set_xlim(at.min() if at.min() > at.max() / 4 else 0, at.max())
    axes.set_ylim(-BELOW_ZERO * top, 1.06 * top)
    _by_threshold(axes, "Risk at which a patient is treated", "Net benefit per patient")
    strip = _strip(axes)
    for look, one in zip(style.MODELS, benefit.values(), strict=False):
        probability = one["prob_best"].to_numpy()
        if len(benefit) == 1:
            strip.fill_between(at, probability, color=look.color, alpha=style.BAND_SHADE, lw=0)
        strip.plot(at, probability, color=look.color, ls=look.ls, lw=1.2)
    strip.set_ylim(0, 1.04)
    strip.grid(axis="y", color=style.NON_EVENTS, lw=style.THIN, alpha=0.5)
    strip.xaxis.set_visible(False)
    style.titled(axes, _where_best(benefit, at, level))
    if shown:
        longest = max(map(len, axes.get_legend_handles_labels()[1]))
        columns = min(max(LETTERS // longest, 1), 3)
        style.legend_beneath(axes, columns=columns, handlelength=3.2)
    return axes


def net_benefit_lost(
    post: CalibrationPosterior,
    between: tuple[float, float] | None = None,
    ax: Axes | None = None,
    *,
    ci_prob: float = 0.95,
    population: str = "bootstrap",
    legend: bool = True,
) -> Axes:
    """Draw the net benefit that is lost to miscalibration, by threshold.

    The estimate of the loss at each threshold with its interval, per 1000 patients. The title has
    the most that is lost anywhere in the range.

    Parameters
    ----------
    post : CalibrationPosterior
    between : pair of float, optional
        The lowest and the highest risk from which a patient is treated; by default from 0 to a
        round number above the highest score, at most 0.5.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    ci_prob : float in (0, 1)
    population : {"bootstrap", "sample", "beta"}
    legend : bool
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If an argument is out of range.

    References
    ----------
    Hu & Wu (2024), Predict to minimize swap regret for all payoff-bounded tasks, FOCS: the
    calibration decision loss.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> post = bc.compare(y_true, y_prob, random_state=1).posterior
    >>> bc.plots.net_benefit_lost(post, (0.05, 0.3)).get_ylabel()
    'Net benefit lost per 1000 patients'
    """
    level, of = as_level(ci_prob), as_posterior(post)
    if between is None:
        highest = style.round_up(float(of.data.score.max()))
        between = (USUAL_THRESHOLDS[0], min(highest, USUAL_THRESHOLDS[1]))
    low, high = as_risks(between, "between")
    at = np.linspace(low, high, LOST_STEPS + 1)[1 if low == 0 else 0 :]

    def lost(threshold: float | tuple[float, float]) -> Floats:
        options: dict[str, Any] = {"population": population, "threshold": threshold}
        ends = of.interval(LOST, level, **options)
        return 1000 * np.array([of.estimate(LOST, level, **options), *ends])

    middle, lower, upper = np.transpose([lost(float(each)) for each in at])
    axes = style.as_axes(ax, 5.4, 3.6)
    band = f"{percent(level)} interval"
    _draw_band(axes, at, (lower, middle, upper), style.MODELS[0], "Estimate", band)
    axes.set_xlim(low, high if high > low else None)
    axes.set_ylim(0, max(1.06 * float(upper.max()), LOST_LEAST))
    _by_threshold(
        axes, "Risk from which a patient is treated", "Net benefit lost per 1000 patients"
    )
    most, *ends = lost((low, high)).tolist()
    told = interval(most, ends[0], ends[1], level)
    style.titled(axes, f"Most that is lost from {low:g} to {high:g}, per 1000:\n{told}")
    if as_flag(legend, "legend"):
        style.legend_beneath(axes, columns=2, handlelength=3.2)
    return axes


def value_of_information(
    dataset: xr.Dataset, ax: Axes | None = None, *, legend: bool = True
) -> Axes:
    """Draw the value of information by threshold.

    The expected value of perfect information, of the choice among the strategies and of
    recalibrating, per 1000 patients; if the dataset has them, also those of a further study of each
    size, in paler colours. The strip above is the probability that each strategy is best.

    Parameters
    ----------
    dataset : xarray.Dataset
        From `CalibrationPosterior.value_of_information`; of several sites, one site of it.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.
    legend : bool
        Whether to draw a legend.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on; its strip is among its `child_axes`.

    Raises
    ------
    InputError
        If the dataset is another, or of several sites.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> worth = post.value_of_information(np.linspace(0.05, 0.5, 10), n_more=500)
    >>> bc.plots.value_of_information(worth).get_ylabel()
    'Net benefit per 1000 patients'
    """
    ordered = _as_values(dataset)
    at, shown = ordered["threshold"].to_numpy(), as_flag(legend, "legend")
    axes = style.as_axes(ax, 5.8, 4.9)
    for suffix, told, line in VALUES:
        look: dict[str, Any] = {"color": line.color, "ls": line.ls, "ms": 4}
        look["marker"] = "o" if at.size <= FEW_THRESHOLDS else ""
        if f"evpi{suffix}" in ordered:
            perfect = 1000 * ordered[f"evpi{suffix}"].to_numpy()
            axes.plot(at, perfect, lw=2, label=f"EVPI{told}", clip_on=False, **look)
        if f"evsi{suffix}" in ordered:
            sizes = np.atleast_1d(ordered["n_more"].to_numpy())
            sampled = 1000 * ordered[f"evsi{suffix}"].to_numpy().reshape(at.size, sizes.size)
            for index in np.argsort(sizes):
                alpha = PALEST + (0.85 - PALEST) * (index + 1) / sizes.size
                name = f"EVSI{told}, n = {count(float(sizes[index]))}"
                axes.plot(at, sampled[:, index], lw=1, alpha=alpha, label=name, **look)
    _by_threshold(axes, "Risk at which a patient is treated", "Net benefit per 1000 patients")
    axes.set_ylim(bottom=0)
    around = ALONE if at.size == 1 else 0.0
    axes.set_xlim(max(at[0] - around, 0), min(at[-1] + around, 1))
    strip = _strip(axes)
    _draw_layers(strip, at, ordered["prob_best"].transpose("strategy", "threshold"))
    kinds = "perfect (EVPI) and sample (EVSI)" if "evsi" in ordered else "perfect"
    style.titled(axes, f"Expected value of {kinds} information;\nabove, P(best strategy)")
    if shown:
        handles = [each for part in (axes, strip) for each in part.get_legend_handles_labels()[0]]
        style.legend_beneath(axes, handlelength=3.2, handles=handles)
    return axes


def drift(
    post: MultilevelPosterior,
    name: str = "observed_expected",
    axes: Sequence[Axes] | None = None,
    *,
    limit: float | None = None,
    ci_prob: float = 0.95,
) -> list[Axes]:
    """Draw an error over the periods and, of periods alone, when the curve changed most.

    Parameters
    ----------
    post : MultilevelPosterior
    name : str
        A name in `bayescal.functionals.FUNCTIONALS`. For "observed_expected" and
        "calibration_slope" the estimates from each period alone are hollow squares.
    axes : sequence of two matplotlib.axes.Axes, optional
        By default on a new figure; of periods beside sites or subgroups it is one.
    limit : float, optional
        A value to draw a dotted line at, such as the largest error that is accepted.
    ci_prob : float in (0, 1)

    Returns
    -------
    list of matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the posterior is not of periods, the name is unknown or undefined in these periods, or a
        number is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> post = bc.fit(y_true, y_prob, period=np.repeat([1, 2, 3], 100), random_state=1)
    >>> above, below = bc.plots.drift(post)
    >>> below.get_ylabel()
    'P(largest change)'
    """
    from bayescal.multilevel.compared import RATIO_AND_SLOPE
    from bayescal.multilevel.posterior import MultilevelPosterior, as_multilevel

    chosen, level = check_choice(name, FUNCTIONALS, "name"), as_level(ci_prob)
    line = None if limit is None else as_number(limit, "limit")
    walk = post.problem.walk if isinstance(post, MultilevelPosterior) else None
    alone = walk is None or post.problem.is_walk
    axis = next(iter(as_multilevel(post, "periods").levels)) if walk is None else walk.name
    labels, ratios = post.levels[axis], {"height_ratios": [3, 1.2]} if alone else {}
    panels = style.as_panels(
        axes,
        1 + alone,
        "panels",
        lambda: style.figure_of(1 + alone, 1, (7.2, 3.2 + 2 * alone), gridspec_kw=ratios),
    )
    above = panels[0]
    at, ends = np.arange(len(labels)), _by_period(post, axis, chosen, level)
    above.axhline(ideal(chosen), color=style.DIAGONAL, lw=1, ls="--", zorder=0)
    if line is not None:
        above.axhline(line, color=style.EVENTS, lw=1.2, ls=":", zorder=0)
    _draw_band(above, at, ends, style.MODELS[0], marker="o")
    title = f"Estimate and {percent(level)} credible interval"
    if chosen in RATIO_AND_SLOPE:
        raw = post.table(axis)[f"{chosen}_raw"]
        look: dict[str, Any] = {"mfc": "none", "mec": style.INK, "ms": 5, "mew": 0.9}
        above.plot(at, raw.to_numpy(), "s", **look)
        title += "; squares: each period alone"
    style.titled(above, title)
    above.set_ylabel(short_name(chosen))
    for below in panels[1:]:
        below.bar(at[1:], post.when_changed()["prob"], color=style.EVENTS, width=0.7)
        below.set_ylabel("P(largest change)")
        shares = ", ".join(f"{name} {chance(share)}" for name, share in post.explanations.items())
        style.titled(below, f"Explanations: {shares}", 0.83)
        above.tick_params(axis="x", labelbottom=False)
    step = -(-len(labels) // MOST_TICKS)
    for panel in panels:
        panel.set_xlim(-0.5, len(labels) - 0.5)
        panel.set_xticks(at[::step], [label(each) for each in labels[::step]])
        style.bare(panel)
    if max(map(len, labels)) > 4:
        panels[-1].tick_params(axis="x", rotation=45)
    return panels


def missing_outcomes(
    result: KnownFit,
    close: float,
    ax: Axes | None = None,
    *,
    deltas: ArrayLike = DELTAS_DRAWN,
    ci_prob: float = 0.95,
) -> Axes:
    """Draw the calibration error of all cases, if outcomes are not missing at random.

    Parameters
    ----------
    result : KnownFit
        As `bayescal.fit_known` gives it.
    close : float in (0, 1)
        The largest error that is accepted: a dotted line. Points are filled where the verdict is
        that of outcomes missing at random.
    ax : matplotlib.axes.Axes, optional
        By default on a new figure.
    deltas : array-like of shape (k,)
        By how much the log-odds of missing outcomes differ from those of the known.
    ci_prob : float in (0, 1)

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If `close` is outside (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
    >>> known = np.where(np.arange(300) % 3 > 0, y_true, np.nan)
    >>> result = bc.fit_known(known, y_prob, random_state=1)
    >>> bc.plots.missing_outcomes(result, 0.05, deltas=[-1, 0, 1]).get_ylabel()
    'TCE of all cases'
    """
    from bayescal.fitting.unknown import KnownFit

    check_type(result, KnownFit, "result", "Pass what bayescal.fit_known returns.")
    limit, level = as_level(close, "close"), as_level(ci_prob)
    table = result.verdicts(limit, deltas, level).sort_index()
    at_random = result.verdicts(limit, [0.0], level)["verdict"].iloc[0]
    axes = style.as_axes(ax, 6.4, 3.6)
    at, same = table.index.to_numpy(), (table["verdict"] == at_random).to_numpy()
    lower, middle, upper = (table[end].to_numpy() for end in ("lower", "estimate", "upper"))
    axes.axhline(limit, color=style.EVENTS, lw=1.2, ls=":", zorder=0)
    axes.axvline(0, color=style.DIAGONAL, lw=1, ls="--", zorder=0)
    _draw_band(axes, at, (lower, middle, upper), style.MODELS[0])
    for which, face in ((same, style.CURVE), (~same, "white")):
        axes.plot(at[which], middle[which], "o", mfc=face, mec=style.CURVE, ms=5)
    axes.set_xlabel("Delta: log-odds of missing outcomes less those of the known")
    axes.set_ylabel("TCE of all cases")
    told = f"Estimate and {percent(level)} interval; filled: {at_random}, as if missing at random"
    style.titled(axes, told, 0.83)
    axes.set_ylim(bottom=0)
    style.bare(axes)
    return axes


def plan(result: Any, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
    """Draw how width and assurance depend on the number of patients.

    On the left the mean width of the interval in simulated studies, and the width that a share
    `assurance` of them keeps to, beside the width by Riley's closed form where there is one. On
    the right the share of the studies that reach the goal, with its 95 % Monte Carlo interval. The
    vertical line is the planned size.

    Parameters
    ----------
    result : Plan, or pandas.DataFrame
        From `bayescal.plan`, or its `table`.
    axes : matplotlib.axes.Axes or sequence of them, optional
        Where to draw, one a panel; by default on a new figure. A plan for a conclusion, or for a
        mean width, has one panel.

    Returns
    -------
    list of matplotlib.axes.Axes

    Raises
    ------
    InputError
        If `result` is not from `bayescal.plan`, or there are not as many axes as panels.

    Examples
    --------
    >>> import bayescal as bc
    >>> scores = bc.simulate.scores(prevalence=0.2, c_statistic=0.75)
    >>> goal = {"of": "calibration_slope", "width": 0.3, "analysis": "wald"}
    >>> result = bc.plan(**goal, truth="clinical", scores=scores, random_state=1)
    >>> [panel.get_xlabel() for panel in bc.plots.plan(result)]
    ['Patients', 'Patients']
    """
    table = _as_plan(result)
    draw = [_draw_widths] if table.attrs["width"] is not None else []
    if table.attrs["assurance"] is not None:
        draw = [*draw, _draw_assurance]
    size = len(draw)
    panels = style.as_panels(
        axes, size, "panels", lambda: style.figure_of(1, size, (4.4 * size, 3.5))
    )
    for ax, panel in zip(panels, draw, strict=True):
        panel(ax, table)
        _draw_size(ax, table)
    return panels


def _draw_band(
    ax: Axes,
    at: NDArray[Any],
    ends: Sequence[Floats],
    look: Line,
    told: str | None = None,
    band: str | None = None,
    *,
    shade: float = style.BAND_SHADE,
    **line: Any,
) -> None:
    """A line between the ends of its intervals: lower, middle and upper."""
    lower, middle, upper = ends
    ax.fill_between(at, lower, upper, color=look.color, alpha=shade, lw=0, label=band)
    line = {"lw": 1.8, "ms": 4} | line
    ax.plot(at, middle, color=look.color, ls=look.ls, label=told, **line)


def _by_threshold(ax: Axes, across: str, up: str) -> None:
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    ax.locator_params(axis="y", nbins=style.TICKS)
    ax.locator_params(axis="x", nbins=style.TICKS - 2)
    style.bare(ax)


def _strip(ax: Axes) -> Axes:
    """A strip above the axes for the probability of what is best."""
    strip = ax.inset_axes(STRIP, sharex=ax)
    strip.set_ylim(0, 1)
    strip.set_yticks([0, 0.5, 1], ["0", "", "1"], fontsize=style.small())
    strip.tick_params(axis="x", labelbottom=False, length=0)
    strip.set_ylabel("P(best)", fontsize=style.small())
    strip.set_label("best")
    style.bare(strip)
    return strip


def _draw_layers(strip: Axes, at: Floats, shares: xr.DataArray) -> None:
    """The probability that each strategy is best, as layers."""
    each = [SHADES[str(name)] for name in shares["strategy"].to_numpy()]
    names, colours = zip(*each, strict=True)
    layers = shares.to_numpy()
    if at.size == 1:
        at, layers = at[0] + np.array([-0.01, 0.01]), np.repeat(layers, 2, axis=1)
    strip.stackplot(at, layers, labels=names, colors=colours, ec=style.INK, lw=0.4)


def _quantiles(values: xr.DataArray, level: float) -> tuple[Floats, Floats, Floats]:
    lower, median, upper = np.quantile(
        values.to_numpy(), [(1 - level) / 2, 0.5, (1 + level) / 2], axis=(0, 1)
    )
    return lower, median, upper


def _where_best(benefit: Mapping[str, xr.Dataset], at: Floats, level: float) -> str:
    """Where the model is probably the best choice, when there is one model."""
    if len(benefit) > 1:
        bands = f"Median and {percent(level)} band of the net benefit"
        return f"{bands};\nabove, P(better than treating everyone or no one)"
    best = at[next(iter(benefit.values()))["prob_best"].to_numpy() >= level]
    if not best.size:
        return f"Nowhere better than treating everyone or no one\nwith probability {level:g}"
    where = f"at {best[0]:.3g}"
    if best[0] != best[-1]:
        gaps = np.count_nonzero((at >= best[0]) & (at <= best[-1])) > best.size
        where = f"{'at some' if gaps else 'for'} risks from {best[0]:.3g} to {best[-1]:.3g}"
    told = "Better than treating everyone or no one, with"
    return f"{told}\nprobability {level:g} or more, {where}"


def _as_values(dataset: xr.Dataset) -> xr.Dataset:
    """The dataset in ascending order of the thresholds, each once."""
    import xarray as xr

    check_type(dataset, xr.Dataset, "dataset", VALUE_CURE)
    missing = {"evpi", "prob_best", "threshold"} - {str(name) for name in dataset.variables}
    if missing:
        raise InputError(f"dataset has no {', '.join(sorted(missing))}. {VALUE_CURE}")
    if "site" in dataset.dims:
        raise InputError(
            "dataset is of several sites: draw one of them, such as dataset.sel(site='north')."
        )
    if not dataset.sizes["threshold"]:
        raise InputError(f"dataset has no thresholds. {VALUE_CURE}")
    return dataset.drop_duplicates("threshold").sortby("threshold")


def _by_period(post: MultilevelPosterior, axis: str, name: str, level: float) -> list[Floats]:
    """Lower end, estimate and upper end of the interval in each period."""
    rows = []
    for period in post.levels[axis]:
        table = post.at({axis: period}).summary(level, names=[name])
        if name not in table.index:
            raise InputError(f"name={name!r} is not defined by the scores of period {period!r}.")
        rows.append(table.loc[name, ["lower", "estimate", "upper"]].to_numpy(np.float64))
    return list(np.transpose(rows))


def _draw_widths(ax: Axes, table: pd.DataFrame) -> None:
    """Widths of the interval by the number of patients."""
    attrs = table.attrs
    kept = f"Width kept to by {100 * (attrs['assurance'] or 0):.3g} % of studies"
    lines = (
        ("closed_form", Line(style.DIAGONAL, (0, (5, 2))), "", "Riley's closed form"),
        ("width", Line(style.CURVE, "-"), "o", "Mean width"),
        ("width_assured", Line(style.EVENTS, "-"), "D", kept),
    )
    for column, look, marker, told in lines:
        if column == "width_assured" and attrs["assurance"] is None:
            continue
        if table[column].notna().all() or column != "closed_form":
            line: dict[str, Any] = {"color": look.color, "ls": look.ls, "marker": marker}
            ax.plot(table["n"], table[column], ms=4, lw=1.4, label=told, **line)
    ax.axhline(attrs["width"], color=style.INK, lw=style.THIN, ls=":")
    drawn = [*table["width"], *table["width_assured"], *table["closed_form"], attrs["width"]]
    finite = [value for value in drawn if np.isfinite(value)]
    low, high = 0.85 * min(finite), 1.2 * max(finite)
    style.bend(ax.yaxis, "log", low, high)
    ax.set_ylim(low, high)
    ax.set_ylabel("Width of the interval")
    _plan_title(ax, attrs["interval"])
    ax.legend(loc="upper right", fontsize=style.small(), edgecolor="none", handlelength=1.5)


def _draw_assurance(ax: Axes, table: pd.DataFrame) -> None:
    """The share of studies that reach the goal, by the number of patients."""
    attrs = table.attrs
    error = np.minimum(HALF * table["reached_error"], 1.0)
    low, high = np.maximum(table["reached"] - error, 0), np.minimum(table["reached"] + error, 1)
    ax.vlines(table["n"], low, high, color=style.CURVE, lw=1.2)
    ax.plot(table["n"], table["reached"], "o-", color=style.CURVE, ms=4, lw=1.4)
    ax.axhline(attrs["assurance"], color=style.INK, lw=style.THIN, ls=":")
    ax.set_ylim(0, 1.02)
    ax.set_ylabel("Share of studies")
    conclusion = attrs["conclude"]
    told = f"With an interval no wider than {attrs['width']:g}" if conclusion is None else ""
    _plan_title(ax, told or f"Concluding: {TOLD_AS.get(conclusion, conclusion)}")


def _draw_size(ax: Axes, table: pd.DataFrame) -> None:
    """The planned size, with its Monte Carlo interval, on a log axis of patients."""
    attrs = table.attrs
    n, error = attrs["n"], HALF * attrs["monte_carlo_error"]
    ax.axvspan(max(n - error, 1), n + error, color=style.INK, alpha=0.12, lw=0)
    ax.axvline(n, color=style.INK, lw=1)
    low, high = min(table["n"].min(), n) / 1.15, max(table["n"].max(), n) * 1.15
    style.bend(ax.xaxis, "log", low, high)
    ax.set_xlim(low, high)
    ax.set_xlabel("Patients")
    beside: dict[str, Any] = {"fontsize": style.small(), "color": style.INK}
    beside |= {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
    ax.annotate(count(n), (n, 0), (3, 3), **beside)
    style.bare(ax)


def _plan_title(ax: Axes, text: str) -> None:
    style.titled(ax, fill(capitalised(text), 44), 0.83)


def _as_plan(result: Any) -> pd.DataFrame:
    import pandas as pd

    table: pd.DataFrame = getattr(result, "table", result)
    is_plan = isinstance(table, pd.DataFrame) and {*PLAN_COLUMNS} <= {*map(str, table.columns)}
    if not is_plan or "monte_carlo_error" not in table.attrs:
        raise InputError(
            f"result must be what bayescal.plan returns, or its table, got "
            f"{shortened(repr(result))}."
        )
    return table
