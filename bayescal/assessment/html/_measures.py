"""Tables of what was measured: the functionals, the clinical measures, the curve itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.text import chance, percent, rounded
from bayescal.assessment.html._table import NONE, Row, Table
from bayescal.assessment.words import numbers
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    from bayescal.assessment import Assessment

__all__ = [
    "clinical_table",
    "curve_at",
    "curve_table",
    "functionals_table",
    "near_table",
    "performance_table",
    "round_scores",
]

ERRORS = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
ROUND = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05),
    *(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    *(0.95, 0.98, 0.99, 0.995, 0.998, 0.999),
)
FEWEST = 3

CLINICAL = {
    "observed_expected": (
        "Observed / expected ratio (O/E)",
        "events that happened for each that was predicted; E/O is its inverse",
        ("fewer events than predicted", "more events than predicted"),
    ),
    "calibration_in_the_large": (
        "Calibration-in-the-large",
        "the intercept with the slope fixed at 1, in log-odds. Most papers, and R's "
        "val.prob.ci.2, call this one the calibration intercept",
        ("risks too high on average", "risks too low on average"),
    ),
    "calibration_slope": (
        "Calibration slope",
        "slope of the outcome on the log-odds of the prediction",
        ("predictions too extreme", "predictions too moderate"),
    ),
    "calibration_intercept": (
        "Intercept fitted jointly with the slope",
        "the log-odds of an event at a predicted probability of one half. It is not "
        "calibration-in-the-large, although R's rms::val.prob prints it as “Intercept”",
        (
            "less than one half where one half is predicted",
            "more than one half where one half is predicted",
        ),
    ),
    "ici": ("Integrated calibration index (ICI, Eavg)", "mean absolute error: the TCE", None),
    "e50": ("E50", "median absolute error", None),
    "e90": ("E90", "90th percentile of the absolute error", None),
    "emax": ("Emax", "largest absolute error over the observed predictions", None),
}


PERFORMANCE = {
    "c_statistic": "how often, of two cases, the one with the event has the higher prediction; one "
    "half is chance. It says nothing of calibration",
    "brier_score": "mean squared difference of prediction and outcome",
    "scaled_brier_score": "share of the base rate's Brier score that the predictions save",
}


def functionals_table(assessments: Sequence[Assessment]) -> Table:
    """Every functional of the posterior with its interval, under each prior."""
    rows = []
    for name in assessments[0].table.index:
        functional = FUNCTIONALS[name]
        label = functional.label[0].upper() + functional.label[1:]
        cells = (*_under_each(assessments, name), f"{functional.calibrated:g}")
        rows.append(Row(label, cells, functional.caution, chosen=name == "tce"))
    heads, priors = _heads(assessments)
    return Table(
        "functionals",
        f"All measures: {_content(assessments).lower()}",
        (*heads, "Ideal"),
        rows,
        priors=(*priors, ""),
        stacks=len(assessments) > 1,
    )


def clinical_table(assessments: Sequence[Assessment]) -> Table:
    """The measures by the names that clinicians use, and what each says here."""
    rows = []
    for name, (label, hint, sides) in CLINICAL.items():
        if name in assessments[0].table.index:
            ideal = FUNCTIONALS[name].calibrated
            says = _reading(assessments[0].table.loc[name], ideal, sides) if sides else NONE
            cells = (*_under_each(assessments, name), f"{ideal:g}", says)
            caution = FUNCTIONALS[name].caution
            rows.append(Row(label, cells, f"{hint}; {caution}" if caution else hint))
    heads, priors = _heads(assessments)
    return Table(
        "clinical-measures",
        f"Measures by their clinical names: {_content(assessments).lower()}",
        (*heads, "Ideal", "Says"),
        rows,
        words=(len(heads) + 1,),
        priors=(*priors, "", ""),
        stacks=True,
    )


def performance_table(a: Assessment) -> Table:
    """Discrimination and Brier scores."""
    rows = []
    for name, row in a.performance.iterrows():
        known = row["estimate"] == row["estimate"]
        ends = (row["lower"], row["upper"])
        shown = rounded((row["estimate"], *ends), *ends) if known else (NONE, NONE, NONE)
        value = f"{shown[0]} ({shown[1]} to {shown[2]})" if known else NONE
        rows.append(Row(str(row["title"]), (value,), PERFORMANCE[str(name)]))
    return Table(
        "performance",
        "Overall performance of the predictions as they are",
        ("Measure", f"Estimate ({percent(a.ci_prob)} interval)"),
        rows,
    )


def near_table(a: Assessment) -> Table:
    """How probable it is that the error is below this or that."""
    upper = float(a.table["upper"]["tce"])
    errors = {error for error in ERRORS if error <= 4 * max(upper, a.close)} | {a.close}
    rows = [
        Row(
            f"{error:g}",
            (chance(a.prob_tce_below(error)), chance(a.prob_tce_above(error))),
            chosen=error == a.close,
        )
        for error in sorted(errors)
    ]
    return Table(
        "near",
        "How probable it is that the true calibration error is small, or large",
        ("Error", "Below", "Above"),
        rows,
    )


def curve_table(a: Assessment) -> Table:
    """What predicted probabilities have meant."""
    scores = round_scores(a.posterior.data.score)
    rows = []
    for score, (mean, lower, upper) in zip(scores, curve_at(a, scores), strict=True):
        middle, low, high = rounded((mean, lower, upper), lower, upper)
        rows.append(Row(f"{score:.4g}", (middle, f"{low} to {high}")))
    return Table(
        "curve",
        "What a predicted probability has meant",
        ("Predicted", "Actual", f"{percent(a.ci_prob)} interval"),
        rows,
    )


def curve_at(a: Assessment, scores: Floats) -> Floats:
    """Mean, lower and upper end of the curve at each score, of shape (scores, 3)."""
    draws = a.posterior.curve(scores).to_numpy().reshape(-1, scores.size)
    ends = np.quantile(draws, [(1 - a.ci_prob) / 2, (1 + a.ci_prob) / 2], axis=0)
    return np.column_stack([draws.mean(axis=0), *ends])


def round_scores(score: Floats) -> Floats:
    """Round probabilities within the range of the scores, or some of the scores themselves."""
    within = np.array([value for value in ROUND if score.min() <= value <= score.max()])
    if within.size >= FEWEST:
        return within
    distinct = np.unique(score)
    places = np.linspace(0, distinct.size - 1, min(distinct.size, 5))
    return np.asarray(distinct[places.round().astype(int)])


def _heads(assessments: Sequence[Assessment]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Headings of the first columns, and the prior that each is under."""
    names = [a.prior.name for a in assessments]
    if len(names) == 1:
        return ("Measure", _content(assessments)), ("", "")
    return ("Measure", *(f"{name.capitalize()} prior" for name in names)), ("", *names)


def _content(assessments: Sequence[Assessment]) -> str:
    return f"Estimate ({percent(assessments[0].ci_prob)} interval)"


def _under_each(assessments: Sequence[Assessment], name: str) -> tuple[str, ...]:
    shown = (numbers(a.table.loc[name]) for a in assessments)
    return tuple(f"{middle} ({low} to {high})" for middle, low, high in shown)


def _reading(row: Any, ideal: float, sides: tuple[str, str]) -> str:
    if row["upper"] < ideal:
        return sides[0]
    return sides[1] if row["lower"] > ideal else "not clearly off"
