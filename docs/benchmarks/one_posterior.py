"""Whether what the averaged posterior states is true: `docs/benchmarks/one_posterior.py`.

Run `python docs/benchmarks/one_posterior.py`. Every number of every data set is stored in
`results/one_posterior/`, one file a part; `docs/_scripts/one_posterior_bars.py` has what is asked
of them. Finished batches are kept under `--path`, apart for each state of the package's code, so a
run can be interrupted.

Parts: `kinds`, populations drawn at random; `cells`, fixed populations; `designs`, clusters,
imputations and sampling weights; `seeds` and `dropped`, whether other random numbers or one
patient less change what is stated.
"""

from __future__ import annotations

import argparse
import json
import warnings
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

import bayescal as bc
from bayescal._base.versions import library_versions
from one_posterior_cells import CELLS
from one_posterior_designs import DESIGNS
from one_posterior_kinds import KINDS, drawn

RESULTS = Path(__file__).parent / "results"
SEED = 71_993
SIZES = (300, 1000, 4000)
RUNS = {"kinds": 100, "cells": 50, "designs": 200}
DRAWS, MANY_DRAWS = 1000, 4000
BATCH = 25
DIGITS, ROUNDING = 5, 1e-9
DISTANCES = {
    "tce": ("tce", {}),
    "tce_2": ("tce", {"p": 2}),
    "e50": ("e50", {}),
    "e90": ("e90", {}),
    "emax": ("emax", {}),
}
LIMITS = {
    "tce": (0.01, 0.02, 0.03, 0.05),
    "e50": (0.01, 0.02, 0.03, 0.05),
    "e90": (0.02, 0.03, 0.05, 0.1),
    "emax": (0.03, 0.05, 0.1, 0.2),
}
BOUNDED_BY_MEAN = ("tce", "tce_2", "emax")
"""Distances that are never less than the absolute signed error."""
MARGINALS = ("signed_error", "observed_expected", "calibration_slope")
CURVE_AT = (0.05, 0.5, 0.95)
REPEATED_SIZES = (300, 1000, 4000)
SEEDS, SETS, DROPPED, PATIENTS = 24, 6, 20, 200


@lru_cache(maxsize=100)
def true_values(truth) -> dict[str, float]:
    """Of a population; an error that is only rounding is none."""
    values = {target: truth.functional(name, **more) for target, (name, more) in DISTANCES.items()}
    values |= {name: truth.functional(name) for name in MARGINALS}
    return {name: 0.0 if abs(value) < ROUNDING else value for name, value in values.items()}


def numbers(comparison, truth, score=None) -> dict[str, float]:
    """Everything that is judged about one data set."""
    post, true = comparison.posterior, dict(true_values(truth))
    post.summary()
    row = {
        "exact": true["tce"] == 0,
        "prob_calibrated": comparison.prob_calibrated,
        "prob_calibrated_even": comparison.prob_calibrated_at(0.5),
    }
    if true["emax"] > 0:
        true["emax"] = np.nan if score is None else np.abs(truth.curve(score) - score).max()
    for target, (name, options) in DISTANCES.items():
        row[f"{target}_true"] = true[target]
        row[f"{target}_estimate"] = post.estimate(name, **options)
        for level in (95, 80):
            ends = post.interval(name, level / 100, **options)
            row[f"{target}_lower_{level}"], row[f"{target}_upper_{level}"] = ends
        for limit in LIMITS.get(target, ()):
            row[f"{target}_below_{limit:g}"] = post.prob_below(limit, name)
            row[f"{target}_above_{limit:g}"] = post.prob_above(limit, name)
    row["above_more"] = post.prob_above(1.25 * row["tce_true"])
    row["below_less"] = post.prob_below(0.8 * row["tce_true"])
    for name in MARGINALS:
        row[f"{name}_true"] = true[name]
        row[f"{name}_lower_95"], row[f"{name}_upper_95"] = post.interval(name)
    at = np.array([truth.score_quantile(level) for level in CURVE_AT])
    draws = post.curve(at).to_numpy().reshape(-1, at.size)
    ends = np.quantile(draws, [0.025, 0.975], axis=0)
    for level, true, lower, upper in zip(CURVE_AT, truth.curve(at), *ends, strict=True):
        for part, value in (("true", true), ("lower_95", lower), ("upper_95", upper)):
            row[f"curve_{level:g}_{part}"] = value
    return row | contradictions(post, row)


def contradictions(post, row) -> dict[str, float]:
    """By how much statements about a distance and about the signed error contradict; 0 at best."""
    result = {}
    for level in (95, 80):
        low, high = post.interval("signed_error", level / 100)
        surely, possibly = max(low, -high, 0.0), max(high, -low)
        short = 0.0
        for target in BOUNDED_BY_MEAN:
            lower, upper = (row[f"{target}_{end}_{level}"] for end in ("lower", "upper"))
            short = max(short, surely - lower, possibly - upper)
        result[f"excluded_{level}"] = short
    crossed = apart = 0.0
    for limit in LIMITS["tce"]:
        sides = post.prob_above(limit, "signed_error"), post.prob_below(-limit, "signed_error")
        for target in BOUNDED_BY_MEAN:
            name, options = DISTANCES[target]
            above = post.prob_above(limit, name, **options)
            below = post.prob_below(limit, name, **options)
            crossed = max(crossed, max(sides) - above)
            apart = max(apart, abs(below + above - 1))
    return result | {"crossed": crossed, "apart": apart}


def of_kind(kind, n, run):
    truth, rng = drawn(kind, n, run, SEED)
    y, s = truth.sample(n, rng)
    comparison = bc.compare(y, s, draws=DRAWS, random_state=run)
    return {"kind": kind.__name__, "n": n, "run": run} | numbers(comparison, truth, s)


def of_cell(truth, n, run):
    rng = np.random.default_rng([SEED, n, run, *truth.name.encode()])
    y, s = truth.sample(n, rng)
    comparison = bc.compare(y, s, draws=DRAWS, random_state=run)
    return {"cell": truth.name, "n": n, "run": run} | numbers(comparison, truth, s)


def of_design(design, run):
    rng = np.random.default_rng([SEED, run, *design.name.encode()])
    comparison = bc.compare(**design.sample(rng), draws=DRAWS, random_state=run)
    names = {"group": design.group, "cell": design.name, "run": run}
    return names | numbers(comparison, design.truth)


def stated(y, s, seed):
    """P(below) and P(above) of TCE at each limit."""
    post = bc.compare(y, s, draws=MANY_DRAWS, random_state=seed).posterior
    return {
        f"tce_{side}_{limit:g}": read(limit)
        for limit in LIMITS["tce"]
        for side, read in (("below", post.prob_below), ("above", post.prob_above))
    }


def one_data_set(index, n):
    """The data sets of `seeds` and `dropped`: kinds in turn."""
    truth, rng = drawn(KINDS[index], n, index, SEED + 1)
    return truth.sample(n, rng)


def of_seed(index, seed):
    n = REPEATED_SIZES[index % len(REPEATED_SIZES)]
    return {"set": index, "n": n, "seed": seed} | stated(*one_data_set(index, n), seed)


def of_dropped(index, patient):
    """Without the patient of this number; -1 is with all of them."""
    y, s = one_data_set(index, PATIENTS)
    if patient >= 0:
        row = patient * (PATIENTS // DROPPED)
        y, s = np.delete(y, row), np.delete(s, row)
    return {"set": index, "patient": patient} | stated(y, s, 0)


def batch(calls, key: str, folder: Path) -> list[dict[str, object]]:
    """Results of some calls, read back when they were made before."""
    name = f"{key} {len(calls)}"
    file = folder / f"{sha256(name.encode()).hexdigest()[:16]}.json"
    if file.is_file():
        return json.loads(file.read_text())
    warnings.simplefilter("ignore")
    rows = [call() for call in calls]
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(rows))
    return rows


def wanted(part: str, runs: int | None) -> dict[str, list[partial]]:
    """Calls of a part, by the key of their batch."""
    if part in RUNS:
        return in_batches(part, runs or RUNS[part])
    calls = {
        "seeds": {i: [partial(of_seed, i, seed) for seed in range(SEEDS)] for i in range(SETS)},
        "dropped": {
            i: [partial(of_dropped, i, patient) for patient in range(-1, DROPPED)]
            for i in range(SETS)
        },
    }
    return {f"{part} {which}": each for which, each in calls[part].items()}


def in_batches(part: str, runs: int) -> dict[str, list[partial]]:
    """Every cell of a part, some runs at a time."""
    cells = {
        "kinds": {(kind.__name__, n): (of_kind, kind, n) for kind in KINDS for n in SIZES},
        "cells": {(t.name, n): (of_cell, t, n) for t, sizes in CELLS.items() for n in sizes},
        "designs": {(design.name,): (of_design, design) for design in DESIGNS},
    }
    return {
        f"{part} {name} {first}": [
            partial(*call, run) for run in range(first, min(first + BATCH, runs))
        ]
        for first in range(0, runs, BATCH)
        for name, call in cells[part].items()
    }


def state_of_code() -> str:
    """A short name of the package's code, so that batches of another are not read back."""
    code = sha256()
    for file in sorted(Path(bc.__file__).parent.rglob("*.py")):
        code.update(file.read_bytes())
    return code.hexdigest()[:12]


def measured(part: str, options) -> list[dict[str, object]]:
    folder = options.path / state_of_code()
    jobs = wanted(part, options.runs)
    work = (delayed(batch)(calls, key, folder) for key, calls in jobs.items())
    return [row for rows in Parallel(n_jobs=options.jobs, verbose=1)(work) for row in rows]


def store(rows, file: Path) -> None:
    """Every column as an array, compressed."""
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    for name, values in columns.items():
        if values.dtype.kind == "f":
            columns[name] = np.round(values, DIGITS).astype(np.float32)
    versions = library_versions("bayescal", "numpy", "scipy") | {"code": state_of_code()}
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(file, versions=json.dumps(versions), **columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("kinds", "cells", "designs", "seeds", "dropped")
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--runs", type=int, help="of each cell, for a quick look")
    parser.add_argument("--path", type=Path, default=RESULTS / "one_posterior-batches")
    parser.add_argument("--output", type=Path, default=RESULTS / "one_posterior")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    for part in options.parts:
        store(measured(part, options), options.output / f"{part}.npz")


if __name__ == "__main__":
    main()
