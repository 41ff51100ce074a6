"""Knots of restricted cubic splines."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import logit

from bayescal import simulate
from bayescal.data.rows import levels_of
from bayescal.estimators.smoothers import rcs_basis

Floats = NDArray[np.float64]


def cases(n, digits, seed):
    """Outcomes and scores, with the more ties the fewer digits."""
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", n, random_state=seed)
    return y_true.astype(float), np.round(y_prob, digits)


@pytest.mark.parametrize(("n_knots", "outer"), [(3, 0.1), (4, 0.05), (6, 0.05), (7, 0.025)])
def test_knots_are_at_harrells_quantiles(n_knots, outer):
    _, x = cases(500, 9, seed=4)
    knots = np.quantile(logit(x), np.linspace(outer, 1 - outer, n_knots))
    basis = rcs_basis(levels_of(x, None), n_knots)
    at = 1 / (1 + np.exp(-knots))
    bends = basis(at)[2:]
    assert bends.shape == (n_knots - 2, n_knots)
    for j, bend in enumerate(bends):
        np.testing.assert_allclose(bend[: j + 1], 0, atol=1e-12)
        assert bend[j + 1] > 0
