"""Options: as few as one screen holds, named as in Python, and each refused in one line."""

import inspect
import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli.commands import COMMANDS, FILES
from bayescal.cli.options import OPTIONS, PYTHON_NAMES, as_typed

SCREEN = range(24, 41)
MOST_SLOTS = 98


def test_there_are_few_slots():
    """Of each command its own; the files of a page are declared once, by the runner."""
    own = [name for each in COMMANDS.values() for name in each.options if name not in FILES]
    with_files = [each for each in COMMANDS.values() if {*FILES} <= {*each.options}]
    assert len(with_files) == len(COMMANDS) - 1  # `app` has a page of its own
    assert len(own) + len(FILES) <= MOST_SLOTS
    assert {*own, *FILES} == {*OPTIONS}


def test_help_is_one_screen(run):
    first = run("--help").out.splitlines()
    assert len(first) in SCREEN
    for name in COMMANDS:
        assert f"  bayescal {'FILE' if name == 'assess' else name} " in "\n".join(first)
        lines = run(name, "--help").out.splitlines()
        assert len(lines) <= SCREEN[-1]
        assert max(map(len, (*first, *lines))) <= 80
    assert run("-h").out == run().out == run("--help").out
    assert run("--version").out.startswith("bayescal 0.")


@pytest.mark.parametrize("name", COMMANDS)
def test_all_options_are_in_the_whole_help(run, name):
    told = run(name, "--help-all").out
    assert re.findall(r"^  --([\w-]+)", told, re.M).sort() == [*COMMANDS[name].options].sort()
    assert max(map(len, told.splitlines())) <= 80


PLANNED = {name for name, _ in inspect.signature(bc.plan).parameters.items()}
LAW = {name for name, _ in inspect.signature(bc.simulate.scores).parameters.items()}


def test_options_of_a_plan_are_arguments_of_python():
    own = {PYTHON_NAMES.get(name, name).replace("-", "_") for name in COMMANDS["plan"].options}
    assert own - PLANNED - LAW == {*FILES, "y_true", "y_prob", "pos_label"}


def test_options_of_an_assessment_are_arguments_of_python():
    doors = (bc.assess, bc.read, bc.CalibrationData, bc.MultilevelPosterior.risks, bc.Survival)
    known = {name for door in doors for name in inspect.signature(door).parameters}
    own = {PYTHON_NAMES.get(name, name).replace("-", "_") for name in COMMANDS["assess"].options}
    of_files = {
        *FILES,
        "positive",
        "at",
        "case",
        "force",
        "new",
        "update",
        "ignore_column",
        "subgroup",
    }
    assert not own - known - of_files


# Each with what nobody means

SIZE, FEW, LONGEST = 40, 4, 1000
READS = ("a.csv", "--outcome", "y", "--seed", "1")
GIVEN = {
    "assess": (*READS, "--prob", "p"),
    "compare": (*READS, "--prob", "p", "--prob", "q"),
    "recalibrate": (*READS, "--prob", "p", "--method", "logistic", "--output", "out.csv"),
    "plan": ("--of", "calibration_slope", "--width", "0.5", "--analysis", "wald", "--prevalence",
             "0.2", "--c-statistic", "0.75", "--simulations", "50"),
}  # fmt: skip
HOSTILE = (
    "", "x", "nan", "inf", "-1", "1e308", "9" * 400, "-0.5", "nowhere/x.csv", "a.csv", "p", "%s",
    "é\n\t", "empty.csv", "header.csv", "nul.csv", "digits.csv", "utf-16", ".",
)  # fmt: skip


@pytest.fixture
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", SIZE, random_state=6)
    table = pd.DataFrame({"y": y_true, "p": y_prob, "q": np.sqrt(y_prob)})
    table.to_csv("a.csv", index=False)
    Path("empty.csv").touch()
    Path("header.csv").write_text("y,p\n")
    Path("nul.csv").write_bytes(b"y,p\n\x000,1\n")
    Path("digits.csv").write_text("y,p\n" + f"0,{'9' * 400}\n" * 9)


def with_value(given, option, value):
    while option in given:
        at = given.index(option)
        given = given[:at] + given[at + 2 :]
    return [*given, option, value]


@pytest.mark.slow
@pytest.mark.usefixtures("_files", "quick")
@pytest.mark.parametrize("name", GIVEN)
def test_every_option_is_attacked(name, run):
    command = COMMANDS[name]
    owners = Counter(option for each in COMMANDS.values() for option in each.options)
    table = Path("a.csv").read_bytes()
    others = {name: python.replace("_", "-") for name, python in PYTHON_NAMES.items()}
    wrong = []
    for index, option in enumerate(each for each in command.options if OPTIONS[each].value):
        for k in range(max(1, FEW // owners[option])):
            value = HOSTILE[(5 * index + 7 * k) % len(HOSTILE)]
            result = run(name, *with_value(list(GIVEN[name]), f"--{option}", value))
            error = result.err[result.err.find("Error: ") :]
            known = [option, option.replace("-", "_"), others.get(option, option)]
            named = any(text and text in error for text in (*known, " ".join(value.split())))
            if result.code not in (0, 2):
                wrong.append(f"{option} {value!r}: code {result.code}")
            elif result.code == 2 and (len(error) > LONGEST or error.count("\n") != 1):
                wrong.append(f"{option} {value!r:.40}: more than a line: {error:.200}")
            elif result.code == 2 and value and not named:
                wrong.append(f"{option} {value!r:.40}: not named: {error:.200}")
    assert not wrong
    assert name == "plan" or Path("a.csv").read_bytes() == table  # a plan reads no file here


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("Set weight_type='sampling'.", "Set --weight-type sampling."),
        ("Pass edge= a distance from 0 and 1.", "Pass --edge a distance from 0 and 1."),
        ("Give engine='nuts' or prior='clinical'.", "Give engine='nuts' or --prior clinical."),
        ("A column 'edge=' and fit(table, edge=0.01) stay.",) * 2,
        ("An argument that has no option, such as sampler=.",) * 2,
    ],
)
def test_arguments_in_a_sentence_are_typed_as_options(python, typed):
    assert as_typed(python) == typed


def test_notes_speak_of_options(run, tmp_path):
    score = np.tile(np.linspace(0.05, 0.95, 40), 3)
    cases = pd.DataFrame({"y": (np.arange(120) * 7 % 10 / 10 < score) * 1, "p": score, "w": 2})
    cases.to_csv(tmp_path / "cases.csv", index=False)
    data = (str(tmp_path / "cases.csv"), "--outcome", "y", "--prob", "p", "--sample-weight", "w")
    record = tmp_path / "page.json"
    answer = run(*data, "--json", str(record))
    notes = " ".join(json.loads(record.read_text())["notes"])
    for text in (" ".join((answer.out + answer.err).split()), notes):
        assert "--weight-type sampling" in text
        assert "weight_type=" not in text
