"""Data frames and series of any library that narwhals understands, as NumPy arrays."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.errors import CaseError, GroupWarning, InputError, as_items, check_type, warn
from bayescal.core.text import shortened
from bayescal.core.versions import needed
from bayescal.data.columns import Columns, Encoded
from bayescal.data.guesses import may_be_groups

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw


# Libraries of arrays that NumPy reads by itself; all others are left to narwhals.
READ_DIRECTLY = {"builtins", "numpy", "pandas", "xarray"}


def columns_of(frame: Any, columns: Columns) -> dict[str, Any]:
    """The columns of a data frame, by the names of the constructor's arguments.

    Of a lazy one no others are computed.
    """
    nw = _narwhals()
    try:
        wrapped = nw.from_native(_as_frame(frame))
    except TypeError:
        raise InputError(
            f"frame is a {type(frame).__name__}, which is no data frame. Pass one of pandas, "
            "polars, pyarrow, duckdb or another library that narwhals understands."
        ) from None
    columns.check(wrapped.collect_schema().names())
    few = wrapped.select(columns.needed)
    table = few.collect() if isinstance(few, nw.LazyFrame) else few
    labelled = {*columns.labelled}

    def values_of(name: str) -> Any:
        try:
            series, called = table[name], f"column {name!r}"
            if name == columns.outcome and series.null_count():
                return np.array(series.to_list(), dtype=object)
            values = _values_of(series, called, ordered=name in labelled)
        except CaseError as error:
            raise error.changed(part="frame") from None
        return values if name in labelled else _plain(values)

    return columns.values(values_of)


def note_groups(frame: Any, columns: Columns, ignore: Any) -> None:
    """Warn of columns that may be of hospitals or dates by name and values, if none is named."""
    ignored = as_items(ignore, "ignore")
    for at, name in enumerate(ignored):
        cure = "Pass the names of columns, such as ['hospital']."
        check_type(name, str, f"ignore[{at}]", cure)
    if columns.subgroup or any((columns.site, columns.period, columns.cluster)):
        return
    nw = _narwhals()
    wrapped = nw.from_native(_as_frame(frame))
    names = [str(name) for name in wrapped.collect_schema().names()]
    named = may_be_groups(names, {*columns.needed, *ignored})
    if not named:
        return
    few = wrapped.select(*named)
    table = few.collect() if isinstance(few, nw.LazyFrame) else few
    for name, role in named.items():
        if _repeats(table[name]):
            warn(
                f"column {shortened(repr(name))} may tell groups apart. If calibration may differ "
                f"between them, or rows of one are alike, say so: {role}={name!r} or "
                f"cluster={name!r}; ignore=[{name!r}] if it does not matter.",
                GroupWarning,
            )


def _as_frame(frame: Any) -> Any:
    """A data frame; of a Dataset of xarray, with its variables as columns."""
    is_dataset = hasattr(frame, "data_vars") and len(frame.dims) == 1
    return frame.to_dataframe() if is_dataset else frame


def _repeats(series: nw.Series[Any]) -> bool:
    """Whether there are several values, some of them more than once; not of lists and the like."""
    try:
        return bool(2 <= series.n_unique() < len(series))
    except TypeError:
        return False


def as_plain(values: Any, name: str, *, missing: bool = False) -> Any:
    """A series or frame of a library that NumPy does not read, as an array; all else as it is."""
    if type(values).__module__.partition(".")[0] in READ_DIRECTLY:
        return values
    nw = _narwhals()
    wrapped = nw.from_native(_chunked(values), allow_series=True, pass_through=True)
    if isinstance(wrapped, nw.Series):
        if missing and wrapped.null_count():
            return np.array(wrapped.to_list(), dtype=object)
        return _plain(_values_of(wrapped, name))
    if isinstance(wrapped, nw.DataFrame):
        columns = [
            _plain(_values_of(wrapped.get_column(column), f"{name}[{column!r}]"))
            for column in wrapped.columns
        ]
        return np.column_stack(columns) if columns else np.empty((len(wrapped), 0))
    if isinstance(wrapped, nw.LazyFrame):
        raise InputError(
            f"{name} is a lazy table, the rows of which have no order, so that outcomes and scores "
            "cannot be paired. Name both columns: CalibrationData.from_frame(table, outcome=..., "
            "prob=...)."
        )
    return values


def _narwhals() -> ModuleType:
    with needed("reading data frames of other libraries than pandas", "narwhals"):
        import narwhals.stable.v2 as nw
    return nw


def _chunked(values: Any) -> Any:
    """An array of pyarrow as the series that it is; anything else as it is."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None and isinstance(values, arrow.Array):
        return arrow.chunked_array([values])
    return values


def _values_of(series: nw.Series[Any], name: str, *, ordered: bool = False) -> Any:
    """The values of a series, none of which may be missing; `ordered` keeps its categories."""
    nw = _narwhals()
    if series.null_count():
        at = int(series.is_null().arg_true()[0])
        raise CaseError(name, "is missing (null)", row=at, cure="drop")
    if isinstance(series.dtype, nw.Decimal):
        series = series.cast(nw.Float64)
    if ordered and isinstance(series.dtype, nw.Categorical | nw.Enum):
        if series.implementation.is_pandas():
            return series.to_native().array
        if isinstance(series.dtype, nw.Enum):
            import pandas as pd

            return pd.Categorical(series.to_list(), list(series.dtype.categories), ordered=True)
    if isinstance(series.dtype, nw.Categorical | nw.Enum | nw.String):
        return _encoded(series)
    return series.to_numpy()


def _encoded(series: nw.Series[Any]) -> Encoded:
    """Texts, each made an object of Python once, where the library can tell them apart."""
    import pandas as pd

    native, library = series.to_native(), series.implementation
    if library.is_pyarrow():
        native = native.to_pandas()
    elif not library.is_pandas():
        native = pd.Series(series.to_list(), dtype=object)
    row, labels = pd.factorize(native)
    return Encoded(row, np.asarray(labels, dtype=object))


def _plain(values: Any) -> Any:
    return values.values() if isinstance(values, Encoded) else values
