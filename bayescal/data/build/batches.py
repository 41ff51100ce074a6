"""Some cases at a time: those that count, and their sums by group and distinct score."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, by_group
from bayescal.data.build.digits import Digits, digits_of

__all__ = ["Batch", "Codes", "sorting", "starts"]

Codes = NDArray[np.int64]


class Batch(NamedTuple):
    """Cases of positive weight, in memory of their own where they may have to wait.

    Attributes
    ----------
    code : ndarray of shape (n,) or None
        Number of the group of each; None when there is one.
    outcome : ndarray of shape (n,)
        0 or 1, of any type.
    score : ndarray of shape (n,)
        In [0, 1], without a negative 0.
    weight : ndarray of shape (n,) or None
        None for one each.
    """

    code: Codes | None
    outcome: NDArray[Any]
    score: Floats
    weight: Floats | None

    @classmethod
    def of(
        cls, code: Codes | None, outcome: NDArray[Any], score: NDArray[Any], weight: Floats | None
    ) -> Batch:
        """The cases whose weight is not 0."""
        positive = np.add(score, 0.0, dtype=np.float64)  # turns -0.0 into 0.0
        if code is not None:
            code, outcome = code.astype(np.int64), outcome.copy()
            weight = None if weight is None else weight.copy()
        batch = cls(code, outcome, positive, weight)
        return batch if weight is None or weight.all() else batch.part(weight > 0)

    @classmethod
    def joined(cls, batches: Sequence[Batch]) -> Batch:
        """All cases of some batches of the same columns."""
        if len(batches) == 1:
            return batches[0]
        code, outcome, score, weight = zip(*batches, strict=True)
        return cls(
            None if code[0] is None else np.concatenate(code),
            np.concatenate(outcome),
            np.concatenate(score),
            None if weight[0] is None else np.concatenate(weight),
        )

    def part(self, which: slice | NDArray[np.bool_]) -> Batch:
        """Some of the cases."""
        code, outcome, score, weight = self
        code = None if code is None else code[which]
        weight = None if weight is None else weight[which]
        return Batch(code, outcome[which], score[which], weight)

    def rows(self) -> tuple[Codes, Floats, Digits]:
        """Distinct groups and scores, in order, with the digits of their trials and hits."""
        if self.weight is None:
            return _counted(self.code, self.score, self.outcome)
        code = np.zeros(self.score.size, dtype=np.int64) if self.code is None else self.code
        return _weighed(code, self.score, self.outcome, self.weight)


def sorting(code: Codes, score: Floats) -> NDArray[np.intp]:
    """The order by group, and by score within each."""
    order = np.argsort(score)
    return order[by_group(code[order])]


def starts(code: Codes | None, score: Floats) -> NDArray[np.intp]:
    """Where each distinct pair of group and score begins, both sorted."""
    new = np.append(True, score[1:] != score[:-1])[: score.size]
    if code is not None:
        new[1:] |= code[1:] != code[:-1]
    return np.flatnonzero(new)


def _counted(
    code: Codes | None, score: Floats, outcome: NDArray[Any]
) -> tuple[Codes, Floats, Digits]:
    """Rows of cases that count once.

    Scores, which are not negative, sort as their bits do; with the outcome as the last bit, both
    are sorted as one number.
    """
    both = 2 * score.view(np.int64)
    both += outcome.astype(np.int64)
    if code is None:
        both.sort()
    else:
        both = both[by_group(code)]
        cases = np.bincount(code)
        code = np.repeat(np.arange(cases.size), cases)
        for begin, end in pairwise(np.append(0, np.cumsum(cases)).tolist()):
            both[begin:end].sort()
    score = (both >> 1).view(np.float64)
    start = starts(code, score)
    trials = np.diff(start, append=score.size)
    hits = np.add.reduceat(both & 1, start)
    codes = np.zeros(start.size, dtype=np.int64) if code is None else code[start]
    return codes, score[start], {0: np.stack([trials, hits])}


def _weighed(
    code: Codes, score: Floats, outcome: NDArray[Any], weight: Floats
) -> tuple[Codes, Floats, Digits]:
    """Rows of cases with weights."""
    order = sorting(code, score)
    code, score, is_other = code[order], score[order], outcome[order] == 0
    start = starts(code, score)
    digits: Digits = {}
    for power, digit in digits_of(weight[order]).items():
        integers = digit.astype(np.int64)
        trials = np.add.reduceat(integers, start)
        integers[is_other] = 0
        digits[power] = np.stack([trials, np.add.reduceat(integers, start)])
    return code[start], score[start], digits
