"""Long work in batches: over processes, with progress on a terminal, resumable from a folder."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import InputError
from bayescal.core.files import as_path
from bayescal.core.progress import Progress, bar
from bayescal.core.text import shortened
from bayescal.core.versions import library_versions

__all__ = ["Arrays", "Batch", "Progress", "run_batches", "spans", "stream"]

MOST_JOBS = 10_000
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Batch:
    """A piece of work, and everything its result depends on.

    Attributes
    ----------
    work : callable
        Takes nothing, gives arrays by name.
    size : int
        How many units of progress it is worth.
    depends_on : dict
        JSON-ready. Two batches that depend on the same have the same result.
    """

    work: Callable[[], Arrays]
    size: int
    depends_on: dict[str, Any]

    @property
    def file_name(self) -> str:
        """The file its result is kept in."""
        versions = library_versions("bayescal", "numpy", "scipy")
        key = json.dumps([versions, self.depends_on], sort_keys=True)
        return f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.npz"


def run_batches(
    batches: Sequence[Batch],
    title: str,
    *,
    n_jobs: int,
    progress: Progress,
    path: str | PathLike[str] | None,
) -> list[Arrays]:
    """Results of all batches, in order.

    Parameters
    ----------
    title : str
        What the progress bar says.
    n_jobs : int
        Processes; -1 is one a core.
    progress : bool, callable or None
        Whether to show a bar; None shows it when a person is watching. Or what to call with the
        units that are done, and all.
    path : str or path-like, optional
        Folder where each finished batch is kept, and looked for.
    """
    from joblib import Parallel, delayed

    processes = _as_jobs(n_jobs)
    folder = _as_folder(path)
    results = {index: _stored(batch, folder) for index, batch in enumerate(batches)}
    pending = [index for index, result in results.items() if result is None]
    jobs = [delayed(_finish)(batches[index], folder) for index in pending]
    with bar(title, sum(batch.size for batch in batches), progress) as advance:
        advance(sum(batch.size for index, batch in enumerate(batches) if index not in pending))
        finished = Parallel(n_jobs=processes, return_as="generator")(jobs) if jobs else []
        for index, result in zip(pending, finished, strict=True):
            results[index] = result
            advance(batches[index].size)
    return [result for result in results.values() if result is not None]


def spans(total: int, size: int) -> list[range]:
    """The numbers below `total`, a few at a time."""
    return [range(start, min(start + size, total)) for start in range(0, total, size)]


def stream(seed: int, *labels: str | int) -> np.random.Generator:
    """A generator of its own for each list of labels, in whatever order they are asked for."""
    return np.random.default_rng(np.random.SeedSequence([seed, *json.dumps(labels).encode()]))


def _as_jobs(n_jobs: Any) -> int:
    is_integer = isinstance(n_jobs, (int, np.integer)) and not isinstance(n_jobs, bool)
    if not is_integer or n_jobs == 0 or abs(n_jobs) > MOST_JOBS:
        raise InputError(
            "n_jobs must be a number of processes, or -1 for one a core, got "
            f"{shortened(repr(n_jobs))}."
        )
    return int(n_jobs)


def _as_folder(path: str | PathLike[str] | None) -> Path | None:
    if path is None:
        return None
    folder = as_path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(
            f"resume {str(path)!r} is a file; name a folder for the finished batches."
        ) from None
    except OSError as error:
        named = f"resume {shortened(repr(str(path)))}"
        raise InputError(f"{named} cannot be a folder: {error.strerror}.") from None
    return folder


def _stored(batch: Batch, folder: Path | None) -> Arrays | None:
    """The result that was kept; None if there is none, or its file is damaged."""
    if folder is None or not (folder / batch.file_name).is_file():
        return None
    try:
        with (folder / batch.file_name).open("rb") as file, np.load(file) as kept:
            return {name: kept[name] for name in kept.files}
    except (ValueError, EOFError, BadZipFile):
        return None


def _finish(batch: Batch, folder: Path | None) -> Arrays:
    """Do the work, and keep its result under a name that only complete files ever have."""
    result = batch.work()
    if folder is not None:
        partial_file = folder / f"unfinished-{os.getpid()}-{batch.file_name}"
        np.savez(partial_file, **result)  # type: ignore[arg-type]
        partial_file.replace(folder / batch.file_name)
    return result
