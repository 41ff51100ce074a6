"""The PyMC model: what it exposes, and offsets, against models written by hand."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.model.priors import Normal, Prior
from bayescal.model.problem import prepare

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


def test_every_case_is_an_observation_in_its_place():
    model = bc.build_model(OUTCOME, SCORE, curve="logistic", prior=PRIOR)
    assert logp(model) == pytest.approx(logp(by_hand(0)))
    for name in ("score", "trials", "log_odds", "event_prob", "y"):
        assert model.named_vars_to_dims[name] == ("obs",)
    expected = 0.3 + np.exp(-0.2) * logit(SCORE)
    np.testing.assert_allclose(value(model, "log_odds"), expected)
    np.testing.assert_allclose(value(model, "event_prob"), expit(expected))
    np.testing.assert_array_equal(model["score"].get_value(), SCORE)


@pytest.mark.parametrize("weighted", [False, True])
def test_an_offset_of_numbers_and_weights(weighted):
    weight = RNG.uniform(0.5, 2, 40) if weighted else None
    model = bc.build_model(
        OUTCOME, SCORE, curve="logistic", prior=PRIOR, offset=0.7 * COVARIATE, sample_weight=weight
    )
    scale = 1.0 if weight is None else weight * weight.sum() / (weight**2).sum()
    assert logp(model) == pytest.approx(logp(by_hand(0.7 * COVARIATE, scale)))
    assert ("weight" in model.named_vars) == weighted
    if weighted:
        model["weight"].set_value(np.zeros(40))
        assert logp(model) == pytest.approx(logp(by_hand(0, 0.0)))


def test_weights_that_are_counts_are_cases():
    count = RNG.integers(1, 4, 40)
    model = bc.build_model(
        OUTCOME, SCORE, curve="logistic", prior=PRIOR, sample_weight=count, weight_type="counts"
    )
    assert logp(model) == pytest.approx(logp(by_hand(0, count)))
    np.testing.assert_array_equal(model["trials"].get_value(), count)


def test_an_offset_of_zeros_changes_nothing():
    plain = bc.build_model(OUTCOME, SCORE, curve="beta")
    zeros = bc.build_model(OUTCOME, SCORE, curve="beta", offset=np.zeros(40))
    point = POINT | {"asymmetry": 0.4}
    assert logp(plain, point) == pytest.approx(logp(zeros, point))


def test_a_table_has_its_cases_and_beside_an_offset_its_rows():
    data = bc.CalibrationData(OUTCOME, SCORE)
    cases = bc.build_model(data, curve="logistic", prior=PRIOR)
    assert len(cases.coords["obs"]) == 40
    assert logp(cases) == pytest.approx(logp(by_hand(0)))
    shift = np.linspace(-1, 1, data.score.size)
    model = bc.build_model(data, curve="logistic", prior=PRIOR, offset=shift)
    assert len(model.coords["obs"]) == data.score.size
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


def test_many_cases_are_rows_of_equal_scores():
    score = np.round(RNG.uniform(0.01, 0.99, 6000), 2)
    model = bc.build_model(RNG.random(6000) < score, score, curve="logistic", prior=PRIOR)
    assert model["trials"].get_value().sum() == 6000
    assert len(model.coords["obs"]) == np.unique(score).size


@pytest.mark.parametrize(
    "curve",
    ["identity", "intercept", "temperature", "logistic", "noise", "beta", "lapse", "spline"],
)
def test_data_that_are_set_reach_the_curve(curve):
    """The curve at new scores is that of the family at them, whichever it is."""
    import pymc as pm

    data = bc.CalibrationData(OUTCOME, SCORE)
    model = bc.build_model(data, curve=curve, prior=PRIOR)
    problem = prepare(data, curve=curve, prior=PRIOR, random_state=0)
    new = np.array([0.02, 0.4, 0.77, 0.98 if curve == "identity" else 1.0])
    with model:
        pm.set_data({"score": new, "trials": [1, 1, 5, 2]}, coords={"obs": range(4)})
    named = [*coordinates(model, problem.curve), model["event_prob"]]
    *u, prob = pm.draw(named, 20, random_seed=1)
    columns = np.column_stack(u) if u else np.empty((20, 0))
    np.testing.assert_allclose(prob, problem.probability(columns, new), rtol=1e-6)


def test_predictions_at_new_scores_have_the_posterior_of_the_curve_there():
    import pymc as pm

    post = bc.fit(OUTCOME, SCORE, curve="logistic", draws=400, random_state=1)
    drawn = post.tree["posterior"].to_dataset()[["shift", "log_slope"]]
    new = np.array([0.1, 0.55, 0.9])
    with bc.build_model(OUTCOME, SCORE, curve="logistic"):
        pm.set_data({"score": new, "trials": np.full(3, 50)}, coords={"obs": ["a", "b", "c"]})
        trace = pm.sample_posterior_predictive(
            drawn, var_names=["event_prob", "y"], predictions=True, random_seed=1, progressbar=False
        )
    predicted = trace["predictions"]
    np.testing.assert_allclose(predicted["event_prob"], post.curve(new), rtol=1e-6)
    assert predicted["y"]["obs"].to_numpy().tolist() == ["a", "b", "c"]
    share = predicted["y"].mean(("chain", "draw")) / 50
    np.testing.assert_allclose(share, post.curve(new).mean(("chain", "draw")), atol=0.03)


@pytest.mark.parametrize(
    "roles", [{"period": SITE}, {"subgroup": {"sex": SITE % 2, "old": SITE > 0}}]
)
def test_periods_and_subgroups_have_a_model_too(roles):
    model = bc.build_model(OUTCOME, SCORE, curve="intercept", **roles)
    dim = "period" if "period" in roles else "cell"
    assert model.named_vars_to_dims[f"{dim}_shift"] == (dim,)
    assert np.isfinite(model.compile_logp(mode=FAST)(model.initial_point()))


def coordinates(model, curve):
    """The working coordinates of a family as variables of its model."""
    at = {name: (stem, k) for stem, of in curve.variables.items() for k, name in enumerate(of)}
    return [
        model[stem][k] if name not in model.named_vars else model[name]
        for name, (stem, k) in at.items()
    ]


def test_sites_in_the_order_of_the_cases_beside_an_offset():
    import pymc as pm

    model = bc.build_model(
        OUTCOME, SCORE, site=SITE, curve="logistic", offset=0.7 * COVARIATE,
        vary=bc.by("site", robust=False),
    )  # fmt: skip
    np.testing.assert_array_equal(model["site_of_obs"].get_value(), SITE)
    assert model.named_vars_to_dims["site_shift"] == ("site",)
    assert model.named_vars_to_dims["sd_shift"] == ("term",)
    of_site = model["site_shift"][SITE] + COVARIATE * 0.7
    drawn = pm.draw([model["log_odds"], of_site, model["site_log_slope"][SITE]], random_seed=1)
    x = logit(SCORE) - logit(SCORE).mean()
    expected = drawn[1] + np.exp(drawn[2]) * x + logit(SCORE).mean()
    np.testing.assert_allclose(drawn[0], expected)


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
