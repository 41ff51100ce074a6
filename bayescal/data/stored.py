"""Binomial tables as an xarray.Dataset, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.table import Rows
from bayescal.data.weights import WeightType

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Squares", "Tables", "from_dataset", "to_dataset"]

Tables: TypeAlias = dict[str | None, Rows]
"""The rows of each group, by its name; None where there are no groups."""
Squares: TypeAlias = dict[str | None, float]
"""Sum of the squared weights of each group."""


def to_dataset(tables: Tables, squares: Squares, weight_type: WeightType | None) -> xr.Dataset:
    """All rows along one dimension `row`, with what else a table remembers as attributes."""
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
    variables = {name: ("row", values) for name, values in columns.items()}
    attributes: dict[str, Any] = {"weight_squares": list(squares.values())}
    if weight_type is not None:
        attributes["weight_type"] = weight_type
    return xr.Dataset(variables, {"row": np.arange(sum(sizes))}, attributes)


def from_dataset(dataset: xr.Dataset) -> tuple[Tables, Squares, WeightType | None]:
    """Read back what `to_dataset` wrote, also in earlier versions.

    Raises
    ------
    InputError
        If a variable is missing.
    """
    missing = {"score", "trials", "hits"} - set(map(str, dataset.data_vars))
    if missing:
        raise InputError(f"dataset lacks {', '.join(sorted(missing))}; pass to_xarray()'s.")
    columns = {str(name): dataset[name].to_numpy() for name in dataset.data_vars}
    group = columns.get("group")
    tables: Tables = {}
    for name in [None] if group is None else dict.fromkeys(group.tolist()):
        keep = slice(None) if group is None else group == name
        cell = columns["cell"][keep] if "cell" in columns else np.array([-1])
        exact = bool((cell < 0).all())
        score, trials, hits = (
            columns[key][keep].astype(np.float64) for key in ("score", "trials", "hits")
        )
        tables[None if name is None else str(name)] = Rows(
            score,
            trials,
            hits,
            None if exact else cell.astype(np.intp),
            None if exact else columns["position"][keep],
        )
    return tables, _stored_squares(dataset, tables), _stored_weight_type(dataset)


def _with_cells(rows: Rows) -> tuple[NDArray[np.intp], Floats]:
    if rows.cell is None or rows.position is None:
        return np.full(rows.score.size, -1), np.zeros(rows.score.size)
    return rows.cell, rows.position


def _stored_weight_type(dataset: xr.Dataset) -> WeightType | None:
    """The type that `to_xarray` wrote; before there were types it wrote whether to rescale."""
    if "weight_type" in dataset.attrs:
        return "sampling" if dataset.attrs["weight_type"] == "sampling" else "counts"
    return "sampling" if dataset.attrs.get("fractional", 0) else None


def _stored_squares(dataset: xr.Dataset, tables: Tables) -> Squares:
    """Squared weights of each group, summed; of a sum over all, its share of the cases."""
    cases = {name: float(rows.trials.sum()) for name, rows in tables.items()}
    total = sum(cases.values())
    stored = np.atleast_1d(dataset.attrs.get("weight_squares", total))
    if stored.size == len(tables):
        return dict(zip(tables, stored.tolist(), strict=True))
    return {name: float(stored[0]) * own / total for name, own in cases.items()}
