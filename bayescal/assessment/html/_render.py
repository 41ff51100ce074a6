"""From an assessment to a page."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from bayescal.assessment.findings import Findings
from bayescal.assessment.followed import cases_and_events_of, observed_words, points_words
from bayescal.assessment.html import _about, _figures
from bayescal.assessment.html._svg import drawing
from bayescal.assessment.notes import assessment_notes
from bayescal.assessment.performance import mean_score
from bayescal.assessment.record import RECORD_ID, as_dict
from bayescal.assessment.tables import Tables
from bayescal.assessment.tables.measures import (
    SHOWN_SCORES,
    curve_table,
    measures_table,
    round_scores,
)
from bayescal.assessment.text.paper import methods, short_method
from bayescal.assessment.text.periods import period_sentences
from bayescal.assessment.text.references import REFERENCES, Reference, cited
from bayescal.assessment.text.sites import site_sentences
from bayescal.assessment.text.subgroups import subgroup_sentences
from bayescal.assessment.verdict import words
from bayescal.assessment.verdict.off import YES
from bayescal.assessment.words import (
    alarms_of,
    c_statistic_words,
    decision_range_words,
    exactness,
    first_words,
    outcome_words,
)
from bayescal.core.files import as_path, check_page, replacing
from bayescal.core.text import percent, plain, shortened
from bayescal.model.priors import PRESETS
from bayescal.plots.text import label

if TYPE_CHECKING:
    from jinja2 import Environment


__all__ = [
    "call_again",
    "embedded",
    "environment",
    "figures_of",
    "file_of",
    "first_screen",
    "kind_and_sign",
    "page_title",
    "population_words",
    "references_of",
    "render",
    "without_folders",
    "write",
]

REPORT_TITLE = "Calibration report"
MODEL = "The model"
LONGEST_TITLE = 120
TOO_FEW = "too small to tell"
KINDS = {
    "close enough": ("good", "✓"),
    "miscalibrated": ("bad", "✗"),
    "cannot tell": ("open", "?"),
}
"""Colour and sign of each verdict on the limit."""

OFF_BY_HOW_MUCH = ("open", "!")
"""Colour and sign of a model that is off, by more than the limit or not."""

ALARM = ("bad", "!")
"""Colour and sign where the scores are reversed, or no probabilities."""

UNBROKEN = {" %": "\xa0%", "> 0": ">\xa00", "< 0": "<\xa00", " --": " -\u2060-"}
"""What must not be parted at the end of a line, and how it is kept together."""

ALSO_CITED = (
    "Van Calster et al., 2019",
    "Austin and Steyerberg, 2019",
    "Kass and Raftery, 1995",
    "Collins et al., 2024",
    "Van Calster et al., 2025",
    "Vickers and Elkin, 2006",
)
"""What the page itself cites, beside the methods and the notes."""


def write(
    findings: Findings,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    source: Mapping[str, object] | None = None,
) -> None:
    """Write the report of an assessment: one HTML file that needs no network.

    It is written in full or not at all: an error leaves the former file as it was.

    Parameters
    ----------
    findings : Findings
        An `Assessment` is one.
    path : str or path-like
        Its name ends in .html or .htm. For a PDF, print the page from a browser.
    title : str, optional
        Heading of the page. By default it is made of the source.
    source : mapping of str to object, optional
        Where the data came from, as lines of a table: {"File": "predictions.csv", "Probability":
        "risk", "Outcome": "died"}. Of a path, only the file's name is shown.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
    >>> bc.assess(y_true, y_prob).to_html("report.html")  # doctest: +SKIP
    """
    target = as_path(path)
    check_page(target)
    page = render(findings, title=title, source=source)
    with replacing(target) as file:
        file.write_text(page, "utf-8")


def render(
    findings: Findings,
    *,
    title: str | None = None,
    source: Mapping[str, object] | None = None,
) -> str:
    """The report as text; see `write`.

    Parameters
    ----------
    findings : Findings
        An `Assessment` is one.

    Returns
    -------
    str
        HTML. Equal for equal assessments.
    """
    told = without_folders(source or {})
    heading = page_title(told, title)
    page = environment().get_template("report.html.jinja")
    text = page.render(title=heading, **_content(findings, told))
    return findings.labels.of_page(text, {str(escape(name)) for name in findings.names})


def without_folders(source: Mapping[str, object]) -> dict[str, object]:
    """Lines with a value; of a path, the name of the file alone, since reports travel."""
    told = {str(key): value for key, value in source.items() if value is not None}
    return told | ({"File": Path(str(told["File"])).name} if "File" in told else {})


def page_title(source: Mapping[str, object], title: str | None = None) -> str:
    """The title as told, or score, file and outcome: "risk in predictions.csv, outcome died"."""
    if title:
        return shortened(title, LONGEST_TITLE)
    score, file, outcome = (source.get(key) for key in ("Probability", "File", "Outcome"))
    if not score or not file:
        return REPORT_TITLE
    ending = f", outcome {outcome}" if outcome else ""
    horizon = source.get("Horizon")
    ending += f" by {horizon:g}" if isinstance(horizon, float) else ""
    return shortened(f"{score} in {file}{ending}", LONGEST_TITLE)


def _content(f: Findings, source: Mapping[str, object]) -> dict[str, Any]:
    alarms = alarms_of(f)
    kind, sign = kind_and_sign(f)
    if f.populations is not None and len(set(f.populations["verdict"])) > 1:
        kind = OFF_BY_HOW_MUCH[0]  # no one verdict holds for all populations
    if alarms:
        kind, sign = ALARM
    notes = [text for text in assessment_notes(f) if text not in first_words(f)]
    score = f.posterior.data.score
    few, all_scores = round_scores(score, SHOWN_SCORES), round_scores(score)
    script = file_of("report.js")
    return {
        "f": f,
        "alarms": alarms,
        "notes": notes,
        "kind": kind,
        "sign": sign,
        "verdict": words.title(f),
        "population": population_words(f),
        "points": points_words(f.posterior.data),
        "headline": words.headline(f),
        "says": first_screen(f, alarms),
        "to_do": words.to_do(f),
        "of_draws": words.of_draws(f),
        "exactness": exactness(f),
        "of_range": decision_range_words(f),
        "c_statistic": c_statistic_words(f),
        "level": percent(f.ci_prob),
        "figures": _drawn_figures(f, source),
        "tables": Tables(f),
        "clinical": None if f.clinical is None else measures_table(f.clinical, "clinical-prior"),
        "curve": curve_table(f, few),
        "whole_curve": None
        if all_scores.size == few.size
        else curve_table(f, all_scores, "whole-curve"),
        "even_odds": None if np.isnan(f.prob_calibrated) else f.prob_calibrated_at(0.5),
        "too_few": next((text for text in f.estimators["verdict"] if TOO_FEW in text), None),
        "sites": site_sentences(f),
        "periods": period_sentences(f),
        "of_subgroups": subgroup_sentences(f),
        "most_curves": _figures.MOST_GROUPS_DRAWN,
        "tripod": _about.tripod_table(f, source),
        "data": _about.data_table(f, source),
        "method": short_method(f),
        "methods": methods(f),
        "references": references_of(f, notes),
        "call": call_again(f),
        "record": embedded(as_dict(f), source),
        "record_id": RECORD_ID,
        "script": Markup(script),
        "style": Markup(file_of("report.css")),
        "script_hash": _hash(script),
    }


def kind_and_sign(f: Findings) -> tuple[str, str]:
    """Colour and sign of the two answers."""
    if f.off.answer == YES and f.verdict == "cannot tell":
        return OFF_BY_HOW_MUCH
    return KINDS[f.verdict]


def references_of(f: Findings, notes: list[str]) -> list[Reference]:
    """What methods, notes and the report itself cite."""
    keys = dict.fromkeys([*cited(" ".join([methods(f), *notes])), *ALSO_CITED])
    return [REFERENCES[key] for key in keys]


def figures_of(f: Findings, source: Mapping[str, object]) -> dict[str, _figures.Drawn | None]:
    """The figures of a report, by name; None of what the data do not define."""
    return {
        "reliability": _figures.reliability_figure(f),
        "error": _figures.error_figure(f),
        "calibration": _figures.calibration_figure(f),
        "benefit": _figures.benefit_figure(f, label(source.get("Probability") or MODEL)),
        "risks": _figures.risks_figure(f),
        "groups": _figures.groups_figure(f) if f.data.groups else None,
        "sites": _figures.sites_figure(f),
        "periods": _figures.periods_figure(f),
        "subgroups": _figures.subgroups_figure(f),
    }


def _drawn_figures(f: Findings, source: Mapping[str, object]) -> dict[str, Markup | None]:
    """The figures as they stand in the page; the style of figures is set once for all."""
    with drawing():
        figures = figures_of(f, source).items()
        return {key: None if drawn is None else drawn.svg() for key, drawn in figures}


def first_screen(f: Findings, alarms: list[str]) -> dict[str, str]:
    """What follows the verdict, by its heading; with alarms, nothing is advised."""
    told = {"The outcomes": " ".join(outcome_words(f))}
    told |= {"Where": words.ranges(f), "For whom": words.whom(f)}
    if not alarms:
        told |= {"What to do": words.to_do(f), "What would settle it": words.settling(f)}
    told["The limit"] = " ".join([words.limit_reason(f), words.at_thresholds(f)]).strip()
    return {heading: text for heading, text in told.items() if text}


def embedded(record: Mapping[str, Any], source: Mapping[str, object]) -> Markup:
    """A record as JSON that can stand in a page: no character of it opens a tag."""
    told = {plain(key): plain(value) for key, value in source.items()}
    text = json.dumps({**record, "source": told}, allow_nan=False)
    for char in "<>&":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return Markup(text)


def population_words(f: Findings) -> str:
    """Cases, events and the mean prediction; shares that are compared have one unit."""
    data = f.posterior.data
    events, expected = 100 * data.events / data.n, 100 * mean_score(data)
    places = 1 if min(expected, 100 - expected) >= 1 else 3
    if data.follow_up is not None:
        observed, predicted = observed_words(f.posterior, f.table)
        told = f"{observed} with it by the curve, {predicted} predicted on average"
        return f"{cases_and_events_of(data)}: {told}"
    if data.is_pseudo:
        cases = f"Sampling weights worth {data.effective_size:,.1f} cases"
    else:
        cases = data.size_in_words
    return f"{cases}: {events:.{places}f} % observed, {expected:.{places}f} % predicted on average"


def call_again(f: Findings) -> str:
    """What to type to have these numbers again."""
    prior = repr(f.prior.name) if f.prior == PRESETS.get(f.prior.name) else repr(f.prior)
    cases = "y_true, y_prob, "
    if f.data.follow_up is not None:
        cases = f"bayescal.Survival(time, event), y_prob, horizon={f.data.follow_up.horizon:g}, "
    elif f.data.periods is not None:
        cases = "bayescal.CalibrationData(y_true, y_prob, period=period), "
    elif f.crossed is not None:
        cases += "subgroup=subgroup, "
    elif f.data.groups:
        cases += "site=site, "
    risks = ", ".join(f"{threshold:g}" for threshold in f.thresholds)
    thresholds = f"thresholds=[{risks}], " if risks else ""
    return (
        f"bayescal.assess({cases}{thresholds}close={f.close:g}, "
        f"ci_prob={f.ci_prob:g}, "
        f"prior={prior}, prior_calibrated={f.prior_calibrated:g}, "
        f"draws={f.posterior.tce().size}, random_state={f.seed})"
    )


def linked(text: str) -> Markup:
    """Text with its citations linked to their DOIs."""
    shown = escape(text)
    for key in cited(text):
        link = Markup('<a href="https://doi.org/{}">{}</a>').format(REFERENCES[key].doi, key)
        shown = shown.replace(escape(key), link)
    return shown


def tied(text: object) -> str:
    """Text whose signs stay on the line of their number: `28.9 %`, `> 0.99`."""
    shown = str(text)
    for apart, together in UNBROKEN.items():
        shown = shown.replace(apart, together)
    return shown


@cache
def environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("bayescal.assessment.html", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"linked": linked, "tied": tied}
    return made


@cache
def file_of(name: str) -> str:
    from importlib.resources import files

    return (files("bayescal.assessment.html") / "template" / name).read_text("utf-8")


def _hash(script: str) -> str:
    """The SHA-256 by which the page's content security policy allows its own script, in base64."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
