"""Theorems and lemmas of Błasiok & Nakkiran, checked on laws of scores and outcomes.

A law has finitely many scores. Each theorem is a statement about all laws, which a computation can
refute and cannot prove: what is reported is how near to its bounds the laws come.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import linprog
from scipy.stats import norm

from bayescal import estimators

Numbers = NDArray[np.float64]
GRID = np.linspace(0, 1, 4001)
MIRRORS = 4


class Law(NamedTuple):
    """Probabilities of pairs of an outcome and a score, as weighted cases."""

    y: Numbers
    s: Numbers
    weight: Numbers


def law(scores: Numbers, shares: Numbers, events: Numbers) -> Law:
    """The law with these scores, their shares and the probability of the event at each."""
    y = np.repeat([1.0, 0.0], scores.size)
    weight = np.concatenate([shares * events, shares * (1 - events)])
    kept = weight > 0
    return Law(y[kept], np.tile(scores, 2)[kept], weight[kept] / weight[kept].sum())


def pair(gap: float, middle: float = 0.5) -> Law:
    """Half the cases without the event at `middle - gap`, half with it at `middle + gap`."""
    return Law(np.array([0.0, 1.0]), np.array([middle - gap, middle + gap]), np.array([0.5, 0.5]))


def random_law(rng: np.random.Generator) -> Law:
    """A law of one of three kinds: any, near calibration, or a pair of scores that are close."""
    kind = rng.integers(3)
    if kind == 2:
        return pair(10 ** rng.uniform(-3, -0.7), rng.uniform(0.3, 0.7))
    size = rng.integers(1, 7)
    scores = np.sort(rng.uniform(size=size))
    events = rng.uniform(size=size)
    if kind == 1:
        events = np.clip(scores + rng.normal(scale=10 ** rng.uniform(-2, -0.5), size=size), 0, 1)
    return law(scores, rng.dirichlet(np.ones(size)), events)


def smooth(it: Law, sigma: float | None = None) -> float:
    """SmoothECE of a law."""
    value = estimators.smooth_ece(it.y, it.s, bandwidth=sigma, sample_weight=it.weight)
    return float(value)


def distance(it: Law, outcome_cost: float = np.inf) -> float:
    """Distance to calibration, by the package.

    Outcomes stay (Definition 6), or change at a cost (Definition 1, where it is 1).
    """
    value = estimators.lower_distance_to_calibration(
        it.y, it.s, outcome_cost=outcome_cost, sample_weight=it.weight
    )
    return float(value)


def weak(it: Law) -> float:
    """Weak calibration error of Definition 21, by the package."""
    return float(estimators.weak_calibration_error(it.y, it.s, sample_weight=it.weight))


def shown(it: Law, sigma: float) -> float:
    """Equation 8 at one bandwidth."""
    curve = estimators.smooth_ece_curve(
        it.y, it.s, bandwidth=sigma, grid=GRID, sample_weight=it.weight
    )
    return float(np.trapezoid(np.abs(curve.outcome - GRID) * curve.density, GRID))


def mean_move(it: Law, sigma: float) -> float:
    """How far scores move on average when noise is added and its mean outcome taken instead.

    The new score is the mean outcome given the noisy score, hence calibrated: the random
    recalibration behind Lemma 8 and Theorem 20, and that of `SmoothRecalibrator`.
    """
    curve = estimators.smooth_ece_curve(
        it.y, it.s, bandwidth=sigma, grid=GRID, sample_weight=it.weight
    )
    centres = 2 * np.arange(-MIRRORS, MIRRORS + 1)
    moves = []
    for score in it.s:
        images = np.concatenate([centres + score, centres - score])
        density = norm.pdf(GRID[:, None], images, sigma).sum(axis=1)
        moves.append(np.trapezoid(np.abs(curve.outcome - score) * density, GRID))
    return float(it.weight @ np.array(moves))


def sandwich(n_laws: int, seed: int) -> tuple[dict[str, Any], Numbers]:
    """Theorem 7 and the lemmas behind it on random laws, as ratios of the two sides.

    Also the distance to calibration and the SmoothECE of each law, an array of two columns.
    """
    rng = np.random.default_rng([seed, 7])
    least, root, sharper, weak_ratio, points = [], [], [], [], []
    lemmas: dict[str, list[float]] = {name: [] for name in ("2", "8", "9", "13", "23")}
    for _ in range(n_laws):
        it = random_law(rng)
        d, e = distance(it), smooth(it)
        points.append((d, e))
        least.append(e / d)
        root.append(e / (2 * np.sqrt(d)))
        sharper.append(e / ((d + np.sqrt(d**2 + 4 * d)) / 2))
        wce = weak(it)
        weak_ratio.append(wce / d)
        sigma = 10 ** rng.uniform(-1.5, -0.2)
        at_sigma = smooth(it, sigma)
        lemmas["2"].append(smooth(it, sigma * rng.uniform(1, 2)) / at_sigma)
        lemmas["8"].append(mean_move(it, sigma) / (at_sigma + sigma))
        lemmas["9"].append(at_sigma / ((1 + 1 / sigma) * d))
        lemmas["13"].append(abs(shown(it, sigma) - at_sigma) / (np.sqrt(2 / np.pi) * sigma))
        lemmas["23"].append(wce / (at_sigma + np.sqrt(2 / np.pi) * sigma))
    gaps = 10.0 ** np.arange(-4, -1)
    near = [(distance(pair(gap)), smooth(pair(gap))) for gap in gaps]
    slope = np.diff(np.log(near), axis=0)
    result = {
        "laws": n_laws,
        "least_smooth_over_distance": min(least),
        "largest_smooth_over_bound": max(root),
        "largest_smooth_over_sharper_bound": max(sharper),
        "lemmas": {name: max(ratios) for name, ratios in lemmas.items()},
        "least_weak_over_distance": min(weak_ratio),
        "largest_weak_over_distance": max(weak_ratio),
        "share_of_weak_below_distance": float(np.mean(np.array(weak_ratio) < 1 - 1e-6)),
        "pair_exponent": float(slope[0, 1] / slope[0, 0]),
    }
    return result, np.array(points)


def sandwich_in_logits(n_laws: int, seed: int) -> dict[str, Any]:
    """Theorems 15 and 19 in the metric of log-odds, with the distance of Definition 1.

    Theorem 19 says no constants, and caps the metric at 2, which the package does not.
    """
    rng = np.random.default_rng([seed, 19])
    least, root, weak_ratio = [], [], []
    for _ in range(n_laws):
        y, s, weight = random_law(rng)
        options: dict[str, Any] = {"metric": "logit", "sample_weight": weight}
        d = estimators.lower_distance_to_calibration(y, s, outcome_cost=1.0, **options)
        e = estimators.smooth_ece(y, s, **options)
        least.append(float(e / d))
        root.append(float(e / np.sqrt(d)))
        weak_ratio.append(float(estimators.weak_calibration_error(y, s, **options) / d))
    return {
        "laws": n_laws,
        "least_smooth_over_distance": min(least),
        "largest_smooth_over_root": max(root),
        "least_weak_over_distance": min(weak_ratio),
        "largest_weak_over_distance": max(weak_ratio),
    }


def distance_by_programme(it: Law, points: int = 401, outcome_cost: float = np.inf) -> float:
    """Distance to calibration as a linear programme over couplings, written from its definition.

    New scores lie on a grid and at the scores themselves.
    """
    new = np.union1d(np.linspace(0, 1, points), it.s)
    costs, mass, balance = [], [], []
    for outcome in (0.0, 1.0):
        for i in range(it.s.size):
            changes = it.y[i] != outcome
            if changes and np.isinf(outcome_cost):
                continue
            costs.append(np.abs(it.s[i] - new) + (outcome_cost if changes else 0))
            mass.append(np.outer(np.arange(it.s.size) == i, np.ones(new.size)))
            balance.append(np.diag(outcome - new))
    solution = linprog(
        np.concatenate(costs),
        A_eq=np.vstack([np.hstack(mass), np.hstack(balance)]),
        b_eq=np.concatenate([it.weight, np.zeros(new.size)]),
    )
    return float(solution.fun)


def weak_by_programme(it: Law) -> float:
    """Weak calibration error as a linear programme over Lipschitz functions at the scores."""
    scores, index = np.unique(it.s, return_inverse=True)
    residual = np.bincount(index, it.weight * (it.s - it.y))
    step = np.diff(np.eye(scores.size), axis=0)
    solution = linprog(
        -residual,
        A_ub=np.vstack([step, -step]),
        b_ub=np.tile(np.diff(scores), 2),
        bounds=(-1, 1),
    )
    return float(-solution.fun)


def weak_calibration() -> dict[str, Any]:
    """Theorem 22: both sides of its left inequality on a law of two cases, computed twice."""
    two = pair(0.05)
    return {
        "scores": two.s.tolist(),
        "outcomes": two.y.tolist(),
        "distance": distance(two),
        "distance_by_programme": distance_by_programme(two),
        "distance_1": distance(two, outcome_cost=1.0),
        "distance_1_by_programme": distance_by_programme(two, outcome_cost=1.0),
        "weak": weak(two),
        "weak_by_programme": weak_by_programme(two),
    }


def rate(curve: Callable[[Numbers], Numbers], runs: int, seed: int) -> dict[str, Any]:
    """Theorem 11: error of SmoothECE in samples, over all bandwidths from one on.

    It says that sqrt(m sigma_0) times the error, of which the quantile at 2/3 is given, is bounded.
    """
    scores = (np.arange(5000) + 0.5) / 5000
    population = law(scores, np.full(5000, 1 / 5000), np.clip(curve(scores), 0, 1))
    rows = []
    for sigma in (0.02, 0.1):
        widths = np.geomspace(sigma, 1, 8)
        truth = [smooth(population, width) for width in widths]
        for size in (100, 1000, 10_000):
            rng = np.random.default_rng([seed, 11, size])
            s = rng.uniform(size=(runs, size))
            y = (rng.uniform(size=s.shape) < curve(s)).astype(float)
            errors = [
                max(
                    abs(float(estimators.smooth_ece(y[i], s[i], bandwidth=width)) - value)
                    for width, value in zip(widths, truth, strict=True)
                )
                for i in range(runs)
            ]
            scaled = float(np.quantile(errors, 2 / 3) * np.sqrt(size * sigma))
            rows.append({"sigma_0": sigma, "m": size, "scaled_error": scaled})
    return {"rows": rows}


def misprints() -> dict[str, float]:
    """One number for each misprint: what the printed formula gives where another is meant."""
    y, s = np.array([0, 0, 0, 0, 0, 0, 1, 1.0]), np.linspace(0.1, 0.9, 8)
    curve = estimators.smooth_ece_curve(y, s, bandwidth=0.1, grid=[0.7])
    events, others = (
        estimators.smooth_ece_curve(y[y == value], s[y == value], bandwidth=0.1, grid=[0.7]).density
        for value in (1, 0)
    )
    width = 0.25
    kernel = quad(lambda d: np.exp(-(d**2) / (2 * width)) / np.sqrt(2 * np.pi * width**2), -9, 9)[0]
    wrong = law(np.array([0.2, 0.8]), np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    return {
        "curve": float(curve.outcome[0]),
        "ratio_of_densities_of_mass_1": float((events / (events + others))[0]),
        "kernel_of_claim_12_at_a_quarter": float(kernel),
        "signed_error_of_section_5_3": float(wrong.weight @ (wrong.s - wrong.y)),
        "smooth_ece_of_that_law": smooth(wrong),
        "point_to_itself_in_theorem_19": max(abs(0.5 - 0.5), 2),
        "lemma_13_at_a_half": shown(pair(0.0), 0.1) / 0.1,
    }
