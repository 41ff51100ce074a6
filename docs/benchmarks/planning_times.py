"""Planned sizes of studies of times to an event: `python docs/benchmarks/planning_times.py`.

Sizes are planned by `bayescal.plan` with `horizon=`. Then studies of each size are drawn case by
case, by a simulation of this script, and analysed with `bayescal.fit`. The last rows take the
settings of Riley et al. (2022) whose linear predictor is normal, and compare the standard error of
their slope (pseudo-observations, complementary log-log, independent working correlation), which is
computed here, with the numbers in the code that its authors published, and with the posterior.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import logit

import bayescal as bc
from kept import Rows

RESULTS = Path(__file__).with_name("results") / "planning_times.json"
ASSURANCE, DRAWS, HORIZON = 0.8, 1000, 5.0
PLANNED: dict[str, dict[str, Any]] = {
    "O/E, 30 % leave": {"of": "observed_expected", "width": 0.4, "leaving": 0.3},
    "O/E, 50 % leave, by score": {
        "of": "observed_expected", "width": 0.4, "leaving": 0.5, "leaving_ratio": 2.0,
    },
    "slope, 30 % leave": {"of": "calibration_slope", "width": 0.5, "leaving": 0.3},
    "cloglog slope, study ends early": {
        "of": "cloglog_slope", "width": 0.5, "follow_up": (2.0, 7.0),
    },
}  # fmt: skip
OPTIONS: dict[str, Any] = {"analysis": "curve", "curve": "logistic"}
SPREAD_OF_LP, RATE, LEAVING_RATE, RILEY_HORIZON = 0.699, 0.052, 0.418, 3.0
PUBLISHED = {3400: 0.1079, 4000: 0.09745, 5000: 0.08738}
"""Mean standard error of the slope by size, as the authors' code says."""


def drawn(cell: dict[str, Any], n: int, rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """Times and scores of one study of a planned cell, whose model is overconfident."""
    score = bc.simulate.clinical(0.2, "overconfident").sample(n, random_state=rng)[1]
    risk = bc.simulate.clinical(0.2, "overconfident").curve(score)
    event = HORIZON * rng.exponential(1, n) / -np.log1p(-risk)
    left = np.full(n, np.inf)
    if "leaving" in cell:
        x = logit(score)
        relative = cell.get("leaving_ratio", 1.0) ** ((x - x.mean()) / x.std())

        def excess(rate: float) -> float:
            return float(-np.expm1(-rate * relative).mean()) - cell["leaving"]

        left = HORIZON * rng.exponential(1, n) / (brentq(excess, 1e-9, 1e3) * relative)
    if "follow_up" in cell:
        left = np.minimum(left, rng.uniform(*cell["follow_up"], n))
    left = np.minimum(left, 2 * HORIZON)
    return bc.Survival(np.minimum(event, left), event <= left), score


def reached(name: str, sets: int) -> dict[str, Any]:
    """The planned size of a cell, and the share of studies of that size that reach its goal."""
    cell = PLANNED[name]
    options = OPTIONS | {"truth": bc.simulate.clinical(0.2, "overconfident"), "horizon": HORIZON}
    plan = bc.plan(**cell, **options, assurance=ASSURANCE, draws=DRAWS, n_jobs=1, random_state=1)
    widths = []
    for k in range(sets):
        outcome, score = drawn(cell, plan.n, np.random.default_rng([2041, k]))
        post = bc.fit(
            outcome, score, horizon=HORIZON, curve="logistic", draws=DRAWS, random_state=k
        )
        lower, upper = post.interval(cell["of"])
        widths.append(upper - lower)
    return {
        "cell": name,
        "width": cell["width"],
        "n": plan.n,
        "error": plan.monte_carlo_error,
        "events": plan.events,
        "sets": sets,
        "reached": float(np.mean(np.array(widths) <= cell["width"])),
    }


def riley_study(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Linear predictor, times and events of the published setting."""
    lp = rng.normal(0, SPREAD_OF_LP, n)
    event = rng.exponential(1, n) / (RATE * np.exp(lp))
    left = rng.exponential(1, n) / LEAVING_RATE
    return lp, np.minimum(event, left), event <= left


def pseudo_values(time: np.ndarray, event: np.ndarray, at: float) -> np.ndarray:
    """Jackknife pseudo-observations of the risk by a time, of times without ties."""
    n = time.size
    order = np.argsort(time)
    counts = event[order] & (time[order] <= at)
    at_risk = np.maximum(n - np.arange(n), 3)  # the horizon is long before the last two leave
    with_all = np.where(counts, np.log1p(-1 / at_risk), 0.0)
    fewer = np.where(counts, np.log1p(-1 / (at_risk - 1)), 0.0)
    before = np.concatenate([[0.0], np.cumsum(fewer)[:-1]])
    after = with_all.sum() - np.cumsum(with_all)
    left_out = np.exp(before + after)
    survival = np.empty(n)
    survival[order] = n * np.exp(with_all.sum()) - (n - 1) * left_out
    return 1 - survival


def slope_error(lp: np.ndarray, time: np.ndarray, event: np.ndarray) -> tuple[float, float]:
    """Slope of pseudo-observations on the linear predictor, and its robust standard error."""
    value = pseudo_values(time, event, RILEY_HORIZON)
    basis = np.column_stack([np.ones(lp.size), np.log(RATE * RILEY_HORIZON) + lp])
    line = np.array([0.0, 1.0])
    for _ in range(50):
        hazard = np.exp(basis @ line)
        slope = (hazard * np.exp(-hazard))[:, None] * basis
        residual = value + np.expm1(-hazard)
        bread = np.linalg.inv(slope.T @ slope)
        line = line + bread @ (slope.T @ residual)
    own = slope * residual[:, None]
    return float(line[1]), float(np.sqrt((bread @ (own.T @ own) @ bread)[1, 1]))


def riley_row(n: int, sets: int) -> dict[str, Any]:
    """Standard errors of the slope at a published size, and the posterior's."""
    errors, deviations, events = [], [], []
    for k in range(sets):
        lp, time, event = riley_study(n, np.random.default_rng([2042, n, k]))
        errors.append(slope_error(lp, time, event)[1])
        score = -np.expm1(-RATE * RILEY_HORIZON * np.exp(lp))
        outcome = bc.Survival(time, event)
        post = bc.fit(outcome, score, horizon=RILEY_HORIZON, curve="beta", draws=DRAWS,
                      random_state=k)  # fmt: skip
        deviations.append(float(post.functional("cloglog_slope").std()))
        events.append(int((event & (time <= RILEY_HORIZON)).sum()))
    return {
        "n": n,
        "sets": sets,
        "published": PUBLISHED[n],
        "pseudo": float(np.mean(errors)),
        "posterior": float(np.mean(deviations)),
        "events": float(np.mean(events)),
    }


def riley_plan(published: int) -> dict[str, Any]:
    """The size at which the posterior has the published standard error, on average."""
    t = (np.arange(1000) + 0.5) / 1000
    lp = np.quantile(np.random.default_rng(1).normal(0, SPREAD_OF_LP, 200_000), t)
    score = -np.expm1(-RATE * RILEY_HORIZON * np.exp(lp))
    leaving = -np.expm1(-LEAVING_RATE * RILEY_HORIZON)
    plan = bc.plan(
        truth="calibrated", scores=score, of="cloglog_slope", assurance=None, analysis="curve",
        width=2 * 1.96 * PUBLISHED[published], horizon=RILEY_HORIZON, leaving=leaving,
        draws=DRAWS, n_simulations=50, n_jobs=1, random_state=1,
    )  # fmt: skip
    return {"published": published, "n": plan.n, "error": plan.monte_carlo_error}


def reached_table(results: dict[str, Any]) -> str:
    """Rows of a table in Markdown."""
    lines = [
        "| plan | width | patients | events seen | studies | goal reached |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['cell']} | {row['width']:g} | {row['n']:,} | {row['events']:.0f} | {row['sets']} "
        f"| {row['reached']:.3f} |"
        for row in results["planned"]
    ]
    return "\n".join(lines)


def riley_table(results: dict[str, Any]) -> str:
    """Rows of a table in Markdown."""
    lines = [
        "| patients | studies | events seen | published | pseudo-observations, here | posterior |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['n']:,} | {row['sets']} | {row['events']:.0f} | {row['published']:.4f} "
        f"| {row['pseudo']:.4f} | {row['posterior']:.4f} |"
        for row in results["riley"]
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    results: dict[str, Any] = {"planned": [], "riley": []}
    kept = Rows("planning_times")
    for n in PUBLISHED:
        row = partial(riley_row, n, max(options.sets // 5, 2))
        results["riley"].append(kept.cell(f"published, {n} patients", row))
        options.out.write_text(json.dumps(results, indent=1) + "\n")
    for name in PLANNED:
        results["planned"].append(kept.cell(name, partial(reached, name, options.sets)))
        options.out.write_text(json.dumps(results, indent=1) + "\n")
    results["riley_plan"] = riley_plan(4000)
    options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
