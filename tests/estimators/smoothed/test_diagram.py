"""The smooth reliability diagram: equations 1 to 8 of the paper, summed by hand."""

import numpy as np
import pytest

from bayescal import CalibrationData, simulate
from bayescal.errors import InputError
from bayescal.estimators import (
    estimator_interval,
    smooth_ece,
    smooth_ece_curve,
    smooth_reliability,
)

PARTS = ("outcome", "lower", "upper", "density", "event_density", "non_event_density")


def sampled(n=150):
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", n, random_state=3)
    return y_true, y_prob.round(2)


def reflected(at, score, sigma):
    """Equation 2, at each point (rows) for each score (columns)."""
    turns = np.arange(-20, 21)[:, None, None]
    images = [2 * turns + score, 2 * turns - score]
    z = [(np.asarray(at)[:, None] - image) / sigma for image in images]
    return sum(np.exp(-0.5 * part**2).sum(axis=0) for part in z) / (sigma * np.sqrt(2 * np.pi))


def test_curve_and_densities_are_those_of_the_paper():
    y, s = sampled()
    s[:5], s[5:9] = 0, 1
    grid = np.linspace(0, 1, 23)
    shown = smooth_reliability(y, s, grid=grid, random_state=1)
    kernel = reflected(grid, s, shown.bandwidth) / y.size
    np.testing.assert_allclose(shown.density, kernel.sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(shown.event_density, kernel @ y, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(shown.non_event_density, kernel @ (1 - y), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(shown.outcome, kernel @ y / kernel.sum(axis=1), rtol=1e-4)


@pytest.mark.parametrize("n", [40, 150])
def test_shown_error_is_the_mean_distance_of_the_curve_over_the_density(n):
    y, s = sampled(n)
    shown = smooth_reliability(y, s, random_state=1)
    at = np.linspace(0, 1, 2001)
    kernel = reflected(at, s, shown.bandwidth) / n
    gap = np.abs(kernel @ y - at * kernel.sum(axis=1))
    assert shown.shown_error == pytest.approx(np.trapezoid(gap, at), rel=1e-4)


def test_scores_of_one_half_show_the_spread_of_the_noise():
    """The paper's example: calibrated, and still sqrt(2 / pi) times the bandwidth."""
    shown = smooth_reliability([0, 1] * 50, [0.5] * 100, random_state=1)
    assert smooth_ece([0, 1] * 50, [0.5] * 100) == 0
    assert shown.bandwidth == 0.001
    assert shown.shown_error == pytest.approx(np.sqrt(2 / np.pi) * 0.001, rel=1e-3)


def test_parts_agree_with_each_other_and_with_their_own_functions():
    y, s = sampled()
    shown = smooth_reliability(y, s, method="percentile", random_state=7)
    np.testing.assert_allclose(shown.event_density + shown.non_event_density, shown.density)
    assert np.trapezoid(shown.event_density, shown.score) == pytest.approx(y.mean(), rel=1e-6)
    curve = smooth_ece_curve(y, s)
    np.testing.assert_array_equal(shown.outcome, curve.outcome)
    assert shown.bandwidth == curve.bandwidth
    assert shown.smooth_ece == estimator_interval(
        y, s, "smooth_ece", method="percentile", n_resamples=200, random_state=7
    )


@pytest.mark.slow
def test_range_is_that_of_curves_of_resampled_cases():
    """By resampling cases one by one, with other random numbers."""
    y, s = sampled(120)
    grid = [0.1, 0.25, 0.4]
    shown = smooth_reliability(y, s, grid=grid, n_resamples=4000, random_state=1)
    rng = np.random.default_rng(2)
    curves = []
    for _ in range(4000):
        rows = rng.integers(120, size=120)
        kernel = reflected(grid, s[rows], shown.bandwidth)
        curves.append(kernel @ y[rows] / kernel.sum(axis=1))
    lower, upper = np.quantile(curves, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(shown.lower, lower, atol=0.01)
    np.testing.assert_allclose(shown.upper, upper, atol=0.01)


def test_a_range_is_defined_where_resamples_have_no_case_near():
    shown = smooth_reliability([0, 1, 1], [0.1, 0.1, 0.9], grid=[0.1, 0.9], random_state=1)
    assert np.isfinite([shown.lower, shown.upper]).all()
    narrow = smooth_reliability([0, 1] * 4, [0.25, 0.75] * 4, random_state=1)
    assert np.isfinite(np.stack([getattr(narrow, part) for part in PARTS])).all()


def same(one, other):
    for part in ("outcome", "density", "event_density", "non_event_density"):
        np.testing.assert_allclose(getattr(one, part), getattr(other, part), rtol=1e-9, atol=1e-12)
    assert one.smooth_ece.estimate == pytest.approx(other.smooth_ece.estimate, rel=1e-9)
    assert one.shown_error == pytest.approx(other.shown_error, rel=1e-9)


def test_order_counts_and_tables_change_nothing():
    y, s = sampled()
    shown = smooth_reliability(y, s, random_state=1)
    order = np.random.default_rng(1).permutation(y.size)
    same(shown, smooth_reliability(y[order], s[order], random_state=1))
    same(shown, smooth_reliability(CalibrationData(y, s), random_state=1))
    counts = np.random.default_rng(2).integers(0, 3, y.size)
    repeated = smooth_reliability(np.repeat(y, counts), np.repeat(s, counts), random_state=1)
    same(repeated, smooth_reliability(y, s, sample_weight=counts, random_state=1))


def test_relabelling_mirrors_the_diagram():
    y, s = sampled()
    shown, mirrored = (
        smooth_reliability(*cases, random_state=1) for cases in ((y, s), (1 - y, 1 - s))
    )
    np.testing.assert_allclose(mirrored.outcome[::-1], 1 - shown.outcome, rtol=1e-5)
    np.testing.assert_allclose(mirrored.event_density[::-1], shown.non_event_density, atol=1e-5)
    assert mirrored.shown_error == pytest.approx(shown.shown_error, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "consistency"}, "method"),
        ({"n_resamples": 10}, "n_resamples"),
        ({"ci_prob": 1}, "ci_prob"),
        ({"grid": [2]}, "grid"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(InputError, match=message):
        smooth_reliability(*sampled(), **options)
