"""What a new model gains, where few patients tell."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc

CHEAP = {"draws": 1000, "random_state": 0}


@pytest.mark.parametrize("seed", range(6))
def test_a_marker_known_for_a_few_patients_is_worth_it(seed):
    rng = np.random.default_rng(100 + seed)
    before = expit(rng.normal(-1, 1, 2000))
    marker = np.where(rng.random(2000) < 0.02, rng.choice([-2.0, 2.0], 2000), 0.0)
    after = expit(logit(before) + marker)
    gain = bc.recalibration_gain(rng.random(2000) < after, before, after, **CHEAP)
    assert gain.route == "paired"
    assert gain.summary().loc["brier", "prob_improved"] > 0.2


def test_two_patients_of_twelve_prove_nothing():
    outcome = np.repeat([0, 1], 6)
    before = np.full(12, 0.5)
    after = before.copy()
    after[[0, 11]] = 0.1, 0.9
    gain = bc.recalibration_gain(outcome, before, after, **CHEAP)
    assert gain.summary().loc["brier", "prob_improved"] < 0.97
