"""Sums of outcome less score, in the order of the scores, up to each distinct score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.estimators.clinical._recalibration import as_cases

__all__ = ["Walk", "ends_of"]


@dataclass(frozen=True)
class Walk:
    """Cases in ascending order of their scores.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        Place of each among the cases as given.
    scores, cases : ndarray of shape (n_samples,)
        Scores, and how many cases each row stands for.
    ends : ndarray of shape (distinct scores,)
        Where each run of equal scores ends.
    """

    order: NDArray[np.intp]
    scores: Floats
    cases: Floats
    ends: NDArray[np.intp]

    @classmethod
    def over(cls, scores: Floats, weights: Floats | None) -> Walk:
        """From scores and sample weights."""
        order = np.argsort(scores)
        ascending, cases = scores[order], as_cases(weights, scores.size)
        return cls(order, ascending, cases if weights is None else cases[order], ends_of(ascending))

    def differences(self, outcomes: NDArray[Any]) -> Floats:
        """Cumulative sums of outcome less score, of shape (replicates, distinct scores)."""
        sums = np.subtract(outcomes[:, self.order], self.scores, dtype=np.float64)
        sums *= self.cases
        np.cumsum(sums, axis=1, out=sums)
        if self.ends.size < self.order.size:
            sums = sums[:, self.ends]
        return np.asarray(sums)

    def variances(self) -> Floats:
        """What the variances of those sums are for a calibrated model."""
        variances: Floats = np.cumsum(self.cases * self.scores * (1 - self.scores))[self.ends]
        if variances[-1] > 0:
            return variances
        raise InputError(
            "y_prob is 0 or 1 for every case, so a calibrated model leaves nothing to chance and "
            "the test is not defined. Compare y_true with y_prob directly."
        )


def ends_of(ascending: Floats) -> NDArray[np.intp]:
    """Where each run of equal scores ends."""
    return np.flatnonzero(np.append(ascending[1:] != ascending[:-1], True))
