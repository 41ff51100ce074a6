"""Parts of an assessment as tables and sentences for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from bayescal._base.text import chance, count, percent, shortened, told_apart
from bayescal.assessment.text.measures import measure_sections
from bayescal.assessment.text.subgroups import subgroup_rows
from bayescal.assessment.treatment import benefit_rows
from bayescal.assessment.words import WITHIN_CHANCE, estimator_row, of_group
from bayescal.cli._table import about_clusters
from bayescal.cli._terminal import new_table

if TYPE_CHECKING:
    from bayescal.assessment import Assessment

__all__ = [
    "benefit_table",
    "describe_method",
    "estimators_table",
    "groups_table",
    "measures_table",
    "subgroups_table",
]

PARTS_GROUP = 30
PARTS_LEVEL = 14


def estimators_table(a: Assessment, *, narrow: bool = False) -> Table:
    """Each estimator beside what calibrated models give.

    Parameters
    ----------
    a : Assessment
    narrow : bool
        Stack the columns, for a terminal too narrow to stand them side by side.

    Returns
    -------
    rich.table.Table
    """
    heads = ("Value", "If calibrated", "Within chance")
    table = _table("Estimator: value, if calibrated, within chance", heads, narrow)
    for _, row in a.estimators.iterrows():
        shown = estimator_row(row)
        within = WITHIN_CHANCE[shown.verdict]
        _add(table, (shown.title, shown.estimate, shown.if_calibrated, within), narrow)
    return table


def measures_table(a: Assessment, *, narrow: bool = False) -> Table:
    """Every measure with its interval and its ideal value.

    Parameters
    ----------
    a : Assessment
    narrow : bool

    Returns
    -------
    rich.table.Table
    """
    level = f"{percent(a.ci_prob)} interval"
    heads = ("Estimate", level, "Ideal")
    table = _table(f"Measure: estimate, {level}, ideal", heads, narrow, first="Measure")
    sections = measure_sections(a)
    for section in sections:
        for row in section.rows:
            _add(table, (row.title, row.estimate, row.interval, row.ideal), narrow)
        if section is not sections[-1]:
            table.add_section()
    return table


def benefit_table(a: Assessment, *, narrow: bool = False) -> Table:
    """Net benefit per 1000 patients at the thresholds that were given.

    Parameters
    ----------
    a : Assessment
    narrow : bool

    Returns
    -------
    rich.table.Table
    """
    heads = (f"Net benefit of 1000 ({percent(a.ci_prob)})", "Treating all", "P(model best)")
    stacked = "Threshold: net benefit of 1000, treating all, P(model best)"
    table = _table(stacked, heads, narrow, first="Treated from")
    for row in benefit_rows(a.net_benefit):
        _add(table, tuple(row), narrow)
    return table


def groups_table(a: Assessment, *, narrow: bool = False) -> Table:
    """Each group by itself.

    Parameters
    ----------
    a : Assessment
    narrow : bool

    Returns
    -------
    rich.table.Table
    """
    level = percent(a.ci_prob)
    heads = ("Cases", "Events", f"TCE ({level} interval)", f"P(< {a.close:g})")
    table = _table(f"Group: cases, events, TCE, P(< {a.close:g})", heads, narrow, first="Group")
    shown, omitted = told_apart(a.by_group.index, PARTS_GROUP)
    table.caption = f"Each name begins with: {shortened(omitted)}" if omitted else None
    for name, row in a.by_group.iterrows():
        cells = (
            shown[str(name)],
            count(row["cases"]),
            count(row["events"]),
            of_group(row, "tce"),
            chance(row["prob_close"]),
        )
        _add(table, cells, narrow)
    return table


def subgroups_table(a: Assessment, *, narrow: bool = False) -> Table:
    """The levels of several factors, of one fit.

    Parameters
    ----------
    a : Assessment
    narrow : bool

    Returns
    -------
    rich.table.Table
    """
    level = percent(a.ci_prob)
    heads = ("Cases", "Events", f"O/E ({level} interval)", "Alone", f"P(TCE > {a.close:g})")
    stacked = f"Subgroup: cases, events, O/E, O/E alone, P(TCE > {a.close:g})"
    table = _table(stacked, heads, narrow, first="Subgroup")
    rows = list(subgroup_rows(a, "levels"))
    for factor in dict.fromkeys(row.factor for row in rows):
        mine = [row for row in rows if row.factor == factor]
        shown, _ = told_apart((row.level for row in mine), PARTS_LEVEL)
        for row in mine:
            name = f"{shortened(factor, PARTS_LEVEL)} {shown[row.level]}"
            _add(table, (name, row.cases, row.events, row.ratio, row.raw, row.prob_off), narrow)
    return table


def describe_method(a: Assessment) -> str:
    """How the numbers were computed, and whether the computation can be trusted."""
    diagnostics = a.posterior.diagnostics
    families = [
        name for name, weight in a.comparison.prior_prob.items() if weight and name != "identity"
    ]
    verdict = "ok" if diagnostics["verdict"] == "ok" else "not good enough, see the note"
    k = float(diagnostics["pareto_k"])
    how = f"importance sampling, Pareto k-hat {k:.2f} (limit 0.7)"
    if k == -math.inf:
        how = "exact sums over partitions of the scores"
    return (
        f"Method: average of {', '.join(families[:-1])} and {families[-1]}, {a.prior.name} prior; "
        f"{how}: {verdict}. "
        f"{about_clusters(a.posterior)}Seed {a.seed} repeats these numbers."
    )


def _table(stacked: str, heads: tuple[str, ...], narrow: bool, first: str = "Estimator") -> Table:
    table = new_table()
    table.add_column(stacked if narrow else first)
    if not narrow:
        for heading in heads:
            words = heading == ""
            table.add_column(heading, justify="left" if words else "right", no_wrap=not words)
    return table


def _add(table: Table, cells: tuple[str, ...], narrow: bool) -> None:
    if narrow:
        cells = (f"{cells[0]}:\n{', '.join(cell for cell in cells[1:] if cell)}",)
    table.add_row(*map(Text, cells))
