"""Tables on a terminal, and a posterior in words, for readers who are not statisticians."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import rich.table
from rich.text import Text

from bayescal.assessment.followed import cases_and_events_of
from bayescal.assessment.performance import mean_score
from bayescal.assessment.tables.measures import functional_rows, measure_columns
from bayescal.assessment.words import numbers
from bayescal.cli._terminal import new_table
from bayescal.core.table import Table
from bayescal.core.text import capitalised, percent, shortened
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.data.table import CalibrationData
    from bayescal.posterior.posterior import CalibrationPosterior

__all__ = [
    "about_clusters",
    "describe_cases",
    "describe_error",
    "describe_method",
    "drawn",
    "summary_table",
]

PARTS_SECTION = 14
NORMS = {1.0: "", 2.0: " (root mean square, p = 2)", float("inf"): " (largest, p = inf)"}


def drawn(table: Table, *, narrow: bool = False) -> rich.table.Table:
    """A table of an assessment for a terminal.

    Parameters
    ----------
    narrow : bool
        Stack the columns, for a terminal too narrow to stand them side by side.
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
        label = f"{line.label} ({line.row.caution})" if line.row.caution else line.label
        if table.names_cases and line.row.section:
            label = f"{shortened(line.row.section, PARTS_SECTION)} {label}"
        cells = [label, *line.cells]
        if narrow:
            cells = [f"{label}:\n{', '.join(cell for cell in line.cells if cell)}"]
        made.add_row(*map(Text, cells), style="bold" if line.row.chosen else None)
        if after is not None and after.row.section != line.row.section and not table.names_cases:
            made.add_section()
    return made


def summary_table(summary: pd.DataFrame, p: float = 1) -> Table:
    """A table of functionals: what each is, its estimate and interval, and its ideal value.

    Parameters
    ----------
    summary : pandas.DataFrame
        From `CalibrationPosterior.summary`.
    p : float
        Norm of its row "tce".
    """
    rows = functional_rows(summary, {})
    if p != 1:
        label = f"{FUNCTIONALS['tce'].title}{NORMS.get(p, f' (p = {p:g})')}"
        rows = [replace(row, label=label) if row.name == "tce" else row for row in rows]
    rows = [replace(row, chosen=row.name == "tce") for row in rows]
    cautions = "; ".join(filter(None, (FUNCTIONALS[str(name)].caution for name in summary.index)))
    columns = measure_columns(summary.attrs["ci_prob"])
    notes = (f"{capitalised(cautions)}.",) if cautions else ()
    return Table(
        "functionals", "Functionals of the posterior", "Measure", columns, rows, notes=notes
    )


def describe_cases(data: CalibrationData) -> str:
    """How many cases and events there are, and what was predicted of them."""
    mean = mean_score(data)
    cases = cases_and_events_of(data)
    return f"{cases}; mean score {mean:#.3g}"


def describe_error(summary: pd.DataFrame, p: float = 1) -> str:
    """The true calibration error in one sentence."""
    middle, low, high = numbers(summary.loc["tce"])
    meaning = ""
    if p == 1:
        points = f"{100 * float(middle):.3g} percentage points"
        meaning = f" On average, a prediction is off by about {points}."
    return (
        f"The true calibration error{NORMS.get(p, f' (p = {p:g})')} is {middle} "
        f"({percent(summary.attrs['ci_prob'])} credible interval {low} to {high}).{meaning}"
    )


def describe_method(post: CalibrationPosterior) -> str:
    """How the numbers were computed, and whether the computation can be trusted."""
    diagnostics, problem = post.diagnostics, post.problem
    if not problem.curve.coordinates:
        check = "nothing to estimate"
    elif problem.curve.per_score and post.prior_weights is None:
        check = "exact: independent risks of closed form"
    elif problem.curve.in_cells:
        check = "exact sums over partitions of the scores"
    elif post.engine == "importance":
        check = (
            f"importance sampling, Pareto k-hat {float(diagnostics['pareto_k']):.2f} (limit 0.7)"
        )
    else:
        check = f"NUTS, r-hat {float(diagnostics['r_hat']):.3f} (limit 1.01)"
        check += f" and {float(diagnostics['divergences']):.0f} divergences"
    verdict = "ok" if diagnostics["verdict"] == "ok" else "not good enough, see the note"
    return (
        f"Method: {problem.curve.name} curve, {problem.prior.name} prior; {check}: {verdict}. "
        f"{about_clusters(post)}Seed {problem.seed} repeats these numbers."
    )


def about_clusters(post: CalibrationPosterior) -> str:
    """How many clusters there are and what their cases are worth, in a sentence; or nothing."""
    return "" if post.design is None else f"Cases come in {post.design}. "


def _inside(head: str) -> str:
    """A heading within a line: without its capital, unless that is an abbreviation's."""
    return head[:1].lower() + head[1:] if head[1:2].islower() else head
