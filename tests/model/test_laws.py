"""Laws of outcomes: each is one function in all its forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import beta, norm

import bayescal as bc
from bayescal.errors import InputError
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.general import law_rows
from bayescal.model.likelihood.laws import LIKELIHOODS, stored_likelihood
from bayescal.model.likelihood.times.law import TimeToEvent
from bayescal.model.partition.prior import log_prior
from bayescal.model.partition.stretches import SHIFT, stretch_evidences
from bayescal.model.problem import prepare
from bayescal.model.share import Beta
from laws import BetaBinomial

LAWS = {law.name: law for law in (BINOMIAL, BetaBinomial())}
OWN = {"binomial": [], "beta-binomial": [0.15]}
LOG_ODDS = np.array([-6.0, -1.5, 0.2, 2.0, 5.0])
TRIALS, HITS = np.array([9.0, 4.0, 6.0, 3.0, 8.0]), np.array([1.0, 0.0, 4.0, 3.0, 7.0])

each = pytest.mark.parametrize("name", LAWS)


def values(law, log_odds, own):
    return law.log_density(log_odds[None].copy(), TRIALS, HITS, np.array([own], float))[0]


@each
def test_derivatives_are_those_of_the_log_density(name):
    law, own, step = LAWS[name], np.array(OWN[name]), 1e-4
    value, gradient, hessian = law.derivatives(LOG_ODDS, TRIALS, HITS, own)
    np.testing.assert_allclose(value, values(law, LOG_ODDS, own), rtol=1e-12)

    def moved(*steps):
        return values(law, LOG_ODDS + steps[0], own + np.array(steps[1:]))

    unit = step * np.eye(1 + own.size)
    for i, at in enumerate(unit):
        np.testing.assert_allclose(
            gradient[i], (moved(*at) - moved(*-at)) / (2 * step), atol=1e-5, rtol=1e-5
        )
        for j, other in enumerate(unit):
            second = moved(*(at + other)) - moved(*(at - other))
            second = second - moved(*(other - at)) + moved(*(-at - other))
            np.testing.assert_allclose(hessian[i, j], second / (4 * step**2), atol=2e-5, rtol=1e-4)
    assert (law.information(LOG_ODDS, TRIALS, HITS, own) > 0).all()


@each
def test_pymc_has_the_same_log_density(name):
    law, own = LAWS[name], OWN[name]
    expression = law.pymc_log_density(HITS, TRIALS, LOG_ODDS, *own)
    computed = expression.eval() if hasattr(expression, "eval") else expression
    np.testing.assert_allclose(computed, values(law, LOG_ODDS, np.array(own)), rtol=1e-9)


@each
def test_simulated_events_follow_the_log_density(name):
    """Of one row: the frequencies of all numbers of events, with their binomial coefficients."""
    law, own = LAWS[name], np.array([OWN[name]])
    rng, trials, curve = np.random.default_rng(1), 3, np.full((40_000, 1), 0.3)
    drawn = law.draw(rng, np.array([trials]), curve, np.repeat(own, len(curve), axis=0))[:, 0]
    counts = np.arange(trials + 1.0)
    ways = np.array([1, 3, 3, 1])
    row = np.full((1, trials + 1), logit(0.3))
    chance = ways * np.exp(law.log_density(row, np.full(trials + 1, 3.0), counts, own)[0])
    assert chance.sum() == pytest.approx(1)
    computed = np.bincount(drawn, minlength=trials + 1) / drawn.size
    np.testing.assert_allclose(computed, chance, atol=5 * np.sqrt(0.25 / drawn.size))


@pytest.mark.parametrize("name", ["binomial"])
def test_a_row_is_the_sum_of_its_cases(name):
    law, own = LAWS[name], np.array([OWN[name]])
    event, other = (law.log_case(which, LOG_ODDS[None], own)[0] for which in (True, False))
    np.testing.assert_allclose(
        HITS * event + (TRIALS - HITS) * other, values(law, LOG_ODDS, own[0]), rtol=1e-12
    )
    np.testing.assert_allclose(np.exp(event), law.recorded(expit(LOG_ODDS)[None], own)[0])
    np.testing.assert_allclose(np.exp(event) + np.exp(other), 1)


@each
def test_tables_of_future_cases_have_the_likelihood_of_their_rows(name):
    law, own = LAWS[name], np.array([OWN[name]] * 2)
    log_odds, hits = np.stack([LOG_ODDS, LOG_ODDS / 2]), np.stack([HITS, TRIALS - HITS, HITS])
    computed = law.of_tables(log_odds, np.stack([TRIALS] * 3), hits, own)
    for table, events in enumerate(hits):
        for curve in range(2):
            rows = law.log_density(log_odds[[curve]].copy(), TRIALS, events, own[:1])
            assert computed[table, curve] == pytest.approx(rows.sum())


def test_every_registered_law_is_read_back(monkeypatch):
    monkeypatch.setitem(LIKELIHOODS, "beta-binomial", BetaBinomial)
    laws = [*LAWS.values(), TimeToEvent((0, 4, 9), -1.2, 0.8)]  # of which rows have no density
    assert set(LIKELIHOODS) == {law.name for law in laws}
    for law in laws:
        assert stored_likelihood(law.to_dict()).to_dict() == law.to_dict()
    with pytest.raises(InputError, match="likelihood of the tree"):
        stored_likelihood({"name": "poisson"})


@each
@pytest.mark.parametrize("curve", ["beta", "lapse"])
def test_sums_over_rows_have_the_derivatives_of_their_value(name, curve):
    y, p = bc.simulate.sample("clinical-middle-overconfident", 60, random_state=2)
    law = LAWS[name]
    rows = law_rows(prepare(y, p, curve=curve, likelihood=law, random_state=0))
    k = len(rows.columns) - 1
    rates = [0.07, 0.12] if curve == "lapse" else []
    at = np.array([*np.linspace(0.2, 0.8, k), *rates, *OWN[name]])

    def value(point):
        coefficients = np.concatenate([[1.0], point[:k]])
        return float(rows.log_likelihood(coefficients[None], point[None, k:])[0])

    computed, gradient, hessian = rows.derivatives(at[:k], at[k:])
    assert computed == pytest.approx(value(at))
    unit = 1e-4 * np.eye(at.size)
    for i, step in enumerate(unit):
        slope = (value(at + step) - value(at - step)) / 2e-4
        assert gradient[i] == pytest.approx(slope, rel=1e-4, abs=1e-4)
        for j, other in enumerate(unit):
            bend = value(at + step + other) - value(at + step - other)
            bend += value(at - step - other) - value(at - step + other)
            assert hessian[i, j] == pytest.approx(bend / 4e-8, rel=1e-3, abs=1e-2)


@pytest.mark.parametrize("name", ["beta-binomial"])
def test_evidence_of_a_stretch_is_an_integral_under_any_law(name):
    law, own = LAWS[name], np.array(OWN[name])
    score = np.array([0.2, 0.22, 0.25])
    trials, hits = np.array([20.0, 15.0, 30.0]), np.array([7.0, 3.0, 12.0])
    x = logit(score)
    computed = stretch_evidences(score, trials, hits, np.empty(0), law=(law, own))

    def likelihood(shift):
        return float(law.log_density((x + shift)[None], trials, hits, own[None]).sum())

    assert computed.log_diagonal == pytest.approx(likelihood(0.0))
    ratio = quad(
        lambda t: np.exp(likelihood(t) - likelihood(0.0) + log_prior(np.array([t]))[0]), -8, 8
    )[0]
    assert computed.log_evidence[SHIFT, 0] == pytest.approx(np.log(ratio), abs=0.02)


def test_a_share_is_a_beta_variable_read_at_normal_numbers():
    law, z = Beta(90.5, 10.5), np.array([-6.0, -1.0, 0.0, 2.0, 5.0])
    share, step = law.from_normal(z), 1e-4
    np.testing.assert_allclose(share, beta(90.5, 10.5).ppf(norm.cdf(z)), rtol=1e-9)
    first, second = law.derivatives_from_normal(z)
    up, down = law.from_normal(z + step), law.from_normal(z - step)
    np.testing.assert_allclose(first, (up - down) / (2 * step), rtol=1e-4)
    np.testing.assert_allclose(second, (up - 2 * share + down) / step**2, atol=1e-4)
    slope, bend = law.slope_and_curvature(share)
    ends = share + 1e-6, share - 1e-6
    np.testing.assert_allclose(slope, (law.logpdf(ends[0]) - law.logpdf(ends[1])) / 2e-6, rtol=1e-3)
    slopes = [law.slope_and_curvature(end)[0] for end in ends]
    np.testing.assert_allclose(bend, (slopes[0] - slopes[1]) / 2e-6, rtol=1e-3)
    assert law.sample(np.random.default_rng(0), 20_000).mean() == pytest.approx(law.mean, abs=1e-3)
    with pytest.raises(InputError, match="a must be a positive number"):
        Beta(0, 1)
