"""How an estimator reads its arguments, and the register of all of them with their cores."""

from __future__ import annotations

import inspect
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError
from bayescal.core.text import documented, shortened
from bayescal.data.cases import aligned, as_scores, as_weights
from bayescal.data.read import Cases as Cases
from bayescal.data.read import Needs, Outcomes, read_cases
from bayescal.data.table import CalibrationData
from bayescal.data.weights import effective_cases


class Tested(NamedTuple):
    """Statistic and p-value of a test.

    Attributes
    ----------
    statistic : float or ndarray
        One for each replicate when outcomes have leading dimensions.
    pvalue : float or ndarray
        Probability, if the model is calibrated, of a statistic at least as extreme.
    df : float
        Degrees of freedom; NaN where the distribution has none.
    """

    statistic: Any
    pvalue: Any
    df: float = float("nan")


# Outcomes, a table that stands for outcomes, scores and weights, or cases that were read.
OutcomesLike: TypeAlias = Outcomes | Cases

# Outcomes of shape (replicates, n_samples), of any numeric type, to one value for each.
Statistic = Callable[[NDArray[Any]], Floats]

# `(scores, weights or None, **options) -> statistic`; weights are numbers of cases.
Core = Callable[..., Statistic]

DOOR_BLOCK = 1 << 20


def read(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    replicates: bool = True,
    needs: Needs = "rows",
    single: bool = False,
) -> Cases:
    """Outcomes, scores and numbers of cases, each valid and all of the same cases.

    Cases that were read before come back as they are. `needs` is what is asked of a table, as of
    `read_cases`; with `single` 32-bit scores of replicates stay so, for work that converts them
    block by block. Sampling weights are on the scale of Kish's effective size.
    """
    if isinstance(y_true, Cases):
        return y_true
    cases = read_cases(
        y_true, y_prob, sample_weight, needs=needs, single=single, replicates=replicates
    )
    if cases.weights is None or isinstance(y_true, CalibrationData):
        return cases
    return replace(cases, weights=effective_cases(cases.weights))


def read_ranked(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> Cases:
    """Cases as `read` gives them, by ascending score where one sort does it."""
    return read(y_true, y_prob, sample_weight, single=True).ranked()


def read_scores(
    y_prob: ArrayLike | CalibrationData,
    sample_weight: ArrayLike | None = None,
    *,
    needs: Needs = "rows",
) -> tuple[Floats, Floats | None]:
    """Scores and numbers of cases, as `read` gives them, where there are no outcomes."""
    if isinstance(y_prob, CalibrationData):
        cases = read_cases(y_prob, None, sample_weight, needs=needs)
        return cases.scores, cases.weights
    y_prob, sample_weight = aligned(y_prob=y_prob, sample_weight=sample_weight)
    scores = as_scores(y_prob)
    weights = as_weights(sample_weight, scores.size)
    return scores, None if weights is None else effective_cases(weights)


def evaluate(
    core: Core, cases: Cases, *, block: int | None = None, **options: Any
) -> float | Floats:
    """A core on one set of outcomes (a float), or on each of many at the same scores."""
    statistic = core(cases.scores, cases.weights, **options)
    replicates, size = cases.outcomes.shape
    if replicates == 1:
        return cases.result(np.asarray(statistic(cases.outcomes), dtype=np.float64))
    values = np.empty(replicates)
    for part in blocks(replicates, size, block or DOOR_BLOCK):
        values[part] = statistic(cases.outcomes[part])
    return cases.result(values)


Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Estimator:
    """An estimator: authors, estimand, range and cost, its public function and its core.

    `prepare(scores, weights or None, **options)` gives `statistic(outcomes)`: from checked arrays,
    (replicates, n_samples), a value for each, NaN where undefined; weights are numbers of cases.
    `weighted(scores, outcomes, weights, **options)` is the same for many weightings of ascending
    scores at once, where that is faster. `perfect` is its value of a calibrated model with endless
    data, `bound` what it bounds, `dear` why it takes longer than a stable sort or more than two
    copies of the cases, `by_case` its options with a value for each case.
    """

    name: str
    title: str
    function: Callable[..., Any]
    prepare: Core
    paper: str
    estimates: str
    span: tuple[float, float] = (0.0, math.inf)
    perfect: float = 0.0
    bound: str = ""
    tie_safe: bool = True
    cost: str = "n log n"
    dear: str = ""
    by_case: tuple[str, ...] = ()
    weighted: Callable[..., Any] | None = None

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Options of `function` that `prepare` and `weighted` take, with their defaults.

        Those with a value for each case are left out: a core takes them, but needs none.
        """
        known = inspect.signature(self.function).parameters.values()
        return {
            option.name: option.default
            for option in known
            if option.kind is option.KEYWORD_ONLY
            and option.name not in ("sample_weight", *self.by_case)
        }

    def core(
        self, outcomes: NDArray[Any], scores: Floats, weights: Floats | None = None, **options: Any
    ) -> Floats:
        """The estimate of each replicate on arrays and options that were checked; may be NaN."""
        return self.prepare(scores, weights, **self.defaults | options)(outcomes)


def as_between(value: Any, name: str, least: float, most: float, of: str = "") -> float:
    """A number in a range."""
    number = isinstance(value, (int, float, np.integer, np.floating))
    if not number or isinstance(value, bool) or not least <= value <= most:
        raise InputError(
            f"{name} must be a number from {least:g} to {most:g}{of}, got {shortened(repr(value))}."
        )
    return (
        float(value) if abs(value) <= sys.float_info.max else math.inf if value > 0 else -math.inf
    )


def tested(statistic: float | Floats, pvalue: Any, df: float = math.nan) -> Tested:
    """A test of one set of outcomes, with a float as its p-value, or of many."""
    return Tested(statistic, float(pvalue) if isinstance(statistic, float) else pvalue, df)


# Every estimator of the package, by name, in the order of its files.
ESTIMATORS: dict[str, Estimator] = {}


def estimator(title: str, **entry: Any) -> Callable[[Function], Function]:
    """Enter a function in the register under its name; see `Estimator` for what it needs."""

    def enter(function: Function) -> Function:
        name = function.__name__
        ESTIMATORS[name] = Estimator(name, title, function, **entry)
        return documented(function)

    return enter


def called(named: Callable[[], None], door: Function) -> Function:
    """A function that was made for several names, under the name and docstring of `named`."""
    door.__name__ = door.__qualname__ = named.__name__
    door.__doc__ = named.__doc__
    return documented(door)
