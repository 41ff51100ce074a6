"""Coverage of 95 % intervals of times to an event where data are few, or timing is unusual.

Run `python docs/benchmarks/survival_edges.py --runs 200`. In the first cell the risk by the horizon
is a line in complementary log-log and hazards are proportional, as in a Cox model. In the second
the timing of events is not log-linear in the log-odds of the score, which the law of times takes it
to be: events come late at middle scores and early at both ends. The others are studies of 150
cases, and of 20 to 40 events. High risks leave early in all.
"""

from __future__ import annotations

import argparse
import json
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, log_expit

import bayescal as bc
from kept import Rows
from survival_coverage import AT, MEAN, SPREAD, summarise

RESULTS = Path(__file__).parent / "results"
SEED, DRAWS = 2040, 400
LATEST = 2.0
FITS = ("average", "logistic")
FUNCTIONALS = ("observed_expected", "calibration_slope", "cloglog_slope", "tce")
CELLS = {
    "line in complementary log-log": {"cases": 1000, "mean": MEAN},
    "timing not log-linear": {"cases": 1000, "mean": MEAN},
    "150 cases": {"cases": 150, "mean": MEAN},
    "20 to 40 events": {"cases": 300, "mean": -2.2},
}
KEYS = ("cell", "cases", "fit", "number")
MEANS = ("true", "covered", "width", "error", "censored", "events")


def risk(cell, x):
    """The true risk by the horizon, at log-odds of scores."""
    if cell == "line in complementary log-log":
        return -np.expm1(-np.exp(-0.2 + 0.7 * np.log(np.log1p(np.exp(x)))))
    return expit(-0.3 + 0.7 * x)


def simulate(cell, n, rng):
    """Log-odds of the scores, times and events of n cases."""
    x = rng.normal(CELLS[cell]["mean"], SPREAD, n)
    z = (x - CELLS[cell]["mean"]) / SPREAD
    power = np.exp(-0.7 * z)
    if cell == "line in complementary log-log":
        power = 1.2
    elif cell == "timing not log-linear":
        power = np.where(np.abs(z) < 0.8, 2.5, 0.6)
    event = (-rng.exponential(1, n) / np.log1p(-risk(cell, x))) ** (1 / power)
    left = np.minimum(rng.exponential(1, n) / (0.6 * np.exp(0.9 * z)), LATEST)
    return x, np.minimum(event, left), event <= left


@cache
def true_values(cell):
    """Over the law of the scores; and the scores at which the curve is read."""
    x = np.sort(np.random.default_rng(SEED).normal(CELLS[cell]["mean"], SPREAD, 200_000))
    s, g = expit(x), risk(cell, x)
    log_hazard = np.log(np.log1p(np.exp(x)))

    def of_log_odds(line):
        fitted = line[0] + line[1] * x
        return -np.mean(g * log_expit(fitted) + (1 - g) * log_expit(-fitted))

    def of_cloglog(line):
        hazard = np.exp(line[0] + line[1] * log_hazard)
        return -np.mean(g * np.log(-np.expm1(-hazard)) - (1 - g) * hazard)

    at = np.quantile(x, AT)
    values = {
        "observed_expected": g.mean() / s.mean(),
        "calibration_slope": minimize(of_log_odds, [0.0, 1.0], tol=1e-10).x[1],
        "cloglog_slope": minimize(of_cloglog, [0.0, 1.0], tol=1e-10).x[1],
        "tce": np.abs(g - s).mean(),
    }
    curve = {f"curve at {q:g}": each for q, each in zip(AT, risk(cell, at), strict=True)}
    return values | curve, expit(at)


def one(cell, run):
    """The intervals of one study, each with the true value."""
    n = CELLS[cell]["cases"]
    rng = np.random.default_rng([SEED, list(CELLS).index(cell), run])
    x, time, event = simulate(cell, n, rng)
    true, scores = true_values(cell)
    data = bc.CalibrationData(bc.Survival(time, event), expit(x), horizon=1)
    for fit in FITS:
        curve = None if fit == "average" else fit
        post = bc.fit(data, curve=curve, draws=DRAWS, random_state=run)
        at = post.curve(scores).to_numpy().reshape(-1, scores.size)
        ends = {name: (*post.interval(name), post.estimate(name)) for name in FUNCTIONALS}
        for q, draws in zip(AT, at.T, strict=True):
            ends[f"curve at {q:g}"] = (*np.quantile(draws, [0.025, 0.975]), draws.mean())
        for name, (lower, upper, estimate) in ends.items():
            yield {
                "cell": cell,
                "cases": n,
                "fit": fit,
                "number": name,
                "true": true[name],
                "covered": bool(lower <= true[name] <= upper),
                "width": upper - lower,
                "error": estimate - true[name],
                "censored": data.follow_up.censored / n,
                "events": float(data.follow_up.weight[data.follow_up.event].sum()),
            }


def edges_table(results):
    """Coverage by cell: rows of a table in Markdown."""
    table = pd.DataFrame(results["rows"])
    lines = [
        "| cell | cases | events | left before | fit | sets | bias of O/E | O/E | slope "
        "| slope, cloglog | TCE | curve, mean of five | worst of five |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for key, part in table.groupby(["cell", "cases", "fit"], sort=False):
        each = part.set_index("number")
        covered = each["covered"]
        at = [name for name in each.index if name.startswith("curve at")]
        told = [
            key[0],
            f"{key[1]}",
            f"{each['events'].mean():.0f}",
            f"{100 * each['censored'].mean():.0f} %",
            key[2],
            f"{each['data_sets'].iloc[0]}",
            f"{each.loc['observed_expected', 'error']:+.3f}",
            *(f"{covered[name]:.2f}" for name in FUNCTIONALS),
            f"{covered[at].mean():.2f}",
            f"{covered[at].min():.2f}",
        ]
        lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_edges.json")
    options = parser.parse_args()
    rows, kept = [], Rows("survival_edges")
    for cell in CELLS:
        rows += kept.all_of(cell, options.runs, partial(one, cell))
        options.out.write_text(json.dumps(summarise(rows, KEYS, MEANS), indent=1) + "\n")


if __name__ == "__main__":
    main()
