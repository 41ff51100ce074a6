"""Curves that follow the weights of their patients, against closed forms of one intercept."""

import numpy as np
import pytest
from scipy.special import expit

from bayescal.data.table import CalibrationData
from bayescal.model.problem import prepare
from bayescal.multilevel.replicates import Resampled

RNG = np.random.default_rng(5)
SCORE = expit(RNG.normal(-1, 1, 60))
OUTCOME = (RNG.random(60) < SCORE).astype(float)
WEIGHT = RNG.integers(1, 4, 60).astype(float)
DRAWN = RNG.normal(0.7, 0.3, (40, 1))
CENTRE = DRAWN.mean()
RISK = expit(np.log(SCORE / (1 - SCORE)) + CENTRE)


@pytest.fixture(scope="module")
def follows():
    """Of an intercept, whose patients are all drawn together: one weight moves all of them."""
    data = CalibrationData(OUTCOME, SCORE)
    problem = prepare(data, curve="intercept", prior="neutral")
    one_unit = np.zeros(SCORE.size)
    cases = Resampled(OUTCOME, [SCORE], WEIGHT, one_unit, draws=200, seed=3)
    return cases.follows(0, problem, DRAWN, np.arange(SCORE.size), None)


def test_replicates_depart_from_the_posterior_mean_by_one_step_of_newton(follows):
    times = np.random.default_rng([3, 0]).standard_exponential((200, 1))
    step = (times - 1) * (WEIGHT @ (OUTCOME - RISK)) * DRAWN.var(ddof=1)
    np.testing.assert_allclose(follows.coordinates, CENTRE + step)


def test_patients_alone_have_a_standard_normal_prior_beside_their_likelihood(follows):
    information = WEIGHT @ (RISK * (1 - RISK))
    np.testing.assert_allclose(follows.alone, [[1 / (information + 1)]], rtol=1e-6)
