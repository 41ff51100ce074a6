"""What commands write beside pages: recalibrated scores with a mark, and running tables."""

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
    """A file whose scores are recalibrated; NaN where there is none."""

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
    """The mark of a map that made a column; `is_own` if the map was fitted to these very cases."""

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


# What new cases must have in common with those before.
MEANINGS = ("outcome", "event", "prob", "sample_weight", "site", "period", "cluster")
# Characters of a fingerprint that a message shows.
FIRST_DIGITS = 12


@dataclass(frozen=True)
class RunningTable:
    """A table on disk, with what it was made of and the state of its file when it was read."""

    path: Path
    data: CalibrationData | None
    added: tuple[dict[str, Any], ...]
    state: tuple[int, ...] | None

    @classmethod
    def open(cls, path: Path) -> RunningTable:
        """Read a table, or begin one where there is no file."""
        if not path.exists():
            return cls(path, None, (), None)
        from bayescal.data.stored import read_dataset
        from bayescal.data.table import CalibrationData

        state = _state(path)
        try:
            dataset = read_dataset(path)
        except InputError as error:
            raise InputError(
                f"--update {path}: this file is no running table that can be read. Name one that "
                "--update made, or a new file. (" + str(error).removeprefix("path ") + ")"
            ) from error
        added = tuple(json.loads(dataset.attrs.get("added", "[]")))
        return cls(path, CalibrationData.from_xarray(dataset), added, state)

    def with_cases(self, predictions: Cases, *, force: bool = False) -> RunningTable:
        """The table with new cases, not yet written; `force` adds what seems to be there."""
        from bayescal.data.stored import fingerprint

        new = {
            "file": str(predictions.request.path),
            "fingerprint": fingerprint(predictions.data),
            "cases": predictions.data.n,
            "event": predictions.event,
            **predictions.columns.told,
        }
        if not force:
            self._check_new(new)
        data = predictions.data if self.data is None else self.data + predictions.data
        return RunningTable(self.path, data, (*self.added, new), self.state)

    def _check_new(self, new: dict[str, Any]) -> None:
        for one in self.added:
            if one["fingerprint"] == new["fingerprint"]:
                shown = new["fingerprint"][:FIRST_DIGITS]
                raise InputError(
                    f"{new['file']} holds the same {count(new['cases'], 'case')} as {one['file']}, "
                    f"which {self.path} has already (fingerprint {shown}). "
                    "Leave them out, or count them twice with --force."
                )
        for meaning in MEANINGS:
            before = [one.get(meaning) for one in self.added[-1:]]
            if before and before[0] != new.get(meaning):
                option = {"event": "positive"}.get(meaning, meaning).replace("_", "-")
                raise InputError(
                    f"--{option} of the cases in {self.path} is {before[0]!r}, and that of "
                    f"{new['file']} is {new.get(meaning)!r}. A running table is of one model: say "
                    f"--{option} if they are the same, or add --force if the names have changed."
                )

    @property
    def cases(self) -> CalibrationData:
        """The table, once it has cases."""
        assert self.data is not None
        return self.data

    @property
    def source(self) -> dict[str, Any]:
        """Where the cases before came from, for the record."""
        return {"running_table": str(self.path), "additions": len(self.added)}

    def introduce(self) -> str:
        """How many cases there are, in a sentence."""
        times = count(len(self.added), "addition")
        cases = count(round(self.cases.effective_size, 1), "case")
        return f"With those in {self.path.name}: {cases} of {times}."

    def write(self) -> list[Path]:
        """Replace the file, all at once; and which it is."""
        from bayescal.data.stored import write_dataset

        if self.state != (_state(self.path) if self.path.exists() else None):
            raise InputError(
                f"{self.path} was changed by another program meanwhile, and is left as it is now. "
                "Run the command again."
            )
        dataset = self.cases.to_xarray().assign_attrs(added=json.dumps(self.added))
        write_dataset(dataset, self.path)
        return [self.path]


def _state(path: Path) -> tuple[int, ...]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns
