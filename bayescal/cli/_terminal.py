"""Text on a terminal: readable at 80 columns, and safe whatever a file calls its columns."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from bayescal.core.text import plain

__all__ = [
    "STDOUT",
    "announce",
    "as_command",
    "complain",
    "is_narrow",
    "new_table",
    "note",
    "output",
    "say",
    "wrote",
]

WIDEST_SCREEN = 88
NARROW = 70


STDOUT = Path("-")
"""The name of a file of numbers that stands for stdout, where another program reads them."""


class ToTheEnd(Console):
    """A console whose reader may leave, such as `head`: files are still written after the text."""

    def on_broken_pipe(self) -> None:
        """Print no more."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def output(record: Path | None = None) -> Console:
    """The console on stdout, never wider than prose is pleasant to read.

    Parameters
    ----------
    record : Path or None
        The file of the numbers; if it is stdout, the console is on stderr.
    """
    file = sys.stderr if record == STDOUT else sys.stdout
    console = ToTheEnd(file=file, highlight=False)
    console.width = min(console.width, WIDEST_SCREEN)
    return console


def is_narrow(console: Console) -> bool:
    """Whether tables must stack their columns."""
    return console.width < NARROW


def new_table() -> Table:
    """A table in the look of the command line: a rule beneath the headings, two spaces between."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def say(console: Console, text: str, style: str = "") -> None:
    """Print a paragraph, as text and not as markup."""
    console.print(Text(plain(text), style=style))


def wrote(console: Console, path: Path | None) -> None:
    """Say that a file was written, if one was."""
    if path is not None and path != STDOUT:
        say(console, f"Wrote {path}.", "dim")


def note(console: Console, text: str) -> None:
    """Print what the reader should bear in mind."""
    console.print(Text.assemble(("Note: ", "bold yellow"), (plain(text), "yellow")))


def complain(message: str) -> int:
    """Say what is wrong, in one line on stderr, and return the exit code."""
    console = Console(file=sys.stderr, highlight=False)
    line = plain(" ".join(message.split()))
    console.print(Text.assemble(("Error: ", "bold red"), line), soft_wrap=True)
    return 2


def as_command(words: Sequence[str]) -> str:
    """A command as it is typed: quotes are those of the system, which differ on Windows."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def announce(text: str) -> None:
    """Print a line on stderr, if it is a terminal."""
    console = Console(file=sys.stderr, highlight=False)
    if console.is_terminal:
        console.print(Text(plain(text), style="dim"))
