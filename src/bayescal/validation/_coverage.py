"""How often do intervals of the true calibration error contain it?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from os import PathLike
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from scipy.stats import beta

from bayescal._validate import Floats, as_level, check_choice
from bayescal.data import CalibrationData
from bayescal.errors import InputError
from bayescal.simulate import Truth, truth
from bayescal.validation._batches import (
    Arrays,
    Batch,
    as_count,
    as_seed,
    run_batches,
    spans,
    stream,
)
from bayescal.validation._intervals import METHODS, Interval

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["Method", "coverage", "coverage_table", "interval_score"]

Item = TypeVar("Item", str, int)
Intervals = Interval | Mapping[str, Interval]
Method = Callable[[CalibrationData, np.random.Generator], Intervals]

BATCH = 25
CONFIDENCE = 0.99


def coverage(
    truths: Sequence[str | Truth],
    sizes: Sequence[int],
    methods: Sequence[str] | Mapping[str, str | Method] = ("beta", "ece_basic"),
    *,
    runs: int = 400,
    ci_prob: float = 0.95,
    target: str = "tce",
    random_state: int | np.random.Generator | None = None,
    n_jobs: int = 2,
    progress: bool | None = None,
    path: str | PathLike[str] | None = None,
) -> xr.Dataset:
    """Intervals for the true calibration error of known populations, many times over.

    Every method sees the same simulated data sets. `coverage_table` counts what the intervals
    contained.

    Parameters
    ----------
    truths : sequence of str or Truth
        Populations: names in `bayescal.simulate`, or your own.
    sizes : sequence of int
        Cases in each simulated data set.
    methods : sequence of str, or mapping
        Built-in methods by name: a family of curves ("logistic", "beta", ...) for the equal-tailed
        interval of its posterior, "average" for the hull of the averaged one, "ladder" for the
        average and each of its families from one fit of each; "ece", "debiased" and "smooth" for
        the percentile and the basic bootstrap of an estimator ("ece_percentile" and "ece_basic"
        for one of them); "bins_beta11"; and "logistic_ici" and "rcs_ici", simulated.
        A mapping gives names to your own functions `(data, rng) -> (lower, upper)`; its values
        may be names of built-in methods too. A function may also give several intervals at once,
        as a mapping: their names become the methods'.
    runs : int
        Data sets of each truth and size.
    ci_prob : float in (0, 1)
        Probability of the intervals. Your own functions are taken to aim at it too.
    target : {"tce"}
        What the intervals are for: the population's true calibration error.
    random_state : int or numpy.random.Generator, optional
    n_jobs : int
        Processes to work in. Results do not depend on it.
    progress : bool, optional
        Whether to show a progress bar on stderr; by default when that is a terminal.
    path : str or path-like, optional
        Folder for finished batches. A later call finds those it needs, so that a run can be
        interrupted, lengthened, or given more truths, sizes and methods. A function of your own
        is known there by its name: give it another when it changes.

    Returns
    -------
    xarray.Dataset
        `lower` and `upper` with dims (truth, size, run, method), and the coordinate `tce_true`
        with dim truth.

    Raises
    ------
    InputError
        If a name is unknown or repeated, or a number out of range.

    See Also
    --------
    coverage_table : What came out.

    Examples
    --------
    >>> from bayescal.validation import coverage, coverage_table
    >>> found = coverage(["calibrated"], [50], ["ece_basic"], runs=10, random_state=0, n_jobs=1)
    >>> coverage_table(found)["runs"].to_list()
    [10]
    """
    import xarray as xr

    check_choice(target, ("tce",), "target")
    level, seed = as_level(ci_prob), as_seed(random_state)
    populations = [truth(item) if isinstance(item, str) else item for item in truths]
    names = _distinct([population.name for population in populations], "truths")
    counts = _distinct([as_count(size, "sizes") for size in sizes], "sizes")
    chosen = _as_methods(methods, level)
    parts = spans(as_count(runs, "runs"), BATCH)
    exact = [population.tce() for population in populations]
    batches = [
        Batch(
            partial(_batch_of_intervals, population, size, name, method, seed, part),
            len(part),
            {
                "what": "coverage",
                "truth": [population.name, population.description, value],
                "size": size,
                "method": name,
                "ci_prob": level,
                "seed": seed,
                "span": [part.start, part.stop],
            },
        )
        for population, value in zip(populations, exact, strict=True)
        for size in counts
        for name, method in chosen.items()
        for part in parts
    ]
    results = run_batches(batches, "Coverage", n_jobs=n_jobs, progress=progress, path=path)
    first = results[: len(chosen) * len(parts) : len(parts)]
    made = _distinct([str(name) for result in first for name in result["method"]], "methods")
    shape = (len(names), len(counts), len(made), runs)
    ends = {end: _in_order(results, end, len(parts)).reshape(shape) for end in ("lower", "upper")}
    found = xr.Dataset(
        {end: (("truth", "size", "method", "run"), values) for end, values in ends.items()},
        {
            "truth": names,
            "size": counts,
            "method": made,
            "run": np.arange(runs),
            "tce_true": ("truth", exact),
        },
        {
            name: json.dumps(value)
            for name, value in {"ci_prob": level, "target": target, "seed": seed}.items()
        },
    )
    return found.transpose("truth", "size", "run", "method")


def coverage_table(dataset: xr.Dataset) -> pd.DataFrame:
    """How often intervals contained the truth, how wide they were, and their interval score.

    Parameters
    ----------
    dataset : xarray.Dataset
        From `coverage`.

    Returns
    -------
    pandas.DataFrame
        Index: truth, size, method. Columns: `tce_true`, `runs`, `coverage` with its 99 %
        Clopper-Pearson interval `coverage_lower` to `coverage_upper`, `mean_width`, and
        `mean_interval_score`: width plus 2 / (1 - ci_prob) times the distance by which an
        interval misses; lower is better. `attrs` hold `ci_prob`.

    Raises
    ------
    InputError
        If the dataset is not from `coverage`.

    References
    ----------
    Gneiting & Raftery (2007), Strictly proper scoring rules, prediction, and estimation, JASA
    102, eq. 43. Clopper & Pearson (1934), Biometrika 26.

    Examples
    --------
    >>> from bayescal.validation import coverage, coverage_table
    >>> all_of_it = {"everything": lambda data, rng: (0.0, 1.0)}
    >>> found = coverage(["D3"], [50], all_of_it, runs=4, random_state=0, n_jobs=1)
    >>> coverage_table(found)["coverage"].to_list()
    [1.0]
    """
    import pandas as pd

    if "lower" not in dataset or "tce_true" not in dataset.coords:
        raise InputError("dataset holds no intervals; pass what bayescal.validation.coverage gave.")
    level = float(json.loads(dataset.attrs["ci_prob"]))
    runs = dataset.sizes["run"]
    cells = dataset.transpose("truth", "size", "method", "run")
    axes = [cells[dim].to_numpy().tolist() for dim in ("truth", "size", "method")]
    exact = dict(zip(axes[0], cells["tce_true"].to_numpy().tolist(), strict=True))
    lowers, uppers = (cells[end].to_numpy().reshape(-1, runs) for end in ("lower", "upper"))
    keys = list(product(*axes))
    rows = [
        {"tce_true": exact[key[0]], "runs": runs} | _score(lower, upper, exact[key[0]], level)
        for key, lower, upper in zip(keys, lowers, uppers, strict=True)
    ]
    index = pd.MultiIndex.from_tuples(keys, names=("truth", "size", "method"))
    table = pd.DataFrame(rows, index=index)
    table.attrs["ci_prob"] = level
    return table


def interval_score(lower: Floats, upper: Floats, value: float, ci_prob: float) -> Floats:
    """Interval (Winkler) score: the width, and a penalty where `value` is missed."""
    missed = np.maximum(lower - value, 0) + np.maximum(value - upper, 0)
    return np.asarray(upper - lower + 2 / (1 - ci_prob) * missed)


def _score(lower: Floats, upper: Floats, value: float, ci_prob: float) -> dict[str, float]:
    """One row of the coverage table."""
    covered = int(((lower <= value) & (value <= upper)).sum())
    low, high = _clopper_pearson(covered, lower.size)
    return {
        "coverage": covered / lower.size,
        "coverage_lower": low,
        "coverage_upper": high,
        "mean_width": float((upper - lower).mean()),
        "mean_interval_score": float(interval_score(lower, upper, value, ci_prob).mean()),
    }


def _batch_of_intervals(
    population: Truth, size: int, name: str, method: Method, seed: int, span: range
) -> Arrays:
    """Intervals of one method for a few data sets, which depend on truth, size and run alone."""
    found: list[Mapping[str, Interval]] = []
    for run in span:
        cell = (population.name, size, run)
        data = CalibrationData(*population.sample(size, stream(seed, "data", *cell)))
        intervals = method(data, stream(seed, "method", name, *cell))
        found.append(intervals if isinstance(intervals, Mapping) else {name: intervals})
    names = list(found[0])
    ends = np.array([[intervals[key] for intervals in found] for key in names], dtype=np.float64)
    return {"method": np.array(names), "lower": ends[..., 0], "upper": ends[..., 1]}


def _in_order(results: Sequence[Arrays], end: str, parts: int) -> Floats:
    """One end of every interval: batches of the same method side by side, its runs last."""
    return np.concatenate(
        [
            np.concatenate([result[end] for result in results[start : start + parts]], axis=1)
            for start in range(0, len(results), parts)
        ]
    )


def _as_methods(
    methods: Sequence[str] | Mapping[str, str | Method], level: float
) -> dict[str, Method]:
    if not isinstance(methods, Mapping):
        methods = {name: name for name in _distinct(list(methods), "methods")}
    if not methods:
        raise InputError("methods is empty: name at least one.")
    return {str(name): _as_method(method, level) for name, method in methods.items()}


def _as_method(method: str | Method, level: float) -> Method:
    if callable(method):
        return method
    return partial(_built_in, check_choice(method, METHODS, "methods"), level)


def _built_in(
    name: str, ci_prob: float, data: CalibrationData, rng: np.random.Generator
) -> Intervals:
    return METHODS[name](data, rng, ci_prob)


def _distinct(items: list[Item], name: str) -> list[Item]:
    if not items:
        raise InputError(f"{name} is empty: name at least one.")
    for item in items:
        if items.count(item) > 1:
            raise InputError(f"{name} holds {item!r} more than once; give each one once.")
    return items


def _clopper_pearson(hits: int, runs: int) -> tuple[float, float]:
    tail = (1 - CONFIDENCE) / 2
    low = beta.ppf(tail, hits, runs - hits + 1) if hits else 0.0
    high = beta.ppf(1 - tail, hits + 1, runs - hits) if hits < runs else 1.0
    return float(low), float(high)
