"""Table 1 and Figures 1a and 3 of Dong et al.: ResNet110 on CIFAR-10.

Maps are fitted to the 5000 validation cases and judged by the 10 000 test cases, and then fitted to
the test cases that judge them. `splits` divides the 15 000 cases at random again and again: how
often does a map judged by other cases than its own come as low as the printed row?
"""

from __future__ import annotations

import os
import sys
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from dong_printed import COLUMNS, TABLE_1
from numpy.typing import NDArray
from scipy.special import softmax

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bayescal import estimators
from bayescal import recalibrate as rc
from ead import histogram_curves

DATA = Path(os.environ.get("BAYESCAL_DATA") or Path(__file__).resolve().parents[4] / "shared")
CIFAR = DATA / "data" / "cifar10_resnet110_logits.npz"
IMAGENET = DATA / "data" / "imagenet_timm_resnet34.npz"
FITTED_TO = ("validation", "test")
SCORES = np.arange(50) / 50 + 0.01
PRINTED_TPM = np.array(TABLE_1["TPM"])

Numbers = NDArray[np.float64]
METRICS = {
    "ECE": partial(estimators.ece, n_bins=15, binning="mass"),
    "debiased": partial(estimators.debiased_ece, p=1),
    "sweep": estimators.sweep_ece,
    "KS": estimators.ks_error,
    "smECE": estimators.smooth_ece,
    "TCE_bpm": estimators.tce_bpm,
}
OF_TOP_LABEL = {
    "isotonic": rc.IsotonicRecalibrator,
    "spline": rc.SplineRecalibrator,
    "TPM": rc.TPMRecalibrator,
    "TPM, unconstrained": partial(rc.TPMRecalibrator, objective="unconstrained"),
    "TPM, as released": partial(rc.TPMRecalibrator, objective="released"),
}
OF_ALL_CLASSES = {
    "temperature": rc.TemperatureRecalibrator,
    "temperature, squared error": partial(rc.TemperatureRecalibrator, "brier"),
    "Mix-n-Match": rc.EnsembleTemperatureRecalibrator,
}
METHODS = (
    "none",
    "temperature",
    "temperature, squared error",
    "isotonic",
    "Mix-n-Match",
    "spline",
    "TPM",
    "TPM, unconstrained",
    "TPM, as released",
)


@cache
def parts() -> dict[str, tuple[Numbers, NDArray[np.int64]]]:
    """Probabilities of the classes, and labels, for validation and for testing."""
    with np.load(CIFAR) as arrays:
        return {
            part: (
                softmax(arrays[f"{key}_logits"].astype(float), axis=1),
                arrays[f"{key}_y"].astype(int),
            )
            for part, key in (("validation", "val"), ("test", "test"))
        }


def hits(proba: Numbers, label: NDArray[np.int64]) -> tuple[NDArray[np.int64], Numbers]:
    """Whether the predicted class is right, and its probability."""
    return (proba.argmax(axis=1) == label).astype(int), proba.max(axis=1)


def errors(hit: NDArray[np.int64], confidence: Numbers) -> list[float]:
    """The six columns of Table 1."""
    return [float(METRICS[name](hit, confidence)) for name in COLUMNS]


def recalibrated(method: str, fitted_to: str) -> tuple[NDArray[np.int64], Numbers]:
    """Hits and recalibrated confidences of the test cases."""
    test, label = parts()["test"]
    hit, confidence = hits(test, label)
    if method in OF_ALL_CLASSES:
        proba, known = parts()[fitted_to]
        return hits(OF_ALL_CLASSES[method]().fit(proba, known).predict_proba(test), label)
    if method in OF_TOP_LABEL:
        seen, score = hits(*parts()[fitted_to])
        confidence = OF_TOP_LABEL[method]().fit(score, seen).transform(confidence)
    return hit, confidence


def table_1() -> dict[str, dict[str, list[float]]]:
    """Every method, fitted to the validation cases and to the test cases."""
    return {
        part: {method: errors(*recalibrated(method, part)) for method in METHODS}
        for part in FITTED_TO
    }


def split(run: int) -> dict[str, list[float]]:
    """The 15 000 cases divided anew: TPM on other cases, on its own cases, and isotonic."""
    pooled = [hits(*part) for part in parts().values()]
    hit, score = (np.concatenate(column) for column in zip(*pooled, strict=True))
    order = np.random.default_rng([1, run]).permutation(hit.size)
    fit, test = order[:5000], order[5000:]
    maps = {
        "TPM": rc.TPMRecalibrator().fit(score[fit], hit[fit]),
        "TPM, same cases": rc.TPMRecalibrator().fit(score[test], hit[test]),
        "isotonic": rc.IsotonicRecalibrator().fit(score[fit], hit[fit]),
    }
    return {name: errors(hit[test], map_.transform(score[test])) for name, map_ in maps.items()}


def splits(runs: list[dict[str, list[float]]]) -> dict[str, Any]:
    """Means over divisions, standard deviations, and how often the printed row is reached."""
    rows = {}
    for name in runs[0]:
        values = np.array([run[name] for run in runs])
        rows[name] = {
            "mean": values.mean(axis=0).tolist(),
            "sd": values.std(axis=0, ddof=1).tolist(),
            "least": values.min(axis=0).tolist(),
            "as_low_as_printed": (values <= PRINTED_TPM).sum(axis=0).tolist(),
            "all_as_low": int((values <= PRINTED_TPM).all(axis=1).sum()),
        }
    return {"runs": len(runs), "rows": rows}


def against_histograms(hit: NDArray[np.int64], score: Numbers) -> dict[str, Any]:
    """The fitted curve, and mean and range of the curves of 10 to 50 bins of equal mass."""
    curves = histogram_curves(hit, score, SCORES)
    fitted = estimators.fit_bpm_curve(hit, score).curve(SCORES)
    inside = (curves.min(axis=0) <= fitted) & (fitted <= curves.max(axis=0))
    seen = score.min() <= SCORES
    return {
        "scores": SCORES.tolist(),
        "fitted": fitted.tolist(),
        "mean": curves.mean(axis=0).tolist(),
        "lower": curves.min(axis=0).tolist(),
        "upper": curves.max(axis=0).tolist(),
        "lowest_score": float(score.min()),
        "inside": int(inside[seen].sum()),
        "of": int(seen.sum()),
    }


def figure_3() -> dict[str, Any]:
    """CIFAR-10's test cases, as in the authors' notebook, and a network that is not theirs."""
    panels = {"ResNet110, CIFAR-10": against_histograms(*hits(*parts()["test"]))}
    if IMAGENET.is_file():
        with np.load(IMAGENET) as arrays:
            panels["ResNet34, ImageNet (not in the paper)"] = against_histograms(
                arrays["outcome"].astype(int), arrays["score"].astype(float)
            )
    return panels
