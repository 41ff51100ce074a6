"""Appendix C of Torabian & Urner: the bias of ECE and PDE with two kinds of bins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torabian_methods import LAWS, TREES, Calibrated, Law, true_errors

import bayescal as bc
from bayescal import estimators

Numbers = NDArray[np.float64]

BINS = (2, 4, 8, 16, 32, 64)
FIGURES = {
    ("simple law", "mass"): "7",
    ("simple law", "bfsl"): "8",
    ("complex law", "mass"): "9",
    ("complex law", "bfsl"): "10",
}


class Size(NamedTuple):
    """How many cases: for the SVM, for the trees, and in a test set."""

    svm: int
    tree: int
    test: tuple[int, ...]
    n_simulations: int


FULL = Size(22_500, 27_500, (200, 1000, 5000), 10)
SMALL, MORE = 200, 50
"""Size and number of further test sets, for the coverage of our interval in small ones."""


class TestSet(NamedTuple):
    """Cases of one simulation, with the probabilities, and the bins of each number by the tree."""

    y: Numbers
    s: Numbers
    eta: Numbers
    bins: dict[int, NDArray[np.intp]]


def bias(sets: list[TestSet], n: int, estimator: str, binning: str, n_bins: int) -> estimators.Bias:
    """Bias of an estimator on the first n cases of each test set, by `estimator_bias`."""
    remaining = iter(sets)

    def sample(rng: np.random.Generator) -> tuple[Any, ...]:
        it = next(remaining)
        drawn = (it.y[:n], it.s[:n], it.eta[:n])
        return (*drawn, {"cells": it.bins[n_bins][:n]}) if binning == "bfsl" else drawn

    options = {} if binning == "bfsl" else {"n_bins": n_bins, "binning": "mass"}
    return estimators.estimator_bias(
        estimator, sample, n_simulations=len(sets), random_state=0, **options
    )


def posterior_bias(sets: list[TestSet], n: int, true_ce: float) -> dict[str, float]:
    """Our estimate and interval of the calibration error, by model averaging."""
    away, errors, above, below = [], [], 0, 0
    for it in sets:
        post = bc.compare(it.y[:n], it.s[:n], edge=0.001, random_state=0).posterior
        estimate, (low, high) = post.estimate("tce"), post.interval("tce")
        away.append(estimate - np.abs(it.s[:n] - it.eta[:n]).mean())
        errors.append(estimate - true_ce)
        above, below = above + int(low > true_ce), below + int(high < true_ce)
    return {
        "bias": float(np.mean(away)),
        "bias_of_ce": float(np.mean(errors)),
        "inside": len(sets) - above - below,
        "above": above,
        "of": len(sets),
    }


def test_sets(
    model: Calibrated, law: Law, n: int, n_simulations: int, seed: int
) -> dict[str, list[TestSet]]:
    """New cases for every simulation, as both trees predict them."""
    rng, sets = np.random.default_rng(seed), {method: [] for method in TREES}
    for _ in range(n_simulations):
        x, y, eta = law.draw(n, rng)
        base = model.base(x)
        for method in TREES:
            tree = model.fitted[method]
            bins = {b: tree.breadth_first_bins(base, b, x) for b in BINS}
            sets[method].append(TestSet(y, tree.transform(base, x), eta, bins))
    return sets


def one_model(sets: list[TestSet], size: Size) -> dict[str, Any]:
    """Biases of one tree, by test size, kind of bins and number of bins."""
    pooled = true_errors(*(np.concatenate([getattr(it, k) for it in sets]) for k in ("s", "eta")))
    rows = [
        {"n": n, "binning": binning, "n_bins": b, "estimator": estimator}
        | bias(sets, n, estimator, binning, b)._asdict()
        for n in size.test
        for binning in ("mass", "bfsl")
        for b in BINS
        for estimator in ("ece", "pde")
    ]
    ours = {str(n): posterior_bias(sets, n, pooled["true CE"]) for n in size.test}
    return {"truth": pooled, "rows": rows, "posterior": ours}


def appendix_c(size: Size = FULL, n_more: int = MORE) -> dict[str, Any]:
    """Both laws, both trees; and in how many cells PDE has the smaller bias."""
    result: dict[str, Any] = {"size": size._asdict(), "laws": {}}
    for name, law in LAWS.items():
        rng = np.random.default_rng(3)
        x, y, _ = law.draw(size.svm, rng)
        x_fit, y_fit, _ = law.draw(size.tree, rng)
        model = Calibrated(x, y, x_fit, y_fit)
        result["laws"][name] = {
            method: {"leaves": int(model.fitted[method].n_leaves_)} | one_model(sets, size)
            for method, sets in test_sets(model, law, max(size.test), size.n_simulations, 7).items()
        }
        for method, sets in test_sets(model, law, SMALL, n_more, 8).items():
            it = result["laws"][name][method]
            it["more"] = posterior_bias(sets, SMALL, it["truth"]["true CE"])
    result["smaller"] = {
        f"{figure}, {method}": smaller(result["laws"][law][method]["rows"], binning)
        for (law, binning), figure in FIGURES.items()
        for method in TREES
    }
    return result


def smaller(rows: list[dict[str, Any]], binning: str) -> dict[str, int]:
    """Cells (test size by number of bins) where PDE's bias is nearer 0 than ECE's, or the same."""
    table: dict[tuple[int, int], dict[str, float]] = {}
    for row in rows:
        if row["binning"] == binning:
            table.setdefault((row["n"], row["n_bins"]), {})[row["estimator"]] = abs(row["bias"])
    less = sum(cell["pde"] < cell["ece"] - 1e-9 for cell in table.values())
    same = sum(abs(cell["pde"] - cell["ece"]) <= 1e-9 for cell in table.values())
    return {"cells": len(table), "pde_smaller": less, "same": same}
