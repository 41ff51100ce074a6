"""The simulation of performance without outcomes: its true values and the table on its page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import unlabelled_coverage as simulation
import unlabelled_rivals as rivals
from bayescal import scores

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "monitor.md"
STORED = json.loads((simulation.RESULTS / "unlabelled_coverage.json").read_text("utf-8"))


def test_the_page_has_the_stored_results():
    assert simulation.page_table(STORED) in PAGE.read_text("utf-8")
    assert {row["data_sets"] for row in STORED["rows"]} == {200}
    assert "200 data sets a cell" in PAGE.read_text("utf-8")


def test_the_page_has_nannyml_on_the_same_sets():
    theirs = json.loads((simulation.RESULTS / "unlabelled_rivals.json").read_text("utf-8"))
    page = PAGE.read_text("utf-8")
    assert rivals.page_table(theirs, STORED) in page
    assert {row["data_sets"] for row in theirs["rows"]} == {200}
    assert f"NannyML {theirs['versions']['nannyml']}" in page


def test_intervals_cover_where_the_assumption_holds_and_not_where_it_fails():
    def lowest(setting, analysis):
        return min(
            row["covered"]
            for row in STORED["rows"]
            if (row["setting"], row["analysis"]) == (setting, analysis)
        )

    assert lowest("the curve is unchanged", "one curve") >= 0.92
    assert lowest("another hospital", 'new("site")') >= 0.92
    assert lowest("another hospital", "one curve") < 0.6
    assert lowest("the curve has risen by 0.3", "one curve") < 0.5


def test_true_values_are_those_of_the_outcomes():
    *_, later, risk, outcome = simulation.study("the curve is unchanged", 300, 0)
    true = simulation.true_performance(outcome, later)
    assert true["c_statistic"] == pytest.approx(scores.c_statistic(outcome, later))
    assert true["brier"] == pytest.approx(scores.brier_score(outcome, later))
    assert true["accuracy"] == pytest.approx(np.mean((later >= 0.3) == (outcome == 1)))
    assert true["net_benefit"] == pytest.approx(scores.net_benefit(outcome, later, 0.3))
    expected = simulation.true_performance(risk, later)
    assert abs(expected["accuracy"] - true["accuracy"]) < 0.04


def test_one_run_gives_a_row_for_each_number():
    rows = list(simulation.one("the curve is unchanged", 300, 0))
    assert len(rows) == 2 * len(simulation.MEASURES)
    assert all(row["width"] > 0 for row in rows)
