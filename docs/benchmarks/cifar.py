"""ResNet110 on CIFAR-10: what each recalibration gained, and how much test data it takes to see it.

Run `python docs/benchmarks/cifar.py`. The data are looked for in BAYESCAL_DATA, or `shared` beside
the clone. Maps are fitted to the 5000 validation cases and assessed on the 10000 test cases.

`table` follows Table 1 of Dong et al. (AAAI 2025): top-label calibration error of every method by
the estimators they compare, the posterior interval of the true error, and the gains over no
recalibration, in the probability of the class that was predicted before.
`against_size` follows Figures 1 to 3 of Gruber & Buettner (NeurIPS 2022): estimates of the
improvement by one fixed recalibration, temperature scaling, on ever smaller test sets, with the
posterior gain beside them; on the real data and on their simulated 100-class models. In those the
logits of class c are Normal(e_c, S_c), S_c inverse Wishart with 100 degrees of freedom and scale
100 I, labels are drawn from their softmax, and the predictions are the softmax of t times the
logits: so they are calibrated at t = 1, and temperature t repairs them exactly. True values are
averages over 200 000 cases of the simulated truth, without drawing labels. Test sets of the real
data are parts of the same 10000 cases and overlap; those of the models are drawn afresh.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from functools import cache, partial
from pathlib import Path

import numpy as np
from scipy.special import softmax
from scipy.stats import invwishart

import bayescal as bc
from bayescal import recalibrate as rc
from bayescal._base.versions import library_versions
from bayescal.validation.batches import Batch, run_batches, spans, stream

HERE = Path(__file__).parent
RESULTS = HERE / "results"
DATA = Path(os.environ.get("BAYESCAL_DATA") or HERE.parents[2] / "shared") / "data"
FILE = DATA / "cifar10_resnet110_logits.npz"
SEED = 110
SUBSETS = {100: 40, 200: 40, 500: 40, 1000: 20, 2000: 20, 5000: 10, 10_000: 5}
SHARPENINGS = {"perfect": 1.0, "mediocre": 1.5, "bad": 2.5}
# ECE in 15 bins of equal mass, from their Table 1.
PUBLISHED = {
    "none": 0.04755,
    "temperature": 0.00745,
    "isotonic": 0.00753,
    "ensemble temperature (Mix-n-Match)": 0.00745,
    "spline": 0.01322,
    "TPM": 0.00458,
}
CLASSES = 100
POPULATION = 200_000

TOP_LABEL = {
    "histogram binning, 15 equal mass": rc.HistogramRecalibrator(15),
    "isotonic": rc.IsotonicRecalibrator(),
    "BBQ": rc.BBQRecalibrator(),
    "Platt": rc.LogisticRecalibrator(),
    "beta": rc.BetaRecalibrator(),
    "spline": rc.SplineRecalibrator(),
    "monotone": rc.MonotoneRecalibrator(),
    "decision tree": rc.DecisionTreeRecalibrator(),
    "calibration tree": rc.ProbabilityCalibrationTreeRecalibrator(),
    "TPM": rc.TPMRecalibrator(),
    "Bayesian average": rc.BayesianRecalibrator(random_state=0),
}
ALL_CLASSES = {
    "temperature": rc.TemperatureRecalibrator(),
    "temperature, squared error": rc.TemperatureRecalibrator("brier"),
    "ensemble temperature (Mix-n-Match)": rc.EnsembleTemperatureRecalibrator(),
    "ensemble temperature, squared error": rc.EnsembleTemperatureRecalibrator("brier"),
    "diagonal order-preserving (DIAG)": rc.DiagonalRecalibrator(),
    "monotone, all classes": rc.MonotoneRecalibrator(),
    "vector scaling": rc.VectorScalingRecalibrator(),
}


@cache
def real():
    """Probabilities and labels, for validation and for testing."""
    with np.load(FILE) as kept:
        return [
            (softmax(kept[f"{part}_logits"].astype(float), axis=1), kept[f"{part}_y"].astype(int))
            for part in ("val", "test")
        ]


@cache
def logits():
    """What the probabilities are the softmax of."""
    with np.load(FILE) as kept:
        return [kept[f"{part}_logits"].astype(float) for part in ("val", "test")]


# Table 1


METRICS = {
    "ece": partial(bc.estimators.ece, binning="mass"),
    "sweep_ece": bc.estimators.sweep_ece,
    "debiased_ece": partial(bc.estimators.debiased_ece, p=1),
    "ks_error": bc.estimators.ks_error,
    "smooth_ece": bc.estimators.smooth_ece,
    "ls_ece": bc.estimators.ls_ece,
    "tce_bpm": bc.estimators.tce_bpm,
}


def errors(hit, confidence):
    """Estimates of the top-label calibration error, and its posterior."""
    result = bc.compare(hit, confidence, draws=2000, random_state=0)
    lower, upper = result.posterior.interval("tce")
    return {name: metric(hit, confidence) for name, metric in METRICS.items()} | {
        "tce": float(result.posterior.tce().median()),
        "tce_lower": lower,
        "tce_upper": upper,
        "prob_calibrated": result.prob_calibrated,
    }


def gains(hit, before, after):
    result = bc.recalibration_gain(hit, before, after, draws=1000, random_state=0)
    table = result.summary()
    kept = ("median", "lower", "upper", "prob_improved")
    rows = {f"{name}_gain": table.loc[name, list(kept)].to_dict() for name in table.index}
    return {"route": result.route} | rows


def table_row(name):
    warnings.simplefilter("ignore")
    (proba, label), (test, truth) = real()
    hit, before = test.argmax(axis=1) == truth, test.max(axis=1)
    row = {"method": name, "recalibrates": "top label", "published_ece": PUBLISHED.get(name)}
    if name in ALL_CLASSES:
        of_val, of_test = (
            {"logits": each} if isinstance(ALL_CLASSES[name], rc.DiagonalRecalibrator) else {}
            for each in logits()
        )
        after = ALL_CLASSES[name].fit(proba, label, **of_val).predict_proba(test, **of_test)
        row |= {
            "recalibrates": "all classes",
            "accuracy": float((after.argmax(axis=1) == truth).mean()),
            "log_loss": -float(np.log(after[np.arange(truth.size), truth]).mean()),
        }
        row |= errors(after.argmax(axis=1) == truth, after.max(axis=1))
        after = after[np.arange(truth.size), test.argmax(axis=1)]
    else:
        after = before
        if name in TOP_LABEL:
            seen = proba.argmax(axis=1) == label
            after = TOP_LABEL[name].fit(proba.max(axis=1), seen).transform(before)
        row |= {"accuracy": float(hit.mean())} | errors(hit, after)
    if name != "none":
        row |= gains(hit, before, after)
    return {"row": np.array(json.dumps(row))}


# Figures 1 to 3


@cache
def covariances():
    rng = np.random.default_rng(SEED)
    scale = 100.0 * np.eye(CLASSES)
    drawn = invwishart(df=CLASSES, scale=scale).rvs(size=CLASSES, random_state=rng)
    return [np.linalg.cholesky(each) for each in drawn]


def simulated_logits(n, rng):
    label = rng.integers(0, CLASSES, n)
    noise, roots = rng.normal(size=(n, CLASSES)), covariances()
    logits = np.empty((n, CLASSES))
    for c in np.unique(label):
        mine = label == c
        logits[mine] = noise[mine] @ roots[c].T + np.eye(CLASSES)[c]
    return logits


def simulated(sharpening, n, rng):
    """Probabilities before and after the exact repair, and labels."""
    logits = simulated_logits(n, rng)
    after = softmax(logits, axis=1)
    label = (rng.random((n, 1)) > after.cumsum(axis=1)).sum(axis=1)
    return softmax(sharpening * logits, axis=1), after, np.minimum(label, CLASSES - 1)


def true_gains(sharpening):
    """Of a simulated model: of all classes by Brier score, and of the top label."""
    rng, sums, top = stream(SEED, "truth"), 0.0, []
    for part in spans(POPULATION, 20_000):
        logits = simulated_logits(len(part), rng)
        before, after = softmax(sharpening * logits, axis=1), softmax(logits, axis=1)
        sums += float(np.sum((before - after) ** 2))
        best = before.argmax(axis=1)
        top.append(np.column_stack([before.max(axis=1), after[np.arange(best.size), best]]))
    before, after = np.concatenate(top).T
    order = np.argsort(before)
    bins = np.array_split(order, 500)
    return {
        "brier_all_classes": sums / POPULATION,
        "brier": float(np.mean((after - before) ** 2)),
        "tce": float(np.mean([abs(np.mean(after[b] - before[b])) for b in bins])),
        "log_score": float(np.mean(gain_in_log(after, before))),
    }


def gain_in_log(after, before):
    tiny = np.finfo(float).tiny
    right = np.log(np.maximum(after, tiny) / np.maximum(before, tiny))
    wrong = np.log(np.maximum(1 - after, tiny) / np.maximum(1 - before, tiny))
    return after * right + (1 - after) * wrong


ESTIMATES = {
    "ECE, 15 equal width": partial(bc.estimators.ece, n_bins=15),
    "ECE, 15 equal mass": partial(bc.estimators.ece, n_bins=15, binning="mass"),
    "debiased L2, 15 equal mass": bc.estimators.debiased_ece,
    "KS": bc.estimators.ks_error,
    "KDE-ECE": bc.estimators.kde_ece,
    "SmoothECE": bc.estimators.smooth_ece,
    "TCE_bpm": bc.estimators.tce_bpm,
}
PLAIN = ("ECE, class-wise", "root Brier, all classes", "Brier, all classes", "Brier, top label")
POSTERIOR = ("tce", "brier", "log_score")
MEANS = ("mean", "lower", "upper", "prob_improved")


def brier(proba, label):
    """Of all classes."""
    return float(np.mean(np.sum((proba - np.eye(proba.shape[1])[label]) ** 2, axis=1)))


def sides(before, after, label):
    """Every estimate before and after, of shape (estimates, 2)."""
    hit = before.argmax(axis=1) == label
    both = [(proba.max(axis=1), brier(proba, label)) for proba in (before, after)]
    rows = [[estimate(hit, top) for top, _ in both] for estimate in ESTIMATES.values()]
    rows.append([bc.estimators.class_wise_ece(label, proba) for proba in (before, after)])
    rows.append([np.sqrt(score) for _, score in both])
    rows.append([score for _, score in both])
    rows.append([np.mean((top - hit) ** 2) for top, _ in both])
    return np.array(rows)


def subsets(setting, n, span):
    """Estimates and posterior gains on random test sets of one size."""
    warnings.simplefilter("ignore")
    values = np.empty((len(span), len(ESTIMATES) + len(PLAIN), 2))
    posterior = np.empty((len(span), len(POSTERIOR), len(MEANS)))
    for index, run in enumerate(span):
        rng = stream(SEED, setting, n, run)
        if setting == "resnet110":
            (proba, label), (test, truth) = real()
            tempered = rc.TemperatureRecalibrator().fit(proba, label).predict_proba(test)
            chosen = rng.permutation(truth.size)[:n]
            before, after, labels = test[chosen], tempered[chosen], truth[chosen]
        else:
            before, after, labels = simulated(SHARPENINGS[setting], n, rng)
        values[index] = sides(before, after, labels)
        best, row = before.argmax(axis=1), np.arange(n)
        gain = bc.recalibration_gain(
            best == labels, before.max(axis=1), after[row, best], draws=1000, random_state=run
        )
        posterior[index] = gain.summary().loc[list(POSTERIOR), list(MEANS)].to_numpy()
    return {"values": values, "posterior": posterior}


def size_record(setting, n, results, true):
    values = np.concatenate([result["values"] for result in results])
    posterior = np.concatenate([result["posterior"] for result in results])
    fall = values[..., 0] - values[..., 1]
    record = {"setting": setting, "n": n, "subsets": len(values), "estimates": {}, "posterior": {}}
    for index, name in enumerate((*ESTIMATES, *PLAIN)):
        record["estimates"][name] = {
            "before": values[:, index, 0].mean(),
            "after": values[:, index, 1].mean(),
            "improvement": fall[:, index].mean(),
            "sd": fall[:, index].std(ddof=1) if len(values) > 1 else None,
        }
    for index, name in enumerate(POSTERIOR):
        row = dict(zip(MEANS, posterior[:, index].mean(axis=0).tolist(), strict=True))
        if true:
            ends = posterior[:, index, 1:3]
            inside = (ends[:, 0] <= true[name]) & (true[name] <= ends[:, 1])
            row["coverage"] = float(inside.mean())
        record["posterior"][name] = row
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--path", type=Path, default=RESULTS / "cifar-batches")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if not FILE.is_file():
        parser.error(f"no data at {FILE}: set BAYESCAL_DATA to the folder that holds data/")
    run = partial(run_batches, n_jobs=options.jobs, progress=None, path=options.path)
    methods = ["none", *TOP_LABEL, *ALL_CLASSES]
    rows = [
        Batch(partial(table_row, name), 1, {"what": "cifar table", "name": name})
        for name in methods
    ]
    table = [json.loads(str(value["row"])) for value in run(rows, "Table 1")]
    for row in table:
        print(
            {key: round(x, 4) for key, x in row.items() if isinstance(x, float)} | row, flush=True
        )

    settings = ("resnet110", *SHARPENINGS)
    every = real()[1][1].size
    pieces = [
        (setting, n, part)
        for setting in settings
        for n, count in SUBSETS.items()
        for part in spans(1 if setting == "resnet110" and n == every else count, 5)
    ]
    batches = [
        Batch(
            partial(subsets, setting, n, part),
            len(part),
            {"what": "cifar sizes", "name": setting, "n": n, "span": [part[0], part[-1]]},
        )
        for setting, n, part in pieces
    ]
    results = run(batches, "Sizes")
    truths = {name: true_gains(t) for name, t in SHARPENINGS.items()}
    against_size = []
    for setting in settings:
        for n in SUBSETS:
            mine = [
                result
                for result, piece in zip(results, pieces, strict=True)
                if piece[:2] == (setting, n)
            ]
            against_size.append(size_record(setting, n, mine, truths.get(setting)))
    record = {
        "versions": library_versions("bayescal", "numpy", "scipy", "scikit-learn"),
        "table": table,
        "true_gains": truths,
        "against_size": against_size,
    }
    text = json.dumps(record, indent=1, default=float)
    (RESULTS / "cifar.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
