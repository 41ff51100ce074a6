"""Files of the command line: none is overwritten, cut short or changed without a word."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bayescal.cli import main

Refused = Callable[..., str]
Done = Callable[..., str]

ROWS = "id,p,y\n" + "".join(f"{i:03},{0.1 + 0.7 * i / 40:.3f},{i % 3 // 2}\n" for i in range(40))
NAMES = ("--outcome", "y", "--score", "p")


@pytest.fixture
def refused(capsys) -> Refused:
    """The one line on stderr of a command that exits with 2."""

    def invoke(*arguments: object) -> str:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert left.value.code == 2
        assert captured.out == ""
        assert captured.err.startswith("Error: ")
        assert captured.err.count("\n") == 1
        return captured.err

    return invoke


@pytest.fixture
def done(capsys) -> Done:
    """What a command prints that succeeds."""

    def invoke(*arguments: object) -> str:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert (left.value.code or 0, captured.err) == (0, "")
        return captured.out

    return invoke


@pytest.fixture
def table(tmp_path, monkeypatch) -> Path:
    """A file of predictions in the working directory, called `a.csv`."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.csv"
    path.write_text(ROWS)
    return path


# An output is never an input, nor another output


@pytest.mark.parametrize(
    "command",
    [
        ("assess", "a.csv", "--json"),
        ("assess", "a.csv", "--html"),
        ("assess", "a.csv", "--curve", "beta", "--json"),
        ("compare", "a.csv", "--json"),
        ("gain", "a.csv", "--before", "p", "--after", "id", "--json"),
        ("recalibrate", "a.csv", "--output"),
        ("recalibrate", "b.csv", "--apply-to", "a.csv", "--output"),
    ],
)
@pytest.mark.parametrize("kind", ["name", "path", "symbolic", "hard"])
def test_an_output_is_not_an_input(refused, table, command, kind) -> None:
    target = {"name": "a.csv", "path": table.parent / "." / "a.csv"}.get(kind, "link.csv")
    if kind == "symbolic":
        os.symlink("a.csv", "link.csv")
    elif kind == "hard":
        os.link("a.csv", "link.csv")
    assert f"cannot write {target}: it is the input a.csv" in refused(*command, target)
    assert table.read_text() == ROWS


@pytest.mark.parametrize(
    "options",
    [
        ("assess", "a.csv", "--json", "out.html", "--html", "./out.html"),
        ("assess", "a.csv", "--json", "out.svg", "--plot", "link/out.svg"),
        ("demo", "--json", "out.html", "--html", "out.html"),
    ],
)
def test_two_outputs_are_not_one_file(refused, table, options) -> None:
    os.symlink(".", "link")
    assert "twice: two outputs are this file" in refused(*options)
    assert not list(table.parent.glob("out.*"))


def test_the_mark_of_a_recalibration_is_an_output_too(refused, table) -> None:
    mark = table.rename("b.csv.bayescal.json")
    assert "it is the input" in refused("recalibrate", mark, "--output", "b.csv")
    assert mark.read_text() == ROWS
