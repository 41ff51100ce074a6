"""Draws that are spread evenly over what they are read for."""

import numpy as np
import pytest
from scipy import stats

from bayescal.core.arrays import by_group
from bayescal.core.sampling import even_choice, even_uniforms


def test_the_choice_keeps_the_joint_distribution_of_weighted_features():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(3, 4096))
    weights = rng.random(4096)
    share = weights / weights.sum()
    of = [points[0], points[1], points[0] * points[1], points[0] < -1.96, points[1] > 1]
    errors = []
    for seed in range(20):
        chosen = even_choice(points, weights, 500, np.random.default_rng(seed))
        assert chosen.shape == (500,)
        errors.append([values[chosen].mean() - share @ values for values in of])
    random = np.array([np.sqrt(share @ (v - share @ v) ** 2 / 500) for v in of])
    spread = np.sqrt((np.array(errors) ** 2).mean(axis=0))
    assert (spread < random * [0.3, 0.3, 0.5, 0.85, 0.5]).all()
    assert (np.abs(np.mean(errors, axis=0)) < random / 4).all()


def test_points_without_weight_are_never_chosen_and_equal_features_do_no_harm():
    features, weights = np.zeros((2, 6)), np.array([0.0, 1, 0, 2, 1, 0])
    chosen = even_choice(features, weights, 400, np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(chosen, minlength=6), [0, 100, 0, 200, 100, 0])


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_numbers_are_uniform_and_even_in_every_group_and_in_runs_of_it(axis):
    rng = np.random.default_rng(2)
    group = rng.integers(0, 3, 900)
    numbers = even_uniforms(by_group(group), rng, axis)
    assert ((numbers >= 0) & (numbers < 1)).all()
    for each in range(3):
        mine = numbers[group == each]
        for part in (mine, mine[:100], mine[100:200]):
            assert stats.kstest(part, "uniform").statistic < 5 / part.size
    order = by_group(group)
    first = [even_uniforms(order, np.random.default_rng(seed), axis)[0] for seed in range(400)]
    assert stats.kstest(first, "uniform").pvalue > 0.001


def test_numbers_of_two_axes_do_not_depend_on_each_other():
    group, rng = np.zeros(4000, dtype=np.intp), np.random.default_rng(3)
    pairs = [even_uniforms(by_group(group), rng, axis) for axis in (1, 2)]
    counts, *_ = np.histogram2d(*pairs, bins=10, range=[[0, 1], [0, 1]])
    assert np.abs(counts - 40).max() <= 10
