"""The runner of commands: it reads the words, lets a command work, tells and writes its page."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bayescal.cli.commands import COMMANDS
from bayescal.cli.files import check_targets, mark_of
from bayescal.cli.options import Command, Parsed, help_of, in_options, overview, parsed
from bayescal.cli.terminal import BOLD, DIM, STDOUT, Terminal, complain, working
from bayescal.core.errors import InputError
from bayescal.core.page import Page, wrapped
from bayescal.core.text import plain

INTERRUPTED = 130
# New objects before the collector looks for cycles: with the usual 700 a command spends 6 % of its
# time there, and ends before there is much to collect.
YOUNG_OBJECTS = 20_000
# Options of the files that a page becomes.
RENDERED = ("html", "word", "json", "plot")
WRITTEN = (*RENDERED, "output", "update")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line on these words, by default those of the process, and exit."""
    gc.set_threshold(YOUNG_OBJECTS)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a name the terminal cannot show
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    try:
        _run(words)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except InputError as error:
        sys.exit(complain(str(error)))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        sys.exit(complain(f"{where}{error.strerror or error}."))
    sys.exit(0)


def _run(words: list[str]) -> None:
    first = words[0] if words else "--help"
    if first == "--version":
        from importlib.metadata import version

        print(f"bayescal {version('bayescal')}")
        return
    default, *_ = COMMANDS.values()
    if first in ("-h", "--help"):
        print(overview(COMMANDS.values()))
        return
    command = COMMANDS.get(first, default)
    rest = words[1:] if first in COMMANDS else words
    if {"-h", "--help", "--help-all"} & {*rest}:
        print(help_of(command, full="--help-all" in rest))
        return
    if first not in COMMANDS and not first.startswith("-") and not Path(first).exists():
        _refuse_unknown(first)
    run(command, parsed(command, rest))


def _refuse_unknown(word: str) -> None:
    """Say of a word that is neither a file nor a command what it may be."""
    from difflib import get_close_matches

    near = get_close_matches(word, COMMANDS, 1)
    if near or Path(word).suffix == "":
        meant = f" Did you mean bayescal {near[0]}?" if near else " See 'bayescal --help'."
        raise InputError(f"there is no file {plain(word)}, and no command of that name.{meant}")


def run(command: Command, given: Parsed) -> None:
    """Let a command work, and tell and write its answer."""
    targets = {name: given[name] for name in WRITTEN if name in given}
    terminal = Terminal(given.get("json"))
    try:
        output = given.get("output")
        marks = {} if output is None else {"mark": mark_of(output)}
        check_targets(targets | marks, [given.file, given.get("new")])
        with terminal.noting():
            answer = command.work(given, terminal)
            if answer is None:
                return
            with working("Computing what is told"):
                page = answer.page()
            show(page, terminal)
            write(page, targets, terminal)
            for path in answer.finish():
                terminal.say(f"Wrote {path}.", DIM)
    except InputError as error:
        raise InputError(in_options(str(error), command, given)) from error


def show(page: Page, terminal: Terminal) -> None:
    """Print a page: its answer stands out."""
    answer = {*wrapped(*page.answer)}
    for line in str(page).splitlines():
        terminal.lines([line], BOLD if line in answer else "")


def write(page: Page, targets: dict[str, Path | None], terminal: Terminal) -> None:
    """Write the files that a page becomes."""
    for name in RENDERED:
        path = targets.get(name)
        if path is None:
            continue
        from bayescal.report import render

        if path == STDOUT:
            sys.stdout.write(json.dumps(render.json_of(page), indent=2, allow_nan=False) + "\n")
            continue
        how: dict[str, Callable[[Page, Path], None]] = {
            "html": render.write_html,
            "word": render.write_word,
            "json": render.write_json,
            "plot": render.write_figure,
        }
        with working(f"Writing {path}"):
            how[name](page, path)
        terminal.say(f"Wrote {path}.", DIM)
