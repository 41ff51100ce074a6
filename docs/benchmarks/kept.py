"""Finished data sets of a benchmark, kept so that a run goes on where it stopped.

They are kept apart for each state of the code that the script uses: what another state made is
never taken for finished. The first data sets of each cell are stored with the results by `run.py`,
which can then ask whether a later state of the code says the same of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import provenance

FIRST = "BAYESCAL_FIRST_SETS"
"""Environment variable: make only so many data sets of each cell."""
ROWS = "rows.jsonl"


@cache
def folder(name: str) -> Path:
    """Where finished work of a script is kept, for the present state of the code."""
    path = provenance.HERE / "results" / f"{name}-batches" / provenance.here().code(name)
    path.mkdir(parents=True, exist_ok=True)
    return path


def read(file: Path) -> dict[tuple[str, int], Any]:
    """What a file of finished data sets says, by cell and number of the data set.

    A line that was cut when a run was stopped is left out.
    """
    rows = {}
    for text in file.read_text("utf-8").splitlines() if file.is_file() else ():
        with suppress(ValueError):
            line = json.loads(text)
            rows[line["cell"], line["set"]] = line["row"]
    return rows


class Rows:
    """What was found in each data set of a script.

    Parameters
    ----------
    name : str
        The script.
    """

    def __init__(self, name: str) -> None:
        self._file = folder(name) / ROWS
        self._known = read(self._file)

    def of(self, cell: str, sets: int, one: Callable[[int], Any]) -> list[Any]:
        """Rows of the first data sets of a cell; those that are not there yet are made.

        Parameters
        ----------
        cell : str
            Its name.
        sets : int
            How many data sets.
        one : callable
            Makes a row of the number of the data set, of which alone it may depend. The row is
            read back as JSON has it: lists for tuples.
        """
        numbers = range(min(sets, int(os.environ.get(FIRST) or sets)))
        for number in numbers:
            if (cell, number) not in self._known:
                line = json.dumps({"cell": cell, "set": number, "row": one(number)}, default=_plain)
                with self._file.open("a", encoding="utf-8") as stream:
                    stream.write(line + "\n")
                self._known[cell, number] = json.loads(line)["row"]
        return [self._known[cell, number] for number in numbers]

    def all_of(self, cell: str, sets: int, several: Callable[[int], Any]) -> list[Any]:
        """The same in one list, where a data set has several rows."""
        return list(chain.from_iterable(self.of(cell, sets, several)))

    def cell(self, cell: str, make: Callable[[], Any]) -> Any:
        """The result of a cell whose data sets are made together."""
        return self.of(cell, 1, lambda _: make())[0]


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy, and what is iterated, as JSON has them."""
    return value.tolist() if hasattr(value, "tolist") else list(value)
