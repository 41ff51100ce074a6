"""Figures and theorems of Błasiok & Nakkiran, "Smooth ECE" (ICLR 2024), computed again.

    python docs/benchmarks/papers/blasiok.py

The data are looked for in BAYESCAL_DATA, or `shared` beside the clone. The text of the paper prints
no SmoothECE of a data set; its figures do, and they are made by the authors' notebooks, which also
say what is in Figures 1 and 6. `PRINTED` has the numbers in those figures: SmoothECE, half the
length of its interval, the binned error and its number of bins.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from blasiok_laws import misprints, rate, sandwich, sandwich_in_logits, weak_calibration
from numpy.typing import NDArray
from scipy.optimize import brentq
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import KFold, train_test_split

from bayescal import estimators
from bayescal._base.versions import library_versions

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "papers" / "blasiok.json"
DATA = Path(os.environ.get("BAYESCAL_DATA") or HERE.parents[3] / "shared") / "data"

Numbers = NDArray[np.float64]


class Printed(NamedTuple):
    """What a figure of the authors prints."""

    smooth_ece: float
    half_width: float
    ece: float
    n_bins: int


PRINTED = {
    "1": Printed(0.134, 0.016, 0.161, 15),
    "3": Printed(0.078, 0.004, 0.078, 15),
    "4": Printed(0.067, 0.021, 0.075, 15),
    "5": Printed(0.132, 0.041, 0.134, 10),
    "6": Printed(0.045, 0.013, 0.085, 19),
}
SUBJECTS = {
    "1": "logistic regression",
    "3": "ResNet34 on ImageNet",
    "4": "solar flares",
    "5": "rain in Finland",
    "6": "synthetic",
}
FILES = {
    "3": "imagenet_timm_resnet34.npz",
    "4": "solar_C1_DAFFS.csv",
    "5": "rain_finland_p24.csv",
}
SOURCES = {
    "3": "github.com/hollance/reliability-diagrams, ImageNet_pytorch-image-models/resnet34.csv",
    "4": "github.com/TimoDimi/replication_DGJ20, data/SF.FC.C1.csv, columns DAFFS and rlz.C1",
    "5": "www.cawcr.gov.au/projects/verification/POP3/POP3.html, or the R package verification",
}
CANDIDATES = range(10, 25)
"""Numbers of bins among which the authors' notebook chooses; the paper does not say."""


def truth_of_figure_6(score: Numbers) -> Numbers:
    """The green line of Figure 6: the probability of the event at each score."""
    return score + 0.1 * np.sin(4 * np.pi * (2 * score - 1))


def cases(figure: str) -> tuple[Numbers, Numbers] | None:
    """Outcomes and scores behind a figure, or None where its data are not at hand."""
    if figure == "1":
        x, y = make_classification(n_samples=700, random_state=0)
        x_fit, x_test, y_fit, y_test = train_test_split(x, y, test_size=400, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of names of its attributes
            model = LogisticRegressionCV(scoring="accuracy").fit(x_fit, y_fit)
        return y_test.astype(float), model.predict_proba(x_test)[:, 1]
    if figure == "6":
        draws = np.random.RandomState(0).uniform(size=2000)
        score = draws[::2]
        return (draws[1::2] > 1 - truth_of_figure_6(score)).astype(float), score
    path = DATA / FILES[figure]
    if not path.is_file():
        return None
    if path.suffix == ".npz":
        with np.load(path) as columns:
            return columns["outcome"].astype(float), columns["score"].astype(float)
    score, outcome = np.loadtxt(path, delimiter=",", skiprows=1, unpack=True)
    return outcome, score


def chosen_bins(y: Numbers, s: Numbers, *, residuals: bool = True) -> int:
    """Number of bins of equal width with the least squared error on fifths of the cases left out.

    The authors' notebook predicts residuals, and outcomes are what the diagram shows.
    """
    target = y - s if residuals else y
    errors = []
    for bins in CANDIDATES:
        index = np.minimum((s * bins).astype(int), bins - 1)
        error = 0.0
        for fit, test in KFold(5).split(s):
            sums = np.bincount(index[fit], target[fit], minlength=bins)
            mean = sums / np.maximum(np.bincount(index[fit], minlength=bins), 1)
            error += float(np.mean((target[test] - mean[index[test]]) ** 2))
        errors.append(error)
    return CANDIDATES[int(np.argmin(errors))]


def half_width(interval: estimators.Interval) -> float:
    """Larger distance of an end of an interval from the estimate: the ± of the figures."""
    return max(interval.estimate - interval.lower, interval.upper - interval.estimate)


def figure_numbers(figure: str, n_resamples: int, sets: int, seed: int) -> dict[str, Any] | None:
    """Every number that a figure prints, and the error that it shows.

    The intervals in the figures rest on 100 resamples, and so on a seed: `sets` of 100 say how far.
    """
    data = cases(figure)
    if data is None:
        return None
    y, s = data
    shown = estimators.smooth_reliability(
        y, s, grid=[0.5], n_resamples=n_resamples, random_state=seed
    )
    interval = shown.smooth_ece
    widths = [
        half_width(
            estimators.estimator_interval(
                y, s, "smooth_ece", method="basic", n_resamples=100, random_state=seed + i
            )
        )
        for i in range(1, sets + 1)
    ]
    bins = PRINTED[figure].n_bins if figure == "1" else chosen_bins(y, s)
    return {
        "subject": SUBJECTS[figure],
        "n": int(y.size),
        "events": int(y.sum()),
        "smooth_ece": interval.estimate,
        "lower": interval.lower,
        "upper": interval.upper,
        "half_width": half_width(interval),
        "half_width_of_100": [min(widths), max(widths)] if widths else None,
        "n_bins": bins,
        "ece": float(estimators.ece(y, s, n_bins=bins)),
        "bins_by_outcomes": chosen_bins(y, s, residuals=False),
        "bins_of_ours": estimators.binned_reliability(y, s, random_state=seed).n_bins,
        "shown_error": shown.shown_error,
    }


def half_mass_at_ends(y: Numbers, s: Numbers) -> dict[str, float]:
    """SmoothECE if scores of exactly 0 and 1 have half their mass, as on a grid that ends there.

    "half" leaves the lost mass out, and "shared" shares it among all cases.
    """
    weight = np.where((s == 0) | (s == 1), 0.5, 1.0)

    def gap(sigma: float, scale: float) -> float:
        area = estimators.smooth_ece(y, s, bandwidth=sigma, sample_weight=weight)
        return float(area) * scale - sigma

    return {
        "half": brentq(gap, 0.01, 0.9, args=(weight.mean(),)),
        "shared": brentq(gap, 0.01, 0.9, args=(1.0,)),
    }


def bars(y: Numbers, s: Numbers, n_bins: int = 10) -> list[float | None]:
    """Mean outcome in bins of equal width, closed on the left; None in an empty bin."""
    index = np.minimum((s * n_bins).astype(int), n_bins - 1)
    size = np.bincount(index, minlength=n_bins)
    sums = np.bincount(index, y, minlength=n_bins)
    return [float(e / n) if n else None for e, n in zip(sums, size, strict=True)]


def truth_in_band(n_resamples: int, seed: int) -> float:
    """Share of the scores at which the band of Figure 6 contains the true curve."""
    data = cases("6")
    assert data is not None
    y, s = data
    grid = np.linspace(0, 1, 1001)
    shown = estimators.smooth_reliability(
        y, s, grid=grid, n_resamples=n_resamples, random_state=seed
    )
    truth = truth_of_figure_6(grid)
    return float(np.mean((shown.lower <= truth) & (truth <= shown.upper)))


def reproduce(n_resamples: int, sets: int, n_laws: int, runs: int, seed: int) -> dict[str, Any]:
    """Everything, in the form that is stored."""
    started = time.process_time()
    result: dict[str, Any] = {
        "settings": {
            "n_resamples": n_resamples,
            "sets_of_100": sets,
            "n_laws": n_laws,
            "runs": runs,
            "seed": seed,
        },
        "versions": library_versions("bayescal", "numpy", "scipy", "scikit-learn"),
        "figures": {name: figure_numbers(name, n_resamples, sets, seed) for name in PRINTED},
    }
    rain = cases("5")
    if rain is not None:
        y, s = rain  # each 1 less a forecast of no rain, so that .2 is .19999999999999996
        result["rain"] = half_mass_at_ends(y, s) | {
            "bars": bars(y, np.round(s, 1)),
            "bars_released": bars(y, s),
        }
    result["truth_in_band"] = truth_in_band(n_resamples, seed)
    result["theorem_7"], _ = sandwich(n_laws, seed)
    result["theorem_19"] = sandwich_in_logits(n_laws // 3, seed)
    result["theorem_22"] = weak_calibration()
    result["theorem_11"] = rate(truth_of_figure_6, runs, seed)
    result["misprints"] = misprints()
    result["cpu_seconds"] = round(time.process_time() - started, 1)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--resamples", type=int, default=2000, help="of the cases of a figure")
    parser.add_argument("--sets", type=int, default=200, help="of 100 resamples")
    parser.add_argument("--laws", type=int, default=3000, help="random laws for the theorems")
    parser.add_argument("--runs", type=int, default=200, help="samples of each size, Theorem 11")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    missing = [DATA / name for name in FILES.values() if not (DATA / name).is_file()]
    if missing:
        raise SystemExit(f"No data at {missing[0]}: set BAYESCAL_DATA to the folder that has them.")
    result = reproduce(options.resamples, options.sets, options.laws, options.runs, options.seed)
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
