"""What long work is doing and how far it has come: on a terminal live, in a log a few lines."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console
from rich.text import Text

from bayescal.core.progress import alone
from bayescal.core.text import plain

__all__ = ["Progress", "Steps", "counting", "working"]

SECONDS = 5.0
"""Least time between two lines of a log on work that is counted."""
PATIENCE = 2.0
"""Seconds that a step may take before a log says what it is."""
LOG_STEPS = 10

Progress = Callable[[int, int], None]
"""Takes how much is done, and how much there is in all."""


class Steps:
    """Steps of one command, which say how many there are.

    Parameters
    ----------
    total : int
        Number of steps.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self.begun = 0

    def working(self, doing: str) -> AbstractContextManager[None]:
        """`working`, with the number of the step."""
        return working(f"{self.next()} {doing}")

    def counting(self, doing: str, unit: str) -> AbstractContextManager[Progress]:
        """`counting`, with the number of the step."""
        return counting(f"{self.next()} {doing}", unit)

    def next(self) -> str:
        """The number of the step that begins now, as "2/5"."""
        self.begun = min(self.begun + 1, self.total)
        return f"{self.begun}/{self.total}"


@contextmanager
def working(doing: str) -> Iterator[None]:
    """Say on stderr what is done while a block runs, and for how long; in a log if it takes long.

    Parameters
    ----------
    doing : str
        What is done, such as "Drawing".
    """
    console = Console(file=sys.stderr, highlight=False)
    text = Text(f"{plain(doing)} ...")
    if not console.is_terminal:
        line = threading.Timer(PATIENCE, console.print, (text,), {"soft_wrap": True})
        line.daemon = True
        line.start()
        try:
            yield
        finally:
            line.cancel()
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with alone(), Progress(*columns, console=console, transient=True) as bar:
        bar.add_task(text.plain, total=None)
        yield


@contextmanager
def counting(doing: str, unit: str = "rows") -> Iterator[Progress]:
    """Show, on stderr, how much is done, its share and the time left.

    Parameters
    ----------
    doing : str
        What is done, such as "Reading p.parquet".
    unit : str
        What is counted, in the plural.

    Yields
    ------
    callable
        To call with the number of units that are done, and of all.
    """
    console = Console(file=sys.stderr, highlight=False)
    if not console.is_terminal:
        yield _log(console, plain(doing), unit)
        return
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} " + unit),
        TaskProgressColumn(),
        TimeLeft(),
    )
    with alone(), Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(plain(doing), total=1)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _log(console: Console, doing: str, unit: str) -> Progress:
    """Print a line at each tenth of the work, unless the last line was just printed."""
    start = last = time.monotonic()
    steps = 0

    def show(done: int, total: int) -> None:
        nonlocal last, steps
        now, reached = time.monotonic(), LOG_STEPS * done // total
        if reached <= steps or now - last < SECONDS:
            return
        last, steps = now, reached
        left = (now - start) * (total - done) / done
        line = f"{doing}: {done:,} of {total:,} {unit} ({done / total:.0%}), {left:.0f} s left"
        console.print(Text(line), soft_wrap=True)

    return show
