"""The page on what is said of several sites at once, and what was measured."""

import site_doors_page
from benchmark_pages import stored

DOORS = stored("site_doors")["doors"]


def test_intervals_contain_the_truth_in_every_row():
    """Near .95, but for the chance of few data sets and for what the page says."""
    for door in ("gain", "optimism", "compare"):
        table = site_doors_page.covered(DOORS[door])
        assert table["data sets"].min() >= 25
        assert table["coverage"].min() >= 0.85
        assert table["coverage"].mean() >= 0.93
        assert table["coverage"].loc["next site"].min() >= 0.9


def test_two_models_on_the_same_patients_have_short_intervals():
    assert site_doors_page.covered(DOORS["compare"])["length"].max() < 0.6


def test_the_page_has_every_door_and_its_worst_row():
    page = site_doors_page.site_doors_page()
    for title in ("The gain of a recalibration", "Models that", "Two models", "Which update"):
        assert f"## {title}" in page
    lowest = site_doors_page.covered(DOORS["gain"])["coverage"].min()
    assert f"The lowest coverage is {lowest:.2f}" in page
    fewest = min(cell["runs"] for cells in DOORS.values() for cell in cells.values())
    assert f"with {fewest} data sets a row" in page
