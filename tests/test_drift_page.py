"""The simulated series of the page of drift, and what their results say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import drift_now
from bayescal.assessment.text.drift import LEAST_PROBABILITY, LIKELY
from benchmark_pages import stored
from drift_page import drift_page

DOCS = Path(__file__).resolve().parents[1] / "docs"


def test_paths_are_what_their_names_say():
    np.testing.assert_array_equal(drift_now.jump(2, 1), [0, 0, 0.5])
    assert drift_now.slow()[[0, -1]].tolist() == [0, 0.4]
    assert np.abs(drift_now.wave()).max() == pytest.approx(0.3)
    np.testing.assert_allclose(drift_now.wave()[:12], drift_now.wave()[12:], atol=1e-12)


def test_the_true_value_is_that_of_the_last_months_patients():
    path = np.array([0.0, 1.0])
    outcome, score, month, true = drift_now.series(3, path, patients=40_000)
    assert true == pytest.approx(outcome[month == 1].mean() / score[month == 1].mean(), rel=0.02)
    assert score.mean() == pytest.approx(outcome[month == 0].mean(), rel=0.03)


class Told:
    """An interval, whatever it is asked for."""

    def __init__(self, *ends: float) -> None:
        self.ends = ends

    def interval(self, name: str, population: str) -> tuple[float, ...]:
        assert (name, population) == ("observed_expected", "sample")
        return self.ends


@pytest.mark.parametrize(
    ("ends", "covered", "missed"), [((0.5, 2), 1, 0), ((1.25, 2), 0, 0.223), ((0.4, 0.8), 0, 0.223)]
)
def test_a_miss_costs_its_distance(ends, covered, missed):
    row = drift_now.judged(Told(*ends), 1.0)
    assert row["covered"] == covered
    assert row["width"] == pytest.approx(np.log(ends[1] / ends[0]))
    assert row["score"] == pytest.approx(row["width"] + 40 * missed, abs=0.02)


def test_the_results_cover_after_a_change_and_are_on_the_page():
    record = stored("drift_now")
    page = drift_page()
    assert all(f"| {key} |" in page for key, cell in record.items() if "alone" in cell)
    for months in (1, 2):
        cells = [
            record[f"jump of 0.5, {before} months before, {months} after"] for before in (6, 11)
        ]
        series = sum(cell["runs"] for cell in cells)
        covered = sum(cell["runs"] * cell["now"]["covered"] for cell in cells) / series
        former = np.mean([cell["former"]["covered"] for cell in cells])
        assert series >= 400
        assert covered > former + 0.05
        assert covered > (0.75, 0.8)[months - 1]
    still = record["no change, 12 months"]
    assert still["now"]["covered"] > 0.92
    assert still["now"]["width"] < still["alone"]["width"]


def test_the_month_of_a_change_is_placed_as_often_as_is_stated():
    cells = {key: cell for key, cell in stored("drift").items() if key.startswith("sudden")}
    assert len({key.partition("month")[2] for key in cells}) == 3
    for key, cell in cells.items():
        for placed, told in (
            ("placed", "stated"),
            ("placed_most_probable", "stated_most_probable"),
            ("largest_step", "stated_largest_step"),
        ):
            error = (cell[told] * (1 - cell[told]) / cell["runs"]) ** 0.5
            assert cell[placed] >= cell[told] - 2 * error, (key, placed)


def test_months_are_named_by_the_rule_that_was_measured():
    page = " ".join((DOCS / "how-to" / "drift.md").read_text("utf-8").split())
    record = stored("drift")
    assert all(cell["rule"] == [LIKELY, LEAST_PROBABILITY] for cell in record.values())
    none = [100 * cell["named_if_sudden"] for key, cell in record.items() if key.startswith("none")]
    assert f"a month was named in {min(none):.0f} % to {max(none):.0f} %." in page
    small = [cell for key, cell in record.items() if key.startswith("sudden, 0.4")]
    named = [100 * cell["named_if_sudden"] for cell in small]
    assert f"one was named in {min(named):.0f} % to {max(named):.0f} %" in page
    right = [100 * cell["right_if_sudden"] / cell["named_if_sudden"] for cell in small]
    assert f"within one of the truth in {min(right):.0f} % to {max(right):.0f} % of these" in page
    assert "## When a month is named" in drift_page()


def test_the_page_on_drift_quotes_the_stored_numbers():
    page = " ".join((DOCS / "how-to" / "drift.md").read_text("utf-8").split())
    small = [cell for key, cell in stored("drift").items() if key.startswith("sudden, 0.4")]
    (large,) = [cell for key, cell in stored("drift").items() if key.startswith("sudden, 0.8")]
    for name, words in {"placed": "within one month in", "oracle": "placed it there in"}.items():
        shares = [100 * cell[name] for cell in small]
        assert f"{words} {min(shares):.0f} % to {max(shares):.0f} %" in page
    stated = [cell["stated"] for cell in small]
    ends = f"{min(stated):.2f} to {max(stated):.2f}"
    assert f"the largest `within_one` was {ends} on average" in page
    assert f"of 0.8 was placed within one month in {100 * large['placed']:.0f} %" in page

    right = [100 * cell["largest_step"] for cell in small]
    told = [cell["stated_largest_step"] for cell in small]
    assert f"in {min(right):.0f} % to {max(right):.0f} % of the years" in page
    assert f"its `prob` was {min(told):.2f} to {max(told):.2f} on average" in page

    record = stored("drift_now")
    for months, words in {1: "series one month after", 2: "two months after"}.items():
        cells = [record[f"jump of 0.5, {n} months before, {months} after"] for n in (6, 11)]
        covered, alone = (
            100 * np.mean([cell[who]["covered"] for cell in cells]) for who in ("now", "alone")
        )
        assert f"in {covered:.0f} % {'of 800 simulated ' if months == 1 else ''}{words}" in page
        assert f"(The last month fitted by itself: {alone:.0f} %.)" in page
    slow, still = record["slow, to 0.4 in 12 months"], record["no change, 12 months"]
    assert f"covered in {100 * slow['now']['covered']:.0f} % of {slow['runs']} series" in page
    assert f"covered in {100 * still['now']['covered']:.0f} % of {still['runs']} series" in page
    none = stored("drift")["none, calibrated"]
    twice = none["now_observed_expected_width"] / none["single_observed_expected_width"]
    assert twice == pytest.approx(2, abs=0.2)
    assert "It was about twice as wide as that of one curve for all months" in page
    narrower = 1 - still["now"]["width"] / still["alone"]["width"]
    assert f"and {narrower:.0%} narrower".replace("%", " %") in page
