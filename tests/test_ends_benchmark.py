"""The benchmark of the ends of the score scale: its populations, its numbers, its page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import ends as benchmark
import ends_drawn as drawn
import ends_page as page
from ends_populations import JUMPS, POPULATIONS, STATED, STATED_SHARES, STATED_TRUE


def population(name):
    return next(truth for truth in POPULATIONS if truth.name == name)


def table(covered, name="label noise", n=1000):
    """Rows of which the first so many have intervals that contain the true value."""
    rows = pd.DataFrame({"population": [name] * 60, "n": n, "run": range(60)})
    for target in page.SHOWN:
        rows[f"{target}_true"] = np.where(np.arange(60) < covered.get(target, 60), 0.5, 0.9)
        rows[f"{target}_lower"], rows[f"{target}_upper"] = 0.4, 0.6
    return rows


def test_stated_confidences_have_their_shares_and_their_errors():
    truth = population("stated confidences")
    error = np.abs(np.subtract(STATED_TRUE, STATED))
    assert truth.functional("tce") == pytest.approx(np.dot(STATED_SHARES, error), abs=1e-4)
    drawn = truth.scores.draw(20_000, 1)
    np.testing.assert_allclose([(drawn == s).mean() for s in STATED], STATED_SHARES, atol=0.02)


def test_a_data_set_gives_every_number(monkeypatch):
    monkeypatch.setattr(benchmark, "DRAWS", 400)
    row = benchmark.of_set(population("label noise"), 200, 0)
    assert row["curve_0.5_true"] == pytest.approx(
        0.02 + 0.96 * population("label noise").score_quantile(0.5)
    )
    assert row["tce_2_true"] >= row["tce_true"]
    for target in page.SHOWN:
        assert row[f"{target}_lower"] < row[f"{target}_estimate"] < row[f"{target}_upper"]


def test_a_cell_misses_by_more_than_two_standard_errors():
    cells = page.coverage(table({"e90": 50, "emax": 45, "curve_0.01": 49}))
    assert cells["sets"].tolist() == [60]
    assert cells["e90"].item() == pytest.approx(50 / 60)
    short = page.misses(cells)
    assert short["number"].tolist() == ["Emax", "curve, 1 %"]
    assert short["least"].tolist() == pytest.approx(
        [0.85 - 2 * (0.85 * 0.15 / 60) ** 0.5, 0.9 - 2 * (0.09 / 60) ** 0.5]
    )
    assert page.misses(page.coverage(table({}))).empty


def test_of_a_jump_the_largest_errors_are_not_asked():
    short = page.misses(page.coverage(table({"e90": 0, "emax": 0, "curve_0.05": 0}, JUMPS[0])))
    assert short["number"].tolist() == ["curve, 5 %"]


def test_the_page_has_every_population_and_every_miss():
    cells = page.coverage(page.stored("present"))
    text = page.ends_page()
    judged = sum(gate.judged for gate in page.gates(cells))
    assert f"{len(page.misses(cells))} of {judged} coverages miss" in text
    assert all(truth.description in text for truth in POPULATIONS)
    assert "## Few distinct scores" in text


def test_few_scores_are_covered_as_the_page_says():
    cells = page.coverage_of_few(page.stored("few-present"))
    assert (cells.groupby(level="n")[["curve", "E90", "Emax"]].mean() >= 0.9).all(axis=None)
    least = cells["TCE"].groupby(level="population").min().nsmallest(2)
    assert set(least.index) == {"confidences, nearly", "points, jagged"}
    assert least.max() < 0.82


def test_scores_that_are_all_too_high_are_covered_as_the_page_says():
    cells = page.coverage_of_few(page.stored("few-present")).loc["points, too high"]
    shares = cells.loc[[50, 200], ["signed error", "O/E"]].to_numpy()
    told = f"cover {shares.min() + 1e-9:.2f} to {shares.max() + 1e-9:.2f}".replace("0.", ".")
    assert f"patients signed error and O/E of *points, too high* {told}." in page.ends_page()


def test_a_drawn_curve_is_compared_with_the_true_one(monkeypatch):
    monkeypatch.setattr(drawn, "DRAWS", 400)
    known = drawn.ROUGH[1]
    (row,) = drawn.batch(drawn.one_set, known, 5000, 0)
    step = known.curve(expit(np.array([drawn.STEP - drawn.NEAR, drawn.STEP + drawn.NEAR])))
    assert row["true_step"] == pytest.approx(np.diff(step).item())
    assert row["step"] < 0
    for version in page.VERSIONS:
        assert 0.5 < row[f"{version}_covered"] <= 1
        assert 0 < row[f"{version}_error"] < row[f"{version}_width"] < 0.5
    groups = list(drawn.groups(drawn.RISING[0], 0, 0))
    assert len(groups) == drawn.GROUPS
    assert drawn.GROUPED[0] <= sum(case.y.size for case in groups) <= drawn.GROUPED[1]


def test_drawn_curves_rise_and_bands_keep_their_coverage():
    table = page.stored("drawn")
    groups, sets = table[table["n"] == 0], table[table["n"] > 0]
    assert len(groups) == 100
    assert (
        (groups["drawn_fall"] < page.FALL).mean()
        >= 0.95
        > (groups["plain_fall"] < page.FALL).mean()
    )
    for each in (groups, sets):
        cells = each.groupby(page.KEYS).mean()
        assert (cells["drawn_covered"] > cells["plain_covered"] - 0.01).all()
        assert (cells["drawn_error"] < 1.02 * cells["plain_error"]).all()
    steps = sets[(sets["n"] == 5000) & (sets["population"] != "wave")]
    means = steps.groupby("population")[["step", "true_step"]].mean()
    np.testing.assert_allclose(means["step"], means["true_step"], rtol=0.1)
    assert "## The curve as it is drawn" in page.ends_page()
