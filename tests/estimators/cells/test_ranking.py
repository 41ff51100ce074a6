"""The probabilistic tau: the paper's numbers, a loop over pairs, and Kendall's tau without ties."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau

from bayescal import CalibrationData
from bayescal.errors import InputError
from bayescal.estimators import probabilistic_kendall_tau
from bayescal.scores import c_statistic

LEVELS = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.8, 1.0])
VALUES = st.integers(2, 30).flatmap(lambda n: st.tuples(*[arrays(float, n, elements=LEVELS)] * 2))


def by_pairs(truth, scores):
    pairs = list(itertools.permutations(range(len(scores)), 2))
    discordant = sum((truth[i] - truth[j]) * (scores[i] - scores[j]) < 0 for i, j in pairs)
    return 1 - 2 * discordant / len(pairs)


@pytest.mark.parametrize(
    ("of_a", "before", "after"),
    [((0.1, 0.1, 0.1, 1), 5 / 7, 1 / 7), ((0.1, 0.3, 0.3, 1), 1 / 7, 5 / 7)],
)
def test_observation_9(of_a, before, after):
    """Average labels order two cells of four points worse than the scores did, or better."""
    truth, scores = np.array([*of_a, 0.2, 0.2, 0.2, 0.2]), np.repeat([0.4, 0.6], 4)
    averaged = np.repeat([np.mean(of_a), 0.2], 4)
    assert probabilistic_kendall_tau(truth, scores) == pytest.approx(before)
    assert probabilistic_kendall_tau(truth, averaged) == pytest.approx(after)


@given(VALUES)
def test_is_a_loop_over_pairs(values):
    truth, scores = values
    assert probabilistic_kendall_tau(truth, scores) == pytest.approx(by_pairs(truth, scores))


@given(VALUES)
def test_it_is_symmetric_and_keeps_under_rising_maps_and_relabelling(values):
    truth, scores = values
    known = probabilistic_kendall_tau(truth, scores)
    for others in (
        (scores, truth),
        (truth**2 / 2, scores),
        (truth, scores**3),
        (1 - truth, 1 - scores),
        (truth[::-1], scores[::-1]),
    ):
        assert probabilistic_kendall_tau(*others) == pytest.approx(known)


@pytest.mark.parametrize("n", [2, 3, 50, 1000])
def test_without_ties_it_is_kendalls_tau(n):
    rng = np.random.default_rng(n)
    truth, scores = rng.random((2, n))
    known = kendalltau(truth, scores).statistic
    assert probabilistic_kendall_tau(truth, scores) == pytest.approx(known)


def test_the_tau_of_a_sample_by_the_c_statistic():
    rng = np.random.default_rng(3)
    scores = rng.random(300)
    outcomes = (rng.random(300) < scores).astype(int)
    m, wrong = outcomes.sum(), 1 - c_statistic(outcomes, scores)
    expected = 1 - 4 * m * (300 - m) * wrong / (300 * 299)
    assert probabilistic_kendall_tau(outcomes, scores) == pytest.approx(expected)
    assert probabilistic_kendall_tau(CalibrationData(outcomes, scores)) == pytest.approx(expected)
    assert probabilistic_kendall_tau(scores, scores) == 1
    assert probabilistic_kendall_tau(1 - scores, scores) == -1


def test_other_truths_at_the_same_scores():
    rng = np.random.default_rng(5)
    truths, scores = rng.random((2, 3, 40)).round(1), rng.random(40).round(1)
    actual = probabilistic_kendall_tau(truths, scores)
    assert actual.shape == (2, 3)
    for index in np.ndindex(2, 3):
        assert actual[index] == pytest.approx(probabilistic_kendall_tau(truths[index], scores))


@pytest.mark.parametrize(
    ("truth", "scores", "message"),
    [
        ([1], [0.2], "a pair takes two"),
        ([0.2, 1.3], [0.2, 0.4], r"truth\[1\] = 1.3 is outside"),
        ([0.2, np.nan], [0.2, 0.4], r"truth\[1\].*missing"),
        ([0.2, 0.3, 0.4], [0.2, 0.4], "truth has 3 observations but y_prob has 2"),
        (np.zeros((2, 3)), [0.2, 0.4], "the last axis of truth has 3"),
        ([0.2, 0.3], None, "y_prob is missing"),
    ],
)
def test_refuses(truth, scores, message):
    with pytest.raises(InputError, match=message):
        probabilistic_kendall_tau(truth, scores)
