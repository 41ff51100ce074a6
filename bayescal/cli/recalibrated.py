"""Recalibrated scores in a file, and a mark beside it of the cases that the map was fitted to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayescal.cli.files import MARK, mark_of, write_table
from bayescal.core.errors import InputError, check_choice
from bayescal.core.files import replacing
from bayescal.core.text import count, shortened

if TYPE_CHECKING:
    import pandas as pd

    from bayescal.cli.terminal import Progress
    from bayescal.core.arrays import Floats
    from bayescal.data.files import Source
    from bayescal.data.reading import Cases
    from bayescal.data.table import CalibrationData
    from bayescal.model.priors import Prior
    from bayescal.recalibrate import Recalibrator

__all__ = ["Recalibrated", "find_mark", "recalibrator_of"]

BAYESIAN = "bayesian"
# To which scores are rounded in a fingerprint, since they are written as decimals.
DIGITS = 12
# Rows that are recalibrated between two messages of progress.
ROWS_AT_ONCE = 1 << 13


def recalibrator_of(method: str, prior: Prior, seed: int | None) -> Recalibrator:
    """The recalibrator with this name, in small letters and without its ending."""
    from bayescal import recalibrate as room

    names = {
        name.removesuffix("Recalibrator").lower(): name
        for name in room.__all__
        if name.endswith("Recalibrator") and name != "Recalibrator"
    }
    kind: type[Recalibrator] = getattr(room, names[check_choice(method, names, "method")])
    if method == BAYESIAN:
        return room.BayesianRecalibrator(prior=prior, random_state=seed)
    made = kind()
    return made.set_params(random_state=seed) if "random_state" in made.get_params() else made


@dataclass
class Recalibrated:
    """A file whose scores are recalibrated.

    Attributes
    ----------
    names : list of str
        Of the new columns.
    scores : ndarray of shape (n,)
        NaN where there is none.
    columns : list of ndarray
        What is written, once it is computed.
    """

    source: Source
    scale: Any
    score: str
    output: Path
    recalibrator: Recalibrator
    names: list[str]
    scores: Floats
    columns: list[Floats] = field(default_factory=list)

    @classmethod
    def of(
        cls, predictions: Cases, new: Path | None, output: Path, recalibrator: Any
    ) -> Recalibrated:
        """Read the scores of the new file, or of the cases themselves; nothing is fitted yet."""
        from bayescal.data.reading import open_as, read_scores

        request, score = predictions.request, str(predictions.columns.prob)
        source = open_as(request, new or predictions.request.path)
        ends = ("recalibrated", *(("lower", "upper") if hasattr(recalibrator, "interval") else ()))
        names = [f"{score}_{end}" for end in ends]
        for name in names:
            if name in source.names:
                raise InputError(
                    f"{source.path} already has a column {name!r}, which would be added. Rename or "
                    "remove it first."
                )
        scores = read_scores(request, new or predictions.request.path, score)
        return cls(source, request.as_written, score, output, recalibrator, names, scores)

    def compute(self, level: float, progress: Progress) -> None:
        """Recalibrate the scores, with intervals where the map has any."""
        known = self.scores[~np.isnan(self.scores)]
        parts = []
        for start in range(0, known.size, ROWS_AT_ONCE):
            block = known[start : start + ROWS_AT_ONCE]
            columns = [self.recalibrator.transform(block)]
            if hasattr(self.recalibrator, "interval"):
                columns += self.recalibrator.interval(block, level)
            parts.append(np.stack(columns))
            progress(start + block.size, known.size)
        self.columns = [self.scale.from_probability(each) for each in np.concatenate(parts, axis=1)]

    def notes(self, method: str, *, is_own: bool) -> Iterator[str]:
        """Which map the new column has, which need not be the update that is recommended."""
        if method == BAYESIAN:
            yield (
                "The new column has the posterior mean of the averaged curve, to which all updates "
                "contribute; it has no equation. --method intercept, logistic or beta writes one "
                "update."
            )
        else:
            yield f"The new column has what --method {method} fitted, whatever is recommended."
        if is_own:
            yield (
                "These are the cases that the map was fitted to, on whom its gain is "
                "overestimated. --folds 10 says what fitting it gains on others."
            )
        gaps = int(np.isnan(self.scores).sum())
        if gaps:
            yield (
                f"{count(gaps, 'row')} of {shortened(str(self.source.path))} without a score: the "
                "new cells are empty there."
            )

    def writer(self, predictions: Cases, method: str) -> Callable[[], list[Path]]:
        """What writes the file and its mark."""

        def write() -> list[Path]:
            known = ~np.isnan(self.scores)
            table = self.source.load(verbatim=True)
            for name, values in zip(self.names, self.columns, strict=True):
                table[name] = np.nan
                table.loc[known, name] = values
            write_table(self.output, table, **_marks(self.source, table[self.score], self.output))
            data = predictions.data
            mark = _write_mark(self.output, predictions.request.path, data, method, self.names)
            return [self.output, mark]

        return write


def _marks(source: Source, score: pd.Series, output: Path) -> dict[str, str]:
    """The separator and the decimal mark to write: those of the source; tabs in a .tsv file."""
    from bayescal.data.files import SEPARATORS

    separator = "\t" if output.suffix.lower() == ".tsv" else source.separator
    if separator is None or separator not in SEPARATORS:
        separator = ","
    commas = separator != "," and score.astype("string").str.contains(",", regex=False).any()
    return {"separator": separator, "decimal": "," if commas else "."}


# The mark


def _write_mark(
    output: Path, source: Path, data: CalibrationData, method: str, columns: list[str]
) -> Path:
    """Note down which cases a map was fitted to, and which columns it made."""
    from bayescal.core.versions import library_versions

    path = mark_of(output)
    fitted_to = {"file": str(source), "cases": data.n, "sha256": _fingerprint(data)}
    record = {"method": method, "columns": columns, "fitted_to": fitted_to}
    record |= {"versions": library_versions("bayescal")}
    with replacing(path) as file:
        file.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    return path


class Mark(NamedTuple):
    """The mark of a map that made a column.

    Attributes
    ----------
    is_own : bool
        Whether the map was fitted to these very cases.
    """

    path: Path
    is_own: bool


def find_mark(file: Path, cases: Cases, column: str) -> Mark | None:
    """The mark of a map that made this column.

    That of the file itself decides, if it names the column. Without one, files may have been
    renamed or joined since, and all marks in the folder are compared with the cases.
    """
    sought, own = None, mark_of(file)
    for path in (own, *sorted(file.parent.glob(f"*{MARK}"))):
        try:
            record = json.loads(path.read_text("utf-8"))
            marked, columns = record["fitted_to"]["sha256"], record["columns"]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # there is none, or it is another program's file
        sought = sought or _fingerprint(cases.data)
        if column in columns and (marked == sought or path == own):
            return Mark(path, marked == sought)
    return None


def _fingerprint(data: CalibrationData) -> str:
    """Fingerprint of the cases, unchanged when scores are written as decimals and read again."""
    from bayescal.data.stored import fingerprint
    from bayescal.data.table import CalibrationData
    from bayescal.data.weights import read_type

    outcome, score, weight = data.to_arrays()
    kind = None if weight is None else read_type(weight)
    rounded = np.round(score, DIGITS)
    return fingerprint(CalibrationData(outcome, rounded, weight, weight_type=kind))
