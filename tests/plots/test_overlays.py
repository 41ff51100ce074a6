"""Lines of other smoothers, from a table with sampling weights."""

from __future__ import annotations

import numpy as np
import pytest

from bayescal import CalibrationData, simulate
from bayescal.estimators import flexible_curve, smooth_ece_curve
from bayescal.plots._overlays import smoother_at

AT = np.array([0.1, 0.3, 0.6])


@pytest.fixture(scope="module")
def cases():
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", 300, random_state=3)
    return y_true, y_prob.round(2), np.random.default_rng(1).lognormal(size=300)


@pytest.mark.parametrize("name", ["loess", "lowess", "rcs"])
def test_an_overlay_counts_effective_cases(cases, name) -> None:
    y_true, y_prob, weight = cases
    table = CalibrationData(y_true, y_prob, sample_weight=weight)
    known = flexible_curve(y_true, y_prob, AT, smoother=name, sample_weight=weight)
    np.testing.assert_allclose(smoother_at(table, name, AT), known, rtol=1e-8)


def test_the_smooth_overlay_is_that_of_the_cases(cases) -> None:
    y_true, y_prob, weight = cases
    table = CalibrationData(y_true, y_prob, sample_weight=weight)
    known = smooth_ece_curve(y_true, y_prob, grid=AT, sample_weight=weight).outcome
    np.testing.assert_allclose(smoother_at(table, "smooth", AT), known, rtol=1e-8)
