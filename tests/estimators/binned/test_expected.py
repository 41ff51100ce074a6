"""The mean of the binned error as a function of the number of cases."""

import numpy as np
import pytest
from scipy.stats import foldnorm

from bayescal import CalibrationData, simulate
from bayescal.errors import InputError
from bayescal.estimators import ece, expected_ece

SIZES = [200, 1000, 5000]


def population(n=20_000, name="clinical-middle-overconfident"):
    return simulate.sample(name, n, random_state=1)


def test_is_the_proposition_bin_by_bin():
    """With the mean of the absolute value of a normal variable from SciPy."""
    y, s = population(500)
    for n in (50, 5000):
        total = 0.0
        for low in np.arange(7) / 7:
            within = (low < s) & (s <= low + 1 / 7 + 1e-12)
            if not within.any():
                continue
            gap = s[within].mean() - y[within].mean()
            rate, share = y[within].mean(), within.mean()
            sd = np.sqrt((s[within].var() + rate * (1 - rate)) / (n * share))
            total += share * foldnorm(abs(gap) / sd, scale=sd).mean()
        assert expected_ece(y, s, n, n_bins=7) == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize("name", ["clinical-middle-overconfident", "calibrated", "D4"])
def test_agrees_with_simulated_samples(name):
    y, s = population(200_000, name)
    for n in (200, 1000):
        values = [ece(*simulate.sample(name, n, random_state=seed)) for seed in range(200)]
        error = 4 * np.std(values) / np.sqrt(200)
        assert expected_ece(y, s, n) == pytest.approx(np.mean(values), abs=error + 0.02 * values[0])


def test_of_a_calibrated_population_it_is_known():
    """One score, calibrated: the mean of the absolute value of a normal variable."""
    value = expected_ece([0, 1], [0.3, 0.3], 100, sample_weight=[0.7, 0.3])
    assert value == pytest.approx(np.sqrt(2 / np.pi * 0.21 / 100))
    assert expected_ece([1, 1], [1.0, 1.0], SIZES).tolist() == [0, 0, 0]


def test_order_shares_and_tables_change_nothing():
    y, s = population(300)
    s = s.round(2)
    known = expected_ece(y, s, SIZES, binning="mass")
    order = np.random.default_rng(1).permutation(y.size)
    for cases in ((y[order], s[order]), (CalibrationData(y, s), None)):
        np.testing.assert_allclose(expected_ece(*cases, SIZES, binning="mass"), known)
    by_share = expected_ece(y, s, SIZES, sample_weight=np.full(300, 0.01))
    np.testing.assert_allclose(by_share, expected_ece(y, s, SIZES))
    assert expected_ece(y, s) == pytest.approx(expected_ece(y, s, 300))


@pytest.mark.parametrize("sizes", [0, [], [[10]], "x", [float("nan")], 1e16])
def test_sizes_out_of_range(sizes):
    with pytest.raises(InputError, match="sizes must be"):
        expected_ece(*population(50), sizes)
