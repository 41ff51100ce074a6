"""The rows of each group, and how the weights behind them are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_items, check_choice
from bayescal.core.text import cases_and_events, count
from bayescal.data.clusters import Clusters
from bayescal.data.contents import (
    Contents,
    forgotten,
    one_table,
    pooled,
    split,
    stacked_times,
)
from bayescal.data.follow_up import FollowUp
from bayescal.data.imputations import check_alike, stacked
from bayescal.data.members import Members
from bayescal.data.periods import Periods
from bayescal.data.roles import IMPUTATION, Structure
from bayescal.data.stored import from_dataset, read_dataset, to_dataset, write_dataset
from bayescal.data.table import Tables, row_of, share_reaching
from bayescal.data.validate import as_floats, as_scores
from bayescal.data.weights import WeightType, kish

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["GroupedRows"]


class GroupedRows:
    """Binomial rows by group, or of one nameless group: what can be read off them."""

    _contents: Contents
    _imputations: tuple[Self, ...] = ()
    _is_observed: bool = True

    @classmethod
    def _new(cls, contents: Contents) -> Self:
        """A table; of several imputations, the table of each, and all stacked to one."""
        tables = {name: rows for name, rows in contents.tables.items() if rows.score.size}
        structure = contents.structure
        if structure.levels and tables:
            structure = structure.among(str(name) for name in tables)
        contents = contents._replace(tables=tables, structure=structure)
        if IMPUTATION in structure.levels:
            parts = [cls._new(each) for each in split(contents)]
            return cls._of_imputations(structure.levels[IMPUTATION], parts)
        table = cls.__new__(cls)
        table._contents = contents
        return table

    @classmethod
    def _of_imputations(cls, labels: Sequence[str], parts: Sequence[Self]) -> Self:
        check_alike(labels, parts)
        within = parts[0]._structure
        for part in parts[1:]:
            within = within.joined(part._structure)
        structure = Structure({IMPUTATION: tuple(labels)} | within.levels, within.periods)
        table = cls.__new__(cls)
        tables = stacked([part._tables for part in parts])
        follow_up = stacked_times([part._contents for part in parts], tables)
        table._contents = Contents(tables, parts[0]._weight_type, structure, None, follow_up)
        table._imputations = tuple(parts)
        table._is_observed = parts[0]._is_observed
        return table

    def _each(self, change: Callable[[Contents], Contents]) -> Self:
        """The table whose contents, of each imputation if there are several, are changed."""
        if self._imputations:
            parts = [part._each(change) for part in self._imputations]
            return self._of_imputations(self._structure.levels[IMPUTATION], parts)
        table = self._new(change(self._contents))
        table._is_observed = self._is_observed
        return table

    @property
    def _tables(self) -> Tables:
        return self._contents.tables

    @property
    def _weight_type(self) -> WeightType | None:
        return self._contents.weight_type

    @property
    def _structure(self) -> Structure:
        return self._contents.structure

    @property
    def _any(self) -> Self:
        """The table of one imputation, or the table itself: they have the same cases."""
        return (self._imputations or (self,))[0]

    @property
    def roles(self) -> tuple[str, ...]:
        """Names of the roles that the cases have: imputation, site, period, subgroups, cluster."""
        return (*self._structure.levels, *self._dependence)

    @property
    def _dependence(self) -> tuple[str, ...]:
        members = self._any._contents.members
        if members is None:
            return ()
        return ("cluster",) if members.layer is None else ("cluster", "stratum")

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of each role that makes groups, in order; of periods, in order of time."""
        return dict(self._structure.levels)

    @property
    def subgroups(self) -> tuple[str, ...]:
        """Names of the columns of subgroups."""
        return self._structure.subgroups

    @property
    def periods(self) -> Periods | None:
        """The periods in order of time, and the time between them; None without any."""
        return self._structure.periods

    @property
    def cells(self) -> tuple[dict[str, str], ...]:
        """The level of each role but the imputation of each group, in the order of `groups`."""
        within = self._structure.without((IMPUTATION,))
        return tuple(within.named(label) for label in self.groups)

    @cached_property
    def clusters(self) -> Clusters | None:
        """The clusters of the cases, on the scale of effective cases; None without any.

        Those of several imputations are in each of `imputations`. One cluster alone is refused.
        """
        if self.members is None:
            return None
        return self.members.clusters(self.weight_scale, sampling=self.is_pseudo)

    @cached_property
    def followed_clusters(self) -> Clusters | None:
        """The same clusters of times to an event, by the entries of `follow_up`."""
        members, followed = self.members, self.follow_up
        if members is None or followed is None or followed.members is None:
            return None
        by_entry = replace(followed.members, layer=members.layer)
        return by_entry.clusters(self.weight_scale, sampling=self.is_pseudo)

    @property
    def members(self) -> Members | None:
        """The clusters by what is known of them in every table; None without any."""
        return self._contents.members

    @property
    def follow_up(self) -> FollowUp | None:
        """How long the cases were followed, of times to an event; None of plain outcomes."""
        return self._contents.follow_up

    def independent(self) -> Self:
        """The table itself, refused if its cases come in clusters or strata."""
        if self._dependence and not (self.clusters is not None and self.clusters.are_single):
            raise InputError(
                f"the table has {' and '.join(self._dependence)}, and this takes cases as "
                "independent. If it is not affected by that, pass data.without('cluster')."
            )
        return self

    def with_several_clusters(self) -> Self:
        """The same cases, with clusters or strata forgotten of which there are too few to differ.

        Of a part of a table: one cluster is then no cluster, and strata are one, if one of them
        has a single cluster.
        """
        members = self.members
        return self.without(members.too_few) if members is not None and members.too_few else self

    def without(self, roles: str | Sequence[str]) -> Self:
        """The same cases with some roles forgotten.

        Parameters
        ----------
        roles : str, or sequence of str
            Of those in `roles`, but for the imputation. With clusters their strata are forgotten.

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If there is no such role, or it is the imputation.
        """
        named = [check_choice(role, self.roles, "roles") for role in as_items(roles, "roles")]
        if IMPUTATION in named:
            raise InputError(
                "imputation cannot be forgotten: each case is in the table once an imputation. "
                "Take one of data.imputations."
            )
        return self._each(lambda contents: forgotten(contents, named))

    @property
    def imputations(self) -> tuple[Self, ...]:
        """The table of each imputation; empty where nothing was imputed.

        The rows here are those of all imputations, where each case counts 1/m in each.
        """
        return self._imputations

    @property
    def has_imputed_outcomes(self) -> bool:
        """Whether the number of events differs between imputations, so that outcomes were imputed.

        `events` is then their mean.
        """
        each = [part._hits for part in self._imputations]
        return bool(each) and not np.allclose(each, each[0], 1e-9, 0)

    @property
    def _hits(self) -> float:
        """Events of one imputation."""
        return float(sum(rows.hits.sum() for rows in self._tables.values()))

    @property
    def has_outcomes(self) -> bool:
        """Whether there are outcomes: a table can hold the scores of cases not yet observed."""
        return self._is_observed

    def without_outcomes(self) -> Self:
        """The scores alone, as of cases not yet observed: refused where outcomes are read.

        Returns
        -------
        CalibrationData
        """
        if not self.has_outcomes:
            return self
        table = self._each(_without_hits)
        for each in (table, *table._imputations):
            each._is_observed = False
        return table

    def scores_alone(self) -> Self:
        """The scores without roles, for curves to be seen on; its outcomes stand for none.

        Raises
        ------
        InputError
            If there are several imputations.
        """
        if self._imputations:
            raise InputError(
                f"scores is a table of {len(self._imputations)} imputations. Pass the scores of "
                "one: data.imputations[0]."
            )
        return self._new(pooled(_without_hits(self._contents)))

    def complete(self, *, takes_times: bool = False) -> Self:
        """The table itself, refused if it has no outcomes.

        Parameters
        ----------
        takes_times : bool
            Whether times to an event are taken; if not, they are refused.

        Raises
        ------
        InputError
            That says what to pass instead.
        """
        self._check_outcomes()
        if self.follow_up is not None and not takes_times:
            raise InputError(
                "this table has times to an event, and cases that left before the horizon: this is "
                "of outcomes that are known. Times are taken by bayescal.fit, compare, assess, "
                "recommend, recalibration_gain and build_model."
            )
        return self

    def _check_outcomes(self) -> None:
        if not self.has_outcomes:
            raise InputError(
                "this table has no outcomes: it holds scores alone, of cases that were not "
                "observed. Pass outcomes with the scores, as (y_true, y_prob)."
            )

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
        return float(sum(rows.trials.sum() for rows in self._any._tables.values()))

    @property
    def events(self) -> float:
        """Events in the table; refused where there are no outcomes.

        Of outcomes that were imputed it is the mean over the imputations.
        """
        self._check_outcomes()
        parts = self._imputations if self.has_imputed_outcomes else (self._any,)
        return sum(part._hits for part in parts) / len(parts)

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

    def counted(self) -> dict[str, float]:
        """Numbers of cases and of events; of sampling weights, of effective cases."""
        return {"cases": self.effective_size, "events": self.events * self.weight_scale}

    @property
    def size_in_words(self) -> str:
        """How many cases and events there are; of sampling weights, what they are worth."""
        if self.is_pseudo:
            return cases_and_events(self.n, self.events, self.effective_size)
        return f"{count(self.n, 'case')}, {count(self.events, 'event')}"

    def of_effective_cases(self) -> Self:
        """The same table, whose sampling weights are numbers of effective cases already."""
        if not self.is_pseudo:
            return self
        tables = {
            name: replace(rows, squares=float(rows.trials.sum()))
            for name, rows in self._tables.items()
        }
        return self._new(self._contents._replace(tables=tables))

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
        contents = self._contents
        if self._imputations:
            contents = one_table([part._contents for part in self._imputations], self._structure)
        dataset = to_dataset(*contents)
        return dataset if self.has_outcomes else dataset.assign_attrs(outcomes="unknown")

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
            If a variable is missing, or is not what was written.
        """
        table = cls._new(Contents(*from_dataset(dataset)))
        return table.without_outcomes() if "outcomes" in dataset.attrs else table

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

    @property
    def _squares(self) -> float:
        return sum(rows.square_sum for rows in self._tables.values())


def _without_hits(contents: Contents) -> Contents:
    """The scores alone."""
    tables = {
        name: replace(rows, hits=np.zeros(rows.score.size))
        for name, rows in contents.tables.items()
    }
    return contents._replace(tables=tables, members=None)
