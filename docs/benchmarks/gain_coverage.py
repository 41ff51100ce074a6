"""Coverage, width and power of 95 % intervals of what a recalibration gained.

Run `python docs/benchmarks/gain_coverage.py --runs 100`. Maps are fixed, and the true gains known
by quadrature; the outcomes are new in every run. Beside `recalibration_gain` by its two routes
stand the paired t interval and the paired percentile bootstrap, for the scores and the net benefit.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy import special
from scipy.optimize import brentq
from scipy.stats import t as student

import bayescal as bc
from bayescal._base.versions import library_versions
from bayescal.validation import coverage_table
from bayescal.validation.batches import Batch, run_batches, spans, stream
from bayescal.validation.simulate import BetaScores, LogitNormalScores
from kept import folder

RESULTS = Path(__file__).parent / "results"
SIZES = (100, 200, 500)
THRESHOLDS = (0.2, 0.4)
MEASURES = ("brier", "log_score", "tce", *(f"net_benefit@{t:g}" for t in THRESHOLDS))
RESAMPLES = 500
SEED = 411


@dataclass(frozen=True)
class Scenario:
    name: str
    law: object
    curve: object
    map: object

    def nodes(self):
        t = (np.arange(20_000) + 0.5) / 20_000
        s, _ = self.law.quantiles(t, 1 - t)
        return s, self.curve(s), self.map(s)

    def gains(self):
        s, eta, after = self.nodes()
        log = eta * np.log(after / s) + (1 - eta) * np.log((1 - after) / (1 - s))
        return {
            "brier": float(np.mean((eta - s) ** 2 - (eta - after) ** 2)),
            "log_score": float(np.mean(log)),
            "tce": float(np.mean(abs(eta - s)) - np.mean(abs(eta - after))),
            **{f"net_benefit@{t:g}": float(benefits(eta, s, after, t).mean()) for t in THRESHOLDS},
        }


def benefits(events, before, after, threshold):
    """Net benefit of treating by `after` rather than `before`, case by case."""
    worth = events - (1 - events) * threshold / (1 - threshold)
    return worth * ((after >= threshold).astype(float) - (before >= threshold))


def shrink(slope, shift=0.0):
    return lambda s: special.expit(-1.1 + shift + slope * (special.logit(s) + 1.1))


def same(s):
    return s


RISKS = LogitNormalScores(-1.1, 1.2)


def overshoot():
    """A shift so far past the truth that the Brier score is where it was."""
    start = Scenario("", RISKS, shrink(1, 0.35), same)

    def gain(shift):
        return Scenario("", RISKS, start.curve, shrink(1, shift)).gains()["brier"]

    return shrink(1, brentq(gain, 0.4, 1.5))


SCENARIOS = (
    Scenario("over-confident, mended", RISKS, shrink(0.6), shrink(0.6)),
    Scenario("shifted, half mended", RISKS, shrink(1, 0.6), shrink(1, 0.4)),
    Scenario("calibrated, spoilt", RISKS, same, shrink(0.75, 0.15)),
    Scenario("calibrated, hardly changed", RISKS, same, shrink(1, 0.05)),
    Scenario("shifted, overshot: no gain", RISKS, shrink(1, 0.35), overshoot()),
    Scenario(
        "sine, line fitted",
        BetaScores(1.5, 1.5),
        lambda s: s + 0.1 * np.sin(4 * np.pi * s),
        lambda s: special.expit(0.85 * special.logit(s)),
    ),
)


def intervals(y, s, after, seed):
    """Each method's interval of each measure."""
    result = {}
    for route in ("curve", "paired"):
        gain = bc.recalibration_gain(
            y, s, after, thresholds=THRESHOLDS, route=route, draws=1000, random_state=seed
        )
        result |= {(route, name): gain.interval(name) for name in MEASURES}
    each = {
        "brier": (s - y) ** 2 - (after - y) ** 2,
        "log_score": y * np.log(after / s) + (1 - y) * np.log((1 - after) / (1 - s)),
        **{f"net_benefit@{t:g}": benefits(y, s, after, t) for t in THRESHOLDS},
    }
    rng = np.random.default_rng(seed)
    weight = rng.multinomial(y.size, np.full(y.size, 1 / y.size), RESAMPLES) / y.size
    for name, values in each.items():
        half = student.ppf(0.975, y.size - 1) * values.std(ddof=1) / np.sqrt(y.size)
        result["paired t", name] = (values.mean() - half, values.mean() + half)
        result["paired bootstrap", name] = tuple(np.quantile(weight @ values, [0.025, 0.975]))
    return result


METHODS = ("curve", "paired", "paired t", "paired bootstrap")


def batch(scenario, n, span):
    warnings.simplefilter("ignore")
    ends = np.full((len(span), len(METHODS), len(MEASURES), 2), np.nan)
    for index, run in enumerate(span):
        rng = stream(SEED, scenario.name, n, run)
        s = np.clip(scenario.law.draw(n, rng), 1e-9, 1 - 1e-9)
        y = (rng.random(n) < scenario.curve(s)).astype(float)
        made = intervals(y, s, scenario.map(s), int(rng.integers(2**31)))
        for (method, measure), pair in made.items():
            ends[index, METHODS.index(method), MEASURES.index(measure)] = pair
    return {"ends": ends}


def table_row(name, n, method, gain, low, high):
    """Coverage, width, score, and how often an interval leaves zero out."""
    dims = ("truth", "size", "run", "method", "target")
    ends = {"lower": low - 1e-12, "upper": high + 1e-12}
    result = xr.Dataset(
        {end: (dims, values[None, None, :, None, None]) for end, values in ends.items()}
        | {"true_value": ("truth", [gain])},
        {"truth": [name], "size": [n], "method": [method], "target": ["gain"]},
        {"ci_prob": "0.95"},
    )
    table = coverage_table(result).droplevel("target").reset_index()
    table = table.rename(columns={"true_value": "gain"})
    return table.assign(excludes_zero=float(((low > 0) | (high < 0)).mean()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--path", type=Path, default=folder("gain_coverage"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    parts = spans(options.runs, 20)
    cells = [(scenario, n) for scenario in SCENARIOS for n in options.sizes]
    batches = [
        Batch(
            partial(batch, scenario, n, part),
            len(part),
            {
                "what": "gain",
                "measures": MEASURES,
                "name": scenario.name,
                "n": n,
                "span": [part.start, part.stop],
            },
        )
        for scenario, n in cells
        for part in parts
    ]
    results = run_batches(batches, "Gains", n_jobs=options.jobs, progress=None, path=options.path)
    tables = []
    for index, (scenario, n) in enumerate(cells):
        mine = results[index * len(parts) : (index + 1) * len(parts)]
        ends = np.concatenate([result["ends"] for result in mine])
        true = scenario.gains()
        for column, measure in enumerate(MEASURES):
            for place_of, method in enumerate(METHODS):
                made = ends[:, place_of, column]
                low, high = made[np.isfinite(made).all(axis=1)].T
                if low.size:
                    row = table_row(scenario.name, n, method, true[measure], low, high)
                    tables.append(row.assign(measure=measure))
    table = pd.concat(tables)
    print(table.round(4).to_string())
    record = {
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "cells": table.round(6).to_dict(orient="records"),
    }
    (RESULTS / "gain_coverage.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
