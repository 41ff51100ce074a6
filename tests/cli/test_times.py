"""Times to an event on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.cli import main
from bayescal.data.columns import Columns, Request

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


def ran(*arguments):
    with pytest.raises(SystemExit) as left:
        main(list(map(str, arguments)))
    return left.value.code


def recorded(path, *arguments):
    record = path.parent / "out.json"
    assert ran(*arguments, "--json", record) == 0
    return json.loads(record.read_text("utf-8"))


def test_survival_is_one_minus_the_risk(patients, capsys):
    path, _ = patients
    one = ("assess", path, *TIMES)
    mine = recorded(path, *one, "--prob", "alive", "--scale", "survival")
    theirs = recorded(path, *one, "--prob", "risk")
    for name, numbers in theirs["functionals"].items():
        assert mine["functionals"][name]["estimate"] == pytest.approx(numbers["estimate"], 1e-6)
    capsys.readouterr()
    assert mine["source"]["scale"] == "probabilities of survival"
    assert ran(*one, "--prob", "alive") == 0
    assert "Read them with --scale survival if they are" in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.fixture(scope="module")
def two_causes(tmp_path_factory):
    """A file of 120 patients: 1 is death from another cause, 3 the event."""
    rng = np.random.default_rng(6)
    risk = 1 / (1 + np.exp(-rng.normal(-0.5, 1.3, 120)))
    comes, left = 6 * rng.random(120), np.minimum(rng.exponential(9, 120), 5.5)
    code = np.where(comes > left, 0, np.where(rng.random(120) < risk, 3, 1))
    frame = pd.DataFrame({"risk": risk, "years": np.minimum(comes, left), "cause": code})
    path = tmp_path_factory.mktemp("causes") / "causes.csv"
    frame.to_csv(path, index=False)
    return path, frame


@pytest.mark.slow
def test_codes_of_events_are_read_and_explained(two_causes, capsys):
    path, frame = two_causes
    asked = ("assess", path, "--time", "years", "--event", "cause", "--horizon", "5", "--seed", "1")
    asked = (*asked, "--prob", "risk")
    record = recorded(path, *asked, "--positive", "3")
    outcome = bc.Survival(frame["years"], frame["cause"], cause=3)
    data = bc.CalibrationData(outcome, frame["risk"], horizon=5)
    assert record["events"] == data.events
    shown = " ".join(capsys.readouterr().out.split())
    told = f"3 is the event ({int((frame['cause'] == 3).sum())} cases), 0 a case that left"
    assert told in shown
    assert "name it with --positive" not in shown
    assert ran(*asked) == 0
    assert "If the event has another code, name it with --positive" in " ".join(
        capsys.readouterr().out.split()
    )
    assert ran(*asked, "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["events"] > 0  # notes do not stand among numbers


@pytest.mark.slow
def test_codes_as_r_writes_them_are_asked_about(two_causes, capsys):
    path, frame = two_causes
    of_r = path.with_name("r.csv")
    frame.assign(cause=1 + (frame["cause"] == 3)).to_csv(of_r, index=False)
    asked = ("assess", of_r, "--time", "years", "--event", "cause", "--horizon", "5")
    assert ran(*asked, "--prob", "risk") == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "R writes 1 for a case that left and 2 for the event" in told
    assert "name the one that scores are risks of with --positive" in told
    as_words = path.with_name("words.csv")
    names = frame["cause"].map({0: "alive", 1: "died of other", 3: "relapse"})
    frame.assign(cause=names).to_csv(as_words, index=False)
    three = ("--positive", "relapse", "--censored", "alive")
    of_words = (*asked[:1], as_words, *asked[2:], "--prob", "risk")
    of_words = (*of_words, "--seed", "1")
    told = recorded(as_words, *of_words, *three)
    assert "relapse is the event" in " ".join(capsys.readouterr().out.split())
    of_codes = (*of_words[:1], path, *of_words[2:])
    assert told["functionals"] == recorded(path, *of_codes, "--positive", "3")["functionals"]
    of_r = (*of_words[:1], of_r, *of_words[2:])
    told = recorded(path, *of_r, "--positive", "2", "--censored", "1")
    frame.assign(cause=1 * (frame["cause"] == 3)).to_csv(path.with_name("r0.csv"), index=False)
    of_one = (*of_words[:1], path.with_name("r0.csv"), *of_words[2:])
    assert told["functionals"] == recorded(path, *of_one)["functionals"]


def test_options_of_times_go_with_time(patients, capsys):
    path, _ = patients
    for option in (["--horizon", "5"], ["--entry", "years"], ["--scale", "survival"]):
        assert ran("compare", path, "--outcome", "died", "--prob", "risk", *option) == 2
        assert "goes with --time" in " ".join(capsys.readouterr().err.split())


@pytest.fixture(scope="module")
def by_years(tmp_path_factory):
    """A file of 80 patients, with risks by 2 and by 4 years."""
    rng = np.random.default_rng(5)
    rate = 0.15 * np.exp(rng.normal(0, 0.8, 80))
    event, left = rng.exponential(1 / rate), np.minimum(rng.exponential(9, 80), 6)
    frame = pd.DataFrame({"years": np.minimum(event, left), "died": (event <= left).astype(int)})
    frame["r2"], frame["r4"] = -np.expm1(-2 * rate), -np.expm1(-4 * rate)
    path = tmp_path_factory.mktemp("several") / "patients.csv"
    frame.to_csv(path, index=False)
    return path, frame


@pytest.fixture(scope="module")
def hospitals(tmp_path_factory):
    """Times of patients of three hospitals over three months; the last have more events."""
    rng = np.random.default_rng(6)
    x = rng.normal(-0.5, 1.1, 300)
    month = np.arange(300) // 100 + 1
    event = -5 * rng.exponential(1, 300) / np.log1p(-1 / (1 + np.exp(-x - 1.5 * (month == 3))))
    left = np.minimum(rng.exponential(9, 300), 10)
    frame = pd.DataFrame({"risk": 1 / (1 + np.exp(-x)), "years": np.minimum(event, left)})
    frame["died"] = (event <= left).astype(int)
    frame["hospital"], frame["month"] = np.array(list("ABC"))[np.arange(300) % 3], month
    path = tmp_path_factory.mktemp("hospitals") / "patients.csv"
    frame.to_csv(path, index=False)
    return path, frame


SEVERAL = ("--time", "years", "--event", "died", "--horizon", "2,4")


@pytest.mark.parametrize(
    ("column", "at", "told"),
    [
        ("years", 5.0, "by 5 years"),
        ("Year", 1.0, "by 1 year"),
        ("days", 0.5, "by 0.5 days"),
        ("t_event", 5.0, "by 5 (column t_event)"),
    ],
)
def test_a_horizon_is_told_in_the_unit_that_the_column_names(column, at, told):
    assert Request("a.csv", Columns(time=column), horizon=at).by == told


@pytest.mark.slow
def test_several_horizons_are_those_of_python(by_years, capsys):
    path, frame = by_years
    page = path.with_name("page.html")
    asked = ("assess", path, *SEVERAL, "--prob", "r2, r4", "--seed", "1", "--html", page)
    record = recorded(path, *asked)
    outcome = bc.Survival(frame["years"], frame["died"])
    several = bc.assess(outcome, frame[["r2", "r4"]], horizon=[2, 4], random_state=1)
    assert record["by_horizon"][1]["tce_estimate"] == several.by_horizon.loc[4, "tce_estimate"]
    assert record["source"]["scores"] == "r2, r4"
    shown = capsys.readouterr().out
    assert "r2 by 2, r4 by 4" in shown
    assert "r2 by 2, r4 by 4" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("assess", ["--prob", "r2"], "--prob names 1 column and --horizon 2 times (2, 4)"),
        ("assess", [], "--prob is missing: with 2 horizons it names a column of risks for each"),
        ("assess", ["--prob", "r2,r9"], "--prob: there is no column 'r9'"),
        ("assess", ["--prob", "r4,r2"], "the mean risk falls from column r4"),
        ("compare", ["--prob", "r2,r4"], "an assessment alone takes several"),
        ("compare", ["--prob", "r2", "--prob", "r4"], "an assessment alone takes several"),
    ],
)
def test_columns_and_horizons_that_do_not_pair_are_refused(
    by_years, capsys, command, options, message
):
    assert ran(command, by_years[0], *SEVERAL, *options) != 0
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--horizon", "2", "--prob", "years"], "--time and --prob name the same column"),
        (["--horizon", "2", "--prob", "r2", "--entry", "died"], "--event and --entry name"),
        (
            ["--horizon", "2", "--prob", "r2", "--sample-weight", "years"],
            "--time and --sample-weight name",
        ),
        (["--horizon", "2,4", "--prob", "r2,r2"], "--prob names the column 'r2' twice"),
        (["--horizon", "2,4", "--prob", "r2,died"], "--event and --prob name the same column"),
    ],
)
def test_a_column_of_times_has_one_meaning(by_years, capsys, options, message):
    asked = ("assess", by_years[0], "--time", "years", "--event", "died")
    assert ran(*asked, *options) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("column", "value", "options", "message"),
    [
        ("years", -1, ["--horizon", "2", "--prob", "r2"], "column 'years': -1 is no time"),
        ("died", 0.5, ["--horizon", "2", "--prob", "r2"], "column 'died': 0.5 is no code"),
        ("r4", 1.5, ["--horizon", "2,4", "--prob", "r2,r4"], "column 'r4': 1.5 is outside [0, 1]"),
    ],
)
def test_faults_are_told_by_column_and_line(by_years, capsys, column, value, options, message):
    path, frame = by_years
    wrong = frame.astype(float)
    wrong.loc[7, column] = value
    wrong.to_csv(path.with_name("wrong.csv"), index=False)
    asked = ("assess", path.with_name("wrong.csv"), "--time", "years", "--event", "died")
    assert ran(*asked, *options) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert message in told
    assert "on line 9 of" in told


@pytest.mark.slow
def test_times_that_grow_by_month_are_those_of_one_file(hospitals, tmp_path):
    path, frame = hospitals
    asked = (*TIMES, "--prob", "risk", "--period", "month", "--ignore-column", "hospital")
    once = recorded(path, path, *asked)
    for month, cases in frame.groupby("month"):
        own = tmp_path / f"{month}.csv"
        cases.to_csv(own, index=False)
        grown = recorded(own, own, *asked, "--update", tmp_path / "table.nc")
    assert grown.pop("source")["additions"] == frame["month"].nunique()
    once.pop("source")
    assert grown == once


@pytest.mark.slow
def test_assess_of_times_has_its_sites(hospitals, capsys):
    path, frame = hospitals
    asked = ("assess", path, *TIMES, "--prob", "risk", "--site", "hospital")
    told = recorded(path, *asked, "--ignore-column", "month")
    assert set(told["groups"]) == set("ABC")
    capsys.readouterr()
    missing = frame.assign(hospital=frame["hospital"].where(frame.index > 3))
    missing.to_csv(path.with_name("missing.csv"), index=False)
    few = ("assess", path.with_name("missing.csv"), *asked[2:], "--ignore-column", "month")
    assert ran(*few) == 2
    assert "hospital" in capsys.readouterr().err


def test_a_cause_that_does_not_occur_is_refused(patients, capsys):
    path, frame = patients
    coded = path.with_name("codes.csv")
    frame.assign(died=np.where(frame.years > 6, 2, frame.died)).to_csv(coded, index=False)
    assert ran("assess", coded, *TIMES, "--prob", "risk", "--positive", "7") == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "--positive 7: no case has this in the column 'died' of --event" in told
    assert "which holds 0, 1, 2." in told


def test_times_in_another_unit_than_the_horizon_are_noted(patients, capsys):
    path, frame = patients
    days = path.with_name("days.csv")
    frame.assign(years=10 + 365 * frame.years).to_csv(days, index=False)
    assert ran("assess", days, *TIMES, "--prob", "risk") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Note: no event comes by 5, and" in told
    assert "--horizon is in the units of these times" in told
