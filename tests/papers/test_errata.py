"""Misprints of the papers, computed; and quotations of the pages, compared with the papers."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import as_released as released
import errata
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "papers"
PAPERS = Path(os.environ.get("BAYESCAL_DATA") or ROOT.parent / "shared") / "papers"
QUOTED = re.compile(r'"([^"]{8,}?)"')


def letters(text: str) -> str:
    """Letters and digits alone, since a text made of a page has its own spaces and signs."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


@pytest.mark.parametrize("name", ["blasiok", "dong", "gruber", "torabian"])
def test_quotations_stand_in_the_paper(name: str) -> None:
    texts = sorted(PAPERS.glob(f"{name}*.txt"))
    if not texts:
        pytest.skip("the texts of the papers are no part of the package")
    paper = "".join(letters(path.read_text("utf-8")) for path in texts)
    page = re.sub(r"```.*?```", "", (PAGES / f"{name}.md").read_text("utf-8"), flags=re.DOTALL)
    quoted = QUOTED.findall(page)
    assert quoted
    assert [text for text in quoted if letters(text) not in paper] == []


def test_the_two_expressions_of_a_reflected_kernel_differ_at_the_ends_alone() -> None:
    numbers = errata.blasiok()
    inside = [numbers[f"equation 2 inside, {which}"] for which in ("first", "second")]
    assert inside[0] == pytest.approx(inside[1], rel=1e-12)
    first, second = (numbers[f"equation 2 at 0, {which}"] for which in ("first", "second"))
    assert second == pytest.approx(2 * first, rel=1e-12)
    assert f"{first:.4f} and {second:.4f}" in (PAGES / "blasiok.md").read_text("utf-8")


def test_the_derivative_of_the_logit_is_at_least_4() -> None:
    numbers = errata.blasiok()
    assert numbers["corollary 18, derivative at 1/2"] == pytest.approx(4, abs=1e-6)
    assert numbers["corollary 18, derivative at .01"] == pytest.approx(1 / 0.0099, rel=1e-4)
    printed = numbers["corollary 18, printed distance of .3 and .5"]
    meant = numbers["corollary 18, meant"]
    page = (PAGES / "blasiok.md").read_text("utf-8")
    assert f"{printed:.4f} for {meant:.4f}" in page
    assert numbers["lemma 23, integral of the kernel"] == pytest.approx(1)


def test_the_calibration_term_of_the_brier_score_is_a_square() -> None:
    numbers = errata.gruber()
    assert numbers["calibration term"] == pytest.approx(numbers["CE_2 squared"], rel=1e-12)
    page = (PAGES / "gruber.md").read_text("utf-8")
    assert f"{numbers['calibration term']:.4f}, and CE_2 is {numbers['CE_2']:.4f}" in page
    below = numbers["first line of equation 46, below .5"]
    above = numbers["second line of equation 46, from .5 on"]
    assert f"{below:g} is its false omission rate and {above:g} its precision" in page


def test_the_page_shows_the_tables_as_released() -> None:
    stored = json.loads(released.RESULTS.read_text("utf-8"))
    page = (PAGES / "dong.md").read_text("utf-8")
    assert released.shown_table_1(stored["table_1"]) in page
    assert released.shown_table_4(stored["table_4"]) in page
    assert f"{stored['table_1']['TPM'][2]:.5f}" == f"{released.PRINTED['TPM'][2]:.5f}"
    d2 = stored["table_4"]["D2"]
    assert abs(d2["mean"] - released.TABLE_4["D2"]) < 2 * d2["sd"] / stored["runs"] ** 0.5


def test_released_histograms_are_0_below_the_lowest_score_and_drop_the_last_bin() -> None:
    y, s = np.array([0, 1, 1, 1, 0, 0]), np.array([0.2, 0.3, 0.5, 0.6, 0.8, 0.9])
    at = np.array([0.1, 0.25, 0.55, 0.95])
    assert released.histogram(y, s, 3, at).tolist() == [0, 0.5, 1, 1]


@pytest.mark.slow
def test_rows_as_released_are_computed_again() -> None:
    if not released.CIFAR.is_file():
        pytest.skip("the logits are no part of the package")
    stored = json.loads(released.RESULTS.read_text("utf-8"))["table_1"]
    read = released.cases()["test"]
    assert released.errors(*read) == pytest.approx(stored["none"], abs=1e-6)
