"""How often do intervals contain the true value of what they are for?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy.stats import beta

from bayescal._base.arrays import Floats, as_seed
from bayescal._base.errors import InputError, as_items
from bayescal._base.text import shortened
from bayescal.data.data import CalibrationData
from bayescal.data.stored import check_dataset
from bayescal.data.validate import MOST_DRAWS, as_count, as_level, check_choice
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.validation._targets import Interval, Target, as_targets, read_intervals
from bayescal.validation.batches import (
    Arrays,
    Batch,
    Progress,
    run_batches,
    spans,
    stream,
)
from bayescal.validation.intervals import INTERVALS, POSTERIORS
from bayescal.validation.simulate import names, truth
from bayescal.validation.truths import Truth

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["Method", "coverage", "coverage_table", "interval_score"]

Item = TypeVar("Item", str, int)
Made = CalibrationPosterior | Interval | Mapping[str, Interval]
Method = Callable[[CalibrationData, np.random.Generator], Made]

BATCH = 25
CONFIDENCE = 0.99


def coverage(
    truths: Sequence[str | Truth],
    sizes: Sequence[int],
    methods: Sequence[str] | Mapping[str, str | Method] = ("beta", "ece_basic"),
    *,
    n_simulations: int = 400,
    ci_prob: float = 0.95,
    target: str | Sequence[str] = "tce",
    random_state: int | np.random.Generator | None = None,
    n_jobs: int = 2,
    progress: Progress = None,
    path: str | PathLike[str] | None = None,
) -> xr.Dataset:
    """Intervals for what is known of populations, many times over.

    Every method sees the same simulated data sets. `coverage_table` counts what the intervals
    contained.

    Parameters
    ----------
    truths : sequence of str or Truth
        Populations: names in `bayescal.simulate`, or your own.
    sizes : sequence of int
        Cases in each simulated data set.
    methods : sequence of str, or mapping
        Built-in methods by name: a family of curves ("logistic", "beta", ...) for the posterior
        that `bayescal.fit` gives, "average" for that of `bayescal.compare`. For the true
        calibration error alone also "families" for the average and each of its families from one
        fit of each; "ece", "debiased" and "smooth" for the percentile and the basic bootstrap of
        an estimator ("ece_percentile" and "ece_basic" for one of them); "bins_beta11"; and
        "logistic_ici" and "rcs_ici", simulated.
        A mapping gives names to your own functions `(data, rng)`, which return a
        `CalibrationPosterior`, or an interval `(lower, upper)` of a single target; its values may
        be names of built-in methods too. A function may also give several intervals at once, as
        a mapping: their names become the methods'.
    n_simulations : int
        Data sets of each truth and size.
    ci_prob : float in (0, 1)
        Probability of the intervals. Your own functions are taken to aim at it too.
    target : str or sequence of str
        What the intervals are for; all of it is read from the same fits. Any name in
        `bayescal.functionals.FUNCTIONALS`; "tce_2" for the true calibration error of that order;
        "curve" for the curve at the 10, 30, 50, 70 and 90 % quantiles of the population's scores,
        or "curve@25%" for one of your choice; "net_benefit@0.2" for the net benefit at that
        threshold.
    random_state : int or numpy.random.Generator, optional
    n_jobs : int
        Processes to work in. Results do not depend on it.
    progress : bool or callable, optional
        Whether to show a progress bar on stderr; by default when that is a terminal. Or what to
        call with the number of simulations that are done, and of all.
    path : str or path-like, optional
        Folder for finished batches. A later call finds those it needs, so that a run can be
        interrupted, lengthened, or given more truths, sizes and methods; another `target` is
        another run. A function of your own is known there by its name: give it another when it
        changes.

    Returns
    -------
    xarray.Dataset
        `lower` and `upper` with dims (truth, size, run, method, target), and `true_value` with
        dims (truth, size, run, target): the population value, which is the same in every run, but
        for "emax" the largest error over the scores of that run.

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
    >>> options = {"n_simulations": 10, "random_state": 0, "n_jobs": 1}
    >>> runs = coverage(["calibrated"], [50], ["ece_basic"], **options)
    >>> coverage_table(runs)["runs"].to_list()
    [10]
    """
    import xarray as xr

    level, seed = as_level(ci_prob), as_seed(random_state)
    targets = as_targets(target)
    measured = _distinct([item.name for item in targets], "target")
    populations = [_as_truth(item) for item in as_items(truths, "truths")]
    names = _distinct([population.name for population in populations], "truths")
    counts = _distinct([as_count(size, "sizes") for size in as_items(sizes, "sizes")], "sizes")
    chosen = _as_methods(methods, level, measured)
    parts = spans(as_count(n_simulations, "n_simulations", 1, MOST_DRAWS), BATCH)
    read = partial(_batch_of_intervals, targets, level, seed)
    batches = [
        Batch(
            partial(read, population, size, name, method, part),
            len(part),
            {
                "what": "coverage",
                "truth": [population.name, population.description, population.tce()],
                "size": size,
                "method": name,
                "target": measured,
                "ci_prob": level,
                "seed": seed,
                "span": [part.start, part.stop],
            },
        )
        for population in populations
        for size in counts
        for name, method in chosen.items()
        for part in parts
    ]
    results = run_batches(batches, "Coverage", n_jobs=n_jobs, progress=progress, path=path)
    first = results[: len(chosen) * len(parts) : len(parts)]
    made = _distinct([str(name) for result in first for name in result["method"]], "methods")
    cells = (len(names), len(counts))
    ends = {
        end: np.concatenate(_joined(results, end, len(parts), axis=1)).reshape(
            *cells, len(made), n_simulations, len(targets)
        )
        for end in ("lower", "upper")
    }
    exact = _joined(results, "true_value", len(parts), axis=0)[:: len(chosen)]
    dataset = xr.Dataset(
        {end: (("truth", "size", "method", "run", "target"), ends[end]) for end in ends}
        | {
            "true_value": (
                ("truth", "size", "run", "target"),
                np.reshape(exact, (*cells, n_simulations, len(targets))),
            )
        },
        {
            "truth": names,
            "size": counts,
            "method": made,
            "run": np.arange(n_simulations),
            "target": measured,
        },
        {name: json.dumps(value) for name, value in {"ci_prob": level, "seed": seed}.items()},
    )
    return dataset.transpose("truth", "size", "run", "method", "target")


def coverage_table(dataset: xr.Dataset) -> pd.DataFrame:
    """How often intervals contained the true value, how wide they were, and their interval score.

    Parameters
    ----------
    dataset : xarray.Dataset
        From `coverage`.

    Returns
    -------
    pandas.DataFrame
        Index: truth, size, target, method. Columns: `true_value` (its mean over the runs), `runs`,
        `coverage` with its 99 % Clopper-Pearson interval `coverage_lower` to `coverage_upper`,
        `misses_below` and `misses_above`: the shares of intervals that lie below and above the
        true value, `mean_width`, and `mean_interval_score`: width plus 2 / (1 - ci_prob) times
        the distance by which an interval misses; lower is better. `attrs` hold `ci_prob`.

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
    >>> runs = coverage(["D3"], [50], all_of_it, n_simulations=4, random_state=0, n_jobs=1)
    >>> coverage_table(runs)["coverage"].to_list()
    [1.0]
    """
    import pandas as pd

    check_dataset(dataset, "bayescal.validation.coverage")
    if not {"lower", "upper", "true_value"} <= set(map(str, dataset.data_vars)):
        raise InputError("dataset holds no intervals; pass what bayescal.validation.coverage gave.")
    level = float(json.loads(dataset.attrs["ci_prob"]))
    dims = ("truth", "size", "target", "method")
    axes = [dataset[dim].to_numpy().tolist() for dim in dims]
    values = dataset["true_value"].broadcast_like(dataset["lower"])
    lowers, uppers, exact = (
        cells.transpose(*dims, "run").to_numpy().reshape(-1, dataset.sizes["run"])
        for cells in (dataset["lower"], dataset["upper"], values)
    )
    rows = [_score(*cell, level) for cell in zip(lowers, uppers, exact, strict=True)]
    table = pd.DataFrame(rows, index=pd.MultiIndex.from_product(axes, names=dims))
    table.attrs["ci_prob"] = level
    return table


def interval_score(lower: Floats, upper: Floats, value: Floats | float, ci_prob: float) -> Floats:
    """Interval (Winkler) score: the width, and a penalty where `value` is missed."""
    missed = np.maximum(lower - value, 0) + np.maximum(value - upper, 0)
    return np.asarray(upper - lower + 2 / (1 - ci_prob) * missed)


def _score(lower: Floats, upper: Floats, value: Floats, ci_prob: float) -> dict[str, float]:
    """One row of the coverage table."""
    below, above = int((upper < value).sum()), int((lower > value).sum())
    runs = lower.size
    low, high = _clopper_pearson(runs - below - above, runs)
    return {
        "true_value": float(value.mean()),
        "runs": runs,
        "coverage": (runs - below - above) / runs,
        "coverage_lower": low,
        "coverage_upper": high,
        "misses_below": below / runs,
        "misses_above": above / runs,
        "mean_width": float((upper - lower).mean()),
        "mean_interval_score": float(interval_score(lower, upper, value, ci_prob).mean()),
    }


def _batch_of_intervals(
    targets: Sequence[Target],
    ci_prob: float,
    seed: int,
    population: Truth,
    size: int,
    name: str,
    method: Method,
    span: range,
) -> Arrays:
    """Intervals of one method for a few data sets, which depend on truth, size and run alone."""
    made: list[Mapping[str, Sequence[Interval]]] = []
    exact: list[list[float]] = []
    for run in span:
        cell = (population.name, size, run)
        data = CalibrationData(*population.sample(size, stream(seed, "data", *cell)))
        answer = method(data, stream(seed, "method", name, *cell))
        made.append(_as_intervals(answer, name, targets, population, ci_prob))
        exact.append([target.true_value(population, data) for target in targets])
    names = list(made[0])
    ends = np.array([[intervals[key] for intervals in made] for key in names], dtype=np.float64)
    return {
        "method": np.array(names),
        "lower": ends[..., 0],
        "upper": ends[..., 1],
        "true_value": np.array(exact),
    }


def _as_intervals(
    answer: Made, name: str, targets: Sequence[Target], population: Truth, ci_prob: float
) -> Mapping[str, Sequence[Interval]]:
    """One interval a target, for each of the methods that an answer is for."""
    if isinstance(answer, CalibrationPosterior):
        return {name: read_intervals(answer, targets, population, ci_prob)}
    if len(targets) > 1:
        raise InputError(
            f"methods: {name!r} gave an interval, and target names {len(targets)} numbers. Return "
            "a CalibrationPosterior, from which each of them is read, or ask for one target."
        )
    if isinstance(answer, Mapping):
        return {key: [interval] for key, interval in answer.items()}
    return {name: [answer]}


def _joined(results: Sequence[Arrays], name: str, parts: int, axis: int) -> list[Floats]:
    """An array of each truth, size and method, its batches of runs side by side."""
    return [
        np.concatenate([result[name] for result in results[start : start + parts]], axis=axis)
        for start in range(0, len(results), parts)
    ]


def _as_truth(value: Any) -> Truth:
    if isinstance(value, Truth):
        return value
    if isinstance(value, str):
        return truth(check_choice(value, names(), "truths"))
    given = shortened(repr(value))
    raise InputError(f"truths must be names or Truth objects, got {given}. See simulate.names().")


def _as_methods(
    methods: Sequence[str] | Mapping[str, str | Method], ci_prob: float, measured: Sequence[str]
) -> dict[str, Method]:
    if not isinstance(methods, Mapping):
        known = POSTERIORS | INTERVALS
        listed = [check_choice(name, known, "methods") for name in as_items(methods, "methods")]
        methods = {name: name for name in _distinct(listed, "methods")}
    if not methods:
        raise InputError("methods is empty: name at least one.")
    return {str(name): _as_method(method, ci_prob, measured) for name, method in methods.items()}


def _as_method(method: str | Method, ci_prob: float, measured: Sequence[str]) -> Method:
    if callable(method):
        return method
    if check_choice(method, POSTERIORS | INTERVALS, "methods") in POSTERIORS:
        return POSTERIORS[method]
    if list(measured) != ["tce"]:
        raise InputError(
            f"methods: {method!r} gives intervals of 'tce' alone, and target is "
            f"{', '.join(measured)}. Leave it out, or ask for target='tce'."
        )
    return partial(_tce_interval, method, ci_prob)


def _tce_interval(
    name: str, ci_prob: float, data: CalibrationData, rng: np.random.Generator
) -> Made:
    return INTERVALS[name](data, rng, ci_prob)


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
