"""`bayescal missing`: patients without an outcome stay in the population."""

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
        main(list(arguments))
    shown = capsys.readouterr()
    return int(ended.value.code or 0), " ".join(shown.out.split()), " ".join(shown.err.split())


@pytest.fixture
def cases(tmp_path, monkeypatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    y, s = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    known = np.random.default_rng(1).random(200) < np.where(s > 0.3, 0.9, 0.4)
    frame = pd.DataFrame({"died": np.where(known, y, np.nan), "risk": s})
    frame.to_csv("cases.csv", index=False)
    return frame


@pytest.mark.slow
def test_it_says_what_python_says(capsys, cases) -> None:
    told = ["--json", "r.json", "--plot", "f.png", "--close", "0.05", "--delta", "0.5"]
    code, out, _ = run(capsys, "missing", "cases.csv", *NAMES, *told)
    assert code == 0
    result = bc.fit_known(cases["died"], cases["risk"], random_state=1)
    stored = json.loads(Path("r.json").read_text("utf-8"))
    summary = result.posterior.summary()
    assert stored["all"]["tce"]["upper"] == pytest.approx(summary.loc["tce", "upper"])
    known = result.known.summary()
    ratio = stored["known"]["observed_expected"]["lower"]
    assert ratio == pytest.approx(known.loc["observed_expected", "lower"])
    row = result.verdicts(0.05, [0.5]).iloc[0]
    assert stored["verdicts"]["0.5"]["prob_close"] == pytest.approx(row["prob_close"])
    assert stored["delta_to_change"]["verdict"] in out
    missing = int(result.missing["missing"].sum())
    assert sum(row["missing"] for row in stored["missing_by_fifth"].values()) == missing
    assert f"{200 - missing} of 200 outcomes are known" in out
    assert "left out of the likelihood, not of the population" in out
    assert Path("f.png").stat().st_size > 1000


def test_an_assessment_names_the_next_command(capsys, cases) -> None:
    code, _, err = run(capsys, "assess", "cases.csv", *NAMES)
    assert code == 2
    assert "bayescal missing cases.csv --outcome died --prob risk" in err


def test_where_scores_are_missing_too_it_is_not_named(capsys, cases) -> None:
    cases.assign(risk=cases["risk"].where(cases.index > 3)).to_csv("cases.csv", index=False)
    code, _, err = run(capsys, "assess", "cases.csv", *NAMES)
    assert code == 2
    assert "bayescal missing" not in err


@pytest.mark.parametrize(
    ("outcome", "told"), [(1, "no outcome is missing"), (None, "every outcome is missing")]
)
def test_all_or_none(capsys, cases, outcome, told) -> None:
    filled = cases.assign(died=outcome if outcome is None else cases["died"].fillna(outcome))
    filled.to_csv("cases.csv", index=False)
    code, _, err = run(capsys, "missing", "cases.csv", *NAMES)
    assert code == 2
    assert told in err


def test_leaving_them_out_is_refused(capsys, cases) -> None:
    code, _, err = run(capsys, "missing", "cases.csv", *NAMES, "--drop-missing")
    assert code == 2
    assert "--drop-missing leaves out the patients" in err


def test_help_does_not_offer_to_leave_them_out(capsys) -> None:
    code, out, _ = run(capsys, "missing", "--help")
    assert code == 0
    assert "--drop-missing" not in out


def test_a_missing_score_has_a_way_out(capsys, cases) -> None:
    cases.assign(risk=cases["risk"].where(cases.index > 3)).to_csv("cases.csv", index=False)
    code, _, err = run(capsys, "missing", "cases.csv", *NAMES)
    assert code == 2
    assert (
        "4 of 200 rows lack a score or a weight, the first on line 2 of cases.csv (column 'risk')."
        in err
    )
    assert "remove these rows from the file" in err


@pytest.mark.parametrize(("value", "told"), [("3", "3 is neither 0 nor 1 on line"), ("-1", "-1")])
def test_a_wrong_outcome_is_told_by_its_line(capsys, cases, value, told) -> None:
    lines = Path("cases.csv").read_text("utf-8").splitlines()
    at = next(k for k, line in enumerate(lines) if k > 50 and not line.startswith(","))
    lines[at] = f"{value},0.5"
    Path("cases.csv").write_text("\n".join(lines), "utf-8")
    code, _, err = run(capsys, "missing", "cases.csv", *NAMES)
    assert code == 2
    assert told in err
    assert f"on line {at + 1} of cases.csv" in err
    assert "fit(labels" not in err
