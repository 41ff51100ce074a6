"""What an estimator says of its cost agrees with what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bayescal.estimators  # noqa: F401, fills the register
from bayescal.estimators.registry import ESTIMATORS

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "results"
if not FOLDER.is_dir():
    pytest.skip("the benchmarks are not part of this distribution", allow_module_level=True)

MOST_SORTS, MOST_COPIES, SOME, LARGEST = 1, 2, 1_000_000, 10_000_000
CLEARLY = 0.8
RUN = json.loads((FOLDER / "estimator_cost.json").read_text("utf-8"))
ROWS = {(row["name"], row["n"], row["type"]): row for row in RUN["rows"]}
SINGLE = ("ece", "mce", "ace", "debiased_ece", "smooth_ece", "ks_error", "kuiper_error")
TYPES = ("float64", "float32", "widened")

of_one_run = pytest.mark.skipif(
    not RUN.get("finished"), reason="the stored results are not of one run that ended"
)


def above(row: dict[str, Any], share: float = 1) -> bool:
    """Whether it took more than this share of what needs no reason, or was stopped."""
    return (
        row["sorts"] is None
        or row["sorts"] > share * MOST_SORTS
        or row["copies"] > share * MOST_COPIES
    )


def test_every_estimator_was_measured() -> None:
    assert {name for name, _, _ in ROWS} == set(ESTIMATORS)


@of_one_run
def test_every_estimator_was_measured_at_every_size_and_type() -> None:
    cells = [(SOME, kind) for kind in TYPES] + [(LARGEST, "float64")]
    assert set(ROWS) == {(name, *cell) for name in ESTIMATORS for cell in cells}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_takes_long_or_much_memory_says_why(name: str) -> None:
    row = ROWS.get((name, LARGEST, "float64"))
    assert row is None or ESTIMATORS[name].dear or not above(row)


@of_one_run
@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_takes_little_gives_no_reason(name: str) -> None:
    assert above(ROWS[name, LARGEST, "float64"], CLEARLY) or not ESTIMATORS[name].dear


@of_one_run
@pytest.mark.parametrize("name", SINGLE)
def test_scores_of_32_bits_take_no_more_memory_than_widened_ones(name: str) -> None:
    single, widened = (
        row["input"] + row["bytes"]
        for row in (ROWS[name, SOME, "float32"], ROWS[name, SOME, "widened"])
    )
    assert single <= widened
