"""Benchmark page on intervals after multiple imputation, made from the stored results."""

from __future__ import annotations

import pandas as pd

from benchmark_pages import markdown, standard_error, stored

MEASURES = {
    "tce": "TCE",
    "observed_expected": "O/E",
    "calibration_slope": "slope",
}
ORDER = [
    "no value is missing",
    "complete cases",
    "mean of x2 given x1",
    "one imputation",
    "2 imputations, mixed only",
    "2 imputations",
    "5 imputations, mixed only",
    "5 imputations",
    "20 imputations",
]


def wide(cells: pd.DataFrame, column: str) -> pd.DataFrame:
    """Methods by measures."""
    table = cells.pivot(index="method", columns="functional", values=column)
    return table.loc[ORDER, list(MEASURES)].rename(columns=MEASURES)


def imputation_page() -> str:
    """Coverage, bias and width beside those of complete cases and of one imputation."""
    record = stored("imputation_coverage")
    if not record:
        return ""
    cells, runs = pd.DataFrame(record["cells"]), record["runs"]
    error = standard_error(0.95, runs)
    true = ", ".join(f"{label} {record['true'][name]:.3f}" for name, label in MEASURES.items())
    shares = wide(cells, "missing_information").astype(float).dropna()
    paragraphs = [
        "# Missing predictors: several imputations",
        f"{runs} studies of {record['size']} patients were simulated. The score is a function of "
        f"two predictors, and the second is missing in {100 * record['missing']:.0f} % of the "
        "patients, more often where the first is high and where the event happened. It is imputed "
        "by a linear regression on the first predictor, the outcome and their product, whose "
        "parameters are drawn, too. The intervals are compared with the true values over the "
        f"population of all patients: {true}.",
        f"**Share of 95 % intervals that contain the true value** (Monte Carlo error {error:.3f} "
        "at .95):",
        markdown(wide(cells, "covered").astype(float)),
        "*Complete cases* are biased, since values are missing more often with the event. *Mean of "
        "x2 given x1* fills in one value without the outcome. *One imputation* is treated as if "
        "it were observed; its intervals are too narrow by as much as information is missing. That "
        "is little for TCE and O/E here, so that their coverage hardly suffers, and more than a "
        "fifth for the slope, which falls short. *Mixed only* are the "
        "draws of all imputations as they are; the other rows have the deviations between "
        "imputations enlarged to Rubin's total variance, as `bayescal.fit(imputations=)` does.",
        "**Bias**, of the estimate:",
        markdown(wide(cells, "bias").astype(float)),
        "**Mean width** of the intervals:",
        markdown(wide(cells, "width").astype(float)),
        "**Mean fraction of missing information:**",
        markdown(shares[~shares.index.str.contains("only")]),
        "Made by `docs/benchmarks/imputation_coverage.py`, with `bayescal.fit` of the family "
        "`beta`.",
    ]
    return "\n\n".join(paragraphs) + "\n"
