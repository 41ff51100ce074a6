"""Benchmark page on the digits that are printed, made from the stored results."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmark_pages import RESULTS, markdown
from digits import SEEDS, SETS, steadiness

ASKED = 0.9
"""Share of the rows whose last digits may differ by one unit at most."""


def digits_page() -> str:
    """How often the numbers of a row differ by more than one unit of their last digit."""
    table = stored()
    if table.empty:
        return ""
    rows = steadiness(table)
    steady = rows["units"] <= 1
    told = f"{steady.mean():.3f} of {len(rows)} rows"
    result = "as asked" if steady.mean() >= ASKED else "less than asked"
    by_kind = pd.DataFrame(
        {
            "rows": rows.groupby(level=["kind", "n"], sort=False).size(),
            "steady": steady.groupby(level=["kind", "n"], sort=False).mean(),
            "ends moved, median": rows["share"].groupby(level=["kind", "n"], sort=False).median(),
            "largest": rows["share"].groupby(level=["kind", "n"], sort=False).max(),
        }
    )
    by_row = pd.DataFrame(
        {
            "steady": steady.groupby(level="row", sort=False).mean(),
            "ends moved, median": rows["share"].groupby(level="row", sort=False).median(),
            "largest": rows["share"].groupby(level="row", sort=False).max(),
        }
    )
    paragraphs = [
        "# Printed digits",
        "An estimate and its interval are printed to the digit at which a quarter of the "
        "interval's length, about its standard error, has one significant digit; intervals shorter "
        "than 1 have two decimals at least. The ends are quantiles "
        f"of draws, so that another seed moves them. Here {SETS} data sets of each of nine kinds "
        f"are compared with {SEEDS} seeds each. A row of the summary is *steady* if estimate and "
        "ends, as they are printed, differ by at most one unit of the last digit over all seeds. "
        "*Ends moved* is the difference between the largest and the smallest of ten values of an "
        "end, as a share of the interval's length.",
        f"{told} are steady; {ASKED:g} is asked, so this is {result}.",
        "By kind of data set:",
        markdown(by_kind),
        "By row of the summary:",
        markdown(by_row),
        "Made by `docs/benchmarks/digits.py`.",
    ]
    return "\n\n".join(paragraphs) + "\n"


def stored() -> pd.DataFrame:
    """Estimate and ends of every row, data set and seed; none where they were not measured."""
    file = RESULTS / "digits.npz"
    if not file.is_file():
        return pd.DataFrame()
    with np.load(file) as columns:
        return pd.DataFrame({name: columns[name] for name in columns.files if name != "versions"})
