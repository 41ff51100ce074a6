"""Pages of the documentation that are made from the package, and numbers stored beside them."""

import importlib
import json
import re
import sys
from itertools import chain
from pathlib import Path

import pytest

from bayescal.estimators.registry import ESTIMATORS

DOCS = Path(__file__).resolve().parents[1] / "docs"


@pytest.fixture
def docs(monkeypatch):
    """Imports a module of the documentation's folder."""
    monkeypatch.syspath_prepend(str(DOCS / "_scripts"))

    def load(name):
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    return load


def test_every_estimator_stands_in_the_table_once_under_a_heading(docs):
    page = docs("estimator_table")
    rows = [line for line in page.text().splitlines() if "{py:obj}" in line]
    named = [re.search(r"<bayescal\.estimators\.(\w+)>", line).group(1) for line in rows]
    assert sorted(named) == sorted(ESTIMATORS)
    assert page.OTHERS not in page.grouped(), "sort the new estimator under a heading"
    assert set(chain.from_iterable(page.GROUPS.values())) <= set(ESTIMATORS)
    for line in rows:
        assert line.count("|") == 6


def test_the_stored_numbers_are_what_the_package_computes(docs, shared_data):
    maker = docs("make_same_numbers")
    stored = json.loads(maker.STORED.read_text("utf-8"))
    again = maker.compared(shared_data)
    assert [source["source"] for source in stored] == [source["source"] for source in again]
    for old, new in zip(stored, again, strict=True):
        assert old["n"] == new["n"]
        for before, now in zip(old["numbers"], new["numbers"], strict=True):
            assert (before["quantity"], before["printed"]) == (now["quantity"], now["printed"])
            assert before["ours"] == pytest.approx(now["ours"], rel=1e-6, abs=1e-10)


def test_only_numbers_of_an_optimiser_that_stops_early_differ(docs):
    page = docs("same_numbers_page")
    differing = {
        source["source"]: [number for number in source["numbers"] if not page.is_same(number)]
        for source in json.loads(page.STORED.read_text("utf-8"))
    }
    assert {source.split(",")[0] for source, numbers in differing.items() if numbers} == {"BRcal"}
    for numbers in differing.values():
        for number in numbers:
            assert float(number["printed"]) == pytest.approx(number["ours"], rel=3e-3)
            if number["quantity"] == "likelihood ratio":
                assert number["ours"] > float(number["printed"]), "ours is the better maximum"


def test_the_page_for_readers_from_r_counts_the_equal_numbers(docs):
    page = docs("same_numbers_page")
    sources = json.loads(page.STORED.read_text("utf-8"))
    same = [page.is_same(number) for source in sources for number in source["numbers"]]
    text = " ".join((DOCS / "r-users.md").read_text("utf-8").split())
    assert f"{len(same)} numbers printed by R packages are compared" in text
    assert f"{sum(same)} are equal to the last printed digit" in text
    assert f"the other {len(same) - sum(same)} are explained" in text
