"""Codes that stand for missing values, such as "." of SAS or -99 of SPSS, in a column of a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.text import count, shortened
from bayescal.data.cases import is_missing

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.cli._read import Source
    from bayescal.cli.form import Scale

__all__ = ["codes_in", "refuse_coded_outcomes", "refuse_coded_scores", "refuse_texts"]

TEXTS = {
    "", "-", "--", ".", "..", "?", "missing", "n.a.", "n/k", "nk", "not available", "not known",
    "unk", "unknown",
}  # fmt: skip
CODE_NUMBERS = {-9999, -999, -99, -98, -88, -9, -8, -1, 9, 88, 98, 99, 999, 9999}
CLASSES = 2
MOST_LABELS = 10
"""Distinct outcomes beyond which none is looked at."""
DECIMAL_COMMA = r"[-+]?\d+,\d+\s*%?"


def codes_in(values: Sequence[Any]) -> list[Any]:
    """The values that usually mean a missing one."""
    return [value for value in values if _is_code(value)]


def refuse_coded_outcomes(column: pd.Series, source: Source) -> None:
    """Refuse outcomes that have two values at most but for codes of missing ones."""
    try:
        labels = {_stripped(value) for value in column.unique().tolist() if not is_missing(value)}
    except TypeError:  # lists and the like, from Parquet, or pandas.NA
        return
    codes = codes_in(sorted(labels, key=str)) if CLASSES < len(labels) <= MOST_LABELS else []
    if codes and len(labels) - len(codes) <= CLASSES:
        raise _coded(column, codes, source, ", and bayescal missing keeps their scores")


def refuse_coded_scores(column: pd.Series, source: Source, scale: Scale) -> None:
    """Refuse numbers that all are scores but for codes of missing ones."""
    if column.dtype.kind not in "if":
        return
    values = column.to_numpy()
    outside = np.unique(values[(values < scale.lowest) | (values > scale.highest)])
    codes = codes_in(outside.tolist())
    if codes and len(codes) == outside.size:
        raise _coded(column, codes, source)


def refuse_texts(column: pd.Series, wrong: NDArray[np.bool_], source: Source) -> None:
    """Refuse texts among numbers that are codes of missing values, or have a decimal comma.

    Parameters
    ----------
    wrong : ndarray of bool of shape (n,)
        Which values are no numbers; not none.
    """
    texts = column[wrong].astype("string").str.strip()
    codes = codes_in(texts.unique().tolist())
    if codes and len(codes) == texts.nunique():
        raise _coded(column, codes, source)
    if texts.str.fullmatch(DECIMAL_COMMA).all():
        at = int(wrong.argmax())
        where = f"column {column.name!r}: {texts.iloc[0]!r} on {source.where(at)} of {source.path}"
        if texts.iloc[0].endswith("%"):
            raise InputError(f"{where} is a percentage. Percentages are read with --percent.")
        raise InputError(
            f"{where} has a decimal comma, which is read only where semicolons or tabs separate "
            "the fields. Save the table so, or write decimals with a point."
        )


def _is_code(value: Any) -> bool:
    if isinstance(value, str):
        text = value.strip().lower()
        return text in TEXTS or (text.lstrip("-").isdigit() and int(text) in CODE_NUMBERS)
    return not isinstance(value, (bool, np.bool_)) and value in CODE_NUMBERS


def _coded(column: pd.Series, codes: list[Any], source: Source, kept: str = "") -> InputError:
    """What to say of them."""
    same = column.isin(codes) if column.dtype.kind in "if" else column.map(_stripped).isin(codes)
    is_code = same.to_numpy(dtype=bool)
    shown = " and ".join(
        shortened(repr(code) if isinstance(code, str) else f"{code:g}") for code in codes
    )
    return InputError(
        f"column {column.name!r} holds {shown} in {count(int(is_code.sum()), 'row')}, the first on "
        f"{source.where(int(is_code.argmax()))} of {source.path}: this looks like a code of "
        "missing values. Make these cells empty; then --drop-missing leaves their rows out"
        f"{kept}."
    )


def _stripped(value: Any) -> Any:
    """A text without spaces around it, anything else as it is."""
    return value.strip() if isinstance(value, str) else value
