"""Subgroups in a forest: a block for each factor, a line for each of its levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescal.core.errors import InputError, as_level, check_choice
from bayescal.multilevel.compared import KINDS_OF_SUBGROUPS, subgroups_of
from bayescal.multilevel.posterior import MultilevelPosterior, as_multilevel
from bayescal.plots import style
from bayescal.plots._names import axis_label, ideal
from bayescal.plots.text import count, label, minus, percent, rounded
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MOST_SUBGROUPS", "subgroups"]

MOST_SUBGROUPS = 80
ENDS = ("estimate", "lower", "upper")
FACTOR_GAP = 1.7
"""Lines that the name of a factor takes, with the space above it."""


class SubgroupRow(NamedTuple):
    """One line of the forest.

    Attributes
    ----------
    raw : float
        The estimate from the subgroup alone; not a number where there is none.
    """

    factor: str
    level: str
    middle: float
    lower: float
    upper: float
    raw: float
    cases: float


def subgroups(
    post: MultilevelPosterior,
    name: str = "observed_expected",
    ax: Axes | None = None,
    *,
    of: str = "levels",
    ci_prob: float = 0.95,
) -> Axes:
    """Draw a forest of subgroups: factors as blocks, their levels as rows.

    Parameters
    ----------
    post : MultilevelPosterior
    name : str
        A name in `bayescal.functionals.FUNCTIONALS`. For "observed_expected", "calibration_slope"
        and "tce" the estimates from each subgroup alone are hollow squares.
    ax : matplotlib.axes.Axes, optional
        By default on a new figure.
    of : {"levels", "all", "cells"}
        The levels of each factor, the combinations that occur, or both; at most 80.
    ci_prob : float in (0, 1)

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the posterior is not of crossed subgroups, a name is unknown, or there are too many.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    >>> patients = {"sex": np.resize(["F", "M"], 300), "age": np.resize(["<80", "80+", "80+"], 300)}
    >>> post = bc.fit(y_true, y_prob, subgroup=patients, random_state=1)
    >>> ax = bc.plots.subgroups(post)
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['sex', 'F', 'M', 'age', '<80', '80+']
    """
    chosen, level = check_choice(name, FUNCTIONALS, "name"), as_level(ci_prob)
    check_choice(of, KINDS_OF_SUBGROUPS, "of")
    number = len(subgroups_of(as_multilevel(post, "subgroups").problem, of))
    if number > MOST_SUBGROUPS:
        raise InputError(
            f"post holds {number} subgroups of this kind, and at most {MOST_SUBGROUPS} fit on a "
            "figure. Draw of='levels'; the table, `post.table()`, has all of them."
        )
    rows = _rows(post, chosen, of, level)
    factors = list(dict.fromkeys(row.factor for row in rows))
    axes = style.as_axes(ax, 7.4, 1.3 + 0.27 * (len(rows) + FACTOR_GAP * len(factors)))
    axes.axvline(ideal(chosen), color=style.DIAGONAL, lw=1, ls="--", zorder=0)
    largest = max(row.cases for row in rows)
    at = -FACTOR_GAP / 2
    ticks: list[float] = []
    names: list[str] = []
    headings: list[int] = []
    for factor in factors:
        at += FACTOR_GAP
        headings.append(len(ticks))
        ticks.append(at - 1)
        names.append(label(factor))
        for row in (row for row in rows if row.factor == factor):
            _draw(axes, row, at, largest, FUNCTIONALS[chosen].apart)
            ticks.append(at)
            names.append(label(row.level))
            at += 1
    axes.set_yticks(ticks, names)
    for heading in headings:
        axes.get_yticklabels()[heading].set_fontweight("bold")
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(at - 0.3, ticks[0] - 0.7)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel(axis_label(chosen))
    axes.set_title(_title(rows, level), loc="left", fontsize="medium")
    return axes


def _draw(axes: Axes, row: SubgroupRow, at: float, largest: float, apart: float | None) -> None:
    size = 3 + 4 * np.sqrt(row.cases / largest)
    axes.plot([row.lower, row.upper], [at, at], color=style.CURVE, lw=2)
    axes.plot(row.middle, at, "o", color=style.CURVE, ms=size)
    if np.isfinite(row.raw):
        axes.plot(row.raw, at, "s", mfc="none", mec=style.INK, ms=5, mew=0.9)
    numbers = row.middle, row.lower, row.upper
    middle, lower, upper = rounded(numbers, *numbers[1:], apart)
    axes.text(
        1.02,
        at,
        minus(f"{middle} ({lower} to {upper})  n = {count(row.cases)}"),
        transform=axes.get_yaxis_transform(),
        va="center",
        fontsize="small",
        color=style.INK,
    )


def _title(rows: list[SubgroupRow], level: float) -> str:
    title = f"Estimates and {percent(level)} credible intervals; dashed: perfect calibration"
    if np.isfinite([row.raw for row in rows]).any():
        title += "\nSquares: each subgroup alone. Larger dots: more cases"
    return title


def _rows(post: MultilevelPosterior, name: str, of: str, level: float) -> list[SubgroupRow]:
    """The numbers of each subgroup whose scores define them."""
    import pandas as pd

    axes = list(post.levels)
    by: dict[str, list[Any]] = {"levels": [*axes], "cells": [axes], "all": [None]}
    table = pd.concat([post.table(each, ci_prob=level) for each in by[of]])
    rows = []
    for each, (_, row) in zip(subgroups_of(post.problem, of), table.iterrows(), strict=True):
        if name in table:
            middle, lower, upper = (float(row[name + end]) for end in ("", "_lower", "_upper"))
        else:
            summary = post.at(each.levels).summary(level, names=[name]).reindex([name])
            middle, lower, upper = (float(summary[end].iloc[0]) for end in ENDS)
        if np.isfinite([middle, lower, upper]).all():
            raw = float(row[f"{name}_raw"]) if name in table else np.nan
            cases = float(row["cases"])
            rows.append(SubgroupRow(each.factor, each.level, middle, lower, upper, raw, cases))
    return rows
