"""How far reading has come: a bar on a terminal, now and then a line in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from bayescal._base.text import plain

__all__ = ["counting"]

SECONDS = 5.0
"""Least time between two lines of a log."""
LOG_STEPS = 10

Progress = Callable[[int, int], None]
"""Takes the number of rows that are read, and of all rows."""


@contextmanager
def counting(doing: str) -> Iterator[Progress]:
    """Show, on stderr, the rows that are read, their share and the time left.

    Parameters
    ----------
    doing : str
        What is done, such as "Reading p.parquet".

    Yields
    ------
    callable
        To call with the number of rows that are read, and of all rows.
    """
    console = Console(file=sys.stderr, highlight=False)
    if not console.is_terminal:
        yield _log(console, plain(doing))
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} rows"),
        TaskProgressColumn(),
        TimeLeft(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(plain(doing), total=1)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _log(console: Console, doing: str) -> Progress:
    """Print a line at each tenth of the rows, unless the last line was just printed."""
    start = last = time.monotonic()
    steps = 0

    def show(done: int, total: int) -> None:
        nonlocal last, steps
        now, reached = time.monotonic(), LOG_STEPS * done // total
        if reached <= steps or now - last < SECONDS:
            return
        last, steps = now, reached
        left = (now - start) * (total - done) / done
        line = f"{doing}: {done:,} of {total:,} rows ({done / total:.0%}), {left:.0f} s left"
        console.print(Text(line), soft_wrap=True)

    return show
