"""What fits of times to an event cost beside known outcomes, and what their draws are worth.

Run `python docs/benchmarks/survival_cost.py`. The studies are two cells of `survival_coverage.py`:
a line with proportional hazards where cases leave whatever their score, and a wave without them
where high risks leave early. Each fit is timed in CPU seconds of one thread, the least of several
calls, and divided by that of as many known outcomes of the same curve, in turns.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

import bayescal as bc
from bayescal._base.versions import library_versions
from bayescal.inference.averaging import Mixture
from bayescal.inference.candidates import prior_probabilities
from bayescal.inference.density import density_of, sample_importance
from bayescal.inference.samples import FamilySamples
from bayescal.model.curves import average_of
from bayescal.model.likelihood.times.correction import Correction
from bayescal.model.likelihood.times.entries import entries_of
from bayescal.model.likelihood.times.rows import columns_at
from bayescal.model.problem import prepare
from survival_coverage import CELLS, risk, simulate

RESULTS = Path(__file__).parent / "results"
SEED, DRAWS, CHECKED = 2041, 4000, 40
SIZES = (1000, 10_000, 100_000, 1_000_000)
STUDIES = {"line": CELLS[0], "wave": CELLS[7]}
LEAST_SHARE = 0.001


def seconds(calls, turns):
    """CPU seconds of each call, the least of several turns."""
    least = np.full(len(calls), np.inf)
    for _ in range(turns):
        for k, call in enumerate(calls):
            start = time.process_time()
            call()
            least[k] = min(least[k], time.process_time() - start)
    return least


def worth(data):
    """Effective draws of the stretches, and the fewest of a family that has weight."""
    names = ("identity", "logistic", "noise", "beta", "lapse", "spline", "pieces")
    problem = prepare(data, curve=average_of(names), random_state=0)
    mixture = Mixture(FamilySamples(problem, list(names), DRAWS), prior_probabilities(names))
    of = zip(mixture.components, mixture.samples, mixture.shares.curves, strict=True)
    kept = [(each.family, sample.ess) for each, sample, share in of if share > LEAST_SHARE]
    pieces = [s.ess for c, s in zip(mixture.components, mixture.samples, strict=True)
              if c.family == "pieces"]  # fmt: skip
    return {"pieces": min(pieces), "fewest": min(ess for _, ess in kept)}


def merging(data):
    """How much the log likelihood of nodes varies from that of all cases, over draws of `spline`.

    Standard deviation of the difference, at the same steps and with the integral over them.
    """
    problem = prepare(data, curve="spline", random_state=0)
    curves = problem.curve.with_offset(sample_importance(problem, DRAWS).draws[:CHECKED])
    rows, partial = density_of(problem).nodes, entries_of(problem).partial
    nodes = rows.correction
    order = np.argsort(nodes.x)
    mean = np.interp(partial.x, nodes.x[order], nodes.g[order])
    cases = Correction(nodes.steps, partial, mean)
    few, every = (
        expit(curves @ columns) for columns in (rows.columns[:, rows.known :],
                                                columns_at(problem, partial.x))
    )  # fmt: skip
    of_nodes, of_cases = (
        each.given_steps(g) + each(g) for each, g in ((nodes, few), (cases, every))
    )
    return {"entries": partial.size, "nodes": nodes.x.size, "merging": np.std(of_nodes - of_cases)}


def one(name, n, turns):
    """One study."""
    cell = STUDIES[name]
    x, at, event, _ = simulate(cell, n, np.random.default_rng([SEED, n, list(STUDIES).index(name)]))
    known = np.random.default_rng([SEED, n]).random(n) < risk(cell["curve"], x)
    outcome, score = bc.Survival(at, event), expit(x)
    calls = [
        lambda curve=curve, times=times: bc.fit(
            outcome if times else known.astype(int),
            score,
            horizon=1 if times else None,
            curve=curve,
            random_state=0,
        )
        for curve in ("average", "logistic")
        for times in (True, False)
    ]
    average, plain, line, of_known = seconds(calls, turns)
    data = bc.CalibrationData(outcome, score, horizon=1)
    costs = {"average": average / plain, "logistic": line / of_known, "seconds": average}
    return {"study": name, "cases": n} | costs | worth(data) | merging(data)


def page_table(results):
    """Rows of a table in Markdown."""
    lines = [
        "| study | patients | fit by the average, in fits of known outcomes | effective draws of "
        "`pieces`, of 4000 | fewest of any family | rows known in part | nodes | nodes vary from "
        "rows by |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in pd.DataFrame(results["rows"]).itertuples():
        told = [row.study, f"{row.cases:,}".replace(",", " "), f"{row.average:.1f}"]
        told += [f"{row.pieces:.0f}", f"{row.fewest:.0f}", f"{row.entries}", f"{row.nodes}"]
        lines.append(f"| {' | '.join([*told, f'{row.merging:.3f}'])} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=max(SIZES))
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS / "survival_cost.json")
    options = parser.parse_args()
    rows = []
    for n in (n for n in SIZES if n <= options.largest):
        rows += [one(name, n, options.turns) for name in STUDIES]
        results = {"versions": library_versions("bayescal", "numpy", "scipy"), "rows": rows}
        options.out.write_text(json.dumps(results, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
