"""Simulation-based calibration of factors and periods: `python docs/benchmarks/terms_sbc.py`.

As `sites_sbc.py` for sites. The average, the scales of every term and the effects of levels, or
the first period, the explanation and the steps, are drawn from the default priors, and outcomes at
fixed scores from the curves. The ranks of the truth among the draws of the fast engine must be
uniform.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

import bayescal as bc
from bayescal._base.versions import library_versions
from bayescal.multilevel.engine import draw_terms
from bayescal.multilevel.problem import MultilevelProblem, prepare_terms
from bayescal.multilevel.term import crossed, walk
from bayescal.validation import uniformity
from bayescal.validation.experiment import ENGINE_DRAWS, Facts
from bayescal.validation.simulation_based import sbc_of
from kept import folder

RESULTS = Path(__file__).parent / "results" / "terms_sbc.json"
FACTORS = {"sex": ("F", "M"), "age": ("<60", "60-80", "80+")}
CELLS = tuple(product(*FACTORS.values()))
CELL_SIZES = (60, 80, 90, 110, 140, 180)
PERIODS, PERIOD_SIZE = 5, 130
MEAN, WIDTH = -1.3, 1.2
HALF_T = {"nu": 3, "scales": np.array([0.3, 0.15]), "interaction": 0.5}
SEED = 20261


@dataclass(frozen=True)
class Terms:
    """Several curves at fixed scores, by the fast engine of their terms.

    Attributes
    ----------
    score : ndarray of shape (n,)
    group : ndarray of shape (n,)
        Index of the cell, or of the period, of each patient.
    """

    score: np.ndarray
    group: np.ndarray

    @property
    def depends_on(self) -> dict[str, Any]:
        """The priors and the scores."""
        table = np.concatenate([self.score, self.group]).tobytes()
        problem = self.problem(np.zeros(self.score.size), SEED)
        described = problem.pooled.to_attributes()
        described["terms"] = json.dumps([term.to_dict() for term in problem.terms])
        del described["seed"]
        return described | {"scores": hashlib.sha256(table).hexdigest()}

    @cached_property
    def centre(self) -> float:
        """Log-odds at which the shift acts."""
        return float(np.log(self.score / (1 - self.score)).mean())

    @cached_property
    def log_odds(self) -> np.ndarray:
        """From the centre."""
        return np.log(self.score / (1 - self.score)) - self.centre

    def events(self, at: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Outcomes of curves with coordinates (groups, 2)."""
        each = at[self.group]
        risk = expit(self.centre + each[:, 0] + np.exp(each[:, 1]) * self.log_odds)
        return (rng.random(risk.size) < risk).astype(int)

    def error(self, at: np.ndarray, mine: Any = slice(None)) -> np.ndarray:
        """Mean distance from calibration of curves of shape (n, 2), over some patients."""
        x, score = self.log_odds[mine], self.score[mine]
        curve = expit(self.centre + at[:, :1] + np.exp(at[:, 1:]) * x)
        return np.asarray(np.abs(curve - score).mean(axis=1))

    def problem(self, outcome: np.ndarray, seed: int) -> MultilevelProblem:
        """What is fitted to outcomes."""
        raise NotImplementedError

    def posterior(
        self, data: bc.CalibrationData, draws: int, seed: int
    ) -> tuple[np.ndarray, Facts]:
        """Posterior draws, and the Pareto k-hat of the fit."""
        problem = prepare_terms(
            data, self.vary(), prior="neutral", curve="logistic", random_state=seed
        )
        drawn = draw_terms(problem, ENGINE_DRAWS)
        return self.points(drawn)[:draws], {"pareto_k": drawn.stats["pareto_k"]}


def half_t(rng: np.random.Generator) -> np.ndarray:
    """Scales of shift and log slope of one term."""
    return np.abs(rng.standard_t(HALF_T["nu"], 2)) * HALF_T["scales"]


def average(rng: np.random.Generator) -> np.ndarray:
    """Coordinates of the average, or of the first period, under the neutral prior."""
    return rng.standard_normal(2) * [1.0, 0.5]


class Factors(Terms):
    """Two crossed factors: the average, three pairs of scales, and six cells."""

    quantities = (
        *("shift", "log_slope"),
        *(f"sd_{what}, {term}" for term in (*FACTORS, "sex x age") for what in ("shift", "slope")),
        *("shift of a cell", "log_slope of a cell", "shift of F less that of M"),
        *("TCE of a cell", "TCE of the average"),
    )

    share = 1.0
    """Expected size of the effects of cells, relative to that of normal effects."""

    def vary(self) -> Any:
        """The terms."""
        return crossed(list(FACTORS))

    def spread(self, scales: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Scales of the effects of each cell."""
        return np.tile(scales, (len(CELLS), 1))

    def truth(self, rng: np.random.Generator) -> np.ndarray:
        """A point from the prior."""
        start, scales = average(rng), np.array([half_t(rng) for _ in range(3)])
        scales[2] *= HALF_T["interaction"] * self.share
        effects = [rng.standard_normal((k, 2)) for k in (2, 3, 6)]
        spread = self.spread(scales[2], rng)
        cells = [
            start + scales[0] * effects[0][k // 3] + scales[1] * effects[1][k % 3]
            + spread[k] * effects[2][k]
            for k in range(len(CELLS))
        ]  # fmt: skip
        return np.concatenate([start, scales.ravel(), *cells])

    def observe(self, truth: np.ndarray, rng: np.random.Generator) -> bc.CalibrationData:
        """Outcomes of that truth."""
        levels = {
            name: np.array([cell[k] for cell in CELLS])[self.group]
            for k, name in enumerate(FACTORS)
        }
        outcome = self.events(truth[8:].reshape(-1, 2), rng)
        return bc.CalibrationData(outcome, self.score, factors=levels)

    def problem(self, outcome: np.ndarray, seed: int) -> MultilevelProblem:
        """What is fitted to outcomes."""
        data = self.observe(np.zeros(20), np.random.default_rng(seed))
        return prepare_terms(
            data, self.vary(), prior="neutral", curve="logistic", random_state=seed
        )

    def points(self, drawn: Any) -> np.ndarray:
        """Draws as points."""
        terms = [term.name for term in drawn.problem.terms]
        assert terms == [*FACTORS, "sex x age"]
        groups = [drawn.groups[drawn.problem.cells.index(cell)] for cell in CELLS]
        return np.column_stack([drawn.average, *drawn.scales, *groups])

    def evaluate(self, u: np.ndarray) -> np.ndarray:
        """The quantities at each point."""
        cell, shift = u[:, 8:10], u[:, 8::2]
        sexes = shift[:, :3].mean(axis=1) - shift[:, 3:].mean(axis=1)
        errors = self.error(cell, self.group == 0), self.error(u[:, :2])
        return np.column_stack([u[:, :8], cell, sexes, *errors])


class RobustFactors(Factors):
    """The same, where each cell may be unlike the others."""

    share = 0.6

    def vary(self) -> Any:
        """The terms."""
        return [*FACTORS, bc.by(*FACTORS, robust=True)]

    def spread(self, scales: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Scales of the effects of each cell, which is unlike the others with probability 0.1."""
        unlike = rng.random((len(CELLS), 1)) < 0.1
        return np.where(unlike, np.hypot([1, 0.5], 2 * scales), super().spread(scales, rng))


class Periods(Terms):
    """Ordered periods: all of them, and the next."""

    quantities = (
        *("shift, first period", "log_slope, first period"),
        *("shift, last period", "log_slope, last period", "shift, next period"),
        *("TCE, first period", "TCE, last period", "TCE, next period"),
    )

    def vary(self) -> Any:
        """The terms."""
        return walk("period")

    def truth(self, rng: np.random.Generator) -> np.ndarray:
        """A point from the prior: no change, a sudden one, or a walk."""
        path, kind = np.tile(average(rng), (PERIODS + 1, 1)), rng.random()
        if 0.5 <= kind < 0.9:
            change = rng.standard_t(HALF_T["nu"], 2) * HALF_T["scales"] * [2, 1]
            recent = 1 / np.arange(PERIODS - 1, 0, -1) ** 2
            path[rng.choice(np.arange(1, PERIODS), p=recent / recent.sum()) :] += change
        elif kind >= 0.9:
            step = half_t(rng) * rng.standard_normal((PERIODS, 2)) / np.sqrt(PERIODS - 1)
            path[1:] += step.cumsum(axis=0)
        return path.ravel()

    def observe(self, truth: np.ndarray, rng: np.random.Generator) -> bc.CalibrationData:
        """Outcomes of that truth."""
        outcome = self.events(truth.reshape(-1, 2), rng)
        return bc.CalibrationData(outcome, self.score, period=self.group)

    def problem(self, outcome: np.ndarray, seed: int) -> MultilevelProblem:
        """What is fitted to outcomes."""
        data = bc.CalibrationData(outcome, self.score, period=self.group)
        return prepare_terms(
            data, self.vary(), prior="neutral", curve="logistic", random_state=seed
        )

    def points(self, drawn: Any) -> np.ndarray:
        """Draws as points."""
        return np.column_stack([*drawn.in_order(), drawn.following])

    def evaluate(self, u: np.ndarray) -> np.ndarray:
        """The quantities at each point."""
        first, last, following = u[:, :2], u[:, -4:-2], u[:, -2:]
        last_ones = self.group == PERIODS - 1
        errors = (
            self.error(first, self.group == 0),
            self.error(last, last_ones),
            self.error(following, last_ones),
        )
        return np.column_stack([first, last, following[:, :1], *errors])


def experiments() -> dict[str, Terms]:
    """Six cells of 60 to 180 patients, and five periods of 130."""
    made: dict[str, Terms] = {}
    sizes = {
        "factors": CELL_SIZES,
        "robust factors": CELL_SIZES,
        "periods": (PERIOD_SIZE,) * PERIODS,
    }
    for (name, each), of in zip(sizes.items(), (Factors, RobustFactors, Periods), strict=True):
        group = np.repeat(np.arange(len(each)), each)
        score = expit(np.random.default_rng(SEED).normal(MEAN, WIDTH, group.size))
        made[name] = of(score, group)
    return made


def main() -> None:
    """Rank the truths, and say whether the ranks are uniform."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--path", type=Path, default=folder("terms_sbc"))
    names = list(experiments())
    parser.add_argument("--only", choices=names, help="and keep the other results")
    options = parser.parse_args()
    record: dict[str, Any] = {"simulations": options.simulations, "prob": 0.99}
    if options.only:
        record = json.loads(RESULTS.read_text("utf-8")) | record
    for name, experiment in experiments().items():
        if options.only not in (None, name):
            continue
        start = time.process_time()
        result = sbc_of(
            experiment,
            n_simulations=options.simulations,
            draws=255,
            seed=SEED,
            n_jobs=1,
            progress=False,
            path=options.path / name,
        )
        table = uniformity(result)
        print(table.to_string())
        record[name] = {
            "inside": bool(table["inside"].all()),
            "quantities": table.reset_index().to_dict("records"),
            "largest_pareto_k": float(result["pareto_k"].max()),
            "pareto_k_above_0.7": float((result["pareto_k"] > 0.7).mean()),
            "cpu_seconds": time.process_time() - start,
        }
    record["versions"] = library_versions("bayescal", "numpy", "scipy")
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
