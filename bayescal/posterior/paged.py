"""The page of a posterior: its error and slope, all measures, and the curve."""

from __future__ import annotations

from typing import Any

from bayescal.core.page import Figure, Page, Section
from bayescal.core.table import Column, Row, Table
from bayescal.core.text import capitalised, interval, percent, rounded
from bayescal.posterior.functionals import FUNCTIONALS

__all__ = ["page_of_posterior"]

CI_PROB = 0.95


def page_of_posterior(post: Any) -> Page:
    """What the posterior of one curve tells; see `CalibrationPosterior.page`."""
    table = post.summary(CI_PROB)
    defined = table.dropna(subset=["estimate"])
    rows = [
        Row(str(name), capitalised(FUNCTIONALS[str(name)].label), numbers.to_dict())
        for name, numbers in defined.iterrows()
    ]
    head = f"Estimate ({percent(CI_PROB)} CrI)"
    measures = Table("measures", "Measures", "Measure", [Column("estimate", head, _shown)], rows)
    alt = f"The posterior mean of the curve with its {percent(CI_PROB)} band, and the diagonal."
    figure = Figure("reliability", post, title="Calibration curve", alt=alt)
    told = post.diagnostics["verdict"]
    record = {
        "summary": table.to_dict(orient="index"),
        "curve": post.problem.curve.name,
        "engine": post.engine,
        "diagnostics": post.diagnostics,
    }
    return Page(
        "Calibration",
        post.data.size_in_words,
        tuple(_answer(defined)),
        (Section("Measures", (measures,)), Section("Curve", (figure,))),
        () if told == "ok" else (f"{capitalised(str(told))}.",),
        record,
    )


def _answer(table: Any) -> list[str]:
    """The error and the slope, as a sentence each."""
    sentences = {"tce": "Risks are off by {} on average.", "calibration_slope": "The slope is {}."}
    ends = ("estimate", "lower", "upper")
    numbers = {
        name: [float(table.loc[name, end]) for end in ends]
        for name in sentences
        if name in table.index
    }
    return [
        sentences[name].format(interval(middle, low, high, CI_PROB))
        for name, (middle, low, high) in numbers.items()
    ]


def _shown(row: Row) -> str:
    ends = row["lower"], row["upper"]
    middle, low, high = rounded((row["estimate"], *ends), *ends, None)
    return f"{middle} ({low} to {high})"
