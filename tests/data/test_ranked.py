"""Cases by ascending score, scores and outcomes in one sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bayescal.data.read import read_cases


@given(
    scores=hnp.arrays(np.float64, st.integers(1, 50), elements=st.floats(0, 1)),
    kind=st.sampled_from([bool, np.int8, np.int64, np.float32, np.float64]),
    seed=st.integers(0, 99),
)
def test_pairs_stay_as_they_are(scores: np.ndarray, kind: type, seed: int) -> None:
    outcomes = np.random.default_rng(seed).integers(0, 2, scores.size).astype(kind)
    ranked = read_cases(outcomes, scores).ranked()
    order = np.lexsort((outcomes, scores))
    np.testing.assert_array_equal(ranked.scores, scores[order])
    np.testing.assert_array_equal(ranked.outcomes[0], outcomes[order])


def test_weighted_cases_and_several_sets_of_outcomes_keep_their_order() -> None:
    weighted = read_cases([0, 1], [0.9, 0.1], [1, 2])
    assert weighted.ranked() is weighted
    several = read_cases([[0, 1], [1, 1]], [0.9, 0.1])
    assert several.ranked() is several


@pytest.mark.parametrize("step", [2, -1])
def test_scores_that_are_a_view_of_others(step: int) -> None:
    scores = np.linspace(0, 1, 9)[::step]
    ranked = read_cases(np.arange(scores.size) % 2, scores).ranked()
    np.testing.assert_array_equal(ranked.scores, np.sort(scores))
