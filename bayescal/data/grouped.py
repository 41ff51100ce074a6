"""The rows of each group, and how the weights behind them are read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError, as_items, check_choice
from bayescal.data.stored import Tables, from_dataset, read_dataset, to_dataset, write_dataset
from bayescal.data.table import row_of, share_reaching
from bayescal.data.validate import as_floats, as_scores
from bayescal.data.weights import WeightType, kish

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["GroupedRows", "Part", "common_weight_type"]

Part: TypeAlias = Literal["outcomes", "clusters", "strata", "imputations", "likelihood"]
"""What a posterior can know of its cases and its table does not hold."""

PARTS: dict[Part, str] = {
    "outcomes": "it holds scores alone, of cases that were not observed. Pass outcomes with the "
    "scores, as (y_true, y_prob).",
    "imputations": "it holds the scores of all imputations as one table, and what differs between "
    "them would not count as uncertainty. Pass the outcomes with imputations=, or the table of "
    "one, post.imputations[0].data.",
    "clusters": "its cases would count as independent. Pass y_true and y_prob, with cluster= where "
    "it can be given.",
    "strata": "its cases would count as drawn without strata. Pass y_true and y_prob, with strata= "
    "where it can be given.",
    "likelihood": "its outcomes are those that were recorded, and would count as the truth. Pass "
    "y_true and y_prob, with judged= where it can be given.",
}
"""Why a table without each is refused, and what to pass instead."""


class GroupedRows:
    """Binomial rows by group, or of one nameless group: what can be read off them."""

    _tables: Tables
    _weight_type: WeightType | None
    _lacks: tuple[Part, ...] = ()

    def _set(self, tables: Tables, weight_type: WeightType | None) -> Self:
        self._tables = {name: rows for name, rows in tables.items() if rows.score.size}
        self._weight_type = weight_type
        return self

    @classmethod
    def _new(cls, tables: Tables, weight_type: WeightType | None) -> Self:
        return cls.__new__(cls)._set(tables, weight_type)

    @property
    def lacks(self) -> tuple[Part, ...]:
        """What the posterior that has this table knew of its cases, and the table does not hold.

        Any of "outcomes", "imputations", "clusters", "strata" and "likelihood" (of outcomes that a
        judge recorded); empty where nothing was lost.
        """
        return self._lacks

    @property
    def has_outcomes(self) -> bool:
        """Whether there are outcomes: a table can hold the scores of cases not yet observed."""
        return "outcomes" not in self._lacks

    def lacking(self, parts: Part | Iterable[Part]) -> Self:
        """The same table, which says that it lacks these, and is refused where cases are read.

        Parameters
        ----------
        parts : {"outcomes", "imputations", "clusters", "strata", "likelihood"}, or several

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If a part is none of these.
        """
        named = {check_choice(part, PARTS, "parts") for part in as_items(parts, "parts")}
        lost = tuple(part for part in PARTS if part in self._lacks or part in named)
        if lost == self._lacks:
            return self
        tables = self._tables
        if "outcomes" in lost:
            tables = {
                name: replace(rows, hits=np.zeros(rows.score.size), terms=None)
                for name, rows in tables.items()
            }
        table = self._new(tables, self._weight_type)
        table._lacks = lost
        return table

    def complete(self) -> Self:
        """The table itself, refused if it lacks what its posterior knew of the cases.

        Raises
        ------
        InputError
            That names what it lacks, and what to pass instead.
        """
        if self._lacks:
            first, *others = self._lacks
            named = "has no outcomes"
            if first != "outcomes":
                named = f"lacks the {' and '.join([first, *others])} of the posterior that has it"
            raise InputError(f"this table {named}: {PARTS[first]}")
        return self

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
        """Events at each score (the sum of their weights); refused where there are no outcomes."""
        self._check_outcomes()
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
        """Events in the table; refused where there are no outcomes."""
        self._check_outcomes()
        return float(sum(rows.hits.sum() for rows in self._tables.values()))

    @property
    def is_compressed(self) -> bool:
        """Whether any rows are cells of the log-odds grid rather than exact scores."""
        return any(rows.cell is not None for rows in self._tables.values())

    def rows_of(self, scores: Floats) -> NDArray[np.intp]:
        """Row of each case of this table, by its score, in a table without groups."""
        (rows,) = self._tables.values()
        return row_of(rows, as_scores(scores, "scores"))

    def share_reaching(self, thresholds: Floats) -> Floats:
        """Share of each row's cases whose score is at least t, of shape (rows, thresholds).

        0 or 1 for exact scores; in a cell of the grid that holds t, the share of its width.
        """
        at = as_floats(thresholds, "thresholds")
        parts = [share_reaching(rows, at) for rows in self._tables.values()]
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

    def to_xarray(self) -> xr.Dataset:
        """The table as an xarray.Dataset with dimension `row`.

        Returns
        -------
        xarray.Dataset
        """
        dataset = to_dataset(self._tables, self._weight_type)
        return dataset.assign_attrs(lacks=" ".join(self._lacks)) if self._lacks else dataset

    @classmethod
    def from_xarray(cls, dataset: xr.Dataset) -> Self:
        """Read back what `to_xarray` wrote.

        Parameters
        ----------
        dataset : xarray.Dataset

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If a variable is missing, or what the table lacks is not known.
        """
        table, lost = cls._new(*from_dataset(dataset)), str(dataset.attrs.get("lacks", "")).split()
        unknown = set(lost) - set(PARTS)
        if unknown:
            raise InputError(
                f"the dataset lacks {', '.join(sorted(unknown))}, which no table of this version "
                "does: it was edited, or written by a later version."
            )
        return table.lacking(part for part in PARTS if part in lost)

    def to_netcdf(self, path: str | PathLike[str]) -> None:
        """Write the table to a NetCDF file, which `from_netcdf` reads back to the last bit.

        It is written under a temporary name in the same folder and renamed at the end, so that an
        interruption leaves a former file as it was.

        Parameters
        ----------
        path : str or path-like

        Raises
        ------
        OSError
            If it cannot be written.

        Examples
        --------
        >>> import bayescal as bc
        >>> table = bc.CalibrationData([0, 1], [0.2, 0.8])
        >>> table.to_netcdf("table.nc")  # doctest: +SKIP
        >>> bc.CalibrationData.from_netcdf("table.nc")  # doctest: +SKIP
        CalibrationData(2 cases, 1 events, 2 rows)
        """
        write_dataset(self.to_xarray(), path)

    @classmethod
    def from_netcdf(cls, path: str | PathLike[str]) -> Self:
        """Read a table that `to_netcdf` wrote.

        Parameters
        ----------
        path : str or path-like

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If there is no such file, it is no table, it is damaged, or a later version wrote it.
        """
        return cls.from_xarray(read_dataset(path))

    def _check_outcomes(self) -> None:
        if not self.has_outcomes:
            self.complete()

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
