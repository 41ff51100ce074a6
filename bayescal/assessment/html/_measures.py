"""Tables of what was measured: the first screen's numbers, all measures, and the curve itself."""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.text import chance, percent
from bayescal.assessment.findings import Findings
from bayescal.assessment.html._table import Row, Table
from bayescal.assessment.text.measures import measure_sections
from bayescal.assessment.words import curve_rows, in_the_data, numbers
from bayescal.posterior.checks.undefined import NOT_DEFINED

__all__ = ["curve_table", "first_table", "measures_table", "near_table", "round_scores"]

ERRORS_SHOWN = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2)
ROUND = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05),
    *(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    *(0.95, 0.98, 0.99, 0.995),
)
FEWEST, SHOWN = 3, 7
FIRST = {
    "tce": "True calibration error",
    "observed_expected": "Observed / expected events",
    "calibration_slope": "Calibration slope",
    "c_statistic": "C-statistic",
    "brier_score": "Brier score",
}


def first_table(f: Findings) -> Table:
    """The five numbers of the first screen."""
    ratio = f.table.loc["observed_expected"]
    hints = {
        "tce": f"close enough: below {f.close:g}",
        "observed_expected": f"ideal 1{in_the_data(f.posterior.data, ratio)}",
        "calibration_slope": "ideal 1",
        "c_statistic": "0.5 is chance, 1 is perfect",
        "brier_score": "0 is perfect",
    }
    rows = []
    for name, label in FIRST.items():
        table = f.table if name in f.table.index else f.performance
        if name in table.index and table["estimate"][name] == table["estimate"][name]:
            middle, low, high = numbers(table.loc[name])
            rows.append(Row(label, (middle, f"{low} to {high}"), hints[name]))
        elif name in f.table.attrs["undefined"]:
            why = f.table.attrs["undefined"][name]
            rows.append(Row(label, (NOT_DEFINED, why), hints[name]))
    heads = ("Measure", "Estimate", f"{percent(f.ci_prob)} interval")
    return Table("first", "Main results", heads, rows)


def measures_table(f: Findings, key: str = "measures") -> Table:
    """Every measure with its interval and its ideal value, once."""
    rows = []
    for section in measure_sections(f):
        rows.append(Row(section.title, ()))
        rows += [
            Row(row.title, (row.estimate, row.interval, row.ideal), row.hint)
            for row in section.rows
        ]
    return Table(
        key,
        f"All measures, under the {f.prior.name} prior",
        ("Measure", "Estimate", f"{percent(f.ci_prob)} interval", "Ideal"),
        rows,
        stacks=True,
    )


def near_table(f: Findings) -> Table:
    """Probabilities that the true calibration error is below, and above, several limits."""
    upper = float(f.table["upper"]["tce"])
    errors = {error for error in ERRORS_SHOWN if error <= 4 * max(upper, f.close)} | {f.close}
    rows: list[Row] = []
    for error in sorted(errors):
        cells = (chance(f.prob_tce_below(error)), chance(f.prob_tce_above(error)))
        row = Row(f"{error:g}", cells, chosen=error == f.close)
        if rows and rows[-1].cells == cells and not rows[-1].chosen:
            rows[-1] = row if row.chosen else rows[-1]
        elif not rows or rows[-1].cells != cells:
            rows.append(row)
    return Table(
        "near",
        "Probability that the error is below, and above, a limit",
        ("Limit", "Below", "Above"),
        rows,
    )


def curve_table(f: Findings, scores: Floats, key: str = "curve") -> Table:
    """The calibration curve at some predicted probabilities, with its interval."""
    rows = [
        Row(f"{score:.4g}", (middle, f"{low} to {high}"))
        for score, (middle, low, high) in zip(scores, curve_rows(f, scores), strict=True)
    ]
    return Table(
        key,
        "Actual probability at some predictions",
        ("Predicted", "Actual", f"{percent(f.ci_prob)} interval"),
        rows,
    )


def round_scores(score: Floats, most: int | None = None) -> Floats:
    """Round probabilities within the range of the scores, or some of the scores themselves.

    Parameters
    ----------
    score : ndarray
    most : int, optional
        How many at most; by default all of them, which are 19 at most.

    Returns
    -------
    ndarray
        Ascending.
    """
    values = np.array([value for value in ROUND if score.min() <= value <= score.max()])
    if values.size < FEWEST:
        distinct = np.unique(score)
        index = np.linspace(0, distinct.size - 1, min(distinct.size, 5)).round().astype(int)
        values = distinct[index]
    if most is None or values.size <= most:
        return np.asarray(values)
    return np.asarray(values[np.linspace(0, values.size - 1, most).round().astype(int)])
