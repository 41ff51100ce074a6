"""The simulation of imputed outcomes: its true values and the table on its page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import imputed_outcomes as simulation

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "missing-outcomes.md"
STORED = json.loads((simulation.RESULTS / "imputed_outcomes.json").read_text("utf-8"))


def lowest(method: str) -> float:
    return min(row["covered"] for row in STORED["rows"] if row["method"] == method)


def test_the_page_has_the_stored_results() -> None:
    assert simulation.page_table(STORED) in PAGE.read_text("utf-8")
    assert {row["data_sets"] for row in STORED["rows"]} == {200}


def test_imputed_outcomes_cover_where_complete_cases_fail() -> None:
    assert lowest("20 imputations") >= 0.92
    assert lowest("complete cases") < 0.5
    assert lowest("one imputation") < 0.9


def test_true_values_are_those_of_many_patients() -> None:
    design, y, missing = simulation.patients(200_000, np.random.default_rng(1))
    score = 1 / (1 + np.exp(-design[:, 1]))
    true = simulation.true_values()
    assert abs(y.mean() / score.mean() - true["observed_expected"]) < 0.01
    assert abs(missing.mean() - 0.3) < 0.02
