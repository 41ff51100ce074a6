"""Coverage of the net benefit lost to miscalibration, of the cutoff error and of the KL error.

Run `python docs/benchmarks/deciding_coverage.py --runs 100`, which stores the first two, and
`python docs/benchmarks/deciding_coverage.py --kl --runs 40`, which stores the last, of populations
without scores of 0 and 1. Each number is at least 0, and chance makes it larger. It is read from
the averaged posterior, as `bayescal.fit` gives it, and from a fit of one family, which does not
consider exact calibration. Results are stored after every tenth run.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from itertools import product
from pathlib import Path

import pandas as pd

import bayescal as bc
from bayescal._base.versions import library_versions
from bayescal.validation import batches
from kept import Rows

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
KL_NUMBERS, KL_SIZES = {"KL error": ("kl_error", {})}, (200, 1000)
KL_TRUTHS = TRUTHS[:-1]
ANALYSES = {"average": {}, "one family": {"curve": "spline"}}


def one(name, n, numbers, run):
    """Whether each interval of one data set contains the true value."""
    truth = bc.simulate.truth(name)
    y, s = truth.sample(n, batches.stream(SEED, "data", name, n, run))
    for analysis, options in ANALYSES.items():
        post = bc.fit(y, s, draws=DRAWS, random_state=run, **options)
        for number, (functional, at) in numbers.items():
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
    sizes = sorted(table["cases"].unique())
    shown = " | ".join(map(str, sizes))
    lines = [
        f"| population | number | true | average: covered, n = {shown} | one family: {shown} |",
        f"|---|---|---|{'---|---|' * len(sizes)}",
    ]
    for (name, number), cells in table.groupby(["truth", "number"], sort=False):
        covered = cells.set_index(["analysis", "cases"])["covered"]
        values = [f"{covered[analysis, n]:.2f}" for analysis in ANALYSES for n in sizes]
        true = f"{cells['true'].iloc[0]:.4f}"
        lines.append(f"| {name} | {number} | {true} | {' | '.join(values)} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--kl", action="store_true", help="the KL error alone")
    options = parser.parse_args()
    out = RESULTS / ("kl_coverage.json" if options.kl else "deciding_coverage.json")
    cells = (KL_NUMBERS, KL_SIZES, KL_TRUTHS) if options.kl else (NUMBERS, SIZES, TRUTHS)
    numbers, sizes, truths = cells
    rows, kept = [], Rows("deciding_coverage")
    for name, n in product(truths, sizes):
        cell = f"{name}, {n} cases{', KL' if options.kl else ''}"
        rows += kept.all_of(cell, options.runs, partial(one, name, n, numbers))
        out.write_text(json.dumps(summarise(rows), indent=1) + "\n")


if __name__ == "__main__":
    main()
