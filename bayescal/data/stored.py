"""Binomial tables as an xarray.Dataset, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.build.digits import Totals
from bayescal.data.table import Rows
from bayescal.data.weights import WeightType

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Tables", "from_dataset", "to_dataset"]

Tables: TypeAlias = dict[str | None, Rows]
"""The rows of each group, by its name; None where there are no groups."""


def to_dataset(tables: Tables, weight_type: WeightType | None) -> xr.Dataset:
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
    variables: dict[str, Any] = {name: ("row", values) for name, values in columns.items()}
    variables |= _inexact(tables)
    attributes: dict[str, Any] = {"weight_squares": [rows.square_sum for rows in tables.values()]}
    if weight_type is not None:
        attributes["weight_type"] = weight_type
    return xr.Dataset(variables, {"row": np.arange(sum(sizes))}, attributes)


def from_dataset(dataset: xr.Dataset) -> tuple[Tables, WeightType | None]:
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
    names = [None] if group is None else list(dict.fromkeys(group.tolist()))
    squares = _stored_squares(dataset, names, group)
    tables: Tables = {}
    for name, squared in zip(names, squares, strict=True):
        keep = slice(None) if group is None else group == name
        cell = columns["cell"][keep] if "cell" in columns else np.array([-1])
        exact = bool((cell < 0).all())
        score, trials, hits = (
            columns[key][keep].astype(np.float64) for key in ("score", "trials", "hits")
        )
        terms = None
        if "terms" in columns:
            used = columns["terms"][..., keep][:, : 2 if exact else 3]
            terms = Totals.of_terms(used).part()[1]
        tables[None if name is None else str(name)] = Rows(
            score,
            trials,
            hits,
            None if exact else cell.astype(np.intp),
            None if exact else columns["position"][keep],
            terms,
            squared,
        )
    return tables, _stored_weight_type(dataset)


def _inexact(tables: Tables) -> dict[str, Any]:
    """What the rounded sums of weights leave out, where they do."""
    variables: dict[str, Any] = {}
    most = max(0 if rows.terms is None else len(rows.terms) for rows in tables.values())
    if most:
        parts = [rows.padded_terms(most) for rows in tables.values()]
        variables["terms"] = (("term", "column", "row"), np.concatenate(parts, axis=2))
    if any(rows.squares is not None for rows in tables.values()):
        longest = max(len(rows.squares or ()) for rows in tables.values())
        squares = np.full((len(tables), longest), np.nan)
        for row, rows in zip(squares, tables.values(), strict=True):
            row[: len(rows.squares or ())] = rows.squares or ()
        variables["square_terms"] = (("table", "square_term"), squares)
    return variables


def _with_cells(rows: Rows) -> tuple[NDArray[np.intp], Floats]:
    if rows.cell is None or rows.position is None:
        return np.full(rows.score.size, -1), np.zeros(rows.score.size)
    return rows.cell, rows.position


def _stored_weight_type(dataset: xr.Dataset) -> WeightType | None:
    """The type that `to_xarray` wrote; before there were types it wrote whether to rescale."""
    if "weight_type" in dataset.attrs:
        return "sampling" if dataset.attrs["weight_type"] == "sampling" else "counts"
    return "sampling" if dataset.attrs.get("fractional", 0) else None


def _stored_squares(
    dataset: xr.Dataset, names: list[Any], group: NDArray[Any] | None
) -> list[tuple[float, ...] | None]:
    """Squared weights of each group, summed; of a sum over all, its share of the cases."""
    if "square_terms" in dataset:
        rows = dataset["square_terms"].to_numpy()
        return [tuple(row[~np.isnan(row)].tolist()) or None for row in rows]
    trials = dataset["trials"].to_numpy().astype(np.float64)
    cases = [
        float(trials.sum() if group is None else trials[group == name].sum()) for name in names
    ]
    stored = np.atleast_1d(dataset.attrs.get("weight_squares", sum(cases))).tolist()
    if len(stored) != len(names):
        stored = [stored[0] * own / sum(cases) for own in cases]
    return [None if own == total else (total,) for own, total in zip(cases, stored, strict=True)]
