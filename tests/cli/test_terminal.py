"""Text on a terminal: commands that can be pasted, progress in few lines, nothing on stdout."""

import io
import subprocess
import sys
import time

import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import terminal
from bayescal.cli.terminal import Terminal, as_command, working


class Screen(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("system", "typed"),
    [
        ("linux", "bayescal 'my file.csv' --outcome y"),
        ("darwin", "bayescal 'my file.csv' --outcome y"),
        ("win32", 'bayescal "my file.csv" --outcome y'),
    ],
)
def test_quotes_are_those_of_the_system(monkeypatch, system, typed):
    monkeypatch.setattr(terminal.sys, "platform", system)
    assert as_command(["bayescal", "my file.csv", "--outcome", "y"]) == typed


def test_only_a_screen_has_styles(monkeypatch, capsys):
    Terminal().say("An answer.", terminal.BOLD)
    assert capsys.readouterr().out == "An answer.\n"
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    Terminal().say("An answer \x1b[31m.", terminal.BOLD)
    assert screen.getvalue() == "\x1b[1mAn answer \\x1b[31m.\x1b[0m\n"
    monkeypatch.setenv("NO_COLOR", "1")
    Terminal().say("Next.", terminal.BOLD)
    assert screen.getvalue().endswith("\nNext.\n")


def test_a_note_is_told_once(capsys):
    told = Terminal()
    told.note("few events")
    told.note("few events")
    assert capsys.readouterr().out == "Note: few events\n"


def test_what_is_short_leaves_no_line(capsys):
    with working("Drawing") as progress:
        progress(5, 10)
    with pytest.raises(ZeroDivisionError), working("Drawing"):
        raise ZeroDivisionError
    assert capsys.readouterr().err == ""


def test_a_long_step_is_one_line_of_a_log(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    with working("Drawing [b]a\nb"):
        time.sleep(0.2)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "Drawing [b]a\\nb ...\n")


def test_a_screen_shows_one_line_that_goes(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    with working("Fitting"):
        time.sleep(0.5)
    with working("Reading p.parquet") as progress:
        progress(250_000, 1_000_000)
        time.sleep(0.5)
    shown = screen.getvalue()
    assert "\r\x1b[KFitting ... 0 s" in shown
    assert "\r\x1b[KReading p.parquet: 250,000 of 1,000,000 (25%), " in shown
    assert shown.endswith("\r\x1b[K")
    assert "\n" not in shown


@pytest.mark.slow
def test_files_are_written_though_the_reader_of_the_text_leaves(tmp_path):
    y, s = bc.simulate.sample("calibrated", 60, random_state=1)
    pd.DataFrame({"died": y, "risk": s}).to_csv(tmp_path / "a.csv", index=False)
    words = ("recalibrate", "a.csv", "--outcome", "died", "--prob", "risk", "--seed", "1")
    with subprocess.Popen(
        [sys.executable, "-m", "bayescal", *words, "--json", "a.json"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as command:
        assert command.stdout is not None
        command.stdout.close()
    assert command.returncode == 0
    assert (tmp_path / "a.json").is_file()
