"""SPSS, Stata and SAS files, whose labelled values are read as their labels."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescal.cli._read import Source, TableFile, check_file
from bayescal.core.errors import InputError
from bayescal.core.versions import needed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["STATISTICAL", "StatisticalSource", "is_statistical", "open_statistical"]

STATISTICAL = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}
"""Ends of names, and what reads such a file in pyreadstat."""


@dataclass(frozen=True)
class StatisticalSource(Source):
    """A file of SPSS, Stata or SAS."""

    def load(self, *, verbatim: bool = False, labels: Collection[str] = ()) -> pd.DataFrame:
        """The table; missing values of the user count as missing.

        A column whose values all have a label, such as 1 "North" and 2 "South", has the labels. Of
        a column in which only some have one, such as 99 "unknown", the numbers stand.
        """
        frame, told = _read(self.path)
        if frame.shape[0] == 0:
            raise InputError(f"{self.path} names columns but has no rows.")
        for name, labels in told.variable_value_labels.items():
            known = frame[name].dropna()
            if len(known) and known.isin(list(labels)).all():
                frame[name] = frame[name].map(labels)
        return frame.set_axis(list(self.names), axis="columns")


def is_statistical(path: TableFile) -> bool:
    """Whether a file is of SPSS, Stata or SAS, by its name."""
    return path.suffix.lower() in STATISTICAL


def open_statistical(path: TableFile) -> StatisticalSource:
    """Look at a file of SPSS, Stata or SAS: which columns it has."""
    check_file(path)
    frame, _ = _read(path, metadataonly=True)
    return StatisticalSource(path, tuple(map(str, frame.columns)), None)


def _read(path: TableFile, **options: Any) -> tuple[pd.DataFrame, Any]:
    otherwise = "Or save the table as CSV."
    with needed("reading SPSS, Stata and SAS files", "bayescal[stats]", otherwise):
        import pyreadstat
    read: Callable[..., tuple[Any, Any]]
    read = getattr(pyreadstat, STATISTICAL[path.suffix.lower()])
    try:
        if isinstance(path, Path):
            return read(str(path), **options)
        with path.open("rb") as file:
            return read(file, **options)
    except TypeError:
        raise InputError(
            "reading SPSS, Stata and SAS files here needs a later pyreadstat, which does not need "
            "them on disk: python -m pip install --upgrade pyreadstat."
        ) from None
    except (pyreadstat.ReadstatError, ValueError, OSError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise InputError(f"{path} cannot be read: {reason}.") from error
