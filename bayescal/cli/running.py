"""A running table: all cases of a deployed model so far, in a file that new ones are added to."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayescal.core.errors import InputError
from bayescal.core.text import count

if TYPE_CHECKING:
    from bayescal.data.reading import Cases
    from bayescal.data.table import CalibrationData

__all__ = ["RunningTable"]

# What new cases must have in common with those before.
MEANINGS = ("outcome", "event", "prob", "sample_weight", "site", "period", "cluster")
# Characters of a fingerprint that a message shows.
DIGITS = 12


@dataclass(frozen=True)
class RunningTable:
    """A table on disk.

    Attributes
    ----------
    data : CalibrationData or None
        None before the first cases.
    added : tuple of dict
        What it was made of, in order: the file, the fingerprint of its cases, their number, and
        what the columns were called.
    state : tuple of int or None
        Of the file when it was read, to see whether another program has written to it since.
    """

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
        """The table with new cases, not yet written.

        Parameters
        ----------
        force : bool
            Add cases that are there already, or whose columns have other names.
        """
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
                raise InputError(
                    f"{new['file']} holds the same {count(new['cases'], 'case')} as {one['file']}, "
                    f"which {self.path} has already (fingerprint {new['fingerprint'][:DIGITS]}). "
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
        return f"With those in {self.path.name}: {count(self.cases.n, 'case')} of {times}."

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
