"""The simulation of times to an event: the table on its page, and its true values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import bayescal as bc
import survival_causes as causes
import survival_consistency as checks
import survival_cost as costs
import survival_coverage as simulation
import survival_edges as edges
import survival_gain as gains
import survival_leaving as leaving
import survival_second_opinions as others
import survival_sites as sites
import survival_twins as twins

PAGE = Path(__file__).resolve().parents[1] / "docs" / "how-to" / "time-to-event.md"
STORED = json.loads((simulation.RESULTS / "survival_coverage.json").read_text("utf-8"))


def test_the_page_has_the_stored_results():
    page = PAGE.read_text("utf-8")
    assert simulation.page_table(STORED) in page
    (sets,) = {row["data_sets"] for row in STORED["rows"]}
    assert f"of {sets} simulated data sets" in page
    assert {row["cases"] for row in STORED["rows"]} == set(simulation.SIZES)


def test_the_page_has_the_stored_costs():
    rows = json.loads((costs.RESULTS / "survival_cost.json").read_text("utf-8"))["rows"]
    page = PAGE.read_text("utf-8")
    assert costs.page_table({"rows": rows}) in page
    assert {row["cases"] for row in rows} == set(costs.SIZES)
    line = [row["logistic"] for row in rows]
    assert f"a fit of `logistic` {min(line):.0f} to {max(line):.0f} times as" in page
    largest = [row for row in rows if row["cases"] == max(costs.SIZES)]
    assert all(3.5 < row["average"] < 4.5 for row in largest)  # "about four fits"
    twice = [[row["seconds"] for row in rows if row["cases"] == n] for n in (1000, 1_000_000)]
    assert 1.3 < np.mean(twice[1]) / np.mean(twice[0]) < 2.5


def test_the_risk_by_the_horizon_is_the_true_curve():
    cell = simulation.CELLS[0]
    x, time, event, _ = simulation.simulate(cell, 100_000, np.random.default_rng(1))
    seen = event | (time >= 1)
    assert 0.3 < 1 - seen.mean() < 0.5
    early = simulation.risk("line", x)[event & (time <= 1)].mean()
    assert early > simulation.risk("line", x).mean()
    true = simulation.true_values(0)[0]
    assert true["calibration_slope"] == pytest.approx(0.6, abs=0.01)


def test_the_page_has_the_stored_twins():
    stored = json.loads((twins.RESULTS / "survival_twins.json").read_text("utf-8"))
    page = PAGE.read_text("utf-8")
    assert twins.page_table(stored) in page
    (sets,) = {row["data_sets"] for row in stored["rows"]}
    assert f"with {sets} data sets in each ({sets * len(twins.LINES)} in all)" in page


def test_the_page_has_the_stored_cells_of_competing_events_and_late_entry():
    stored = json.loads((causes.RESULTS / "survival_causes.json").read_text("utf-8"))
    page = PAGE.read_text("utf-8")
    assert causes.page_table(stored) in page
    (sets,) = {row["data_sets"] for row in stored["rows"]}
    assert f"of {sets} data sets in each row" in page


def test_the_true_gain_of_a_map_is_that_of_the_population():
    truth, x = (-0.3, 0.7), np.random.default_rng(1).normal(gains.MEAN, gains.SPREAD, 400_000)
    score, risk = 1 / (1 + np.exp(-x)), 1 / (1 + np.exp(0.3 - 0.7 * x))
    y = np.random.default_rng(2).random(x.size) < risk
    gain = np.mean((y - score) ** 2 - (y - 0.8 * score) ** 2)
    assert gains.true_gain(truth, lambda s: 0.8 * s) == pytest.approx(gain, abs=3e-4)


def test_the_page_has_the_stored_gains():
    stored = json.loads((gains.RESULTS / "survival_gain.json").read_text("utf-8"))
    assert gains.page_table(stored) in PAGE.read_text("utf-8")
    for cell in stored["cells"]:
        error = (0.95 * 0.05 / cell["data_sets"]) ** 0.5
        assert min(cell["covered"], cell["updates_worst"]) >= 0.95 - 2 * error


def test_the_page_has_the_stored_p_values():
    stored = json.loads((checks.RESULTS / "survival_consistency.json").read_text("utf-8"))
    assert checks.page_table(stored) in PAGE.read_text("utf-8")
    for row in stored["rows"]:
        if row["scores"] == "right":
            assert row["below_.05"] <= 0.05 + 2 * (0.05 * 0.95 / row["sets"]) ** 0.5, row


@pytest.mark.parametrize("ratio", [0.5, 3.0])
def test_the_truth_of_other_hazards_is_that_of_simulated_patients(ratio):
    rng = np.random.default_rng(5)
    x = rng.normal(leaving.MEAN, leaving.SPREAD, 400_000)
    by_horizon = -np.log1p(-leaving.risk("line", x))
    left = leaving.left_at("by score", x, rng.uniform(size=x.size))
    due = (rng.exponential(1, x.size) / by_horizon) ** (1 / leaving.POWER)
    after = np.maximum(due**leaving.POWER - left**leaving.POWER, 0) / ratio
    event = np.where(due <= left, due**leaving.POWER, left**leaving.POWER + after) <= 1
    score = 1 / (1 + np.exp(-x))
    true = leaving.truth("by score", ratio)
    assert event.mean() / score.mean() == pytest.approx(true["observed_expected"], abs=0.01)
    assert ((left < 1) & (due > left)).mean() == pytest.approx(true["left"], abs=0.005)


def test_the_page_has_the_stored_coverage_of_sites():
    stored = json.loads((sites.RESULTS / "survival_sites.json").read_text("utf-8"))
    page = PAGE.read_text("utf-8")
    assert sites.page_table(stored) in page
    single = [
        row["coverage"]
        for row in stored["rows"]
        if (row["curve"], row["measure"]) == ("sites", "observed_expected")
    ]
    error = (0.95 * 0.05 / (stored["data_sets"] * sites.SITES)) ** 0.5
    assert "of a single site hold it somewhat too rarely" in page
    assert all(0.9 < share < 0.95 - 2 * error for share in single)
    assert f"The shares are of {stored['data_sets']} data sets" in page


def test_sites_of_the_simulation_have_their_curves():
    event, left, risk, site, shift, slope = sites.study(0)
    assert 0.3 < (left < np.minimum(event, 1)).mean() < 0.5
    ratios = [(event <= 1)[site == k].mean() / risk[site == k].mean() for k in range(sites.SITES)]
    true = [sites.truth(*curve)[0] for curve in zip(shift[:-1], slope[:-1], strict=True)]
    np.testing.assert_allclose(ratios, true, atol=0.25)


def test_the_risk_with_two_causes_is_the_true_curve():
    """Also among those with a competing event, who are known not to have the event."""
    x, time, code = causes.two_causes(200_000, np.random.default_rng(1))
    assert 0.25 < (code == 2)[time <= 1].mean() * (time <= 1).mean() < 0.4
    known = ~((code == 0) & (time < 1))
    low = known & (x < -2.5)
    seen = ((code == 1) & (time <= 1))[low].mean()
    assert seen == pytest.approx(simulation.risk("line", x[low]).mean(), abs=0.03)


def test_a_twin_is_of_the_same_population():
    """Its outcomes are known, and of other patients."""
    (outcome, score), (known, other) = twins.study(twins.LINES[1], 20_000, 0)
    assert len(outcome) == known.size
    assert score.mean() == pytest.approx(other.mean(), abs=0.01)
    assert not np.intersect1d(score, other).size
    true = simulation.true_values(twins.LINES[1])[0]
    assert known.mean() / other.mean() == pytest.approx(true["observed_expected"], abs=0.04)


def test_the_page_has_the_stored_second_opinions():
    stored = json.loads((others.RESULTS / "survival_second_opinions.json").read_text("utf-8"))
    assert others.page_table(stored, STORED) in PAGE.read_text("utf-8")
    assert {row["method"] for row in stored["rows"]} == set(others.METHODS)


def test_where_leaving_is_by_score_kaplan_meier_misses():
    cell = next(cell for cell in others.CELLS if cell["leaving"] == "by score")
    x, time, event, _ = simulation.simulate(cell, 4000, np.random.default_rng(1))
    outcome, risk = bc.Survival(time, event), 1 / (1 + np.exp(-x))
    true = simulation.risk("line", x).mean() / risk.mean()
    _, upper, _ = others.answers(outcome, risk, "kaplan-meier", None)["observed_expected"]
    assert upper < true
    told = others.answers(outcome, risk, "pseudo", np.array([0.1, 0.2, 0.3, 0.4, 0.5]))
    assert told["observed_expected"][1] < true
    assert len(told) == 1 + len(simulation.AT)


def test_the_page_has_the_stored_cells_of_few_cases_and_unusual_timing():
    stored = json.loads((edges.RESULTS / "survival_edges.json").read_text("utf-8"))
    page = PAGE.read_text("utf-8")
    assert edges.edges_table(stored) in page
    (sets,) = {row["data_sets"] for row in stored["rows"]}
    assert f"of {sets} data sets in each row" in page
    unusual = [
        row["covered"]
        for row in stored["rows"]
        if (row["cell"], row["fit"]) == ("timing not log-linear", "average")
        and row["number"].endswith("slope")
    ]
    assert "in about six of ten data sets" in page
    assert all(0.55 < share < 0.65 for share in unusual)
    few = [row["events"] for row in stored["rows"] if row["cell"] == "20 to 40 events"]
    assert 20 < few[0] < 40


@pytest.mark.parametrize("cell", edges.CELLS)
def test_the_risk_of_these_cells_is_the_true_curve(cell):
    """By Kaplan and Meier, among scores so near that leaving does not depend on them."""
    x, time, event = edges.simulate(cell, 200_000, np.random.default_rng(3))
    middle = edges.CELLS[cell]["mean"]
    near = np.abs(x - middle - 0.2) < 0.1
    order = np.argsort(time[near])
    at_risk = near.sum() - np.arange(near.sum())
    counts = event[near][order] & (time[near][order] <= 1)
    seen = 1 - np.prod(np.where(counts, 1 - 1 / at_risk, 1.0))
    assert seen == pytest.approx(edges.risk(cell, x[near]).mean(), abs=0.02)
    if cell == "line in complementary log-log":
        assert edges.true_values(cell)[0]["cloglog_slope"] == pytest.approx(0.7, abs=0.001)
