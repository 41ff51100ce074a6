"""Newton's method and the maximum-likelihood fits, against exact oracles and separation."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import expit, log_expit

from bayescal.core.optimise import (
    fit_logistic,
    log_odds_of,
    logistic_gain,
    logistic_mle,
    maximise,
    softplus_near,
)
from bayescal.errors import SeparationError

LOGISTIC = "exact MLE logistic recalibration (intercept,slope), clip eps"
ERRORS = "exact MLE logistic recalibration SEs"


@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_maximum_likelihood_reproduces_the_exact_oracles(name, known):
    outcome, score, oracle = known(name)
    trials = np.ones_like(outcome)
    coef, covariance = logistic_mle(score, trials, outcome)
    np.testing.assert_allclose(coef, oracle[LOGISTIC], rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), oracle[ERRORS], rtol=1e-6)


@pytest.mark.parametrize("name", ["predtools_val_data", "brcal_hockey_538"])
def test_maximum_likelihood_reproduces_r(name, clinical):
    outcome, score, r = clinical(name)
    trials = np.ones_like(outcome)
    coef, covariance = logistic_mle(score, trials, outcome)
    expected = r["int_slope"]
    np.testing.assert_allclose(coef, [expected["(Intercept)"], expected["lp"]], rtol=1e-6)
    errors = [expected["(Intercept).1"], expected["lp.1"]]
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), errors, rtol=1e-5)


@pytest.mark.parametrize(
    "outcome",
    [np.zeros(20), np.ones(20), np.arange(20) > 9, np.arange(20) < 10],
    ids=["no events", "all events", "separated", "separated the other way"],
)
def test_separation_is_named_not_estimated(outcome):
    score = np.linspace(0.05, 0.95, 20)
    with pytest.raises(SeparationError, match=r"A posterior does: use bayescal\.fit"):
        logistic_mle(score, np.ones(20), outcome.astype(float))


def test_equal_scores_have_no_slope():
    with pytest.raises(SeparationError):
        logistic_mle(np.full(10, 0.3), np.ones(10), np.arange(10) % 2.0)


def test_maximise_climbs_out_of_a_region_that_is_not_concave():
    def bump(x):
        value = np.exp(-0.5 * x @ x)
        gradient = -x * value
        return float(value), gradient, value * (np.outer(x, x) - np.eye(2))

    mode = maximise(bump, np.array([2.0, -3.0]))
    assert mode.converged
    np.testing.assert_allclose(mode.point, 0, atol=1e-5)
    np.testing.assert_allclose(mode.information, np.eye(2), atol=1e-5)


def test_a_gain_of_separated_outcomes_is_the_supremum():
    rng = np.random.default_rng(4)
    for _ in range(20):
        score = np.sort(rng.beta(0.3, 0.3, 8))
        hits = (np.arange(8) > 3).astype(float)
        eta = log_odds_of(score)
        fitted = np.sum(np.where(hits > 0, log_expit(eta), log_expit(-eta)))
        assert logistic_gain(score, np.ones(8), hits) == pytest.approx(-fitted, abs=1e-6)


@given(
    st.integers(0, 10_000),
    st.lists(st.floats(-3, 3), min_size=4, max_size=4),
)
@settings(max_examples=50, deadline=None)
def test_the_fit_does_not_mind_how_the_basis_is_written(seed, mixing):
    rng = np.random.default_rng(seed)
    basis = np.stack([np.ones(60), rng.normal(size=60), rng.normal(size=60)])
    mix = np.eye(3)
    mix[1:, 1:] += np.reshape(mixing, (2, 2))
    assume(np.linalg.cond(mix) < 1e3)
    totals = (rng.random((4, 60)) < 0.5) @ basis.T
    offset = rng.normal(size=60)
    plain, converged = fit_logistic(basis, np.ones(60), totals, offset)
    mixed, also = fit_logistic(mix @ basis, np.ones(60), totals @ mix.T, offset)
    assert converged.all()
    assert also.all()
    np.testing.assert_allclose(mixed @ mix, plain, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(expit(plain @ basis + offset) @ basis.T, totals, atol=1e-7)


@pytest.mark.parametrize("farthest", [5.0, 60.0, 690.0, 5000.0])
def test_sums_of_softplus_are_those_of_its_terms(farthest):
    rng = np.random.default_rng(0)
    x, weight = rng.uniform(-farthest, farthest, (50, 30)), rng.integers(0, 9, 30).astype(float)
    expected = np.logaddexp(0, x) @ weight
    np.testing.assert_allclose(softplus_near(x.copy()) @ weight, expected, rtol=1e-13)
