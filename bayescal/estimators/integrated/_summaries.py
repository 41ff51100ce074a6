"""What the ICI family makes of the distances between a smoothed curve and the scores."""

from __future__ import annotations

from collections.abc import Callable

from bayescal._base.arrays import Floats
from bayescal.data.table import Table
from bayescal.data.weights import quantile

__all__ = ["INDICES"]

Index = Callable[[Floats, Table], Floats]
"""Distances of shape (replicates, rows) from the scores of a table, to one value each."""


def _mean(gap: Floats, table: Table) -> Floats:
    mean: Floats = gap @ table.trials / table.total
    return mean


def _mean_square(gap: Floats, table: Table) -> Floats:
    return 100 * _mean(gap**2, table)


def _greatest(gap: Floats, table: Table) -> Floats:
    greatest: Floats = gap.max(axis=1)
    return greatest


def _median(gap: Floats, table: Table) -> Floats:
    return quantile(gap, table.trials, 0.5)


def _ninetieth(gap: Floats, table: Table) -> Floats:
    return quantile(gap, table.trials, 0.9)


INDICES: dict[str, Index] = {
    "e50": _median,
    "e90": _ninetieth,
    "eci": _mean_square,
    "emax": _greatest,
    "ici": _mean,
}
