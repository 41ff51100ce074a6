"""Sums of outcome less score, in the order of the scores, up to each distinct score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.table import Order, ascending

__all__ = ["Walk", "ends_of"]


@dataclass(frozen=True)
class Walk:
    """Cases in ascending order of their scores.

    Attributes
    ----------
    order : ndarray of shape (n_samples,), or slice
        Index of each among the cases as given.
    scores : ndarray of shape (n_samples,)
    cases : ndarray of shape (n_samples,) or None
        How many cases each row stands for; None for one each.
    ends : ndarray of shape (distinct scores,) or None
        Where each run of equal scores ends; None when no two are equal.
    """

    order: Order
    scores: Floats
    cases: Floats | None
    ends: NDArray[np.intp] | None

    @classmethod
    def over(cls, scores: Floats, weights: Floats | None) -> Walk:
        """From scores and numbers of cases."""
        order, ranked = ascending(scores)
        return cls(order, ranked, None if weights is None else weights[order], ends_of(ranked))

    @property
    def total(self) -> float:
        """Number of cases."""
        return float(self.scores.size if self.cases is None else self.cases.sum())

    def differences(self, outcomes: NDArray[Any]) -> Floats:
        """Cumulative sums of outcome less score, of shape (replicates, distinct scores)."""
        gaps: Floats = np.subtract(outcomes[:, self.order], self.scores, dtype=np.float64)
        return self._running(gaps)

    def variances(self) -> Floats:
        """What the variances of those sums are for a calibrated model."""
        variances: Floats = self._running((self.scores * (1 - self.scores))[None])[0]
        if variances[-1] > 0:
            return variances
        raise InputError(
            "y_prob is 0 or 1 for every case, so a calibrated model leaves nothing to chance and "
            "the test is not defined. Compare y_true with y_prob directly."
        )

    def _running(self, values: Floats) -> Floats:
        """Sums of the cases up to each distinct score; `values` is overwritten."""
        if self.cases is not None:
            values *= self.cases
        np.cumsum(values, axis=1, out=values)
        return values if self.ends is None else values[:, self.ends]


def ends_of(ascending: Floats) -> NDArray[np.intp] | None:
    """Where each run of equal scores ends; None when no two are equal."""
    new = ascending[1:] != ascending[:-1]
    return None if new.all() else np.flatnonzero(np.append(new, True))
