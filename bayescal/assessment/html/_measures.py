"""Tables of what was measured: the functionals, the clinical measures, the curve itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.text import chance, percent
from bayescal.assessment.findings import Findings
from bayescal.assessment.html._table import NONE, Row, Table
from bayescal.assessment.words import SIDES, curve_rows, side, with_interval
from bayescal.posterior.functionals import FUNCTIONALS

__all__ = [
    "clinical_table",
    "curve_table",
    "functionals_table",
    "near_table",
    "performance_table",
    "round_scores",
]

ERRORS_SHOWN = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
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
    ),
    "calibration_in_the_large": (
        "Calibration-in-the-large",
        "the intercept with the slope fixed at 1, in log-odds. Most papers, and R's "
        "val.prob.ci.2, call this one the calibration intercept",
    ),
    "calibration_slope": (
        "Calibration slope",
        "slope of the outcome on the log-odds of the prediction",
    ),
    "calibration_intercept": (
        "Intercept fitted jointly with the slope",
        "the log-odds of an event at a predicted probability of one half. It is not "
        "calibration-in-the-large, although R's rms::val.prob prints it as “Intercept”",
    ),
    "tce": ("Integrated calibration index (ICI, Eavg)", "mean absolute error: the TCE"),
    "e50": ("E50", "median absolute error"),
    "e90": ("E90", "90th percentile of the absolute error"),
    "emax": ("Emax", "largest absolute error over the observed predictions"),
}

PERFORMANCE = {
    "c_statistic": "how often, of two cases, the one with the event has the higher prediction; one "
    "half is chance. It says nothing of calibration",
    "brier_score": "mean squared difference of prediction and outcome",
    "scaled_brier_score": "share of the base rate's Brier score that the predictions save",
}


def functionals_table(by_prior: Sequence[Findings]) -> Table:
    """Every functional of the posterior with its interval, under each prior."""
    rows = []
    for name in by_prior[0].table.index:
        functional = FUNCTIONALS[name]
        label = functional.label[0].upper() + functional.label[1:]
        cells = (*_under_each(by_prior, name), f"{functional.calibrated:g}")
        rows.append(Row(label, cells, functional.caution, chosen=name == "tce"))
    heads, priors = _heads(by_prior)
    return Table(
        "functionals",
        f"All measures: {_content(by_prior).lower()}",
        (*heads, "Ideal"),
        rows,
        priors=(*priors, ""),
        stacks=len(by_prior) > 1,
    )


def clinical_table(by_prior: Sequence[Findings]) -> Table:
    """The measures by the names that clinicians use, and what each says here."""
    rows = []
    for name, (label, hint) in CLINICAL.items():
        if name in by_prior[0].table.index:
            ideal = FUNCTIONALS[name].calibrated
            says = side(name, by_prior[0].table.loc[name]) if name in SIDES else NONE
            cells = (*_under_each(by_prior, name), f"{ideal:g}", says)
            caution = FUNCTIONALS[name].caution
            rows.append(Row(label, cells, f"{hint}; {caution}" if caution else hint))
    heads, priors = _heads(by_prior)
    return Table(
        "clinical-measures",
        f"Measures by their clinical names: {_content(by_prior).lower()}",
        (*heads, "Ideal", "Says"),
        rows,
        words=(len(heads) + 1,),
        priors=(*priors, "", ""),
        stacks=True,
    )


def performance_table(f: Findings) -> Table:
    """Discrimination and Brier scores."""
    rows = []
    for name, row in f.performance.iterrows():
        value = with_interval(row) if row["estimate"] == row["estimate"] else NONE
        rows.append(Row(str(row["title"]), (value,), PERFORMANCE[str(name)]))
    return Table(
        "performance",
        "Overall performance of the predictions as they are",
        ("Measure", f"Estimate ({percent(f.ci_prob)} interval)"),
        rows,
    )


def near_table(f: Findings) -> Table:
    """Probabilities that the true calibration error is below, and above, several limits."""
    upper = float(f.table["upper"]["tce"])
    errors = {error for error in ERRORS_SHOWN if error <= 4 * max(upper, f.close)} | {f.close}
    rows = [
        Row(
            f"{error:g}",
            (chance(f.prob_tce_below(error)), chance(f.prob_tce_above(error))),
            chosen=error == f.close,
        )
        for error in sorted(errors)
    ]
    return Table(
        "near",
        "How probable it is that the true calibration error is small, or large",
        ("Error", "Below", "Above"),
        rows,
    )


def curve_table(f: Findings) -> Table:
    """The calibration curve at round probabilities, with its interval."""
    scores = round_scores(f.posterior.data.score)
    rows = [
        Row(f"{score:.4g}", (middle, f"{low} to {high}"))
        for score, (middle, low, high) in zip(scores, curve_rows(f, scores), strict=True)
    ]
    return Table(
        "curve",
        "What a predicted probability has meant",
        ("Predicted", "Actual", f"{percent(f.ci_prob)} interval"),
        rows,
    )


def round_scores(score: Floats) -> Floats:
    """Round probabilities within the range of the scores, or some of the scores themselves."""
    within = np.array([value for value in ROUND if score.min() <= value <= score.max()])
    if within.size >= FEWEST:
        return within
    distinct = np.unique(score)
    index = np.linspace(0, distinct.size - 1, min(distinct.size, 5)).round().astype(int)
    return np.asarray(distinct[index])


def _heads(by_prior: Sequence[Findings]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Headings of the first columns, and the prior that each is under."""
    names = [f.prior.name for f in by_prior]
    if len(names) == 1:
        return ("Measure", _content(by_prior)), ("", "")
    return ("Measure", *(f"{name.capitalize()} prior" for name in names)), ("", *names)


def _content(by_prior: Sequence[Findings]) -> str:
    return f"Estimate ({percent(by_prior[0].ci_prob)} interval)"


def _under_each(by_prior: Sequence[Findings], name: str) -> tuple[str, ...]:
    return tuple(with_interval(f.table.loc[name]) for f in by_prior)
