"""`bayescal drift`: it says what Python says, month by month, with what is assumed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.cli import main
from bayescal.multilevel.changes import explanation_prior

MONTHS = ("2024-01", "2024-02", "2024-03")
SHIFT = {"2024-01": 0.0, "2024-02": 0.0, "2024-03": 1.0}
NAMES = ("--period", "month", "--outcome", "died", "--prob", "risk", "--seed", "1")


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["drift", *arguments])
    shown = capsys.readouterr()
    return int(ended.value.code or 0), " ".join(shown.out.split()), " ".join(shown.err.split())


@pytest.fixture(scope="module")
def months() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    month = np.repeat(MONTHS, 150)
    x = rng.normal(-1, 1.2, month.size)
    later = np.array([SHIFT[name] for name in month])
    died = (rng.random(x.size) < expit(x + later)).astype(int)
    return pd.DataFrame({"month": month, "risk": expit(x), "died": died})


@pytest.fixture
def files(months, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, frame in months.groupby("month"):
        frame.to_csv(f"{name}.csv", index=False)


@pytest.mark.slow
def test_a_table_that_grows_month_by_month_says_what_one_file_says(capsys, months, files) -> None:
    months.to_csv("all.csv", index=False)
    for name in MONTHS:
        code, out, err = run(capsys, f"{name}.csv", *NAMES, "--update", "t.nc", "--json", "r.json")
        assert (code, err) == (0, "")
    assert "There is one period so far" not in out
    run(capsys, "all.csv", *NAMES, "--json", "all.json")
    grown, once = (json.loads(Path(name).read_text("utf-8")) for name in ("r.json", "all.json"))
    assert grown.pop("source")["additions"] == 3
    once.pop("source")
    assert grown == once
    data = bc.CalibrationData.from_netcdf("t.nc")
    assert data.levels["period"] == MONTHS
    post = bc.fit(data, curve="logistic", random_state=1)
    assert grown["prob_changed"] == pytest.approx(1 - post.explanations["constant"])
    assert grown["now"]["tce"]["estimate"] == pytest.approx(post.now().estimate("tce"))
    assert grown["by_period"]["2024-03"]["cases"] == 150
    assert "Now, in 2024-03: risks are too low" in out
    assert "The curve has changed with probability" in out
    constant, *sudden, gradual = explanation_prior(post.problem)
    told = f"(before the data {constant:g}, {sum(sudden):g} and {gradual:g})"
    assert told == "(before the data 0.5, 0.4 and 0.1)"
    assert told in out
    assert "A model in use changes outcomes" in out
    assert out.index("A model in use") < out.index("Now, in")


def test_the_first_month_begins_the_table_and_nothing_can_have_changed(capsys, files) -> None:
    told = ["--update", "t.nc", "--plot", "f.png"]
    code, out, _ = run(capsys, "2024-01.csv", *NAMES, *told)
    assert code == 0
    assert "There is one period so far, 2024-01" in out
    assert bc.CalibrationData.from_netcdf("t.nc").n == 150
    assert not Path("f.png").exists()
    assert "f.png" not in out


def test_the_figure_and_numbers_on_stdout(capsys, months, files) -> None:
    months[months["month"] != MONTHS[1]].to_csv("two.csv", index=False)
    with pytest.raises(SystemExit):
        main(["drift", "two.csv", *NAMES, "--plot", "f.png", "--json", "-", "--close", "0.05"])
    shown = capsys.readouterr()
    told = json.loads(shown.out)
    assert told["close"] == 0.05
    assert sum(told["explanations"].values()) == pytest.approx(1)
    assert "above 0.05 with probability" in " ".join(shown.err.split())
    assert Path("f.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["2024-01.csv"], "--period is needed"),
        (["2024-01.csv", *NAMES, "--force"], "--force goes with --update"),
        (["2024-01.csv", *NAMES, "--close", "2"], "--close must lie strictly between 0 and 1"),
        (["2024-01.csv", *NAMES[2:], "--period", "week"], "no column 'week'"),
    ],
)
def test_what_is_missing_is_named(capsys, files, arguments, told) -> None:
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert told in err


DAYS = [f"2024-{month}-{day:02}" for month in ("01", "03") for day in range(1, 32)]


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        (["Jan 2024", "Feb 2024"], "whose order is not plain. Give months as '2024-03', days as"),
        (DAYS, "62 periods, but at most 60 are compared, in about ten seconds. Use longer ones"),
    ],
)
def test_a_fault_of_periods_names_the_column_and_a_form(capsys, tmp_path, texts, told) -> None:
    frame = pd.DataFrame({"month": texts, "risk": 0.2, "died": [0, 1] * (len(texts) // 2)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    code, _, err = run(capsys, str(tmp_path / "a.csv"), *NAMES)
    assert code == 2
    assert "column 'month' holds " in err
    assert told in err
    assert "pandas" not in err
    assert "astype" not in err
