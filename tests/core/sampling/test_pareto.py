"""Pareto smoothing of many rows against ArviZ, which does one at a time."""

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from scipy.special import log_softmax

from bayescal.core.sampling import smooth_rows


def by_arviz(log_ratio):
    """Smoothed log weights and k-hat of one row; a flat top has no tail to smooth."""
    tenth = log_ratio.size // 10
    if np.ptp(np.sort(log_ratio)[-tenth - 1 :]) < 1e-9:
        return log_ratio, -np.inf
    with np.errstate(all="ignore"):
        smoothed, k = array_stats.psislw(-log_ratio)
    if not np.isfinite(k) or np.isnan(smoothed).any():
        return log_ratio, np.inf
    return smoothed, float(k)


@pytest.mark.parametrize("draws", [100, 225, 226, 1000, 4000])
@pytest.mark.parametrize("tail", [0.1, 0.5, 0.9, 2.0])
def test_each_row_is_arviz_s(draws, tail):
    rng = np.random.default_rng(draws)
    rows = tail * rng.exponential(size=(20, draws)) + rng.normal(0, 5, (20, 1))
    weights, pareto_k = smooth_rows(rows)
    for row, weight, k in zip(rows, weights, pareto_k, strict=True):
        expected, expected_k = by_arviz(row)
        assert k == pytest.approx(expected_k, rel=1e-9)
        np.testing.assert_allclose(log_softmax(weight), log_softmax(expected), rtol=1e-8)


def test_ties_and_flat_tops_are_as_one_by_one():
    rng = np.random.default_rng(0)
    rows = np.stack(
        [
            np.zeros(1000),
            np.where(np.arange(1000) < 500, -3.0, 2.0),
            np.round(rng.exponential(size=1000), 1),
            np.where(np.arange(1000) == 7, 800.0, rng.normal(size=1000)),
            np.full(1000, -1e300),
        ]
    )
    given = rows.copy()
    weights, pareto_k = smooth_rows(rows)
    np.testing.assert_array_equal(rows, given)
    for row, weight, k in zip(rows, weights, pareto_k, strict=True):
        expected, expected_k = by_arviz(row)
        assert k == pytest.approx(expected_k, rel=1e-9)
        np.testing.assert_allclose(np.sort(log_softmax(weight)), np.sort(log_softmax(expected)))


def test_rows_do_not_mind_their_neighbours():
    rows = np.random.default_rng(1).exponential(size=(7, 400))
    together, k = smooth_rows(rows)
    for row, weight, alone in zip(rows, together, k, strict=True):
        actual, own = smooth_rows(row[None])
        np.testing.assert_array_equal(actual[0], weight)
        assert own[0] == alone
