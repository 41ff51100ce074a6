"""Quotations of the pages stand in the papers."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "papers"
PAPERS = Path(os.environ.get("BAYESCAL_DATA") or ROOT.parent / "shared") / "papers"
QUOTED = re.compile(r'"([^"]{8,}?)"')


def letters(text):
    """Letters and digits alone, since a text made of a page has its own spaces and signs."""
    return re.sub(r"[^a-z0-9]", "", text.lower())


@pytest.mark.parametrize("name", ["blasiok", "dong", "gruber", "torabian"])
def test_quotations_stand_in_the_paper(name):
    texts = sorted(PAPERS.glob(f"{name}*.txt"))
    if not texts:
        pytest.skip("the texts of the papers are no part of the package")
    paper = "".join(letters(path.read_text("utf-8")) for path in texts)
    page = re.sub(r"```.*?```", "", (PAGES / f"{name}.md").read_text("utf-8"), flags=re.DOTALL)
    quoted = QUOTED.findall(page)
    assert quoted
    assert [text for text in quoted if letters(text) not in paper] == []
