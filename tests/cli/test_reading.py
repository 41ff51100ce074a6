"""Options that say what a file holds."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main

JUDGE = bc.Judged(sensitivity=(91, 100), specificity=(94, 100))
ONE = ("--curve", "logistic", "--seed", "1")


@pytest.fixture
def cases(tmp_path):
    """Recorded outcomes of a calibrated model, as CSV and as Parquet."""
    rng = np.random.default_rng(4)
    p = (1 / (1 + np.exp(-rng.normal(-1, 1.2, 300)))).round(6)
    y = (rng.random(300) < np.where(rng.random(300) < p, 0.9, 0.05)).astype(int)
    frame = pd.DataFrame({"y": y, "p": p, "site": np.arange(300) % 2})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    return frame


def ran(*arguments) -> int:
    with pytest.raises(SystemExit) as left:
        main(list(map(str, arguments)))
    return left.value.code


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_outcomes_that_a_judge_recorded(cases, tmp_path, capsys, name) -> None:
    record = tmp_path / "out.json"
    judged = ("--judged", "91/100, 94/100", "--ignore-column", "site")
    assert ran("assess", tmp_path / name, *judged, *ONE, "--json", record) == 0
    assert f"recorded by {JUDGE.described()}" in " ".join(capsys.readouterr().out.split())
    numbers = json.loads(record.read_text())
    assert numbers["source"]["judged"] == JUDGE.to_dict()
    post = bc.fit(cases.y, cases.p, judged=JUDGE, curve="logistic", random_state=1)
    tce = numbers["functionals"]["tce"]
    np.testing.assert_allclose((tce["lower"], tce["upper"]), post.interval("tce"), rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--judged", "0.91,0.94"), "--judged: '0.91,0.94' is not two pairs of counts"),
        (("--judged", "91/100"), "--judged: '91/100' is not two pairs of counts"),
        (("--judged", "110/100,9/10"), "--judged 110/100,9/10: sensitivity is (110, 100)"),
        (("--judged", "5/10,5/10"), "may be no better than chance"),
        (("--judged", "91/100,94/100", "--site", "site"), "--judged was given beside site"),
    ],
)
def test_judges_that_are_refused(cases, tmp_path, capsys, options, message) -> None:
    assert ran("assess", tmp_path / "a.csv", "--outcome", "y", "--score", "p", *options) == 2
    assert message in capsys.readouterr().err


def test_a_command_of_known_outcomes_has_no_judge(cases, tmp_path, capsys) -> None:
    arguments = ("gain", tmp_path / "a.csv", "--before", "p", "--after", "y")
    assert ran(*arguments, "--judged", "91/100,94/100") == 2
    assert "No such option: --judged" in capsys.readouterr().err
