"""Risks of single scores against closed forms of scipy, sums over all patterns, and quadrature."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln, logsumexp
from scipy.stats import beta, betabinom

from bayescal.errors import InputError
from bayescal.model.curves import CURVES
from bayescal.model.problem import prepare
from bayescal.model.saturated import SATURATED, RiskPrior, RiskSums, are_few, shapes_of

SCORE = np.array([0.0, 0.3, 0.9])
TRIALS, HITS = np.array([12.0, 40.0, 25.0]), np.array([0.0, 17.0, 20.0])
PRIOR = RiskPrior(on=(0.2, 0.6), scale=(0.2, 0.9), relative=(0.0, 1.0))
SUMS = RiskSums(SCORE, TRIALS, HITS, PRIOR)


def choose(n, k):
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def patterns():
    """Every setting and every choice of exact risks but all: log weight, likelihoods, choice."""
    for setting, (on, scale, relative) in enumerate(PRIOR.settings.T):
        a, b = (each[0] for each in shapes_of(SCORE, np.array([scale]), np.array([relative])))
        off = betabinom.logpmf(HITS, TRIALS, a, b) - choose(TRIALS, HITS)
        exact = HITS * np.log(np.maximum(SCORE, 1e-12)) + (TRIALS - HITS) * np.log1p(-SCORE)
        left = 1 - on**3
        for chosen in product((True, False), repeat=3):
            is_on = np.array(chosen)
            if is_on.all():
                continue
            prior = np.where(is_on, on, 1 - on).prod() / left / 8
            yield setting, np.log(prior) + np.where(is_on, exact, off).sum(), is_on, (a, b)


def test_off_the_diagonal_the_events_are_beta_binomial():
    _, scale, relative = PRIOR.settings
    a, b = shapes_of(SCORE, scale, relative)
    assert_allclose(SUMS.log_off, betabinom.logpmf(HITS, TRIALS, a, b) - choose(TRIALS, HITS))


def test_evidence_is_the_sum_over_all_patterns():
    weights = [weight for _, weight, _, _ in patterns()]
    assert_allclose(SUMS.log_evidence, logsumexp(weights), rtol=1e-12)


def test_draws_have_the_exact_posterior():
    errors = SUMS.draw(40_000, np.random.default_rng(1))
    weight, on, mean = [], [], []
    for _, each, is_on, (a, b) in patterns():
        weight.append(each)
        on.append(is_on)
        mean.append(np.where(is_on, SCORE, (a + HITS) / (a + b + TRIALS)))
    share = np.exp(np.array(weight) - logsumexp(weight))
    assert_allclose((errors == 0).mean(axis=0), share @ np.array(on), atol=0.01)
    assert_allclose((SCORE + errors).mean(axis=0), share @ np.array(mean), atol=0.003)
    assert not (errors == 0).all(axis=1).any()


def test_a_risk_without_an_atom_has_the_quadrature_of_its_density():
    prior = RiskPrior(on=(0.0,), scale=(0.3, 1.2), relative=(0.0,))
    sums = RiskSums(np.array([0.3]), np.array([30.0]), np.array([15.0]), prior)
    p = np.linspace(0, 1, 20_001)[1:-1]
    a, b = shapes_of(np.array([0.3]), np.array([0.3, 1.2]), np.zeros(2))
    density = beta.pdf(p, a, b).mean(axis=0) * p**15 * (1 - p) ** 15
    drawn = 0.3 + sums.draw(40_000, np.random.default_rng(2))[:, 0]
    cdf = np.cumsum(density) / density.sum()
    for level in (0.05, 0.5, 0.95):
        assert abs((drawn < p[np.searchsorted(cdf, level)]).mean() - level) < 0.01
    assert_allclose(sums.log_evidence, np.log(density.sum() * (p[1] - p[0])), rtol=1e-6)


@pytest.mark.slow
def test_draws_agree_with_nuts():
    import pymc as pm

    prior = RiskPrior(on=(0.0,), scale=(0.2, 1.0), relative=(0.0,))
    score, trials, hits = np.array([0.0, 0.7]), np.array([30, 50]), np.array([2, 28])
    a, b = shapes_of(score, np.array([0.2, 1.0]), np.zeros(2))
    with pm.Model():
        risk = pm.Uniform("risk", 1e-9, 1 - 1e-9, shape=2)
        parts = [pm.logp(pm.Beta.dist(a[k], b[k]), risk).sum() for k in range(2)]
        pm.Potential("prior", pm.math.logaddexp(*parts))
        pm.Binomial("hits", trials, risk, observed=hits)
        drawn = pm.sample(2000, tune=1000, chains=2, cores=1, random_seed=1, progressbar=False)
    expected = drawn["posterior"]["risk"].to_numpy().reshape(-1, 2)
    got = score + RiskSums(score, trials * 1.0, hits * 1.0, prior).draw(
        20_000, np.random.default_rng(1)
    )
    assert_allclose(got.mean(axis=0), expected.mean(axis=0), atol=0.006)
    assert_allclose(got.std(axis=0), expected.std(axis=0), rtol=0.08)


def test_a_table_without_cases_gives_the_prior():
    nothing = np.zeros(3)
    prior = RiskSums(SCORE, nothing, nothing, PRIOR)
    assert_allclose(prior.log_evidence, 0, atol=1e-12)
    on = (prior.draw(20_000, np.random.default_rng(3)) == 0).mean(axis=0)
    expected = np.mean([(o - o**3) / (1 - o**3) for o in PRIOR.on])
    assert_allclose(on, expected, atol=0.015)


def test_the_law_does_not_change_when_outcomes_are_relabelled():
    mirrored = RiskSums(1 - SCORE[::-1], TRIALS[::-1], (TRIALS - HITS)[::-1], PRIOR)
    assert_allclose(mirrored.log_evidence, SUMS.log_evidence, rtol=1e-12)
    assert_allclose(mirrored.prob_on[:, ::-1], SUMS.prob_on, rtol=1e-9)


def test_a_score_of_0_is_exact_until_an_event_contradicts_it():
    score, trials = np.array([0.0, 0.5]), np.array([5000.0, 100.0])
    without, with_one = (
        RiskSums(score, trials, np.array([events, 80.0]), RiskPrior()) for events in (0.0, 1.0)
    )
    rng = np.random.default_rng(4)
    assert (without.draw(2000, rng)[:, 0] == 0).mean() > 0.5
    assert (with_one.draw(2000, rng)[:, 0] > 0).all()
    assert 1e-4 < with_one.draw(2000, rng)[:, 0].mean() < 4e-4


def test_scores_are_few_up_to_20_with_three_cases_each():
    assert are_few(20, 60)
    assert not are_few(21, 10_000)
    assert not are_few(20, 59)


def test_between_two_scores_the_error_is_interpolated_in_probability():
    problem = prepare([0, 1, 1, 0] * 3, [0.0, 0.4, 0.8, 0.8] * 3, curve="saturated", random_state=1)
    u = np.array([[0.1, -0.1, 0.0], [0.0, 0.0, -0.2]])
    at = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    drawn = problem.probability(u, at)
    assert_allclose(drawn[0], [0.1, 0.2, 0.3, 0.55, 0.8, 1.0], atol=1e-9)
    assert_allclose(drawn[1], [0.0, 0.2, 0.4, 0.5, 0.6, 0.8], atol=1e-9)
    assert_allclose(problem.curves_at(at[1:5]).log_odds(u), np.log(drawn / (1 - drawn))[:, 1:5])


def test_too_many_scores_are_refused():
    score = np.linspace(0.1, 0.9, 21).repeat(4)
    with pytest.raises(InputError, match="at most 20, and there are 21"):
        prepare(np.arange(84) % 2, score, curve=SATURATED)
    assert CURVES["saturated"] is SATURATED
