"""Two models compared on patients of whom some left before the horizon: coverage of differences.

Run `python docs/benchmarks/survival_models.py --runs 200`. In each data set the first model knows
all that the risk depends on, and may be off in level and spread; the second has noise beside it.
How far each is off is drawn anew for each set, so that stated probabilities that the second is
better can be held against how often it is. Patients leave whatever their scores, not at all, or
early if the score of the first model is high: given the score of the second model, who left is then
not like the others.
"""

from __future__ import annotations

import argparse
import json
import time
from functools import partial
from pathlib import Path

import numpy as np
from scipy.special import expit, ndtri

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).parent / "results"
SEED, CASES, DRAWS = 2041, 600, 1000
MEAN, SPREAD = -1.0, 1.1
LEAVING = ("nobody", "whatever the score", "by the first score")
MEASURES = ("tce", "observed_expected", "brier", "c_statistic", "net_benefit@0.2")
THRESHOLD = 0.2
NODES = ndtri((np.arange(1000) + 0.5) / 1000)
AROUND, SHARE = np.polynomial.hermite_e.hermegauss(40)
SHARE = SHARE / SHARE.sum()


def measures_of(risk, score):
    """True measures of a model, by risks and scores of equally many patients, ascending."""
    treated = score >= THRESHOLD
    events, others = np.cumsum(risk), np.cumsum(1 - risk)
    below = others - (1 - risk) / 2
    return {
        "tce": np.abs(risk - score).mean(),
        "observed_expected": risk.mean() / score.mean(),
        "brier": np.mean(risk * (1 - score) ** 2 + (1 - risk) * score**2),
        "c_statistic": float(risk @ below / (events[-1] * others[-1])),
        "net_benefit@0.2": np.mean(treated * (risk - (1 - risk) * THRESHOLD / (1 - THRESHOLD))),
    }


def population(rng):
    """Level and slope of the risk, and of the second model with its noise."""
    return {
        "risk": (rng.normal(-0.2, 0.3), np.exp(rng.normal(-0.1, 0.15))),
        "second": (rng.normal(-0.2, 0.3), np.exp(rng.normal(-0.15, 0.15))),
        "noise": rng.uniform(0.1, 0.6),
    }


def true_values(of):
    """The measures of both models in a population."""
    (level, slope), (shift, stretch), noise = of["risk"], of["second"], of["noise"]
    x = MEAN + SPREAD * NODES
    first = measures_of(expit(level + slope * x), expit(x))
    spread = np.hypot(SPREAD, noise)
    seen = MEAN + spread * NODES  # the log-odds with noise
    mean = MEAN + (SPREAD / spread) ** 2 * (seen - MEAN)
    behind = mean[:, None] + SPREAD * noise / spread * AROUND
    risk = expit(level + slope * behind) @ SHARE
    return first, measures_of(risk, expit(shift + stretch * seen))


def simulate(of, leaving, rng):
    """Scores of both models, and times to an event."""
    (level, slope), (shift, stretch), noise = of["risk"], of["second"], of["noise"]
    x = rng.normal(MEAN, SPREAD, CASES)
    seen = x + noise * rng.standard_normal(CASES)
    hazard = -np.log1p(-expit(level + slope * x))
    happens = (rng.exponential(1, CASES) / hazard) ** (1 / 1.2)
    z = (x - MEAN) / SPREAD
    rate = {"nobody": 1e-9, "whatever the score": 0.7, "by the first score": 0.6 * np.exp(0.9 * z)}
    left = np.minimum(rng.exponential(1, CASES) / rate[leaving], 2.0)
    outcome = bc.Survival(np.minimum(happens, left), happens <= left)
    return outcome, {"first": expit(x), "second": expit(shift + stretch * seen)}


def one(leaving, run):
    """Of one data set, the interval of each difference with the truth."""
    rng = np.random.default_rng([SEED, LEAVING.index(leaving), run])
    of = population(rng)
    outcome, models = simulate(of, leaving, rng)
    first, second = true_values(of)
    told = bc.compare_models(outcome, models, horizon=1, draws=DRAWS, random_state=run)
    rows = told.summary(measures=[name for name in MEASURES if "@" not in name])
    benefit = told.net_benefit([THRESHOLD]).iloc[0]
    for name in MEASURES:
        row = benefit if "@" in name else rows.loc[(name, "second")]
        ideal = {"observed_expected": 1.0}.get(name)
        sign = -1 if name in ("c_statistic", "net_benefit@0.2") else 1
        away = [abs(each[name] - ideal) if ideal else sign * each[name] for each in (first, second)]
        yield {
            "leaving": leaving,
            "measure": name,
            "true": float(second[name] - first[name]),
            "error": float(row["difference"] - second[name] + first[name]),
            "covered": bool(row["lower"] <= second[name] - first[name] <= row["upper"]),
            "width": float(row["upper"] - row["lower"]),
            "stated": float(row["prob_better"]),
            "better": bool(away[1] < away[0]),
        }


def stated_and_true(rows):
    """Stated probabilities that the second model is better, and how often it is, by thirds."""
    stated = np.array([row["stated"] for row in rows])
    better = np.array([row["better"] for row in rows])
    parts = [stated < 1 / 3, (stated >= 1 / 3) & (stated < 2 / 3), stated >= 2 / 3]
    return [
        [int(part.sum()), float(stated[part].mean()), float(better[part].mean())]
        for part in parts
        if part.any()
    ]


def summarise(rows, seconds, runs):
    """Means by cell, and stated probabilities."""
    cells = []
    for leaving in LEAVING:
        for name in MEASURES:
            mine = [row for row in rows if (row["leaving"], row["measure"]) == (leaving, name)]
            if mine:
                means = {
                    key: float(np.mean([row[key] for row in mine]))
                    for key in ("error", "covered", "width")
                }
                error = float(np.std([row["error"] for row in mine]) / np.sqrt(len(mine)))
                cells.append(
                    {"leaving": leaving, "measure": name, "sets": len(mine)}
                    | means
                    | {"standard_error": error, "stated": stated_and_true(mine)}
                )
    return {
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "seed": SEED,
        "cases": CASES,
        "draws": DRAWS,
        "runs": runs,
        "seconds": seconds,
        "rows": cells,
    }


TITLES = {
    "tce": "TCE",
    "observed_expected": "O/E",
    "brier": "Brier score",
    "c_statistic": "C-statistic",
    "net_benefit@0.2": "net benefit at .2",
}


def page_table(results):
    """Coverage of each difference, and stated and true shares of the sets where one is better."""
    titles = [TITLES[name] for name in MEASURES]
    lines = [f"| leaving | {' | '.join(titles)} |", f"|{'---|' * (len(titles) + 1)}"]
    for leaving in LEAVING:
        of = {row["measure"]: row for row in results["rows"] if row["leaving"] == leaving}
        shown = [f"{of[name]['covered']:.2f}" for name in MEASURES]
        lines.append(f"| {leaving} | {' | '.join(shown)} |")
    return "\n".join(lines)


def stated_table(results):
    """Stated probabilities that the second model is better, over all measures, by thirds."""
    lines = ["| leaving | P(better) stated | true | statements |", "|---|---|---|---|"]
    for leaving in LEAVING:
        parts = [
            part for row in results["rows"] if row["leaving"] == leaving for part in row["stated"]
        ]
        for lower, upper in ((0, 1 / 3), (1 / 3, 2 / 3), (2 / 3, 1)):
            own = np.array([part for part in parts if lower <= part[1] <= upper])
            number = own[:, 0].sum()
            stated, true = (own[:, 0] @ own[:, k] / number for k in (1, 2))
            lines.append(f"| {leaving} | {stated:.2f} | {true:.2f} | {number:.0f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_models.json")
    options = parser.parse_args()
    rows, kept, start = [], Rows("survival_models"), time.perf_counter()
    for leaving in LEAVING:
        rows += kept.all_of(leaving, options.runs, partial(one, leaving))
        results = summarise(rows, time.perf_counter() - start, options.runs)
        options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
