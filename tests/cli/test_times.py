"""Times to an event on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main

TIMES = ("--time", "years", "--event", "died", "--horizon", "5", "--seed", "1")


@pytest.fixture(scope="module")
def patients(tmp_path_factory):
    """A file of 150 patients, with risks and with probabilities of survival."""
    rng = np.random.default_rng(4)
    risk = 1 / (1 + np.exp(-rng.normal(-0.5, 1.3, 150)))
    event = -5 * rng.exponential(1, 150) / np.log1p(-risk)
    left = np.minimum(rng.exponential(9, 150), 10)
    frame = pd.DataFrame({"risk": risk, "alive": 1 - risk, "years": np.minimum(event, left)})
    frame["died"] = (event <= left).astype(int)
    path = tmp_path_factory.mktemp("times") / "patients.csv"
    frame.to_csv(path, index=False)
    return path, frame


def ran(*arguments) -> int:
    with pytest.raises(SystemExit) as left:
        main(list(map(str, arguments)))
    return left.value.code


def recorded(path, *arguments):
    record = path.parent / "out.json"
    assert ran(*arguments, "--json", record) == 0
    return json.loads(record.read_text("utf-8"))


def test_survival_is_one_minus_the_risk(patients, capsys):
    path, _ = patients
    one = ("assess", path, *TIMES, "--curve", "logistic")
    mine = recorded(path, *one, "--score", "alive", "--survival")
    theirs = recorded(path, *one, "--score", "risk")
    for name, numbers in theirs["functionals"].items():
        assert mine["functionals"][name]["estimate"] == pytest.approx(numbers["estimate"], 1e-6)
    assert "probabilities of survival" not in capsys.readouterr().err
    assert mine["source"]["scale"] == "probabilities of survival"
    assert ran(*one, "--score", "alive") == 0
    assert "Read them with --survival if they are" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_compare_is_that_of_python(patients):
    path, frame = patients
    few = path.with_name("few.csv")
    frame[:60].to_csv(few, index=False)
    record = recorded(few, "compare", few, *TIMES, "--score", "risk")
    outcome = bc.Survival(frame["years"][:60], frame["died"][:60])
    compared = bc.compare(outcome, frame["risk"][:60], horizon=5, random_state=1)
    assert record["prob_calibrated"] == pytest.approx(compared.prob_calibrated, rel=1e-6)
    assert record["events"] == compared.data.events


def test_options_of_times_go_with_time(patients, capsys):
    path, _ = patients
    for option in (["--horizon", "5"], ["--entry", "years"], ["--survival"]):
        assert ran("compare", path, "--outcome", "died", "--score", "risk", *option) == 2
        assert f"{option[0]} goes with --time" in " ".join(capsys.readouterr().err.split())
    assert ran("compare", path, *TIMES, "--score", "alive", "--survival", "--logit") == 2
    assert "--logit and --survival exclude each other" in capsys.readouterr().err
