"""When predictions after are a map of those before, so that gains follow from one curve."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc

CHEAP = {"draws": 400, "random_state": 1}


def cohort(seed, known):
    """Outcomes that follow a new model with a marker, known for a share of 2000 patients."""
    rng = np.random.default_rng(seed)
    before = expit(rng.normal(-1, 1, 2000))
    marker = np.where(rng.random(2000) < known, rng.choice([-2.0, 2.0], 2000), 0.0)
    after = expit(logit(before) + marker)
    return rng.random(2000) < after, before, after


@pytest.mark.parametrize("seed", range(6))
def test_a_marker_known_for_few_patients_is_no_map(seed):
    gain = bc.recalibration_gain(*cohort(seed, 0.02), **CHEAP)
    assert gain.route == "paired"
    assert gain.summary().loc["brier", "prob_improved"] > 0.9


def test_one_patient_whose_prediction_jumps_is_no_map():
    y, before, _ = cohort(0, 0.0)
    after = before.copy()
    after[np.argsort(before)[1000]] = 0.99
    assert bc.recalibration_gain(y, before, after, **CHEAP).route == "paired"


def turning(score):
    return 0.5 + 0.4 * np.sin(8 * score)


def test_a_map_that_turns_is_passed_as_a_function():
    y, before, _ = cohort(0, 0.0)
    assert bc.recalibration_gain(y, before, turning, **CHEAP).route == "curve"
    assert bc.recalibration_gain(y, before, turning(before), **CHEAP).route == "paired"
    with pytest.raises(bc.errors.InputError, match="pass the map itself"):
        bc.recalibration_gain(y, before, turning(before), route="curve")


def test_the_last_digits_of_a_rising_map_do_not_matter():
    rng = np.random.default_rng(3)
    y, before, _ = cohort(0, 0.0)
    after = expit(0.3 + 0.6 * logit(before)) + rng.choice([-1e-16, 0, 1e-16], before.size)
    assert bc.recalibration_gain(y, before, after, **CHEAP).route == "curve"


@pytest.mark.parametrize(
    ("after", "thresholds"),
    [
        (lambda s: expit(-0.4 + 0.6 * logit(s)), ()),
        (lambda s: np.clip(expit(-0.4 + 0.6 * logit(s)), 0.3, 0.6), (0.3, 0.5)),
        (turning, (0.4,)),
    ],
    ids=["logistic", "clipped", "turning"],
)
def test_many_cases_are_weighed_as_each_alone_would_be(after, thresholds, monkeypatch):
    """And weights of one are none."""
    rng = np.random.default_rng(5)
    before = np.append(expit(rng.normal(-1, 3, 119_998)), [0.5, 0.5])
    y = rng.random(before.size) < expit(-0.4 + 0.7 * logit(before))
    options = {"thresholds": thresholds, **CHEAP}
    together = bc.recalibration_gain(y, before, after, **options)
    ones = bc.recalibration_gain(y, before, after, sample_weight=np.ones(y.size), **options)
    monkeypatch.setattr("bayescal.gain.paired.MOST_LOOKED_AT", y.size)
    alone = bc.recalibration_gain(y, before, after, **options)
    for name, draws in alone.draws.items():
        np.testing.assert_allclose(together.draws[name], draws, rtol=1e-6, atol=1e-8)
        np.testing.assert_array_equal(together.draws[name], ones.draws[name])
    assert together.notes == alone.notes == ones.notes
