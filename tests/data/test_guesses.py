"""Columns of strangers' files are guessed with a reason, and all that is open is asked at once."""

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.data.columns import Columns, Request
from bayescal.data.guesses import guess
from bayescal.errors import GuessWarning

N = 60
RNG = np.random.default_rng(3)
P = RNG.uniform(0.05, 0.95, N).round(3)
Y = (RNG.random(N) < P).astype(int)
WORDS = np.array(["no", "yes"])[Y]


def guessed(frame, **request):
    return guess(frame, Request("cases.csv", **request))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"died": Y, "risk": P}, ("died", "risk")),
        ({"Died in hospital": Y, "Sex": Y[::-1], "Predicted risk": P}, (0, 2)),
        ({"y_true": Y, "y_proba": P}, (0, 1)),
        ({"outcome": Y, "treated": Y[::-1], "age": 40 + Y, "Probability": P}, (0, 3)),
        ({"a": Y, "b": P}, (0, 1)),
        ({"Outcome ": Y, "  Score": P, "age": 100 * P}, (0, 1)),
        ({"truth": Y, ".pred_0": 1 - P, ".pred_1": P}, (0, 2)),
        ({"correct": Y == 1, "confidence": P, "task": "law"}, (0, 1)),
        ({"Mortality": Y, "predicted_mortality": P, "id": np.arange(N)}, (0, 1)),
    ],
)
def test_columns_are_guessed(columns, expected):
    frame = pd.DataFrame(columns)
    made = guessed(frame)
    names = [frame.columns[each] if isinstance(each, int) else each for each in expected]
    assert [made.columns.outcome, made.columns.prob] == names
    assert made.question == ""
    assert made.reasons.keys() == {"outcome", "prob"}


def test_the_column_of_the_event_is_the_one_that_is_called_after_it():
    frame = pd.DataFrame({"died": WORDS, ".pred_no": 1 - P, ".pred_yes": P})
    made = guessed(frame, pos_label="yes")
    assert made.columns.prob == ".pred_yes"
    assert made.reasons["prob"] == "its name, which is that of the event"


def test_percentages_are_offered_by_name_and_read():
    frame = pd.DataFrame({"Died in hospital": Y, "Predicted mortality (%)": 100 * P})
    made = guessed(frame)
    assert made.columns.prob == "Predicted mortality (%)"
    assert "Read them with scale='percent'" in made.question
    assert guessed(frame, scale="percent").question == ""


def test_all_that_is_open_is_asked_at_once():
    frame = pd.DataFrame(
        {"died": WORDS, "old": P, "new": P / 2, "patient": np.arange(N) // 2, "ward_id": 7}
    ).assign(hospital=np.arange(N) % 4, month=np.arange(N) % 3)
    asked = guessed(frame).questions
    assert len(asked) == 5
    assert "Say which is the event: pos_label='yes' or pos_label='no'" in asked[0]
    assert "several columns could be the score: 'old', 'new'" in asked[1]
    assert "column 'patient' repeats" in asked[2]
    assert "site='hospital', or cluster='hospital', or ignore='hospital'" in asked[3]
    assert "period='month', or cluster='month', or ignore='month'" in asked[4]
    told = Columns("died", "old", site="hospital", cluster="patient", period="month")
    assert guessed(frame, columns=told, pos_label="yes").question == ""


def test_what_was_guessed_is_shown(tmp_path):
    path = tmp_path / "cases.csv"
    pd.DataFrame({"died": Y, "risk": P}).to_csv(path, index=False)
    with pytest.warns(GuessWarning, match=r"outcome='died' .*; prob='risk' \(its name\)"):
        assert bc.read(path) == bc.CalibrationData(Y, P)


@pytest.mark.parametrize("known", [False, True])
def test_fields_within_others_of_json_lines(tmp_path, known):
    path = tmp_path / "log.jsonl"
    lines = pd.DataFrame({"doc": [{"target": int(y)} for y in Y], "scores": [{"p": p} for p in P]})
    lines.to_json(path, orient="records", lines=True)
    names = {"outcome": "doc.target", "prob": "scores.p"} if known else {}
    with pytest.warns(GuessWarning) if not known else pytest.MonkeyPatch.context():
        assert bc.read(path, **names) == bc.CalibrationData(Y, P)
