"""The simulation of judged outcomes: its true values, its judge and the table on its page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

import judged_coverage as simulation

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "judged-outcomes.md"
STORED = json.loads((simulation.RESULTS / "judged_coverage.json").read_text("utf-8"))


def test_the_page_has_the_stored_results():
    assert simulation.page_table(STORED) in PAGE.read_text("utf-8")
    assert min(row["data_sets"] for row in STORED["rows"]) >= 100
    assert {row["cases"] for row in STORED["rows"]} == set(simulation.SIZES)


def test_the_judge_records_as_often_as_it_should():
    recorded, score, judge = simulation.study("calibrated", 200_000, 0)
    expected = 0.05 + 0.85 * score
    assert recorded.mean() == pytest.approx(expected.mean(), abs=0.005)
    high = score > 0.6
    assert recorded[high].mean() == pytest.approx(expected[high].mean(), abs=0.01)
    assert judge.sensitivity[1] == simulation.VALIDATED


def test_true_values_are_those_of_the_law_of_scores():
    true = simulation.true_values("calibrated")
    assert true["tce"] == pytest.approx(0, abs=1e-12)
    assert true["calibration_slope"] == pytest.approx(1, abs=1e-6)
    assert true["curve at 0.3"] == pytest.approx(0.3)
    assert expit(simulation.MEAN) < np.mean(simulation.study("calibrated", 100_000, 1)[1])
