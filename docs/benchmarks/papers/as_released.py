"""Measures as the released code of Dong et al. computes them, and the first relplot.

Confidences are numbers of 32 bits, of which three in ten are exactly 1. Bins of equal mass and the
sweep split ties, in the order in which a sort leaves them, and so does KS; the cases that are left
over by 15 equal bins are left out. SmoothECE is the first version of relplot, on a grid on which
the reflected kernel leaves half of the mass at 0 and 1 out. Histogram binning of Table 4 has the
value 0 below the lowest score and no last bin, for 10 to 49 bins.

`python docs/benchmarks/papers/as_released.py` stores `results/papers/as_released.json`: the rows of
Tables 1 and 4 that these conventions decide, and SmoothECE of the figures of Błasiok & Nakkiran.
ECE and the sweep depend on the order of ties, so that they are given as ranges over random orders.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import blasiok
import numpy as np
from dong_network import CIFAR
from numpy.typing import NDArray
from scipy.stats import norm

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
FIRST_GRID, PER_BANDWIDTH, HALVINGS, LEAST_BANDWIDTH = 200, 20, 10, 0.001
ORDERS = 200
"""Random orders of ties."""
HISTOGRAMS = range(10, 50)
RUNS, CASES, SEED = 20, 10_000, 34_004


def equal_mass_ece(y: NDArray[Any], s: Numbers, n_bins: int = 15) -> float:
    """Binned error in bins of equal mass that split ties; cases beyond them are left out."""
    order, size = np.argsort(s, kind="stable"), y.size // n_bins
    members = order[: n_bins * size].reshape(n_bins, size)
    return float(np.abs((y[members] - s[members]).mean(axis=1)).mean())


def ks_of_ties(y: NDArray[Any], s: Numbers) -> float:
    """Largest cumulative difference, read after every case, also within ties."""
    order = np.argsort(s, kind="stable")
    return float(np.abs(np.cumsum((y - s)[order])).max() / y.size)


def sweep_of_order(y: NDArray[Any], s: Numbers, order: NDArray[np.intp]) -> float:
    """The sweep of cases in this order: as many bins of equal mass as keep their outcomes in order.

    One bin more is tried until the mean outcomes of the bins are out of order once.
    """
    n = y.size
    events, error = (np.append(0, np.cumsum(of[order])) for of in (y, s - y))
    kept = np.array([0, n])
    for n_bins in range(2, n):
        which = np.minimum(np.floor(np.arange(n) / n * n_bins), n_bins - 1)
        edges = np.searchsorted(which, np.arange(n_bins + 1))
        if np.any(np.diff(np.diff(events[edges]) / np.diff(edges)) < 0):
            break
        kept = edges
    return float(np.abs(np.diff(error[kept])).sum() / n)


def orders_of_ties(s: Numbers, orders: int) -> Iterator[NDArray[np.intp]]:
    """Random orders of cases with equal scores; the scores ascend."""
    for index in range(orders):
        mixed = batches.stream(SEED, "ties", index).permutation(s.size)
        yield mixed[np.argsort(s[mixed], kind="stable")]


def sweeps_of_ties(y: NDArray[Any], s: Numbers, orders: int) -> tuple[float, float]:
    """The least and the largest sweep over random orders of cases with equal scores."""
    made = [sweep_of_order(y, s, order) for order in orders_of_ties(s, orders)]
    return min(made), max(made)


def equal_mass_eces(y: NDArray[Any], s: Numbers, orders: int) -> tuple[float, float]:
    """The least and the largest binned error over the same orders."""
    made = [equal_mass_ece(y[order], s[order]) for order in orders_of_ties(s, orders)]
    return min(made), max(made)


def on_grid(s: Numbers, values: Numbers, points: int) -> Numbers:
    """Values shared between the two nearest points of a grid on [0, 1]."""
    at = s * (points - 1)
    low = np.clip(at.astype(int), 0, points - 2)
    share = at - low
    return np.bincount(low, (1 - share) * values, points) + np.bincount(
        low + 1, share * values, points
    )


def smooth_ece_of_2023(y: NDArray[Any], s: Numbers) -> float:
    """SmoothECE of the first relplot, by ten halvings of the bandwidth.

    The grid grows until 20 points cover a bandwidth. It is mirrored at its ends, whose own points
    stand there once where each image of another point has its own.
    """
    points, errors = FIRST_GRID, on_grid(s, s - y, FIRST_GRID)

    def smoothed(sigma: float) -> float:
        nonlocal points, errors
        while round(PER_BANDWIDTH / sigma) > points:
            points *= 4
            errors = on_grid(s, s - y, points)
        kernel = norm.pdf(np.linspace(0, 1, points), 0.5, sigma)
        mirrored = np.concatenate([errors[:0:-1], errors, errors[-2::-1]])
        made = np.convolve(mirrored, kernel, "valid")[points // 2 : points // 2 + points]
        return float(np.abs(made).sum() / points / s.size)

    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if middle < LEAST_BANDWIDTH or middle < smoothed(middle):
            low = middle
        else:
            high = middle
    return smoothed(high)


def errors(y: NDArray[Any], s: Numbers) -> dict[str, Any]:
    """The columns of Table 1 that differ by convention."""
    return {
        "ECE": equal_mass_ece(y, s),
        "ECE_of_ties": equal_mass_eces(y, s, ORDERS),
        "sweep": sweeps_of_ties(y, s, ORDERS),
        "KS": ks_of_ties(y, s),
        "smECE": smooth_ece_of_2023(y, s),
    }


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


def table_1() -> dict[str, dict[str, Any]]:
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


def smooth_ece_of_figures() -> dict[str, float]:
    """SmoothECE of Blasiok & Nakkiran's figures by the relplot of their time."""
    return {figure: smooth_ece_of_2023(*blasiok.cases(figure)) for figure in blasiok.PRINTED}


def shown_figures(values: dict[str, float]) -> str:
    """SmoothECE as printed, as released and as ours, in Markdown."""
    ours = json.loads(blasiok.RESULTS.read_text("utf-8"))["figures"]
    lines = ["| figure | printed | as released | ours |", "|---|---|---|---|"]
    for figure, value in values.items():
        known = blasiok.PRINTED[figure].smooth_ece, value, ours[figure]["smooth_ece"]
        name = f"{figure}, {blasiok.SUBJECTS[figure]}"
        lines.append(f"| {name} | {known[0]:.3f} | {known[1]:.4f} | {known[2]:.4f} |")
    return "\n".join(lines)


def shown_table_1(rows: dict[str, dict[str, Any]]) -> str:
    """Each row as printed and as released, in Markdown."""
    lines = [f"| map | | {' | '.join(COLUMNS)} |", f"|---|---|{'---|' * len(COLUMNS)}"]
    for name, values in rows.items():
        printed = PRINTED.get(name)
        if printed:
            lines.append(f"| {name} | printed | {' | '.join(f'{v:.5f}'[1:] for v in printed)} |")
        ece, sweep = shown_range(*values["ECE_of_ties"]), shown_range(*values["sweep"])
        ks, smooth = (f"{values[key]:.5f}"[1:] for key in ("KS", "smECE"))
        lines.append(f"| {name} | as released | {ece} | {sweep} | {ks} | {smooth} |")
    return "\n".join(lines)


def shown_range(low: float, high: float) -> str:
    """Two ends, or what they are if they are the same."""
    ends = [f"{end:.5f}"[1:] for end in (low, high)]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def shown_table_4(rows: dict[str, dict[str, float]]) -> str:
    """Printed distances beside those of the released histograms, in Markdown."""
    lines = ["| population | printed | as released | difference |", "|---|---|---|---|"]
    for name, printed in TABLE_4.items():
        mean, sd = rows[name]["mean"], rows[name]["sd"]
        shown = f"{mean:.4f}"[1:], f"{sd:.4f}"[1:], f"{mean - printed:+.4f}".replace("0.", ".")
        lines.append(f"| {name} | {printed:.4f} | {shown[0]} ± {shown[1]} | {shown[2]} |")
    return "\n".join(lines)


def main() -> None:
    record = {
        "runs": RUNS,
        "orders": ORDERS,
        "table_1": table_1(),
        "table_4": table_4(),
        "blasiok": smooth_ece_of_figures(),
    }
    RESULTS.write_text(json.dumps(record, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
