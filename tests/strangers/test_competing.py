"""Patients who had another event first did not leave."""

import numpy as np
import pytest

import bayescal as bc


def cohort(seed, n=600):
    """Times with a competing event of which low risks have more; censoring is independent."""
    rng = np.random.default_rng(seed)
    score = rng.normal(-1, 1, n)
    own, other = 0.5 * np.exp(score), 0.6 * np.exp(-0.8 * score - 1)
    time, left = rng.exponential(1 / (own + other)), rng.exponential(4, n)
    event = np.where(rng.random(n) < own / (own + other), 1, 2)
    risk = own / (own + other) * (1 - np.exp(-(own + other)))
    return bc.Survival(np.minimum(time, left), np.where(time <= left, event, 0)), risk


def test_observed_over_expected_of_a_calibrated_model_is_one():
    ratios = [
        bc.estimators.survival_observed_expected(*cohort(seed, 2000), horizon=1.0).estimate
        for seed in range(5)
    ]
    assert np.mean(ratios) == pytest.approx(1, abs=0.06)


def test_independent_leaving_is_not_said_to_depend_on_the_score():
    told = [
        bc.estimators.censoring_depends_on_score(*cohort(seed), horizon=1.0).pvalue < 0.01
        for seed in range(20)
    ]
    assert sum(told) <= 2


@pytest.mark.slow
def test_a_report_does_not_say_that_low_risks_left_earlier():
    told = str(bc.assess(*cohort(0), horizon=1.0, draws=200, random_state=1))
    assert "left earlier" not in " ".join(told.split())


def test_the_posterior_of_a_calibrated_model_is_right():
    post = bc.fit(*cohort(0, 2000), horizon=1.0, curve="intercept", draws=400, random_state=1)
    told = post.summary(0.99).loc["observed_expected"]
    assert told["lower"] < 1 < told["upper"]
