"""Tables of four papers, computed again at full size by the cells of their notebooks.

The notebooks in `notebooks/papers` compute everything with few repeats. Here the same cells run
with the sizes below in place of those of their second cell. Data that are no part of the package
are looked for in BAYESCAL_DATA, or in `shared` beside the clone; tables that need them are left out
where they are not.
"""

from __future__ import annotations

import json
import os
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from record import HERE, Row, run

ASKED = "Are the tables and figures of four papers what this package computes?"
NOTEBOOKS = HERE.parents[1] / "notebooks" / "papers"
EVERY_SET = (
    *("breast cancer", "iris", "wine", "digits", "moons", "circles", "hastie", "quantiles"),
    *("separated", "noisy", "simple law", "complex law"),
)
Tables = dict[str, list[Row]]


def tables_of(name: str, sizes: dict[str, Any]) -> Tables:
    """Tables that the cells of a notebook make with these sizes, by title."""
    os.environ.setdefault("BAYESCAL_DATA", str(HERE.parents[2] / "shared"))
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text("utf-8"))["cells"]
    first, *rest = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    known: dict[str, Any] = {"display": lambda table: None, "__name__": name}
    exec(first, known)  # the sizes of the notebook
    assert known.keys() >= sizes.keys(), f"{name}: the second cell sets other sizes"
    known |= sizes
    for source in rest:
        exec(compile(source, f"{name}.ipynb", "exec"), known)
        plt.close("all")
    return {title: table.to_dict("records") for title, table in known["tables"].items()}


def dong(seed: int, repeats: int) -> Tables:
    """Dong et al. (2025)

    Binomial process modelling: `repeats` data sets of each kind.
    """
    sizes: dict[str, Any] = {"RUNS": repeats, "BOOTSTRAPS": max(2, round(0.4 * repeats))}
    if repeats > 2:
        sizes |= {"SIZES": tuple(range(500, 5001, 500)), "LARGE": 1_000_000}
        sizes |= {"EFFICIENCY_SIZES": (30, 100, 300, 1000, 3000, 10_000)}
    else:
        sizes |= {"SIZES": (500,), "EFFICIENCY_SIZES": (30, 100), "CASES": 1000, "LARGE": 5000}
    return tables_of("dong", sizes)


def blasiok(seed: int, repeats: int) -> Tables:
    """Błasiok & Nakkiran (2024)

    Smooth ECE: 20 resamples, 30 random laws and 2 samples of a size for each of `repeats`.
    """
    sizes = {"RESAMPLES": max(100, 20 * repeats), "LAWS": 30 * repeats, "SAMPLES": 2 * repeats}
    return tables_of("blasiok", sizes if repeats > 2 else sizes | {"LAWS": 10})


def gruber(seed: int, repeats: int) -> Tables:
    """Gruber & Buettner (2022)

    Proper calibration errors: with 100 repeats a tenth of the paper's test sets.
    """
    sizes: dict[str, Any] = {"FEWER": 1000 / repeats, "SAMPLES": 4 * repeats, "LAWS": 20 * repeats}
    if repeats > 2:
        sizes |= {"SIZES": tuple(int(n) for n in np.geomspace(100, 10_000, 10).round())}
        sizes |= {"POOL": 40_000, "NETWORKS": max(2, repeats // 20), "STEPS": 2000}
    else:
        sizes |= {"SIZES": (100, 10_000), "FEWER": 20_000, "POOL": 500, "NETWORKS": 1, "STEPS": 500}
    return tables_of("gruber", sizes)


def torabian(seed: int, repeats: int) -> Tables:
    """Torabian & Urner (2024)

    Calibration and interpretability: with 100 repeats 10 splits of each data set, and the paper's
    sizes in appendix C.
    """
    sizes: dict[str, Any] = {"POPULATIONS": 20 * repeats, "MERGES": max(2, repeats // 2)}
    if repeats > 2:
        sizes |= {"SETS": EVERY_SET, "SPLITS": max(2, repeats // 10)}
        sizes |= {"TREE_SPLITS": max(1, repeats // 20), "TEST_SETS": max(2, repeats // 10)}
        sizes |= {"SVM_CASES": 225 * repeats, "TREE_CASES": 275 * repeats}
        sizes |= {"TEST_CASES": (200, 1000, 5000)}
    else:
        sizes |= {"SETS": ("breast cancer", "simple law"), "TEST_SETS": 2, "TEST_CASES": (200,)}
    return tables_of("torabian", sizes)


PARTS = {dong: 100, blasiok: 100, gruber: 100, torabian: 100}


def main(arguments: Any = None) -> None:
    run("papers", ASKED, PARTS, 1, arguments)


if __name__ == "__main__":
    main()
