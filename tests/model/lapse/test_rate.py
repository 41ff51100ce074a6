"""The prior of a rate: its law, its way to normal numbers, and what is no rate."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from bayescal.errors import InputError
from bayescal.model.prior import Prior
from bayescal.model.priors import Rate, as_prior

RATES = [Rate(), Rate(0.1, 1.0, 3.0), Rate(0.3, 2.0, 0.7)]


def law(rate, x):
    return 1 - (1 - (x / rate.most) ** rate.a) ** rate.b


@pytest.mark.parametrize("rate", RATES)
def test_draws_and_density_have_the_law_of_kumaraswamy(rate):
    drawn = rate.sample(np.random.default_rng(1), 4000)
    assert stats.kstest(drawn, lambda x: law(rate, x)).pvalue > 1e-3
    at = rate.most * np.array([0.01, 0.2, 0.6, 0.9])
    for low, high in pairwise(at):
        mass = integrate.quad(lambda x: np.exp(rate.logpdf(np.array(x))), low, high)[0]
        assert mass == pytest.approx(law(rate, high) - law(rate, low), rel=1e-8)
    assert np.isneginf(rate.logpdf(np.array([-0.01, rate.most + 0.01]))).all()


def test_density_of_a_rate_of_exactly_0_and_of_the_largest():
    level, narrow = Rate(0.4, 1.0, 5.0), Rate(0.4, 2.0, 1.0)
    assert level.logpdf(np.array(0.0)) == pytest.approx(np.log(5 / 0.4))
    assert narrow.logpdf(np.array(0.4)) == pytest.approx(np.log(2 / 0.4))
    assert np.isneginf(level.logpdf(np.array(0.4)))
    assert np.isneginf(narrow.logpdf(np.array(0.0)))


@pytest.mark.parametrize("rate", RATES)
def test_derivatives_match_differences(rate):
    at = rate.most * np.array([0.02, 0.3, 0.8])
    step = 1e-5 * at
    slope, curvature = rate.slope_and_curvature(at)
    low, high = (rate.logpdf(at + k * step) for k in (-1, 1))
    np.testing.assert_allclose(slope, (high - low) / (2 * step), rtol=1e-5)
    above, below = (rate.slope_and_curvature(at + k * step)[0] for k in (1, -1))
    np.testing.assert_allclose(curvature, (above - below) / (2 * step), rtol=1e-5)


@pytest.mark.parametrize("rate", RATES)
def test_normal_numbers_have_the_same_probabilities(rate):
    z = np.array([-3.0, -1.0, 0.0, 1.5, 3.0])
    x = rate.from_normal(z)
    np.testing.assert_allclose(law(rate, x), stats.norm.cdf(z), rtol=1e-10)
    first, second = rate.derivatives_from_normal(z)
    h = 1e-5
    np.testing.assert_allclose(
        first, (rate.from_normal(z + h) - rate.from_normal(z - h)) / (2 * h), rtol=1e-6
    )
    slopes = [rate.derivatives_from_normal(z + k * h)[0] for k in (1, -1)]
    np.testing.assert_allclose(second, (slopes[0] - slopes[1]) / (2 * h), rtol=1e-5, atol=1e-9)


def test_a_prior_with_a_rate_is_data():
    prior = as_prior({"others": (("guess", Rate(0.1, 0.5, 3.0)),)})
    assert Prior.from_dict(prior.to_dict()) == prior


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Rate(0.5), "most must be a positive number below 0.5, got 0.5"),
        (lambda: Rate(0), "got 0. For no such rate, leave the curves noise and lapse out."),
        (lambda: Rate(a=0), "a must be a positive number below 1000, got 0"),
        (lambda: Rate(b=float("nan")), "b must be a positive number below 1e"),
        (lambda: Rate(True), "most must be a positive number"),
    ],
)
def test_what_is_no_rate_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
