"""Coverage of 95 % intervals when a judge recorded the outcomes who is not always right.

Run `python docs/benchmarks/judged_coverage.py --runs 200`. A judge of sensitivity .90 and
specificity .95 records the outcomes of a calibrated model. What is known of the judge is 100 cases
with the event and 100 without. Each study is fitted twice: with `judged=`, and as if what was
recorded were the truth.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows

RESULTS = Path(__file__).parent / "results"
SEED = 2611
DRAWS = 1000
SENSITIVITY, SPECIFICITY, VALIDATED = 0.9, 0.95, 100
MEAN, SPREAD = -1.0, 1.2  # of the scores' log-odds
TRUTHS = {"calibrated": (0.0, 1.0)}
"""Intercept and slope of the true curve on the log-odds."""
SIZES = (300, 1000)
AT = (0.1, 0.3, 0.6)
FUNCTIONALS = ("tce", "observed_expected", "calibration_slope")


def true_values(truth):
    """Of the true curve, over the law of the scores."""
    intercept, slope = TRUTHS[truth]
    at, weight = np.polynomial.hermite_e.hermegauss(201)
    weight = weight / weight.sum()
    x = MEAN + SPREAD * at
    s, g = expit(x), expit(intercept + slope * x)

    def loss(line):
        z = line[0] + line[1] * x
        return -weight @ (g * log_expit(z) + (1 - g) * log_expit(-z))

    values = {
        "tce": weight @ np.abs(g - s),
        "observed_expected": (weight @ g) / (weight @ s),
        "calibration_slope": minimize(loss, [0.0, 1.0], tol=1e-12).x[1],
    }
    return values | {f"curve at {t:g}": expit(intercept + slope * logit(t)) for t in AT}


def study(truth, n, run):
    """Recorded outcomes and scores of one study, and the counts of the judge's validation."""
    rng = np.random.default_rng([SEED, list(TRUTHS).index(truth), n, run])
    intercept, slope = TRUTHS[truth]
    x = rng.normal(MEAN, SPREAD, n)
    event = rng.random(n) < expit(intercept + slope * x)
    as_event = rng.random(n) < np.where(event, SENSITIVITY, 1 - SPECIFICITY)
    right = [int(rng.binomial(VALIDATED, share)) for share in (SENSITIVITY, SPECIFICITY)]
    judge = bc.Judged(*((count, VALIDATED) for count in right))
    return as_event.astype(int), expit(x), judge


def intervals(post):
    for name in FUNCTIONALS:
        yield name, (*post.interval(name), post.estimate(name))
    curve = post.curve(np.array(AT)).to_numpy().reshape(-1, len(AT))
    for t, draws in zip(AT, curve.T, strict=True):
        yield f"curve at {t:g}", (*np.quantile(draws, [0.025, 0.975]), draws.mean())


def one(truth, n, run):
    recorded, score, judge = study(truth, n, run)
    true = true_values(truth)
    for analysis, how in {"judged": {"judged": judge}, "taken as the truth": {}}.items():
        post = bc.fit(recorded, score, draws=DRAWS, random_state=run, **how)
        for name, (lower, upper, estimate) in intervals(post):
            yield {
                "truth": truth,
                "cases": n,
                "analysis": analysis,
                "number": name,
                "true": true[name],
                "covered": lower <= true[name] <= upper,
                "width": upper - lower,
                "estimate": estimate,
            }


def summarise(rows):
    table = pd.DataFrame(rows)
    keys = ["truth", "cases", "analysis", "number"]
    grouped = table.groupby(keys, sort=False)[["true", "covered", "width", "estimate"]].mean()
    grouped["data_sets"] = table.groupby(keys, sort=False).size()
    return {
        "judge": {"sensitivity": SENSITIVITY, "specificity": SPECIFICITY, "validated": VALIDATED},
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "rows": grouped.reset_index().to_dict("records"),
    }


def page_table(results):
    """Coverage, and the mean width, of both analyses: rows of a table in Markdown."""
    analyses = "judged", "taken as the truth"
    table = pd.DataFrame(results["rows"]).set_index(["cases", "number", "analysis"])
    lines = [
        "| cases | data sets | number | true | `judged=`: coverage | width "
        "| taken as the truth: coverage | width |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for cases, number in dict.fromkeys(index[:2] for index in table.index):
        each = [table.loc[(cases, number, analysis)] for analysis in analyses]
        cells = [f"{row['covered']:.3f} | {row['width']:.3f}" for row in each]
        name = number.replace("_", " ").replace("tce", "TCE").replace("observed expected", "O/E")
        sets = each[0]["data_sets"]
        lines.append(f"| {cases} | {sets} | {name} | {each[0]['true']:.3g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "judged_coverage.json")
    options = parser.parse_args()
    rows, kept = [], Rows("judged_coverage")
    for truth in TRUTHS:
        for n in SIZES:
            rows += kept.all_of(f"{truth}, {n} cases", options.runs, partial(one, truth, n))
            options.out.write_text(json.dumps(summarise(rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
