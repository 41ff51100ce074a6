"""Cases of a follow-up that are alike are one entry."""

from __future__ import annotations

import numpy as np
import pytest

from bayescal.data import follow_up
from bayescal.data.follow_up import FollowUp


def cases(n, late):
    """Rows, times, kinds, entries and weights of cases that are often alike."""
    rng = np.random.default_rng(n)
    time = rng.integers(1, 130, n) / 100
    entry = np.where(rng.random(n) < 0.5, 0, 0.5 * time) if late else None
    kind = rng.integers(0, 3, n).astype(np.int8)
    return rng.integers(0, 9, n), time, kind, entry, rng.uniform(0.5, 2, n)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("n", [1, 40, 30_000])
def test_counting_and_sorting_give_the_same_entries(monkeypatch, n, late):
    of_cases = cases(n, late)
    counted = FollowUp.of_cases(1.0, *of_cases)
    monkeypatch.setattr(follow_up, "MOST_KEYS_A_CASE", -1)
    sorted_ = FollowUp.of_cases(1.0, *of_cases)
    assert counted == sorted_
    np.testing.assert_array_equal(counted.weight, sorted_.weight)
    assert counted.weight.sum() == pytest.approx(of_cases[-1].sum())
    assert counted.row.dtype == counted.exit.dtype == sorted_.entry.dtype == np.intp
    order = np.lexsort((counted.kind, counted.exit, counted.entry, counted.row))
    np.testing.assert_array_equal(order, np.arange(order.size))
    rows = np.bincount(of_cases[0], of_cases[-1], 9)
    np.testing.assert_allclose(np.bincount(counted.row, counted.weight, 9), rows)
