"""Kaplan-Meier on a grid of steps: worked by hand, and without censoring."""

from __future__ import annotations

import numpy as np
import pytest

from bayescal.estimators.proportions import kaplan_meier


def test_the_example_by_hand():
    """Of 5 one dies in step 1 and one leaves after it; of 4, one late, one dies in step 2."""
    entry = np.array([0, 0, 0, 0, 0, 1])
    last = np.array([1, 1, 2, 3, 3, 3])
    event = np.array([True, False, True, False, False, False])
    share, effective = kaplan_meier(entry, last, event, np.ones(6), 3)
    assert share == pytest.approx(1 - 4 / 5 * 3 / 4)
    greenwood = 1 / (5 * 4) + 1 / (4 * 3)
    assert share * (1 - share) / effective == pytest.approx((1 - share) ** 2 * greenwood)


def test_without_censoring_it_is_the_proportion_of_all_cases():
    last = np.array([1, 2, 2, 3, 5, 5, 5, 5])
    event = last < 5
    weight = np.array([1, 2, 1, 1, 3, 1, 1, 1.0])
    share, effective = kaplan_meier(np.zeros(8, int), last, event, weight, 5)
    assert (share, effective) == pytest.approx((5 / 11, 11))


@pytest.mark.parametrize(
    ("event", "expected"), [([0, 0, 0], (0, 2)), ([1, 1, 1], (1, 2))], ids=["none", "all"]
)
def test_no_event_and_all_events_count_the_cases_at_risk_last(event, expected):
    told = kaplan_meier(np.zeros(3, int), np.array([1, 2, 2]), np.array(event, bool), np.ones(3), 2)
    assert told == pytest.approx(expected)


def test_nobody_under_observation_is_not_a_number():
    last, event = np.array([1, 2]), np.array([True, False])
    for entry, steps in ((np.zeros(2, int), 3), (np.array([1, 1]), 2)):
        assert np.isnan(kaplan_meier(entry, last, event, np.ones(2), steps)).all()
