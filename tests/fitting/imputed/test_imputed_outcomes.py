"""Outcomes that were imputed: a matrix of them, rows never stacked, a warning of few."""

import warnings

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import ImputationWarning, InputError

N, M = 150, 4
HOW = {"curve": "logistic", "draws": 400, "random_state": 1}


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(2)
    score = rng.uniform(0.05, 0.95, N)
    y = (rng.random(N) < score).astype(int)
    missing = rng.random(N) < 0.3
    outcomes = np.array([np.where(missing, rng.random(N) < score, y) for _ in range(M)]).astype(int)
    assert len({row.sum() for row in outcomes}) > 1
    return outcomes, score


@pytest.fixture(scope="module")
def post(cases):
    with pytest.warns(ImputationWarning, match="imputed 4 times.*at least 20"):
        return bc.fit(*cases, **HOW)


def test_each_imputation_is_fitted_and_the_posteriors_are_mixed(cases, post):
    outcomes, score = cases
    each = [bc.fit(row, score, **HOW) for row in outcomes]
    combined = bc.combine_imputations(each)
    assert post.summary().equals(combined.summary())
    assert [part.data.events for part in post.imputations] == outcomes.sum(axis=1).tolist()


def test_patients_are_counted_once_and_intervals_know_the_spread(cases, post):
    outcomes, score = cases
    assert post.data.n == N
    assert post.data.events == pytest.approx(outcomes.sum(axis=1).mean())
    assert post.data.has_imputed_outcomes
    stacked = bc.fit(outcomes.ravel(), np.tile(score, M), **HOW)
    low, high = post.interval("observed_expected")
    narrow = stacked.interval("observed_expected")
    assert high - low > 1.7 * (narrow[1] - narrow[0])


def test_a_long_table_is_the_same(cases, post):
    outcomes, score = cases
    number = np.repeat(np.arange(M), N)
    data = bc.CalibrationData(outcomes.ravel(), np.tile(score, M), imputation=number)
    with pytest.warns(ImputationWarning):
        long = bc.fit(data, **HOW)
    assert long.summary().equals(post.summary())


def test_twenty_imputations_are_enough_and_the_same_outcomes_are_no_imputations(cases):
    outcomes, score = cases
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bc.fit(np.tile(outcomes, (5, 1)), score, **HOW)
        same = bc.fit(outcomes[0], imputation=np.tile(score, (3, 1)), **HOW)
    assert not same.data.has_imputed_outcomes


def test_an_assessment_says_so(cases):
    a = bc.assess(*cases, draws=400, random_state=1)
    assert any("Outcomes were imputed too" in text for text in a.notes)
    assert any("impute at least 20 times" in text for text in a.notes)


def test_other_shapes_are_refused(cases):
    outcomes, score = cases
    with pytest.raises(
        InputError, match=r"y_true\[0\] has 4 cases, and y_prob has 150.*Transpose it"
    ):
        bc.fit(outcomes.T, score)
    with pytest.raises(InputError, match="at least 2 imputations, one a row, got 1"):
        bc.fit(outcomes[:1], score)
    with pytest.raises(InputError, match="Pass a long table that has both"):
        bc.fit(outcomes, imputation=np.tile(score, (M, 1)))
