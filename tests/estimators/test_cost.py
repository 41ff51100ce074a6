"""What an estimator says of its cost agrees with what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bayescal.estimators  # noqa: F401, fills the register
from bayescal.estimators.registry import ESTIMATORS

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "results"
if not FOLDER.is_dir():
    pytest.skip("the benchmarks are not part of this distribution", allow_module_level=True)

MOST_SORTS, MOST_COPIES, LARGEST = 3, 2, 10_000_000
ROWS = json.loads((FOLDER / "estimator_cost.json").read_text("utf-8"))["rows"]


def test_every_estimator_was_measured() -> None:
    assert {row["name"] for row in ROWS} == set(ESTIMATORS)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_takes_long_or_much_memory_says_why(name: str) -> None:
    dear = [
        row["sorts"] is None or row["sorts"] > MOST_SORTS or row["copies"] > MOST_COPIES
        for row in ROWS
        if (row["name"], row["n"], row["type"]) == (name, LARGEST, "float64")
    ]
    assert ESTIMATORS[name].dear or not any(dear)
