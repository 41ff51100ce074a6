"""Tables as an xarray.Dataset, on disk, and as a fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError, check_type
from bayescal.core.files import as_path, existing_file, replacing
from bayescal.core.text import exact, shortened
from bayescal.data.cases import as_floats, as_scores, check_same_length
from bayescal.data.contents import Contents
from bayescal.data.roles import Structure, labels_of, ordered_cells
from bayescal.data.rows import SQUARES, SUMS, TOLD, Rows, mean_score
from bayescal.data.times import FOLLOWED_COLUMNS, KINDS, TIME_STEPS

if TYPE_CHECKING:
    import xarray as xr

FORMAT = "bayescal table"
# Of what is written; a file of another version is refused, since roles are stored otherwise.
VERSION = 4
COUNT_ROUNDING = 1e-9
# Of a number that depends on sums of weights, whose last bits differ with the order of cases.
KEPT_BITS = 20
# The attribute of what is stored that says whether it is what was written.
CHECKSUM = "sha256"
# What the variables of cases without an outcome begin with.
UNKNOWN = "unknown_"
# What those begin with that are of cases of which more is known than their row.
CASE = "case_"


def to_dataset(contents: Contents) -> xr.Dataset:
    """All rows along one dimension `row`, with what else a table remembers."""
    import xarray as xr

    variables = _variables(contents, "row")
    if contents.unknown is not None:
        more = _variables(contents.unknown, f"{UNKNOWN}row")
        variables |= {f"{UNKNOWN}{name}": values for name, values in more.items()}
    attributes: dict[str, Any] = {} if contents.is_observed else {"outcomes": "unknown"}
    if contents.weight_type is not None:
        attributes["weight_type"] = str(contents.weight_type)
    for before, each in (("", contents), (UNKNOWN, contents.unknown)):
        if each is not None and each.structure.levels:
            attributes[f"{before}roles"] = each.structure.to_json()
    if contents.horizon is not None:
        variables["horizon"] = (), contents.horizon
    size = contents.by_score[0].score.size
    return xr.Dataset(variables, {"row": np.arange(size)}, attributes)


def _variables(contents: Contents, dim: str) -> dict[str, Any]:
    (rows, row_of_case), cases = contents.by_score, contents.cases
    variables: dict[str, Any] = {
        name: (dim, getattr(rows, name)) for name in ("score", "trials", "hits")
    }
    if contents.structure.levels:
        labels = np.array([str(contents.structure.label(cell)) for cell in contents.cells])
        variables["group"] = (dim, labels[rows.cell])
    if (rows.grid >= 0).any():
        variables |= {"cell": (dim, rows.grid), "position": (dim, rows.position)}
    if rows is cases:
        more = {name: (dim, getattr(rows, name)) for name in SQUARES}
    else:
        more = {f"{CASE}{name}": ("case", getattr(cases, name)) for name in (*SUMS, *TOLD)}
        more[f"{CASE}row"] = ("case", row_of_case)
    return variables | {name: each for name, each in more.items() if each[1] is not None}


def from_dataset(dataset: xr.Dataset) -> Contents:
    """Read back what `to_dataset` wrote."""
    import xarray as xr

    check_type(dataset, xr.Dataset, "dataset", "Pass what CalibrationData.to_xarray returns.")
    missing = {"score", "trials", "hits"} - set(map(str, dataset.data_vars))
    if missing:
        raise InputError(f"dataset lacks {', '.join(sorted(missing))}; pass to_xarray()'s.")
    unknown = None
    if f"{UNKNOWN}score" in dataset:
        unknown = replace(_stored(dataset, UNKNOWN), is_observed=False)
    return replace(
        _stored(dataset, ""),
        weight_type=dataset.attrs.get("weight_type"),
        horizon=float(dataset["horizon"]) if "horizon" in dataset else None,
        unknown=unknown,
        is_observed="outcomes" not in dataset.attrs,
    )


def _stored(dataset: xr.Dataset, before: str) -> Contents:
    """Rows and groups, of variables whose names begin so."""
    columns = {
        str(name).removeprefix(before): dataset[name].to_numpy()
        for name in dataset.data_vars
        if str(name).startswith(before)
    }
    _check_columns(columns)
    score, trials, hits = (columns[key].astype(np.float64) for key in ("score", "trials", "hits"))
    names: list[str] = []
    code = np.zeros(score.size, np.intp)
    if "group" in columns:
        code, names = labels_of(columns["group"], score.size, "group")
    structure = _stored_structure(dataset, names, before)
    named = [structure.cell(name) for name in names] or [()]
    cells = ordered_cells(named)
    to = np.array([cells.index(cell) for cell in named])
    grid = columns.get("cell", np.full(score.size, -1)).astype(np.int16)
    position = columns.get("position", np.zeros(score.size))
    rows = Rows(score, trials, hits, to[code].astype(np.int32), grid, position)
    if f"{CASE}row" in columns:
        return Contents(structure, cells, _stored_cases(rows, columns))
    squares: dict[str, Any] = {name: columns.get(name) for name in SQUARES}
    return Contents(structure, cells, rows._replace(**squares))


def _stored_cases(rows: Rows, columns: dict[str, NDArray[Any]]) -> Rows:
    """Cases of which more is known than their row."""
    named: dict[str, Any] = {name: columns.get(f"{CASE}{name}") for name in (*SUMS, *TOLD)}
    row, kind = columns[f"{CASE}row"], named["kind"]
    sound = bool(row.min() >= 0 and row.max() < rows.score.size)
    sound &= all(bool(np.isfinite(each).all()) for each in named.values() if each is not None)
    if kind is not None:
        entry, exit_ = named["entry"], named["exit"]
        sound &= bool(np.isin(kind, KINDS).all() and (entry <= exit_).all() and entry.min() >= 0)
        sound &= bool(exit_.max() <= TIME_STEPS and (named["trials"] > 0).all())
    if not sound:
        raise InputError(
            "the clusters or times are not those of the table: it was edited or damaged. Load the "
            "file as it was written, or make the table again."
        )
    cases = rows.of(row)._replace(**named)
    own = mean_score(cases.grid, cases.position, cases.trials)
    return cases._replace(score=np.where(cases.grid < 0, cases.score, own))


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
    """Write a table's dataset to a NetCDF file; attributes of one's own may be added."""
    import xarray as xr

    marks = {"format": FORMAT, "format_version": VERSION}
    write_tree(xr.DataTree(dataset.assign_attrs(marks)), path)


def read_dataset(path: str | PathLike[str]) -> xr.Dataset:
    """The dataset that `write_dataset` wrote, in memory, with the attributes as they were given."""
    try:
        dataset = read_tree(path).to_dataset()
    except InputError as error:
        raise InputError(f"path {path} cannot be read: {error}") from error
    if dataset.attrs.pop("format", None) != FORMAT:
        raise InputError(f"path {path} holds no table: write one with to_netcdf().")
    version = int(dataset.attrs.pop("format_version", 0))
    if version != VERSION:
        cure = "Update bayescal." if version > VERSION else "Make it again from the cases."
        raise InputError(
            f"{path} is a table of format {version}, and this version of bayescal reads format "
            f"{VERSION}. {cure}"
        )
    return dataset


def write_tree(tree: xr.DataTree, path: str | PathLike[str]) -> None:
    """Write a tree to a NetCDF file, with its checksum: a former file is whole until then."""
    marked = tree.copy()
    marked.attrs[CHECKSUM] = _checksum(tree)
    with replacing(as_path(path)) as file:
        marked.to_netcdf(file, engine="h5netcdf")


def read_tree(path: str | PathLike[str]) -> xr.DataTree:
    """The tree in a NetCDF file; one without a checksum was written by other means."""
    import xarray as xr

    file = existing_file(path)
    try:
        tree = xr.load_datatree(file, engine="h5netcdf")
    except Exception as error:  # damage inside a file can be any error of the layers below
        raise InputError(
            f"it is no NetCDF file, or is cut off or damaged ({shortened(error, 200)}). Take a "
            "copy of it from before."
        ) from error
    written = tree.attrs.pop(CHECKSUM, None)
    if written is not None and written != _checksum(tree):
        raise InputError(
            "its numbers are not those that were written: it was edited or damaged. Take a copy of "
            "it from before, or make it again from the data."
        )
    return tree


def _checksum(tree: xr.DataTree) -> str:
    """SHA-256 of all groups with their coordinates and attributes."""
    digest = hashlib.sha256()
    for node in tree.subtree:
        dataset = node.to_dataset(inherit=False).reset_coords()
        # HDF5 gives numbers back as arrays, and a list of one as its number.
        told = sorted((str(key), np.ravel(of).tolist()) for key, of in dataset.attrs.items())
        digest.update(f"{node.path} {told}".encode("utf-8", "surrogatepass"))
        for name in sorted(map(str, dataset.data_vars)):
            values = dataset[name].to_numpy()
            digest.update(f"{name} {values.shape}".encode())
            if values.dtype.kind in "OUT":
                texts = "\0".join(map(str, values.tolist()))
                digest.update(texts.encode("utf-8", "surrogatepass"))
            else:
                digest.update(values.astype(values.dtype.newbyteorder("<")).tobytes())
    return digest.hexdigest()


def _stored_structure(dataset: xr.Dataset, groups: list[str], before: str) -> Structure:
    """The roles of the groups."""
    if not groups:
        return Structure()
    label = ""
    try:
        structure = Structure.of_json(dataset.attrs[f"{before}roles"])
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


def fingerprint(data: Any) -> str:
    """SHA-256 of a table, in hexadecimal: equal for equal cases in any order.

    Of scores, cases and events as little-endian doubles, rounded to 20 bits where weights are not
    whole; of the group of each row, in UTF-8 with a zero byte after each; of times to an event also
    of the horizon and of each entry of the follow-up, with its number of cases.
    """
    digest = hashlib.sha256()
    columns = np.stack([data.score, data.trials, data.hits])
    if (data.trials % 1).any():
        fraction, power = np.frexp(columns)
        columns = np.ldexp(np.rint(np.ldexp(fraction, KEPT_BITS)), power)
    digest.update(columns.astype("<f8").tobytes())
    if data.group is not None:
        for name in data.group.tolist():
            digest.update(name.encode("utf-8", "surrogatepass") + b"\0")
    if (followed := data.follow_up) is not None:
        digest.update(np.float64(followed.horizon).astype("<f8").tobytes())
        for name in FOLLOWED_COLUMNS:
            digest.update(getattr(followed, name).astype("<i8").tobytes())
        digest.update(followed.weight.astype("<f8").tobytes())
    return digest.hexdigest()
