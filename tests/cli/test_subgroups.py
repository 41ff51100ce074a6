"""`bayescal assess --subgroup sex --subgroup age`."""

import json

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main

N = 200
COLUMNS = ("--outcome", "y", "--prob", "p", "--seed", "7")


@pytest.fixture
def patients():
    y, s = bc.simulate.sample("clinical-middle-overconfident", N, random_state=3)
    return pd.DataFrame(
        {
            "y": y,
            "p": s.round(3),
            "sex": np.resize(["F", "M"], N),
            "age": np.resize([70, 80, 80], N),
        }
    )


@pytest.fixture
def run(capsys, monkeypatch):
    """The command's exit code and what it printed."""
    monkeypatch.setenv("COLUMNS", "80")

    def invoke(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return left.value.code or 0, captured.out, captured.err

    return invoke


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_several_groups_are_subgroups(run, patients, tmp_path, kind):
    file, record = tmp_path / f"patients.{kind}", tmp_path / "out.json"
    if kind == "csv":
        patients.to_csv(file, index=False)
    else:
        patients.to_parquet(file)
    groups = ("--subgroup", "sex", "--subgroup", "age")
    code, out, err = run("assess", file, *COLUMNS, *groups, "--json", record)
    assert (code, err) == (0, "")
    assert "sex" in out
    document = json.loads(record.read_text())
    assert document["source"]["subgroup"] == ["sex", "age"]
    a = bc.assess(patients["y"], patients["p"], subgroup=patients[["sex", "age"]], random_state=7)
    rows = document["subgroups"]
    assert [row["level"] for row in rows] == a.facts.by_subgroup.index.get_level_values(
        "level"
    ).tolist()
    np.testing.assert_allclose([row["tce"] for row in rows], a.facts.by_subgroup["tce"], rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--subgroup", "sex", "--subgroup", "ward"), "--subgroup: there is no column 'ward'"),
        (("--subgroup", "sex", "--subgroup", "sex"), "was given twice"),
        (("--subgroup", "sex", "--subgroup", "y2"), "has one level"),
        (("--subgroup", "sex", "--subgroup", "gap"), "1 in 'gap'"),
    ],
)
def test_bad_groups_are_one_line(run, patients, tmp_path, options, message):
    file = tmp_path / "patients.csv"
    gap = np.where(np.arange(N) == 5, None, "x")
    patients.assign(y2="a", gap=gap).to_csv(file, index=False)
    code, _, err = run("assess", file, *COLUMNS, *options)
    assert code == 2
    assert message in " ".join(err.split())
