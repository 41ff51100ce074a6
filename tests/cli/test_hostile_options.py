"""Every option of every command with what nobody means: one line that says which is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer

import bayescal as bc
from bayescal.cli import main
from bayescal.cli.app import app

SIZE = 40
READS = ("a.csv", "--outcome", "y", "--seed", "1")
GROUPS = ("groups.csv", *READS[1:])
GIVEN: dict[str, tuple[str, ...]] = {
    "assess": (*READS, "--prob", "p", "--curve", "logistic"),
    "compare": (*READS, "--prob", "p"),
    "drift": (*GROUPS, "--prob", "p", "--period", "month"),
    "gain": (*READS, "--before", "p", "--after", "q"),
    "missing": ("missing.csv", "--outcome", "y", "--prob", "p", "--seed", "1"),
    "predict": (*GROUPS, "--prob", "p", "--risk", "0.3", "--site", "hospital", "--at", "a"),
    "recalibrate": (*READS, "--prob", "p", "--method", "logistic", "--output", "out.csv"),
    "recommend": (*READS, "--prob", "p"),
}
"""Options with which a command works; the others work for long without any."""
HOSTILE = (
    "", "x", "nan", "inf", "-1", "1e308", "9" * 400, "-0.5", "nowhere/x.csv", "a.csv", "p", "%s",
    "é\n\t", "empty.csv", "header.csv", "nul.csv", "digits.csv", "utf-16", ".",
)  # fmt: skip
FEW = 4
"""Values for each option, spread over the commands that have it, which read it alike."""
LONGEST = 1000


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", SIZE, random_state=6)
    table = pd.DataFrame({"y": y_true, "p": y_prob, "q": np.sqrt(y_prob)})
    table.to_csv("a.csv", index=False)
    groups = {"month": np.arange(SIZE) % 2 + 1, "hospital": np.resize(["a", "b", "c"], SIZE)}
    table.assign(**groups).to_csv("groups.csv", index=False)
    table.assign(y=table["y"].where(np.arange(SIZE) % 5 > 0)).to_csv("missing.csv", index=False)
    Path("empty.csv").touch()
    Path("header.csv").write_text("y,p\n")
    Path("nul.csv").write_bytes(b"y,p\n\x000,1\n")
    Path("digits.csv").write_text("y,p\n" + f"0,{'9' * 400}\n" * 9)


def options(command: Any) -> Iterator[tuple[str, list[str]]]:
    """What is given, and the options and arguments that are left, by their names."""
    for parameter in command.params:
        if not getattr(parameter, "is_flag", False):
            yield max(parameter.opts, key=len), list(GIVEN[command.name])


def with_value(given: list[str], option: str, value: str) -> list[str]:
    if not option.startswith("--"):
        return [value, *given[1:]]
    if option in given:
        at = given.index(option)
        given = given[:at] + given[at + 2 :]
    return [*given, option, value]


@pytest.mark.slow
@pytest.mark.parametrize("name", GIVEN)
def test_every_option_is_attacked(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    command = commands[name]
    owners = Counter(option for each in GIVEN for option, _ in options(commands[each]))
    source = Path(GIVEN[name][0] if Path(GIVEN[name][0]).exists() else "a.csv")
    hostile = [source.name if value == "a.csv" else value for value in HOSTILE]
    table = source.read_bytes()
    spellings = {opt: each.opts for each in command.params for opt in each.opts}
    wrong = []
    for index, (option, given) in enumerate(options(command)):
        few = range(max(1, FEW // owners[option]))
        for value in [hostile[(5 * index + 7 * k) % len(hostile)] for k in few]:
            if value.startswith("-") and not option.startswith("-"):
                continue  # read as an option
            with pytest.raises(SystemExit) as left:
                main([name, *with_value(given, option, value)])
            printed = capsys.readouterr().err
            error = printed[printed.find("Error: ") :]
            words = [each.strip("-") for each in spellings.get(option, [option])]
            known = [each.replace("-", "_") for each in words] + words + [" ".join(value.split())]
            named = any(text and text in " ".join(error.split()) for text in known)
            if left.value.code not in (0, None, 2):
                wrong.append(f"{option} {value!r}: code {left.value.code}")
            elif left.value.code == 2 and (len(error) > LONGEST or error.count("\n") != 1):
                wrong.append(f"{option} {value!r:.40}: more than a line: {error:.200}")
            elif left.value.code == 2 and value and not named:
                wrong.append(f"{option} {value!r:.40}: not named: {error:.200}")
    assert not wrong
    assert source.read_bytes() == table
