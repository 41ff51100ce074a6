"""Coverage of 95 % intervals of times to an event with competing events, and with delayed entry.

Run `python docs/benchmarks/survival_causes.py --runs 200`. Cases with high scores leave early. In
the first cell another event can come first, which rules the event out; it is likelier at low
scores, and comes later. In the second, the ninth of `survival_coverage.py`, cases come under
observation later than at time 0. Each study is fitted by the average over families and by the
logistic curve, which contains the true one.
"""

from __future__ import annotations

import argparse
import json
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

import bayescal as bc
from kept import Rows
from survival_coverage import (
    AT,
    CELLS,
    DRAWS,
    FUNCTIONALS,
    MEAN,
    RESULTS,
    SEED,
    SIZES,
    SPREAD,
    risk,
    simulate,
    summarise,
    true_values,
)

COMPETING, DELAYED = "competing events", "delayed entry"
SAME_SCORES, NINTH = 0, 8
"""Cells of `survival_coverage` with the same scores and risks: a line with everybody at 0, and the
cell of delayed entry."""
FITS = ("average", "logistic")
LATEST = 1.5
"""When follow-up ends; the horizon is 1."""
KEYS = ("cell", "cases", "fit", "number")
MEANS = ("true", "covered", "width", "error", "censored", "competing")


def two_causes(n, rng):
    """Log-odds of the scores, times and codes: 1 the event, 2 the competing one, 0 left."""
    x = rng.normal(MEAN, SPREAD, n)
    z, u = (x - MEAN) / SPREAD, rng.random((3, n))
    own, other = u[0] < risk("line", x), u[1] < expit(0.2 - 0.7 * z)
    later = np.where(other, u[2] ** 0.6, 1 + u[2])
    comes = np.where(own, u[2] ** np.exp(0.5 * z), later)
    cause = np.where(own | (~other & (u[1] > 0.9)), 1, 2)
    left = np.minimum(rng.exponential(1, n) / (0.6 * np.exp(0.9 * z)), LATEST)
    return x, np.minimum(comes, left), np.where(comes <= left, cause, 0)


def study(cell, n, run):
    """Times to an event, and log-odds of the scores."""
    rng = np.random.default_rng([SEED, 100 + (cell == DELAYED), n, run])
    if cell == COMPETING:
        x, time, code = two_causes(n, rng)
        return bc.Survival(time, code), x
    x, time, event, entry = simulate(CELLS[NINTH], n, rng)
    return bc.Survival(time, event, entry), x


@cache
def truth(cell):
    """The true values, and the scores at which the curve is read."""
    return true_values(SAME_SCORES if cell == COMPETING else NINTH)


def one(cell, n, run):
    """The intervals of one study by each fit, with the true values."""
    outcome, x = study(cell, n, run)
    true, scores = truth(cell)
    for fit in FITS:
        post = bc.fit(outcome, expit(x), curve=fit, horizon=1, draws=DRAWS, random_state=run)
        followed = post.data.follow_up
        curve = post.curve(scores).to_numpy().reshape(-1, scores.size)
        ends = {name: (*post.interval(name), post.estimate(name)) for name in FUNCTIONALS}
        for q, draws in zip(AT, curve.T, strict=True):
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
                "censored": followed.censored / n,
                "competing": followed.competing / n,
            }


def page_table(results):
    """Coverage by cell: rows of a table in Markdown."""
    table = pd.DataFrame(results["rows"])
    lines = [
        "| cell | cases | left before | competing event | fit | bias of O/E | O/E | slope | TCE "
        "| curve, mean of five | worst of five |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (cell, n, fit), part in table.groupby(["cell", "cases", "fit"], sort=False):
        each = part.set_index("number")
        covered = each["covered"]
        at = [name for name in each.index if name.startswith("curve at")]
        shares = [f"{100 * part[name].mean():.0f} %" for name in ("censored", "competing")]
        numbers = [f"{covered[name]:.2f}" for name in FUNCTIONALS]
        numbers += [f"{covered[at].mean():.2f}", f"{covered[at].min():.2f}"]
        bias = f"{each.loc['observed_expected', 'error']:+.3f}"
        lines.append(f"| {' | '.join([cell, str(n), *shares, fit, bias, *numbers])} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_causes.json")
    options = parser.parse_args()
    rows, kept = [], Rows("survival_causes")
    for cell, n in product((COMPETING, DELAYED), SIZES):
        rows += kept.all_of(f"{cell}, {n} cases", options.runs, partial(one, cell, n))
        options.out.write_text(json.dumps(summarise(rows, KEYS, MEANS), indent=1) + "\n")


if __name__ == "__main__":
    main()
