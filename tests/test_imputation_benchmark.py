"""The simulation of missing predictors: its true values, its imputations and its page."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit

import imputation_coverage as simulation
from bayescal import estimators
from imputation_page import ORDER, imputation_page


@pytest.fixture(scope="module")
def many():
    return simulation.patients(400_000, np.random.default_rng(4))


def test_true_values_are_those_of_many_patients(many):
    y, x1, x2, _ = many
    true, score = simulation.true_values(), simulation.score(x1, x2)
    assert y.mean() / score.mean() == pytest.approx(true["observed_expected"], abs=0.005)
    assert estimators.calibration_slope(y, score) == pytest.approx(
        true["calibration_slope"], abs=0.01
    )
    assert estimators.ece(y, score, n_bins=50) == pytest.approx(true["tce"], abs=0.005)


def test_imputed_values_are_like_the_missing_ones(many):
    y, x1, x2, missing = many
    (filled,) = simulation.imputed(y, x1, x2, missing, np.random.default_rng(5), 1)
    assert (filled[~missing] == x2[~missing]).all()
    for event in (0, 1):
        lost = missing & (y == event)
        assert filled[lost].mean() == pytest.approx(x2[lost].mean(), abs=0.03)
        assert filled[lost].std() == pytest.approx(x2[lost].std(), abs=0.03)
    at = logit(simulation.score(x1, filled))
    assert np.corrcoef(at, logit(simulation.score(x1, x2)))[0, 1] < 0.99


def test_the_page_shows_every_method():
    page = imputation_page()
    assert all(f"| {method} |" in page for method in ORDER)
