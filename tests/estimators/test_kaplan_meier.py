"""Kaplan-Meier and Aalen-Johansen on a grid of steps: worked by hand, and without censoring."""

import numpy as np
import pytest

from bayescal.estimators.survival import aalen_johansen


def kaplan_meier(entry, last, event, weight, steps):
    """Without competing events."""
    return aalen_johansen(entry, last, event, np.zeros_like(event), weight, steps)


def test_the_example_by_hand():
    """Of 5 one dies in step 1 and one leaves after it; of 4, one late, one dies in step 2."""
    entry = np.array([0, 0, 0, 0, 0, 1])
    last = np.array([1, 1, 2, 3, 3, 3])
    event = np.array([True, False, True, False, False, False])
    share, effective = kaplan_meier(entry, last, event, np.ones(6), 3)
    assert share == pytest.approx(1 - 4 / 5 * 3 / 4)
    greenwood = 1 / (5 * 4) + 1 / (4 * 3)
    assert share * (1 - share) / effective == pytest.approx((1 - share) ** 2 * greenwood)


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


def test_aalen_johansen_by_hand():
    """Of 6 one has the event in step 1; of 5 one another event in step 2, and one leaves after it;
    of 3 one has the event in step 3."""
    last = np.array([1, 2, 2, 3, 3, 3])
    event, other = last == np.array([1, 0, 0, 3, 0, 0]), np.arange(6) == 1
    share, effective = aalen_johansen(np.zeros(6, int), last, event, other, np.ones(6), 3)
    assert share == pytest.approx(1 / 6 + 5 / 6 * 4 / 5 * 1 / 3)
    rng = np.random.default_rng(1)
    draws = rng.multinomial(4000, np.full(6, 1 / 6), 3000)
    again = [
        aalen_johansen(np.zeros(6, int), last, event, other, each.astype(float), 3)[0]
        for each in draws
    ]
    assert 6 * share * (1 - share) / effective == pytest.approx(4000 * np.var(again), rel=0.1)


def test_aalen_johansen_of_complete_follow_up_is_the_proportion():
    """Also if nobody is left at the end."""
    last = np.array([1, 2, 2, 3, 5, 5, 4, 4])
    event, other = (
        np.array([1, 0, 1, 0, 0, 0, 1, 0], bool),
        np.array([0, 1, 0, 1, 0, 0, 0, 1], bool),
    )
    weight = np.array([1, 2, 1, 1, 3, 1, 1, 1.0])
    for steps, gone in ((5, slice(None)), (5, [0, 1, 2, 3, 6, 7])):
        told = aalen_johansen(
            np.zeros(8, int)[gone], last[gone], event[gone], other[gone], weight[gone], steps
        )
        total = weight[gone].sum()
        assert told == pytest.approx((weight[event].sum() / total, total))


def test_no_event_beside_others_counts_all_that_are_known():
    last, other = np.array([1, 2, 2, 2]), np.array([1, 0, 1, 0], bool)
    told = aalen_johansen(np.zeros(4, int), last, np.zeros(4, bool), other, np.ones(4), 2)
    assert told == (0, 4)


def test_without_censoring_it_is_the_proportion_of_all_cases():
    last = np.array([1, 2, 2, 3, 5, 5, 5, 5])
    event = last < 5
    weight = np.array([1, 2, 1, 1, 3, 1, 1, 1.0])
    share, effective = kaplan_meier(np.zeros(8, int), last, event, weight, 5)
    assert (share, effective) == pytest.approx((5 / 11, 11))


def test_without_other_events_it_is_kaplan_meier():
    rng = np.random.default_rng(2)
    last, event = rng.integers(1, 20, 60), rng.random(60) < 0.4
    entry = np.where(rng.random(60) < 0.3, last // 2, 0)
    common = (entry, last, event)
    both = aalen_johansen(*common, np.zeros(60, bool), np.ones(60), 19)
    assert both == kaplan_meier(*common, np.ones(60), 19)
    other = ~event & (rng.random(60) < 0.5)
    assert aalen_johansen(*common, other, np.ones(60), 19)[0] < both[0] - 0.05
