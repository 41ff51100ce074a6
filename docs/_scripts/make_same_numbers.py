"""Recompute what R packages print: `BAYESCAL_DATA=folder python make_same_numbers.py`.

The folder holds the reference data: `oracles/clinical.json`, with the published numbers, and the
data sets in `data/clinical/`. The result, `docs/data/same_numbers.json`, is stored, so that the
documentation builds without them. `same_numbers_page.py` makes the page.
"""

from __future__ import annotations

import csv
import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

import bayescal as bc
from bayescal import estimators as est
from bayescal import scores

STORED = Path(__file__).resolve().parents[1] / "data" / "same_numbers.json"
Floats = NDArray[np.float64]
Function = Callable[[Floats, Floats], float]


class Number(NamedTuple):
    """A printed number: where it stands in the reference file, its decimals, and ours."""

    label: str
    key: tuple[str | int, ...]
    decimals: int
    ours: Function


class Source(NamedTuple):
    """Numbers of one package on one data set."""

    name: str
    root: tuple[str, ...]
    file: str
    numbers: tuple[Number, ...]
    outcome: str = "outcome"
    score: str = "score"


def end(interval: Callable[..., Any], which: int) -> Function:
    return lambda y, s: float(interval(y, s)[which])


def standard_error(interval: Callable[..., Any]) -> Function:
    def error(y: Floats, s: Floats) -> float:
        lower, upper = interval(y, s, method="wald")
        return float((upper - lower) / (2 * norm.ppf(0.975)))

    return error


def tested(test: Callable[..., Any], part: str, **options: Any) -> Function:
    return lambda y, s: float(getattr(test(y, s, **options), part))


def smooth(index: Callable[..., Any], smoother: str, **options: Any) -> Function:
    return lambda y, s: float(index(y, s, smoother=smoother, **options))


def part_of(decomposition: str) -> Function:
    return lambda y, s: float(getattr(scores.corp_decomposition(y, s), decomposition))


def bic(y: Floats, s: Floats, recalibrated: bool) -> float:
    deviance = 2 * y.size * float(scores.log_score(y, s))
    if not recalibrated:
        return deviance
    return deviance - est.cox_test(y, s).statistic + 2 * math.log(y.size)


def bayes_factor(y: Floats, s: Floats) -> float:
    return math.exp(est.cox_test(y, s).statistic / 2) / y.size


def slope_z(y: Floats, s: Floats) -> float:
    error = standard_error(est.calibration_slope_interval)(y, s)
    return (float(est.calibration_slope(y, s)) - 1) / error


def net_benefit(strategy: str) -> Function:
    return lambda y, s: float(getattr(scores.decision_curve(y, s, 0.25), strategy)[0])


BRCAL = "BRcal hockey (tests/testthat/test-bayesian_assessment.R, test-base_functions.R, "
BRCAL += "test-boldness_recalib.R @9219e8f)"
README = "pmcalibration + rms::val.prob (README.md of stephenrho/pmcalibration 0.2.0)"
CITL, SLOPE = est.calibration_in_the_large, est.calibration_slope
CITL_ENDS, SLOPE_ENDS = est.calibration_in_the_large_interval, est.calibration_slope_interval
INDICES = {"Eavg": est.ici, "E50": est.e50, "E90": est.e90, "Emax": est.emax, "ECI": est.eci}

MODEL_TESTS = (
    Number("BIC, calibrated", ("BIC_Mc",), 3, lambda y, s: bic(y, s, False)),
    Number("BIC, recalibrated", ("BIC_Mu",), 3, lambda y, s: bic(y, s, True)),
    Number("likelihood ratio", ("LRT",), 6, tested(est.cox_test, "statistic")),
    Number("gamma, the slope", ("MLE_gamma",), 6, lambda y, s: float(SLOPE(y, s))),
    Number(
        "delta, exp(intercept)",
        ("MLE_delta",),
        6,
        lambda y, s: math.exp(est.calibration_intercept(y, s)),
    ),
)
SOURCES = (
    Source(
        "BRcal, FiveThirtyEight's hockey forecasts",
        ("published", BRCAL),
        "brcal_hockey_538",
        (
            Number(
                "P(calibrated), by BIC",
                ("posterior_model_prob",),
                7,
                lambda y, s: bc.compare(y, s, random_state=1).prob_calibrated_bic,
            ),
            Number("Bayes factor", ("BF_uncal_over_cal",), 9, bayes_factor),
            *MODEL_TESTS,
        ),
    ),
    Source(
        "BRcal, a random forecaster",
        ("published", BRCAL, "random_forecaster"),
        "brcal_hockey_rand",
        MODEL_TESTS,
    ),
    Source(
        "pmcalibration, its README: logistic calibration",
        ("published", README, "logistic_cal"),
        "pmcalibration_readme_sim2345",
        (
            Number("calibration in the large", ("CITL",), 2, lambda y, s: float(CITL(y, s))),
            Number("its standard error", ("CITL_se",), 3, standard_error(CITL_ENDS)),
            Number("its profile interval, lower", ("CITL_profileCI", 0), 2, end(CITL_ENDS, 0)),
            Number("upper", ("CITL_profileCI", 1), 3, end(CITL_ENDS, 1)),
            Number("slope", ("slope",), 2, lambda y, s: float(SLOPE(y, s))),
            Number("its standard error", ("slope_se",), 3, standard_error(SLOPE_ENDS)),
            Number("its profile interval, lower", ("slope_profileCI", 0), 2, end(SLOPE_ENDS, 0)),
            Number("upper", ("slope_profileCI", 1), 2, end(SLOPE_ENDS, 1)),
            Number("likelihood ratio, both", ("LRT_weak", 0), 2, tested(est.cox_test, "statistic")),
            Number(
                "intercept only",
                ("LRT_citl", 0),
                2,
                tested(est.cox_test, "statistic", kind="intercept"),
            ),
            Number(
                "slope only", ("LRT_slope", 0), 2, tested(est.cox_test, "statistic", kind="slope")
            ),
        ),
    ),
    Source(
        "pmcalibration, its README: five-knot cubic spline of the log-odds",
        ("published", README, "rcs5_on_logit"),
        "pmcalibration_readme_sim2345",
        tuple(Number(name, (name,), 3, smooth(index, "rcs")) for name, index in INDICES.items()),
    ),
    Source(
        "rms, val.prob in the same README",
        ("published", README, "rms_val.prob"),
        "pmcalibration_readme_sim2345",
        (
            Number("Dxy", ("Dxy",), 3, lambda y, s: float(scores.somers_dxy(y, s))),
            Number("C", ("C",), 3, lambda y, s: float(scores.c_statistic(y, s))),
            Number("D", ("D",), 3, lambda y, s: float(est.discrimination_index(y, s))),
            Number("U", ("U",), 3, lambda y, s: float(est.unreliability(y, s))),
            Number("U:Chi-sq", ("U:Chi-sq",), 3, tested(est.cox_test, "statistic")),
            Number("U:p", ("U:p",), 3, tested(est.cox_test, "pvalue")),
            Number("Q", ("Q",), 3, lambda y, s: float(est.quality_index(y, s))),
            Number("Brier", ("Brier",), 3, lambda y, s: float(scores.brier_score(y, s))),
            Number(
                "Intercept", ("Intercept",), 3, lambda y, s: float(est.calibration_intercept(y, s))
            ),
            Number("Slope", ("Slope",), 3, lambda y, s: float(SLOPE(y, s))),
            Number("Emax", ("Emax",), 3, smooth(est.emax, "lowess")),
            Number("E90", ("E90",), 3, smooth(est.e90, "lowess")),
            Number("Eavg", ("Eavg",), 3, smooth(est.ici, "lowess")),
            Number("S:z", ("S:z",), 3, tested(est.spiegelhalter_test, "statistic")),
            Number("S:p", ("S:p",), 3, tested(est.spiegelhalter_test, "pvalue")),
        ),
    ),
    Source(
        "pmcalibration, its vignette on external validation",
        ("published", "pmcalibration CRAN vignette external-validation"),
        "pmcalibration_vignette_sim2345_a3_0.3",
        (
            Number("calibration in the large", ("CITL",), 3, lambda y, s: float(CITL(y, s))),
            Number("its standard error", ("CITL_se",), 2, standard_error(CITL_ENDS)),
            Number("its profile interval, lower", ("CITL_CI", 0), 2, end(CITL_ENDS, 0)),
            Number("upper", ("CITL_CI", 1), 2, end(CITL_ENDS, 1)),
            Number("slope", ("slope",), 3, lambda y, s: float(SLOPE(y, s))),
            Number("its standard error", ("slope_se",), 2, standard_error(SLOPE_ENDS)),
            Number("its profile interval, lower", ("slope_CI", 0), 1, end(SLOPE_ENDS, 0)),
            Number("upper", ("slope_CI", 1), 1, end(SLOPE_ENDS, 1)),
            Number("z of slope = 1", ("z_slope",), 2, slope_z),
        ),
    ),
    Source(
        "reliabilitydiag, the EMOS forecasts of its README",
        ("published", "reliabilitydiag README", "EMOS"),
        "reliabilitydiag_precip_Niamey_2016",
        (
            Number("mean score", ("mean_score",), 3, part_of("score")),
            Number("miscalibration", ("MCB",), 4, part_of("miscalibration")),
            Number("discrimination", ("DSC",), 4, part_of("discrimination")),
            Number("uncertainty", ("UNC",), 3, part_of("uncertainty")),
        ),
        "obs",
        "EMOS",
    ),
    Source(
        "dcurves, its tests: net benefit at a threshold of 25 %",
        ("published", "dcurves tests (test-dca.R)", "NB@0.25"),
        "dcurves_df_binary",
        (
            Number("model", ("model",), 3, net_benefit("model")),
            Number("treat all", ("treat_all",), 7, net_benefit("treat_all")),
        ),
    ),
    Source(
        "base R on predtools' val_data",
        ("recomputed_R", "predtools_val_data"),
        "predtools_val_data",
        (
            Number("O/E", ("OE",), 8, lambda y, s: float(est.observed_expected(y, s))),
            Number("calibration in the large", ("citl", 0), 8, lambda y, s: float(CITL(y, s))),
            Number("its standard error", ("citl", 1), 8, standard_error(CITL_ENDS)),
            Number("slope", ("int_slope", "lp"), 8, lambda y, s: float(SLOPE(y, s))),
            Number("its standard error", ("int_slope", "lp.1"), 8, standard_error(SLOPE_ENDS)),
            Number(
                "Hosmer-Lemeshow, ten groups",
                ("HL10", "stat"),
                8,
                tested(est.hosmer_lemeshow_test, "statistic"),
            ),
            Number(
                "its p, ten degrees of freedom",
                ("HL10", "p_df_g"),
                8,
                tested(est.hosmer_lemeshow_test, "pvalue"),
            ),
            Number(
                "Spiegelhalter z",
                ("Spiegelhalter", "Z"),
                8,
                tested(est.spiegelhalter_test, "statistic"),
            ),
            Number("Eavg, loess", ("loess_deg2", "Eavg"), 8, smooth(est.ici, "loess")),
            Number("E90, loess", ("loess_deg2", "E90"), 8, smooth(est.e90, "loess")),
            Number(
                "Eavg, val.prob's lowess", ("valprob_lowess", "Eavg"), 8, smooth(est.ici, "lowess")
            ),
            Number(
                "Eavg, spline of three knots",
                ("rcs3_logit", "Eavg"),
                8,
                smooth(est.ici, "rcs", n_knots=3),
            ),
            Number("Eavg, isotonic", ("iso", "Eavg"), 8, smooth(est.ici, "isotonic")),
        ),
    ),
)


def read(folder: Path, source: Source) -> tuple[Floats, Floats]:
    """Outcomes and scores of a source."""
    with (folder / "data" / "clinical" / f"{source.file}.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    outcome, score = ([float(row[name]) for row in rows] for name in (source.outcome, source.score))
    return np.array(outcome), np.array(score)


def look_up(tree: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def compared(folder: Path) -> list[dict[str, Any]]:
    """Every source with what it printed, and what we compute."""
    reference = json.loads((folder / "oracles" / "clinical.json").read_text("utf-8"))
    result = []
    for source in SOURCES:
        printed, data = look_up(reference, source.root), read(folder, source)
        numbers = [
            {
                "quantity": number.label,
                "printed": f"{look_up(printed, number.key):.{number.decimals}f}",
                "ours": number.ours(*data),
            }
            for number in source.numbers
        ]
        result.append({"source": source.name, "n": data[0].size, "numbers": numbers})
    return result


def main() -> None:
    folder = os.environ.get("BAYESCAL_DATA")
    if not folder:
        sys.exit("Set BAYESCAL_DATA to the folder that holds the reference data.")
    STORED.parent.mkdir(exist_ok=True)
    STORED.write_text(json.dumps(compared(Path(folder)), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
