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

from bayescal._base.text import cases_and_events, chance, percent, plain, shortened
from bayescal.assessment.html import _background, _evidence, _figures, _measures
from bayescal.assessment.references import REFERENCES, cited
from bayescal.assessment.risk import mean_score
from bayescal.assessment.words import in_the_data, meaning, methods, numbers
from bayescal.model.priors import PRESETS

if TYPE_CHECKING:
    from jinja2 import Environment

    from bayescal.assessment import Assessment

__all__ = ["render", "write"]

TITLE = "Calibration report"
LONGEST = 120
TOO_FEW = "too small to tell"
KINDS = {
    "close enough": ("good", "✓", "Close enough to calibrated"),
    "miscalibrated": ("bad", "✗", "Miscalibrated"),
    "cannot tell": ("open", "?", "Cannot tell yet"),
}
"""Each verdict's colour, sign and name."""

ALSO_CITED = (
    "Van Calster et al., 2019",
    "Austin and Steyerberg, 2019",
    "Kass and Raftery, 1995",
)
"""What the page itself cites, beside the methods and the notes."""


def write(
    assessment: Assessment,
    path: str | PathLike[str],
    *,
    title: str | None = None,
    source: Mapping[str, object] | None = None,
) -> None:
    """Write the report of an assessment: one HTML file that needs no network.

    Parameters
    ----------
    assessment : Assessment
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
    Path(path).write_text(render(assessment, title=title, source=source), "utf-8")


def render(
    assessment: Assessment,
    *,
    title: str | None = None,
    source: Mapping[str, object] | None = None,
) -> str:
    """The report as text; see `write`.

    Parameters
    ----------
    assessment : Assessment
    title : str, optional
    source : mapping of str to object, optional

    Returns
    -------
    str
        HTML. Equal for equal assessments.
    """
    heading = TITLE if title is None else shortened(title, LONGEST)
    page = _environment().get_template("report.html.jinja")
    return page.render(title=heading, **_content(assessment, source or {}))


def _content(a: Assessment, source: Mapping[str, object]) -> dict[str, Any]:
    kind, sign, verdict = KINDS[a.verdict]
    priors = [a] if a.clinical is None else [a, a.clinical]
    texts = [methods(a), *a.notes]
    script = _file("report.js")
    return {
        "a": a,
        "kind": kind,
        "sign": sign,
        "verdict": verdict,
        "population": _population(a),
        "meaning": meaning(a),
        "facts": _facts(a),
        "priors": priors,
        "level": percent(a.ci_prob),
        "figures": {
            "reliability": _figures.reliability_figure(a),
            "error": _figures.error_figure(a),
            "groups": _figures.groups_figure(a) if a.data.groups else None,
        },
        "curve": _measures.curve_table(a),
        "near": _measures.near_table(a),
        "functionals": _measures.functionals_table(priors),
        "clinical": _measures.clinical_table(priors),
        "performance": _measures.performance_table(a),
        "sensitivity": _evidence.sensitivity_table(a),
        "odds": _evidence.odds_table(a),
        "even_odds": a.comparison.prob_calibrated_at(0.5),
        "curves": _evidence.curves_table(a),
        "updates": _evidence.updates_table(a),
        "too_few": next((text for text in a.estimators["verdict"] if TOO_FEW in text), None),
        "estimators": _background.estimators_table(a),
        "groups": _background.groups_table(a) if a.data.groups else None,
        "diagnostics": _background.diagnostics_table(a),
        "data": _background.data_table(a, source),
        "methods": methods(a),
        "references": [
            REFERENCES[key] for key in dict.fromkeys([*cited(" ".join(texts)), *ALSO_CITED])
        ],
        "call": _call(a),
        "script": Markup(script),
        "style": Markup(_file("report.css")),
        "script_hash": _hash(script),
    }


def _population(a: Assessment) -> str:
    data = a.posterior.data
    return (
        f"{cases_and_events(data.n, data.events, data.effective_size)}; "
        f"mean predicted probability {mean_score(data):#.3g}"
    )


def _facts(a: Assessment) -> list[tuple[str, str, str]]:
    """The numbers of the first screen: name, value, and what stands beneath."""
    level, own = percent(a.ci_prob), a.comparison.prior_prob["identity"]
    found = []
    for name, label in (
        ("tce", "True calibration error"),
        ("observed_expected", "Observed / expected events"),
        ("calibration_slope", "Calibration slope"),
    ):
        if name in a.table.index:
            middle, low, high = numbers(a.table.loc[name])
            beneath = f"{level} interval {_unbroken(f'{low} to {high}')}"
            if name == "observed_expected":
                beneath += in_the_data(a.posterior.data)
            found.append((label, middle, beneath if name == "tce" else f"{beneath}; ideal 1"))
    even = a.comparison.sensitivity["average"]
    least, most = chance(even.min()), chance(even.max())
    at_even = least if least == most else f"{least} to {most}"
    close, off = chance(a.prob_tce_below(a.close)), chance(a.prob_tce_above(a.close))
    exact = chance(a.prob_calibrated)
    found[1:1] = [
        (
            f"Probability that the error is below {a.close:g}, on the safe side",
            close,
            f"close enough to none; above with probability {off}",
        ),
        (
            "Probability of exact calibration",
            exact,
            f"from a prior of {own:g}; at even odds {_unbroken(at_even)}, by prior on the curve",
        ),
    ]
    return found


def _unbroken(text: str) -> str:
    """Text that stays on one line."""
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _call(a: Assessment) -> str:
    """What to type to have these numbers again."""
    prior = repr(a.prior.name) if a.prior == PRESETS.get(a.prior.name) else repr(a.prior)
    groups = "groups=groups, " if a.data.groups else ""
    return (
        f"bayescal.assess(y_true, y_prob, {groups}close={a.close:g}, ci_prob={a.ci_prob:g}, "
        f"prior={prior}, prior_calibrated={a.comparison.prior_prob['identity']:g}, "
        f"draws={a.posterior.curve([0.5]).size}, random_state={a.seed})"
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

    found = Environment(
        loader=PackageLoader("bayescal.assessment.html", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"linked": linked, "plain": plain}
    return found


@cache
def _file(name: str) -> str:
    from importlib.resources import files

    return (files("bayescal.assessment.html") / "template" / name).read_text("utf-8")


def _hash(script: str) -> str:
    """As a content security policy names a script that may run."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
