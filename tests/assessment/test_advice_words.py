"""What is advised and noted where data are few, odd or written in several ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bayescal as bc
from bayescal.assessment.followed import risks_words
from bayescal.assessment.text.tripod import tripod
from bayescal.assessment.verdict.off import few_words
from bayescal.assessment.verdict.words import settling, to_do
from bayescal.errors import SpellingWarning

CHEAP: dict[str, Any] = {"estimators": (), "draws": 400, "random_state": 1}


def cases(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    return bc.simulate.sample("clinical-middle-overconfident", n, random_state=1)


@pytest.mark.slow
def test_of_reversed_scores_no_update_is_recommended() -> None:
    y, s = cases()
    a = bc.assess(y, 1 - s, **CHEAP)
    assert a.recommendation.choice not in (None, "identity")
    for text in (str(a), tripod(a), a._repr_html_()):
        assert "until it is checked whether the scores are probabilities of" in " ".join(
            text.split()
        )
        assert "Recommended: " not in text
    assert settling(a) == ""
    assert not any(row.chosen for row in a.tables["updates"].rows)


def test_of_one_score_the_observed_share_is_advised() -> None:
    a = bc.assess(np.arange(200) % 2, np.full(200, 0.2), **CHEAP)
    assert "the observed share of patients with the event, 0.5." in to_do(a)
    assert "BayesianRecalibrator" not in to_do(a)


@pytest.mark.parametrize(("events", "told"), [(0, "no events"), (3, "only 3 events")])
def test_of_few_events_no_number_of_patients_is_told(events, told) -> None:
    a = bc.assess((np.arange(10) < events).astype(int), np.linspace(0.6, 0.2, 10), **CHEAP)
    assert a.verdict == "cannot tell"
    assert np.isnan(a.more_to_settle)
    assert a.to_dict()["more_to_settle"] is None
    assert f"cannot be said with {told}: at least 20 events and 20 non-events" in settling(a)


def test_a_slope_that_ends_leave_undefined_does_not_contradict_how_they_are_read() -> None:
    y, s = cases()
    s = np.where(np.arange(200) < 10, 0.0, s)
    (note,) = [text for text in bc.assess(y, s, **CHEAP).notes if "taken as rounded" in text]
    assert "The slope would depend on this value" in note


def test_labels_that_are_written_alike_are_named() -> None:
    y, s = cases()
    hospital = np.resize(["St. Mary", "St. Mary ", "st. mary", "North"], 200)
    with pytest.warns(SpellingWarning, match="look alike"):
        a = bc.assess(y, s, site=hospital, **CHEAP)
    (note,) = [text for text in a.notes if "capital letters or blanks" in text]
    assert "'St. Mary' and 'St. Mary ' and 'st. mary'. If they are one" in note
    assert len(a.data.groups) == 4


def test_a_factor_of_many_numbers_is_to_be_cut_into_classes() -> None:
    y, s = cases()
    age = np.arange(200) % 40 + 30
    data = bc.CalibrationData(y, s, subgroup={"age": age})
    assert any("age has 40 levels, which are all" in text for text in told(data))
    few = bc.CalibrationData(y, s, subgroup={"age": age // 10})
    assert not any("levels, which are all numbers" in text for text in told(few))
    site = bc.CalibrationData(y, s, site=age)
    assert not any("levels, which are all numbers" in text for text in told(site))


def told(data: bc.CalibrationData) -> list[str]:
    return bc.assess(data, **CHEAP).notes


def test_none_and_one_risk_are_said_as_such() -> None:
    assert few_words(0.04, "non-event") == "there are no non-events"
    assert few_words(1, "event") == "there is only 1 event"
    assert risks_words(0.0521, 0.0522) == "0.052"
    assert risks_words(0.05, 0.1) == "0.05 to 0.1"
