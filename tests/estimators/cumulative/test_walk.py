"""Laws of Brownian paths: moments, other series, ends."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from bayescal.estimators.cumulative import range_sf, supremum_sf


@pytest.mark.parametrize(
    ("tail", "mean", "square"),
    [
        (supremum_sf, math.sqrt(math.pi / 2), 2 * 0.915965594177219015),  # Catalan's constant
        (range_sf, math.sqrt(8 / math.pi), 4 * math.log(2)),
    ],
)
def test_laws_have_the_known_moments(tail, mean, square):
    def moment(weight):
        inner = [quad(lambda x: weight(x) * float(tail(x)), *ends)[0] for ends in ((0, 2), (2, 20))]
        return sum(inner)

    assert moment(lambda x: 1) == pytest.approx(mean, rel=1e-8)
    assert moment(lambda x: 2 * x) == pytest.approx(square, rel=1e-8)


@pytest.mark.parametrize("x", [0.4, 0.7, 0.99999, 1.00001, 1.5, 1.99999, 2.00001, 2.5])
def test_laws_agree_with_their_other_series(x):
    k = np.arange(200)
    odd, sign = 2 * k + 1, (-1.0) ** k
    reflected = np.sum(sign * (stats.norm.cdf(odd * x) - stats.norm.cdf((odd - 2) * x)))
    inside = 2 * reflected - (stats.norm.cdf(x) - stats.norm.cdf(-x))
    assert supremum_sf(np.array(x)) == pytest.approx(1 - inside, abs=1e-12)
    fourier = 4 / np.pi * np.sum(sign / odd * np.exp(-((odd * np.pi / x) ** 2) / 8))
    assert supremum_sf(np.array(x)) == pytest.approx(1 - fourier, abs=1e-12)
    feller = 8 * np.sum(sign * (k + 1) * stats.norm.sf((k + 1) * x))
    assert range_sf(np.array(x)) == pytest.approx(feller, abs=1e-12)


def test_laws_at_their_ends():
    for tail, far in ((supremum_sf, 4), (range_sf, 8)):
        assert tail(np.array([0.0, 1e-300, 0.01])) == pytest.approx(1)
        assert tail(np.array(30.0)) == pytest.approx(far * stats.norm.sf(30), rel=1e-12)
        assert (np.diff(tail(np.linspace(0, 6, 4001))) <= 1e-15).all()
