"""The random post-processing of Theorem 20: calibrated over its noise, and near the scores."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from bayescal.errors import InputError
from bayescal.estimators import smooth_ece
from bayescal.recalibrate import SmoothRecalibrator


def drawn(seed=0, n=40, decimals=2):
    rng = np.random.default_rng(seed)
    scores = (0.01 + 0.98 * rng.beta(0.8, 1.2, n)).round(decimals)
    return scores, (rng.random(n) < scores**2).astype(int)


def noisy(recalibrator, scores, repeats):
    """Recalibrated probabilities of each case, each with noise of its own, (n, repeats)."""
    return recalibrator.transform(np.repeat(scores, repeats)).reshape(scores.size, repeats)


def by_quadrature(scores, outcomes, sigma, metric):
    """Noisy scores on a grid, the chance of each from each case, and E[y | t] there."""
    if metric == "logit":
        t = np.linspace(-12, 12, 8001)
        density = np.exp(-0.5 * ((t - logit(scores)[:, None]) / sigma) ** 2)
    else:
        t = np.linspace(0, 1, 8001)
        turns = 2 * np.arange(-4, 5)[:, None, None]
        images = np.concatenate([turns + scores[:, None], turns - scores[:, None]])
        density = np.exp(-0.5 * ((t - images) / sigma) ** 2).sum(axis=0)
    density /= density.sum(axis=1, keepdims=True)
    total = density.sum(axis=0)
    return t, density, outcomes @ density / np.where(total > 0, total, 1)


@pytest.mark.parametrize("metric", ["identity", "logit"])
@pytest.mark.parametrize("bandwidth", [None, 0.15])
def test_is_the_mean_outcome_given_the_noisy_score(metric, bandwidth):
    """The law of the recalibrated probability of each case, by its mean and mean square."""
    scores, outcomes = drawn()
    fitted = SmoothRecalibrator(bandwidth, metric, random_state=1).fit(scores, outcomes)
    _, density, curve = by_quadrature(scores, outcomes, fitted.bandwidth_, metric)
    values = noisy(fitted, scores, 4000)
    for power in (1, 2):
        known, actual = density @ curve**power, (values**power).mean(axis=1)
        error = 5 * (values**power).std(axis=1) / np.sqrt(4000) + 1e-4
        assert (np.abs(actual - known) < error).all()


@pytest.mark.parametrize("metric", ["identity", "logit"])
def test_is_calibrated_over_the_noise(metric):
    """In bins of the recalibrated probability, outcomes and probabilities have one mean."""
    scores, outcomes = drawn(1, 60)
    fitted = SmoothRecalibrator(metric=metric, random_state=2).fit(scores, outcomes)
    values = noisy(fitted, scores, 5000)
    cell = np.minimum((values * 10).astype(int), 9).ravel()
    gap = np.bincount(cell, (outcomes[:, None] - values).ravel(), 10) / values.size
    error = 5 * np.sqrt(np.bincount(cell, minlength=10)) / values.size
    assert (np.abs(gap) <= error).all()
    assert np.abs(outcomes - scores).mean() > 0
    before = np.bincount((scores * 10).astype(int), outcomes - scores, 10) / scores.size
    assert np.abs(gap).sum() < 0.1 * np.abs(before).sum()


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(2, 60), st.sampled_from([None, 0.03, 0.3]))
def test_mean_distance_is_bounded(seed, n, bandwidth):
    """No more than SmoothECE at sigma plus sigma; at the default, about twice SmoothECE."""
    scores, outcomes = drawn(seed, n)
    if outcomes.min() == outcomes.max():
        outcomes[0] = 1 - outcomes[0]
    fitted = SmoothRecalibrator(bandwidth).fit(scores, outcomes)
    sigma = fitted.bandwidth_
    if sigma < 0.005:
        return
    _, density, curve = by_quadrature(scores, outcomes, sigma, "identity")
    distance = np.mean(np.sum(density * np.abs(curve - scores[:, None]), axis=1))
    limit = smooth_ece(outcomes, scores, bandwidth=sigma) + sigma
    assert distance <= limit * (1 + 1e-3)
    if bandwidth is None:
        assert sigma == pytest.approx(smooth_ece(outcomes, scores), rel=1e-6)
        assert limit == pytest.approx(2 * sigma, rel=1e-4)


def test_noise_repeats_with_its_seed_and_moves_without():
    scores, outcomes = drawn()
    one = SmoothRecalibrator(random_state=3).fit(scores, outcomes)
    np.testing.assert_array_equal(one.transform(scores), one.transform(scores))
    assert (SmoothRecalibrator().fit(scores, outcomes).transform([0.3] * 9)[1:] > 0).any()
    assert np.unique(one.transform([0.3] * 9)).size == 9
    generator = SmoothRecalibrator(random_state=np.random.default_rng(1)).fit(scores, outcomes)
    assert (generator.transform(scores) != generator.transform(scores)).any()


def test_scores_that_are_calibrated_hardly_move():
    scores, outcomes = np.repeat([0.25, 0.75], 8), np.array([0, 0, 0, 1] * 2 + [1, 1, 1, 0] * 2)
    fitted = SmoothRecalibrator(random_state=1).fit(scores, outcomes)
    assert fitted.bandwidth_ == 0.001
    np.testing.assert_allclose(fitted.transform(scores), scores, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bandwidth": 0}, "bandwidth"),
        ({"bandwidth": 1e-9}, "too small"),
        ({"metric": "probit"}, "metric must be one of"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(InputError, match=message):
        SmoothRecalibrator(**options).fit(*drawn())


def test_noise_in_log_odds_stays_inside():
    scores, outcomes = np.array([1e-9, 0.5, 1 - 1e-9]), np.array([0, 1, 1])
    fitted = SmoothRecalibrator(0.5, "logit", random_state=1).fit(scores, outcomes)
    values = fitted.transform(expit(np.linspace(-30, 30, 50)))
    assert ((values >= 0) & (values <= 1)).all()
