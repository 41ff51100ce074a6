"""The PyMC model: what it exposes, and offsets, against models written by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.model.priors import Normal, Prior

pytestmark = [pytest.mark.slow, pytest.mark.engine]

RNG = np.random.default_rng(2)
SCORE = np.round(RNG.uniform(0.05, 0.95, 40), 1)
OUTCOME = (RNG.random(40) < SCORE).astype(float)
SITE = RNG.integers(0, 3, 40)
COVARIATE = np.round(RNG.normal(size=40), 1)
POINT = {"shift": 0.3, "log_slope": -0.2}
FAST = "FAST_COMPILE"
PRIOR = Prior(Normal(0, 1), Normal(0, 0.5), centre=0.5)
"""That of the models written by hand."""


def logp(model, point=POINT):
    return float(model.compile_logp(mode=FAST)(point))


def by_hand(offset, weight=1.0):
    """Logistic recalibration of every case by itself."""
    import pymc as pm

    with pm.Model() as model:
        shift, log_slope = pm.Normal("shift", 0, 1), pm.Normal("log_slope", 0, 0.5)
        log_odds = shift + pm.math.exp(log_slope) * logit(SCORE) + offset
        case = pm.logp(pm.Bernoulli.dist(logit_p=log_odds), OUTCOME)
        pm.Potential("cases", (weight * case).sum())
    return model


def value(model, name):
    return model[name].eval({model[coordinate]: at for coordinate, at in POINT.items()})


def test_the_curve_is_named_by_row_and_every_case_knows_its_row():
    model = bc.build_model(OUTCOME, SCORE, curve="logistic", prior=PRIOR)
    assert logp(model) == pytest.approx(logp(by_hand(0)))
    assert model.named_vars_to_dims["log_odds"] == ("row",)
    assert model.named_vars_to_dims["event_prob"] == ("row",)
    expected = 0.3 + np.exp(-0.2) * logit(SCORE)
    row = model["row_of_obs"].get_value()
    np.testing.assert_allclose(value(model, "log_odds")[row], expected)
    np.testing.assert_allclose(value(model, "event_prob")[row], expit(expected))
    assert (np.diff(model["score"].get_value()) > 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_an_offset_of_numbers_splits_rows_of_equal_scores(weighted):
    weight = RNG.uniform(0.5, 2, 40) if weighted else None
    model = bc.build_model(
        OUTCOME, SCORE, curve="logistic", prior=PRIOR, offset=0.7 * COVARIATE, sample_weight=weight
    )
    scale = 1.0 if weight is None else weight * weight.sum() / (weight**2).sum()
    assert logp(model) == pytest.approx(logp(by_hand(0.7 * COVARIATE, scale)))
    row = model["row_of_obs"].get_value()
    assert model["score"].get_value().size == len({*zip(SCORE, COVARIATE, strict=True)})
    np.testing.assert_allclose(model["score"].get_value()[row], SCORE)
    np.testing.assert_allclose(model["offset"].get_value()[row], 0.7 * COVARIATE)
    assert model["trials"].get_value().sum() == pytest.approx(np.sum(scale * np.ones(40)))


def test_an_offset_of_zeros_changes_nothing():
    plain = bc.build_model(OUTCOME, SCORE, curve="beta")
    zeros = bc.build_model(OUTCOME, SCORE, curve="beta", offset=np.zeros(40))
    point = POINT | {"asymmetry": 0.4}
    assert logp(plain, point) == pytest.approx(logp(zeros, point))


def test_an_offset_by_row_of_a_table():
    data = bc.CalibrationData(OUTCOME, SCORE)
    shift = np.linspace(-1, 1, data.score.size)
    model = bc.build_model(data, curve="logistic", prior=PRIOR, offset=shift)
    assert "row_of_obs" not in model.named_vars
    of_case = shift[np.searchsorted(data.score, SCORE)]
    assert logp(model) == pytest.approx(logp(by_hand(of_case)))


def test_effects_of_sites_enter_as_a_variable():
    import pymc as pm

    with pm.Model() as model:
        effect = pm.Normal("effect", 0, 0.5, shape=3)
        assert (
            bc.build_model(OUTCOME, SCORE, curve="logistic", prior=PRIOR, offset=effect[SITE])
            is model
        )
    sites = np.array([0.5, -0.4, 0.1])
    prior = float(pm.logp(pm.Normal.dist(0, 0.5), sites).sum().eval())
    result = logp(model, POINT | {"effect": sites})
    assert result == pytest.approx(logp(by_hand(sites[SITE])) + prior)
    np.testing.assert_allclose(model["score"].get_value(), SCORE)


def test_a_compressed_table_still_knows_the_row_of_each_case():
    score = RNG.uniform(0.01, 0.99, 3000)
    model = bc.build_model(RNG.random(3000) < score, score, curve="logistic", prior=PRIOR)
    row = model["row_of_obs"].get_value()
    trials = model["trials"].get_value()
    np.testing.assert_array_equal(np.bincount(row, minlength=trials.size), trials)
    assert np.abs(model["score"].get_value()[row] - score).max() < 0.01


@pytest.mark.parametrize(
    ("offset", "message"),
    [
        (np.zeros(7), "offset has 7 numbers; it takes one a case, 40"),
        ([np.nan] + 39 * [0.0], r"offset\[0\] = nan is not a finite number"),
        (40 * ["a"], "offset is not an array of numbers"),
    ],
)
def test_an_offset_that_fits_no_case_is_refused(offset, message):
    with pytest.raises(InputError, match=message):
        bc.build_model(OUTCOME, SCORE, curve="beta", offset=offset)


def test_a_variable_outside_its_model_is_refused():
    import pymc as pm

    with pm.Model():
        effect = pm.Normal("effect", 0, 0.5, shape=3)
    with pytest.raises(InputError, match="of no open model: call build_model inside"):
        bc.build_model(OUTCOME, SCORE, curve="beta", offset=effect[SITE])
