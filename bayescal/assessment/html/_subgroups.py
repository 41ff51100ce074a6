"""Subgroups by several factors on the page: a forest and tables."""

from __future__ import annotations

from markupsafe import Markup

from bayescal import plots
from bayescal._base.text import percent, shortened, told_apart
from bayescal.assessment.findings import Findings
from bayescal.assessment.html._svg import drawing, inline_svg
from bayescal.assessment.html._table import Row, Table
from bayescal.assessment.text.subgroups import subgroup_rows, subgroup_sentences
from bayescal.multilevel.compared import subgroups_of

__all__ = ["subgroup_table", "subgroups_figure"]

LONGEST_LEVEL = 60
MOST_SUBGROUPS = 80


def subgroups_figure(f: Findings) -> Markup | None:
    """A forest of the levels of every factor; None without factors, or of too many levels."""
    from matplotlib.figure import Figure

    if f.subgroups is None or f.crossed is None:
        return None
    number = len(subgroups_of(f.crossed, "levels"))
    if number > MOST_SUBGROUPS:
        return None
    with drawing():
        height = 1.0 + 0.27 * (number + 1.7 * len(f.crossed.names))
        figure = Figure(figsize=(6.6, height), layout="constrained")
        axes = plots.subgroups(f.subgroups, ax=figure.subplots(), ci_prob=f.ci_prob)
        axes.set_title("", loc="left")
        title = "Observed / expected events of each level of each factor"
        return inline_svg(figure, "subgroups-figure", title, " ".join(subgroup_sentences(f)))


def subgroup_table(f: Findings, of: str) -> Table:
    """The levels of each factor, or the combinations that occur."""
    rows: list[Row] = []
    words = list(subgroup_rows(f, of))
    for factor in dict.fromkeys(each.factor for each in words):
        mine = [each for each in words if each.factor == factor]
        names, _ = told_apart((each.level for each in mine), LONGEST_LEVEL)
        rows.append(Row(shortened(factor), ()))
        for each in mine:
            cells = (
                each.cases,
                each.events,
                each.ratio,
                each.raw,
                each.error,
                each.prob_off,
                each.prob_worst,
            )
            rows.append(Row(names[each.level], cells))
    what = "Levels of each factor" if of == "levels" else "Combinations of levels"
    return Table(
        f"subgroups-{of}",
        f"{what}: estimates and {percent(f.ci_prob)} intervals of one fit",
        (
            "Subgroup",
            "Cases",
            "Events",
            "O/E",
            "O/E alone",
            "TCE",
            f"P(TCE above {f.close:g})",
            "P(worst)",
        ),
        rows,
        stacks=True,
    )
