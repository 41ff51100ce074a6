"""The gain of a recalibration when outcomes were imputed."""

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import ImputationWarning, InputError

N, M = 200, 20
OPTIONS = {"draws": 400, "random_state": 4, "thresholds": [0.3]}


@pytest.fixture(scope="module")
def cases():
    y, s = bc.simulate.sample("clinical-middle-overconfident", N, random_state=7)
    rng = np.random.default_rng(7)
    missing = rng.random(N) < 0.3
    drawn = (rng.random((M, N)) < s).astype(int)
    return y, np.where(missing, drawn, y), s


def shrunk(score):
    return expit(0.6 * logit(score))


@pytest.mark.slow
def test_the_mean_is_of_all_imputations_and_the_spread_is_that_of_rubin(cases):
    _, outcomes, before = cases
    after = shrunk(before)
    options = OPTIONS | {"route": "paired"}
    gain = bc.recalibration_gain(outcomes, before, after, **options)
    exact = np.array([((y - before) ** 2 - (y - after) ** 2).mean() for y in outcomes])
    within = np.mean([((y - before) ** 2 - (y - after) ** 2).var() / (N + 1) for y in outcomes])
    draws = gain.draws["brier"]
    assert float(draws.mean()) == pytest.approx(exact.mean(), abs=4 * within**0.5 / 400**0.5)
    assert float(draws.var()) == pytest.approx(within + (1 + 1 / M) * exact.var(ddof=1), rel=0.2)


@pytest.mark.filterwarnings("ignore:outcomes were imputed 3 times")
def test_a_map_and_the_same_rows_are_one_gain(cases):
    _, outcomes, before = cases
    outcomes = outcomes[:3]
    options = OPTIONS | {"route": "paired"}
    by_map = bc.recalibration_gain(outcomes, before, shrunk, **options).summary()
    one_row = bc.recalibration_gain(outcomes, before, shrunk(before), **options).summary()
    each = bc.recalibration_gain(outcomes, before, [shrunk(before)] * 3, **options).summary()
    scores = bc.recalibration_gain(
        outcomes, imputation=[before] * 3, after=shrunk, **options
    ).summary()
    for other in (one_row, each, scores):
        np.testing.assert_allclose(other, by_map, atol=1e-12)


@pytest.mark.filterwarnings("ignore:outcomes were imputed 3 times")
def test_the_order_of_cases_is_nothing(cases):
    _, outcomes, before = cases
    swapped = np.random.default_rng(1).permutation(N)
    options = OPTIONS | {"route": "curve"}
    one = bc.recalibration_gain(outcomes[:3], before, shrunk, **options)
    two = bc.recalibration_gain(outcomes[:3, swapped], before[swapped], shrunk, **options)
    np.testing.assert_allclose(one.summary(), two.summary(), atol=1e-9)


def test_a_long_table_is_the_same(cases):
    _, outcomes, before = cases
    number = np.repeat(np.arange(3), N)
    table = bc.CalibrationData(outcomes[:3].ravel(), np.tile(before, 3), imputation=number)
    options = OPTIONS | {"route": "curve"}
    with pytest.warns(ImputationWarning, match="imputed 3 times"):
        long = bc.recalibration_gain(table, after=shrunk, **options)
    with pytest.warns(ImputationWarning, match="imputed 3 times"):
        matrix = bc.recalibration_gain(outcomes[:3], before, shrunk, **options)
    np.testing.assert_allclose(long.summary(), matrix.summary(), atol=1e-9)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"y_true": "turned"}, "Transpose it"),
        ({"before": None}, "before is missing"),
        ({"after": [0.5] * 7}, "after"),
        ({"site": ["a", "b"] * (N // 2)}, "imputations and groups"),
        ({"before": None, "imputation": "two"}, "20 rows and imputation has 2"),
    ],
)
def test_other_shapes_are_refused(cases, change, told):
    _, outcomes, before = cases
    given = {"y_true": outcomes, "before": before, "after": shrunk} | change
    if change.get("y_true") == "turned":
        given["y_true"] = outcomes.T
    if change.get("imputation") == "two":
        given["imputation"] = [before] * 2
    with pytest.raises(InputError, match=told):
        bc.recalibration_gain(**given, **OPTIONS)
