"""The check of planned studies of times: its tables on the page, and its own simulation."""

from __future__ import annotations

import json

import numpy as np
import pytest

import planning_times as check
from planning_page import planning_page


def test_planned_studies_are_as_precise_as_planned():
    stored = json.loads(check.RESULTS.read_text("utf-8"))
    for row in stored["planned"]:
        assert row["reached"] == pytest.approx(check.ASSURANCE, abs=3 * 0.03)
        assert f"| {row['n']:,} |" in check.reached_table(stored)
    page = planning_page()
    assert check.reached_table(stored) in page
    assert check.riley_table(stored) in page
    for row in stored["riley"]:
        assert row["pseudo"] == pytest.approx(row["published"], rel=0.03)
        assert row["posterior"] < row["pseudo"]


def test_pseudo_values_are_those_of_leaving_each_case_out():
    rng = np.random.default_rng(1)
    time, event = rng.exponential(1, 40), rng.random(40) < 0.7

    def risk(kept):
        order = np.argsort(time[kept])
        counts = event[kept][order] & (time[kept][order] <= 1)
        return 1 - np.prod(np.where(counts, 1 - 1 / (kept.sum() - np.arange(kept.sum())), 1.0))

    every = np.ones(40, bool)
    expected = [40 * risk(every) - 39 * risk(np.arange(40) != k) for k in range(40)]
    np.testing.assert_allclose(check.pseudo_values(time, event, 1.0), expected, rtol=1e-9)


def test_the_slope_of_pseudo_values_is_that_of_the_truth():
    lp, time, event = check.riley_study(20_000, np.random.default_rng(2))
    slope, error = check.slope_error(lp, time, event)
    assert slope == pytest.approx(1, abs=3 * error)
    assert error * np.sqrt(20_000 / 4000) == pytest.approx(check.PUBLISHED[4000], rel=0.12)
    assert (event & (time <= 3)).mean() == pytest.approx(403 / 4000, rel=0.05)
