"""Every benchmark runs by itself, and stores what its page needs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import benchmark_pages

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"
FIELDS = {"asked", "version", "commit", "date", "machine", "seed", "tables"}
QUICKEST = {
    "coverage": ["by_size", "probabilities"],
    "structured": ["periods", "imputation"],
    "gain": ["given_maps"],
    "planning": ["clusters"],
    "speed": ["cold"],
    "papers": ["blasiok"],
}


def check(record: benchmark_pages.Record) -> None:
    """Every field is there, and every table has repeats and rows."""
    assert record.keys() == FIELDS
    assert record["tables"]
    for table in record["tables"].values():
        assert table.keys() == {"title", "note", "part", "repeats", "seconds", "rows"}
        assert table["repeats"] >= 2
        assert table["rows"]


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICKEST)
def test_a_benchmark_runs_by_itself(name: str, tmp_path: Path) -> None:
    output = tmp_path / "made.json"
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--quick", "--output", str(output)]
    subprocess.run([*command, "--only", *QUICKEST[name]], check=True, capture_output=True)
    record = json.loads(output.read_text("utf-8"))
    check(record)
    assert {table["part"] for table in record["tables"].values()} == set(QUICKEST[name])


@pytest.mark.parametrize("name", [*benchmark_pages.TITLES, "papers"])
def test_what_is_stored_fills_a_page(name: str) -> None:
    record = benchmark_pages.stored(name)
    check(record)
    text = benchmark_pages.tables(record)
    assert text.count("\n| --- |") == len(record["tables"])
    assert "nan" not in text


def test_cells_have_three_digits() -> None:
    shown = [benchmark_pages.shown(value) for value in (0.95, 12.345, 1234.5, 7, 0.0, 1e-9, None)]
    assert shown == ["0.950", "12.3", "1,234", "7", "0", "1.0e-09", ""]


def test_scores_of_intervals_punish_what_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FOLDER))
    import record

    assert record.judged((0.1, 0.3), 0.2) == pytest.approx(
        {"coverage": 1, "width": 0.2, "score": 0.2}
    )
    assert record.judged((0.1, 0.3), 0.35)["score"] == pytest.approx(0.2 + 40 * 0.05)
