"""The table of chi-square quantiles against SciPy's."""

import numpy as np
import pytest
from scipy import stats

from bayescal.core.sampling import student_stretch


@pytest.mark.parametrize("degrees", [4, 5, 9, 30, 100])
def test_the_error_is_below_one_in_a_million(degrees):
    normal = np.random.default_rng(degrees).uniform(-7.1, 7.1, 5000)
    below, above = normal[normal < 0], normal[normal >= 0]
    exact = [
        stats.chi2.ppf(stats.norm.cdf(below), degrees),
        stats.chi2.isf(stats.norm.sf(above), degrees),
    ]
    expected = np.sqrt(degrees / np.concatenate(exact))
    actual = student_stretch(np.concatenate([below, above]), degrees)
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_stretched_normals_are_student_t():
    rng = np.random.default_rng(0)
    drawn = rng.standard_normal(20_000) * student_stretch(rng.standard_normal(20_000), 4)
    assert stats.kstest(drawn, stats.t(4).cdf).pvalue > 1e-3
