"""Stored results on what the averaged posterior states: tables, and how precise they are."""

from __future__ import annotations

import numpy as np
import pandas as pd

import one_posterior_bars as asked
from benchmark_pages import RESULTS

PARTS = ("kinds", "cells", "designs", "seeds", "dropped")


def stored_parts() -> dict[str, pd.DataFrame]:
    """Tables by part; those that were measured."""
    result = {}
    for part in PARTS:
        file = RESULTS / "one_posterior" / f"{part}.npz"
        if file.is_file():
            with np.load(file) as columns:
                table = {name: columns[name] for name in columns.files if name != "versions"}
            single = {name: float for name, values in table.items() if values.dtype == np.float32}
            result[part] = pd.DataFrame(table).astype(single)
    return result


def precision(cells: pd.DataFrame, designs: pd.DataFrame) -> str:
    """Standard errors that follow from the numbers of data sets."""
    fewest = cells.groupby(["cell", "n"]).size().min()
    few = designs.groupby("cell").size().min()
    return (
        "**How precise the numbers are.** The standard error (the error by chance, since only some "
        f"data sets were simulated) of a coverage of .95 is {_error(0.95, fewest):.3f} in a fixed "
        f"cell and {_error(0.95, len(cells)):.3f} in the mean over all fixed cells; that of a "
        f"coverage of .80 is {_error(0.8, fewest):.3f} and {_error(0.8, len(cells)):.3f}. In a "
        "cell with clusters, imputations or weights the two are "
        f"{_error(0.95, few):.3f} and {_error(0.8, few):.3f}. The share of statements that "
        f"are true has a standard error of at most {_error(0.5, asked.MANY):.3f} in a bin of "
        f"{asked.MANY} statements and {_error(0.5, asked.SOME):.3f} in a bin of {asked.SOME}, if "
        "each is about another population; statements at several limits on one population go "
        "together, so their error is larger. A condition that is met or missed by less than two "
        "standard errors may be so by chance."
    )


def _error(share: float, count: int) -> float:
    return float(np.sqrt(share * (1 - share) / count))


def sizes(table: pd.DataFrame) -> str:
    """Numbers of patients."""
    *first, last = (f"{n}" for n in sorted(table["n"].unique()))
    return f"{', '.join(first)} and {last}" if first else last


def data_sets(table: pd.DataFrame, keys: list[str]) -> str:
    """How many there are of each cell."""
    count = table.groupby(keys).size()
    return f"{count.min()}" if count.min() == count.max() else f"{count.min()} to {count.max()}"
