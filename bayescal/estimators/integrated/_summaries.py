"""What the ICI family makes of the distances between a smoothed curve and the scores."""

from __future__ import annotations

from collections.abc import Callable

from bayescal._base.arrays import Floats
from bayescal.data.weights import quantile

__all__ = ["INDICES"]

Index = Callable[[Floats, Floats], Floats]
"""Distances of shape (replicates, rows) and cases of each row, (rows,), to one value each."""


def _mean(gap: Floats, trials: Floats) -> Floats:
    mean: Floats = gap @ trials / trials.sum()
    return mean


def _mean_square(gap: Floats, trials: Floats) -> Floats:
    return 100 * _mean(gap**2, trials)


def _greatest(gap: Floats, trials: Floats) -> Floats:
    greatest: Floats = gap.max(axis=1)
    return greatest


def _median(gap: Floats, trials: Floats) -> Floats:
    return quantile(gap, trials, 0.5)


def _ninetieth(gap: Floats, trials: Floats) -> Floats:
    return quantile(gap, trials, 0.9)


INDICES: dict[str, Index] = {
    "e50": _median,
    "e90": _ninetieth,
    "eci": _mean_square,
    "emax": _greatest,
    "ici": _mean,
}
