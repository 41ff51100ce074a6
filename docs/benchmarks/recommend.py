"""Whether what is said of recommended updates is true: `docs/benchmarks/recommend.py`.

Run `python docs/benchmarks/recommend.py`. Parts: `kinds`, populations drawn at random;
`calibrated`, data of calibrated models; `designs`, clusters, imputations and sampling weights;
`thresholds`, the net benefit at two thresholds; `cost`. The rule of the version before is applied
to the same comparisons: the simplest update whose expected log score by leave-one-out is within
one standard error of the best. Every number of every data set is stored in `results/recommend/`;
`docs/_scripts/recommend_bars.py` has what is asked of them. Finished batches are kept under
`--path`, so a run can be interrupted.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np

import bayescal as bc
from bayescal._base.decision import least_treated, net_benefit
from bayescal._base.versions import library_versions
from bayescal.gain import recommendation
from bayescal.inference.loo import elpd_difference
from bayescal.model.curves import updates
from kept import folder
from one_posterior_designs import DESIGNS
from recommend_kinds import CALIBRATED_SIZES, FORMS, KINDS, RATES, calibrated, drawn

RESULTS = Path(__file__).parent / "results"
SEED = 27_062
SIZES = {100: 15, 300: 45, 1000: 45, 4000: 45}
"""Populations of each kind, by number of patients."""
RUNS = {"calibrated": 100, "designs": 20, "cost": 10}
DRAWS = 1000
THRESHOLDS = (0.1, 0.3)
NODES = 1000
BATCH = 10


def one_standard_error(comparison) -> str:
    """The rule of the version before, of one data set."""
    results = {name: comparison.loo[name] for name in updates()}
    best = max(results.values(), key=lambda loo: loo.elpd)
    for name, loo in results.items():
        short, error = elpd_difference(best, loo)
        if short <= error * comparison.design_effect**0.5:
            return name
    raise AssertionError("the best is within one standard error of itself")


def maps(options):
    """Each update fitted to these patients, as it would be used."""
    for name in updates():
        if name != "identity":
            yield name, bc.fit(**options, curve=name, draws=DRAWS, random_state=0)


def at_nodes(truth):
    """Scores of the population, each standing for as many patients, and the risk there."""
    level = (np.arange(NODES) + 0.5) / NODES
    score, _ = truth.scores.quantiles(level, 1 - level)
    return score, truth.curve(score)


def mean_curve(post, score):
    return post.curve(score).to_numpy().reshape(-1, score.size).mean(axis=0)


def benefit(events, score, threshold):
    treated = (score >= least_treated(threshold)).astype(float)
    return net_benefit(events * treated, treated, threshold).mean()


def numbers(truth, study, run) -> dict[str, object]:
    """Everything that is judged about one data set."""
    comparison = bc.compare(**study, curves=tuple(updates()), draws=DRAWS, random_state=run)
    advice = recommendation(comparison)
    by_benefit = recommendation(comparison, THRESHOLDS)
    score, risk = at_nodes(truth)
    y = np.asarray(study["y_true"])
    row = {
        "events": int(y.sum()),
        "n": y.size,
        "choice": advice.choice or "",
        "benefit_choice": by_benefit.choice or "",
        "former": one_standard_error(comparison) if "imputations" not in study else "",
    }
    for name, post in maps(study):
        after = mean_curve(post, score)
        row[f"{name}_true"] = float(np.mean((risk - score) ** 2 - (risk - after) ** 2))
        rises = [benefit(risk, after, t) - benefit(risk, score, t) for t in THRESHOLDS]
        row[f"{name}_benefit_true"] = float(np.mean(rises))
        for prefix, of, kind in (
            (name, advice, "brier"),
            (f"{name}_benefit", by_benefit, "net_benefit"),
        ):
            row[f"{prefix}_prob"] = float(of.table.loc[name, "prob_better"])
            for part in ("gain", "lower", "upper"):
                row[f"{prefix}_{part}"] = float(of.table.loc[name, f"{kind}_{part}"])
    return row


def of_kind(kind, n, run):
    truth, rng = drawn(kind, n, run, SEED)
    y, s = truth.sample(n, rng)
    return {"kind": kind.__name__, "run": run} | numbers(truth, {"y_true": y, "y_prob": s}, run)


def of_calibrated(rate, form, n, run):
    truth = calibrated(rate, form)
    rng = np.random.default_rng([SEED, n, run, int(100 * rate), *form.encode()])
    y, s = truth.sample(n, rng)
    comparison = bc.compare(y, s, curves=tuple(updates()), draws=DRAWS, random_state=run)
    advice = recommendation(comparison)
    return {
        "rate": rate,
        "form": form,
        "n": n,
        "run": run,
        "events": int(y.sum()),
        "choice": advice.choice or "",
        "former": one_standard_error(comparison),
        "most_probable": float(advice.table["prob_better"].max()),
    }


def of_design(design, run):
    rng = np.random.default_rng([SEED, run, *design.name.encode()])
    row = numbers(design.truth, design.sample(rng), run)
    return {"group": design.group, "kind": design.name, "run": run} | row


def of_cost(n, run):
    """Processor seconds of a recommendation, and of the rule before."""
    truth, rng = drawn(KINDS[0], n, 0, SEED + 1)
    y, s = truth.sample(n, rng)
    seconds = {}
    for rule, apply in (("seconds", recommendation), ("former_seconds", one_standard_error)):
        start = time.process_time()
        apply(bc.compare(y, s, curves=tuple(updates()), random_state=run))
        seconds[rule] = time.process_time() - start
    return {"n": n, "run": run} | seconds


def batch(calls, key: str, folder: Path) -> list[dict[str, object]]:
    """Results of some calls, read back when they were made before."""
    file = folder / f"{sha256(key.encode()).hexdigest()[:16]}.json"
    if file.is_file():
        return json.loads(file.read_text())
    rows = [call() for call in calls]
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(rows))
    return rows


def calls_of(part: str, share: float) -> list[partial]:
    """Calls of a part, of which a share is made for a quick look."""
    if part == "kinds":
        sizes = {n: range(max(int(share * runs), 1)) for n, runs in SIZES.items()}
        return [partial(of_kind, kind, n, run) for n in sizes for run in sizes[n] for kind in KINDS]
    runs = range(max(int(share * RUNS[part]), 1))
    if part == "calibrated":
        cells = [(r, f, n) for r in RATES for f in FORMS for n in CALIBRATED_SIZES]
        return [partial(of_calibrated, *cell, run) for run in runs for cell in cells]
    if part == "designs":
        return [partial(of_design, design, run) for run in runs for design in DESIGNS]
    return [partial(of_cost, n, run) for n in (300, 4000) for run in runs]


def name_of(call: partial) -> str:
    """A call in words that are the same in every process."""
    words = (getattr(arg, "__name__", getattr(arg, "name", arg)) for arg in call.args)
    return " ".join(map(str, (call.func.__name__, *words)))


def measured(part: str, options) -> list[dict[str, object]]:
    calls = calls_of(part, options.share)
    batches = [calls[first : first + BATCH] for first in range(0, len(calls), BATCH)]
    rows: list[dict[str, object]] = []
    for each in batches:
        key = " ".join(name_of(call) for call in each)
        rows += batch(each, key, options.path)
        print(part, len(rows), "of", len(calls), flush=True)
    return rows


def store(rows, file: Path) -> None:
    """Every column as an array, compressed."""
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    for name, values in columns.items():
        if values.dtype.kind == "f":
            columns[name] = values.astype(np.float32)
    file.parent.mkdir(parents=True, exist_ok=True)
    versions = json.dumps(library_versions("bayescal", "numpy", "scipy"))
    np.savez_compressed(file, versions=versions, **columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ("kinds", "calibrated", "designs", "cost")
    parser.add_argument("--parts", nargs="+", choices=parts, default=parts)
    parser.add_argument("--share", type=float, default=1.0, help="of the data sets")
    parser.add_argument("--path", type=Path, default=folder("recommend"))
    parser.add_argument("--output", type=Path, default=RESULTS / "recommend")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in options.parts:
        store(measured(part, options), options.output / f"{part}.npz")


if __name__ == "__main__":
    main()
