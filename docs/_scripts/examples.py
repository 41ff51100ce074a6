"""The examples of a page, run as they are written: `python docs/_scripts/examples.py PAGE ...`.

Python blocks of a page run top to bottom in one namespace and one temporary folder, together with
console lines that call `bayescal`. What a Python block prints stands in the text block after it;
what a command prints stands below the command. This script writes those outputs into the page;
`tests/test_docs.py` holds a page against them. A line of `...` stands for anything, and long lines
are folded. A fence after the comment `<!-- not run -->` is a sketch.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import shlex
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

FENCE = re.compile(
    r"(?P<sketch><!-- not run -->\s*)?^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.M | re.S
)
NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
ANYTHING = "..."
TOLERANCE = 5e-3
WIDTH = 96
LANGUAGES = ("python", "console", "text")


@dataclass(frozen=True)
class Step:
    """Python source or a command, where it stands, and the output it is shown with."""

    kind: str
    source: str
    line: int
    output: tuple[int, int] | None
    """Where in the page the output stands; None when none is shown."""


def steps_of(page: str) -> Iterator[Step]:
    """What a page asks to be run, in order."""
    fences = [match for match in FENCE.finditer(page) if match["language"] in LANGUAGES]
    for index, fence in enumerate(fences):
        if fence["sketch"]:
            continue
        start = fence.start("body")
        if fence["language"] == "python":
            after = fences[index + 1] if index + 1 < len(fences) else None
            shown = after and after["language"] == "text" and not after["sketch"]
            near = shown and not page[fence.end() : after.start()].strip()
            output = after.span("body") if after and near else None
            yield Step("python", fence["body"], page[:start].count("\n") + 1, output)
        elif fence["language"] == "console":
            yield from _commands(page, start, fence.end("body"))


def _commands(page: str, start: int, end: int) -> Iterator[Step]:
    """Lines `$ command` (with `\\` at the end of those that go on), each with what follows it."""
    prompts = [start + match.start() for match in re.finditer(r"^\$ ", page[start:end], re.M)]
    for prompt, limit in pairwise([*prompts, end]):
        call = re.match(r"\$ ((?:.*\\\n)*.*\n)", page[prompt:limit])
        assert call is not None
        shown = prompt + call.end()
        output = (shown, limit) if page[shown:limit].strip() else None
        command = call[1].replace("\\\n", " ").strip()
        yield Step("console", command, page[:prompt].count("\n") + 1, output)


def run(page: str, name: str, **given: Any) -> Iterator[tuple[Step, str]]:
    """Run a page in a temporary folder: each step, and what it printed."""
    namespace: dict[str, Any] = {"__name__": "__main__"} | given
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for step in steps_of(page):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                if step.kind == "python":
                    where = "\n" * (step.line - 1)  # so that a traceback names the page's line
                    exec(compile(where + step.source, name, "exec"), namespace)
                else:
                    _call(step.source)
            yield step, printed.getvalue()


def _call(command: str) -> None:
    """A `bayescal` command in this process; other commands are not ours to run."""
    from bayescal.cli import main

    words = shlex.split(command, comments=True)
    if Path(words[0]).name != "bayescal":
        return
    try:
        main(words[1:])
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{command!r} ended with {end.code}") from end


def agrees(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed: the same words, and numbers to three digits."""
    parts = [part.split() for part in re.split(r"^\.\.\.$", shown, flags=re.M)]
    words = printed.split()
    if len(parts) == 1:
        return _equal(parts[0], words)
    first, *middle, last = parts
    if not _equal(first, words[: len(first)]):
        return False
    at = len(first)
    for part in middle:
        places = range(at, len(words) - len(part) + 1)
        match = next((i for i in places if _equal(part, words[i : i + len(part)])), None)
        if match is None:
            return False
        at = match + len(part)
    rest = words[at:]
    return len(last) <= len(rest) and _equal(last, rest[len(rest) - len(last) :])


def _equal(shown: list[str], printed: list[str]) -> bool:
    return len(shown) == len(printed) and all(map(_same_word, shown, printed))


def _same_word(shown: str, printed: str) -> bool:
    if NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    return all(map(_close, NUMBER.findall(shown), NUMBER.findall(printed)))


def _close(shown: str, printed: str) -> bool:
    """Equal to three digits, or but for the last decimal shown."""
    digits = re.search(r"\.(\d+)", shown)
    last = 1.01 * 10.0 ** -len(digits[1]) if digits else 0.0
    if "e" in shown:
        last = 0.0
    value = float(shown)
    return math.isclose(value, float(printed), rel_tol=TOLERANCE, abs_tol=last)


def rewritten(page: str, name: str, **given: Any) -> str:
    """The page with the outputs that its steps really print."""
    for step, printed in list(run(page, name, **given))[::-1]:
        if step.output and ANYTHING not in page[slice(*step.output)].split():
            start, end = step.output
            lines = "".join(f"{_folded(line)}\n" for line in printed.splitlines())
            gap = "\n" if step.kind == "console" and page[end : end + 1] == "$" else ""
            page = page[:start] + lines.strip("\n") + "\n" + gap + page[end:]
    return page


def _folded(line: str) -> str:
    """A line of prose no wider than a page; tables are left as they are."""
    prose = len(line) > WIDTH and "   " not in line.strip()
    return textwrap.fill(line, WIDTH, break_on_hyphens=False) if prose else line.rstrip()


if __name__ == "__main__":
    os.environ |= {"MPLBACKEND": "Agg", "COLUMNS": "80"}
    for path in map(Path, sys.argv[1:]):
        path.write_text(rewritten(path.read_text("utf-8"), str(path)), "utf-8")
