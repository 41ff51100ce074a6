"""Options of the command line are the arguments of Python, by the same names or by one list."""

from __future__ import annotations

import inspect
from pathlib import Path

import pandas as pd
import pytest
import typer

import bayescal as bc
from bayescal.cli import main
from bayescal.cli._options import PYTHON_NAMES
from bayescal.cli.app import app
from bayescal.fitting.unknown import KnownFit

DOORS = {
    "assess": (bc.assess, bc.fit, bc.CalibrationData, bc.Survival, bc.CalibrationPosterior.tce),
    "compare": (bc.compare, bc.assess, bc.CalibrationData, bc.Survival),
    "drift": (bc.fit, bc.assess, bc.CalibrationData, bc.Survival),
    "gain": (
        bc.recalibration_gain,
        bc.Survival,
        bc.cross_fit,
        bc.RecalibrationGain.summary,
        bc.CalibrationData,
    ),
    "missing": (bc.fit_known, bc.fit, bc.CalibrationData, KnownFit.verdicts),
    "predict": (bc.fit, bc.CalibrationData, bc.Survival, bc.MultilevelPosterior.risks),
    "recalibrate": (bc.CalibrationData, bc.fit, bc.CalibrationPosterior.summary),
    "plan": (bc.plan, bc.simulate.scores, bc.fit),
    "monitor": (bc.assess, bc.CalibrationData, bc.fit, bc.CalibrationPosterior.performance),
}
OF_FILES = {
    "apply_to", "censored", "drop_missing", "encoding", "every", "force", "html", "ignore_column",
    "in_sample", "independent", "json", "logit", "method", "output", "percent", "plot", "resume",
    "sheet", "risk", "survival", "update", "word",
}  # fmt: skip
"""Options that say how a file is read or written, or that Python needs no argument for.

`--risk` is the `y_prob` of `risks`, since `--prob` is that of the fit.
"""

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def options(command: str) -> list[typer.core.TyperOption]:
    return [each for each in COMMANDS[command].params if each.param_type_name == "option"]


def arguments(command: str) -> set[str]:
    return {name for door in DOORS[command] for name in inspect.signature(door).parameters}


@pytest.mark.parametrize("command", sorted(DOORS))
def test_every_option_is_an_argument_of_python(command: str) -> None:
    own = {PYTHON_NAMES.get(each.name, each.name) for each in options(command)}
    assert not own - arguments(command) - OF_FILES


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_options_have_the_name_of_python_too(command: str) -> None:
    for each in options(command):
        if each.name in PYTHON_NAMES:
            assert "--" + PYTHON_NAMES[each.name].replace("_", "-") in each.opts


def test_names_of_python_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    y, s = bc.simulate.sample("clinical-middle-overconfident", 60, random_state=1)
    file = tmp_path / "cases.csv"
    pd.DataFrame({"died": y, "risk": s}).to_csv(file, index=False)
    shown = []
    for names in (("--outcome", "--prob", "--seed"), ("--y-true", "--y-prob", "--random-state")):
        told = [word for pair in zip(names, ("died", "risk", "3"), strict=True) for word in pair]
        with pytest.raises(SystemExit) as ended:
            main(["assess", str(file), "--curve", "logistic", *told])
        assert not ended.value.code
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert "Seed 3" in shown[0]


def test_an_error_names_the_option_that_is_first(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["assess", "missing.csv", "--thresholds", "3"])
    assert "--threshold must lie strictly between 0 and 1" in " ".join(
        capsys.readouterr().err.split()
    )
