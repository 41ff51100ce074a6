"""A long table of imputed data: the rows of one imputation below those of the other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.text import count, shortened
from bayescal.cli._cases import Cases, as_probabilities, read_cases, with_weight_type
from bayescal.cli._columns import check_column, choose_columns
from bayescal.cli._predictions import Predictions
from bayescal.cli._progress import working
from bayescal.cli._read import Source
from bayescal.cli._terminal import say
from bayescal.cli.form import AS_IS, Form
from bayescal.data.imputed.read import imputed_tables
from bayescal.data.imputed.stack import stacked

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ImputedCases", "read_imputed"]

ORIGINAL = 0
"""The number under which mice keeps the data as they were before imputation."""


@dataclass(frozen=True)
class ImputedCases:
    """Cases whose scores were imputed several times.

    Attributes
    ----------
    column : str
        The column that numbers the imputations.
    outcome : ndarray of shape (n,)
    scores : ndarray of shape (m, n)
    weight : ndarray of shape (n,) or None
    weight_type : {"counts", "sampling"} or None
    original : int
        Rows of the data before imputation, which are left out.
    """

    column: str
    outcome: Floats
    scores: Floats
    weight: Floats | None
    weight_type: Any
    original: int

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of `bayescal.fit` and `bayescal.assess`."""
        return {
            "y_true": self.outcome,
            "imputations": self.scores,
            "sample_weight": self.weight,
            "weight_type": self.weight_type,
        }

    @property
    def source(self) -> dict[str, Any]:
        """For the record."""
        return {"imputation": self.column, "imputations": len(self.scores)}

    def introduce(self, console: Console) -> None:
        """Say how many imputations there are, and what was left out."""
        m, n = self.scores.shape
        say(console, f"{m} imputations of {count(n, 'case')} (column {shortened(self.column)}).")
        if self.original:
            say(
                console,
                f"{count(self.original, 'row')} of imputation {ORIGINAL} left out: scores are "
                "missing there, as in the data before imputation.",
            )


@dataclass(frozen=True)
class _Selected(Source):
    """Some rows of a file, which remember where they stand in it."""

    rows: NDArray[np.intp] | None = None

    def where(self, row: int) -> str:
        assert self.rows is not None
        return super().where(int(self.rows[row]))


def read_imputed(
    path: Path,
    imputation: str,
    *,
    outcome: str | None,
    score: str | None,
    event: str | None,
    weight: str | None,
    weight_type: str | None = None,
    form: Form = AS_IS,
) -> tuple[Predictions, ImputedCases]:
    """Read a file of one row per case and imputation.

    Parameters
    ----------
    path : Path
    imputation : str
        Column with the number or name of the imputation.
    outcome, score, event, weight, weight_type : str, optional
        As in `read_predictions`.
    form : Form

    Returns
    -------
    predictions : Predictions
        Of which the table is that of all imputations, where each case counts once in all.
    cases : ImputedCases

    Raises
    ------
    InputError
        If the file cannot be read, a value is no good, there is one imputation only, or
        imputations differ in their number of rows, their outcomes or their weights.
    """
    with working(f"Reading {path}"):
        source = form.open(path)
        frame = source.load()
        check_column(imputation, [str(name) for name in frame.columns], "imputation")
        number = frame[imputation]
        if number.isna().any():
            at = source.where(int(number.isna().to_numpy().argmax()))
            raise InputError(
                f"column {imputation!r} is empty on {at} of {path}. Number the imputation of every "
                "row."
            )
        frame = frame.drop(columns=imputation)
        columns = choose_columns(frame, outcome, score, weight, None, form.scale)
        scores = as_probabilities(frame[columns.score], columns.score, source, form.scale)
        kept = _without_original(number, np.isnan(scores))
        rows = np.flatnonzero(kept)
        selected = _Selected(source.path, source.names, source.separator, source.encoding, rows)
        cases = read_cases(frame[kept], columns, selected, scale=form.scale, event=event)
        cases = with_weight_type(cases, weight, weight_type)
        imputed = _split(cases, number[kept], imputation, selected, int((~kept).sum()))
        options = imputed.options
        tables = imputed_tables(options.pop("y_true"), None, **options)
    predictions = Predictions(
        stacked(tables), columns, cases.event, 0, imputed.outcome.size, path, form
    )
    return predictions, imputed


def _without_original(number: pd.Series, missing: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """All rows but those of imputation 0 when scores are missing there."""
    text = number.astype("string").str.strip()
    original = text.isin([str(ORIGINAL), f"{ORIGINAL}.0"]).to_numpy(dtype=bool)
    leave_out = original.any() and not original.all() and bool(missing[original].any())
    return ~original if leave_out else np.ones(len(number), dtype=bool)


def _split(
    cases: Cases, number: pd.Series, column: str, source: Source, original: int
) -> ImputedCases:
    """One row of scores for each imputation, in the order in which these come."""
    labels = number.unique().tolist()
    index = [np.flatnonzero((number == label).to_numpy()) for label in labels]
    if len(labels) < 2:
        raise InputError(
            f"column {column!r} holds one imputation, {labels[0]!r}. Several are needed; leave out "
            "--imputation if the scores were not imputed."
        )
    first = index[0]
    for label, rows in zip(labels[1:], index[1:], strict=True):
        if rows.size != first.size:
            raise InputError(
                f"column {column!r}: imputation {labels[0]!r} has {count(first.size, 'row')} and "
                f"imputation {label!r} has {rows.size}. Every imputation must have the same cases, "
                "in the same order."
            )
        for name, values in (("outcome", cases.outcome), ("weight", cases.weight)):
            if values is None or (values[rows] == values[first]).all():
                continue
            at = int((values[rows] != values[first]).argmax())
            raise InputError(
                f"the {name} of case {at + 1} differs between imputation {labels[0]!r} "
                f"({source.where(int(first[at]))}) and {label!r} "
                f"({source.where(int(rows[at]))}). Sort the cases of every imputation in the same "
                f"order. Where the {name} itself was imputed, leave those cases out."
            )
    return ImputedCases(
        column,
        cases.outcome[first],
        np.stack([cases.score[rows] for rows in index]),
        None if cases.weight is None else cases.weight[first],
        cases.weight_type,
        original,
    )
