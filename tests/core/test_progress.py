"""A bar of progress: on a terminal alone, after some patience, and one at a time."""

import io
import sys

import numpy as np
import pytest

import bayescal as bc
from bayescal.core.progress import alone, bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal_of(monkeypatch):
    """What a test writes to, in place of stderr."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    return made


def test_a_callable_hears_what_is_done_and_all():
    heard = []
    with bar("Work", 10, lambda done, total: heard.append((done, total))) as advance:
        advance(4)
        advance(6)
    assert heard == [(4, 10), (10, 10)]


def test_work_shows_a_bar_on_a_terminal(monkeypatch):
    terminal = terminal_of(monkeypatch)
    with bar("Work", 10) as advance:
        advance(4)
    assert "Work" in terminal.getvalue()


def test_short_work_shows_nothing(monkeypatch):
    terminal = terminal_of(monkeypatch)
    with bar("Work", 10, patience=60) as advance:
        advance(4)
    assert not terminal.getvalue()


def test_no_terminal_shows_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with bar("Work", 10) as advance:
        advance(4)
    assert not sys.stderr.getvalue()


def test_work_inside_work_shows_no_bar_of_its_own(monkeypatch):
    terminal = terminal_of(monkeypatch)
    with alone() as first, bar("Work", 10) as advance:
        advance(4)
    assert first
    assert not terminal.getvalue()


@pytest.mark.parametrize("of", ["sites", "cells"])
def test_a_fit_of_several_curves_shows_how_far_it_is(monkeypatch, of):
    terminal = terminal_of(monkeypatch)
    monkeypatch.setattr("bayescal.multilevel.sample.PATIENCE", 0.0)
    y, s = bc.simulate.sample("calibrated", 300, random_state=1)
    a, b = np.resize(["x", "y", "z"], 300), np.repeat(["u", "v"], 150)
    groups = {"site": a} if of == "sites" else {"subgroup": {"a": a, "b": b}}
    bc.fit(y, s, **groups, curve="logistic", draws=400, random_state=1)
    assert ("Fitting 3 sites" if of == "sites" else "Fitting 6 curves") in terminal.getvalue()
