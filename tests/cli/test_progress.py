"""Progress: a bar on a terminal, few lines in a log, and nothing on stdout."""

from __future__ import annotations

import io
import sys
import time

import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import _progress, main
from bayescal.cli._progress import Steps, counting, working


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_has_a_line_for_each_tenth(capsys, monkeypatch) -> None:
    monkeypatch.setattr(_progress, "SECONDS", 0.0)
    with counting("Reading [b]p.parquet") as progress:
        for done in range(1, 1001):
            progress(1000 * done, 1_000_000)
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert captured.out == ""
    assert len(lines) == 10
    assert lines[2].startswith("Reading [b]p.parquet: 300,000 of 1,000,000 rows (30%), ")
    assert lines[2].endswith(" s left")


def test_a_short_read_leaves_no_line_in_a_log(capsys) -> None:
    with counting("Reading p.parquet") as progress:
        progress(5, 10)
        progress(10, 10)
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_a_bar(monkeypatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with counting("Reading [b]p.parquet") as progress:
        progress(250_000, 1_000_000)
        progress(1_000_000, 1_000_000)
    shown = terminal.getvalue()
    assert "Reading [b]p.parquet" in shown
    assert "1,000,000 of 1,000,000 rows" in shown


def test_a_long_step_is_one_line_of_a_log(capsys, monkeypatch) -> None:
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    with working("Drawing [b]a\nb"):
        time.sleep(0.2)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "Drawing [b]a\\nb ...\n")


def test_a_short_step_leaves_no_line_in_a_log(capsys) -> None:
    with working("Drawing"):
        pass
    assert capsys.readouterr().err == ""


def test_a_step_that_fails_leaves_nothing_behind(capsys) -> None:
    with pytest.raises(ZeroDivisionError), working("Drawing"):
        raise ZeroDivisionError
    assert capsys.readouterr().err == ""


def test_steps_say_which_they_are(monkeypatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    steps = Steps(2)
    with steps.working("Fitting [b]"):
        pass
    with steps.counting("Assessing", "groups") as progress:
        progress(3, 3)
    shown = terminal.getvalue()
    assert "1/2 Fitting [b] ..." in shown
    assert "2/2 Assessing" in shown
    assert "3 of 3 groups" in shown


@pytest.mark.parametrize("command", ["gain", "recalibrate", "assess", "compare"])
@pytest.mark.slow
def test_every_long_command_tells_a_log_what_it_does(tmp_path, capsys, monkeypatch, command):
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "SECONDS", 0.0)
    table = tmp_path / "a.csv"
    y_true, y_prob = bc.simulate.sample("D5", 60, random_state=1)
    pd.DataFrame({"y": y_true, "p": y_prob}).to_csv(table, index=False)
    more = {
        "gain": ("--folds", "2", "--method", "logistic"),
        "recalibrate": ("--output", tmp_path / "b.csv"),
    }
    main_without_leaving(command, table, *more.get(command, ()))
    lines = capsys.readouterr().err.splitlines()
    doing = {
        "gain": ("Fitting on all folds but one: 10 of 10 fits (100%)", "Computing the gain ..."),
        "recalibrate": ("1/3 Comparing updates ...", "2/3 Fitting ...", "3/3 Recalibrating: 60 of"),
        "assess": (
            "1/5 Fitting the families",
            "3/5 Computing leave-one-out",
            "4/5 Comparing estimators",
            "5/5 Computing the sensitivity",
        ),
        "compare": ("1/2 Fitting the families", "2/2 Computing leave-one-out"),
    }
    for text in doing[command]:
        assert any(line.startswith(text) for line in lines), (text, lines)


def main_without_leaving(*arguments: object) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    assert not left.value.code
