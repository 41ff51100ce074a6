"""Draws as bars: every draw is in a bar or in the atom."""

import numpy as np
import pytest

from bayescal.plots.histogram import edges_over, shares_of


def test_bars_and_atom_share_all_draws():
    values = np.concatenate([np.zeros(250), np.random.default_rng(0).gamma(2, 0.02, 750)])
    edges = edges_over(values, 0, (0, values.max()), 0.0)
    shares = shares_of(values, edges, 0)
    assert shares.atom == 0.25
    assert shares.share.sum() + shares.atom == pytest.approx(1)
    assert edges[0] == 0
    np.testing.assert_allclose(np.diff(edges), edges[1])


def test_fewer_draws_have_fewer_bars():
    values = np.random.default_rng(0).normal(size=4000)
    many, few = (edges_over(values[:n], 9, (0,), -np.inf).size for n in (4000, 40))
    assert 10 <= few < many <= 50


@pytest.mark.parametrize("hold", [(0, 10.0), (-1e6, 1e6), (0, 1e300), (1e-300,)])
def test_values_far_away_have_no_bars(hold):
    values = np.random.default_rng(0).normal(0.1, 0.001, 4000)
    edges = edges_over(values, 9, hold, -np.inf)
    assert edges.size <= 1000
    assert edges[0] < values.mean() < edges[-1]
