"""Progress: a bar on a terminal, few lines in a log, and nothing on stdout."""

from __future__ import annotations

import io
import sys

from bayescal.cli import _progress
from bayescal.cli._progress import counting


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
