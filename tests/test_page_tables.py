"""Tables of pages that are written by hand are those of the stored results."""

from __future__ import annotations

import pytest

import page_tables


@pytest.mark.parametrize("table", page_tables.TABLES, ids=lambda table: "-".join(table[1:3][1]))
def test_pages_have_the_tables_of_the_stored_results(table: page_tables.Table) -> None:
    assert table.made() in (page_tables.DOCS / table.page).read_text("utf-8")


def test_a_table_is_replaced_as_a_whole_and_nothing_else() -> None:
    page = (
        "Before.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nAfter.\n\n| c |\n|---|\n| 5 |\n"
    )
    made = page_tables.in_page(page, "| a | b |\n|---|---|\n| 6 | 7 |")
    assert made == page.replace("| 1 | 2 |\n| 3 | 4 |", "| 6 | 7 |")
    assert page_tables.in_page(made, "| c |\n|---|\n| 8 |") == made.replace("5", "8")
    with pytest.raises(ValueError, match="0 tables begin with"):
        page_tables.in_page(page, "| d |\n|---|")
