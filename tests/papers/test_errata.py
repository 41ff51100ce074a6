"""Misprints of the papers, computed; and quotations of the pages, compared with the papers."""

from __future__ import annotations

import os
import re
from pathlib import Path

import errata
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
