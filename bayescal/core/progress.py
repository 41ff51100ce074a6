"""A bar of progress on a terminal, one at a time."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

# Seconds that work may take before a bar is shown.
PATIENCE = 2.0
# Whether to show a bar, or what to call with the units that are done, and all.
Progress: TypeAlias = bool | Callable[[int, int], object] | None
# Takes the units that were done since it was called last.
Advance: TypeAlias = Callable[[int], None]

_shown: ContextVar[bool] = ContextVar("shown", default=False)


@contextmanager
def alone() -> Iterator[bool]:
    """Whether nothing else shows progress; within the block nothing else will."""
    free = not _shown.get()
    token = _shown.set(True)
    try:
        yield free
    finally:
        _shown.reset(token)


def silent(_: int) -> None:
    """An `Advance` that nothing hears of."""


@contextmanager
def bar(
    title: str, total: int, progress: Progress = None, patience: float = 0.0
) -> Iterator[Advance]:
    """Show on stderr how much of some work is done, and the time left."""
    if callable(progress):
        yield _added_up(progress, total)
        return
    with alone() as free:
        if not (progress or (progress is None and free and sys.stderr.isatty())):
            yield silent
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        shown = Bar(*columns, console=Console(stderr=True), transient=True)
        task, begins = shown.add_task(title, total=total), time.monotonic() + patience

        def update(done: int, _: int) -> None:
            if time.monotonic() >= begins:
                shown.start()  # once: it does nothing where the bar is shown
            shown.update(task, completed=done)

        update(0, total)
        try:
            yield _added_up(update, total)
        finally:
            if shown.live.is_started:  # else it would write an empty line
                shown.stop()
            begins = math.inf


def _added_up(progress: Callable[[int, int], object], total: int) -> Advance:
    """What hears of each amount as it is done, and tells of all so far."""
    done = 0

    def advance(amount: int) -> None:
        nonlocal done
        done += amount
        progress(done, total)

    return advance
