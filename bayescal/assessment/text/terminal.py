"""An assessment for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from bayescal._base.text import cases_and_events, count, percent, shortened, told_apart
from bayescal.assessment.findings import Findings
from bayescal.assessment.notes import assessment_notes
from bayescal.assessment.text.measures import measure_sections
from bayescal.assessment.text.sites import site_sentences
from bayescal.assessment.text.subgroups import subgroup_rows, subgroup_sentences
from bayescal.assessment.treatment import benefit_rows, information_rows
from bayescal.assessment.verdict.words import (
    at_thresholds,
    headline,
    limit_reason,
    ranges,
    settling,
    to_do,
    whom,
)
from bayescal.assessment.words import (
    WITHIN_CHANCE,
    estimator_row,
    exactness,
    first_words,
    of_group,
)
from bayescal.posterior.checks.undefined import NOT_DEFINED

__all__ = ["as_text"]

LINE_WIDTH = 78
LABEL = 43
TITLE = 37
TERMINAL_GROUP = 24
TERMINAL_LEVEL = 18


def as_text(f: Findings) -> str:
    """All that an assessment says, at most 80 columns wide."""
    first = first_words(f)
    parts = [_summary(f, first), _measures(f), _estimators(f)]
    parts += [_benefit(f)] if f.thresholds else []
    parts += [_information(f)] if len(f.information) else []
    parts += [_calibrated(f)]
    parts += [_groups(f)] if f.data.groups else []
    parts += [_subgroups(f)] if f.crossed is not None else []
    notes = [text for text in assessment_notes(f) if text not in first]
    parts += [_notes(notes)] if notes else []
    return "\n\n".join("\n".join(lines) for lines in parts)


def _summary(f: Findings, first: list[str]) -> Iterator[str]:
    data = f.posterior.data
    yield cases_and_events(data.n, data.events, data.effective_size)
    yield ""
    for text in first:
        yield from _wrapped(text)
    for text in (headline(f), ranges(f), whom(f), to_do(f), settling(f)):
        yield from _wrapped(text)
    yield ""
    for text in (limit_reason(f), at_thresholds(f)):
        yield from _wrapped(text)


def _measures(f: Findings) -> Iterator[str]:
    yield f"{'':{LABEL}s}{'estimate':>9s}  {percent(f.ci_prob)} interval"
    for section in measure_sections(f):
        for row in section.rows:
            if row.estimate == NOT_DEFINED:
                yield f"{row.title:{LABEL - 2}s}{NOT_DEFINED}: {row.interval}"
                continue
            yield f"{row.title:{LABEL}s}{row.estimate:>9s}  {row.interval}"
            if row.caution:
                yield from (f"  {line}" for line in wrap(row.caution, LINE_WIDTH - 2))


def _estimators(f: Findings) -> Iterator[str]:
    yield f"{'estimator':{TITLE}s}{'value':>7s}  {'if calibrated':16s} within chance"
    for record in f.estimators.to_dict("records"):
        row = estimator_row(record)
        title, value = row.title[:TITLE], row.estimate or "-"
        within = WITHIN_CHANCE[row.verdict]
        yield f"{title:{TITLE}s}{value:>7s}  {row.if_calibrated:16s} {within}"


def _benefit(f: Findings) -> Iterator[str]:
    yield f"net benefit per 1000 {'by the model':>27s}  treat all  best"
    for row in benefit_rows(f.net_benefit):
        at = f"treated from a risk of {row.threshold} on"
        yield f"{at:31s}{row.model:>17s}{row.treat_all:>11s}{row.prob_best:>6s}"


def _information(f: Findings) -> Iterator[str]:
    yield f"{'perfect information, per 1000':30s}{'ahead now':>27s}   choice    curve"
    for row in information_rows(f.information):
        at = f"from a risk of {row.threshold} on"
        yield f"{at:30s}{row.best:>27s}{row.evpi:>9s}{row.of_recalibrating:>9s}"


def _calibrated(f: Findings) -> Iterator[str]:
    yield from _wrapped(exactness(f))


def _groups(f: Findings) -> Iterator[str]:
    yield f"{'group':{TERMINAL_GROUP}s}{'cases':>8s}{'events':>8s}  true calibration error"
    names, omitted = told_apart(f.by_group.index, TERMINAL_GROUP - 1)
    if omitted:
        yield f"each name begins with: {shortened(omitted)}"
    for name, row in f.by_group.iterrows():
        cases, events = count(row["cases"]), count(row["events"])
        yield f"{names[str(name)]:{TERMINAL_GROUP}s}{cases:>8s}{events:>8s}  {of_group(row, 'tce')}"
    for text in site_sentences(f):
        yield ""
        yield from _wrapped(text)


def _subgroups(f: Findings) -> Iterator[str]:
    rows = list(subgroup_rows(f, "levels"))
    level = percent(f.ci_prob)
    yield (
        f"{'subgroup':{TERMINAL_LEVEL}s}{'cases':>8s}{'events':>8s}  "
        f"{f'O/E ({level} interval)':22s}{'alone':>6s}  P(TCE > {f.close:g})"
    )
    for factor in dict.fromkeys(row.factor for row in rows):
        yield shortened(factor, LINE_WIDTH)
        mine = [row for row in rows if row.factor == factor]
        names, _ = told_apart((row.level for row in mine), TERMINAL_LEVEL - 3)
        for row in mine:
            yield (
                f"  {names[row.level]:{TERMINAL_LEVEL - 2}s}{row.cases:>8s}{row.events:>8s}  "
                f"{row.ratio:22s}{row.raw:>6s}  {row.prob_off}"
            )
    for text in subgroup_sentences(f):
        yield ""
        yield from _wrapped(text)


def _notes(notes: list[str]) -> Iterator[str]:
    for text in notes:
        yield from _wrapped(f"Note: {text}")


def _wrapped(text: str) -> list[str]:
    """Lines of a sentence, with `> 0.99` kept on one line."""
    joined = text.replace("> 0", ">\xa00").replace("< 0", "<\xa00")
    return [line.replace("\xa0", " ") for line in wrap(joined, LINE_WIDTH)]
