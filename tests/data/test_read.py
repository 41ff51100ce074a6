"""The reader of outcomes and scores, from arrays and from tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bayescal.core.errors import InputError
from bayescal.data.read import read_cases
from bayescal.data.table import CalibrationData

Y, S = np.array([0.0, 1, 1, 0, 1]), np.array([0.2, 0.7, 0.7, 0.7, 0.9])


def sums(outcomes, scores, weights):
    """Cases and events at each distinct score."""
    weights = np.ones(scores.size) if weights is None else weights
    at = np.unique(scores)
    return [(s, weights[scores == s].sum(), (weights * outcomes)[scores == s].sum()) for s in at]


@pytest.mark.parametrize("needs", ["rows", "scores", "cases"])
def test_a_table_gives_the_cases_it_was_made_of(needs):
    read = read_cases(CalibrationData(Y, S), needs=needs).one
    assert sums(*read) == sums(Y, S, None)
    assert (read[2] is None) == (needs == "cases")


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0, 0.25, 0.5, 1])), min_size=1))
def test_cases_taken_apart_are_as_many_as_went_in(pairs):
    y, s = np.array(pairs, dtype=float).T
    outcomes, scores, weights = read_cases(CalibrationData(y, s), needs="cases").one
    assert weights is None
    assert sorted(zip(outcomes, scores, strict=True)) == sorted(zip(y, s, strict=True))


def test_sampling_weights_come_as_effective_cases():
    table = CalibrationData(Y, S, [0.5, 1, 1.5, 2, 2.5])
    assert read_cases(table).weights.sum() == pytest.approx(table.effective_size)
    with pytest.raises(InputError, match="sampling weights, which cannot be taken apart"):
        read_cases(table, needs="cases")


@pytest.mark.parametrize("needs", ["scores", "cases", "order"])
def test_a_table_on_the_grid_says_what_it_lacks(needs):
    rng = np.random.default_rng(1)
    scores = rng.random(3000)
    table = CalibrationData(rng.random(3000) < scores, scores)
    assert read_cases(table).weights.sum() == 3000
    reason = "keeps no order" if needs == "order" else "compressed to a grid of 2048 cells"
    with pytest.raises(InputError, match=reason):
        read_cases(table, needs=needs)


def test_groups_are_refused_with_the_cure():
    table = CalibrationData(Y, S, site=list("aabbb"))
    with pytest.raises(InputError, match=r"data.select\(site='a'\).*data.pooled"):
        read_cases(table)
    assert read_cases(table.pooled()).scores.size


@pytest.mark.parametrize("replicates", [False, True])
def test_nothing_stands_beside_a_table(replicates):
    table = CalibrationData(Y, S)
    with pytest.raises(InputError, match="y_prob was given beside a CalibrationData"):
        read_cases(table, S, replicates=replicates)
    with pytest.raises(InputError, match="sample_weight was given beside"):
        read_cases(table, sample_weight=np.ones(5), replicates=replicates)
    with pytest.raises(InputError, match="y_prob is missing"):
        read_cases(Y, replicates=replicates)


def test_leading_dimensions_are_replicates():
    batch = np.stack([[Y, 1 - Y, Y]] * 2)
    cases = read_cases(batch, S, [1, 0, 2, 1, 1]).counted()
    assert cases.shape == (2, 3)
    assert cases.outcomes.shape == (6, 4)
    assert cases.result(cases.outcomes @ cases.weight).shape == (2, 3)


@given(
    scores=hnp.arrays(np.float64, st.integers(1, 50), elements=st.floats(0, 1)),
    kind=st.sampled_from([bool, np.int8, np.int64, np.float32, np.float64]),
    seed=st.integers(0, 99),
)
def test_pairs_stay_as_they_are(scores, kind, seed):
    outcomes = np.random.default_rng(seed).integers(0, 2, scores.size).astype(kind)
    ranked = read_cases(outcomes, scores).ranked()
    order = np.lexsort((outcomes, scores))
    np.testing.assert_array_equal(ranked.scores, scores[order])
    np.testing.assert_array_equal(ranked.outcomes[0], outcomes[order])


def test_weighted_cases_and_several_sets_of_outcomes_keep_their_order():
    weighted = read_cases([0, 1], [0.9, 0.1], [1, 2])
    assert weighted.ranked() is weighted
    several = read_cases([[0, 1], [1, 1]], [0.9, 0.1])
    assert several.ranked() is several


@pytest.mark.parametrize("step", [2, -1])
def test_scores_that_are_a_view_of_others(step):
    scores = np.linspace(0, 1, 9)[::step]
    ranked = read_cases(np.arange(scores.size) % 2, scores).ranked()
    np.testing.assert_array_equal(ranked.scores, np.sort(scores))
