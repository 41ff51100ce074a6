"""An assessment for a terminal of 80 columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from bayescal._base.text import cases_and_events, count, percent, shortened
from bayescal.assessment.where import where
from bayescal.assessment.words import directions, exactness, headline, numbers
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    from bayescal.assessment._assess import Assessment

__all__ = ["as_text"]

WIDTH = 78
LABEL = 43
TITLE = 37
GROUP = 24


def as_text(a: Assessment) -> str:
    """All that an assessment says, at most 80 columns wide."""
    parts = [_summary(a), _functionals(a), _estimators(a), _calibrated(a)]
    parts += [_groups(a)] if a.data.groups else []
    parts += [_notes(a)] if a.notes else []
    return "\n\n".join("\n".join(lines) for lines in parts)


def _summary(a: Assessment) -> Iterator[str]:
    data = a.posterior.data
    yield cases_and_events(data.n, data.events, data.effective_size)
    yield ""
    yield from wrap(headline(a), WIDTH)
    yield from wrap(directions(a.table, data), WIDTH)
    yield from wrap(where(a.posterior), WIDTH)
    yield from wrap(str(a.recommendation), WIDTH)


def _functionals(a: Assessment) -> Iterator[str]:
    yield f"{'':{LABEL}s}{'estimate':>9s}  {percent(a.ci_prob)} interval"
    for name, row in a.table.iterrows():
        if name != "ici":
            middle, low, high = numbers(row)
            label = FUNCTIONALS[str(name)].label[:LABEL]
            yield f"{label:{LABEL}s}{middle:>9s}  {low} to {high}"
    for name in map(str, a.table.index):
        if FUNCTIONALS[name].caution:
            yield from wrap(f"({FUNCTIONALS[name].caution})", WIDTH)


def _estimators(a: Assessment) -> Iterator[str]:
    yield f"{'estimator':{TITLE}s}{'value':>7s}  {'if calibrated':15s}  verdict"
    for row in a.estimators.to_dict("records"):
        value, within, said = f"{row['estimate']:.3f}", _range(row), _verdict(row)
        if math.isnan(row["estimate"]):
            value, within, said = "-", "", "undefined"
        yield f"{row['title'][:TITLE]:{TITLE}s}{value:>7s}  {within:15s}  {said}"


def _range(row: Any) -> str:
    return f"{row['calibrated_lower']:.3f} to {row['calibrated_upper']:.3f}"


def _verdict(row: Any) -> str:
    return "as if calibrated" if row["prob_exceeds"] >= 0.05 else "larger"


def _calibrated(a: Assessment) -> Iterator[str]:
    yield from wrap(exactness(a), WIDTH)


def _groups(a: Assessment) -> Iterator[str]:
    yield f"{'group':{GROUP}s}{'cases':>8s}{'events':>8s}  true calibration error"
    for name, row in a.by_group.iterrows():
        middle, low, high = numbers(
            {part: row[f"tce_{part}"] for part in ("estimate", "lower", "upper")}
        )
        cases, events = count(row["cases"]), count(row["events"])
        shown = shortened(name, GROUP - 1)
        yield f"{shown:{GROUP}s}{cases:>8s}{events:>8s}  {middle} ({low} to {high})"


def _notes(a: Assessment) -> Iterator[str]:
    for text in a.notes:
        yield from wrap(f"Note: {text}", WIDTH)
