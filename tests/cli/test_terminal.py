"""Commands that are printed can be pasted into the terminal of the same system."""

from __future__ import annotations

import pytest

from bayescal.cli import _terminal


@pytest.mark.parametrize(
    ("system", "typed"),
    [
        ("linux", "bayescal gain 'my file.csv' --outcome y"),
        ("darwin", "bayescal gain 'my file.csv' --outcome y"),
        ("win32", 'bayescal gain "my file.csv" --outcome y'),
    ],
)
def test_quotes_are_those_of_the_system(
    monkeypatch: pytest.MonkeyPatch, system: str, typed: str
) -> None:
    monkeypatch.setattr(_terminal.sys, "platform", system)
    assert _terminal.as_command(["bayescal", "gain", "my file.csv", "--outcome", "y"]) == typed
