"""Coverage of 95 % intervals of times to an event, some of them censored before the horizon.

Run `python docs/benchmarks/survival_coverage.py --runs 200`. The risk by the horizon is a line or a
wave in the log-odds of the score. When events come depends on the score only through the risk
(proportional hazards), or in another way too. Cases leave whatever their score, or early if it is
high. In a ninth cell they come under observation later than at time 0.
"""

from __future__ import annotations

import argparse
import json
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, log_expit

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).parent / "results"
SEED, DRAWS = 2032, 400
MEAN, SPREAD = -1.0, 1.1  # of the scores' log-odds
SIZES = (400, 1000)
AT = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Quantiles of the scores at which the curve is read."""
FUNCTIONALS = ("observed_expected", "calibration_slope", "tce")
LATEST = 2.0
"""When follow-up ends; the horizon is 1."""
CELLS = [
    {"curve": curve, "hazards": hazards, "leaving": leaving, "entry": "at 0"}
    for curve, hazards, leaving in product(
        ("line", "wave"),
        ("proportional", "not proportional"),
        ("whatever the score", "by score"),
    )
]
CELLS.append(
    {"curve": "line", "hazards": "not proportional", "leaving": "by score", "entry": "delayed"}
)
KEYS = ("curve", "hazards", "leaving", "entry", "cases", "number")
MEANS = ("true", "covered", "width", "error", "censored")


def risk(curve, x):
    """The true risk by the horizon, at log-odds of scores."""
    return expit(-0.45 + 0.6 * x) if curve == "line" else expit(x + 0.35 * np.sin(2 * x))


def simulate(cell, n, rng):
    """Log-odds of the scores, times, events and entries of n cases under observation."""
    size = n if cell["entry"] == "at 0" else 2 * n + 100
    x = rng.normal(MEAN, SPREAD, size)
    z = (x - MEAN) / SPREAD
    power = 1.2 if cell["hazards"] == "proportional" else np.exp(-0.7 * z)
    event = (-rng.exponential(1, size) / np.log1p(-risk(cell["curve"], x))) ** (1 / power)
    rate = 0.7 if cell["leaving"] == "whatever the score" else 0.6 * np.exp(0.9 * z)
    left = np.minimum(rng.exponential(1, size) / rate, LATEST)
    if cell["entry"] == "at 0":
        return x, np.minimum(event, left), event <= left, None
    entry = np.where(rng.random(size) < 0.5, 0.0, rng.uniform(0, 0.5, size))
    left = np.minimum(entry + left, LATEST)
    seen = np.flatnonzero(event > entry)[:n]
    time = np.minimum(event, left)[seen]
    return x[seen], time, (event <= left)[seen], entry[seen]


@cache
def true_values(index):
    """Of one cell, over the law of the scores of cases under observation."""
    cell = CELLS[index]
    x = np.sort(simulate(cell, 400_000, np.random.default_rng(SEED))[0])
    s, g = expit(x), risk(cell["curve"], x)

    def loss(line):
        fitted = line[0] + line[1] * x
        return -np.mean(g * log_expit(fitted) + (1 - g) * log_expit(-fitted))

    at = np.quantile(x, AT)
    values = {
        "observed_expected": g.mean() / s.mean(),
        "calibration_slope": minimize(loss, [0.0, 1.0], tol=1e-10).x[1],
        "tce": np.abs(g - s).mean(),
    }
    curve = zip(AT, risk(cell["curve"], at), strict=True)
    return values | {f"curve at {q:g}": value for q, value in curve}, expit(at)


def one(index, n, run):
    """The intervals of one study, each with the true value."""
    cell = CELLS[index]
    rng = np.random.default_rng([SEED, index, n, run])
    x, time, event, entry = simulate(cell, n, rng)
    true, scores = true_values(index)
    outcome = bc.Survival(time, event, entry)
    post = bc.fit(outcome, expit(x), horizon=1, draws=DRAWS, random_state=run)
    curve = post.curve(scores).to_numpy().reshape(-1, scores.size)
    ends = {name: (*post.interval(name), post.estimate(name)) for name in FUNCTIONALS}
    for q, draws in zip(AT, curve.T, strict=True):
        ends[f"curve at {q:g}"] = (*np.quantile(draws, [0.025, 0.975]), draws.mean())
    for name, (lower, upper, estimate) in ends.items():
        yield cell | {
            "cases": n,
            "number": name,
            "true": true[name],
            "covered": bool(lower <= true[name] <= upper),
            "width": upper - lower,
            "error": estimate - true[name],
            "censored": post.data.follow_up.censored / n,
        }


def summarise(rows, keys=KEYS, means=MEANS):
    """Means over the data sets of each cell."""
    table = pd.DataFrame(rows)
    keys, means = list(keys), list(means)
    grouped = table.groupby(keys, sort=False)[means].mean()
    grouped["data_sets"] = table.groupby(keys, sort=False).size()
    return {
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "rows": grouped.reset_index().to_dict("records"),
    }


def page_table(results):
    """Coverage by cell: rows of a table in Markdown."""
    table = pd.DataFrame(results["rows"])
    lines = [
        "| curve | hazards | leaving | cases | left before | bias of O/E | O/E | slope | TCE "
        "| curve, mean of five | worst of five |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for key, part in table.groupby(["curve", "hazards", "leaving", "entry", "cases"], sort=False):
        each = part.set_index("number")
        at = [name for name in each.index if name.startswith("curve at")]
        covered = each["covered"]
        leaving = key[2] + ("; delayed entry" if key[3] == "delayed" else "")
        cells = [f"{covered[name]:.2f}" for name in FUNCTIONALS]
        cells += [f"{covered[at].mean():.2f}", f"{covered[at].min():.2f}"]
        bias = each.loc["observed_expected", "error"]
        left = f"{100 * part['censored'].mean():.0f} %"
        told = [key[0], key[1], leaving, f"{key[4]}", left, f"{bias:+.3f}", *cells]
        lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_coverage.json")
    options = parser.parse_args()
    rows, kept = [], Rows("survival_coverage")
    for index, n in product(range(len(CELLS)), SIZES):
        rows += kept.all_of(f"cell {index}, {n} cases", options.runs, partial(one, index, n))
        options.out.write_text(json.dumps(summarise(rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
