"""Parts of an assessment for a terminal: its tables, and how they were computed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import rich.table
from rich.text import Text

from bayescal._base.text import shortened
from bayescal.assessment.tables.table import Table
from bayescal.cli._table import about_clusters
from bayescal.cli._terminal import new_table

if TYPE_CHECKING:
    from bayescal.assessment import Assessment

__all__ = ["describe_method", "drawn"]

PARTS_SECTION = 14


def drawn(table: Table, *, narrow: bool = False) -> rich.table.Table:
    """A table of an assessment for a terminal.

    Parameters
    ----------
    table : Table
    narrow : bool
        Stack the columns, for a terminal too narrow to stand them side by side.

    Returns
    -------
    rich.table.Table
    """
    shown, made = table.show("terminal"), new_table()
    first, *others = shown.heads
    if narrow:
        made.add_column(f"{first}: {', '.join(map(_inside, others))}")
    else:
        made.add_column(first)
        for head in others:
            made.add_column(head, justify="right", no_wrap=True)
    notes = [f"Each name begins with: {shown.omitted}"] if shown.omitted else []
    made.caption = " ".join([*notes, *table.notes]) or None
    for line, after in zip(shown.lines, [*shown.lines[1:], None], strict=True):
        label = f"{line.label} ({line.caution})" if line.caution else line.label
        if table.names_cases and line.section:
            label = f"{shortened(line.section, PARTS_SECTION)} {label}"
        cells = [label, *line.cells]
        if narrow:
            cells = [f"{label}:\n{', '.join(cell for cell in line.cells if cell)}"]
        made.add_row(*map(Text, cells))
        if after is not None and after.section != line.section and not table.names_cases:
            made.add_section()
    return made


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


def _inside(head: str) -> str:
    """A heading within a line: without its capital, unless that is an abbreviation's."""
    return head[:1].lower() + head[1:] if head[1:2].islower() else head
