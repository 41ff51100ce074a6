"""Stored results on what the averaged posterior states: tables, and how precise they are."""

from __future__ import annotations

import numpy as np
import pandas as pd

import one_posterior_bars as asked
from benchmark_pages import RESULTS, standard_error

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
    of_95, of_80 = (
        [f"{standard_error(share, sets):.3f}" for sets in (fewest, len(cells), few)]
        for share in (0.95, 0.8)
    )
    many, some = (f"{standard_error(0.5, count):.3f}" for count in (asked.MANY, asked.SOME))
    return (
        "**How precise the numbers are.** The standard error (the error by chance, since only some "
        f"data sets were simulated) of a coverage of .95 is {of_95[0]} in a fixed cell and "
        f"{of_95[1]} in the mean over all fixed cells; that of a coverage of .80 is {of_80[0]} and "
        f"{of_80[1]}. In a cell with clusters, imputations or weights the two are {of_95[2]} and "
        f"{of_80[2]}. The share of statements that are true has a standard error of at most {many} "
        f"in a bin of {asked.MANY} statements and {some} in one of {asked.SOME}, if each is about "
        "another population; statements at several limits on one population go together, so their "
        "error is larger. A condition that is met or missed by less than two standard errors may "
        "be so by chance."
    )


def sizes(table: pd.DataFrame) -> str:
    """Numbers of patients."""
    *first, last = (f"{n}" for n in sorted(table["n"].unique()))
    return f"{', '.join(first)} and {last}" if first else last


def data_sets(table: pd.DataFrame, keys: list[str]) -> str:
    """How many there are of each cell."""
    count = table.groupby(keys).size()
    return f"{count.min()}" if count.min() == count.max() else f"{count.min()} to {count.max()}"
