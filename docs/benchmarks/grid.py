"""What merging neighbouring scores costs: the table's rows and the model's, against every score.

Run `python docs/benchmarks/grid.py`. For each truth and number of cases, the posterior mode and the
functionals of the same draws of the curve are computed on every distinct score, on the rows of the
table (exact up to 2048 scores, then the fixed grid), and on these merged into fewer and fewer rows.
Errors are in posterior standard deviations, and the largest over the draws.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import bayescal as bc
from bayescal._base.arrays import Floats
from bayescal.data.table import Rows
from bayescal.inference.density import CurveDensity
from bayescal.model import problem as problem_room
from bayescal.model.curves import CURVES
from bayescal.model.likelihood.rows import every_row
from bayescal.model.partition.cells import LARGE_TABLE, first_of_merged
from bayescal.model.problem import Problem, prepare
from bayescal.posterior.functionals import FUNCTIONALS, CurveDraws
from bayescal.posterior.population import Population

RESULTS = Path(__file__).parent / "results"

TRUTHS = (
    "D1",
    "D3",
    "D5",
    "calibrated",
    "clinical-low-asymmetric",
    "clinical-middle-overconfident",
    "clinical-middle-shifted",
    "clinical-high-underconfident",
)
SIZES = (600, 2000, 20_000, 200_000, 1_000_000)
MOST = (64, 128, 256, 512)
FAMILIES = ("beta", "spline")
DRAWS = 40
ROOM = 4_000_000
QUANTITIES = {
    "tce": ("tce", {}),
    "tce_2": ("tce", {"p": 2}),
    "e50": ("e50", {}),
    "e90": ("e90", {}),
    "emax": ("emax", {}),
    "observed_expected": ("observed_expected", {}),
    "calibration_in_the_large": ("calibration_in_the_large", {}),
    "calibration_intercept": ("calibration_intercept", {}),
    "calibration_slope": ("calibration_slope", {}),
}


def every_score(y: Floats, s: Floats) -> bc.CalibrationData:
    """A table with a row for every distinct score, however many there are."""
    data = bc.CalibrationData(y, s)
    score, row = np.unique(s, return_inverse=True)
    rows = Rows(score, np.bincount(row) * 1.0, np.bincount(row, np.asarray(y, dtype=float)))
    data._contents = data._contents._replace(tables={None: rows})
    return data


def prepared(data: bc.CalibrationData, most: float) -> Problem:
    """The problem of a table with at most so many rows."""

    def first(score: Floats, trials: Floats, _: int | None) -> NDArray[np.intp]:
        return first_of_merged(score, trials, most)

    with patch.object(problem_room, "first_of_merged", first):
        problem = prepare(data, curve="spline", random_state=0)
        problem._first  # noqa: B018  computed while patched
    return problem


class Fitted:
    """A family's mode at one set of rows, at constants read off every score."""

    def __init__(self, problem: Problem, family: str, reference: Problem) -> None:
        framed = replace(problem, frame=reference.frame)
        vars(framed)["_first"] = problem._first
        fixed = self.problem = framed.of_family(CURVES[family])
        exact = problem is reference
        density = CurveDensity(fixed, rows=every_row(fixed) if exact else None)
        self.mode = (density.at(1.0) if family == "spline" else density).mode()
        identity = CurveDensity(fixed.of_family(CURVES["identity"]))
        self.gain = self.mode.value - float(identity.log_likelihood(np.empty((1, 0)))[0])

    def functionals(self, u: Floats) -> dict[str, Floats]:
        """Functionals of the curves `u` over these very rows."""
        problem = self.problem
        at = problem.curve.at_scores(problem.score, problem.frame)
        weight = problem.trials / problem.trials.sum()
        over = Population(problem.score, weight, merged=problem.is_merged)
        step = max(1, ROOM // problem.score.size)
        parts = [CurveDraws(at.probability(u[k : k + step]), over) for k in range(0, len(u), step)]
        return {
            name: np.concatenate([FUNCTIONALS[of].compute(part, **options) for part in parts])
            for name, (of, options) in QUANTITIES.items()
        }


def errors(name: str, n: int) -> list[dict[str, Any]]:
    """Errors of one truth at one size: a row for each family and number of rows."""
    y, s = bc.simulate.sample(name, n, random_state=0)
    exact, data = prepared(every_score(y, s), np.inf), bc.CalibrationData(y, s)
    coarse = {"table": prepared(data, np.inf)} | {str(most): prepared(data, most) for most in MOST}
    rows: list[dict[str, Any]] = []
    for family in FAMILIES:
        reference = Fitted(exact, family, exact)
        covariance = np.linalg.inv(reference.mode.information)
        rng = np.random.default_rng(0)
        draws = DRAWS if n < 200_000 else DRAWS // 4
        u = rng.multivariate_normal(reference.mode.point, covariance, draws)
        values = reference.functionals(u)
        for label, problem in coarse.items():
            fitted = Fitted(problem, family, exact)
            moved = np.abs(fitted.mode.point - reference.mode.point)
            own = fitted.functionals(u)
            gap = {key: float(np.abs(own[key] - values[key]).max()) for key in QUANTITIES}
            rows.append(
                {
                    "truth": name,
                    "n": n,
                    "family": family,
                    "most": label,
                    "rows": int(problem.score.size),
                    "mode_in_sd": float(np.max(moved / np.sqrt(np.diag(covariance)))),
                    "log_evidence_against_identity": abs(fitted.gain - reference.gain),
                    "error": gap,
                    "error_in_sd": {key: gap[key] / float(values[key].std()) for key in gap},
                }
            )
    return rows


def worst(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The largest errors among some truths and sizes."""
    out = {
        key: max(row[key] for row in rows)
        for key in ("rows", "mode_in_sd", "log_evidence_against_identity")
    }
    for key in QUANTITIES:
        out[key] = max(row["error"][key] for row in rows)
        out[f"{key}_in_sd"] = max(row["error_in_sd"][key] for row in rows)
    return {key: float(f"{value:.3g}") for key, value in out.items()}


def summarised(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """The largest errors by family, size of the sample, and number of rows."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        size = (
            f"over {LARGE_TABLE} cases" if row["n"] > LARGE_TABLE else f"up to {LARGE_TABLE} cases"
        )
        groups.setdefault(f"{row['family']}, {size}, {row['most']}", []).append(row)
    return {name: worst(own) for name, own in groups.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--truths", nargs="+", default=list(TRUTHS))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    options = parser.parse_args()
    rows = []
    for name in options.truths:
        for n in options.sizes:
            rows += errors(name, n)
            print(f"{name} at {n} cases", flush=True)
    table = summarised(rows)
    for name, values in table.items():
        print(name, values)
    RESULTS.mkdir(exist_ok=True)
    stored = {"truths": options.truths, "sizes": options.sizes, "largest_errors": table}
    (RESULTS / "grid.json").write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
