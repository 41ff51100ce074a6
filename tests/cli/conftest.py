"""Commands as a shell sees them, and quick ones where only what was read counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from bayescal.cli import main
from bayescal.core.page import Page
from bayescal.data.stored import fingerprint


@pytest.fixture(autouse=True)
def endless_patience(monkeypatch):
    """A busy machine adds no lines to stderr: steps that take long say so in tests of their own."""
    monkeypatch.setattr("bayescal.cli.terminal.PATIENCE", 3600.0)


@dataclass
class Result:
    """What a shell sees of a command."""

    code: int
    out: str
    err: str

    @property
    def told(self):
        """What it printed, without line ends."""
        return " ".join((self.out + self.err).split())


Run = Callable[..., Result]


@pytest.fixture
def run(capsys):
    """Run a command."""

    def invoke(*words):
        with pytest.raises(SystemExit) as left:
            main([str(word) for word in words])
        shown = capsys.readouterr()
        return Result(int(left.value.code or 0), shown.out, shown.err)

    return invoke


@pytest.fixture
def done(run):
    """What a command prints that succeeds."""

    def invoke(*words):
        result = run(*words)
        assert (result.code, result.err) == (0, "")
        return str(result.out)

    return invoke


@pytest.fixture
def refused(run):
    """The one line on stderr of a command that exits with 2."""

    def invoke(*words):
        result = run(*words)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("Error: ")
        assert result.err.count("\n") == 1
        return str(result.err.strip())

    return invoke


class Quick:
    """What was read, in place of an assessment of it."""

    def __init__(self, data):
        self.data = data

    def page(self):
        of = self.data
        record = {"cases": of.n, "events": of.events, "sha256": fingerprint(of)}
        record |= {"mean_score": float(of.trials @ of.score / of.trials.sum())}
        return Page("", f"{of.n:g} cases", ("An answer.",), record=record)


@pytest.fixture
def quick(monkeypatch):
    """Let `assess` tell what was read, and compute nothing."""
    monkeypatch.setattr("bayescal.report.assess", lambda data, **options: Quick(data))
