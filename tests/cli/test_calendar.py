"""Dates of periods by week, month, quarter or year, however they are written."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main
from bayescal.cli.reading import read_from, request_of

DAYS = pd.date_range("2023-11-01", periods=120)
NAMES = ("--outcome", "died", "--prob", "risk", "--seed", "1")


@pytest.fixture
def frame(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    y, s = bc.simulate.sample("calibrated", 240, random_state=1)
    return pd.DataFrame({"died": y, "risk": s, "date": np.repeat(DAYS, 2)})


def drift(capsys, *arguments, file="a.csv", fails=False):
    with pytest.raises(SystemExit) as ended:
        main([file, *NAMES, "--period", "date", *arguments])
    shown = capsys.readouterr()
    assert bool(ended.value.code) == fails, shown.err
    return " ".join((shown.out + shown.err).split())


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y%m%d", "%d.%m.%Y", "%Y/%m/%d"])
def test_months_are_the_same_however_dates_are_written(frame, form):
    def read(form, **every):
        frame.assign(date=frame["date"].dt.strftime(form)).to_csv("a.csv", index=False)
        typed = {"outcome": ["died"], "prob": ["risk"], "period": "date"}
        return read_from(request_of(Path("a.csv"), typed | every)).data

    assert read(form, every="month") == read("%Y-%m")


@pytest.mark.parametrize(
    ("every", "last"),
    [("week", "2024-W09"), ("month", "2024-02"), ("quarter", "2024-Q1"), ("year", "2024")],
)
def test_each_unit_is_named_as_periods_are(capsys, frame, every, last):
    frame.to_csv("a.csv", index=False)
    assert last in drift(capsys, "--every", every)


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_dates_of_other_files(capsys, frame, ending):
    pytest.importorskip("pyarrow" if ending == "parquet" else "openpyxl")
    write = frame.to_excel if ending == "xlsx" else frame.to_parquet
    write(f"a.{ending}", index=False)
    assert "2024-02" in drift(capsys, "--every", "month", file=f"a.{ending}")


def test_what_is_no_date_is_refused(capsys, frame):
    frame.assign(date=frame["date"].dt.strftime("%m/%d/%Y")).to_csv("a.csv", index=False)
    told = drift(capsys, "--every", "month", fails=True)
    assert "'11/01/2023' on line 2 of a.csv is no date that --every can read" in told
    frame.assign(date=frame["date"].dt.strftime("%Y-%m-%d")).to_csv("a.csv", index=False)
    assert "--every must be one of" in drift(capsys, "--every", "day", fails=True)
    assert "Use longer ones, such as months, with --every month." in drift(capsys, fails=True)


def test_rows_without_a_date_are_left_out_if_asked(capsys, frame):
    frame["date"] = frame["date"].dt.strftime("%Y%m%d").astype(float).mask(frame.index < 3)
    frame.to_csv("a.csv", index=False)
    assert "line" in drift(capsys, "--every", "month", fails=True)
    assert "237 cases" in drift(capsys, "--every", "month", "--drop-missing")


def test_times_to_an_event_by_quarter(capsys, frame):
    frame["years"] = np.random.default_rng(1).exponential(3, 240).round(3) + 0.001
    frame.rename(columns={"died": "event"}).to_csv("a.csv", index=False)
    told = ["--time", "years", "--event", "event", "--prob", "risk", "--horizon", "2"]
    with pytest.raises(SystemExit) as ended:
        main(["a.csv", *told, "--period", "date", "--every", "quarter", "--seed", "1"])
    shown = capsys.readouterr()
    assert not ended.value.code, shown.err
    assert "2024-Q1" in shown.out


def test_it_goes_with_a_column_of_dates(capsys, frame):
    frame.to_csv("a.csv", index=False)
    with pytest.raises(SystemExit):
        main(["assess", "a.csv", *NAMES, "--every", "month", "--ignore-column", "date"])
    assert "--every goes with --period" in capsys.readouterr().err
