"""What Torabian & Urner state without data: counts of cells, Table 1, and their examples."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal import estimators, scores

Numbers = NDArray[np.float64]

CASES_PER_POINT = 20
MEASURES = ("CE_1", "CE_2", "0/1 loss", "MSE", "PC", "KT")
ARROWS = {
    "merge": {"CE_1": "=↓", "CE_2": "=↓", "0/1 loss": "=⇅", "MSE": "=⇅", "PC": "=↓", "KT": "=⇅"},
    "average": {"CE_1": "=↓", "CE_2": "=↓", "0/1 loss": "=↓", "MSE": "=↓", "PC": "=↓", "KT": "=⇅"},
}
"""Table 1 of the paper: what merging two cells, or average labels, may do to each measure."""


def probabilistic_count(weights: list[Fraction]) -> float:
    """PC of cells with these weights, by the package on a population of whole cases."""
    total = int(np.lcm.reduce([w.denominator for w in weights]))
    cells = np.repeat(np.arange(len(weights)), [int(w * total) for w in weights])
    return float(estimators.probabilistic_count((cells + 1) / (len(weights) + 1)))


def counts_of_cells() -> dict[str, dict[str, Any]]:
    """Figures 3 to 6: the weights as printed, and as they add to 1."""
    quarter, small = Fraction(1, 4), Fraction(1, 80)
    figures = {
        "3, with 15/80": [quarter] * 3 + [Fraction(15, 80)] + [small] * 5,
        "3, with five cells of 1/400": [quarter] * 3 + [Fraction(19, 80)] + [small / 5] * 5,
        "4": [quarter] * 2 + [Fraction(1, 2)],
        "5": [Fraction(1, 3)] * 2 + [Fraction(1, 30)] * 10,
        "6": [Fraction(1, 3)] + [Fraction(1, 30)] * 20,
    }
    result: dict[str, dict[str, Any]] = {
        name: {"sum": float(sum(weights)), "count": probabilistic_count(weights)}
        for name, weights in figures.items()
    }
    printed = [quarter] * 3 + [Fraction(19, 80)] + [small] * 5
    inverse = sum(weight**2 for weight in printed)
    result["3, as printed"] = {"sum": float(sum(printed)), "count": float(1 / inverse)}
    return result


def example_1(n: int = 1000) -> dict[str, float]:
    """Appendix B: one bin of scores .35 and .65. Once eta is .5, once it is the score."""
    score = np.repeat([0.35, 0.65], n)
    half = np.tile([0.0, 1.0], n)
    events = (np.tile(np.arange(n), 2) < n * score).astype(float)
    return {
        "ece": estimators.ece(half, score, n_bins=1),
        "pde": estimators.pde(half, score, n_bins=1),
        "truth": estimators.pde(half, score, cells=score),
        "ece_if_calibrated": estimators.ece(events, score, n_bins=1),
        "pde_if_calibrated": estimators.pde(events, score, n_bins=1),
        "truth_if_calibrated": estimators.pde(events, score, cells=score),
    }


def observation_9() -> dict[str, float]:
    """Kendall's tau of two cells before and after average labels."""
    before = np.repeat([0.4, 0.6], 4)
    result = {}
    for name, first in {"falls": [0.1, 0.1, 0.1, 1.0], "rises": [0.1, 0.3, 0.3, 1.0]}.items():
        truth = np.array(first + [0.2] * 4)
        after = np.repeat([np.mean(first), 0.2], 4)
        result[f"{name}, before"] = estimators.probabilistic_kendall_tau(truth, before)
        result[f"{name}, after"] = estimators.probabilistic_kendall_tau(truth, after)
    return result


def observation_7() -> dict[str, float]:
    """The proof's second case of tau: the order of eta as printed, and one that does what it says.

    Cells a, b, c, d have the scores .4, .8, .45, .55, and a merge of a and b gives .6.
    """
    score, merged = np.array([0.4, 0.8, 0.45, 0.55]), np.array([0.6, 0.6, 0.45, 0.55])
    orders = {"printed: c < b < a < d": "cbad", "mended: c < d < b < a": "cdba"}
    result = {}
    for name, order in orders.items():
        truth = np.array([(order.index(cell) + 1) / 5 for cell in "abcd"])
        result[f"{name}, f"] = estimators.probabilistic_kendall_tau(truth, score)
        result[f"{name}, g"] = estimators.probabilistic_kendall_tau(truth, merged)
    return result


def zero_one_loss(y: Numbers, s: Numbers, *, event_at_half: bool = False) -> float:
    """Share of wrong classes at the threshold 1/2; section 2 calls 1/2 an event, section 5 not."""
    predicted = s >= 0.5 if event_at_half else s > 0.5
    return float(np.mean(predicted != (y == 1)))


def threshold() -> dict[str, float]:
    """A constant score of 1/2, and six events in ten, by the two definitions of the 0/1 loss."""
    y, s = np.repeat([1.0, 0.0], [6, 4]), np.full(10, 0.5)
    return {
        "section_2": zero_one_loss(y, s, event_at_half=True),
        "section_5": zero_one_loss(y, s),
    }


def measures(point: NDArray[np.intp], y: Numbers, f: Numbers) -> dict[str, float]:
    """The measures of Table 1 in a finite population; `f` is a score for each of its points."""
    s = f[point]
    return {
        "CE_1": float(estimators.pde(y, s, cells=s)),
        "CE_2": float(estimators.pde(y, s, cells=s, p=2)),
        "0/1 loss": zero_one_loss(y, s, event_at_half=True),
        "MSE": scores.brier_score(y, s),
        "PC": float(estimators.probabilistic_count(s)),
        "KT": float(estimators.probabilistic_kendall_tau(eta_of(point, y), f)),
    }


def eta_of(point: NDArray[np.intp], y: Numbers) -> Numbers:
    """Share of events of each point of the population."""
    eta: Numbers = np.bincount(point, y) / np.bincount(point)
    return eta


def population(rng: np.random.Generator) -> tuple[NDArray[np.intp], Numbers, Numbers]:
    """Points of equal weight, outcomes of their cases, and a score for each point."""
    n_points, n_cells = int(rng.integers(3, 13)), int(rng.integers(2, 7))
    point = np.repeat(np.arange(n_points), CASES_PER_POINT)
    events = rng.integers(0, CASES_PER_POINT + 1, n_points)
    if rng.random() < 0.1:  # tau stays where eta is constant
        events[:] = events[0]
    y = np.concatenate([np.arange(CASES_PER_POINT) < k for k in events]).astype(float)
    levels = rng.choice(np.arange(1, 20) / 20, n_cells, replace=False)
    f = rng.choice(levels, n_points)
    f[:2] = levels[:2]
    return point, y, f


def moved(
    rng: np.random.Generator, operation: str, cases: tuple[NDArray[np.intp], Numbers, Numbers]
) -> dict[str, float]:
    """Change of each measure by one operation on a population."""
    point, y, f = cases
    before = measures(point, y, f)
    if operation == "merge":
        one, other = rng.choice(np.unique(f), 2, replace=False)
        after = estimators.merge_cells(f, np.where(f == one, other, f))
    else:
        first = np.unique(point, return_index=True)[1]
        after = estimators.average_labels(y, f[point])[first]
    later = measures(point, y, np.round(after, 12))
    return {name: later[name] - before[name] for name in MEASURES}


def counted(changes: list[dict[str, float]]) -> dict[str, dict[str, int]]:
    """How often each measure rose, fell and stayed."""
    return {
        name: {
            "rose": sum(change[name] > 1e-9 for change in changes),
            "fell": sum(change[name] < -1e-9 for change in changes),
            "stayed": sum(abs(change[name]) <= 1e-9 for change in changes),
        }
        for name in MEASURES
    }


def table_1(n_populations: int, seed: int = 1) -> dict[str, dict[str, dict[str, int]]]:
    """Each operation on as many random populations."""
    rng = np.random.default_rng(seed)
    return {
        operation: counted([moved(rng, operation, population(rng)) for _ in range(n_populations)])
        for operation in ARROWS
    }


def theory(n_populations: int) -> dict[str, Any]:
    """All of this."""
    return {
        "counts_of_cells": counts_of_cells(),
        "example_1": example_1(),
        "observation_7": observation_7(),
        "observation_9": observation_9(),
        "threshold": threshold(),
        "n_populations": n_populations,
        "table_1": table_1(n_populations),
    }
