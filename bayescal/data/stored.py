"""Binomial tables as an xarray.Dataset, and on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, by_group
from bayescal.core.checksum import checksum
from bayescal.core.errors import InputError, check_type
from bayescal.core.files import as_path, existing_file, replacing
from bayescal.core.text import exact, shortened
from bayescal.data.build.labels import GroupNames
from bayescal.data.follow_up import FollowUp
from bayescal.data.members import Members
from bayescal.data.roles import Structure
from bayescal.data.table import Rows, Tables
from bayescal.data.validate import as_floats, as_scores, check_same_length
from bayescal.data.weights import WeightType

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "check_dataset",
    "from_dataset",
    "read_dataset",
    "reading_tree",
    "to_dataset",
    "write_dataset",
]

FORMAT = "bayescal table"
VERSION = 2
"""Of what is written; a file of a later version is refused."""
COUNT_ROUNDING = 1e-9


def to_dataset(
    tables: Tables,
    weight_type: WeightType | None,
    structure: Structure,
    members: Members | None,
    follow_up: FollowUp | None,
) -> xr.Dataset:
    """All rows along one dimension `row`, with what else a table remembers."""
    import xarray as xr

    columns: dict[str, NDArray[Any]] = {
        name: np.concatenate([getattr(rows, name) for rows in tables.values()])
        for name in ("score", "trials", "hits")
    }
    sizes = [rows.score.size for rows in tables.values()]
    if None not in tables:
        columns["group"] = np.repeat(np.array(list(tables)), sizes)
    if any(rows.cell is not None for rows in tables.values()):
        gridded = [_with_cells(rows) for rows in tables.values()]
        columns["cell"] = np.concatenate([cell for cell, _ in gridded])
        columns["position"] = np.concatenate([position for _, position in gridded])
    variables: dict[str, Any] = {name: ("row", values) for name, values in columns.items()}
    if any(rows.squares is not None for rows in tables.values()):
        squares = [np.nan if rows.squares is None else rows.squares for rows in tables.values()]
        variables["square_terms"] = (("table", "square_term"), np.array(squares)[:, None])
    attributes = {} if weight_type is None else {"weight_type": str(weight_type)}
    if structure.levels:
        attributes["roles"] = structure.to_json()
    if members is not None:
        variables |= members.to_variables()
    if follow_up is not None:
        variables |= follow_up.to_variables()
    return xr.Dataset(variables, {"row": np.arange(sum(sizes))}, attributes)


@contextmanager
def reading_tree() -> Iterator[None]:
    """What goes wrong while a tree is read is an InputError on the tree."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = shortened(" ".join(str(error).split()))
        cure = "Load the file as it was written, or refit the data."
        raise InputError(f"the tree was edited or damaged: {reason}. {cure}") from error


def check_dataset(dataset: Any, source: str) -> None:
    """Refuse what is no xarray.Dataset; `source` is the function that returns one."""
    import xarray as xr

    check_type(dataset, xr.Dataset, "dataset", f"Pass what {source} returns.")


def from_dataset(
    dataset: xr.Dataset,
) -> tuple[Tables, WeightType | None, Structure, Members | None, FollowUp | None]:
    """Read back what `to_dataset` wrote, also in earlier versions, whose groups are sites."""
    check_dataset(dataset, "CalibrationData.to_xarray")
    missing = {"score", "trials", "hits"} - set(map(str, dataset.data_vars))
    if missing:
        raise InputError(f"dataset lacks {', '.join(sorted(missing))}; pass to_xarray()'s.")
    columns = {str(name): dataset[name].to_numpy() for name in dataset.data_vars}
    _check_columns(columns)
    row_sets = _rows_by_group(columns.get("group"), columns["score"].size)
    tables: Tables = {}
    for (name, keep), squares in zip(
        row_sets.items(), _stored_squares(dataset, list(row_sets.values())), strict=True
    ):
        cell = columns["cell"][keep] if "cell" in columns else np.array([-1])
        on_grid = bool((cell >= 0).any())
        score, trials, hits = (
            columns[key][keep].astype(np.float64) for key in ("score", "trials", "hits")
        )
        tables[name] = Rows(
            score,
            trials,
            hits,
            cell.astype(np.intp) if on_grid else None,
            columns["position"][keep] if on_grid else None,
            squares,
        )
    structure = _stored_structure(dataset, [name for name in tables if name is not None])
    members = Members.of_dataset(dataset, columns["score"].size)
    follow_up = FollowUp.of_dataset(dataset, columns["score"].size)
    return tables, _stored_weight_type(dataset), structure, members, follow_up


def _check_columns(columns: dict[str, NDArray[Any]]) -> None:
    """Refuse scores, trials and hits that no table can have."""
    score = as_scores(columns["score"], "the dataset's score")
    trials, hits = (
        as_floats(columns[name], f"the dataset's {name}") for name in ("trials", "hits")
    )
    check_same_length(score.size, "the dataset's score", trials.size, "its trials")
    check_same_length(score.size, "the dataset's score", hits.size, "its hits")
    for name, wrong in (
        ("trials", ~((trials > 0) & (trials < np.inf))),
        ("hits", ~((hits >= 0) & (hits <= trials * (1 + COUNT_ROUNDING)))),
    ):
        if wrong.any():
            at = int(wrong.argmax())
            raise InputError(
                f"the dataset's row {at} has {exact(hits[at])} hits of "
                f"{exact(trials[at])} trials, so its "
                f"{name} are wrong: it was edited or damaged. Make the table again from the data."
            )


def write_dataset(dataset: xr.Dataset, path: str | PathLike[str]) -> None:
    """Write a table's dataset to a NetCDF file, all at once.

    An interruption leaves a former file as it was.

    Parameters
    ----------
    dataset : xarray.Dataset
        From `to_dataset`; attributes of one's own may be added.
    """
    marks = {"format": FORMAT, "format_version": VERSION, "checksum": checksum(dataset)}
    with replacing(as_path(path)) as file:
        dataset.assign_attrs(marks).to_netcdf(file, engine="h5netcdf")


def read_dataset(path: str | PathLike[str]) -> xr.Dataset:
    """The dataset that `write_dataset` wrote.

    Returns
    -------
    xarray.Dataset
        In memory, with the attributes as they were given.
    """
    import xarray as xr

    file = existing_file(path)
    try:
        dataset = xr.load_dataset(file, engine="h5netcdf")
    except Exception as error:  # damage inside a file can be any error of the layers below
        raise InputError(
            f"path {file} cannot be read: it is no NetCDF file, or is cut off or damaged "
            f"({shortened(error, 200)}). "
            "Take a copy of it from before."
        ) from error
    attributes = dataset.attrs
    if attributes.pop("format", None) != FORMAT:
        raise InputError(f"path {path} holds no table: write one with to_netcdf().")
    version = int(attributes.pop("format_version", 0))
    if version > VERSION:
        raise InputError(
            f"{path} is a table of format {version}, and this version of bayescal reads formats "
            f"up to {VERSION}. Update bayescal."
        )
    if attributes.pop("checksum", None) != checksum(dataset):
        raise InputError(
            f"{path} is damaged: its numbers are not those that were written. "
            "Take a copy of it from before."
        )
    return dataset


def _rows_by_group(
    group: NDArray[Any] | None, size: int
) -> dict[str | None, slice | NDArray[np.intp]]:
    """The rows of each group, in the order of the groups."""
    if group is None:
        return {None: slice(None)}
    names = GroupNames()
    codes = names.codes(group, size)
    order = by_group(codes)
    parts = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    return dict(zip(names.names, parts, strict=True))


def _with_cells(rows: Rows) -> tuple[NDArray[np.intp], Floats]:
    if rows.cell is None or rows.position is None:
        return np.full(rows.score.size, -1), np.zeros(rows.score.size)
    return rows.cell, rows.position


def _stored_weight_type(dataset: xr.Dataset) -> WeightType | None:
    """The type that `to_xarray` wrote; before there were types it wrote whether to rescale."""
    if "weight_type" in dataset.attrs:
        return "sampling" if dataset.attrs["weight_type"] == "sampling" else "counts"
    return "sampling" if dataset.attrs.get("fractional", 0) else None


def _stored_structure(dataset: xr.Dataset, groups: list[str]) -> Structure:
    """The roles of the groups."""
    if "roles" not in dataset.attrs:
        return Structure({"site": tuple(groups)} if groups else {})
    label = ""
    try:
        structure = Structure.of_json(dataset.attrs["roles"])
        for label in groups:
            known = zip(structure.cell(label), structure.levels.values(), strict=True)
            if not all(level in levels for level, levels in known):
                raise ValueError
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(
            f"the dataset's group {shortened(repr(label))} is not among its roles: it was edited "
            "or damaged. Make the table again from the data."
        ) from None
    return structure


def _stored_squares(
    dataset: xr.Dataset, row_sets: list[slice | NDArray[np.intp]]
) -> list[float | None]:
    """Squared weights of each group, summed; of a sum over all, its share of the cases."""
    if "square_terms" in dataset:
        rows = dataset["square_terms"].to_numpy()  # earlier versions wrote several terms of a sum
        return [None if np.isnan(row).all() else float(np.nansum(row)) for row in rows]
    if "weight_squares" not in dataset.attrs:
        return [None] * len(row_sets)
    trials = dataset["trials"].to_numpy().astype(np.float64)
    cases = [float(trials[own].sum()) for own in row_sets]
    stored = np.atleast_1d(dataset.attrs["weight_squares"]).tolist()
    if len(stored) != len(cases):
        stored = [stored[0] * own / sum(cases) for own in cases]
    return [None if own == total else total for own, total in zip(cases, stored, strict=True)]
