"""A forest: every functional with its interval, and estimators beneath."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescal.core.errors import InputError, as_items, as_level, check_choice
from bayescal.core.text import shortened
from bayescal.estimators.registry import ESTIMATORS
from bayescal.plots import style
from bayescal.plots._names import ideal, scale_of, short_name
from bayescal.plots.text import label, minus, percent, rounded
from bayescal.posterior.functional import UNITS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["forest"]


class Row(NamedTuple):
    """One line of the forest.

    Attributes
    ----------
    middle, lower, upper : float
        Ends are NaN where there is no interval.
    ideal : float
        At perfect calibration.
    is_posterior : bool
        A functional of the posterior, or an estimator.
    """

    label: str
    scale: str
    middle: float
    lower: float
    upper: float
    ideal: float
    is_posterior: bool


def forest(
    post: CalibrationPosterior | pd.DataFrame,
    axes: Axes | Sequence[Axes] | None = None,
    *,
    names: Sequence[str] | None = None,
    estimators: Mapping[str, Any] | pd.DataFrame | None = None,
    ci_prob: float = 0.95,
) -> list[Axes]:
    """Draw functionals with their estimates, intervals and ideal values.

    One panel for each scale, since errors, ratios and log-odds share no axis; numbers stand at
    the right. A dashed line marks the value at perfect calibration. Estimators are squares beneath
    the functionals of their scale.

    Parameters
    ----------
    post : CalibrationPosterior or DataFrame
        A posterior, or what its `summary` gave.
    axes : matplotlib.axes.Axes or sequence of them, optional
        Where to draw, one a scale in the order errors, ratios, log-odds; by default on a new
        figure.
    names : sequence of str, optional
        Functionals to draw; by default all, and ICI in the row of TCE when they are equal.
    estimators : mapping or DataFrame, optional
        From names to (estimate, lower, upper), or to the estimate alone; or a table with the
        column estimate, and lower and upper if it has intervals. Names in `bayescal.estimators`
        are put on their own scale, others on that of errors.
    ci_prob : float in (0, 1)
        Of the posterior's intervals; a summary has its own.

    Returns
    -------
    list of matplotlib.axes.Axes
        The axes drawn on, one a scale.

    Raises
    ------
    InputError
        If a name is unknown, an estimator is not one or three numbers, or there are not as many
        axes as scales.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> panels = bc.plots.forest(post, estimators={"ece": (0.09, 0.04, 0.12)})
    >>> [panel.get_xlabel() for panel in panels]
    ['Error (difference in probability)', 'Ratio', 'Log-odds']
    """
    table, level = _as_table(post, ci_prob)
    rows = [*_functionals(table, names), *_estimates(estimators)]
    groups = {scale: [row for row in rows if row.scale == scale] for scale in UNITS}
    groups = {scale: members for scale, members in groups.items() if members}
    panels = (
        _new_panels(
            [len(members) for members in groups.values()], bool(estimators is not None), level
        )
        if axes is None
        else style.as_panels(axes, len(groups), "scales")
    )
    for ax, (scale, members) in zip(panels, groups.items(), strict=True):
        _draw(ax, members)
        ax.set_xlabel(UNITS[scale])
    return panels


def _draw(ax: Axes, rows: Sequence[Row]) -> None:
    for value in {row.ideal for row in rows}:
        ax.axvline(value, color=style.DIAGONAL, lw=1, ls="--", zorder=0)
    for height, row in enumerate(rows):
        colour = style.CURVE if row.is_posterior else style.EVENTS
        ax.plot(
            [row.lower, row.upper], [height] * 2, color=colour, lw=2 if row.is_posterior else 1.2
        )
        ax.plot(
            row.middle,
            height,
            "o" if row.is_posterior else "s",
            color=colour if row.is_posterior else "white",
            mec=colour,
            ms=5,
        )
        ax.text(
            1.02,
            height,
            _numbers(row),
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize="small",
            color=style.INK,
        )
    ax.set_yticks(range(len(rows)), [row.label for row in rows])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.spines[["top", "right", "left"]].set_visible(False)


def _numbers(row: Row) -> str:
    if np.isnan(row.lower):
        return minus(f"{row.middle:.3f}")
    numbers, apart = (row.middle, row.lower, row.upper), row.ideal or None
    middle, lower, upper = rounded(numbers, *numbers[1:], apart)
    return minus(f"{middle} ({lower} to {upper})")


def _new_panels(sizes: Sequence[int], has_estimators: bool, level: float) -> list[Axes]:
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        len(sizes),
        1,
        figsize=(6.4, 0.5 + 0.62 * len(sizes) + 0.27 * sum(sizes)),
        height_ratios=[size + 0.2 for size in sizes],
        squeeze=False,
        layout="constrained",
    )
    title = (
        f"Posterior estimate and {percent(level)} credible interval; dashed: perfect calibration"
    )
    if has_estimators:
        title += "\nSquares: estimators"
    figure.suptitle(title, fontsize="medium", x=0.01, ha="left")
    return list(panels.flat)


def _functionals(table: pd.DataFrame, names: Sequence[str] | None) -> list[Row]:
    chosen = [str(name) for name in (table.index if names is None else as_items(names, "names"))]
    if not chosen:
        raise InputError("names is empty: name a functional, such as 'tce'.")
    for name in chosen:
        check_choice(name, map(str, table.index), "names")
    numbers = {name: _read(table, name, ("estimate", "lower", "upper")) for name in chosen}
    return [
        Row(short_name(name), scale_of(name), middle, lower, upper, ideal(name), True)
        for name, (middle, lower, upper) in numbers.items()
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
        rows.append(Row(title, scale_of(name), middle, lower, upper, perfect, False))
    return rows


def _read(table: pd.DataFrame, name: str, columns: Sequence[str]) -> list[float]:
    return [float(table[column][name]) for column in columns]


def _as_table(post: Any, ci_prob: float) -> tuple[pd.DataFrame, float]:
    is_posterior = hasattr(post, "summary") and not isinstance(post, type)
    level = as_level(ci_prob)
    table = post.summary(level) if is_posterior else post
    if getattr(getattr(table, "index", None), "nlevels", 1) > 1:
        raise InputError(
            "post holds several curves, and a forest is of one. Pass one of them, such as "
            "post.average() or post.at(site='A'), or draw them with plots.sites, plots.subgroups "
            "or plots.drift."
        )
    if not {"estimate", "lower", "upper"} <= set(getattr(table, "columns", ())):
        raise InputError(
            f"post must be a CalibrationPosterior or its summary, got {type(post).__name__}. "
            "Pass what bayescal.fit returns."
        )
    return table, level if is_posterior else float(table.attrs.get("ci_prob", level))
