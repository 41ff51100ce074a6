"""Columns of clusters and strata; and the question, where ids repeat and nobody said why."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.cli._columns import check_column
from bayescal.data.clusters.clusters import Clusters
from bayescal.data.clusters.read import read_clusters

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.cli._cases import Cases
    from bayescal.data.data import CalibrationData

__all__ = ["ClusterColumns"]

ID_NAMES = {
    "case", "id", "ids", "mrn", "participant", "patient", "patients", "person", "pid", "psu",
    "subject", "subjects",
}  # fmt: skip


class ClusterColumns(NamedTuple):
    """What was said of cases that depend on each other.

    Attributes
    ----------
    cluster, stratum : str or None
        Columns.
    independent : bool
        Whether rows of one id were said to be independent.
    """

    cluster: str | None = None
    stratum: str | None = None
    independent: bool = False

    @property
    def needed(self) -> list[str]:
        """The columns, which must not be among those that are guessed."""
        return [name for name in (self.cluster, self.stratum) if name is not None]

    def check(self, frame: pd.DataFrame) -> None:
        """Refuse options that do not go together, and columns that are not there.

        Raises
        ------
        InputError
        """
        if self.stratum is not None and self.cluster is None:
            raise InputError("--stratum goes with --cluster, the column of the clusters.")
        if self.cluster is not None and self.independent:
            raise InputError("--cluster and --independent contradict each other. Leave one out.")
        names = [str(name) for name in frame.columns]
        for option, name in (("cluster", self.cluster), ("stratum", self.stratum)):
            if name is not None:
                check_column(name, names, option)

    def ask(self, frame: pd.DataFrame, taken: list[str]) -> None:
        """Refuse a table with an id that repeats, when nothing says what that means.

        Parameters
        ----------
        frame : pandas.DataFrame
        taken : list of str
            Columns that mean something else.

        Raises
        ------
        InputError
        """
        if self.cluster is not None or self.independent:
            return
        for name in map(str, frame.columns):
            if name in taken or not _is_id(name):
                continue
            values = frame[name]
            if values.ndim != 1:
                continue
            ids, rows = _distinct(values), int(values.notna().sum())
            if 2 <= ids < rows:
                shown = shortened(name)
                raise InputError(
                    f"column {shown!r} repeats ({rows:,} rows, {ids:,} ids). If rows of one "
                    f"{shown} are not independent, add --cluster {shown}; if they are, add "
                    "--independent."
                )

    def read(self, frame: pd.DataFrame, cases: Cases, data: CalibrationData) -> Clusters | None:
        """The clusters of the cases, which are those rows of the table that were kept.

        Raises
        ------
        InputError
            As `bayescal.data.clusters.read.read_clusters`.
        """
        if self.cluster is None:
            return None
        labels: list[NDArray[np.object_] | None] = [
            None if name is None else frame[name].to_numpy(dtype=object)[cases.kept]
            for name in (self.cluster, self.stratum)
        ]
        return read_clusters(data, cases.outcome, cases.score, *labels, sample_weight=cases.weight)


def _is_id(name: str) -> bool:
    plain = name.strip().lower().replace(" ", "_").replace(".", "_")
    return plain in ID_NAMES or plain.endswith("_id")


def _distinct(values: pd.Series) -> int:
    """How many values there are; none of what cannot be compared, such as lists."""
    try:
        return int(values.nunique())
    except TypeError:
        return 0
