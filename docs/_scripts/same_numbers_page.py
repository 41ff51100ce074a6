"""The page of numbers beside those that R packages print, from the stored comparison."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
STORED = DOCS / "data" / "same_numbers.json"
PAGE = DOCS / "same_numbers.md"

INTRODUCTION = """# The same numbers as R

Does the package compute what the R packages print? This page compares numbers printed by R packages
with ours, rounded to the same number of digits. {same} of {all} are equal to the last digit. The
others are from BRcal; the reason is given below.

The numbers of others are quoted from where they published them: the tests of
[BRcal](https://doi.org/10.32614/CRAN.package.BRcal) 1.0.1 (Guthrie and Franck,
[2024](https://doi.org/10.1080/00031305.2024.2339266)), the README and vignette of
[pmcalibration](https://doi.org/10.32614/CRAN.package.pmcalibration) 0.2.0, where `val.prob` of
[rms](https://doi.org/10.32614/CRAN.package.rms) is printed too, the README of
[reliabilitydiag](https://doi.org/10.32614/CRAN.package.reliabilitydiag), and the tests of
[dcurves](https://doi.org/10.32614/CRAN.package.dcurves). The last table is of base R 4.6 itself
(`glm`, `loess`, `lowess`) by the conventions that the packages name, to eight decimals. The
comparison is made by `docs/_scripts/make_same_numbers.py`, which needs their data sets; its result
is stored beside it, and a test computes it again where the data are at hand.
"""

WHY = {
    "BRcal, FiveThirtyEight's hockey forecasts": (
        "BRcal maximises the likelihood by Nelder and Mead's method and stops before the maximum: "
        "our likelihood ratio is larger, so ours is closer to the maximum. The Bayes factor and "
        "the probability depend on it. BRcal's $\\delta$ is the exponential of the intercept, its "
        "$\\gamma$ the slope."
    ),
}
MEANINGS = """## What to look for under which name

*Intercept* is the intercept of the joint fit in `val.prob`, and calibration-in-the-large, with the
slope fixed at 1, in pmcalibration and CalibrationCurves. *ECI* is 100 times the mean squared distance
of the curve here and in those packages; `eci(form="relative")` is the other one. *Emax* of `val.prob`
is the largest distance over the observed scores.

| theirs | ours |
|---|---|
| `bayes_ms` of BRcal, `posterior_model_prob` | `compare(...).prob_calibrated_bic` |
| `logistic_cal` of pmcalibration | `estimators.calibration_in_the_large`, `calibration_slope`, `cox_test`, and their intervals |
| `pmcalibration(smooth="rcs")` | `estimators.ici(smoother="rcs")`, and `e50`, `e90`, `emax`, `eci` |
| `val.prob` of rms: Intercept, Slope | `estimators.calibration_intercept`, `calibration_slope` |
| its D, U, Q; S:z and S:p | `discrimination_index`, `unreliability`, `quality_index`; `spiegelhalter_test` |
| its Eavg, E90, Emax | `estimators.ici(smoother="lowess")`, `e90`, `emax` |
| `reliabilitydiag` | `scores.corp_decomposition` |
| `dca` of dcurves | `scores.decision_curve`, `net_benefit` |
"""  # noqa: E501


def is_same(number: dict[str, Any]) -> bool:
    return rounded(number) == number["printed"]


def rounded(number: dict[str, Any]) -> str:
    """Ours, with as many decimals as were printed."""
    decimals = len(number["printed"].partition(".")[2])
    return f"{number['ours']:.{decimals}f}"


def section(source: dict[str, Any]) -> str:
    """One package's table."""
    lines = ["| quantity | printed | ours | |", "|---|---:|---:|---|"]
    lines += [
        f"| {number['quantity']} | {number['printed']} | {rounded(number)} | "
        f"{'same' if is_same(number) else 'differs'} |"
        for number in source["numbers"]
    ]
    parts = [f"## {source['source']}", f"{source['n']} cases.", "\n".join(lines)]
    return "\n\n".join([*parts, WHY.get(source["source"], "")]).strip()


def write_page() -> None:
    """Write the page."""
    sources = json.loads(STORED.read_text("utf-8"))
    numbers = [number for source in sources for number in source["numbers"]]
    agreeing = sum(map(is_same, numbers))
    introduction = INTRODUCTION.format(same=agreeing, all=len(numbers))
    PAGE.write_text("\n\n".join([introduction, *map(section, sources), MEANINGS]), "utf-8")


if __name__ == "__main__":
    write_page()
