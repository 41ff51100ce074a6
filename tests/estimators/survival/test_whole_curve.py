"""Whole predicted curves: Poisson regression against closed forms, and what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal import estimators
from bayescal.errors import InputError

TIMES = np.array([1.0, 2.0, 4.0, 8.0])


def curves(rate, times=TIMES):
    return pd.DataFrame(np.exp(-np.asarray(rate)[:, None] * times), columns=times)


def study(n=400, seed=1):
    """Exponential times at rates that are 0.8 times as high, with a slope of 0.7."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 0.8, n)
    event, left = rng.exponential(1, n) / (0.16 * np.exp(0.7 * x)), rng.exponential(6, n)
    return bc.Survival(np.minimum(event, left), event <= left), curves(0.2 * np.exp(x))


@pytest.mark.oracle("poisson_calibration")
def test_the_ratio_of_one_group_and_the_slope_of_two_have_closed_forms():
    """Of two rates r and s: slope - 1 is the log ratio of O/E, over the log ratio of the rates."""
    rate = np.repeat([0.1, 0.4], 6)
    time = np.array([1, 2.5, 3, 4, 5, 8, 0.5, 1, 1.5, 2, 4, 6.0])
    event = np.array([1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1])
    told = estimators.poisson_calibration(bc.Survival(time, event), curves(rate))
    expected = rate * time
    assert told.expected == pytest.approx(expected.sum())
    assert told.observed == event.sum()
    assert told.ratio.estimate == pytest.approx(event.sum() / expected.sum())
    each = [(event[k].sum(), expected[k].sum()) for k in (slice(0, 6), slice(6, 12))]
    apart = np.log(4)
    slope = 1 + (np.log(each[1][0] / each[1][1]) - np.log(each[0][0] / each[0][1])) / apart
    assert told.slope.estimate == pytest.approx(slope, abs=1e-6)
    error = np.sqrt(1 / each[0][0] + 1 / each[1][0]) / apart
    assert told.slope.upper - slope == pytest.approx(1.959964 * error, rel=1e-4)
    risk = -np.expm1(-expected)
    same = estimators.martingale_observed_expected(event, risk)
    assert told.ratio[:3] == pytest.approx(same[:3])


def test_late_entry_counts_from_the_entry_and_the_horizon_ends_follow_up():
    outcome = bc.Survival([3.0, 6.0, 2.0, 7.0], [1, 1, 1, 0], [1.0, 0, 0.5, 2.0])
    rate = np.array([0.1, 0.2, 0.3, 0.1])
    told = estimators.poisson_calibration(outcome, curves(rate), horizon=5)
    assert told.observed == 2
    assert told.expected == pytest.approx(rate @ [2.0, 5.0, 1.5, 3.0])


def test_the_truth_is_found_in_simulated_times():
    told = [estimators.poisson_calibration(*study(seed=seed), horizon=6) for seed in range(60)]
    inside = [each.slope.lower < 0.7 < each.slope.upper for each in told]
    assert sum(inside) >= 53
    assert np.mean([each.slope.estimate for each in told]) == pytest.approx(0.7, abs=0.05)


def test_between_times_the_hazard_is_constant_and_risks_are_as_good_as_survival():
    outcome, survival = study(60)
    told = estimators.poisson_calibration(outcome, survival, horizon=6)
    finer = np.arange(0.0, 8.5, 0.5)
    same = estimators.poisson_calibration(
        outcome, 1 - curves(-np.log(survival[1.0]), finer), horizon=6
    )
    np.testing.assert_allclose(told.slope[:3], same.slope[:3])
    assert told.expected == pytest.approx(same.expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predicted": np.ones((60, 4)) / 2}, "no data frame whose columns are times"),
        ({"horizon": 9}, "the predicted curves end at 8, and 9 is later"),
        ({"y_true": np.arange(60) % 2}, "y_true"),
        ({"y_true": bc.Survival(np.ones(60), np.arange(60) % 3)}, "20 competing events"),
        ({"y_true": bc.Survival(np.ones(60), np.arange(60) == 0)}, "is 1 event by the horizon"),
        ({"y_true": bc.Survival(np.ones(59), np.ones(59))}, "59"),
        ({"predicted": curves(np.full(60, 0.2))}, "the same risk for every case"),
        ({"predicted": curves(np.r_[0, np.full(59, 0.2)])}, "case 0 of 60 has a risk of"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words(change, message):
    outcome, predicted = study(60)
    asked = {"y_true": bc.Survival(outcome.time, np.ones(60)), "predicted": predicted} | change
    with pytest.raises((InputError, TypeError), match=message):
        estimators.poisson_calibration(**asked)
