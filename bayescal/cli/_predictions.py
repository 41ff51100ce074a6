"""From a file to a table of cases, saying what was read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.cli._batches import in_batches, read_batches
from bayescal.cli._cases import (
    Cases,
    about_counts,
    about_sampling_weights,
    read_cases,
    with_weight_type,
)
from bayescal.cli._clusters import ClusterColumns
from bayescal.cli._columns import choose_columns
from bayescal.cli._progress import working
from bayescal.cli._terminal import say
from bayescal.cli.form import AS_IS, PROBABILITY, Form
from bayescal.data.data import CalibrationData

if TYPE_CHECKING:
    from bayescal.assessment.val_prob import RawCases
    from bayescal.data.clusters.clusters import Clusters
    from bayescal.data.sources.columns import Columns

__all__ = ["Predictions", "read_predictions"]


class Predictions(NamedTuple):
    """Predictions and outcomes, read from a file.

    Attributes
    ----------
    data : CalibrationData
    columns : Columns
    event : str
        The label that counts as the event.
    dropped, rows : int
        Rows left out, and rows in all.
    path : Path
    form : Form
        How the file was read.
    clusters : Clusters or None
        Of the cases, if a column of them was named.
    clustered : ClusterColumns
        What was said of clusters.
    raw : tuple of RawCases
        As of `Findings`.
    """

    data: CalibrationData
    columns: Columns
    event: str
    dropped: int
    rows: int
    path: Path
    form: Form
    clusters: Clusters | None = None
    clustered: ClusterColumns = ClusterColumns()
    raw: tuple[RawCases, ...] = ()

    def introduce(self, console: Console, what: str) -> None:
        """Say what is assessed, and what was left out."""
        say(
            console,
            f"{what} of {shortened(self.columns.score)} as the probability that "
            f"{shortened(self.columns.outcome)} is {shortened(self.event)} "
            f"({shortened(self.path.name)})",
            "bold",
        )
        if self.dropped:
            say(console, f"{self.dropped} of {self.rows} rows left out: a value is missing.")
        if self.form.scale is not PROBABILITY:
            say(console, self.form.describe(self.data))
        if self.columns.weight is not None:
            say(console, self._about_weights())

    def _about_weights(self) -> str:
        if self.data.weight_type == "counts":
            return about_counts(self.data.n)
        return about_sampling_weights(self.rows - self.dropped, self.data.sampling_size)

    @property
    def source(self) -> dict[str, Any]:
        """Where the data came from, for the record."""
        told = {
            "file": str(self.path),
            "event": self.event,
            "rows_dropped": self.dropped,
            **self.columns.roles,
            "weight_type": None if self.columns.weight is None else self.data.weight_type,
        }
        if self.clustered.cluster is not None:
            told |= {"cluster": self.clustered.cluster, "stratum": self.clustered.stratum}
        return told | self.form.source


def read_predictions(
    path: Path,
    *,
    outcome: str | None,
    score: str | None,
    event: str | None,
    weight: str | None,
    weight_type: str | None = None,
    drop_missing: bool,
    group: Sequence[str] | None = None,
    form: Form = AS_IS,
    clustered: ClusterColumns | None = None,
) -> Predictions:
    """Read a file of one row per case, or a folder of such Parquet files.

    Parameters
    ----------
    path : Path
    outcome, score, event, weight : str, optional
        Columns, and the label of the event; guessed where there is only one way to read them.
    weight_type : {"counts", "sampling"}, optional
        Asked for when the weights can be either.
    drop_missing : bool
    form : Form
        How the file is to be read.
    group : sequence of str, optional
        One column of groups, or several of factors.
    clustered : ClusterColumns, optional
        What was said of clusters; None where a command has none, and then ids that repeat are
        nobody's question.

    Returns
    -------
    Predictions

    Raises
    ------
    InputError
        If the file cannot be read, a column is unknown or ambiguous, or a value is no good.
    """
    dependent = clustered or ClusterColumns(independent=True)
    if dependent.cluster is not None and path.is_dir():
        raise InputError("--cluster needs all cases in one file. Put the files together first.")
    if in_batches(path) and dependent.cluster is None:
        batches = read_batches(
            path,
            outcome=outcome,
            score=score,
            event=event,
            weight=weight,
            weight_type=weight_type,
            drop_missing=drop_missing,
            group=group,
            scale=form.scale,
        )
        return Predictions(*batches, path, form)
    with working(f"Reading {path}"):
        source = form.open(path)
        frame = source.load()
        dependent.check(frame)
        guessed = frame.drop(columns=dependent.needed)
        columns = choose_columns(guessed, outcome, score, weight, group, form.scale)
        dependent.ask(frame, [*columns.needed])
        cases = read_cases(
            frame,
            columns,
            source,
            scale=form.scale,
            event=event,
            drop_missing=drop_missing,
            also=dependent.needed,
        )
        cases = with_weight_type(cases, weight, weight_type)
        data = CalibrationData(
            cases.outcome, cases.score, cases.weight, cases.group, weight_type=cases.weight_type
        )
        clusters = dependent.read(frame, cases, data)
        raw = _raw(cases, data)
    read = (cases.event, cases.dropped, len(frame), path, form, clusters, dependent, raw)
    return Predictions(data, columns, *read)


def _raw(cases: Cases, data: CalibrationData) -> tuple[RawCases, ...]:
    """The cases, where their table is on a grid."""
    table = data.pooled() if data.groups else data
    if not table.is_compressed:
        return ()
    from bayescal.assessment.val_prob import raw_cases

    return raw_cases(cases.outcome, [cases.score], table, sample_weight=cases.weight)
