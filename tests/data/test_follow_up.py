"""Cases of a follow-up that are alike are one entry."""

from __future__ import annotations

import numpy as np
import pytest

import bayescal as bc
from bayescal.data import rows
from bayescal.data.times import FollowUp


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("n", [1, 40, 30_000])
def test_counting_and_sorting_give_the_same_entries(monkeypatch, n, late):
    rng = np.random.default_rng(n)
    time = rng.integers(1, 130, n) / 100
    entry = np.where(rng.random(n) < 0.5, 0, 0.5 * time) if late else None
    outcome = bc.Survival(time, rng.integers(0, 3, n), entry, cause=1)
    row, weight = rng.integers(0, 9, n), rng.uniform(0.5, 2, n)
    cases = FollowUp.of_cases(outcome, 1.0, weight)
    counted = cases.in_rows(row)
    monkeypatch.setattr(rows, "MOST_KEYS_A_VALUE", -1)
    sorted_ = cases.in_rows(row)
    assert counted == sorted_
    np.testing.assert_array_equal(counted.weight, sorted_.weight)
    assert counted.weight.sum() == pytest.approx(weight.sum())
    assert counted.row.dtype == counted.exit.dtype == sorted_.entry.dtype == np.intp
    order = np.lexsort((counted.kind, counted.exit, counted.entry, counted.row))
    np.testing.assert_array_equal(order, np.arange(order.size))
    np.testing.assert_allclose(
        np.bincount(counted.row, counted.weight, 9), np.bincount(row, weight, 9)
    )
