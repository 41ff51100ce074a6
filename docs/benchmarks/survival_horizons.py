"""Whether joint draws at several horizons go together as the errors of estimates do.

Run `python docs/benchmarks/survival_horizons.py --runs 150`. In each data set O/E is estimated at
three horizons. The correlation of the estimates between data sets is the true one; beside it is the
mean of the correlation by which `bayescal.fit` puts draws in order.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

import numpy as np

import bayescal as bc
from bayescal._base.versions import library_versions
from kept import Rows
from survival_coverage import RESULTS

SEED, DRAWS, CASES = 2033, 200, 400
HORIZONS = (0.5, 1.0, 2.0)
LATEST = 3.0


def study(run, leaving):
    """Times to an event by proportional hazards, and risks that are too high by each horizon."""
    rng = np.random.default_rng([SEED, run, leaving])
    x = rng.normal(-1, 1.1, CASES)
    event = rng.exponential(1, CASES) / np.exp(-0.9 + 0.8 * x)
    left = rng.exponential(3, CASES) if leaving else np.full(CASES, LATEST)
    left = np.minimum(left, LATEST)
    risks = 1 - np.exp(-np.exp(-0.5 + 0.8 * x)[:, None] * HORIZONS)
    return bc.Survival(np.minimum(event, left), event <= left), risks


def one(leaving, run):
    """O/E at each horizon, and the correlation of the joint draws."""
    outcome, risks = study(run, leaving)
    post = bc.fit(outcome, risks, horizon=HORIZONS, curve="logistic", draws=DRAWS, random_state=run)
    ratios = [post.at(at).estimate("observed_expected") for at in HORIZONS]
    return ratios, post.correlation.to_numpy()


def summarise(studies):
    """Both correlations of each pair of horizons."""
    rows, pairs = [], np.transpose(np.triu_indices(len(HORIZONS), 1))
    for leaving, each in studies.items():
        between = np.corrcoef(np.array([ratios for ratios, _ in each]).T)
        joint = np.mean([matrix for _, matrix in each], axis=0)
        for first, second in pairs:
            rows.append(
                {
                    "leaving": leaving,
                    "first": HORIZONS[first],
                    "second": HORIZONS[second],
                    "of_estimates": float(between[first, second]),
                    "of_draws": float(joint[first, second]),
                    "data_sets": len(each),
                }
            )
    return {"versions": library_versions("bayescal", "numpy", "scipy"), "rows": rows}


def page_table(results):
    """A row for each pair of horizons, in Markdown."""
    lines = [
        "| patients who leave | horizons | correlation of estimates | of joint draws |",
        "|---|---|---|---|",
    ]
    for row in results["rows"]:
        told = ["some" if row["leaving"] else "none", f"{row['first']:g} and {row['second']:g}"]
        told += [f"{row['of_estimates']:.2f}", f"{row['of_draws']:.2f}"]
        lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_horizons.json")
    options = parser.parse_args()
    kept = Rows("survival_horizons")
    studies = {
        leaving: kept.of(f"leaving: {leaving}", options.runs, partial(one, leaving))
        for leaving in (False, True)
    }
    options.out.write_text(json.dumps(summarise(studies), indent=1) + "\n")


if __name__ == "__main__":
    main()
