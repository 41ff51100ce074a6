"""Norms of any order: between the mean and the largest, and never fallen to 0."""

import inspect
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal import estimators, scores, simulate
from bayescal.core.arrays import power_mean
from bayescal.core.errors import InputError
from bayescal.posterior.functionals import CurveDraws, tce
from bayescal.posterior.population import Population

ORDERS = [1, 1.5, 2, 7, 50, 300, 1000, 1e5, 1e9, 1e300]
SLACK = 1e-9


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.sampled_from(ORDERS))
def test_a_power_mean_lies_between_mean_and_largest_and_scales(values, order):
    error = np.array(values)
    norm = power_mean(error, order, np.mean)
    assert error.mean() * (1 - SLACK) <= norm <= error.max() * (1 + SLACK)
    assert np.isclose(power_mean(error / 2, order, np.mean), norm / 2, rtol=SLACK, atol=1e-300)


def test_rows_are_apart_and_zeros_stay():
    error = np.array([[0.0, 0.0], [-0.2, 0.1], [1e-200, 0.0]])
    norm = power_mean(error, 1000, lambda power: power.mean(axis=-1))
    np.testing.assert_allclose(norm, [0, 0.2 * 0.5**0.001, 1e-200 * 0.5**0.001])


Y_TRUE, Y_PROB = simulate.sample("clinical-middle-overconfident", 150, random_state=2)
BY_ORDER = [
    name
    for name, function in inspect.getmembers(estimators, callable)
    if "p" in (known := inspect.signature(function).parameters) and known["p"].default == 1
]


def norms():
    """Every function of an order, given all but the order."""
    for name in BY_ORDER:
        function = getattr(estimators, name)
        of_data = partial(function, Y_TRUE, Y_PROB)
        yield pytest.param(of_data, id=name)
        yield pytest.param(partial(of_data, sample_weight=np.arange(150) % 3), id=f"{name}-weights")
    yield pytest.param(
        partial(estimators.kde_ece, Y_TRUE, Y_PROB, form="triweight"), id="triweight"
    )
    truth = [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.8, 0.1]]
    seen = [[0.6, 0.2, 0.2], [0.2, 0.2, 0.6], [0.2, 0.6, 0.2]]
    for kind in ("canonical", "top_label"):
        error = getattr(scores, f"{kind}_calibration_error")
        share = [0.9, 0.05, 0.05] if kind == "top_label" else [1, 0, 0]
        yield pytest.param(partial(error, truth, seen, sample_weight=share), id=kind)
    yield pytest.param(simulate.truth("D3").tce, id="truth")
    for draw in range(2):
        yield pytest.param(partial(of_draw, draw), id=f"draw-{draw}")


def of_draw(draw, p):
    """A functional whose largest error has no weight in one of the draws."""
    weight = np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]])
    curve = np.array([[0.3, 0.45, 0.1], [0.9, 0.55, 0.89]])
    return tce(CurveDraws(curve, Population(np.array([0.2, 0.5, 0.9]), weight)), p=p)[draw]


@pytest.mark.parametrize("norm", list(norms()))
def test_a_norm_rises_with_its_order_to_the_largest(norm):
    values = np.array([float(norm(p=order)) for order in ORDERS])
    if norm.__class__ is partial and norm.func is scores.canonical_calibration_error:
        values *= 3.0 ** (-1 / np.array(ORDERS))  # it sums over three classes
    assert values[0] > 0
    assert (values[1:] >= values[:-1] * (1 - SLACK)).all()
    np.testing.assert_allclose(values[-2:], values[-1], rtol=1e-6)
    assert values[-1] <= 1


@pytest.mark.parametrize("weight", [None, np.arange(150) % 3])
def test_the_largest_is_that_of_the_bins_the_rows_and_the_curve(weight):
    ece = estimators.ece(Y_TRUE, Y_PROB, p=1e9, sample_weight=weight)
    assert ece == pytest.approx(estimators.mce(Y_TRUE, Y_PROB, sample_weight=weight), rel=1e-6)
    for draw in range(2):
        assert of_draw(draw, 1e9) == pytest.approx(of_draw(draw, np.inf), rel=1e-6)


@pytest.mark.parametrize("p", [None, "1", 0.5, np.nan, [1]])
def test_an_order_that_is_none_is_refused_by_name(p):
    with pytest.raises(InputError, match="p must be at least 1"):
        of_draw(0, p)
    with pytest.raises(InputError, match="p must be a finite number of at least 1"):
        estimators.ece(Y_TRUE, Y_PROB, p=p)
