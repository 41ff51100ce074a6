"""Models compared on the same patients of one population, with outcomes or times to an event."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError

FIXED = {"draws": 400, "random_state": 1}
MEASURES = ["tce", "observed_expected", "brier", "c_statistic"]
SIZE = 500


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(6)
    x = rng.normal(-1, 1.1, SIZE)
    y = (rng.random(SIZE) < expit(x)).astype(int)
    happens = np.where(y == 1, rng.uniform(0.05, 1, SIZE), 2.0)
    models = {"old": expit(x + 0.4), "new": expit(0.9 * (x + 0.4 * rng.standard_normal(SIZE)))}
    return y, happens, rng.exponential(1.5, SIZE), models


@pytest.fixture(scope="module")
def outcome(cases):
    _, happens, leaves, _ = cases
    return bc.Survival(np.minimum(happens, leaves), (happens <= leaves) & (happens <= 1))


@pytest.fixture(scope="module")
def told(cases, outcome):
    return bc.compare_models(outcome, cases[-1], horizon=1, **FIXED)


def test_a_model_differs_from_itself_by_exactly_nothing(cases, outcome):
    old = cases[-1]["old"]
    same = bc.compare_models(outcome, {"old": old, "again": old}, horizon=1, **FIXED)
    table = same.summary(measures=MEASURES)
    assert (table[["difference", "lower", "upper", "prob_better"]] == 0).all(axis=None)
    assert (same.net_benefit([0.2])["difference"] == 0).all()


def test_each_model_keeps_its_own_posterior_of_one_family(cases, outcome, told):
    for name, score in cases[-1].items():
        alone = bc.fit(outcome, score, horizon=1, curve="beta", **FIXED)
        for measure in ("tce", "observed_expected"):
            ours = np.sort(told.draws(measure)[name])
            np.testing.assert_allclose(ours, np.sort(alone.values_of(measure)), rtol=1e-12)


def test_without_censoring_it_is_that_of_known_outcomes(cases):
    y, happens, _, models = cases
    followed = bc.Survival(np.minimum(happens, 1.5), happens <= 1)
    known = bc.compare_models(y, models, **FIXED).summary(measures=MEASURES)
    times = bc.compare_models(followed, models, horizon=1, **FIXED).summary(measures=MEASURES)
    width = known["upper"] - known["lower"]
    for column in ("difference", "lower", "upper"):
        assert (np.abs(times[column] - known[column]) < 0.25 * width).all()


def test_exchanging_the_models_changes_the_sign(cases, outcome, told):
    models = dict(reversed(cases[-1].items()))
    other = bc.compare_models(outcome, models, horizon=1, **FIXED)
    one, two = told.summary(measures=MEASURES), other.summary(measures=MEASURES)
    for name, against in (("difference", "difference"), ("lower", "upper")):
        np.testing.assert_allclose(one[name], -two[against].to_numpy(), atol=1e-12)


def test_units_of_time_do_not_matter(cases, outcome, told):
    days = bc.Survival(outcome.time * 365.25, outcome.event)
    other = bc.compare_models(days, cases[-1], horizon=365.25, **FIXED)
    np.testing.assert_allclose(
        other.summary(measures=MEASURES), told.summary(measures=MEASURES), atol=1e-9
    )


def test_counts_are_repeats(cases, outcome):
    some = slice(0, 200)
    seen = bc.Survival(outcome.time[some], outcome.event[some])
    often = bc.Survival(*(np.repeat(each[some], 3) for each in (outcome.time, outcome.event)))
    models = {name: score[some] for name, score in cases[-1].items()}
    repeated = {name: np.repeat(score, 3) for name, score in models.items()}
    three = np.full(200, 3.0)
    counted = bc.compare_models(seen, models, horizon=1, sample_weight=three, **FIXED)
    listed = bc.compare_models(often, repeated, horizon=1, **FIXED)
    one, two = (each.summary(measures=MEASURES) for each in (counted, listed))
    width = two["upper"] - two["lower"]
    np.testing.assert_allclose(one["estimate"], two["estimate"], rtol=1e-6, atol=1e-9)
    assert (np.abs(one["upper"] - two["upper"]) < 0.3 * width).all()


def test_the_order_of_cases_does_not_matter(cases, outcome, told):
    order = np.random.default_rng(1).permutation(SIZE)
    seen = bc.Survival(outcome.time[order], outcome.event[order])
    models = {name: score[order] for name, score in cases[-1].items()}
    one = bc.compare_models(seen, models, horizon=1, **FIXED).summary(measures=MEASURES)
    two = told.summary(measures=MEASURES)
    np.testing.assert_allclose(one["estimate"], two["estimate"], rtol=1e-6, atol=1e-9)
    width = two["upper"] - two["lower"]
    assert (np.abs(one["lower"] - two["lower"]) < 0.3 * width).all()


def test_what_cannot_be_compared_is_told(cases, outcome):
    y, *_, models = cases
    two = {"old": np.tile(models["old"], (2, 1)), "new": models["new"]}
    with pytest.raises(InputError, match="several imputations of the predictions"):
        bc.compare_models(outcome, two, horizon=1)
    with pytest.raises(InputError, match="horizon is missing"):
        bc.compare_models(outcome, models)
    with pytest.raises(InputError, match="horizon was given"):
        bc.compare_models(y, models, horizon=1)
    with pytest.raises(InputError, match="several imputations of the outcomes"):
        bc.compare_models(np.tile(y, (2, 1)), models)
    with pytest.raises(InputError, match="CalibrationData"):
        bc.compare_models(bc.CalibrationData(y, models["old"]), models)
