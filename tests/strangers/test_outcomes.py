"""Outcomes and matrices as strangers have them: fractions, classes, logits, frames and models."""

import enum
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import bayescal as bc
from bayescal.errors import InputError

RNG = np.random.default_rng(3)
N = 200
RISK = RNG.beta(2, 3, N)
DIED = (RNG.random(N) < RISK).astype(int)
CHEAP = {"draws": 400, "random_state": 1}


SPECIES = np.array(["coyote", "fox", "wolf"])[RNG.integers(0, 3, N)]


def test_one_of_several_classes_is_the_event_on_the_command_line(tmp_path):
    from bayescal.cli.reading import read_from, request_of

    path = tmp_path / "cases.csv"
    pd.DataFrame({"species": SPECIES, "risk": RISK}).to_csv(path, index=False)
    read = read_from(request_of(path, {"outcome": "species", "prob": "risk", "positive": "coyote"}))
    assert read.data.events == (SPECIES == "coyote").sum()


FRAME = pd.DataFrame({"y": DIED, "p": RISK})
MODEL = LogisticRegression().fit(RISK[:, None], DIED)
DATASET = FRAME.to_xarray()


@pytest.mark.parametrize(
    "call",
    [
        lambda: bc.assess(FRAME, "y", "p"),
        lambda: bc.assess(MODEL, RISK[:, None], DIED),
        lambda: bc.assess(DIED, y_pred=RISK),
        lambda: bc.assess(DATASET),
    ],
    ids=["frame", "model", "y_pred", "dataset"],
)
def test_a_natural_wrong_call_is_told_the_right_one(call):
    with pytest.raises(InputError, match=r"y_prob|outcome="):
        call()


def test_variables_of_a_dataset_are_columns():
    data = bc.CalibrationData.from_frame(DATASET, outcome="y", prob="p")
    assert data == bc.CalibrationData(DIED, RISK)


@pytest.mark.slow
def test_a_path_with_half_a_surrogate_is_answered_in_a_sentence():
    done = subprocess.run(
        [sys.executable, "-m", "bayescal", "assess", b"caf\xe9.csv"],
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert b"Error: " in done.stderr
    assert b"Traceback" not in done.stderr


class Level(enum.Enum):
    LOW = 0.2


def test_a_threshold_that_is_an_enum_is_refused_by_name():
    with pytest.raises(InputError, match="thresholds"):
        bc.scores.net_benefit(DIED, RISK, thresholds=[Level.LOW])


def test_many_exact_zeros_are_asked_about():
    score = np.where(np.arange(N) < 56, 0, RISK)
    told = bc.assess(DIED, score, **CHEAP)
    assert "no answer" in f"{told} {told.headline()}"


def confidences(tmp_path, first):
    path = tmp_path / "answers.jsonl"
    each = [first, 0.8, 0.7, 0.6]
    lines = [json.dumps({"correct": k < 2, "confidence": each[k]}) for k in range(4)]
    path.write_text("\n".join(lines))
    return bc.read(path, outcome="correct", prob="confidence")


@pytest.mark.parametrize("text", ["90 percent", "90 %", "90%", "0.9", " 90 Percent "])
def test_ninety_percent_in_words_is_a_confidence(tmp_path, text):
    assert confidences(tmp_path, text).score.max() == 0.9


@pytest.mark.parametrize("value", [None, "I am fairly sure"])
def test_a_confidence_that_is_none_is_refused_by_line(tmp_path, value):
    with pytest.raises(InputError, match=r"line 1 of .*confidence"):
        confidences(tmp_path, value)


def test_free_text_as_a_confidence_is_told_how_to_leave_such_answers_out(tmp_path):
    with pytest.raises(InputError) as refused:
        confidences(tmp_path, "I am fairly sure")
    assert "drop_missing" in str(refused.value)
