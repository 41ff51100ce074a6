"""Gains and recommended updates of times to an event, some of them censored before the horizon.

Run `python docs/benchmarks/survival_gain.py --runs 60`. In each data set the log-odds of the risk
by the horizon are a line in those of the score, drawn at random, and so are those of a map that was
fitted elsewhere. Hazards are not proportional. Cases leave whatever their score, or early if it is
high. Asked are whether 95 % intervals contain the gain of the map, and that of each update that is
fitted to the cases; whether P(gain > 0) is as often true as it says; and what the update that is
recommended gains.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

import bayescal as bc
from bayescal._base.versions import library_versions
from bayescal.gain import recommendation
from bayescal.model.curves import updates
from kept import Rows

RESULTS = Path(__file__).parent / "results"
SEED, DRAWS, NODES = 2041, 400, 1000
MEAN, SPREAD = -1.0, 1.1  # of the scores' log-odds
SIZES = (500,)
LEAVING = ("whatever the score", "by score")
LATEST = 2.0
"""When follow-up ends; the horizon is 1."""
KEYS = ["leaving", "cases"]


def line(rng):
    """A line in log-odds: of the risk by the horizon, or of a map."""
    return rng.normal(0, 0.4), np.exp(rng.normal(-0.1, 0.25))


def simulate(truth, leaving, n, rng):
    """Log-odds of the scores, times and events of n cases."""
    x = rng.normal(MEAN, SPREAD, n)
    z = (x - MEAN) / SPREAD
    risk = expit(truth[0] + truth[1] * x)
    event = (-rng.exponential(1, n) / np.log1p(-risk)) ** np.exp(0.7 * z)
    rate = 0.7 if leaving == LEAVING[0] else 0.6 * np.exp(0.9 * z)
    left = np.minimum(rng.exponential(1, n) / rate, LATEST)
    return x, np.minimum(event, left), event <= left


def true_gain(truth, mapped):
    """Fall of the Brier score of the population by a map of scores."""
    x = norm.ppf((np.arange(NODES) + 0.5) / NODES, MEAN, SPREAD)
    score, risk = expit(x), expit(truth[0] + truth[1] * x)
    return float(np.mean((risk - score) ** 2 - (risk - mapped(score)) ** 2))


def one(leaving, n, run):
    """What is said of one data set, and what is true."""
    rng = np.random.default_rng([SEED, LEAVING.index(leaving), n, run])
    truth, (shift, slope) = line(rng), line(rng)
    x, time, event = simulate(truth, leaving, n, rng)
    outcome, score = bc.Survival(time, event), expit(x)

    def after(values):
        return expit(shift + slope * np.log(values / (1 - values)))

    gain = bc.recalibration_gain(outcome, score, after, horizon=1, draws=DRAWS, random_state=run)
    (lower, upper), true = gain.interval(), true_gain(truth, after)
    row = {"leaving": leaving, "cases": n, "run": run}
    row |= {"true": true, "lower": lower, "upper": upper, "prob": gain.prob_improved}
    names = [name for name in updates() if name != "identity"]
    comparison = bc.compare(
        outcome, score, horizon=1, curves=tuple(updates()), draws=DRAWS, random_state=run
    )
    advice = recommendation(comparison)
    row |= {"choice": advice.choice or "", "censored": comparison.data.follow_up.censored / n}
    for name in names:
        problem, u = comparison.of_family(name)
        fitted = true_gain(truth, lambda s, p=problem, u=u: p.probability(u, s).mean(axis=0))
        told = advice.table.loc[name]
        row |= {f"{name}_true": fitted, f"{name}_prob": float(told["prob_better"])}
        row |= {
            f"{name}_{part}": float(told[f"brier_{part}"]) for part in ("gain", "lower", "upper")
        }
    return row


def summarised(rows):
    """Of each cell: coverage, what P(gain > 0) says and is, and what is recommended."""
    table, names = pd.DataFrame(rows), [name for name in updates() if name != "identity"]
    cells = []
    for key, part in table.groupby(KEYS, sort=False):
        covered = (part["lower"] <= part["true"]) & (part["true"] <= part["upper"])
        each = {
            name: (part[f"{name}_lower"] <= part[f"{name}_true"])
            & (part[f"{name}_true"] <= part[f"{name}_upper"])
            for name in names
        }
        made = part[part["choice"].isin(names)]
        real = [row[f"{row['choice']}_true"] for _, row in made.iterrows()]
        stated = [row[f"{row['choice']}_prob"] for _, row in made.iterrows()]
        told, helps, error = ([] for _ in range(3))
        for name in names:
            told.append(part[f"{name}_prob"].mean())
            helps.append((part[f"{name}_true"] > 0).mean())
            error.append((part[f"{name}_gain"] - part[f"{name}_true"]).mean())
        cells.append(
            dict(zip(KEYS, key, strict=True))
            | {
                "data_sets": len(part),
                "left": float(part["censored"].mean()),
                "covered": float(covered.mean()),
                "prob": float(part["prob"].mean()),
                "improved": float((part["true"] > 0).mean()),
                "updates_covered": float(np.mean([values.mean() for values in each.values()])),
                "updates_worst": float(min(values.mean() for values in each.values())),
                "updates_prob": float(np.mean(told)),
                "updates_help": float(np.mean(helps)),
                "updates_error": float(1000 * np.mean(error)),
                "updated": len(made) / len(part),
                "updated_prob": float(np.mean(stated)),
                "updated_helps": float(np.mean(np.array(real) > 0)),
                "updated_gain": float(1000 * np.mean(real)),
            }
        )
    return cells


def page_table(results):
    """What was measured, by cell: rows of a table in Markdown."""
    lines = [
        "| leaving | cases | left before | data sets | gain of the map covered | P(gain > 0): "
        "mean, true | gains of updates covered: mean, worst | P(better): mean, true | updated "
        "| P(better) of the update: mean, true | its true gain per 1000 |",
        f"|{'---|' * 11}",
    ]
    for cell in results["cells"]:
        told = [
            cell["leaving"],
            f"{cell['cases']}",
            f"{100 * cell['left']:.0f} %",
            f"{cell['data_sets']}",
            f"{cell['covered']:.2f}",
            f"{cell['prob']:.2f}, {cell['improved']:.2f}",
            f"{cell['updates_covered']:.2f}, {cell['updates_worst']:.2f}",
            f"{cell['updates_prob']:.2f}, {cell['updates_help']:.2f}",
            f"{100 * cell['updated']:.0f} %",
            f"{cell['updated_prob']:.2f}, {cell['updated_helps']:.2f}",
            f"{cell['updated_gain']:.1f}",
        ]
        lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_gain.json")
    options = parser.parse_args()
    rows, kept = [], Rows("survival_gain")
    for leaving, n in product(LEAVING, SIZES):
        rows += kept.of(f"{leaving}, {n} cases", options.runs, partial(one, leaving, n))
        save(rows, options.out)


def save(rows, path):
    versions = library_versions("bayescal", "numpy", "scipy")
    rows = sorted(rows, key=lambda row: (LEAVING.index(row["leaving"]), row["cases"], row["run"]))
    short = [
        {
            key: float(f"{each:.4g}") if isinstance(each, float) else each
            for key, each in row.items()
        }
        for row in rows
    ]
    told = {"versions": versions, "cells": summarised(short), "rows": short}
    path.write_text(json.dumps(told, indent=0) + "\n")


if __name__ == "__main__":
    main()
