"""Tables from data frames, Parquet files and Dask: the constructors of `CalibrationData`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Self, TypeAlias

from bayescal.core.errors import (
    CaseError,
    GroupWarning,
    InputError,
    as_count,
    as_items,
    check_callable,
    check_type,
)
from bayescal.core.text import shortened
from bayescal.data.contents import Contents, Reader, added, check_labels
from bayescal.data.sources.columns import Columns, may_be_sites
from bayescal.data.sources.frames import groups_unnamed, read_frame
from bayescal.data.weights import WeightType

__all__ = ["FromSources", "as_names", "note_groups"]


Part: TypeAlias = tuple[Contents, set[Any], bool]
"""What is known of some cases: the contents of their table, their labels beside the event, and
whether one of them has the event."""


class FromSources:
    """Tables that are read from where the cases lie."""

    @classmethod
    def _new(cls, contents: Contents) -> Self:
        """A table with these contents."""
        raise NotImplementedError

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        outcome: str | None = None,
        prob: str,
        sample_weight: str | None = None,
        site: str | None = None,
        period: str | None = None,
        cluster: str | None = None,
        stratum: str | None = None,
        imputation: str | None = None,
        subgroup: str | Sequence[str] = (),
        time: str | None = None,
        event: str | None = None,
        entry: str | None = None,
        horizon: float | None = None,
        pos_label: Any = None,
        weight_type: WeightType | None = None,
        ignore: Sequence[str] = (),
    ) -> Self:
        """Build a table from columns of a data frame.

        Parameters
        ----------
        frame : data frame
            Of pandas, polars, pyarrow, modin, duckdb or any other library that narwhals
            understands. Of a lazy frame or a query only these columns are computed.
        outcome : str
            Column of outcomes, 0/1 or boolean; other labels need `pos_label`. Needed, but for times
            to an event.
        prob : str
            Column of predicted probabilities of the event, in [0, 1].
        sample_weight : str, optional
            Column of counts of cases, or of sampling weights.
        site, period, cluster, stratum, imputation : str, optional
            Columns of these roles, as in the constructor.
        subgroup : sequence of str
            Columns of subgroups, such as sex and age group.
        time, event : str, optional
            In place of `outcome`, columns of times to an event and of whether it ended them, as in
            `Survival`.
        entry : str, optional
            Column of when each case came under observation, as in `Survival`.
        horizon : float, optional
            Of times to an event: by when the scores are risks of it.
        pos_label : object, optional
            The outcome that counts as the event.
        weight_type : {"counts", "sampling"}, optional
            What the weights are; by default counts if all are whole numbers.
        ignore : sequence of str
            Columns of hospitals or dates that do not matter, of which no warning is given.

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If it is no data frame, a column is missing, or a value in one is missing or not valid.

        Warns
        -----
        GroupWarning
            If a column is called site, hospital, centre, clinic, region, study, month, date or the
            like, its values repeat, and no site, period, cluster or subgroup is named.
        WeightWarning
            As the constructor, when weights can be either type.

        Examples
        --------
        >>> import bayescal as bc
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"died": [0, 1, 1, 0], "risk": [0.2, 0.8, 0.8, 0.2]})
        >>> bc.CalibrationData.from_frame(frame, outcome="died", prob="risk")
        CalibrationData(4 cases, 2 events, 2 rows)
        """
        roles = (site, period, cluster, stratum, imputation)
        columns = Columns(
            outcome, prob, sample_weight, *roles, as_names(subgroup), time, event, entry
        )
        reader = Reader(weight_type=weight_type, pos_label=pos_label, horizon=horizon)
        _add(reader, frame, columns, "frame")
        note_groups(groups_unnamed(frame, columns, _as_ignored(ignore)))
        return cls._new(reader.finished())

    @classmethod
    def from_parquet(
        cls,
        path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        outcome: str | None = None,
        prob: str,
        sample_weight: str | None = None,
        site: str | None = None,
        period: str | None = None,
        cluster: str | None = None,
        stratum: str | None = None,
        imputation: str | None = None,
        subgroup: str | Sequence[str] = (),
        time: str | None = None,
        event: str | None = None,
        entry: str | None = None,
        horizon: float | None = None,
        pos_label: Any = None,
        weight_type: WeightType | None = None,
        batch_size: int = 1 << 20,
        progress: Callable[[int, int], object] | None = None,
    ) -> Self:
        """Build a table from Parquet files of any size, reading some rows at a time.

        Only the columns that are named are read, and memory does not grow with the number of
        cases. It needs pyarrow, which the extra `parquet` installs.

        Parameters
        ----------
        path : path-like, or iterable of them
            A file; a folder, in which all Parquet files are read at any depth, but for those whose
            names begin with a dot or an underscore; or a list of files. Folders may be called
            after the values of a column, as in ``site=north``.
        outcome, prob, sample_weight, site, period, cluster, stratum, imputation : str
        subgroup : sequence of str
        time, event, entry : str, optional
            Columns, as in `from_frame`; they may stand in another order in each file. The cluster
            of each case is kept until all are read, so that clusters are refused of more than
            20 000 000 cases.
        horizon : float, optional
            Of times to an event, as in `from_frame`.
        pos_label : object, optional
            The outcome that counts as the event.
        weight_type : {"counts", "sampling"}, optional
            What the weights are; by default counts if all are whole numbers.
        batch_size : int
            Most rows that are read at a time. The table does not depend on it.
        progress : callable, optional
            Called after each batch with the number of rows that are read, and of all rows.

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If there is no Parquet file, one cannot be read or lacks a column, or a value is missing
            or not valid: with the file, the row group (counted from 0) and the row in it; or if a
            file is named twice, also by a link.

        Warns
        -----
        RepeatWarning
            When row groups are copies of others, as in a copy of a file.
        WeightWarning
            As `from_chunks`.

        Examples
        --------
        >>> import bayescal as bc
        >>> table = bc.CalibrationData.from_parquet(
        ...     "predictions/", outcome="died", prob="risk"
        ... )  # doctest: +SKIP
        """
        from bayescal.data.sources.ahead import ahead
        from bayescal.data.sources.parquet import ParquetFiles

        roles = (site, period, cluster, stratum, imputation)
        columns = Columns(
            outcome, prob, sample_weight, *roles, as_names(subgroup), time, event, entry
        )
        reader = Reader(weight_type=weight_type, pos_label=pos_label, horizon=horizon)
        size = as_count(batch_size, "batch_size")
        check_callable(progress, "progress", "the numbers of rows that are read, and of all rows")
        files = ParquetFiles.of(path)
        files.check(columns)
        files.warn_of_repeats()
        done = 0
        for batch in ahead(files.batches(columns.needed, size)):
            _add(reader, batch.table, columns, batch.where)
            done += len(batch.table)
            if progress is not None:
                progress(done, files.rows)
        return cls._new(reader.finished())

    @classmethod
    def from_dask(
        cls,
        frame: Any,
        *,
        outcome: str | None = None,
        prob: str | None = None,
        sample_weight: str | None = None,
        site: str | None = None,
        period: str | None = None,
        cluster: str | None = None,
        stratum: str | None = None,
        imputation: str | None = None,
        subgroup: str | Sequence[str] = (),
        time: str | None = None,
        event: str | None = None,
        entry: str | None = None,
        horizon: float | None = None,
        pos_label: Any = None,
        weight_type: WeightType | None = None,
    ) -> Self:
        """Build a table from a Dask data frame or from Dask arrays.

        Each partition becomes a table where it lies, and the tables are added up in a tree, by
        whichever scheduler of Dask is active: threads, processes or a distributed cluster. No
        more than tables travels. It needs Dask, which the extra `dask` installs.

        Parameters
        ----------
        frame : dask.dataframe.DataFrame, or tuple of dask.array.Array
            Arrays as ``(y_true, y_prob)``, with weights (or None) and sites behind, if any.
        outcome, prob, sample_weight, site, period, cluster, stratum, imputation : str, optional
        subgroup : sequence of str
        time, event, entry : str, optional
            Columns of the data frame, as in `from_frame`.
        horizon : float, optional
            Of times to an event, as in `from_frame`.
        pos_label : object, optional
            The outcome that counts as the event.
        weight_type : {"counts", "sampling"}, optional
            What the weights are; by default counts if all are whole numbers, without a warning.

        Returns
        -------
        CalibrationData

        Raises
        ------
        InputError
            If it is no Dask object, a column is missing, or a value is missing or not valid: with
            the number of the partition, counted from 0.

        Examples
        --------
        >>> import bayescal as bc
        >>> table = bc.CalibrationData.from_dask(
        ...     frame, outcome="died", prob="risk"
        ... )  # doctest: +SKIP
        """
        from bayescal.data.sources.dask import added_up, partitions_of

        columns, names = None, (sample_weight, site, period, cluster, stratum, imputation)
        times = (time, event, entry)
        if prob is not None and (outcome is not None or time is not None):
            columns = Columns(outcome, prob, *names, as_names(subgroup), *times)
        elif any(name is not None for name in (outcome, prob, *names, *times)) or as_names(
            subgroup
        ):
            raise InputError(
                "name the columns of a Dask data frame with both outcome= and prob= (or time=, "
                "event= and prob=); arrays are passed without names."
            )
        read = {"weight_type": weight_type, "pos_label": pos_label, "horizon": horizon}
        make = partial(_contents_of, columns, read)
        total = added_up(make, _sum_of_tables, partitions_of(frame, columns))
        if total is None:
            raise InputError("the partitions hold no cases that count: one at least is needed.")
        if total[0].follow_up is not None:
            total[0].follow_up.check()
        if pos_label is not None and not total[2]:
            check_labels(pos_label, total[1])
        return cls._new(total[0])


def as_names(columns: Any, name: str = "subgroup") -> tuple[str, ...]:
    """Columns as they were named, one or several; `name` is the argument."""
    return (columns,) if isinstance(columns, str) else tuple(as_items(columns, name))


def _as_ignored(ignore: Any) -> tuple[str, ...]:
    """Columns that do not matter, by their names."""
    names = as_names(ignore, "ignore")
    for at, name in enumerate(names):
        check_type(name, str, f"ignore[{at}]", "Pass the names of columns, such as ['hospital'].")
    return names


def note_groups(names: Sequence[str]) -> None:
    """Warn of columns of hospitals or dates of which nothing is said."""
    for name in names:
        role = "site" if may_be_sites(name) else "period"
        warnings.warn(
            f"column {shortened(repr(name))} may tell groups apart. If calibration may differ "
            f"between them, or rows of one are alike, say so: {role}={name!r} or "
            f"cluster={name!r}; ignore=[{name!r}] if it does not matter.",
            GroupWarning,
            stacklevel=3,
        )


def _add(reader: Reader, frame: Any, columns: Columns, name: str) -> None:
    """Take in the columns of a data frame, and say what is wrong in their names."""
    try:
        reader.add(read_frame(frame, columns, name), name)
    except CaseError as error:
        raise error.changed(argument=columns.called(error.argument)) from None


def _contents_of(
    columns: Columns | None,
    read: dict[str, Any],
    values: Sequence[Any],
    name: str,
) -> Part | None:
    """What is known of the cases of a partition; None if none counts."""
    reader = Reader(**read)
    if columns is None:
        reader.add(tuple(values), name)
    else:
        _add(reader, values[0], columns, name)
    if reader.is_empty:
        return None
    return reader.contents(), reader.other_labels, reader.has_event


def _sum_of_tables(tables: Sequence[Part | None]) -> Part | None:
    """The sum of the tables."""
    counted = [part for part in tables if part is not None]
    if not counted:
        return None
    total = added([contents for contents, *_ in counted])
    others = set().union(*(labels for _, labels, _ in counted))
    return total, others, any(known for *_, known in counted)
