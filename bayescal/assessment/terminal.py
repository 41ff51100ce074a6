"""An assessment for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from bayescal._base.text import cases_and_events, count, percent, shortened
from bayescal.assessment.findings import Findings
from bayescal.assessment.notes import assessment_notes
from bayescal.assessment.words import (
    directions,
    estimator_row,
    exactness,
    headline,
    numbers,
    of_group,
    where,
)
from bayescal.posterior.functionals import FUNCTIONALS

__all__ = ["as_text"]

LINE_WIDTH = 78
LABEL = 43
TITLE = 37
TERMINAL_GROUP = 24


def as_text(f: Findings) -> str:
    """All that an assessment says, at most 80 columns wide."""
    parts = [_summary(f), _functionals(f), _estimators(f), _calibrated(f)]
    parts += [_groups(f)] if f.data.groups else []
    notes = assessment_notes(f)
    parts += [_notes(notes)] if notes else []
    return "\n\n".join("\n".join(lines) for lines in parts)


def _summary(f: Findings) -> Iterator[str]:
    data = f.posterior.data
    yield cases_and_events(data.n, data.events, data.effective_size)
    yield ""
    yield from wrap(headline(f), LINE_WIDTH)
    yield from wrap(directions(f.table, data), LINE_WIDTH)
    yield from wrap(where(f.stretches), LINE_WIDTH)
    yield from wrap(str(f.recommendation), LINE_WIDTH)


def _functionals(f: Findings) -> Iterator[str]:
    yield f"{'':{LABEL}s}{'estimate':>9s}  {percent(f.ci_prob)} interval"
    for name, row in f.table.iterrows():
        middle, low, high = numbers(row)
        label = FUNCTIONALS[str(name)].label[:LABEL]
        yield f"{label:{LABEL}s}{middle:>9s}  {low} to {high}"
    for name in map(str, f.table.index):
        if FUNCTIONALS[name].caution:
            yield from wrap(f"({FUNCTIONALS[name].caution})", LINE_WIDTH)


def _estimators(f: Findings) -> Iterator[str]:
    yield f"{'estimator':{TITLE}s}{'value':>7s}  {'if calibrated':15s}  verdict"
    for record in f.estimators.to_dict("records"):
        row = estimator_row(record)
        title, value = row.title[:TITLE], row.estimate or "-"
        yield f"{title:{TITLE}s}{value:>7s}  {row.if_calibrated:15s}  {row.verdict}"


def _calibrated(f: Findings) -> Iterator[str]:
    yield from wrap(exactness(f), LINE_WIDTH)


def _groups(f: Findings) -> Iterator[str]:
    yield f"{'group':{TERMINAL_GROUP}s}{'cases':>8s}{'events':>8s}  true calibration error"
    for name, row in f.by_group.iterrows():
        cases, events = count(row["cases"]), count(row["events"])
        shown = shortened(name, TERMINAL_GROUP - 1)
        yield f"{shown:{TERMINAL_GROUP}s}{cases:>8s}{events:>8s}  {of_group(row, 'tce')}"


def _notes(notes: list[str]) -> Iterator[str]:
    for text in notes:
        yield from wrap(f"Note: {text}", LINE_WIDTH)
