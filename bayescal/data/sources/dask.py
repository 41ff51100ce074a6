"""Dask data frames and arrays: one table a partition, made where the partition is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.core.versions import needed
from bayescal.data.sources.columns import Columns

__all__ = ["added_up", "partitions_of"]

FAN_IN = 16
"""Tables that one task adds up."""
FROM_A_FILE = (
    "Mend it, or leave it out; of Parquet files, CalibrationData.from_parquet names the file and "
    "the row group that cannot be read."
)
TOO_LARGE = "If it needs more memory than a worker has, repartition the frame into smaller parts."
LONGEST_REASON = 300
"""Characters of another library's error that are shown."""

Table = TypeVar("Table")


class Partition(NamedTuple):
    """A partition that is not computed yet.

    Attributes
    ----------
    values : tuple of delayed objects
        A data frame, or arrays of outcomes, scores and perhaps weights and groups.
    name : str
        What errors call it.
    """

    values: tuple[Any, ...]
    name: str


def partitions_of(frame: Any, columns: Columns | None) -> list[Partition]:
    """The partitions of a Dask data frame, reduced to the columns, or of several Dask arrays.

    Parameters
    ----------
    columns : Columns or None
        None for arrays.
    """
    _dask()
    if columns is None:
        return _of_arrays(frame)
    if not hasattr(frame, "to_delayed") or not hasattr(frame, "columns"):
        raise InputError(
            f"frame is a {type(frame).__name__}, and outcome= and prob= name the columns of a "
            "Dask data frame. Pass one, or a tuple of Dask arrays without names."
        )
    columns.check(list(frame.columns), "frame")
    delayed = frame[columns.needed].to_delayed()
    return [Partition((part,), f"partition {index}") for index, part in enumerate(delayed)]


def added_up(
    make: Callable[[Sequence[Any], str], Table | None],
    add: Callable[[Sequence[Table | None]], Table | None],
    partitions: Sequence[Partition],
) -> Table | None:
    """The sum of what is made of each partition, computed by the scheduler that is active.

    Parameters
    ----------
    make : callable
        Of the computed values and the name of a partition.
    add : callable
        Of what was made of some of them.
    """
    _dask()
    from dask.delayed import delayed

    one, some = delayed(make, pure=False), delayed(add, pure=False)
    tables = [one(list(part.values), part.name) for part in partitions]
    sums = tables
    while len(sums) > 1:
        sums = [some(sums[at : at + FAN_IN]) for at in range(0, len(sums), FAN_IN)]
    try:
        total: Table | None = sums[0].compute()
    except InputError:
        raise
    except Exception as error:  # whatever the user's graph raises, or the scheduler
        task = getattr(error, "task", None)  # that killed every worker it was given to
        advice = FROM_A_FILE if task is None else TOO_LARGE
        raise InputError(
            f"{_failing(tables, partitions, task)} of frame cannot be computed: "
            f"{type(error).__name__}: {shortened(error, LONGEST_REASON)}. {advice}"
        ) from error
    return total


def _failing(tables: Sequence[Any], partitions: Sequence[Partition], task: Any) -> str:
    """The name of a partition that cannot be computed.

    Of a task that killed its workers, Dask says which one it is. Otherwise halves of the
    partitions are computed again, at most as many as there are partitions in all.

    Parameters
    ----------
    tables : sequence of delayed objects
        What is made of each partition.
    task : object
        Dask's name of the task that killed its workers, or None.
    """
    if task is not None:
        names = {table.key: part.name for table, part in zip(tables, partitions, strict=True)} | {
            value.key: part.name
            for part in partitions
            for value in part.values
            if value is not None
        }
        return names.get(task, "a partition")
    first, after = 0, len(partitions)
    while after - first > 1:
        middle = (first + after) // 2
        if _fails(tables[first:middle]):
            after = middle
        else:
            first = middle
    return partitions[first].name if _fails(tables[first:after]) else "a partition"


def _fails(tables: Sequence[Any]) -> bool:
    from dask.delayed import delayed

    try:
        delayed(list(tables)).compute()
    except InputError:
        raise
    except Exception:
        return True
    return False


def _of_arrays(arrays: Any) -> list[Partition]:
    if not isinstance(arrays, tuple | list) or not 2 <= len(arrays) <= 4:
        raise InputError(
            f"frame is a {type(arrays).__name__}. Pass a Dask data frame with outcome= and prob=, "
            "or a tuple of Dask arrays: (y_true, y_prob), or (y_true, y_prob, weight or None, "
            "group)."
        )
    given = [array for array in arrays if array is not None]
    if not all(hasattr(array, "to_delayed") for array in given):
        raise InputError("frame holds what is no Dask array: pass dask.array.from_array of it.")
    for array in given:
        if array.ndim != 1:
            raise InputError(
                f"a Dask array has {array.ndim} dimensions, and one is needed: one probability (or "
                "outcome) per observation."
            )
    first = given[0]
    alike = [array if _alike(first, array) else array.rechunk(first.chunks) for array in given]
    parts = [list(np.ravel(array.to_delayed())) for array in alike]
    numbers = {len(blocks) for blocks in parts}
    if len(numbers) > 1:
        raise InputError(
            f"the Dask arrays have {' and '.join(map(str, sorted(numbers)))} chunks, which are "
            "paired one by one. Bring them to the same chunks with compute_chunk_sizes() and "
            "rechunk()."
        )
    columns = iter(parts)
    all_blocks = [None if array is None else next(columns) for array in arrays]
    return [
        Partition(
            tuple(None if blocks is None else blocks[index] for blocks in all_blocks),
            f"chunk {index}",
        )
        for index in range(numbers.pop())
    ]


def _alike(first: Any, other: Any) -> bool:
    """Whether arrays are cut alike, or sizes are unknown, which shows when they are computed."""
    sizes = [getattr(array, "chunks", ((np.nan,),))[0] for array in (first, other)]
    lengths = [sum(chunks) for chunks in sizes]
    if np.isnan(lengths).any():
        return True
    if lengths[0] != lengths[1]:
        raise InputError(
            f"the Dask arrays have {lengths[0]} and {lengths[1]} observations. They must describe "
            "the same patients, in the same order."
        )
    return bool(sizes[0] == sizes[1])


def _dask() -> ModuleType:
    with needed("reading Dask objects", "bayescal[dask]"):
        import dask
    module: ModuleType = dask
    return module
