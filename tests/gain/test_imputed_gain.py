"""The gain of a recalibration over several imputations."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError

OPTIONS = {"draws": 800, "random_state": 4, "thresholds": [0.3]}


@pytest.fixture(scope="module")
def scores():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=7)
    return y, expit(logit(s) + np.random.default_rng(7).normal(0, 0.3, (3, 200)))


def shrunk(score):
    return expit(0.6 * logit(score))


@pytest.mark.parametrize("route", ["curve", "paired"])
def test_equal_imputations_are_one_gain(scores, route):
    y, before = scores
    options = OPTIONS | {"route": route}
    one = bc.recalibration_gain(y, before[0], shrunk(before[0]), **options)
    same = bc.recalibration_gain(
        y, imputation=[before[0]] * 3, after=[shrunk(before[0])] * 3, **options
    )
    shown, expected = same.summary(parts=True), one.summary(parts=True)
    np.testing.assert_allclose(shown, expected, atol=1e-3)
    np.testing.assert_allclose(shown["mean"], expected["mean"], atol=1e-9)
    assert same.prob_improved == pytest.approx(one.prob_improved)
    assert same.missing_information["missing_information"].max() < 1e-9
    assert same.prob_calibrated == pytest.approx(one.prob_calibrated)
    assert same.notes == one.notes


def test_a_map_is_applied_to_every_imputation(scores):
    y, before = scores
    by_map = bc.recalibration_gain(y, imputation=before, after=shrunk, **OPTIONS)
    by_rows = bc.recalibration_gain(y, imputation=before, after=shrunk(before), **OPTIONS)
    assert by_map.summary().equals(by_rows.summary())
    assert by_map.draws.sizes["draw"] == 3 * 200
    assert "3 imputations of 200 cases" in repr(by_map)
    deviations = by_map.missing_information
    assert by_map.draws["brier"].std() == pytest.approx(deviations.loc["brier", "sd"])


def test_one_route_for_all_imputations(scores):
    """One row of a map, and one of arbitrary predictions: then all are paired."""
    y, before = scores
    after = shrunk(before)
    after[1] = np.random.default_rng(0).random(200)
    gain = bc.recalibration_gain(y, imputation=before, after=after, **OPTIONS)
    assert {one.route for one in gain.gains} == {"paired"}


@pytest.mark.parametrize("rows", [lambda after: after[:2], lambda after: after[0], lambda _: None])
def test_predictions_after_must_be_of_each_imputation(scores, rows):
    y, before = scores
    with pytest.raises(InputError, match="after"):
        bc.recalibration_gain(y, imputation=before, after=rows(shrunk(before)), **OPTIONS)
