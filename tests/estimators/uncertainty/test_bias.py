"""The bias of an estimator against known probabilities: a loop, and what it is in closed form."""

import numpy as np
import pytest

from bayescal import simulate
from bayescal.errors import InputError
from bayescal.estimators import ece, estimator_bias, pde

TRUTH = simulate.truth("D3")


def sample(rng):
    y_true, y_prob = TRUTH.sample(300, rng)
    return y_true, y_prob, TRUTH.curve(y_prob)


def two_groups(rng):
    """Example 1 of the paper with two groups that the score .5 hides: eta is .2 and .8."""
    group = rng.integers(0, 2, 4000)
    eta = np.where(group == 1, 0.8, 0.2)
    return rng.random(4000) < eta, np.full(4000, 0.5), eta, {"cells": group}


@pytest.mark.parametrize("estimator", ["pde", pde])
def test_is_a_loop_over_data_sets(estimator):
    rng, differences = np.random.default_rng(3), []
    for _ in range(10):
        y_true, y_prob, eta = sample(rng)
        differences.append(pde(y_true, y_prob, n_bins=7) - np.mean(np.abs(y_prob - eta)))
    actual = estimator_bias(estimator, sample, n_bins=7, random_state=3)
    assert actual.bias == pytest.approx(np.mean(differences))
    assert actual.standard_error == pytest.approx(np.std(differences, ddof=1) / 10**0.5)


def test_of_a_function_that_knows_the_answer_it_is_nothing():
    def known(y_true, y_prob):
        return float(np.mean(np.abs(y_prob - TRUTH.curve(y_prob))))

    assert estimator_bias(known, sample, random_state=1) == pytest.approx((0, 0), abs=1e-12)


def test_the_target_is_the_error_of_each_case_and_not_of_its_score():
    """The score .5 is calibrated, and .3 from each probability; only the groups show that."""
    of_score = estimator_bias(ece, lambda rng: two_groups(rng)[:3], random_state=2)
    assert of_score.bias == pytest.approx(-0.3, abs=0.02)
    for function in ("ece", "pde", lambda y, s, cells: ece(y, s, cells=cells)):
        of_groups = estimator_bias(function, two_groups, random_state=2)
        assert abs(of_groups.bias) < 0.01


def test_more_simulations_have_a_smaller_error():
    errors = [
        estimator_bias("ece", sample, n_simulations=number, random_state=5).standard_error
        for number in (10, 160)
    ]
    assert errors[1] < errors[0] / 2


@pytest.mark.parametrize(
    ("drawn", "options", "message"),
    [
        (sample, {"n_simulations": 1}, "n_simulations must be a whole number from 2"),
        (sample, {"random_state": -1}, "random_state"),
        (sample, {"cells": np.zeros(300)}, "has a value for each case"),
        ("D3", {}, "sample must be a function of a random generator, got 'D3'"),
        (lambda rng: sample(rng)[:2], {}, r"must return .* but returned tuple of 2"),
        (lambda rng: None, {}, "but returned NoneType"),
        (lambda rng: (*sample(rng)[:2], [0.5]), {}, "probability has 1 observations"),
        (lambda rng: (*sample(rng)[:2], np.full(300, 2)), {}, r"probability\[0\] = 2"),
    ],
)
def test_refuses(drawn, options, message):
    with pytest.raises(InputError, match=message):
        estimator_bias("ece", drawn, **options)
