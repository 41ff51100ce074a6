"""Rows with an estimate and an interval: measures, sites, subgroups, periods, one patient's risk.

One function draws every forest: `_draw_rows`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.errors import InputError, as_items, as_level, check_choice, check_type
from bayescal.core.text import chance, percent, shortened
from bayescal.estimators.registry import ESTIMATORS
from bayescal.inference import CurveComparison
from bayescal.plots import style
from bayescal.plots.text import axis_label, ideal, label, numbers, scale_of, short_name
from bayescal.posterior.functionals import FUNCTIONALS, UNITS
from bayescal.posterior.posterior import as_posterior

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from bayescal.multilevel.compared import Part
    from bayescal.multilevel.posterior import MultilevelPosterior
    from bayescal.posterior.posterior import CalibrationPosterior

MOST_DRAWN = 80
# Inches of a row, and of what stands above and below all rows.
ROW, HEADER = 0.27, 0.9
# Rows left free before the average and the next one, and before the name of a factor.
ROWS_APART, BEFORE_HEADING = 0.6, 0.3
# Size of the dot of a row without cases, in points, and how much that of the most cases adds.
LEAST, MOST = 3.0, 4.0
# Where the axes stand between names and numbers, as shares of a figure that a page lays out.
BETWEEN = {"left": 0.2, "right": 0.72}
# Standard errors that a bar of a difference in log predictive density holds, and half of the
# height of a bar of a probability.
ERRORS, HALF = 2, 0.19


@dataclass(frozen=True)
class Row:
    """One line of a forest.

    Attributes
    ----------
    middle, lower, upper : float
        Ends are NaN where there is no interval.
    ideal : float
        At perfect calibration.
    kind : {"one", "pooled", "estimator", "heading"}
        A group or a measure; an average or the next one; an estimator beside the posterior; or
        the name of a factor, without numbers.
    raw : float
        The estimate from the group alone; NaN where there is none.
    share : float
        Cases, as a share of the largest group's.
    beside : str
        What stands at the right; by default the numbers.
    """

    name: str
    middle: float = np.nan
    lower: float = np.nan
    upper: float = np.nan
    ideal: float = np.nan
    kind: str = "one"
    raw: float = np.nan
    share: float = 0.25
    beside: str = ""
    scale: str = ""

    @property
    def is_off(self) -> bool:
        """Whether the interval excludes the ideal."""
        return not self.lower <= self.ideal <= self.upper


def forest(
    post: CalibrationPosterior | MultilevelPosterior | pd.DataFrame,
    axes: Axes | Sequence[Axes] | None = None,
    *,
    names: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    estimators: Mapping[str, Any] | pd.DataFrame | None = None,
    ci_prob: float = 0.95,
) -> list[Axes]:
    """Draw estimates with their intervals and ideal values: of measures, or of groups.

    Of one curve the rows are measures, in one panel for each scale, since errors, ratios and
    log-odds share no axis; estimators are squares beneath the measures of their scale.

    Of several curves the rows are sites in the order of their estimates, or periods or levels in
    theirs, in one panel for each measure; at the foot stand the average and what the next one will
    meet. Dots are filled where the interval excludes the ideal, and larger for more cases; hollow
    squares are what each group says alone, where there is such an estimate. Numbers stand at the
    right, and a dashed line marks the value at perfect calibration.

    Parameters
    ----------
    post : CalibrationPosterior, MultilevelPosterior or DataFrame
        A posterior, or what the `summary` of one curve gave.
    axes : matplotlib.axes.Axes or sequence of them, optional
        Where to draw, one a panel; by default on a new figure.
    names : str or sequence of str, optional
        Functionals to draw; by default all of one curve, and "observed_expected" of several.
    by : str or sequence of str, optional
        Of several curves: one role whose levels are rows, or several for their combinations; by
        default the levels of each in turn, under its name.
    estimators : mapping or DataFrame, optional
        From names to (estimate, lower, upper), or to the estimate alone; or a table with the
        column estimate, and lower and upper if it has intervals. Names in `bayescal.estimators`
        are put on their own scale, others on that of errors.
    ci_prob : float in (0, 1)
        Of the posterior's intervals; a summary has its own.

    Returns
    -------
    list of matplotlib.axes.Axes
        The axes drawn on, one a panel.

    Raises
    ------
    InputError
        If a name is unknown, an estimator is not one or three numbers, there are more than 80
        groups, or not as many axes as panels.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> panels = bc.plots.forest(post, estimators={"ece": (0.09, 0.04, 0.12)})
    >>> [panel.get_xlabel() for panel in panels]
    ['Error (difference in probability)', 'Ratio', 'Log-odds']

    Of sites:

    >>> post = bc.fit(y_true, y_prob, site=np.resize(["A", "B", "C"], 300), random_state=1)
    >>> (ax,) = bc.plots.forest(post)
    >>> [text.get_text() for text in ax.get_yticklabels()][-2:]
    ['Average site', 'Next site']
    """
    from bayescal.multilevel.posterior import MultilevelPosterior

    level = as_level(ci_prob)
    if isinstance(post, MultilevelPosterior):
        if estimators is not None:
            raise InputError("estimators stand beside one curve, and post holds several.")
        return _groups(post, axes, names, by, level)
    if by is not None:
        raise InputError("by is of several curves, and the posterior has one. Leave it out.")
    table, level = _as_table(post, level)
    rows = [*_functionals(table, names), *_estimates(estimators)]
    scales = {scale: [row for row in rows if row.scale == scale] for scale in UNITS}
    scales = {scale: members for scale, members in scales.items() if members}
    panels = style.as_panels(
        axes, len(scales), "scales", lambda: _new_scales(scales, estimators is not None, level)
    )
    for ax, (scale, members) in zip(panels, scales.items(), strict=True):
        _draw_rows(ax, members)
        ax.set_xlabel(UNITS[scale])
    return panels


def risks(
    post: CalibrationPosterior | MultilevelPosterior,
    y_prob: float,
    ax: Axes | None = None,
    *,
    threshold: float | None = None,
    at: Any = None,
    ci_prob: float = 0.95,
) -> Axes:
    """Draw the actual risk of one patient, with an interval for each curve that may hold.

    Parameters
    ----------
    post : CalibrationPosterior or MultilevelPosterior
        Of several curves, a row each: this hospital, the average one and a new one; now and the
        next period.
    y_prob : float in [0, 1]
        The model's probability of the patient: the dashed line.
    ax : matplotlib.axes.Axes, optional
        By default on a new figure.
    threshold : float in (0, 1), optional
        The risk from which a patient is treated: a dotted line. Beside each row stands the
        probability that the actual risk is on its other side than the score.
    at : str or mapping of str to str, optional
        Where the patient is, as of `MultilevelPosterior.risks`.
    ci_prob : float in (0, 1)

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the score is not one number in [0, 1], or as `MultilevelPosterior.risks`.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> bc.plots.risks(post, 0.25, threshold=0.2).get_xlabel()
    'Risk'
    """
    from bayescal.multilevel.posterior import MultilevelPosterior

    limit = None if threshold is None else as_level(threshold, "threshold")
    thresholds = () if limit is None else (limit,)
    if isinstance(post, MultilevelPosterior):
        table = post.risks(y_prob, thresholds, ci_prob, at=at)
        names = table.index.get_level_values("curve").tolist()
    elif at is not None:
        raise InputError("at= is of several curves, and the posterior has one. Leave it out.")
    else:
        table = as_posterior(post).risks(y_prob, thresholds, ci_prob)
        names = ["These patients"] * len(table)
    if len(names) != len(set(names)):
        raise InputError(f"y_prob must be the score of one patient, and holds {len(table)}.")
    rows = []
    for name, row in zip(names, table.to_dict("records"), strict=True):
        told = numbers(row["risk"], row["lower"], row["upper"])
        if limit is not None:
            told += f"\nP(other decision) {chance(row[f'flips@{limit:g}'])}"
        ends = row["risk"], row["lower"], row["upper"], row["score"]
        rows.append(Row(label(name), *ends, beside=told))
    axes = style.as_axes(ax, 6.4, 1.2 + 0.4 * len(rows), **BETWEEN)
    if limit is not None:
        axes.axvline(limit, color=style.EVENTS, lw=1.2, ls=":", zorder=0)
    _draw_rows(axes, rows)
    axes.set_xlabel("Risk")
    style.titled(axes, f"Mean and {percent(ci_prob)} interval; dashed: the score", 0.83)
    return axes


def comparison(cmp: CurveComparison, axes: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw a comparison of families of curves.

    Left: the posterior probability of each family, with its prior probability below. Right: how
    much better it predicts than `identity`, which uses the scores unchanged:
    the difference in expected log predictive density, by leave-one-out, plus and minus two
    standard errors.

    Parameters
    ----------
    cmp : CurveComparison
        From `bayescal.compare`.
    axes : two matplotlib.axes.Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    list of matplotlib.axes.Axes

    Raises
    ------
    InputError
        If `cmp` is not a comparison, or there are not two axes.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC, Statistics and Computing 27.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> left, right = bc.plots.comparison(bc.compare(y_true, y_prob, random_state=1))
    >>> left.get_xlabel()
    'Probability'
    """
    check_type(cmp, CurveComparison, "cmp", "Pass what bayescal.compare returns.")
    table, rows = cmp.table, np.arange(len(cmp.table))
    size = 6.8, 1.7 + 0.42 * rows.size
    panels = style.as_panels(axes, 2, "panels", lambda: style.figure_of(1, 2, size, sharey=True))
    left, right = panels
    posterior, prior = table["posterior_prob"].tolist(), table["prior"].tolist()
    hollow: dict[str, Any] = {"color": "white", "ec": style.NON_EVENTS, "hatch": "////"}
    left.barh(rows - HALF, posterior, 2 * HALF, color=style.CURVE, label="Posterior")
    left.barh(rows + HALF, prior, 2 * HALF, label="Prior", **hollow)
    for at, (probability, before) in enumerate(zip(posterior, prior, strict=True)):
        shown = chance(probability) if before else "not in the average"
        x, y = (probability + 0.02, at - HALF) if before else (0.02, at)
        left.text(x, y, shown, va="center", color=style.INK)
    left.set_xlim(0, 1.12)
    left.set_xticks(np.linspace(0, 1, 5))
    left.set_xlabel("Probability")
    style.legend_beneath(left, columns=2)
    identity = list(table.index).index("identity")
    exact = f"Exactly calibrated: {chance(posterior[identity])},\nfrom a prior of "
    style.titled(left, f"{exact}{prior[identity]:g}")

    difference, error = table["elpd_diff"].to_numpy(), table["elpd_diff_error"].to_numpy()
    right.axvline(0, color=style.DIAGONAL, lw=1, ls="--")
    ends = difference - ERRORS * error, difference + ERRORS * error
    right.hlines(rows, *ends, color=style.CURVE, lw=2)
    right.plot(difference, rows, "o", color="white", mec=style.CURVE, ms=6)
    right.set_xlabel("Log predictive density, less\nthat of identity (bars: 2 SE)")
    best = int(difference.argmax())
    told = "No curve clearly predicts\nbetter than identity"
    if difference[best] > ERRORS * error[best]:
        by = f"+{difference[best]:.1f} (SE {error[best]:.1f}) over identity"
        told = f"{table.index[best]} predicts best:\n{by}"
    style.titled(right, told)
    for ax in panels:
        ax.set_yticks(rows, [str(name) for name in table.index])
        ax.set_ylim(rows.size - 0.5, -0.5)
        style.bare(ax)
        ax.tick_params(axis="y", length=0)
    if axes is None:
        right.tick_params(axis="y", labelleft=False)
    return panels


def groups_of(post: Any, by: Any = None) -> list[Part]:
    """The sites, periods or levels of several curves, as many as fit on a figure."""
    from bayescal.multilevel.posterior import MultilevelPosterior

    cure = "Pass what bayescal.fit returns with site=, period= or subgroup=."
    groups = check_type(post, MultilevelPosterior, "post", cure).parts(by)
    if len(groups) > MOST_DRAWN:
        raise InputError(
            f"post holds {len(groups)} groups, and at most {MOST_DRAWN} fit on a figure. Its "
            "table, `post.table()`, has all of them; by= chooses some."
        )
    return groups


def _groups(
    post: MultilevelPosterior, axes: Any, names: str | Sequence[str] | None, by: Any, level: float
) -> list[Axes]:
    given = "observed_expected" if names is None else names
    chosen = [check_choice(name, FUNCTIONALS, "names") for name in as_names(given)]
    groups, factors = groups_of(post, by), list(post.levels)
    views = {(group.factor, group.level): post.at(group.levels) for group in groups}
    one = by if isinstance(by, str) else factors[0] if len(factors) == 1 else None
    if one is None or (len(factors) > 1 and one != "site"):
        pooled = {"All cases": post.at()}
    else:
        pooled = {f"Next {one}": post.new(one)}
    rows_of_each, order = [_rows_of(post, views, name, level) for name in chosen], list(views)
    if one is not None and one != "period":  # others have an order of their own
        first = rows_of_each[0]
        order.sort(key=lambda key: first[key].middle if key in first else np.inf)
        pooled = {f"Average {one}": post.average()} | pooled
    shown, tables = dict.fromkeys(factor for factor, _ in order), []
    for name, rows in zip(chosen, rows_of_each, strict=True):
        made: list[Row | None] = []
        for factor in shown:
            made += [Row(label(factor), kind="heading")] * (len(shown) > 1)
            made += [rows[key] for key in order if key[0] == factor and key in rows]
        made += [_row_of(each, view, name, level, kind="pooled") for each, view in pooled.items()]
        tables.append([row for row in made if row is not None])
    size = 7.2 * (1 + 0.6 * (len(chosen) - 1)), HEADER + 0.6 + ROW * (len(tables[0]) + 1)
    panels = style.as_panels(
        axes,
        len(chosen),
        "measures",
        lambda: style.figure_of(1, len(chosen), size, gridspec_kw=BETWEEN),
    )
    for ax, name, table in zip(panels, chosen, tables, strict=True):
        _draw_rows(ax, table, f"{short_name(name)} ({percent(level)} CrI)")
        _bend_ratio(ax, name, table)
        ax.set_xlabel(axis_label(name))
        told = f"Filled: the interval excludes {ideal(name):g}"
        told += "\nSquares: each alone" if any(row.raw == row.raw for row in table) else ""
        style.titled(ax, told, 0.83)
    return panels


def _rows_of(
    post: MultilevelPosterior,
    views: Mapping[tuple[str, str], CalibrationPosterior],
    name: str,
    level: float,
) -> dict[tuple[str, str], Row]:
    """A row for each group whose scores define the measure, by factor and level."""
    from bayescal.multilevel.compared import known_of

    rows = {}
    known = {key: known_of(post.problem, key[1], view) for key, view in views.items()}
    most = max([1.0, *(size["cases"] for size, _ in known.values() if size["cases"] > 0)])
    for key, view in views.items():
        size, raw = known[key]
        share = float(np.nan_to_num(size["cases"])) / most
        row = _row_of(key[1], view, name, level, raw=raw.get(name, np.nan), share=share)
        if row is not None:
            rows[key] = row
    return rows


def _row_of(
    title: str, view: CalibrationPosterior, name: str, level: float, **more: Any
) -> Row | None:
    table = view.summary(level, names=[name])
    if name not in table.index:
        return None
    middle, lower, upper = (float(table[end][name]) for end in ("estimate", "lower", "upper"))
    beside = numbers(middle, lower, upper, FUNCTIONALS[name].apart)
    return Row(label(title), middle, lower, upper, ideal(name), beside=beside, **more)


def _bend_ratio(ax: Axes, name: str, rows: Sequence[Row]) -> None:
    """A log axis for O/E, where half and twice as many events are equally far from the ideal."""
    ends = np.array([end for row in rows for end in (row.lower, row.upper)])
    if name != "observed_expected" or not np.nanmin(ends) > 0:
        return
    low, high = float(np.nanmin([*ends, 0.9])) / 1.08, float(np.nanmax([*ends, 1.1])) * 1.08
    style.bend(ax.xaxis, "log", low, high)
    ax.set_xlim(low, high)


def _draw_rows(ax: Axes, rows: Sequence[Row], header: str = "") -> None:
    """A forest: names at the left, dots and intervals, numbers at the right."""
    for value in {row.ideal for row in rows if row.ideal == row.ideal}:
        ax.axvline(value, color=style.DIAGONAL, lw=1, ls="--", zorder=0)
    beside: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "va": "center"}
    beside |= {"fontsize": style.small(0.83), "color": style.INK}
    heights, at = [], 0.0
    pooled = next((row for row in rows if row.kind == "pooled"), None)
    for row in rows:
        if row is pooled:
            ax.axhline(at + ROWS_APART / 2 - 0.5, color=style.NON_EVENTS, lw=style.THIN)
        at += ROWS_APART * (row is pooled) + BEFORE_HEADING * (row.kind == "heading")
        heights.append(at)
        if row.kind != "heading":
            _draw_row(ax, row, at)
            ax.text(1.02, at, row.beside or _numbers_of(row), **beside)
        at += 1
    if header:
        ax.text(1.02, -1, header, **beside)
    ax.set_yticks(heights, [row.name for row in rows])
    for tick, row in zip(ax.get_yticklabels(), rows, strict=True):
        tick.set_fontweight("bold" if row.kind == "heading" else "normal")
    ax.set_ylim(heights[-1] + 0.6, -0.6 - bool(header))
    style.bare(ax, "left")


def _draw_row(ax: Axes, row: Row, at: float) -> None:
    """A bar and its dot: filled if it excludes the ideal; diamonds pool, squares estimate."""
    marker, colour, size = "o", style.CURVE, LEAST + MOST * np.sqrt(row.share)
    if row.kind == "pooled":
        marker, colour, size = "D", style.EVENTS, 6.5
    elif row.kind == "estimator":
        marker, colour = "s", style.EVENTS
    if not np.isnan(row.raw):
        ax.plot(row.raw, at, "s", mfc="none", mec=style.NON_EVENTS, ms=4.5, mew=style.THIN)
    thick, filled = (1.2, False) if row.kind == "estimator" else (2, row.is_off)
    ax.plot([row.lower, row.upper], [at] * 2, color=colour, lw=thick, solid_capstyle="butt")
    dot: dict[str, Any] = {"mfc": colour if filled else "white", "mec": colour, "mew": 1.2}
    ax.plot(row.middle, at, marker, ms=size, **dot)


def _numbers_of(row: Row) -> str:
    return numbers(row.middle, row.lower, row.upper, row.ideal or None)


def _new_scales(
    scales: Mapping[str, Sequence[Row]], has_estimators: bool, level: float
) -> list[Axes]:
    sizes = [len(members) for members in scales.values()]
    size = 6.4, 0.5 + 0.62 * len(sizes) + ROW * sum(sizes)
    panels = style.figure_of(len(sizes), 1, size, height_ratios=[each + 0.2 for each in sizes])
    title = f"Estimates and {percent(level)} credible intervals\n"
    title += "Filled: the interval excludes the ideal (dashed)"
    title += ". Squares: estimators" * has_estimators
    style.headed(panels[0], title)
    return panels


def as_names(names: str | Sequence[str]) -> list[str]:
    """Names of functionals: one alone, or several."""
    given = [names] if isinstance(names, str) else [str(name) for name in as_items(names, "names")]
    if not given:
        raise InputError("names is empty: name a functional, such as 'tce'.")
    return given


def _functionals(table: pd.DataFrame, names: str | Sequence[str] | None) -> list[Row]:
    chosen = as_names([str(name) for name in table.index] if names is None else names)
    for name in chosen:
        check_choice(name, map(str, table.index), "names")
    return [
        Row(
            short_name(name),
            float(table["estimate"][name]),
            float(table["lower"][name]),
            float(table["upper"][name]),
            ideal(name),
            scale=scale_of(name),
        )
        for name in chosen
    ]


def _estimates(estimators: Mapping[str, Any] | pd.DataFrame | None) -> list[Row]:
    if estimators is None:
        return []
    if not isinstance(estimators, Mapping):
        if not hasattr(estimators, "columns"):
            given = shortened(repr(estimators))
            raise InputError(f"estimators must be a mapping or a data frame, got {given}.")
        if "estimate" not in estimators.columns:
            raise InputError("estimators must have the column estimate.")
        ends = ("lower", "upper") if {"lower", "upper"} <= {*estimators.columns} else ()
        estimators = {
            str(name): tuple(estimators[column][name] for column in ("estimate", *ends))
            for name in estimators.index
        }
    rows = []
    for name, given in estimators.items():
        try:
            numbers = np.ravel(np.asarray(given, dtype=float))
        except (TypeError, ValueError, OverflowError):
            numbers = np.empty(0)
        if numbers.size not in (1, 3):
            raise InputError(
                f"estimators[{shortened(repr(name))}] holds {numbers.size} numbers. Give the "
                "estimate, or the estimate and both ends of its interval."
            )
        middle, lower, upper = numbers if numbers.size == 3 else (numbers[0], np.nan, np.nan)
        known = ESTIMATORS.get(name)
        title, perfect = (known.title, known.perfect) if known else (label(name), 0.0)
        numbers_of = float(middle), float(lower), float(upper), perfect
        rows.append(Row(title, *numbers_of, kind="estimator", scale=scale_of(name)))
    return rows


def _as_table(post: Any, level: float) -> tuple[pd.DataFrame, float]:
    is_posterior = hasattr(post, "summary") and not isinstance(post, type)
    table = post.summary(level) if is_posterior else post
    if not {"estimate", "lower", "upper"} <= set(getattr(table, "columns", ())):
        raise InputError(
            f"post must be a CalibrationPosterior or its summary, got {type(post).__name__}. "
            "Pass what bayescal.fit returns."
        )
    return table, level if is_posterior else float(table.attrs.get("ci_prob", level))
