"""Gruber & Buettner as their code computes: measures, the pool of test sets, and Figure 2's stream.

    python docs/benchmarks/papers/gruber_released.py

stores `results/papers/gruber_released.json`. The conventions, from the released code: all measures
are squared, and the figures show roots. Bins of equal mass are slices of the sorted scores, the
last one shorter, with edges halfway between; a debiased estimate below 0 counts as 0. Class-wise
errors are squared and summed over classes, and a test set without a case of the first or the last
class has none. The kernel estimate takes its bandwidth from the confidences of the hits alone,
mirrors cases at the nearer end, cuts the curve off at 1, and is summed over a grid.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import gruber
import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve
from scipy.special import softmax

import cifar
from bayescal import estimators

RESULTS = gruber.RESULTS.with_name("gruber_released.json")
SEED = 34_007
SETS = 400
"""Test sets of 100 cases for the measures; half of them for the kernel estimates of CE."""
SMALL = 100
METHODS = ("none", "TS", "ETS")
GRID = np.linspace(-0.6, 1.6, 2**14)
WORKERS, DRAWS = 8, 4000

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


# Measures, all of them squared


def equal_mass_edges(s: Floats, n_bins: int) -> Floats:
    """Upper edges: halfway between the last score of a slice and the first of the next."""
    ordered, size = np.sort(s), -(-s.size // n_bins)
    first = np.arange(size, s.size, size)
    return np.unique(np.append((ordered[first - 1] + ordered[first]) / 2, 1.0))


def by_bin(y: Floats, s: Floats, edges: Floats) -> tuple[Floats, Floats, Floats]:
    """Cases, mean score and mean outcome of each bin that has cases; upper edges belong to it."""
    which = np.searchsorted(edges, s)
    count = np.bincount(which)
    used = count > 0
    mean_s, mean_y = (np.bincount(which, of)[used] / count[used] for of in (s, y))
    return count[used].astype(float), mean_s, mean_y


def binned(y: Floats, s: Floats, n_bins: int, power: int) -> float:
    """Mean over cases of the error of their bin, to a power; no root."""
    count, mean_s, mean_y = by_bin(y, s, np.arange(1, n_bins + 1) / n_bins)
    return float(count @ np.abs(mean_s - mean_y) ** power / s.size)


def debiased(y: Floats, s: Floats, n_bins: int = 15) -> float:
    """Squared errors of bins less their chance part; bins of one case count 0, and so does less."""
    count, mean_s, mean_y = by_bin(y, s, equal_mass_edges(s, n_bins))
    chance = mean_y * (1 - mean_y) / np.maximum(count - 1, 1)
    each = np.where(count > 1, (mean_s - mean_y) ** 2 - chance, 0)
    return max(float(count @ each) / s.size, 0.0)


def density(s: Floats, bandwidth: float) -> Floats:
    """A triweight density on the grid, 0 outside (0, 1), of cases mirrored at the nearer end."""
    both = np.concatenate([s, np.where(s < 0.5, -s, 2 - s)])
    step = GRID[1] - GRID[0]
    at = (both - GRID[0]) / step
    low = at.astype(int)
    mass = np.bincount(low, 1 - (at - low), GRID.size)
    mass += np.bincount(low + 1, at - low, GRID.size)
    reach = 3 * bandwidth  # the bandwidth is the standard deviation of the kernel
    x = np.arange(-int(reach / step), int(reach / step) + 1) * step / reach
    kernel = 35 / 32 * (1 - x**2) ** 3 / reach
    made = fftconvolve(mass, kernel, "same") / both.size
    return np.where((GRID > 0) & (GRID < 1), 2 * made, 0)


def kernel_estimate(y: Floats, s: Floats) -> float:
    """Squared distance of a curve from the diagonal: the densities of the hits and of all cases."""
    hits = s[y == 1]
    bandwidth = float(hits.std() * (2 * s.size) ** -0.2)
    of_hits, of_all = density(hits, bandwidth), density(s, bandwidth)
    known = np.maximum(of_hits, of_all) > 1e-6
    curve = np.minimum(y.mean() * of_hits / np.where(of_all > 0, of_all, np.inf), 1)
    each = np.where(known, (GRID - curve) ** 2 * of_all, 0)
    before = np.maximum.accumulate(np.where(known, np.arange(GRID.size), 0))
    inside = (GRID >= 0) & (GRID <= 1)
    x = GRID[inside]
    return float(np.trapezoid(each[before][inside], x) / np.trapezoid(of_all[inside], x))


def largest_sum(y: Floats, s: Floats) -> float:
    """The largest squared cumulative difference, read after every case, also within ties."""
    order = np.argsort(s, kind="stable")
    return float(np.abs(np.cumsum((s - y)[order])).max() / s.size) ** 2


def class_wise(label: Integers, proba: Floats, n_bins: int) -> float:
    """Squared errors summed over classes; NaN without a case of the first or the last class."""
    classes = proba.shape[1]
    if label.min() > 0 or label.max() < classes - 1:
        return np.nan
    return sum(binned((label == k) * 1.0, proba[:, k], n_bins, 2) for k in range(classes))


def brier(label: Integers, proba: Floats) -> float:
    """Mean squared distance from the outcome, over all classes."""
    return float(((proba - np.eye(proba.shape[1])[label]) ** 2).sum(axis=1).mean())


def of_top(measure: Any, **options: Any) -> Any:
    """The measure of whether the largest probability was right."""
    return lambda label, proba: measure(
        (proba.argmax(axis=1) == label) * 1.0, proba.max(axis=1), **options
    )


MEASURES = {
    "RBS": brier,
    "KDE TCE_2": of_top(kernel_estimate),
    "KS": of_top(largest_sum),
    "15b d TCE_2": of_top(debiased),
    "ECE": lambda label, proba: of_top(binned, n_bins=15, power=1)(label, proba) ** 2,
    "15b TCE_2": of_top(binned, n_bins=15, power=2),
    "100b TCE_2": of_top(binned, n_bins=100, power=2),
    "15b CWCE_2": lambda label, proba: class_wise(label, proba, 15),
    "100b CWCE_2": lambda label, proba: class_wise(label, proba, 100),
}
"""Squared measures of labels and probabilities of all classes."""
SHOWN_BY_PAPER = tuple(name for name in MEASURES if name in gruber.READ_OFF["ETS"])


# Figures 1, 3 and 7


def of_sets(n: int, sets: int, seed: int = SEED) -> Floats:
    """Squared measures of shape (test sets, measures, methods)."""
    after, truth = gruber.predictions()
    values = np.empty((sets, len(MEASURES), len(METHODS)))
    for index in range(sets):
        rows = gruber.subset(n, index, seed)
        for column, method in enumerate(METHODS):
            proba, label = after[method][rows], truth[rows]
            values[index, :, column] = [each(label, proba) for each in MEASURES.values()]
    return values


def falls(values: Floats) -> dict[str, Any]:
    """Mean falls by each map, of roots as in Figure 1, and of squares as in Figure 7."""
    record: dict[str, Any] = {}
    for column, method in enumerate(METHODS[1:], 1):
        record[method] = {}
        for row, name in enumerate(MEASURES):
            before, after = values[:, row, 0], values[:, row, column]
            record[method][name] = {
                "root": gruber.mean_and_error(np.sqrt(before) - np.sqrt(after)),
                "square": gruber.mean_and_error(before - after),
            }
    return record


def by_size(seed: int = SEED) -> dict[str, Any]:
    """Falls at three of the paper's sizes; with all cases there is one test set."""
    sizes = {SMALL: SETS, 1292: 100, 10_000: 1}
    return {str(n): falls(of_sets(n, sets, seed)) for n, sets in sizes.items()}


def kernel_orders(sets: int, seed: int = SEED, n: int = SMALL) -> dict[str, Any]:
    """The kernel estimate of CE of all classes, of order 1 as in the paper, and of order 2."""
    after, truth = gruber.predictions()
    record: dict[str, Any] = {}
    for p in (1, 2):
        made = np.empty((sets, len(METHODS)))
        for index in range(sets):
            rows = gruber.subset(n, index, seed)
            for column, method in enumerate(METHODS):
                made[index, column] = estimators.kde_ece(truth[rows], after[method][rows], p=p)
        values = {"none": gruber.mean_and_error(made[:, 0])}
        for column, method in enumerate(METHODS[1:], 1):
            values[method] = gruber.mean_and_error(made[:, 0] - made[:, column])
        record[f"CE_{p}"] = values
    return record


def workers(n_workers: int = WORKERS, draws: int = DRAWS, seed: int = 1) -> dict[str, int]:
    """How many test sets differ when each worker of a pool starts with the same generator.

    A pool that is forked after the one seed was set gives every worker a copy of the generator.
    Work is handed out in as many pieces as four a worker, here in turn.
    """
    states = [np.random.RandomState(seed) for _ in range(n_workers)]
    piece = -(-draws // (4 * n_workers))
    seen = set()
    for index in range(draws):
        state = states[(index // piece) % n_workers]
        seen.add(state.choice(10_000, size=SMALL, replace=False).tobytes())
    return {"workers": n_workers, "draws": draws, "distinct": len(seen)}


# Figure 2


@cache
def simulated() -> tuple[Floats, Integers]:
    """Logits and labels of the released notebook, by its seed and the random stream of SciPy 1.9.

    Later SciPy draws the inverse Wishart matrices otherwise, so that they are drawn here by hand:
    for each matrix the normal numbers below the diagonal, then, for each row of all matrices, the
    chi-squared ones of the diagonal. The rest is NumPy's old generator, whose stream is fixed; its
    multivariate normal numbers go through a singular value decomposition.
    """
    rng = np.random.RandomState(1)
    logits = gruber.released_logits(rng)
    proba = softmax(logits, axis=1)
    below = proba.cumsum(axis=1) / proba.sum(axis=1, keepdims=True)
    drawn = np.array([rng.random_sample() for _ in range(len(logits))])
    return logits, np.array(
        [row.searchsorted(u, side="right") for row, u in zip(below, drawn, strict=True)]
    )


def figure_2(small_sets: int = 1000) -> dict[str, dict[str, float]]:
    """ECE of the three models: of the 10 000 cases of the second half, and of sets of 100 of them.

    The released sets of 100 come after those of the other sizes, by the generator seeded again.
    """
    logits, label = (of[10_000:] for of in simulated())
    rng = np.random.RandomState(1)
    repetitions = np.rint(np.linspace(1, np.sqrt(1000), 10) ** 2).astype(int)
    sizes = np.rint(np.logspace(np.log2(SMALL), np.log2(10_000), 10, base=2))[::-1].astype(int)
    sets = []
    for n, count in zip(sizes, repetitions, strict=True):
        for _ in range(count):
            rows = rng.choice(10_000, size=n, replace=False)
            if n == SMALL:
                sets.append(rows)
    record = {}
    for name, sharpening in gruber.SHARP.items():
        proba = softmax(sharpening * logits, axis=1)
        y, s = (proba.argmax(axis=1) == label) * 1.0, proba.max(axis=1)
        few = [binned(y[rows], s[rows], 15, 1) for rows in sets[:small_sets]]
        record[name] = {"10000": binned(y, s, 15, 1), "100": float(np.mean(few))}
    return record


# Tables of the page


def shown_figure_1(record: dict[str, Any]) -> str:
    """Falls by ETS as read off and as released, in Markdown."""
    lines = [
        "| estimate | 100 cases: read off | as released | 10 000 cases: read off | as released |",
        "|---|---|---|---|---|",
    ]
    for name in SHOWN_BY_PAPER:
        few, all_cases = (record["falls"][n]["ETS"][name]["root"] for n in ("100", "10000"))
        read = gruber.READ_OFF["ETS"][name]
        lines.append(
            f"| {name} | {read[0]:g} | {few['mean']:.4f} ± {few['se']:.4f} | {read[1]:g} "
            f"| {all_cases['mean']:.4f} |"
        )
    return "\n".join(lines)


def shown_figure_2(record: dict[str, Any]) -> str:
    """ECE of the released stream beside what was read off, in Markdown."""
    lines = [
        "| model | 100 cases: read off | as released | 10 000 cases: read off | as released |",
        "|---|---|---|---|---|",
    ]
    for name, made in record["figure_2"].items():
        few, all_cases = gruber.READ_OFF_FIGURE_2[name]
        lines.append(
            f"| {name} | {few:g} | {made['100']:.4f} | {all_cases:g} | {made['10000']:.4f} |"
        )
    return "\n".join(lines)


def shown_figure_7(record: dict[str, Any]) -> str:
    """Falls of the squares by ETS at three sizes, in Markdown."""
    sizes = list(record["falls"])
    titles = " | ".join(f"{int(n):,} cases".replace(",", " ") for n in sizes)
    lines = [f"| squared estimate | {titles} |", f"|---|{'---|' * len(sizes)}"]
    for name in MEASURES:
        falls_of = [record["falls"][n]["ETS"][name]["square"] for n in sizes]
        cells = (
            f"{of['mean']:.4f}" + (f" ± {of['se']:.4f}" if of["se"] else "") for of in falls_of
        )
        lines.append(f"| {'Brier' if name == 'RBS' else name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def shown_kernel(record: dict[str, Any]) -> str:
    """The kernel estimate of either order, and what maps do to it, in Markdown."""
    lines = [
        "| order | test sets | as predicted | fall by TS | fall by ETS |",
        "|---|---|---|---|---|",
    ]
    for name, made in record["kernel_ce"].items():
        cells = (f"{made[of]['mean']:.4f} ± {made[of]['se']:.4f}" for of in METHODS)
        lines.append(f"| {name} | {made['none']['sets']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    if not cifar.FILE.is_file():
        raise SystemExit(f"no data at {cifar.FILE}: set BAYESCAL_DATA to the folder that has data/")
    record = {
        "seed": SEED,
        "small_sets": SETS,
        "figure_2": figure_2(),
        "falls": by_size(),
        "kernel_ce": kernel_orders(SETS // 2),
        "pool": workers(),
    }
    RESULTS.write_text(json.dumps(gruber.rounded(record), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
