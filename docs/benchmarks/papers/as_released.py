"""Measures as the released code of Dong et al. computes them, where that is not as ours do.

Confidences are numbers of 32 bits, of which three in ten are exactly 1. Bins of equal mass split
ties, and so do the sweep and KS. SmoothECE is the first version of relplot: on a grid, on which the
reflected kernel leaves half of the mass at 0 and 1 out. Histogram binning of Table 4 has the value
0 below the lowest score and no last bin, for 10 to 49 bins.

`python docs/benchmarks/papers/as_released.py` stores `results/papers/as_released.json`: the rows of
Tables 1 and 4 that these conventions decide. What depends on the order in which a sort leaves ties,
as the sweep does, cannot be met to the digit.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from dong_network import CIFAR
from numpy.typing import NDArray
from scipy.optimize import brentq

from bayescal import estimators
from bayescal import recalibrate as rc
from bayescal.validation import batches
from bayescal.validation.simulate import ead, truth

RESULTS = Path(__file__).parents[1] / "results" / "papers" / "as_released.json"
Numbers = NDArray[np.float64]
COLUMNS = ("ECE", "sweep", "KS", "smECE")
PRINTED = {
    "none": (0.04755, 0.04750, 0.04750, 0.04271),
    "isotonic": (0.00753, 0.00586, 0.00601, 0.00920),
    "TPM": (0.00458, 0.00146, 0.00162, 0.00756),
}
MAPS = {
    "isotonic": (rc.IsotonicRecalibrator(), "val"),
    "TPM": (rc.TPMRecalibrator(objective="released"), "test"),
    "TPM, fitted to other cases": (rc.TPMRecalibrator(objective="released"), "val"),
}
"""Rows of Table 1: the map, and the cases that it is fitted to."""
TABLE_4 = {"D1-code": 0.0233, "D2": 0.1710, "D3": 0.0299, "D4": 0.0168, "D5": 0.0181}
GRID = 1000
HISTOGRAMS = range(10, 50)
RUNS, CASES, SEED = 20, 10_000, 34_004


def equal_mass_ece(y: NDArray[Any], s: Numbers, n_bins: int = 15) -> float:
    """Binned error in bins of equal mass that split ties: cases in the order of a sort."""
    order = np.argsort(s, kind="stable")
    members = np.array_split(order, n_bins)
    return float(sum(abs((y[rows] - s[rows]).sum()) for rows in members) / y.size)


def ks_of_ties(y: NDArray[Any], s: Numbers) -> float:
    """Largest cumulative difference, read after every case, also within ties."""
    order = np.argsort(s, kind="stable")
    return float(np.abs(np.cumsum((y - s)[order])).max() / y.size)


def smooth_ece_of_2023(y: NDArray[Any], s: Numbers) -> float:
    """SmoothECE without half of the mass that a grid of 1000 steps has at 0 and at 1."""
    at_ends = np.maximum(1 - GRID * (1 - s), 0) + np.maximum(1 - GRID * s, 0)
    weight = 1 - at_ends / 2

    def gap(sigma: float) -> float:
        smoothed = estimators.smooth_ece(y, s, bandwidth=sigma, sample_weight=weight)
        return float(smoothed) * weight.mean() - sigma

    return float(brentq(gap, 1e-4, 0.9))


def errors(y: NDArray[Any], s: Numbers) -> list[float]:
    """The columns of Table 1 that differ by convention."""
    sweep = float(estimators.sweep_ece(y, s, ties="split"))
    return [equal_mass_ece(y, s), sweep, ks_of_ties(y, s), smooth_ece_of_2023(y, s)]


def cases() -> dict[str, tuple[NDArray[np.int64], Numbers]]:
    """Whether the predicted class is right, and its probability in 32 bits."""
    read = {}
    with np.load(CIFAR) as arrays:
        for part in ("val", "test"):
            logits, label = arrays[f"{part}_logits"].astype(np.float32), arrays[f"{part}_y"]
            odds = np.exp(logits - logits.max(axis=1, keepdims=True))
            proba = odds / odds.sum(axis=1, keepdims=True)
            hit = (proba.argmax(axis=1) == label).astype(np.int64)
            read[part] = hit, proba.max(axis=1).astype(np.float64)
    return read


def table_1() -> dict[str, list[float]]:
    """The rows, as the released code judges them."""
    read = cases()
    hit, score = read["test"]
    rows = {"none": errors(hit, score)}
    for name, (recalibrator, part) in MAPS.items():
        seen, known = read[part]
        rows[name] = errors(hit, recalibrator.fit(known, seen).transform(score))
    return rows


def histogram(y: NDArray[Any], s: Numbers, n_bins: int, at: Numbers) -> Numbers:
    """A curve of histogram binning: 0 below the lowest score, and no last bin.

    A score lies in the bin whose lowest score it reaches; the bin before the last reaches up to 1.
    """
    order = np.argsort(s, kind="stable")
    members = np.array_split(order, n_bins)[:-1]
    lowest = np.array([s[rows[0]] for rows in members])
    values = np.array([y[rows].mean() for rows in members])
    bin_of = np.searchsorted(lowest, at, side="right") - 1
    return np.where(bin_of < 0, 0.0, values[np.maximum(bin_of, 0)])


def histogram_error(name: str, run: int) -> float:
    """Distance from the true curve of the mean histogram, of one data set of Table 4."""
    population = truth(name)
    y, s = population.sample(CASES, batches.stream(SEED, name, run))

    def mean(at: Numbers) -> Numbers:
        return np.mean([histogram(y, s, n_bins, at) for n_bins in HISTOGRAMS], axis=0)

    return float(ead(mean, population))


def table_4() -> dict[str, dict[str, float]]:
    """Mean distances of the released histograms over data sets, and their standard deviations."""
    rows = {}
    for name in TABLE_4:
        values = np.array([histogram_error(name, run) for run in range(RUNS)])
        rows[name] = {"mean": float(values.mean()), "sd": float(values.std(ddof=1))}
    return rows


def shown_table_1(rows: dict[str, list[float]]) -> str:
    """Each row as printed and as released, in Markdown."""
    lines = [f"| map | | {' | '.join(COLUMNS)} |", f"|---|---|{'---|' * len(COLUMNS)}"]
    for name, values in rows.items():
        printed = PRINTED.get(name)
        if printed:
            lines.append(f"| {name} | printed | {' | '.join(f'{v:.5f}'[1:] for v in printed)} |")
        lines.append(f"| {name} | as released | {' | '.join(f'{v:.5f}'[1:] for v in values)} |")
    return "\n".join(lines)


def shown_table_4(rows: dict[str, dict[str, float]]) -> str:
    """Printed distances beside those of the released histograms, in Markdown."""
    lines = ["| population | printed | as released | difference |", "|---|---|---|---|"]
    for name, printed in TABLE_4.items():
        mean, sd = rows[name]["mean"], rows[name]["sd"]
        shown = f"{mean:.4f}"[1:], f"{sd:.4f}"[1:], f"{mean - printed:+.4f}".replace("0.", ".")
        lines.append(f"| {name} | {printed:.4f} | {shown[0]} ± {shown[1]} | {shown[2]} |")
    return "\n".join(lines)


def main() -> None:
    record = {"runs": RUNS, "table_1": table_1(), "table_4": table_4()}
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
