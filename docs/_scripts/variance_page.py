"""Benchmark page on the gain of a recalibration of variances, from stored results."""

from __future__ import annotations

import pandas as pd

from benchmark_pages import markdown, standard_error, stored

LEAST = 0.92
"""What coverage should not be below by more than two Monte Carlo errors."""


def variance_page() -> str:
    """Coverage of both intervals of `variance_gain`."""
    record = stored("variance_coverage")
    if not record:
        return ""
    table = pd.DataFrame(record["cells"])
    error = standard_error(table["coverage"], table["runs"])
    short = table[table["coverage"] < LEAST - 2 * error]
    named = "; ".join(
        f"{row.errors}, n = {row.n}, {row.method}: {row.coverage:.2f}" for row in short.itertuples()
    )
    verdict = (
        f"Below {LEAST:.2f} by more than two Monte Carlo errors: {named}."
        if named
        else f"No cell is below {LEAST:.2f} by more than two Monte Carlo errors."
    )
    wide = table.pivot(index=["errors", "n"], columns="method", values=["coverage", "width"])
    wide.columns = [f"{what}, {method}" for what, method in wide.columns]
    sides = table.pivot(index=["errors", "n"], columns="method", values=["below", "above"])
    sides.columns = [f"interval {what} the gain, {method}" for what, method in sides.columns]
    order = list(dict.fromkeys(zip(table["errors"], table["n"], strict=True)))
    flat = [part.loc[order].reset_index().set_index("errors") for part in (wide, sides)]
    return (
        "\n\n".join(
            [
                "# Coverage of the gain of variances",
                "95 % intervals of the gain in the Dawid-Sebastiani score, `bayescal.variance_gain`"
                f", in {table['runs'].max()} data sets a cell. Predicted variances v are "
                "lognormal. The variance of the errors is a line in v or bends in v, and errors "
                "are normal or have the tails of a Student-t with 5 degrees of freedom. The "
                "recalibration is a line fitted elsewhere, so that the gain is a known number. "
                "Made by `docs/benchmarks/variance_coverage.py`.",
                verdict,
                markdown(flat[0], 2),
                "On which side the intervals miss:",
                markdown(flat[1], 3),
            ]
        )
        + "\n"
    )
