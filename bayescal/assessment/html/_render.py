"""From an assessment to a page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from bayescal._base.files import replacing
from bayescal._base.text import cases_and_events, chance, percent, plain, shortened
from bayescal.assessment.findings import Findings
from bayescal.assessment.html import _background, _evidence, _figures, _measures
from bayescal.assessment.notes import assessment_notes
from bayescal.assessment.performance import mean_score
from bayescal.assessment.references import REFERENCES, cited
from bayescal.assessment.words import headline, in_the_data, meaning, methods, numbers
from bayescal.model.priors import PRESETS

if TYPE_CHECKING:
    from jinja2 import Environment


__all__ = ["render", "write"]

REPORT_TITLE = "Calibration report"
LONGEST_TITLE = 120
TOO_FEW = "too small to tell"
KINDS = {
    "close enough": ("good", "✓"),
    "miscalibrated": ("bad", "✗"),
    "cannot tell": ("open", "?"),
}
"""Each verdict's colour and sign."""

ALSO_CITED = (
    "Van Calster et al., 2019",
    "Austin and Steyerberg, 2019",
    "Kass and Raftery, 1995",
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
    title : str, optional
        Heading of the page, such as the name of the model.
    source : mapping of str to object, optional
        Where the data came from, as lines of a table: {"File": "predictions.csv"}.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
    >>> bc.assess(y_true, y_prob).to_html("report.html")  # doctest: +SKIP
    """
    page = render(findings, title=title, source=source)
    with replacing(Path(path)) as file:
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
    title : str, optional
    source : mapping of str to object, optional

    Returns
    -------
    str
        HTML. Equal for equal assessments.
    """
    heading = REPORT_TITLE if title is None else shortened(title, LONGEST_TITLE)
    page = _environment().get_template("report.html.jinja")
    return page.render(title=heading, **_content(findings, source or {}))


def _content(f: Findings, source: Mapping[str, object]) -> dict[str, Any]:
    kind, sign = KINDS[f.verdict]
    notes = assessment_notes(f)
    by_prior = [f] if f.clinical is None else [f, f.clinical]
    texts = [methods(f), *notes]
    script = _file("report.js")
    return {
        "f": f,
        "headline": headline(f),
        "notes": notes,
        "kind": kind,
        "sign": sign,
        "verdict": f.verdict.capitalize(),
        "population": _population(f),
        "meaning": meaning(f),
        "facts": _facts(f),
        "priors": by_prior,
        "level": percent(f.ci_prob),
        "figures": {
            "reliability": _figures.reliability_figure(f),
            "error": _figures.error_figure(f),
            "groups": _figures.groups_figure(f) if f.data.groups else None,
        },
        "curve": _measures.curve_table(f),
        "near": _measures.near_table(f),
        "functionals": _measures.functionals_table(by_prior),
        "clinical": _measures.clinical_table(by_prior),
        "performance": _measures.performance_table(f),
        "sensitivity": _evidence.sensitivity_table(f),
        "odds": _evidence.odds_table(f),
        "even_odds": f.comparison.prob_calibrated_at(0.5),
        "curves": _evidence.curves_table(f),
        "updates": _evidence.updates_table(f),
        "too_few": next((text for text in f.estimators["verdict"] if TOO_FEW in text), None),
        "estimators": _background.estimators_table(f),
        "groups": _background.groups_table(f) if f.data.groups else None,
        "diagnostics": _background.diagnostics_table(f),
        "data": _background.data_table(f, source),
        "methods": methods(f),
        "references": [
            REFERENCES[key] for key in dict.fromkeys([*cited(" ".join(texts)), *ALSO_CITED])
        ],
        "call": _call(f),
        "script": Markup(script),
        "style": Markup(_file("report.css")),
        "script_hash": _hash(script),
    }


def _population(f: Findings) -> str:
    data = f.posterior.data
    return (
        f"{cases_and_events(data.n, data.events, data.effective_size)}; "
        f"mean predicted probability {mean_score(data):#.3g}"
    )


def _facts(f: Findings) -> list[tuple[str, str, str]]:
    """The numbers of the first screen: name, value, and what stands beneath."""
    level, own = percent(f.ci_prob), f.comparison.prior_prob["identity"]
    facts = []
    for name, label in (
        ("tce", "True calibration error"),
        ("observed_expected", "Observed / expected events"),
        ("calibration_slope", "Calibration slope"),
    ):
        if name in f.table.index:
            middle, low, high = numbers(f.table.loc[name])
            beneath = f"{level} interval {_unbroken(f'{low} to {high}')}"
            if name == "observed_expected":
                beneath += in_the_data(f.posterior.data)
            facts.append((label, middle, beneath if name == "tce" else f"{beneath}; ideal 1"))
    even = f.comparison.sensitivity["average"]
    least, most = chance(even.min()), chance(even.max())
    at_even = least if least == most else f"{least} to {most}"
    close, off = chance(f.prob_tce_below(f.close)), chance(f.prob_tce_above(f.close))
    exact = chance(f.prob_calibrated)
    facts[1:1] = [
        (
            f"Probability that the error is below {f.close:g}, on the safe side",
            close,
            f"close enough to none; above with probability {off}",
        ),
        (
            "Probability of exact calibration",
            exact,
            f"from a prior of {own:g}; at even odds {_unbroken(at_even)}, by prior on the curve",
        ),
    ]
    return facts


def _unbroken(text: str) -> str:
    """Text that stays on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _call(f: Findings) -> str:
    """What to type to have these numbers again."""
    prior = repr(f.prior.name) if f.prior == PRESETS.get(f.prior.name) else repr(f.prior)
    groups = "groups=groups, " if f.data.groups else ""
    return (
        f"bayescal.assess(y_true, y_prob, {groups}close={f.close:g}, ci_prob={f.ci_prob:g}, "
        f"prior={prior}, prior_calibrated={f.comparison.prior_prob['identity']:g}, "
        f"draws={f.posterior.curve([0.5]).size}, random_state={f.seed})"
    )


def linked(text: str) -> Markup:
    """Text with its citations linked to their DOIs."""
    shown = escape(text)
    for key in cited(text):
        link = Markup('<a href="https://doi.org/{}">{}</a>').format(REFERENCES[key].doi, key)
        shown = shown.replace(escape(key), link)
    return shown


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("bayescal.assessment.html", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"linked": linked, "plain": plain}
    return environment


@cache
def _file(name: str) -> str:
    from importlib.resources import files

    return (files("bayescal.assessment.html") / "template" / name).read_text("utf-8")


def _hash(script: str) -> str:
    """The SHA-256 by which the page's content security policy allows its own script, in base64."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
