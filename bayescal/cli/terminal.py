"""Text on a terminal: safe whatever a file calls its columns, and what long work is doing."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from bayescal.cli.options import as_typed
from bayescal.core.errors import (
    DiagnosticWarning,
    EdgeWarning,
    ImputationWarning,
    RepeatWarning,
    ScoreWarning,
    SpellingWarning,
)
from bayescal.core.page import wrapped
from bayescal.core.progress import alone
from bayescal.core.text import plain

# The name of a file of numbers that stands for stdout, where another program reads them.
STDOUT = Path("-")
# Seconds that a step may take before anything is said of it.
PATIENCE = 2.0
BOLD, DIM, YELLOW, RED = "1", "2", "33", "1;31"
# Warnings of the package that are told as notes.
NOTED = (
    DiagnosticWarning, EdgeWarning, ImputationWarning, RepeatWarning, ScoreWarning, SpellingWarning,
)  # fmt: skip
# Takes how much is done, and how much there is in all.
Progress = Callable[[int, int], None]


class Terminal:
    """Where a command tells its answer: stdout, or stderr where the numbers go to stdout.

    A reader may leave before the end, such as `head`: files are still written after the text.
    """

    def __init__(self, record: Path | None = None) -> None:
        self.stream = sys.stderr if record == STDOUT else sys.stdout
        self.told: list[str] = []

    def say(self, text: str, style: str = "") -> None:
        """Print a paragraph, wrapped."""
        self.lines(wrapped(plain(text)) or [""], style)

    def lines(self, lines: Sequence[str], style: str = "") -> None:
        """Print lines as they are."""
        try:
            for line in lines:
                print(styled(plain(line), style, self.stream), file=self.stream)
            self.stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())

    def note(self, text: str) -> None:
        """Print, once, what the reader should bear in mind."""
        text = as_typed(text)
        if text not in self.told:
            self.told.append(text)
            self.say(f"Note: {text}", YELLOW)

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Tell the package's warnings as notes; leave all others alone."""
        with warnings.catch_warnings():
            elsewhere = warnings.showwarning

            def show(message: Any, category: type[Warning], *location: Any, **more: Any) -> None:
                if issubclass(category, NOTED):
                    self.note(str(message))
                else:
                    elsewhere(message, category, *location, **more)

            for category in NOTED:
                warnings.simplefilter("always", category)
            # Advice on how to install PyTensor, of no use to whoever is reading a table.
            warnings.filterwarnings("ignore", "PyTensor could not link to a BLAS", UserWarning)
            warnings.showwarning = show
            yield


def styled(text: str, style: str, stream: TextIO) -> str:
    """Text in a style, on a terminal."""
    if not style or not stream.isatty() or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{style}m{text}\x1b[0m"


def complain(message: str) -> int:
    """Say what is wrong, in one line on stderr, and return the exit code."""
    line = plain(" ".join(message.split()))
    print(styled("Error:", RED, sys.stderr), line, file=sys.stderr)
    return 2


def as_command(words: Sequence[str]) -> str:
    """A command as it is typed: quotes are those of the system, which differ on Windows."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


@contextmanager
def working(doing: str) -> Iterator[Progress]:
    """Say on stderr what is done, once it takes long: on a terminal live, in a log as one line.

    Yields what to call with the number of units that are done, and of all, where they are counted.
    """
    ended, start, text = threading.Event(), time.monotonic(), f"{plain(doing)} ..."
    live, counted = sys.stderr.isatty(), ""

    def tell() -> None:
        if ended.wait(PATIENCE):
            return
        if not live:
            print(text, file=sys.stderr, flush=True)
        while live and not ended.wait(0.2):
            _over_last(counted or f"{text} {time.monotonic() - start:.0f} s")

    def progress(done: int, total: int) -> None:
        nonlocal counted
        left = (time.monotonic() - start) * (total - done) / max(done, 1)
        counted = f"{plain(doing)}: {done:,} of {total:,} ({done / total:.0%}), {left:.0f} s left"

    teller = threading.Thread(target=tell, daemon=True)
    with alone():
        teller.start()
        try:
            yield progress
        finally:
            ended.set()
            teller.join()
            _over_last("") if live else None


def _over_last(line: str) -> None:
    """Write over the last line of a terminal."""
    print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
