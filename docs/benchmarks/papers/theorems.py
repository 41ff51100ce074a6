"""Statements of the papers without a table of their own, as computations on finite populations.

    python docs/benchmarks/papers/theorems.py

stores `results/papers/theorems.json`. Section 3 of Torabian & Urner is checked in fractions: the
calibrated predictors of a finite population are the averages over its partitions, so that none is
missed. Theorem 1 and equation 14 of Dong et al., and Lemma 17 and Theorem 16 of Błasiok & Nakkiran,
are asked of a counterexample and of random laws. A computation refutes a statement about all laws
or fails to; it does not prove it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import blasiok_laws
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize
from scipy.special import expit

from bayescal import estimators

RESULTS = Path(__file__).resolve().parents[1] / "results" / "papers" / "theorems.json"
SEED = 34_010
POPULATIONS, LAWS = 2000, 100
HALF = Fraction(1, 2)
Numbers = NDArray[np.float64]


# Torabian & Urner, section 3


class Population(NamedTuple):
    """Points with a weight and a risk each."""

    weight: tuple[int, ...]
    eta: tuple[Fraction, ...]


def random_population(rng: np.random.Generator, *, halves: bool) -> Population:
    """Two to five points with risks in tenths; `halves`: whether a risk may be 1/2."""
    points = int(rng.integers(2, 6))
    tenths = np.arange(11) if halves else np.delete(np.arange(11), 5)
    eta = tuple(Fraction(int(k), 10) for k in rng.choice(tenths, points))
    return Population(tuple(int(w) for w in rng.integers(1, 4, points)), eta)


def partitions(points: int) -> Iterator[list[list[int]]]:
    """Every way to put the points into cells."""
    if not points:
        yield []
        return
    for cells in partitions(points - 1):
        yield [*cells, [points - 1]]
        for k, cell in enumerate(cells):
            yield [*cells[:k], [*cell, points - 1], *cells[k + 1 :]]


def averaged(it: Population, cells: list[list[int]]) -> tuple[Fraction, ...]:
    """The predictor that is the mean risk of each cell."""
    f = list(it.eta)
    for cell in cells:
        total = sum(it.weight[x] for x in cell)
        for x in cell:
            f[x] = sum((it.weight[z] * it.eta[z] for z in cell), Fraction(0)) / total
    return tuple(f)


def is_calibrated(it: Population, f: tuple[Fraction, ...]) -> bool:
    """Whether each score is the mean risk of its points."""
    cells = [[x for x in range(len(f)) if f[x] == value] for value in set(f)]
    return averaged(it, cells) == f


def is_accurate(it: Population, f: tuple[Fraction, ...]) -> bool:
    """Whether the 0/1 loss of some threshold is the least of all classifiers."""

    def loss(predicted: list[bool]) -> Fraction:
        each = (1 - e if event else e for e, event in zip(it.eta, predicted, strict=True))
        return sum((w * e for w, e in zip(it.weight, each, strict=True)), Fraction(0))

    best = loss([e >= HALF for e in it.eta])
    return any(loss([value >= t for value in f]) == best for t in {*f, Fraction(2)})


def is_strictly_monotonic(it: Population, f: tuple[Fraction, ...]) -> bool:
    """Whether a higher risk always has a higher score."""
    points = range(len(f))
    return all(f[x] < f[z] for x in points for z in points if it.eta[x] < it.eta[z])


def has_theorem_2(it: Population) -> bool:
    """Whether two different risks are on one side of 1/2, which itself counts as above."""
    low = {e for e in it.eta if e < HALF}
    return max(len(low), len(set(it.eta) - low)) >= 2


def has_other(it: Population) -> bool:
    """Whether a predictor other than the risk is both calibrated and accurate."""
    made = (averaged(it, cells) for cells in partitions(len(it.eta)))
    return any(f != it.eta and is_accurate(it, f) for f in made)


def monotonic(it: Population, rng: np.random.Generator) -> tuple[Fraction, ...]:
    """A random strictly monotonic predictor; points of equal risk may have different scores."""
    ranks = sorted(set(it.eta))
    return tuple(Fraction(2 * ranks.index(e) + int(rng.integers(2)), 20) for e in it.eta)


def section_3(populations: int, seed: int = SEED) -> dict[str, Any]:
    """How often each statement is false, and the regions of Figure 1 that have predictors."""
    rng = np.random.default_rng([seed, 3])
    broken: Counter[str] = Counter()
    regions: Counter[str] = Counter()
    predictors = 0
    for index in range(populations):
        it = random_population(rng, halves=index % 2 == 0)
        says, is_so = has_theorem_2(it), has_other(it)
        broken["theorem 2, if"] += says and not is_so
        kind = "with" if HALF in it.eta else "without"
        broken[f"theorem 2, only if, {kind} a risk of 1/2"] += is_so and not says
        made = {averaged(it, cells) for cells in partitions(len(it.eta))}
        made |= {monotonic(it, rng) for _ in range(5)}
        made |= {tuple(Fraction(int(k), 10) for k in rng.integers(0, 11, len(it.eta)))}
        for f in sorted(made):
            has = {
                "calibrated": is_calibrated(it, f),
                "accurate": is_accurate(it, f),
                "strictly monotonic": is_strictly_monotonic(it, f),
                "the risk": f == it.eta,
            }
            predictors += 1
            broken["observation 3"] += has["strictly monotonic"] and not has["accurate"]
            both = has["calibrated"] and has["strictly monotonic"]
            broken["theorem 4"] += both != has["the risk"]
            regions[", ".join(name for name, holds in has.items() if holds) or "none"] += 1
    return {
        "populations": populations,
        "predictors": predictors,
        "broken": dict(sorted(broken.items())),
        "regions": dict(sorted(regions.items())),
    }


def observation_1(epsilon: Fraction = Fraction(1, 10)) -> dict[str, bool]:
    """The two predictors of its proof: a constant, and scores on either side of 1/2."""
    it = Population((1, 1), (Fraction(0), Fraction(1)))
    constant, near = (HALF, HALF), (HALF - epsilon, HALF + epsilon)
    return {
        "constant is calibrated": is_calibrated(it, constant),
        "constant is accurate": is_accurate(it, constant),
        "near is calibrated": is_calibrated(it, near),
        "near is accurate": is_accurate(it, near),
    }


def counterexample_to_theorem_2() -> dict[str, Any]:
    """Risks .3 and .5 of equal weight: the constant .4 is calibrated, and as accurate as can be."""
    it = Population((1, 1), (Fraction(3, 10), HALF))
    f = averaged(it, [[0, 1]])
    return {
        "score": float(f[0]),
        "is_calibrated": is_calibrated(it, f),
        "is_accurate": is_accurate(it, f),
        "theorem_says_none": not has_theorem_2(it),
    }


# Dong et al., Theorems 1 and 2, equation 14

TIE = (
    np.array([0.2, 0.3, 0.7, 0.8]),
    np.array([0.05, 0.7, 0.3, 0.95]),
    np.array([20.0, 1.0, 1.0, 20.0]) / 42,
)
"""Scores, shares of events and weights that stay the same when scores and outcomes are reversed."""


def curve_at(s: Numbers, parameters: Numbers) -> Numbers:
    """The curve of equation 12, with a and b of at least 0."""
    a, b, c = parameters
    return np.asarray(expit(a * np.log(s) - b * np.log1p(-s) + c))


def fitted(s: Numbers, share: Numbers, weight: Numbers) -> tuple[float, Numbers]:
    """The least value of the proof's objective, E exp((g - share)^2), and where it is."""

    def objective(parameters: Numbers) -> tuple[float, Numbers]:
        g = curve_at(s, parameters)
        each = weight * np.exp((g - share) ** 2)
        slope = 2 * each * (g - share) * g * (1 - g)
        return float(each.sum()), np.array([slope @ np.log(s), -slope @ np.log1p(-s), slope.sum()])

    fits = []
    for a in (0.1, 1.0, 3.0, 10.0):
        for b in (0.1, 1.0, 3.0, 10.0):
            for middle in (0.25, 0.5, 0.75):
                c = b * np.log1p(-middle) - a * np.log(middle)
                made = minimize(
                    objective,
                    [a, b, c],
                    jac=True,
                    method="L-BFGS-B",
                    bounds=[(0, 100), (0, 100), (None, None)],
                    options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 2000},
                )
                fits.append((float(made.fun), made.x))
    return min(fits, key=lambda row: row[0])


def jumps(steps: tuple[float, ...] = (1e-2, 1e-3, 1e-4, 1e-5)) -> list[dict[str, float]]:
    """What one share of events, moved up or down by a step, does to the fitted curve.

    `away` is the mean distance of the two data, by the coupling that leaves every case in its
    place, and `curves` that of the two curves: Theorem 1 has one L for all.
    """
    s, share, weight = TIE
    rows = []
    for step in steps:
        sides = [
            curve_at(s, fitted(s, share + sign * step * np.array([0, 1, 0, 0]), weight)[1])
            for sign in (1, -1)
        ]
        away = float(2 * step * weight[1])
        curves = float(weight @ np.abs(sides[0] - sides[1]))
        rows.append({"step": step, "away": away, "curves": curves, "ratio": curves / away})
    return rows


def tie() -> dict[str, Any]:
    """The two curves that are equally good, and by how much less than they a middle one is."""
    s, share, weight = TIE
    least, best = fitted(s, share, weight)
    mirrored = np.array([best[1], best[0], -best[2]])
    values = [float(weight @ np.exp((curve_at(s, each) - share) ** 2)) for each in (best, mirrored)]
    low, high = sorted(float(k) for k in best[:2])
    return {
        "least": least,
        "values": values,
        "smaller": low,
        "larger": high,
        "c": float(abs(best[2])),
    }


def transported(cost: Numbers, first: Numbers, second: Numbers) -> float:
    """The least mean cost over all couplings of two laws."""
    rows = [np.kron(np.eye(first.size)[i], np.ones(second.size)) for i in range(first.size)]
    columns = [np.kron(np.ones(first.size), np.eye(second.size)[j]) for j in range(second.size)]
    made = linprog(
        cost.ravel(), A_eq=np.array(rows + columns), b_eq=np.concatenate([first, second])
    )
    return float(made.fun)


def by_shares(one: tuple[Numbers, ...], other: tuple[Numbers, ...]) -> float:
    """Equation 14: laws of scores, each with its share of events and its weight."""
    (s, r, w), (t, q, v) = one, other
    return transported(np.abs(s[:, None] - t) + np.abs(r[:, None] - q), w, v)


def by_cases(one: tuple[Numbers, ...], other: tuple[Numbers, ...]) -> float:
    """Equation 15: the same laws as single cases, each with its own outcome."""
    laws = [
        (np.tile(s, 2), np.repeat([0.0, 1.0], s.size), np.concatenate([w * (1 - r), w * r]))
        for s, r, w in (one, other)
    ]
    return by_shares(*laws)


def equation_14(laws: int, seed: int = SEED) -> dict[str, Any]:
    """Equation 14 beside equation 15, which it is said to become when every case is by itself."""
    rng = np.random.default_rng([seed, 14])

    def random_law() -> tuple[Numbers, ...]:
        n = int(rng.integers(1, 5))
        return rng.random(n), rng.random(n), rng.dirichlet(np.ones(n))

    pairs = [(random_law(), random_law()) for _ in range(laws)]
    values = np.array([(by_shares(*each), by_cases(*each)) for each in pairs])
    one = np.array([0.5]), np.array([0.5]), np.array([1.0])
    split = np.array([0.4, 0.6]), np.array([0.0, 1.0]), np.array([0.5, 0.5])
    return {
        "laws": laws,
        "smaller_than_15": int((values[:, 0] < values[:, 1] - 1e-9).sum()),
        "larger_than_15": int((values[:, 0] > values[:, 1] + 1e-9).sum()),
        "example_by_shares": by_shares(one, split),
        "example_by_cases": by_cases(one, split),
    }


# Błasiok & Nakkiran, Lemma 17 and Theorem 16


def weak_of_two(residual: float, far: float) -> float:
    """Weak calibration error of two scores with opposite residuals, each of half of the cases.

    The best weights differ by how far apart they are, and by 2 at most.
    """
    return residual * min(far, 2.0) / 2


def exponents(metric: str, c: float) -> dict[str, float]:
    """The exponent of wCE in wCE_d of two scores near 0, whose gap shrinks as the metric allows."""
    points = []
    for delta in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        low, high = delta, delta + (2 * delta if c <= 1 else delta**c)
        if metric == "logit":
            far = float(np.log(high / (1 - high)) - np.log(low / (1 - low)))
        else:
            far = (low ** (1 - c) - high ** (1 - c)) / (c - 1)
        residual = delta / 2
        points.append(
            (
                weak_of_two(residual, high - low),
                weak_of_two(residual, far),
            )
        )
    logs = np.log(np.array(points))
    slope = np.polyfit(logs[:, 1], logs[:, 0], 1)[0]
    return {"c": c, "stated": max(c + 1, 2.0), "reached": float(slope)}


def lemma_17(laws: int, seed: int = SEED) -> dict[str, Any]:
    """The metric of log-odds on random laws, and exponents that pairs of scores reach."""
    rng = np.random.default_rng([seed, 17])
    ratios, lower, upper = [], [], []
    for _ in range(laws):
        y, s, weight = blasiok_laws.random_law(rng)
        plain: dict[str, Any] = {"sample_weight": weight}
        weak = float(estimators.weak_calibration_error(y, s, **plain))
        weak_d = float(estimators.weak_calibration_error(y, s, metric="logit", **plain))
        near = float(estimators.lower_distance_to_calibration(y, s, outcome_cost=1.0, **plain))
        far = float(
            estimators.lower_distance_to_calibration(
                y, s, outcome_cost=1.0, metric="logit", **plain
            )
        )
        ratios.append(weak_d**2 / weak)
        lower.append(far / near)
        upper.append(far / near**0.5)
    t = np.linspace(1e-3, 0.5, 500)
    return {
        "laws": laws,
        "largest_weak_squared_over_weak": max(ratios),
        "least_distance_ratio": min(lower),
        "largest_distance_over_root": max(upper),
        "constant_of_logit": float((1 / (1 - t)).max()),
        "pairs": [exponents("logit", 1.0), exponents("power", 2.0), exponents("power", 3.0)],
    }


# The page


def shown_section_3(record: dict[str, Any]) -> str:
    """How often each statement of section 3 is false, in Markdown."""
    known, broken = record["section_3"], record["section_3"]["broken"]
    without, with_half = (
        broken[f"theorem 2, only if, {kind} a risk of 1/2"] for kind in ("without", "with")
    )
    regions = known["regions"]
    pairs = sum(n for name, n in regions.items() if name == "calibrated, accurate")
    only = sum(n for name, n in regions.items() if name == "calibrated")
    strict = sum(n for name, n in regions.items() if name == "accurate, strictly monotonic")
    first = record["observation_1"]
    is_so = first["constant is calibrated"] and not first["constant is accurate"]
    is_so &= first["near is accurate"] and not first["near is calibrated"]
    rows = [
        ("Observation 1, its two predictors", "as stated" if is_so else "false", "confirmed"),
        ("Theorem 2, if", f"false in {broken['theorem 2, if']}", "confirmed"),
        ("Theorem 2, only if, no risk is 1/2", f"false in {without}", "confirmed"),
        ("Theorem 2, only if, a risk is 1/2", f"false in {with_half}", "**false as printed**"),
        ("Corollary 1", f"{pairs:,} calibrated and accurate, not the risk", "confirmed"),
        ("Observation 3", f"false in {broken['observation 3']}", "confirmed"),
        ("Theorem 4", f"false in {broken['theorem 4']}", "confirmed"),
        (
            "Corollary 2",
            f"{only + pairs:,} calibrated alone, {strict:,} strictly monotonic alone",
            "confirmed",
        ),
    ]
    lines = ["| statement | computed | verdict |", "|---|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows])


def shown_regions(record: dict[str, Any]) -> str:
    """Predictors in each region of Figure 1, in Markdown."""
    lines = ["| region of Figure 1 | predictors |", "|---|---|"]
    return "\n".join(
        lines + [f"| {name} | {n:,} |" for name, n in record["section_3"]["regions"].items()]
    )


def shown_jumps(record: dict[str, Any]) -> str:
    """Distances of data and of curves at the tie, in Markdown."""
    lines = ["| step | data apart | curves apart | ratio |", "|---|---|---|---|"]
    rows = (
        f"| {row['step']:g} | {row['away']:.1e} | {row['curves']:.4f} | {row['ratio']:,.0f} |"
        for row in record["theorem_1"]["jumps"]
    )
    return "\n".join([*lines, *rows])


def shown_lemma_17(record: dict[str, Any]) -> str:
    """Exponents of Lemma 17, in Markdown."""
    lines = ["| metric | c | stated exponent | reached by pairs |", "|---|---|---|---|"]
    names = ("log-odds", "slope $s^{-2}$", "slope $s^{-3}$")
    for name, row in zip(names, record["lemma_17"]["pairs"], strict=True):
        lines.append(f"| {name} | {row['c']:g} | {row['stated']:g} | {row['reached']:.3f} |")
    return "\n".join(lines)


def main() -> None:
    record = {
        "section_3": section_3(POPULATIONS),
        "observation_1": observation_1(),
        "theorem_2": counterexample_to_theorem_2(),
        "theorem_1": {"tie": tie(), "jumps": jumps()},
        "equation_14": equation_14(LAWS),
        "lemma_17": lemma_17(LAWS),
    }
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
