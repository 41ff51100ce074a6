"""Trees of Torabian & Urner: Table 1 on their cells, and PDE against 0/1 loss (appendix D)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from torabian_methods import data_of, problems
from torabian_theory import ARROWS, counted, moved, zero_one_loss

from bayescal import estimators, recalibrate

Numbers = NDArray[np.float64]

LEAVES = (2, 4, 8, 16, 32, 64, 128)
REPLICATES = 200


def table_1_on_data(names: Iterable[str], n_merges: int) -> dict[str, Any]:
    """Merges and average labels on half of the cases of each set, by a tree on the other half.

    The cases are the population, so that eta is the outcome of the case.
    """
    rng, changes = np.random.default_rng(2), {operation: [] for operation in ARROWS}
    for name in names:
        x, labels = data_of(name)
        y = next(iter(problems(labels)))
        fit, test = np.array_split(rng.permutation(y.size), 2)
        tree = DecisionTreeClassifier(max_leaf_nodes=16, random_state=0).fit(x[fit], y[fit])
        f = np.round(tree.predict_proba(x[test])[:, 1], 12)
        cases = (np.arange(test.size), y[test], f)
        changes["average"].append(moved(rng, "average", cases))
        changes["merge"] += [moved(rng, "merge", cases) for _ in range(n_merges)]
    return {operation: counted(rows) for operation, rows in changes.items()}


def evaluated(y: Numbers, s: Numbers, cells: NDArray[np.intp], seed: int) -> dict[str, float]:
    """PDE over the leaves, 0/1 loss, and the PDE that a calibrated model has with these leaves."""
    rng = np.random.default_rng(seed)
    calibrated = (rng.random((REPLICATES, s.size)) < s).astype(float)
    return {
        "pde": float(estimators.pde(y, s, cells=cells)),
        "loss": zero_one_loss(y, s),
        "chance": float(np.mean(estimators.pde(calibrated, s, cells=cells))),
    }


def one_split(x: Numbers, y: Numbers, seed: int) -> list[dict[str, float]]:
    """Half of the cases for trees of each size, and a pruned one; half to judge them by."""
    order = np.random.default_rng(seed).permutation(y.size)
    fit, test = np.array_split(order, 2)
    rows = []
    for leaves in LEAVES:
        tree = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=seed).fit(x[fit], y[fit])
        s = tree.predict_proba(x[test])[:, list(tree.classes_).index(1)]
        row = evaluated(y[test], s, tree.apply(x[test]), seed)
        rows.append(row | {"leaves": int(tree.get_n_leaves())})
    half = np.full(y.size, 0.5)
    pruned = recalibrate.DecisionTreeRecalibrator(max_leaves=max(LEAVES), min_cases=1)
    pruned.fit(half[fit], y[fit], features=x[fit])
    s, cells = (call(half[test], x[test]) for call in (pruned.transform, pruned.leaf))
    rows.append(evaluated(y[test], s, cells, seed) | {"leaves": pruned.n_leaves_})
    return rows


def one_set(name: str, n_repeats: int) -> dict[str, Any]:
    """Averages over classes and splits: a row for each size asked for, the pruned tree last."""
    x, y = data_of(name)
    splits = [one_split(x, outcome, seed) for seed in range(n_repeats) for outcome in problems(y)]
    rows = [
        {k: float(np.mean([split[i][k] for split in splits])) for k in splits[0][i]}
        for i in range(len(LEAVES) + 1)
    ]
    return {"sizes": rows[:-1], "pruned": rows[-1]} | verdict(rows[:-1], rows[-1])


def verdict(sizes: list[dict[str, float]], pruned: dict[str, float]) -> dict[str, Any]:
    """Whether PDE rises with size; whether pruning is better than a tree of the same size."""
    steps = np.diff([row["pde"] for row in sizes])
    leaves = np.array([row["leaves"] for row in sizes])
    grown = np.interp(
        np.log(pruned["leaves"]), np.log(leaves), [row["pde"] + row["loss"] for row in sizes]
    )
    return {
        "pde_rises": bool(np.all(steps >= -1e-9)),
        "pde_higher_at_the_end": sizes[-1]["pde"] > sizes[0]["pde"],
        "least_loss_at": float(leaves[np.argmin([row["loss"] for row in sizes])]),
        "pruned_less_grown": pruned["pde"] + pruned["loss"] - float(grown),
    }


def appendix_d(names: Iterable[str], n_repeats: int) -> dict[str, Any]:
    """Every data set."""
    return {"n_repeats": n_repeats, "sets": {name: one_set(name, n_repeats) for name in names}}
