"""Every benchmark runs by itself, and stores what its page needs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import benchmark_pages

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"
FIELDS = {"asked", "version", "commit", "date", "machine", "seed", "tables"}
QUICKEST = {
    "claim": ("by_size", "it.SIZES, it.KINDS = (50,), it.KINDS[:2]"),
    "coverage": ("by_size probabilities", "it.SIZES, it.KINDS = (100,), it.KINDS[:2]"),
    "structured": ("imputation times", "it.TIMES = it.TIMES[:1]"),
    "gain": ("recommended", "it.SIZES, it.KINDS = (100,), it.KINDS[:2]"),
    "planning": ("clusters", "it.CLUSTERED = it.CLUSTERED[:1]"),
    "speed": ("cold", "it.STARTS = {'interpreter': ['-c', 'pass']}"),
    "papers": ("blasiok", "it.os.environ['BAYESCAL_DATA'] = 'nowhere'"),
}
"""Parts that are tried, and what makes them small."""


def check(record):
    """Every field is there, and every table has repeats and rows."""
    assert record.keys() == FIELDS
    assert record["tables"]
    for table in record["tables"].values():
        assert table.keys() == {"title", "note", "part", "repeats", "seconds", "rows"}
        assert table["repeats"] >= 1
        assert table["rows"]


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICKEST)
def test_a_benchmark_stores_what_its_page_needs(name, tmp_path):
    output, (parts, smaller) = tmp_path / "made.json", QUICKEST[name]
    arguments = ["--quick", "--output", str(output), "--only", *parts.split()]
    code = f"import {name} as it\n{smaller}\nit.main({arguments!r})"
    ran = subprocess.run([sys.executable, "-c", code], cwd=FOLDER, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    record = json.loads(output.read_text("utf-8"))
    check(record)
    assert {table["part"] for table in record["tables"].values()} == set(parts.split())


@pytest.mark.parametrize("name", [*benchmark_pages.TITLES, "papers"])
def test_what_is_stored_fills_a_page(name):
    record = benchmark_pages.stored(name)
    check(record)
    text = benchmark_pages.tables(record)
    assert text.count("\n| --- |") == len(record["tables"])
    assert "nan" not in text


def test_cells_have_three_digits():
    shown = [benchmark_pages.shown(value) for value in (0.95, 12.345, 1234.5, 7, 0.0, 1e-9, None)]
    assert shown == ["0.950", "12.3", "1,234", "7", "0", "1.0e-09", ""]


def test_scores_of_intervals_punish_what_is_missed(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    import record

    assert record.judged((0.1, 0.3), 0.2) == pytest.approx(
        {"coverage": 1, "width": 0.2, "score": 0.2}
    )
    assert record.judged((0.1, 0.3), 0.35)["score"] == pytest.approx(0.2 + 40 * 0.05)
