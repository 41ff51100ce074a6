"""Sums of outcome less score, in the order of the scores, up to each distinct score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.table import Order, ascending

__all__ = ["Walk", "ends_of", "range_sf", "supremum_sf"]


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


TERMS = np.arange(8)[:, None]
ODD = 2 * TERMS + 1
SIGN = (-1.0) ** TERMS
LEAST = 1e-2


def supremum_sf(x: Floats) -> Floats:
    """Probability that the largest |W(t)| exceeds x, of x of any shape.

    4 sum_k (-1)^k P(Z > (2k+1) x) converges fast for large x, and one less
    4/pi sum_k (-1)^k / (2k+1) exp(-((2k+1) pi / x)^2 / 8) for small x. k = 0, 1, ...
    """
    far, near = _split(x, 1.0)
    tail = 4 * (SIGN * ndtr(-ODD * far)).sum(axis=0)
    body = 4 / np.pi * (SIGN / ODD * np.exp(-((ODD * np.pi / near) ** 2) / 8)).sum(axis=0)
    return _joined(x, 1.0, tail, 1 - body)


def range_sf(x: Floats) -> Floats:
    """Probability that max W(t) - min W(t) exceeds x (Feller 1951), of x of any shape.

    8 sum_k (-1)^k (k+1) P(Z > (k+1) x) converges fast for large x, and one less
    8 sum_k (1/x^2 + 1/((2k+1) pi)^2) exp(-((2k+1) pi / x)^2 / 2) for small x. k = 0, 1, ...
    """
    far, near = _split(x, 2.0)
    tail = 8 * (SIGN * (TERMS + 1) * ndtr(-(TERMS + 1) * far)).sum(axis=0)
    decay = np.exp(-((ODD * np.pi / near) ** 2) / 2)
    body = 8 * ((1 / near**2 + 1 / (ODD * np.pi) ** 2) * decay).sum(axis=0)
    return _joined(x, 2.0, tail, 1 - body)


def _split(x: Floats, at: float) -> tuple[Floats, Floats]:
    flat = np.ravel(x)
    return np.maximum(flat, at), np.clip(flat, LEAST, at)


def _joined(x: Floats, at: float, tail: Floats, body: Floats) -> Floats:
    return np.where(np.ravel(x) > at, tail, body).reshape(np.shape(x))
