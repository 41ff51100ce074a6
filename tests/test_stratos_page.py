"""The simulation of whom a threshold selects: its true values and the table on its page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import classification_coverage as simulation

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "stratos.md"
STORED = json.loads((simulation.RESULTS / "classification_coverage.json").read_text("utf-8"))


def test_the_page_has_the_stored_results():
    assert simulation.page_table(STORED) in PAGE.read_text("utf-8")
    table = pd.DataFrame(STORED["rows"])
    assert set(table["data_sets"]) == {200}
    assert table["covered"].mean() == pytest.approx(0.96, abs=0.005)
    assert table["covered"].min() == pytest.approx(0.90)


@pytest.mark.parametrize("setting", simulation.SETTINGS)
def test_true_values_are_those_of_many_outcomes(setting):
    mean, intercept, slope = simulation.SETTINGS[setting]
    rng = np.random.default_rng(1)
    x = rng.normal(mean, simulation.SPREAD, 400_000)
    event = rng.random(x.size) < 1 / (1 + np.exp(-intercept - slope * x))
    reach = 1 / (1 + np.exp(-x)) >= 0.3
    true = simulation.true_classification(setting, 0.3)
    assert true["treated"] == pytest.approx(reach.mean(), abs=0.005)
    assert true["sensitivity"] == pytest.approx(reach[event].mean(), abs=0.01)
    assert true["specificity"] == pytest.approx((~reach)[~event].mean(), abs=0.005)
    assert true["ppv"] == pytest.approx(event[reach].mean(), abs=0.015)
    assert true["npv"] == pytest.approx((~event)[~reach].mean(), abs=0.005)


def test_one_data_set_gives_a_row_for_each_number():
    rows = list(simulation.one("right", 300, 0))
    assert len(rows) == len(simulation.THRESHOLDS) * len(simulation.CLASSIFIED)
    assert all(abs(row["error"]) < 0.3 for row in rows)
