"""Codes of missing values, words and decimal commas in a file are named, with what to do."""

import numpy as np
import pandas as pd
import pytest

from bayescal.cli import main

ROWS = 60


@pytest.fixture
def refusal(tmp_path, monkeypatch, capsys):
    """What a command says of a table that it refuses."""
    monkeypatch.chdir(tmp_path)

    def told(frame, *arguments, command="assess"):
        frame.to_csv("a.csv", index=False)
        with pytest.raises(SystemExit) as left:
            main([command, "a.csv", *arguments])
        assert left.value.code == 2
        return " ".join(capsys.readouterr().err.split())

    return told


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    p = rng.uniform(0.05, 0.95, ROWS).round(4)
    return pd.DataFrame({"y": (rng.random(ROWS) < p).astype(int), "p": p})


@pytest.mark.parametrize("code", [".", "-", "?", "unknown", "-99", "9"])
@pytest.mark.parametrize("words", [False, True])
def test_codes_of_missing_outcomes(refusal, frame, code, words):
    outcome = frame["y"].map({0: "no", 1: "yes"} if words else {0: "0", 1: "1"})
    frame["y"] = outcome.mask(frame.index.isin([3, 9]), code)
    event = ("--positive", "yes") if words else ()
    told = refusal(frame, "--outcome", "y", "--prob", "p", *event)
    assert f"{code if code in ('-99', '9') and not words else repr(code)} in 2 rows" in told
    assert "the first on line 5 of a.csv: this looks like a code of missing values" in told
    assert "--drop-missing leaves their rows out, and an empty cell keeps" in told


@pytest.mark.parametrize("code", [".", "unknown", "-99", "999"])
def test_codes_of_missing_scores(refusal, frame, code):
    frame["p"] = frame["p"].astype(str).mask(frame.index == 7, code)
    told = refusal(frame, "--outcome", "y", "--prob", "p")
    assert "in 1 row, the first on line 9 of a.csv: this looks like a code" in told
    assert "Make these cells empty; then --drop-missing leaves their rows out." in told


def test_plus_and_minus_are_two_outcomes(tmp_path, frame, capsys):
    path = tmp_path / "a.csv"
    frame.assign(y=frame["y"].map({0: "-", 1: "+"})).to_csv(path, index=False)
    named = ("--outcome", "y", "--prob", "p", "--positive", "+")
    with pytest.raises(SystemExit) as left:
        main(["assess", str(path), *named])
    assert (left.value.code or 0) == 0


def test_of_three_classes_one_is_asked_for(refusal, frame):
    frame["y"] = np.resize(["a", "b", "c"], ROWS)
    told = refusal(frame, "--outcome", "y", "--prob", "p")
    assert "Say which is the event, against all others: --positive a or --positive b or" in told
    told = refusal(frame, "--outcome", "y", "--prob", "p", "--positive", "d")
    assert "holds 'a', 'b', 'c', which are not two classes with the event 'd'" in told


def test_a_decimal_comma_between_commas(refusal, frame):
    frame["p"] = frame["p"].astype(str).str.replace(".", ",")
    told = refusal(frame, "--outcome", "y", "--prob", "p")
    assert "on line 2 of a.csv has a decimal comma, which is read only where semicolons" in told


def test_other_texts_among_scores(refusal, frame):
    frame["p"] = frame["p"].astype(str).mask(frame.index == 1, "high")
    told = refusal(frame, "--outcome", "y", "--prob", "p")
    assert told.endswith(
        "column 'p': 'high' on line 3 of a.csv is not a number. Write only numbers in this "
        "column, and leave a cell empty where the value is missing."
    )


TIMED = ("--time", "t", "--event", "s", "--horizon", "2", "--prob", "p")


def test_words_for_what_ended_a_time(refusal, frame):
    frame = frame.assign(t=1.0 + frame.index, s=frame["y"].map({0: "alive", 1: "dead"}))
    told = refusal(frame, *TIMED)
    assert "column 's' of --event holds alive, dead. Say which of these is the event" in told


def test_the_place_stands_where_the_sense_may_pause(refusal, frame):
    weights = ("--sample-weight", "w", "--weight-type", "counts")
    told = refusal(frame.assign(w=0.5), "--outcome", "y", "--prob", "p", *weights)
    assert "column 'w': 0.5 is not a whole number on line 2 of a.csv, and counts" in told
    late = frame.assign(t=0.85, s=frame["y"], e=1.85)
    told = refusal(late, *TIMED, "--entry", "e")
    assert "(0.85 in column 't') on line 2 of a.csv: such a case was never" in told
    late = frame.assign(t=9.0, s=frame["y"], e=5.0)
    told = refusal(late, *TIMED, "--entry", "e")
    assert "is not before the horizon 2 on line 2 of a.csv: such a case says nothing" in told


def test_percentages_with_a_decimal_comma_are_read_by_their_option(refusal, frame):
    frame["p"] = [f"{100 * p:.1f} %".replace(".", ",") for p in frame["p"]]
    told = refusal(frame)
    assert (
        "is a percentage. Percentages, with or without the sign, are read with --scale percent."
        in told
    )
