"""The rows of each group, and how the weights behind them are read."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.stored import Tables
from bayescal.data.table import row_of, share_reaching
from bayescal.data.weights import WeightType, kish

__all__ = ["GroupedRows", "common_weight_type"]


class GroupedRows:
    """Binomial rows by group, or of one nameless group: what can be read off them."""

    _tables: Tables
    _weight_type: WeightType | None

    def _set(self, tables: Tables, weight_type: WeightType | None) -> Self:
        self._tables = {name: rows for name, rows in tables.items() if rows.score.size}
        self._weight_type = weight_type
        return self

    @classmethod
    def _new(cls, tables: Tables, weight_type: WeightType | None) -> Self:
        return cls.__new__(cls)._set(tables, weight_type)

    @property
    def score(self) -> Floats:
        """Distinct scores as given (cell means once compressed), ascending within a group."""
        return np.concatenate([rows.score for rows in self._tables.values()])

    @property
    def trials(self) -> Floats:
        """Cases at each score (the sum of their weights)."""
        return np.concatenate([rows.trials for rows in self._tables.values()])

    @property
    def hits(self) -> Floats:
        """Events at each score (the sum of their weights)."""
        return np.concatenate([rows.hits for rows in self._tables.values()])

    @property
    def group(self) -> NDArray[np.str_] | None:
        """Group of each row, or None."""
        if None in self._tables:
            return None
        sizes = [rows.score.size for rows in self._tables.values()]
        return np.repeat(np.array(self.groups), sizes)

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, in order."""
        return tuple(name for name in self._tables if name is not None)

    @property
    def n(self) -> float:
        """Cases in the table: the sum of the weights."""
        return float(sum(rows.trials.sum() for rows in self._tables.values()))

    @property
    def events(self) -> float:
        """Events in the table."""
        return float(sum(rows.hits.sum() for rows in self._tables.values()))

    @property
    def is_compressed(self) -> bool:
        """Whether any rows are cells of the log-odds grid rather than exact scores."""
        return any(rows.cell is not None for rows in self._tables.values())

    def rows_of(self, scores: Floats) -> NDArray[np.intp]:
        """Row of each case of this table, by its score, in a table without groups."""
        (rows,) = self._tables.values()
        return row_of(rows, scores)

    def share_reaching(self, thresholds: Floats) -> Floats:
        """Share of each row's cases whose score is at least t, of shape (rows, thresholds).

        0 or 1 for exact scores; in a cell of the grid that holds t, the share of its width.
        """
        parts = [share_reaching(rows, thresholds) for rows in self._tables.values()]
        return np.concatenate(parts)

    @property
    def weight_type(self) -> WeightType:
        """How the weights are read: "counts" of cases (also without weights), or "sampling"."""
        return self._weight_type or "counts"

    @property
    def is_pseudo(self) -> bool:
        """Whether the weights are sampling weights rather than case counts."""
        return self.weight_type == "sampling"

    @property
    def weight_scale(self) -> float:
        """Factor that turns weights into effective cases: 1, or Kish's for sampling weights."""
        return self.sampling_size / self.n if self.is_pseudo else 1.0

    @property
    def effective_size(self) -> float:
        """Cases that the likelihood counts: Kish's effective size of sampling weights, else `n`."""
        return self.n * self.weight_scale

    @property
    def sampling_size(self) -> float:
        """Kish's effective size of the weights, were they sampling weights."""
        return kish(self.n, self._squares)

    @property
    def _squares(self) -> float:
        return sum(rows.square_sum for rows in self._tables.values())


def common_weight_type(first: GroupedRows, second: GroupedRows) -> WeightType | None:
    """How the weights of a sum are read; what nothing was said of follows the other table."""
    types: set[WeightType] = {
        table._weight_type for table in (first, second) if table._weight_type is not None
    }
    if len(types) > 1:
        raise InputError(
            "one table holds counts of cases and the other sampling weights, which have no common "
            "scale. Make both with the same weight_type=; a case that was sampled for certain has "
            "the sampling weight 1."
        )
    return types.pop() if types else None
