"""Coverage of the net benefit lost to miscalibration and of the cutoff calibration error.

Run `python docs/benchmarks/deciding_coverage.py --runs 100`. Each number is at least 0, and chance
makes it larger. It is read from the averaged posterior, as `bayescal.fit` gives it, and from a fit
of one family, which does not consider exact calibration. Results are stored after every tenth run.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd

import bayescal as bc
from bayescal._base.versions import library_versions
from bayescal.validation import batches

RESULTS = Path(__file__).parent / "results"
SEED, DRAWS = 34_001, 1000
TRUTHS = (
    "clinical-middle-calibrated",
    "clinical-low-calibrated",
    "clinical-middle-overconfident",
    "clinical-middle-shifted",
    "D3",
)
SIZES = (200, 1000, 5000)
NUMBERS = {
    "lost at 0.1": ("net_benefit_lost", {"threshold": 0.1}),
    "lost at 0.3": ("net_benefit_lost", {"threshold": 0.3}),
    "most lost, 0.05 to 0.3": ("net_benefit_lost", {"threshold": (0.05, 0.3)}),
    "cutoff error": ("cutoff_error", {}),
}
ANALYSES = {"average": {}, "one family": {"curve": "spline"}}


def one(name, n, run):
    """Whether each interval of one data set contains the true value."""
    truth = bc.simulate.truth(name)
    y, s = truth.sample(n, batches.stream(SEED, "data", name, n, run))
    for analysis, options in ANALYSES.items():
        post = bc.fit(y, s, draws=DRAWS, random_state=run, **options)
        for number, (functional, at) in NUMBERS.items():
            lower, upper = post.interval(functional, **at)
            true = truth.functional(functional, **at)
            yield {
                "truth": name,
                "cases": n,
                "analysis": analysis,
                "number": number,
                "true": true,
                "covered": lower <= true <= upper,
                "too_high": lower > true,
                "upper": upper,
                "estimate": post.estimate(functional, **at),
            }


def summarise(rows):
    """Means over the data sets of each cell."""
    table = pd.DataFrame(rows)
    keys = ["truth", "cases", "analysis", "number"]
    columns = ["true", "covered", "too_high", "upper", "estimate"]
    grouped = table.groupby(keys, sort=False)[columns].mean()
    grouped["data_sets"] = table.groupby(keys, sort=False).size()
    return {
        "draws": DRAWS,
        "versions": library_versions("bayescal", "numpy", "scipy"),
        "rows": grouped.reset_index().to_dict("records"),
    }


def page_table(results):
    """Coverage by population, number and size: rows of a table in Markdown."""
    table = pd.DataFrame(results["rows"])
    lines = [
        "| population | number | true | average: covered, n = 200 | 1000 | 5000 "
        "| one family: 200 | 1000 | 5000 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (name, number), cells in table.groupby(["truth", "number"], sort=False):
        shown = cells.set_index(["analysis", "cases"])["covered"]
        values = [f"{shown[analysis, n]:.2f}" for analysis in ANALYSES for n in SIZES]
        true = f"{cells['true'].iloc[0]:.4f}"
        lines.append(f"| {name} | {number} | {true} | {' | '.join(values)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--out", type=Path, default=RESULTS / "deciding_coverage.json")
    options = parser.parse_args()
    rows = []
    for run in range(options.runs):
        rows += [row for name in TRUTHS for n in SIZES for row in one(name, n, run)]
        if run % 10 == 9 or run == options.runs - 1:
            options.out.write_text(json.dumps(summarise(rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
