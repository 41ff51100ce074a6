"""An estimator on many resamples of the same cases.

Cases with equal score and outcome are one cell, and a resample is a number of cases for each cell.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.weights import are_counts, effective_size

__all__ = ["Applied", "Cells", "blocks", "cells_of", "draw", "leave_one_out"]

BLOCK = 1 << 18
CASES_PER_CELL = 8


class Cells(NamedTuple):
    """Distinct pairs of score and outcome, in ascending order.

    Attributes
    ----------
    scores, outcomes, counts : ndarray of shape (cells,)
    size : int
        Number of cases; for sampling weights, Kish's effective number, rounded.
    whole : bool
        Whether the counts are numbers of cases.
    """

    scores: Floats
    outcomes: Floats
    counts: Floats
    size: int
    whole: bool


def cells_of(outcomes: Floats, scores: Floats, weights: Floats | None) -> Cells:
    """Collapse cases to cells."""
    weight = np.ones(scores.size) if weights is None else weights
    order = np.lexsort((outcomes, scores))
    order = order[weight[order] > 0]
    scores, outcomes = scores[order], outcomes[order]
    new = (scores[1:] != scores[:-1]) | (outcomes[1:] != outcomes[:-1])
    first = np.flatnonzero(np.concatenate([[True], new]))
    whole = are_counts(weight)
    size = round(float(weight.sum()) if whole else effective_size(weight))
    return Cells(scores[first], outcomes[first], np.add.reduceat(weight[order], first), size, whole)


def blocks(replicates: int, width: int) -> Iterator[int]:
    """How many replicates of this width to take at a time, so that memory stays bounded."""
    step = max(1, BLOCK // width)
    for start in range(0, replicates, step):
        yield min(step, replicates - start)


def draw(cells: Cells, replicates: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Bootstrap resamples, as blocks of cases per cell of shape (some, cells)."""
    number = cells.counts.size
    if not cells.whole or cells.size > CASES_PER_CELL * number:
        chances = cells.counts / cells.counts.sum()
        for some in blocks(replicates, number):
            yield rng.multinomial(cells.size, chances, size=some).astype(np.float64)
        return
    cell = np.repeat(np.arange(number), cells.counts.astype(np.intp))
    for some in blocks(replicates, cells.size):
        drawn = cell[rng.integers(cells.size, size=(some, cells.size))]
        drawn += number * np.arange(some)[:, None]
        counted = np.bincount(drawn.ravel(), minlength=some * number)
        yield counted.reshape(some, number).astype(np.float64)


def leave_one_out(
    cells: Cells, most: int, rng: np.random.Generator
) -> tuple[Iterator[Floats], Floats]:
    """The data less one case, for each cell, or for `most` random cases if there are more cells.

    Returns the blocks of cases per cell, and the share of the cases that each row stands for.
    """
    shares = cells.counts / cells.counts.sum()
    left_out = np.arange(shares.size)
    if shares.size > most:
        left_out = rng.choice(shares.size, most, p=shares)
        shares = np.full(most, 1 / most)

    def rows() -> Iterator[Floats]:
        start = 0
        for some in blocks(left_out.size, cells.counts.size):
            block = np.tile(cells.counts, (some, 1))
            block[np.arange(some), left_out[start : start + some]] -= 1
            start += some
            yield block

    return rows(), shares


@dataclass(frozen=True)
class Applied:
    """An estimator with its options, and what it can take.

    Attributes
    ----------
    name : str
    function : callable
    options : dict
    span : tuple of float
        Least and greatest possible value.
    weighted : callable, optional
        As in the register of estimators.
    registered : bool
    """

    name: str
    function: Callable[..., Any]
    options: dict[str, Any]
    span: tuple[float, float] = (-math.inf, math.inf)
    weighted: Callable[..., Any] | None = None
    registered: bool = False

    @property
    def weighs(self) -> bool:
        """Whether it takes sample_weight."""
        try:
            return "sample_weight" in inspect.signature(self.function).parameters
        except ValueError:  # some built-in callables do not say
            return False

    def to_data(self, outcomes: Floats, scores: Floats, weights: Floats | None) -> float:
        """The estimate itself."""
        if weights is not None and not self.weighs:
            if not are_counts(weights):
                raise InputError(
                    f"estimator {self.name!r} takes no sample_weight, so sample_weight must hold "
                    "whole numbers of cases."
                )
            cases = weights.astype(np.intp)
            outcomes, scores, weights = np.repeat(outcomes, cases), np.repeat(scores, cases), None
        value = self._once(outcomes, scores, weights)
        if not math.isfinite(value):
            raise InputError(f"estimator {self.name!r} is {value!r} on the data.")
        return value

    def to_weights(self, cells: Cells, weights: Floats) -> Floats:
        """The estimate for each row of cases per cell, NaN where it is undefined."""
        if self.weighted is not None:
            values = self.weighted(cells.scores, cells.outcomes, weights, **self._every_option())
            return np.asarray(values, dtype=np.float64)
        return np.array([self._to_row(cells, row) for row in weights])

    def to_outcomes(
        self, outcomes: NDArray[np.bool_], scores: Floats, weights: Floats | None
    ) -> Floats:
        """The estimate for each row of outcomes at these scores, NaN where it is undefined."""
        if self.registered:
            try:
                extra = {} if weights is None else {"sample_weight": weights}
                values = self.function(outcomes, scores, **extra, **self.options)
            except InputError:  # it takes one data set at a time
                values = None
            if np.shape(values) == outcomes.shape[:1]:
                return np.asarray(values, dtype=np.float64)
        rows = outcomes.astype(np.float64)
        return np.array([self._or_nan(row, scores, weights) for row in rows])

    def _to_row(self, cells: Cells, weights: Floats) -> float:
        seen = weights > 0
        outcomes, scores, weights = cells.outcomes[seen], cells.scores[seen], weights[seen]
        if self.weighs:
            return self._or_nan(outcomes, scores, weights)
        cases = weights.astype(np.intp)
        return self._or_nan(np.repeat(outcomes, cases), np.repeat(scores, cases), None)

    def _or_nan(self, outcomes: Floats, scores: Floats, weights: Floats | None) -> float:
        try:
            return self._once(outcomes, scores, weights)
        except InputError:
            return math.nan

    def _once(self, outcomes: Floats, scores: Floats, weights: Floats | None) -> float:
        extra = {} if weights is None else {"sample_weight": weights}
        value = self.function(outcomes, scores, **extra, **self.options)
        if np.shape(value) != () or not isinstance(value, (int, float, np.number, np.ndarray)):
            raise InputError(
                f"estimator {self.name!r} returned {type(value).__name__}, not one number. "
                "Pass one that maps outcomes and scores to a number."
            )
        return float(value)

    def _every_option(self) -> dict[str, Any]:
        """The options, and the defaults of those not given."""
        known = inspect.signature(self.function).parameters.values()
        defaults = {
            option.name: option.default
            for option in known
            if option.default is not option.empty and option.name != "sample_weight"
        }
        return defaults | self.options
