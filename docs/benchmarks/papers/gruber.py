"""Figures, tables and propositions of Gruber & Buettner, NeurIPS 2022, computed again.

    python docs/benchmarks/papers/gruber.py

The logits of ResNet110 on CIFAR-10 are looked for in BAYESCAL_DATA, or `shared` beside the clone.
Figures 1 and 3 need them; Figure 2 is simulated as in `cifar`, Figures 4, 8 and 9 and Tables 1 and
2 are of Friedman 1 (`gruber_friedman`), and `gruber_laws` has the propositions. Sizes of test sets
are the paper's, and each has a tenth of the paper's number of sampled test sets.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import gruber_friedman
import gruber_laws

import cifar
from bayescal import estimators, scores
from bayescal import recalibrate as rc
from bayescal._base.versions import library_versions
from bayescal.errors import InputError

RESULTS = HERE.parent / "results" / "papers" / "gruber.json"
SOURCE = "github.com/NeuroDong/TCEbpm or github.com/markus93/NN_calibration, ResNet110 on CIFAR-10"
SEED = 2022
FEWER = 10
"""How many of the paper's sampled test sets one of ours stands for."""
SAMPLED = (20000, 15842, 12168, 8978, 6272, 4050, 2312, 1058, 288, 2)
SIZES = tuple(int(n) for n in np.geomspace(100, 10_000, 10).round())
LARGEST_CANONICAL = 1300
"""Cases up to which all pairs are visited, for the kernel estimate of CE_2."""
SETS_CANONICAL = 20
POOL = 40_000

READ_OFF = {
    "ETS": {
        "RBS": (0.0165, 0.0195),
        "KDE TCE_2": (0.0215, 0.0615),
        "KS": (0.0225, 0.0435),
        "15b d TCE_2": (0.0465, 0.0795),
        "15b TCE_2": (-0.0055, 0.047),
        "100b TCE_2": (-0.013, 0.055),
        "15b CWCE_2": (-0.0465, 0.034),
        "100b CWCE_2": (-0.0415, 0.029),
    },
    "DIAG": {
        "RBS": (0.019, 0.0205),
        "KDE TCE_2": (0.0285, 0.06),
        "KS": (0.0225, 0.0395),
        "15b d TCE_2": (0.05, 0.074),
        "15b TCE_2": (0.0, 0.0465),
        "100b TCE_2": (-0.0125, 0.052),
        "15b CWCE_2": (-0.048, 0.039),
        "100b CWCE_2": (-0.039, 0.028),
    },
}
"""Improvements with 100 and 10 000 cases, read to .001 off the panels of the authors' notebooks."""
READ_OFF_FIGURE_2 = {"perfect": (0.0735, 0.005), "mediocre": (0.078, 0.0435), "bad": (0.099, 0.081)}
"""ECE with 100 and 10 000 cases, likewise."""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def of_top_label(estimate: Any) -> Any:
    """The estimate, of whether the largest probability was right."""
    return lambda label, proba: estimate(proba.argmax(axis=1) == label, proba.max(axis=1))


def ks_by_class(label: Integers, proba: Floats) -> float:
    """The mean over predicted classes, among the cases of each."""
    best = proba.argmax(axis=1)
    return float(estimators.ks_error(best == label, proba.max(axis=1), cells=best))


ESTIMATES = {
    "15b CWCE_2": partial(estimators.class_wise_ece, p=2, average=False),
    "100b CWCE_2": partial(estimators.class_wise_ece, p=2, average=False, n_bins=100),
    "ECE": of_top_label(estimators.ece),
    "15b TCE_2": of_top_label(partial(estimators.ece, p=2)),
    "100b TCE_2": of_top_label(partial(estimators.ece, p=2, n_bins=100)),
    "15b d TCE_2": of_top_label(estimators.debiased_ece),
    "KDE TCE_2": of_top_label(partial(estimators.kde_ece, form="triweight", p=2)),
    "KS": of_top_label(estimators.ks_error),
    "KS by class": ks_by_class,
    "RBS": scores.root_brier_score,
    "Brier": partial(scores.calibration_upper_bound, score="brier"),
}
CANONICAL = "KDE CE_2"
SHOWN = (*ESTIMATES, CANONICAL)
METHODS = ("none", "TS", "ETS", "DIAG")


# Figures 1 and 3


@cache
def predictions() -> tuple[dict[str, Floats], Integers]:
    """Of the 10 000 test cases: as predicted, and by maps fitted to the 5000 validation cases.

    As in the released code, TS minimises the log loss and ETS the squared error.
    """
    (proba, label), (test, truth) = cifar.real()
    of_val, of_test = cifar.logits()
    after = {"none": test}
    for name, made in {
        "TS": rc.TemperatureRecalibrator(),
        "ETS": rc.EnsembleTemperatureRecalibrator("brier"),
    }.items():
        after[name] = made.fit(proba, label).predict_proba(test)
    diagonal = rc.DiagonalRecalibrator().fit(proba, label, logits=of_val)
    after["DIAG"] = diagonal.predict_proba(test, logits=of_test)
    return after, truth


def subset(n: int, index: int, seed: int) -> Integers:
    """The cases of one sampled test set."""
    return np.random.default_rng([seed, n, index]).permutation(cifar.real()[1][1].size)[:n]


def estimate_subsets(n: int, count: int, seed: int) -> Floats:
    """Every estimate by every method, of shape (test sets, estimates, methods)."""
    after, truth = predictions()
    values = np.full((count, len(SHOWN), len(METHODS)), np.nan)
    for index in range(count):
        rows = subset(n, index, seed)
        for column, method in enumerate(METHODS):
            proba, label = after[method][rows], truth[rows]
            for row, estimate in enumerate(ESTIMATES.values()):
                with suppress(InputError):  # no bandwidth; the released code leaves it out too
                    values[index, row, column] = estimate(label, proba)
            if n <= LARGEST_CANONICAL and index < SETS_CANONICAL:
                values[index, -1, column] = estimators.kde_ece(label, proba, p=2)
    return values


def mean_and_error(values: Floats) -> dict[str, Any]:
    """Over test sets that have the estimate."""
    known = values[np.isfinite(values)]
    error = known.std(ddof=1) / np.sqrt(known.size) if known.size > 1 else None
    return {
        "mean": float(known.mean()) if known.size else None,
        "se": None if error is None else float(error),
        "sets": int(known.size),
    }


def figures_1_and_3(sizes: tuple[int, ...], counts: list[int], seed: int) -> dict[str, Any]:
    """Estimates of the model as it is, and of what three maps improve, by test set size."""
    warnings.simplefilter("ignore")
    values: dict[str, Any] = {name: [] for name in SHOWN}
    falls: dict[str, Any] = {
        method: {name: [] for name in SHOWN} for method in METHODS if method != "none"
    }
    for n, count in zip(sizes, counts, strict=True):
        made = estimate_subsets(n, count, seed)
        for row, name in enumerate(SHOWN):
            values[name].append(mean_and_error(made[:, row, 0]))
            for column, method in enumerate(METHODS[1:], 1):
                fall = made[:, row, 0] - made[:, row, column]
                falls[method][name].append(mean_and_error(fall))
    after, truth = predictions()
    return {
        "sizes": list(sizes),
        "sets": counts,
        "values": values,
        "improvement": falls,
        "accuracy": float((after["none"].argmax(axis=1) == truth).mean()),
    }


# Figure 2


@cache
def pool() -> dict[str, Any]:
    """A large simulated population: top labels and losses of each model, and exact errors."""
    rng = np.random.default_rng(SEED)
    made: dict[str, Any] = {name: {"top": [], "chance": [], "square": 0.0} for name in SHARP}
    own = right = 0.0
    for _ in range(POOL // 10_000):
        logits = cifar.simulated_logits(10_000, rng)
        truth = softmax(logits, axis=1)
        right += float(truth.max(axis=1).sum()) / POOL
        own += float((1 - (truth**2).sum(axis=1)).sum()) / POOL
        for name, sharpening in SHARP.items():
            before = softmax(sharpening * logits, axis=1)
            best = before.argmax(axis=1)
            made[name]["top"].append(before.max(axis=1))
            made[name]["chance"].append(truth[np.arange(best.size), best])
            made[name]["square"] += float(((before - truth) ** 2).sum()) / POOL
    return {"accuracy": right, "own": own, "models": made}


SHARP = cifar.SHARPENINGS


def figure_2(sizes: tuple[int, ...], runs: int, seed: int) -> dict[str, Any]:
    """ECE of three models by size, simulated and by Proposition 3.3; and what RBS makes of them."""
    population, rng = pool(), np.random.default_rng([seed, 2])
    record: dict[str, Any] = {
        "sizes": list(sizes),
        "runs": runs,
        "accuracy": population["accuracy"],
        "models": {},
    }
    for name, model in population["models"].items():
        top, chance = (np.concatenate(model[key]) for key in ("top", "chance"))
        twice = np.repeat([1, 0], top.size), np.tile(top, 2)
        weight = np.concatenate([chance, 1 - chance])
        formula = estimators.expected_ece(*twice, sizes, sample_weight=weight)
        means = []
        for n in sizes:
            rows = rng.integers(top.size, size=(runs, n))
            hit = rng.random((runs, n)) < chance[rows]
            each = [estimators.ece(hit[run], top[rows[run]]) for run in range(runs)]
            means.append(mean_and_error(np.array(each)))
        bound = model["square"] + population["own"]
        record["models"][name] = {
            "ece": float(estimators.ece(*twice, sample_weight=weight)),
            "formula": np.asarray(formula).tolist(),
            "simulated": means,
            "ce_2": float(np.sqrt(model["square"])),
            "rbs": float(np.sqrt(bound)),
            "rbs_improvement": float(np.sqrt(bound) - np.sqrt(population["own"])),
            "ce_2_squared": model["square"],
            "brier_improvement": bound - population["own"],
        }
    return record


def released_logits(rng: np.random.RandomState, classes: int = 100, scale: float = 0.01) -> Floats:
    """The logits of the released simulation, by class, as SciPy 1.9 drew them."""
    below = rng.normal(size=(classes, classes * (classes - 1) // 2))
    square = np.array([rng.chisquare(classes - i, size=classes) for i in range(classes)]).T
    logits = []
    for c in range(classes):
        factor = np.diag(np.sqrt(square[c]))
        factor[np.tril_indices(classes, -1)] = below[c]
        root = np.linalg.inv(np.sqrt(scale) * factor)
        logits.append(rng.multivariate_normal(np.eye(classes)[c], root.T @ root, 200))
    return np.concatenate(logits)


def released_simulation() -> dict[str, float]:
    """Accuracy in either half of the released simulation, of its seed, as SciPy drew it then.

    Its logits are in the order of their classes, so that the first half, called validation, comes
    from the laws of classes 0 to 49, and the second, on which Figure 2 is computed, from the rest.
    """
    right = softmax(released_logits(np.random.RandomState(1)), axis=1).max(axis=1)
    half = right.size // 2
    return {"first_half": float(right[:half].mean()), "second_half": float(right[half:].mean())}


# Everything


def reproduce(
    *,
    fewer: int = FEWER,
    every: int = 1,
    runs: int = 400,
    networks: int = 5,
    steps: int = 2000,
    laws: int = 2000,
    seed: int = SEED,
) -> dict[str, Any]:
    """All of it, in the form that is stored; `every`: of the paper's sizes, how far apart."""
    started = time.process_time()
    sizes = SIZES[::-1][::every][::-1]
    counts = [max(1, m // fewer) for m in SAMPLED[::-1][::every][::-1]]
    known = cifar.FILE.is_file()
    record = {
        "settings": {"fewer": fewer, "seed": seed, "laws": laws},
        "versions": library_versions("bayescal", "numpy", "scipy", "scikit-learn"),
        "resnet110": figures_1_and_3(sizes, counts, seed) if known else None,
        "simulated": figure_2(sizes, runs, seed),
        "released_simulation": released_simulation(),
        "friedman": gruber_friedman.networks(networks, steps),
        "proposition_3_2": gruber_laws.proposition_3_2(),
        "theorem_3_1": gruber_laws.theorem_3_1(laws, seed),
        "sharpness": gruber_laws.proposition_e_2(laws, seed),
        "maps": gruber_laws.maps(predictions()[0], predictions()[1]) if known else None,
        "threshold": gruber_laws.threshold_map(),
        "kernel": gruber_laws.kernel_score(),
    }
    return rounded(record) | {"cpu_seconds": round(time.process_time() - started, 1)}


def rounded(value: Any) -> Any:
    """The same with six significant digits of each number."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--fewer", type=int, default=FEWER, help="the paper's test sets over ours")
    options = parser.parse_args()
    if not cifar.FILE.is_file():
        parser.error(f"no data at {cifar.FILE}: set BAYESCAL_DATA to the folder that has data/")
    record = reproduce(fewer=options.fewer)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    print(f"{record['cpu_seconds']} CPU seconds; stored in {RESULTS}")


if __name__ == "__main__":
    main()
