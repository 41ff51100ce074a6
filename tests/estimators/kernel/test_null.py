"""Moments and tail of a quadratic form under calibration."""

import numpy as np
import pytest
from scipy import stats

from bayescal.data.rows import levels_of
from bayescal.estimators import skce
from bayescal.estimators.kernel import moments_of, pearson_sf

KERNELS = {
    "laplace": lambda distance, width: np.exp(-distance / width),
    "gaussian": lambda distance, width: np.exp(-(distance**2) / (2 * width**2)),
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_moments_are_those_over_all_outcomes(kernel):
    """Of every one of the 2^9 sets of outcomes, by its probability."""
    scores = np.array([0.1, 0.1, 0.3, 0.35, 0.6, 0.6, 0.9, 0.97, 1.0])
    sets = (np.arange(512)[:, None] >> np.arange(9)) & 1
    chance = np.where(sets == 1, scores, 1 - scores).prod(axis=1)
    values = skce(sets, scores, kernel=kernel, bandwidth=0.4)
    assert chance @ values == pytest.approx(0, abs=1e-15)
    sd, skewness = moments_of(levels_of(scores, None), kernel, 0.4)
    assert sd == pytest.approx(np.sqrt(chance @ values**2), rel=1e-12)
    assert skewness == pytest.approx(chance @ values**3 / sd**3, rel=1e-12)


def test_moments_of_many_scores_in_cells(monkeypatch):
    scores = np.random.default_rng(2).beta(0.5, 0.8, 1200)
    coarse = moments_of(levels_of(scores, None), "laplace", 0.5)
    monkeypatch.setattr("bayescal.estimators.kernel.NULL_MOST_CELLS", 1200)
    assert coarse == pytest.approx(moments_of(levels_of(scores, None), "laplace", 0.5), rel=2e-3)


@pytest.mark.parametrize("skewness", [-2.0, -0.3, 0.0, 1e-6, 1e-4, 0.5, 2.8])
def test_pearson_tail(skewness):
    z = np.linspace(-3, 6, 19)
    expected = stats.pearson3.sf(z, skewness)
    np.testing.assert_allclose(pearson_sf(z, skewness), expected, rtol=1e-4, atol=1e-7)
