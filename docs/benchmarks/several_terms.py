"""Fits of several terms, against NUTS and in time: `python docs/benchmarks/several_terms.py`.

Each row is measured in a fresh process, in CPU seconds. `--only` measures some rows and keeps the
others.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

import bayescal as bc
from bayescal._base.versions import library_versions

RESULTS = Path(__file__).parent / "results" / "several_terms.json"
MEAN, WIDTH, SPREAD = -1.0, 1.2, 0.3
NUTS_DRAWS, FAST_DRAWS = 12_000, 20_000
DRAWS = 4000


class Case(NamedTuple):
    """Levels of each term, cases of each combination, and whether NUTS is compared.

    Attributes
    ----------
    levels : dict of str to int
        "site" and "period" are these roles, others are factors.
    crossed : bool
        Whether factors have an interaction, too.
    """

    levels: dict[str, int]
    cases: int
    crossed: bool = False
    nuts: bool = False


CASES = {
    "8 sites x 6 periods": Case({"site": 8, "period": 6}, 40, nuts=True),
    "8 sites x 2 sexes": Case({"site": 8, "sex": 2}, 80, nuts=True),
    "6 sites x 2 sexes x 4 periods": Case({"site": 6, "sex": 2, "period": 4}, 40, nuts=True),
    "4 x 3 cells": Case({"a": 4, "b": 3}, 80, crossed=True, nuts=True),
    "20 sites x 12 periods": Case({"site": 20, "period": 12}, 40),
    "60 sites x 12 periods": Case({"site": 60, "period": 12}, 40),
    "200 sites x 12 periods": Case({"site": 200, "period": 12}, 40),
    "200 sites x 2 sexes": Case({"site": 200, "sex": 2}, 100),
    "4 x 4 x 4 cells": Case({"a": 4, "b": 4, "c": 4}, 60, crossed=True),
    "14 x 14 cells": Case({"a": 14, "b": 14}, 60, crossed=True),
    "48 x 48 cells": Case({"a": 48, "b": 48}, 60, crossed=True),
}


def table(case: Case) -> bc.CalibrationData:
    """Cases whose curves vary by site and factors at random, and by period step by step."""
    rng = np.random.default_rng(1)
    shape = tuple(case.levels.values())
    at = np.repeat(np.array(np.unravel_index(np.arange(np.prod(shape)), shape)), case.cases, axis=1)
    x = rng.normal(MEAN, WIDTH, at.shape[1])
    shift = np.zeros(x.size)
    for (name, size), level in zip(case.levels.items(), at, strict=True):
        effect = rng.normal(0, SPREAD, size)
        if name == "period":
            effect = np.cumsum(effect) / np.sqrt(size)
        shift += effect[level]
    y = (rng.random(x.size) < expit(x + shift)).astype(int)
    labels = {
        name: np.array([f"{k:03}" for k in range(size)])[level]
        for (name, size), level in zip(case.levels.items(), at, strict=True)
    }
    factors = {name: each for name, each in labels.items() if name not in ("site", "period")}
    roles = {name: each for name, each in labels.items() if name not in factors}
    return bc.CalibrationData(y, expit(x), factors=factors or None, **roles)


def fitted(case: Case, data: bc.CalibrationData, **options: Any) -> Any:
    """The posterior of the sum of the terms."""
    vary: list[Any] = [bc.walk(name) if name == "period" else name for name in case.levels]
    if case.crossed:
        vary.append(bc.by(*case.levels))
    return bc.fit(data, vary=vary, curve="logistic", random_state=1, **options)


def numbers(post: Any) -> np.ndarray:
    """Draws of the average, of every group and of the logarithms of the scales, side by side."""
    drawn = post._drawn
    parts = [drawn.average, *drawn.groups, *np.log(drawn.scales)]
    return np.concatenate(parts, axis=1)


def measured(case: Case) -> dict[str, float]:
    """Time and diagnostics, and how far the posterior is from that of NUTS."""
    data, start = table(case), time.process_time()
    post = fitted(case, data, engine="importance", draws=DRAWS)
    row = {
        "groups": len(data.groups),
        "seconds": time.process_time() - start,
        "pareto_k": float(post.diagnostics["pareto_k"]),
        "ess": float(post.diagnostics["ess"]),
    }
    if case.nuts:
        fast = numbers(fitted(case, data, engine="importance", draws=FAST_DRAWS))
        start = time.time()
        reference = fitted(
            case, data, engine="nuts", draws=NUTS_DRAWS, sampler={"target_accept": 0.95, "cores": 1}
        )
        slow, sd = numbers(reference), numbers(reference).std(axis=0)
        off = (fast.mean(axis=0) - slow.mean(axis=0)) / sd
        ratio = fast.std(axis=0) / sd
        row |= {
            "nuts_seconds": time.time() - start,
            "numbers": off.size,
            "largest_difference": float(np.abs(off).max()),
            "mean_square_difference": float(np.sqrt(np.mean(off**2))),
            "least_ratio_of_sd": float(ratio.min()),
            "largest_ratio_of_sd": float(ratio.max()),
            "nuts_ess": float(reference.diagnostics["ess_bulk"]),
        }
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--row", choices=list(CASES))
    given = parser.parse_args()
    if given.row:
        print(json.dumps(measured(CASES[given.row])))
        return
    rows = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else {}
    for name in given.only:
        command = [sys.executable, __file__, "--row", name]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rows[name] = json.loads(told.splitlines()[-1])
        print(name, rows[name], flush=True)
        versions = library_versions("bayescal", "numpy", "scipy", "pymc")
        kept = {each: rows[each] for each in CASES if each in rows}
        RESULTS.write_text(json.dumps({"versions": versions, "rows": kept}, indent=1) + "\n")


if __name__ == "__main__":
    main()
