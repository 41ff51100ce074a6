"""Draws of imputations, mixed: their variance, their order and what stays in its range."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayescal as bc
from bayescal.posterior.imputed import (
    between_factor,
    in_turn,
    missing_information,
    widened,
    widening_of,
)

SHAPES = st.tuples(st.integers(2, 30), st.integers(2, 40), st.integers(0, 2**32 - 1))


def drawn(shape):
    m, size, seed = shape
    rng = np.random.default_rng(seed)
    return rng.normal(rng.normal(0, 2, (m, 1)), 1, (m, size))


@given(SHAPES)
def test_the_mixture_has_rubins_total_variance(shape):
    values = drawn(shape)
    table = missing_information({"x": values}, "name").loc["x"]
    mixture = in_turn(widened(values))
    assert mixture.std() == pytest.approx(table["sd"], rel=1e-9)
    assert mixture.mean() == pytest.approx(values.mean(), abs=1e-9)


@given(SHAPES)
def test_distances_are_widened_by_a_factor_that_moves_their_centres_apart(shape):
    values = np.abs(drawn(shape)) + 0.01
    factor, centre = widening_of(values), values.mean(axis=1)
    further = np.sqrt((shape[0] + 1) / (shape[0] - 1))
    expected = centre.mean() * (centre / centre.mean()) ** further
    np.testing.assert_allclose((values * factor).mean(axis=1), expected)


@given(SHAPES)
def test_equal_imputations_are_left_alone(shape):
    one = drawn(shape)[0]
    same = np.stack([one] * 4)
    assert widened(same) == pytest.approx(same, abs=1e-12)
    assert widening_of(np.abs(same)) == pytest.approx(1)
    share = missing_information({"x": same}, "name").loc["x", "missing_information"]
    assert share == pytest.approx(0, abs=1e-9)


def test_a_functional_that_never_varies_misses_nothing():
    table = missing_information({"x": np.ones((3, 10))}, "name")
    assert table.loc["x", "missing_information"] == 0
    assert (widening_of(np.zeros((3, 10))) == 1).all()


@given(SHAPES)
def test_imputations_take_turns(shape):
    m, size, _ = shape
    number = np.repeat(np.arange(m)[:, None], size, axis=1)
    assert (in_turn(number)[: 2 * m] == np.tile(np.arange(m), 2)).all()


def test_the_factor_vanishes_with_many_imputations():
    factors = [between_factor(m) for m in (2, 5, 100)]
    assert factors == pytest.approx([3**0.5, 1.5**0.5, (101 / 99) ** 0.5])


def test_coordinates_are_those_that_all_imputations_have():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    post = bc.fit(y, imputation=[s, (5 * s).round(1) / 5], draws=200, random_state=1)
    names = [set(one.coordinates) for one in post.imputations]
    assert names[0] != names[1]
    assert set(post.coordinates) == names[0] & names[1]
    assert post.floor_and_ceiling().empty
