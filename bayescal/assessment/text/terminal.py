"""An assessment for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap

from bayescal.assessment.findings import Findings
from bayescal.assessment.followed import cases_and_events_of
from bayescal.assessment.notes import assessment_notes
from bayescal.assessment.text.periods import period_sentences
from bayescal.assessment.text.sites import site_sentences
from bayescal.assessment.text.subgroups import subgroup_sentences
from bayescal.assessment.verdict.words import (
    at_thresholds,
    headline,
    limit_reason,
    ranges,
    settling,
    to_do,
    whom,
)
from bayescal.assessment.words import exactness, first_words
from bayescal.core.table import Table

__all__ = ["as_text", "wrapped"]

LINE_WIDTH = 78


def as_text(f: Findings, tables: Mapping[str, Table]) -> str:
    """All that an assessment says, at most 80 columns wide."""
    first = first_words(f)
    parts: list[Iterable[str]] = [_summary(f, first, tables)]
    names = ("measures", "followed", "estimators", "benefit", "lost", "information")
    parts += [tables[name].lines() for name in names if name in tables]
    if f.thresholds:
        parts.append(tables["classification"].lines())
    parts.append(wrapped(f.worded(exactness(f))))
    if f.data.groups:
        parts += [tables[name].lines() for name in ("groups", "spread") if name in tables]
        told = (*site_sentences(f), *period_sentences(f))
        parts += [wrapped(f.worded(text)) for text in told]
    if f.crossed is not None:
        parts.append(_with_sentences(tables["levels"], map(f.worded, subgroup_sentences(f))))
    notes = [f.worded(text) for text in assessment_notes(f) if text not in first]
    parts += [_notes(notes)] if notes else []
    return "\n\n".join("\n".join(lines) for lines in parts)


def _summary(f: Findings, first: list[str], tables: Mapping[str, Table]) -> Iterator[str]:
    data = f.posterior.data
    yield f.worded(cases_and_events_of(data))
    yield ""
    if "populations" in tables:
        yield from tables["populations"].lines()
        yield ""
    for text in first:
        yield from wrapped(f.worded(text))
    for text in (headline(f), ranges(f), whom(f), to_do(f), settling(f)):
        yield from wrapped(f.worded(text))
    yield ""
    for text in (limit_reason(f), at_thresholds(f)):
        yield from wrapped(f.worded(text))


def _with_sentences(table: Table, sentences: Iterable[str]) -> Iterator[str]:
    yield from table.lines()
    for text in sentences:
        yield ""
        yield from wrapped(text)


def _notes(notes: list[str]) -> Iterator[str]:
    for text in notes:
        yield from wrapped(f"Note: {text}")


def wrapped(text: str) -> list[str]:
    """Lines of a sentence, with `> 0.99` kept on one line."""
    joined = text.replace("> 0", ">\xa00").replace("< 0", "<\xa00")
    return [line.replace("\xa0", " ") for line in wrap(joined, LINE_WIDTH)]
