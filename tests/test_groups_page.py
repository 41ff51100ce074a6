"""The simulation of a report's three populations: its true values and the table on its page."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sites_head as simulation
from bayescal import scores

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "groups.md"
STORED = json.loads((simulation.RESULTS / "sites_head.json").read_text("utf-8"))
CELLS = {(cell["truth"], cell["hospitals"], cell["spread"]): cell for cell in STORED["cells"]}


def test_the_page_has_the_stored_results():
    assert simulation.page_table(STORED) in PAGE.read_text("utf-8")
    fewest = min(cell["runs"] for cell in STORED["cells"])
    assert f"{fewest} data sets a cell" in PAGE.read_text("utf-8")


def test_brier_of_equal_hospitals_is_held_as_often_as_by_the_plain_interval():
    plain = STORED["plain_brier"]
    own = CELLS[simulation.EQUAL, 12, 0.0]["mean"]["these.brier"]
    assert abs(own - plain["200"]) < 0.03
    assert plain["2000"] == pytest.approx(0.95, abs=0.015)
    assert f"{plain['200']:.3f} of the same 200 sets, and in {plain['2000']:.3f} of 2000" in (
        PAGE.read_text("utf-8")
    )


def test_the_next_hospital_is_hardly_called_close_enough_wrongly():
    false = [cell["mean"]["next.false_close"] for cell in CELLS.values() if cell["spread"] > 0]
    assert max(false) <= 0.05


def test_the_page_says_where_intervals_are_too_narrow():
    page = PAGE.read_text("utf-8")
    differ = {n: CELLS["calibrated", n, 0.4]["mean"] for n in (5, 12, 40)}
    oe = [f"{differ[n]['average.observed_expected'] + 1e-9:.2f}" for n in (5, 12)]
    tce = [f"{differ[n]['these.tce']:.2f}" for n in (12, 40)]
    assert f"O/E in {oe[0]} and {oe[1]} of the sets" in page
    assert f"these patients in {tce[0]} and {tce[1]} with" in " ".join(page.split())
    for name in ("these", "average", "next"):
        shares = [
            cell["mean"][f"{name}.{measure}"]
            for (truth, *_), cell in CELLS.items()
            if truth == "miscalibrated"
            for measure in ("observed_expected", "calibration_slope", "tce")
        ]
        assert f"{min(shares) + 1e-9:.2f} to {max(shares):.2f}" in page
    means = [
        [cell["mean"][f"these.{name}"] for (truth, *_), cell in CELLS.items() if truth != "equal"]
        for name in ("c_statistic", "brier", "net_benefit")
    ]
    lowest = ", ".join(f"{min(each):.2f}" for each in means[:2])
    assert f"in {lowest} and {min(means[2]):.2f} of the cell with the fewest" in page
    average = [f"{np.mean(each):.2f}" for each in means]
    assert f"{average[0]}, {average[1]} and {average[2]} of all" in " ".join(page.split())


def test_equal_calibrated_hospitals_are_called_close_enough():
    equal = CELLS[simulation.EQUAL, 12, 0.0]["mean"]
    assert equal["these.close"] >= 0.8
    assert equal["average.close"] >= 0.8


def test_true_values_are_those_of_outcomes_drawn_from_the_curve():
    rng = np.random.default_rng(1)
    risk = simulation.curve(np.array([[0.4, -0.3]]), simulation.LAW)[0]
    true = simulation.truth_of(risk)
    row = rng.integers(0, risk.size, 200_000)
    score = simulation.LAW[row]
    outcome = (rng.random(row.size) < risk[row]).astype(int)
    assert true["c_statistic"] == pytest.approx(scores.c_statistic(outcome, score), abs=4e-3)
    assert true["brier"] == pytest.approx(scores.brier_score(outcome, score), abs=2e-3)
    benefit = scores.net_benefit(outcome, score, simulation.THRESHOLD)
    assert true["net_benefit"] == pytest.approx(benefit, abs=2e-3)
    assert true["observed_expected"] == pytest.approx(outcome.mean() / score.mean(), abs=0.01)
    assert true["calibration_slope"] == pytest.approx(np.exp(-0.3), abs=1e-6)
