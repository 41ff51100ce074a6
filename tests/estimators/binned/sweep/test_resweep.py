"""The number of bins that keep their order, of many weightings at once and of each alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescal.estimators import sweep, sweep_bins
from bayescal.estimators.sweep import numbers_of_weightings


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    rows=st.integers(1, 60),
    decimals=st.sampled_from([1, 2, 9]),
    most=st.sampled_from([1, 3, 40]),
    width=st.booleans(),
    split=st.booleans(),
)
def test_many_weightings_give_the_numbers_of_each(
    seed: int, rows: int, decimals: int, most: int, width: bool, split: bool
) -> None:
    rng = np.random.default_rng(seed)
    scores = np.sort(rng.random(rows).round(decimals))
    outcomes = (rng.random(rows) < scores).astype(float)
    weights = rng.integers(0, most + 1, (8, rows)).astype(float)
    weights[:, 0] += weights.sum(axis=1) == 0
    numbers = numbers_of_weightings(scores, outcomes, weights, width=width, split=split)
    options = {"binning": "width" if width else "rank", "ties": "split" if split else "together"}
    for row, number in zip(weights.astype(int), numbers, strict=True):
        repeated = np.repeat(outcomes, row), np.repeat(scores, row)
        assert number == sweep_bins(*repeated, **options)


@pytest.mark.parametrize("tried", [(2, 3), (2, 4, 5), (2, 60)])
def test_how_many_are_tried_at_once_does_not_show(
    tried: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    scores = np.sort(rng.random(300))
    outcomes = (rng.random(300) < scores).astype(float)
    weights = rng.multinomial(300, np.full(300, 1 / 300), 50).astype(float)
    options = {"width": False, "split": False}
    before = numbers_of_weightings(scores, outcomes, weights, **options)
    monkeypatch.setattr(sweep, "TRIED", tried)
    np.testing.assert_array_equal(
        numbers_of_weightings(scores, outcomes, weights, **options), before
    )
    assert before.min() < 4 < before.max()
