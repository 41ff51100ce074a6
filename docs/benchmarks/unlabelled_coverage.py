"""Coverage of 95 % intervals of performance on patients whose outcomes are not known.

Run `python docs/benchmarks/unlabelled_coverage.py --runs 200`. A model is fitted to 300 or 1000
patients with outcomes, and seen on 2000 without, whose scores are higher. In the first setting the
curve is unchanged; in the second its log-odds have risen by 0.3, which scores cannot show. In the
third, patients with outcomes are of ten hospitals whose curves differ with a standard deviation of
0.3, those without of an eleventh; one fit knows the hospitals and the other does not.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import rankdata

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).parent / "results"
SEED = 3311
DRAWS = 1000
MEAN, LATER_MEAN, SPREAD = -1.0, -0.4, 1.2  # of the scores' log-odds
INTERCEPT, SLOPE = 0.2, 0.8  # of the true curve in log-odds
SETTINGS = {
    "the curve is unchanged": (0.0, 0.0),
    "the curve has risen by 0.3": (0.3, 0.0),
    "another hospital": (0.0, 0.3),
}
"""Rise of the curve in log-odds, and its standard deviation between hospitals."""
HOSPITALS = 10
SIZES, UNLABELLED = (300, 1000), 2000
THRESHOLD = 0.3
MEASURES = ("accuracy", "c_statistic", "brier", "net_benefit")


def true_performance(outcome, score):
    """Of outcomes, or of the risks that they are drawn from."""
    reach = score >= THRESHOLD
    order, ranks = np.argsort(score), rankdata(score)
    assert np.unique(ranks).size == score.size
    below = np.cumsum((1 - outcome)[order])
    detected, treated = outcome[reach].mean() * reach.mean(), reach.mean()
    return {
        "accuracy": detected + (1 - outcome)[~reach].sum() / score.size,
        "c_statistic": outcome[order] @ below / (outcome.sum() * (1 - outcome).sum()),
        "brier": np.mean(outcome * (1 - score) ** 2 + (1 - outcome) * score**2),
        "net_benefit": detected - (treated - detected) * THRESHOLD / (1 - THRESHOLD),
    }


def study(setting, n, run):
    """Patients with outcomes and their hospitals; scores without, and the risks behind them."""
    rng = np.random.default_rng([SEED, list(SETTINGS).index(setting), n, run])
    rise, sd = SETTINGS[setting]
    shifts, hospital = rng.normal(0, sd, HOSPITALS), np.arange(n) % HOSPITALS
    x = rng.normal(MEAN, SPREAD, n)
    y = (rng.random(n) < expit(INTERCEPT + SLOPE * x + shifts[hospital])).astype(int)
    later = rng.normal(LATER_MEAN, SPREAD, UNLABELLED)
    risk = expit(INTERCEPT + SLOPE * later + rise + rng.normal(0, sd))
    outcome = (rng.random(UNLABELLED) < risk).astype(float)
    return y, expit(x), hospital.astype(str), expit(later), risk, outcome


def fits(setting, y, score, hospital, run):
    options = {"draws": DRAWS, "random_state": run}
    yield "one curve", bc.fit(y, score, **options)
    if SETTINGS[setting][1]:
        sites = bc.fit(y, score, groups=hospital, curve="logistic", **options)
        yield 'new("site")', sites.new("site")


def one(setting, n, run):
    y, score, hospital, later, risk, outcome = study(setting, n, run)
    true = {"expected": true_performance(risk, later), "realised": true_performance(outcome, later)}
    for analysis, post in fits(setting, y, score, hospital, run):
        seen = post.on(later)
        tables = {
            realised: seen.performance([THRESHOLD], "sample", realised=realised)
            for realised in (False, True)
        }
        for of, realised in (("expected", False), ("realised", True)):
            for name in MEASURES:
                drawn = tables[realised][name].to_numpy().ravel()
                lower, upper = np.quantile(drawn, [0.025, 0.975])
                yield {
                    "setting": setting,
                    "labelled": n,
                    "analysis": analysis,
                    "measure": name,
                    "of": of,
                    "covered": bool(lower <= true[of][name] <= upper),
                    "width": upper - lower,
                    "error": abs(drawn.mean() - true[of][name]),
                }


def summarise(rows):
    table = pd.DataFrame(rows)
    keys = ["setting", "labelled", "analysis", "measure", "of"]
    grouped = table.groupby(keys, sort=False)[["covered", "width", "error"]].mean()
    grouped["data_sets"] = table.groupby(keys, sort=False).size()
    return {
        "unlabelled": UNLABELLED,
        "threshold": THRESHOLD,
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "rows": grouped.reset_index().to_dict("records"),
    }


def page_table(results):
    """Coverage and mean width of each measure: rows of a table in Markdown."""
    names = {"c_statistic": "C-statistic", "brier": "Brier score", "net_benefit": "net benefit"}
    table = pd.DataFrame(results["rows"])
    lines = [
        "| setting | with outcomes | fit | measure | expected: coverage | width "
        "| realised: coverage | width |",
        "|---|---|---|---|---|---|---|---|",
    ]
    keys = ["setting", "labelled", "analysis", "measure"]
    for (setting, n, analysis, measure), rows in table.groupby(keys, sort=False):
        by = rows.set_index("of")
        cells = [
            f"{by.loc[of, 'covered']:.3f} | {by.loc[of, 'width']:.3f}"
            for of in ("expected", "realised")
        ]
        fit = f"`{analysis}`" if "(" in analysis else analysis
        named = names.get(measure, measure)
        lines.append(f"| {setting} | {n} | {fit} | {named} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "unlabelled_coverage.json")
    options = parser.parse_args()
    rows, kept = [], Rows("unlabelled_coverage")
    for setting in SETTINGS:
        for n in SIZES:
            rows += kept.all_of(f"{setting}, {n} cases", options.runs, partial(one, setting, n))
            options.out.write_text(json.dumps(summarise(rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
