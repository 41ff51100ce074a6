"""Priors from a posterior: the marginals of its draws, and what is refused."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError
from bayescal.model.priors import marginal

Y, P = bc.simulate.sample("clinical-middle-overconfident", 900, random_state=1)
SITES = np.repeat(["A", "B", "C"], 300)


@pytest.fixture(scope="module")
def post():
    return bc.fit(Y, P, site=SITES, curve="logistic", random_state=1)


def test_a_new_site_is_where_the_next_hospital_starts(post):
    """But for what a law of three numbers misses, and chance: over six seeds at most .049."""
    prior = bc.priors.from_posterior(post, "new site")
    drawn = post.new().coordinates
    for name in ("shift", "log_slope"):
        fitted = prior.of(name).sample(np.random.default_rng(0), 40_000)
        levels = [0.1, 0.5, 0.9]
        assert np.quantile(fitted, levels) == pytest.approx(
            np.quantile(drawn[name], levels), abs=0.05
        )
    assert prior.centre == post.problem.pooled.frame.centre
    assert prior.asymmetry == post.problem.pooled.prior.asymmetry


def test_a_posterior_of_one_curve_becomes_the_prior_of_the_next_cases():
    first, rest = slice(0, 600), slice(600, None)
    options = {"curve": "logistic", "prior": {"centre": "mean"}, "random_state": 1}
    prior = bc.priors.from_posterior(bc.fit(Y[first], P[first], **options))
    after = bc.fit(Y[rest], P[rest], curve="logistic", prior=prior, random_state=1)
    both = bc.fit(Y, P, **options)
    for name in ("calibration_slope", "tce"):
        assert after.interval(name) == pytest.approx(both.interval(name), abs=0.06)


@pytest.mark.parametrize("nu", [3.0, 8.0])
def test_marginals_have_the_law_of_their_draws(nu):
    law = bc.priors.StudentT(nu, 0.3, 0.2)
    fitted = marginal(law.sample(np.random.default_rng(0), 20_000))
    assert (fitted.mu, fitted.sigma) == pytest.approx((0.3, 0.2), rel=0.03)
    assert fitted.nu == pytest.approx(nu, rel=0.2)


def test_normal_draws_have_a_normal_marginal():
    fitted = marginal(np.random.default_rng(0).normal(1, 2, 20_000))
    assert isinstance(fitted, bc.priors.Normal)


def test_a_correlation_that_is_lost_is_warned_of():
    far = bc.fit(Y, P, curve="logistic", prior=bc.priors.Prior(centre=0.99), random_state=1)
    with pytest.warns(UserWarning, match="correlation"):
        bc.priors.from_posterior(far)


def test_what_is_no_posterior_is_refused(post):
    with pytest.raises(InputError, match="post"):
        bc.priors.from_posterior("post")
    with pytest.raises(InputError, match="site must be one of 'new site'"):
        bc.priors.from_posterior(post, "D")
    with pytest.raises(InputError, match="site"):
        bc.priors.from_posterior(bc.fit(Y, P, curve="beta", random_state=1), "A")
    with pytest.raises(InputError, match="post is of the family"):
        bc.priors.from_posterior(bc.fit(Y, P, curve="pieces", random_state=1))
