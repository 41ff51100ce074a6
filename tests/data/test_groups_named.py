"""Columns of hospitals or dates of which nothing is said, and labels that are no text."""

import warnings

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.errors import GroupWarning, InputError

NAMED = {"outcome": "died", "prob": "risk"}


@pytest.fixture
def frame():
    y, s = bc.simulate.sample("calibrated", 60, random_state=1)
    return pd.DataFrame({"died": y, "risk": s, "Hospital": np.resize(["A", "B"], 60)})


def test_a_column_of_hospitals_is_noted(frame):
    with pytest.warns(GroupWarning, match=r"'Hospital' may tell groups apart.*site='Hospital'"):
        data = bc.CalibrationData.from_frame(frame, **NAMED)
    assert not data.groups


def test_a_month_is_a_period(frame):
    frame = frame.rename(columns={"Hospital": "month"})
    with pytest.warns(GroupWarning, match="period='month'"):
        bc.CalibrationData.from_frame(frame, **NAMED)


@pytest.mark.parametrize(
    "answer", [{"site": "Hospital"}, {"cluster": "Hospital"}, {"ignore": ["Hospital"]}]
)
def test_what_was_said_is_not_asked_again(frame, answer):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bc.CalibrationData.from_frame(frame, **NAMED, **answer)


def test_one_value_and_a_value_of_each_row_tell_no_groups_apart(frame):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for values in ("A", [f"H{k}" for k in range(60)]):
            bc.CalibrationData.from_frame(frame.assign(Hospital=values), **NAMED)


def test_a_data_frame_in_place_of_outcomes_is_told_what_to_do(frame):
    for door in (bc.fit, bc.assess):
        with pytest.raises(InputError, match=r"outcome=\.\.\., prob=.*site='Hospital'"):
            door(frame)


@pytest.mark.parametrize("role", ["site", "cluster"])
def test_half_of_a_surrogate_pair_is_no_label(frame, role):
    labels = np.array(["A", "B\ud800"], dtype=object)[np.arange(60) % 2]
    with pytest.raises(InputError, match=rf"{role}\[1\] = .*half of a surrogate pair"):
        bc.CalibrationData(frame["died"], frame["risk"], **{role: labels})
