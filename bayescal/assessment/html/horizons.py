"""The report of several horizons as a page."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from bayescal.assessment.html._figures import Drawn
from bayescal.assessment.html._render import (
    call_again,
    embedded,
    environment,
    file_of,
    kind_and_sign,
    page_title,
    references_of,
    without_folders,
)
from bayescal.assessment.html._svg import drawing, fit_height
from bayescal.assessment.record import RECORD_ID
from bayescal.assessment.tables import Tables
from bayescal.assessment.text.paper import methods
from bayescal.assessment.words import alarms_of
from bayescal.core.files import as_path, check_page, replacing
from bayescal.core.text import count, percent

if TYPE_CHECKING:
    from bayescal.assessment.horizon_findings import HorizonFindings

__all__ = ["call_of_horizons", "figure_of_horizons", "population_of_horizons", "write_horizons"]

GRAVEST_FIRST = ("bad", "open", "good")
"""Colours of verdicts, the gravest first."""


def write_horizons(
    a: HorizonFindings[Any],
    path: str | PathLike[str],
    *,
    title: str | None = None,
    source: Mapping[str, object] | None = None,
) -> None:
    """Write the report of several horizons: one HTML file that needs no network.

    Parameters
    ----------
    path : str or path-like
        Its name ends in .html or .htm.
    title : str, optional
        Heading of the page. By default it is made of the source.
    source : mapping of str to object, optional
        As of `bayescal.assessment.html.write`.
    """
    target = as_path(path)
    check_page(target)
    told = without_folders(source or {})
    each = [a.at(at) for at in a.horizons]
    last = each[-1]
    kind, sign = min(map(kind_and_sign, each), key=lambda pair: GRAVEST_FIRST.index(pair[0]))
    tables = [Tables(one)["followed"] for one in each]
    page = environment().get_template("horizons.html.jinja")
    text = page.render(
        a=a,
        title=page_title(told, title),
        population=population_of_horizons(a),
        alarms=[f"By {at:g}: {text}" for at in a.horizons for text in alarms_of(a.at(at))],
        kind=kind,
        sign=sign,
        figure=figure_of_horizons(a).svg(),
        level=percent(last.ci_prob),
        followed=tables,
        methods=methods(last),
        call=call_of_horizons(a),
        versions=last.versions,
        references=references_of(last, a.notes),
        record=embedded(a.to_dict(), told),
        record_id=RECORD_ID,
        style=Markup(file_of("report.css")),
    )
    with replacing(target) as file:
        file.write_text(last.labels.of_page(text, set()), "utf-8")


def figure_of_horizons(a: HorizonFindings[Any]) -> Drawn:
    """The curves of all horizons in one figure."""
    from matplotlib.figure import Figure

    options: dict[str, Any] = {"ci_probs": (a.at(a.horizons[-1]).ci_prob,)}
    with drawing():
        figure = Figure(figsize=(5.4, 7.2 + 0.2 * len(a.horizons)), layout="constrained")
        axes = a.plot(figure.subplots(), **options)
        axes.set_title("", loc="left")
        fit_height(figure)
        return Drawn(figure, "horizons", "Reliability diagram by horizon", a.headline())


def population_of_horizons(a: HorizonFindings[Any]) -> str:
    """Cases, and how many left before the first and the last horizon."""
    left = a.by_horizon["censored"]
    ends = " and ".join(
        f"{100 * left[at]:.3g} % left before {at:g}" for at in (a.horizons[0], a.horizons[-1])
    )
    return f"{count(a.posterior.cases, 'case')}: {ends}"


def call_of_horizons(a: HorizonFindings[Any]) -> str:
    """What to type to have these numbers again."""
    last = a.horizons[-1]
    several = ", ".join(f"{at:g}" for at in a.horizons)
    call = call_again(a.at(last)).replace(f"horizon={last:g},", f"horizon=[{several}],", 1)
    if a.by_horizon["close"].nunique() > 1:  # each horizon has the default of its own
        call = call.replace(f"close={a.at(last).close:g}, ", "", 1)
    return call
