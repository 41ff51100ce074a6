"""The measures of an assessment as rows of text, each with its interval and its ideal value."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from bayescal._base.text import rounded
from bayescal.assessment.findings import Findings
from bayescal.assessment.performance import observed_expected
from bayescal.posterior.checks.undefined import NOT_DEFINED
from bayescal.posterior.functionals import FUNCTIONALS

__all__ = ["Measure", "Section", "measure_sections"]


class Measure(NamedTuple):
    """A measure as a row of text.

    Attributes
    ----------
    name, title, hint : str
        The hint may be empty.
    estimate, interval, ideal : str
        The ideal value is that at perfect calibration, or of perfect predictions. Of a measure that
        is `NOT_DEFINED` the interval says why.
    caution : str
        Why the interval may be too narrow; it is part of the hint too.
    """

    name: str
    title: str
    hint: str
    estimate: str
    interval: str
    ideal: str
    caution: str = ""


class Section(NamedTuple):
    """Measures of one unit, all shown to the same number of decimals.

    Attributes
    ----------
    title : str
    rows : list of Measure
    """

    title: str
    rows: list[Measure]


SIZES = {
    "tce": ("True calibration error (TCE, ICI)", "mean distance of prediction and actual risk"),
    "e50": ("Median error (E50)", "half of the predictions are off by less"),
    "e90": ("90th percentile of error (E90)", "one prediction in ten is off by more"),
    "emax": (
        "Largest error (Emax)",
        "over the observed predictions",
    ),
    "signed_error": ("Mean signed error", "actual risk minus prediction; negative: too high"),
}
DIRECTIONS = {
    "observed_expected": ("Observed / expected events (O/E)", "below 1: risks too high on average"),
    "calibration_in_the_large": (
        "Calibration-in-the-large",
        "intercept with the slope fixed at 1, in log-odds",
    ),
    "calibration_slope": ("Calibration slope", "below 1: predictions too extreme"),
    "calibration_intercept": (
        "Intercept fitted jointly with the slope",
        "in log-odds, at a prediction of one half; “Intercept” of R's val.prob",
    ),
}
OVERALL = {
    "c_statistic": ("C-statistic (AUC)", "discrimination: 0.5 is chance"),
    "brier_score": ("Brier score", "mean squared difference of prediction and outcome"),
    "scaled_brier_score": ("Scaled Brier score", "relative improvement over the base rate"),
}
BEST = {"c_statistic": "1", "brier_score": "0", "scaled_brier_score": "1"}


def measure_sections(f: Findings) -> list[Section]:
    """Errors, directions and overall performance; each section in its own unit.

    Parameters
    ----------
    f : Findings

    Returns
    -------
    list of Section
    """
    table = f.table
    own = observed_expected(f.posterior.data)
    in_data = {} if own is None else {"observed_expected": own}
    errors = _section("Size of the error, as a probability", SIZES, table, {})
    directions = _section("Direction of the error", DIRECTIONS, table, in_data)
    for name, (label, hint) in DIRECTIONS.items():
        why = table.attrs["undefined"].get(name)
        if why is not None:
            ideal = f"{FUNCTIONALS[name].calibrated:g}"
            directions.rows.append(Measure(name, label, hint, NOT_DEFINED, why, ideal))
    performance = _section("Performance of the predictions", OVERALL, f.performance, {})
    return [section for section in (errors, directions, performance) if section.rows]


def _section(
    title: str, known: dict[str, tuple[str, str]], table: Any, in_data: dict[str, float]
) -> Section:
    """The rows of a table that are known."""
    wanted = [
        (name, table.loc[name])
        for name in known
        if name in table.index and table["estimate"][name] == table["estimate"][name]
    ]
    if not wanted:
        return Section(title, [])
    rows = []
    for name, row in wanted:
        label, hint = known[name]
        ends = row["lower"], row["upper"]
        middle, low, high, data = rounded(
            (row["estimate"], *ends, in_data.get(name, math.nan)), *ends
        )
        if name in in_data:
            hint = f"{data} in the data; {hint}"
        caution = table.attrs.get("cautions", {}).get(name, "")
        hint = f"{hint}; {caution}" if caution else hint
        ideal = f"{FUNCTIONALS[name].calibrated:g}" if name in FUNCTIONALS else BEST[name]
        rows.append(Measure(name, label, hint, middle, f"{low} to {high}", ideal, caution))
    return Section(title, rows)
