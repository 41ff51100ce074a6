"""Commands that are printed can be pasted into the terminal of the same system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

import bayescal as bc
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


@pytest.mark.slow
@pytest.mark.skipif(
    not hasattr(Console, "on_broken_pipe"), reason="this Rich ends a program whose reader leaves"
)
def test_files_are_written_though_the_reader_of_the_text_leaves(tmp_path: Path) -> None:
    y, s = bc.simulate.sample("calibrated", 60, random_state=1)
    pd.DataFrame({"died": y, "risk": s}).to_csv(tmp_path / "a.csv", index=False)
    words = ("recommend", "a.csv", "--outcome", "died", "--prob", "risk", "--seed", "1")
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
