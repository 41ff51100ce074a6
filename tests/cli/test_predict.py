"""`bayescal predict`: the risk of one patient here, elsewhere and later, as Python has it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main

NAMES = ("--outcome", "died", "--prob", "risk", "--seed", "1")


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["predict", "cases.csv", *NAMES, *arguments])
    shown = capsys.readouterr()
    return int(ended.value.code or 0), " ".join(shown.out.split()), " ".join(shown.err.split())


@pytest.fixture
def cases(tmp_path, monkeypatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    y, s = bc.simulate.sample("clinical-middle-overconfident", 240, random_state=1)
    hospital = np.resize(["A", "B", "C"], 240)
    frame = pd.DataFrame({"died": y, "risk": s, "hospital": hospital})
    frame.to_csv("cases.csv", index=False)
    return frame


@pytest.mark.slow
def test_here_on_average_and_elsewhere(capsys, cases) -> None:
    told = ["--site", "hospital", "--at", "B", "--risk", "0.18", "--threshold", "0.2"]
    code, out, _ = run(capsys, *told, "--json", "r.json", "--plot", "f.png")
    assert code == 0
    post = bc.fit(
        cases["died"], cases["risk"], site=cases["hospital"], curve="logistic", random_state=1
    )
    table = post.risks(0.18, 0.2, at="B")
    stored = json.loads(Path("r.json").read_text("utf-8"))["risks"]
    assert [row["curve"] for row in stored] == ["B", "average site", "new site"]
    for row, (_, own) in zip(stored, table.iterrows(), strict=True):
        assert [row[name] for name in own.index] == pytest.approx(own.tolist())
    assert "P(other decision at 0.2)" in out
    assert "A model in use changes outcomes" in out
    assert Path("f.png").stat().st_size > 1000


def test_of_one_curve(capsys, cases) -> None:
    told = ["--ignore-column", "hospital", "--risk", "0.1", "--risk", "0.6"]
    code, out, _ = run(capsys, *told)
    assert code == 0
    post = bc.fit(cases["died"], cases["risk"], random_state=1)
    for row in post.risks([0.1, 0.6]).to_dict("records"):
        assert f"{row['lower']:.2f} to {row['upper']:.2f}" in out
    assert "P(other decision" not in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "--risk is needed"),
        (["--risk", "0.2", "--at", "A"], "--at goes with --site or --subgroup"),
        (["--risk", "0.2", "--site", "hospital", "--period", "risk"], "each say whose risk"),
        (["--risk", "0.2", "--risk", "0.3", "--plot", "f.png"], "--plot draws one patient"),
        (["--risk", "1.2"], "outside [0, 1]"),
    ],
)
def test_what_cannot_be_is_named(capsys, cases, arguments, told) -> None:
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert told in err


@pytest.mark.parametrize(
    ("option", "typed", "back"),
    [("--percent", "20", lambda p: 100 * p), ("--logit", "-1.4", lambda p: np.log(p / (1 - p)))],
)
def test_a_risk_is_typed_on_the_scale_of_the_scores(capsys, cases, option, typed, back) -> None:
    cases.assign(risk=back(cases["risk"])).to_csv("cases.csv", index=False)
    told = ["--ignore-column", "hospital", option, "--risk", typed, "--json", "r.json"]
    assert run(capsys, *told)[0] == 0
    (row,) = json.loads(Path("r.json").read_text("utf-8"))["risks"]
    assert row["score"] == pytest.approx(0.2 if option == "--percent" else 1 / (1 + np.exp(1.4)))
    code, _, err = run(capsys, "--percent", "--risk", "101")
    assert code == 2
    assert "--risk 101 is outside [0, 100]; scores are percentages." in err


def test_of_few_hospitals_little_is_said_of_another(capsys, cases) -> None:
    few = "with fewer than 5 groups the data say little of a new one"
    code, out, err = run(capsys, "--site", "hospital", "--risk", "0.2")
    assert code == 0
    assert few in out + err
    cases.assign(hospital=np.resize([*"ABCDE"], 240)).to_csv("cases.csv", index=False)
    code, out, err = run(capsys, "--site", "hospital", "--risk", "0.2")
    assert few not in out + err


def test_levels_of_a_factor_are_no_sites(capsys, cases) -> None:
    code, out, _ = run(capsys, "--subgroup", "hospital", "--risk", "0.2")
    assert code == 0
    assert "new level of hospital" in out
    assert "new site" not in out
