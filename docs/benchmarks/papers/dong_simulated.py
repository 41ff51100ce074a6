"""Figures 4 and 5 and Theorem 4 of Dong et al. on their populations, and what they leave out.

Left out there: bias, root mean squared error, and coverage of an interval. TCE_bpm comes without an
interval, so it gets two: quantiles of a bootstrap of the cases, and, as the best that a standard
error could do, 1.96 times the standard deviation that it has from data set to data set.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import bayescal as bc
from bayescal import estimators, simulate
from ead import PRINTED, histogram_curves

TRUTHS = tuple(PRINTED)
IN_FAMILY = ("D1", "D1-code", "D4", "D5")
SIZES = tuple(range(500, 5001, 500))
INTERVAL_SIZES = (500, 5000)
BOOTSTRAPPED = {500: 40, 5000: 0}
RESAMPLES = 50
EFFICIENCY_SIZES = (30, 100, 300, 1000, 3000, 10_000)
BINS = 15
DELTAS = (0.05, 0.5, 0.9, 0.99)

Numbers = NDArray[np.float64]
METRICS = {
    "ECE": partial(estimators.ece, n_bins=15, binning="mass"),
    "debiased": partial(estimators.debiased_ece, p=1),
    "sweep": estimators.sweep_ece,
    "KS": estimators.ks_error,
    "smECE": estimators.smooth_ece,
    "LS-ECE": estimators.ls_ece,
    "TCE_bpm": estimators.tce_bpm,
}


def sample(name: str, n: int, run: int) -> tuple[NDArray[np.int64], Numbers]:
    """One data set, the same for every table."""
    return simulate.sample(name, n, np.random.default_rng([2025, TRUTHS.index(name), n, run]))


# Figure 5


def metrics(run: int, name: str) -> Numbers:
    """Every metric at every size, of shape (sizes, metrics)."""
    rows = [[metric(*sample(name, n, run)) for metric in METRICS.values()] for n in SIZES]
    return np.array(rows)


def figure_5(name: str, runs: list[Numbers]) -> dict[str, Any]:
    """Mean over runs, its Monte Carlo standard error, and the root mean squared error."""
    values, tce = np.array(runs), simulate.truth(name).tce()
    rmse = np.sqrt(((values - tce) ** 2).mean(axis=0))
    closest = np.abs(values.mean(axis=0) - tce).argmin(axis=1)
    return {
        "tce": tce,
        "mean": dict(zip(METRICS, values.mean(axis=0).T.tolist(), strict=True)),
        "mcse": dict(
            zip(METRICS, (values.std(axis=0, ddof=1) / len(values) ** 0.5).T.tolist(), strict=True)
        ),
        "rmse": dict(zip(METRICS, rmse.T.tolist(), strict=True)),
        "closest": [list(METRICS)[index] for index in closest],
    }


def far_limit(name: str, n: int = 1_000_000) -> float:
    """TCE_bpm of a million cases: what it converges to, up to about .0005."""
    return float(estimators.tce_bpm(*sample(name, n, 0)))


# Bias, root mean squared error, coverage


def interval(run: int, name: str, n: int, resampled: bool) -> list[float]:
    """Of the posterior, then of TCE_bpm: estimate, lower and upper end."""
    warnings.simplefilter("ignore")
    y_true, y_prob = sample(name, n, run)
    post = bc.compare(y_true, y_prob, draws=2000, random_state=run).posterior
    row = [post.estimate("tce"), *post.interval("tce"), estimators.tce_bpm(y_true, y_prob)]
    if not resampled:
        return [*row, np.nan, np.nan]
    chosen = np.random.default_rng([7, run]).integers(0, n, size=(RESAMPLES, n))
    values = [estimators.tce_bpm(y_true[cases], y_prob[cases]) for cases in chosen]
    return [*row, *np.quantile(values, [0.025, 0.975])]


def intervals(name: str, n: int, runs: list[list[float]]) -> dict[str, Any]:
    """A row for the posterior, and for each interval of TCE_bpm."""
    values, tce = np.array(runs), simulate.truth(name).tce()
    margin = 1.96 * values[:, 3].std(ddof=1)
    ends = {
        "posterior": (0, values[:, 1], values[:, 2]),
        "TCE_bpm, bootstrap": (3, values[:, 4], values[:, 5]),
        "TCE_bpm, true sd": (3, values[:, 3] - margin, values[:, 3] + margin),
    }
    rows = {}
    for title, (estimate, lower, upper) in ends.items():
        error, known = values[:, estimate] - tce, np.isfinite(lower)
        rows[title] = {
            "bias": float(error.mean()),
            "mcse": float(error.std(ddof=1) / len(error) ** 0.5),
            "rmse": float(np.sqrt((error**2).mean())),
            "covered": int(((lower <= tce) & (tce <= upper)).sum()),
            "of": int(known.sum()),
            "width": float((upper - lower)[known].mean()) if known.any() else None,
        }
    return {"truth": name, "n": n, "tce": tce, "rows": rows}


# Theorem 4


def curve_errors(run: int, name: str, n: int) -> list[float]:
    """E|fitted g - g| over the scores' law: of the paper's curve, and of 15 bins of equal mass."""
    y_true, y_prob = sample(name, n, run)
    population = simulate.truth(name)
    level = (np.arange(2000) + 0.5) / 2000
    s, _ = population.scores.quantiles(level, 1 - level)
    fitted = estimators.fit_bpm_curve(y_true, y_prob).curve(s)
    binned = histogram_curves(y_true, y_prob, s, [BINS])[0]
    return [float(np.abs(curve - population.curve(s)).mean()) for curve in (fitted, binned)]


def bound(n: Any, delta: float, points: int = 3) -> Any:
    """Epsilon of Theorem 4; with 15 points, what the paper states for histogram binning."""
    return np.sqrt(points * np.log(1 / delta) / (2 * np.asarray(n)))


def theorem_4(name: str, runs: list[list[list[float]]]) -> dict[str, Any]:
    """The error that 95 % of data sets stay below, by size; and how many stay within the bound."""
    errors = np.array(runs)
    quantile = np.quantile(errors, 0.95, axis=1)
    within = [
        [int((row[:, 0] <= bound(n, delta)).sum()) for delta in DELTAS]
        for n, row in zip(EFFICIENCY_SIZES, errors, strict=True)
    ]
    needed = size_for(quantile[:, 0], quantile[-1, 1])
    return {
        "in_family": name in IN_FAMILY,
        "runs": errors.shape[1],
        "curve": quantile[:, 0].tolist(),
        "histogram": quantile[:, 1].tolist(),
        "within": within,
        "needed": needed,
    }


def size_for(quantile: Numbers, target: float) -> float | None:
    """Cases at which the error first falls to the target, on straight lines in logarithms."""
    below = np.flatnonzero(quantile <= target)
    if below.size == 0:
        return None
    last = int(below[0])
    if last == 0:
        return float(EFFICIENCY_SIZES[0])
    pair = slice(last - 1, last + 1)
    log_size = np.interp(-np.log(target), -np.log(quantile[pair]), np.log(EFFICIENCY_SIZES[pair]))
    return float(np.exp(log_size))
