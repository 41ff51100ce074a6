"""Outcomes and scores, read from arrays or from a table that holds both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError
from bayescal.data.cases import (
    aligned,
    are_shares,
    as_floats,
    as_outcome_batch,
    as_outcomes,
    as_scores,
    as_weights,
    check_cases,
    check_given,
    check_same_length,
    check_scores,
    of_shares,
    refuse_first,
)
from bayescal.data.doors import table_of
from bayescal.data.rows import LIMIT
from bayescal.data.table import CalibrationData
from bayescal.data.times import Survival
from bayescal.data.weights import effective_cases

# So that squares, and their ratios to variances, are finite.
LARGEST_NUMBER = 1e60

# What `y_true` may be: outcomes, times to an event where they are taken, or a table that stands
# for outcomes, scores and weights.
Outcomes: TypeAlias = ArrayLike | Survival | CalibrationData

# What a function needs of a table: weighted rows with the mean score of each; the score of every
# case; every case by itself; or the order of the cases, which no table has.
Needs: TypeAlias = Literal["rows", "scores", "cases", "order"]


@dataclass(frozen=True)
class Cases:
    """Checked cases; `outcomes` of 0 and 1 have a row for each data set of the leading `shape`.

    Scores are 64-bit floats, or 32-bit ones where the reader was asked to keep them. Weights are
    not negative, and None for one each.
    """

    outcomes: NDArray[Any]
    scores: NDArray[Any]
    weights: Floats | None
    shape: tuple[int, ...] = ()

    @property
    def one(self) -> tuple[NDArray[Any], NDArray[Any], Floats | None]:
        """Outcomes, scores and weights of one data set, each a vector."""
        return self.outcomes[0], self.scores, self.weights

    @property
    def weight(self) -> Floats:
        """Weight of each case, ones included."""
        return np.ones(self.scores.size) if self.weights is None else self.weights

    def counted(self) -> Cases:
        """The cases that have a weight."""
        if self.weights is None or self.weights.all():
            return self
        kept = self.weights > 0
        outcomes = self.outcomes[:, kept]
        return Cases(outcomes, self.scores[kept], self.weights[kept], self.shape)

    def ranked(self) -> Cases:
        """The same cases by ascending score, where one sort takes scores and outcomes together.

        That is one set of outcomes without weights: an outcome is written behind the bits of its
        score, which are in the order of the scores since these are not negative. It takes a tenth
        of the time of sorting indices and looking up both.
        """
        if self.weights is not None or len(self.outcomes) != 1:
            if self.scores.dtype == np.float64:
                return self
            return replace(self, scores=self.scores.astype(np.float64))
        scores = np.ascontiguousarray(self.scores)
        bits: Any = np.uint32 if scores.dtype == np.float32 else np.uint64
        keys: NDArray[Any] = np.empty(scores.size, bits)
        outcomes = np.empty((1, keys.size), np.uint8)
        for part in blocks(keys.size):
            np.left_shift(scores[part].view(bits), 1, out=keys[part])
            keys[part] |= self.outcomes[0, part].astype(bits)
        keys.sort()
        for part in blocks(keys.size):
            outcomes[0, part] = keys[part] & 1
            keys[part] >>= 1
        ranked = keys.view(scores.dtype).astype(np.float64, copy=False)
        return replace(self, outcomes=outcomes, scores=ranked)

    @property
    def mass(self) -> float:
        """Sum of the weights."""
        return float(self.scores.size if self.weights is None else self.weights.sum())

    def event_weights(self) -> Iterator[NDArray[Any]]:
        """Weight of each case if it is an event, else 0, one replicate after the other."""
        for row in self.outcomes:
            yield row if self.weights is None else row * self.weights

    def events(self) -> Floats:
        """Weight of the events of each replicate."""
        return np.array([row.sum(dtype=np.float64) for row in self.event_weights()])

    @property
    def has_both(self) -> NDArray[np.bool_]:
        """Whether each replicate has events and others."""
        both: NDArray[np.bool_] = (self.outcomes != self.outcomes[:, :1]).any(axis=1)
        return both

    def result(self, values: Floats, undefined: str = "") -> float | Floats:
        """The value of one data set, whose NaN is an error, else an array of the leading shape."""
        if self.shape or not values.size:
            return values.reshape(self.shape + values.shape[1:])
        if undefined and np.isnan(values).any():
            raise InputError(undefined)
        return float(values[0]) if values.ndim == 1 else values[0]


@dataclass(frozen=True)
class VarianceCases:
    """Checked cases of a number that is predicted with a variance, or several, and have a weight.

    Weights are positive numbers of cases; of sampling weights, on the scale of Kish's effective
    size.
    """

    outcome: Floats
    mean: Floats
    variances: tuple[Floats, ...]
    weight: Floats

    @property
    def squared_error(self) -> Floats:
        """(outcome - mean)^2 of each case."""
        squares: Floats = (self.outcome - self.mean) ** 2
        return squares


def read_cases(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    needs: Needs = "rows",
    single: bool = False,
    replicates: bool = True,
    pos_label: Any = None,
) -> Cases:
    """Outcomes with their scores and weights; with `replicates` they may have leading dimensions.

    A table gives two weighted cases a row, its events and the others, or, if it needs so, each case
    by itself. With `single`, scores of replicates that are 32-bit floats stay so, without a copy.
    """
    if isinstance(y_true, CalibrationData):
        outcomes, scores, weights = _from_table(y_true, y_prob, sample_weight, needs)
        return Cases(outcomes[None], scores, weights)
    shares = needs in ("rows", "scores")
    check_given(y_prob)
    across = {"y_true"} if replicates else ()
    y_true, y_prob, sample_weight = aligned(
        y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, across=across
    )
    if replicates:
        scores = check_scores(y_prob) if single else as_scores(y_prob)
        batch = as_outcome_batch(y_true, scores.size, shares=shares)
        weights = as_weights(sample_weight, scores.size)
    else:
        checked = check_cases(y_true, y_prob, sample_weight, pos_label=pos_label)
        batch, scores = (values.astype(np.float64, copy=False) for values in checked[:2])
        batch, weights = as_outcomes(batch, shares=shares), checked.weight
    if batch.ndim == 1 and are_shares(batch):
        batch, scores, weights = of_shares(batch, scores, weights)
    return Cases(batch.reshape(-1, scores.size), scores, weights, batch.shape[:-1])


def _from_table(
    table: CalibrationData, y_prob: Any, sample_weight: Any, needs: Needs
) -> tuple[Floats, Floats, Floats | None]:
    table_of(table, y_prob, {"sample_weight": sample_weight}).one_group().independent()
    if needs == "order":
        raise InputError(
            "a table keeps no order of its cases, and this depends on it. "
            "Pass y_true and y_prob in their order."
        )
    if needs != "rows" and table.is_compressed:
        raise InputError(
            f"the table was compressed to a grid of {LIMIT} cells, which keep the mean of their "
            "scores, and this needs the score of every case. Pass y_true and y_prob themselves."
        )
    outcomes, scores, weights = table.to_arrays()
    if (weights == 1).all():
        return outcomes, scores, None
    if needs != "cases":
        return outcomes, scores, weights
    if table.is_pseudo:
        raise InputError(
            "the table holds sampling weights, which cannot be taken apart into cases, and this "
            "needs every case by itself. Pass y_true and y_prob without weights."
        )
    if (weights % 1 != 0).any():
        raise InputError(
            "the table holds shares of outcomes, which cannot be taken apart into cases, and this "
            "needs every case by itself. Pass outcomes of 0 and 1."
        )
    repeats = weights.astype(np.intp)
    return np.repeat(outcomes, repeats), np.repeat(scores, repeats), None


def read_variance_cases(
    y_true: ArrayLike, mean: ArrayLike, sample_weight: ArrayLike | None, **variances: ArrayLike
) -> VarianceCases:
    """Outcomes of a number, its predicted means and variances, and weights of the same cases."""
    aligned(y_true=y_true, mean=mean, sample_weight=sample_weight, across=(), **variances)
    outcome = as_numbers(y_true, "y_true")
    numbers = [as_numbers(mean, "mean")]
    numbers += [as_variances(values, name) for name, values in variances.items()]
    for values, name in zip(numbers, ("mean", *variances), strict=True):
        check_same_length(outcome.size, "y_true", values.size, name)
    weights = as_weights(sample_weight, outcome.size)
    if weights is None:
        return VarianceCases(outcome, numbers[0], tuple(numbers[1:]), np.ones(outcome.size))
    kept = weights > 0
    known = [values[kept] for values in numbers]
    return VarianceCases(outcome[kept], known[0], tuple(known[1:]), effective_cases(weights[kept]))


def as_numbers(values: Any, name: str) -> Floats:
    """Finite numbers, of at most 1e60 in size, as a float64 vector."""
    numbers = as_floats(values, name)
    wrong, problem = ~(np.abs(numbers) <= LARGEST_NUMBER), "is not a finite number of at most "
    problem, cure = f"{problem}{LARGEST_NUMBER:g} in size", "Drop or impute missing values first."
    refuse_first(wrong, numbers, name, problem, cure, alone=True)
    return numbers


def as_variances(values: Any, name: str = "variance") -> Floats:
    """Positive variances, from 1e-120 to 1e120, as a float64 vector."""
    variances, most = as_floats(values, name), LARGEST_NUMBER**2
    wrong = ~((variances >= 1 / most) & (variances <= most))
    problem = f"is not a variance, a positive number from {1 / most:g} to {most:g}"
    cure = "If these are logarithms of variances, pass their exponentials."
    refuse_first(wrong, variances, name, problem, cure, alone=True)
    return variances
