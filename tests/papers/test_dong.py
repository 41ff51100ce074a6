"""What the page says of Dong et al.'s paper is what was stored, and is computed again."""

from __future__ import annotations

import json
from pathlib import Path

import dong
import dong_network as network
import dong_printed as printed
import dong_simulated as simulated
import numpy as np
import pandas as pd
import pytest

import ead
from bayescal import simulate
from benchmark_pages import markdown

ROOT = Path(__file__).resolve().parents[2]


STORED = dong.stored()
PAGE = (ROOT / "docs" / "papers" / "dong.md").read_text("utf-8")
WORDS = " ".join(PAGE.split())
NOTEBOOK = json.loads((ROOT / "notebooks" / "papers" / "dong.ipynb").read_text("utf-8"))
TABLES = {
    "printed": dong.shown_printed(),
    "validation": dong.shown_table_1(STORED, "validation"),
    "test": dong.shown_table_1(STORED, "test"),
    "splits": dong.shown_splits(STORED),
    "table 4": dong.shown_table_4(STORED),
    "figure 5": dong.shown_figure_5(STORED),
    "coverage": dong.shown_coverage(STORED),
    "theorem 4": dong.shown_theorem_4(STORED),
}


def needs_logits() -> None:
    if not network.CIFAR.is_file():
        pytest.skip("the logits are no part of the package")


def test_the_stored_run_is_a_full_one() -> None:
    assert STORED.keys() == dong.PARTS.keys()
    assert STORED["table_4"]["settings"]["runs"] == dong.RUNS
    assert STORED["table_1"]["splits"]["runs"] == dong.RUNS
    assert [cell["rows"]["posterior"]["of"] for cell in STORED["coverage"]] == [dong.RUNS] * 10


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_tables_of_the_page_are_those_stored(table: pd.DataFrame) -> None:
    assert markdown(table) in PAGE


def test_sentences_of_the_page_state_what_is_stored() -> None:
    rows, splits = STORED["table_1"]["rows"], STORED["table_1"]["splits"]["rows"]
    theirs, ours = rows["validation"]["TPM"][-1], rows["test"]["TPM"][-1]
    figure = STORED["figure_3"]["ResNet110, CIFAR-10"]
    needed = STORED["theorem_4"]
    count = splits["TPM"]["as_low_as_printed"][-1]
    means = [dong.number(splits[name]["mean"][-1], 5) for name in ("TPM", "isotonic")]
    shares = TABLES["coverage"]["covered, ours"]
    ours_at = {row: int(share.split("/")[0]) for row, share in shares.items()}
    fewest = 95 - 200 * (0.95 * 0.05 / dong.RUNS) ** 0.5  # two standard errors below 95 of 100
    low = [row for row, share in ours_at.items() if share < fewest]
    assert low == ["D1, n = 5000", "D2, n = 500", "D3, n = 500"]  # "In three rows"
    for sentence in (
        f"out of sample TCE_bpm is {dong.number(theirs, 5)}",
        f"TCE_bpm is {dong.number(ours, 5)}, as printed to all digits",
        f"TCE_bpm is at most .00214 in {count} of 100 divisions",
        f"in none of 100 out of sample, and in {splits['TPM, same cases']['all_as_low']} of 100",
        f"(TCE_bpm {means[0]} against {means[1]} on average",
        f"at {figure['inside']} of the {figure['of']} scores",
        *(f"{needed[name]['needed']:.0f} ({name})" for name in simulated.IN_FAMILY),
        f"{STORED['errata']['reductions']['mean']:.1%}".replace("%", " %"),
        f"contains it in {ours_at['D3, n = 500']} and {ours_at['D3, n = 5000']}.",
        f"in {min(ours_at.values())} to {max(ours_at.values())} of 100 data sets",
        f"EAD is {dong.number(STORED['table_4']['truths']['D1']['paper']['ead']['mean'])}",
        f"and {dong.number(STORED['figure_5']['D3']['limit'])} for a million cases",
    ):
        assert sentence in WORDS, sentence
    assert splits["TPM"]["all_as_low"] == 0


def test_the_notebook_was_saved_with_its_figures_and_without_an_error() -> None:
    outputs = [out for cell in NOTEBOOK["cells"] for out in cell.get("outputs", [])]
    assert sum("image/png" in out.get("data", {}) for out in outputs) == 4
    assert "error" not in [out["output_type"] for out in outputs]
    assert "stderr" not in [out.get("name") for out in outputs]


def test_the_headline_row_is_met_on_the_cases_it_was_fitted_to_and_only_there() -> None:
    needs_logits()
    for part, digits in (("validation", 0.00521), ("test", 0.00214)):
        again = network.errors(*network.recalibrated("TPM", part))
        assert again == pytest.approx(STORED["table_1"]["rows"][part]["TPM"], abs=1e-6)
        assert round(again[-1], 5) == digits


def test_a_division_is_the_stored_kind() -> None:
    needs_logits()
    row, stored = network.split(0), STORED["table_1"]["splits"]["rows"]
    for name, values in row.items():
        far = np.abs(np.subtract(values, stored[name]["mean"])) / stored[name]["sd"]
        assert far.max() < 5
    assert row["TPM, same cases"][-1] >= stored["TPM, same cases"]["least"][-1] - 1e-6


@pytest.mark.parametrize("name", ["D1-code", "D5"])
def test_one_data_set_of_table_4_is_the_stored_kind(name: str) -> None:
    row = STORED["table_4"]["truths"][name]
    ours, *_, histogram = ead.one_run(0, name, 10_000, STORED["table_4"]["settings"]["seed"])
    for value, key in ((ours, "paper"), (histogram, "histogram")):
        assert abs(value - row[key]["ead"]["mean"]) < 5 * row[key]["ead"]["sd"]


def test_our_histogram_curves_are_means_of_bins_of_equal_mass() -> None:
    y_true, y_prob = simulate.sample("D5", 1000, random_state=3)
    order = np.argsort(y_prob)
    expected = [y_true[cases].mean() for cases in np.array_split(order, 10)]
    middles = np.array([np.median(y_prob[cases]) for cases in np.array_split(order, 10)])
    np.testing.assert_allclose(
        ead.histogram_curves(y_true, y_prob, middles, [10])[0], expected, atol=1e-12
    )


def test_a_small_figure_5_agrees_with_the_stored_one() -> None:
    sizes = [simulated.SIZES.index(n) for n in (500, 5000)]
    stored = STORED["figure_5"]["D4"]
    for index in sizes:
        y_true, y_prob = simulated.sample("D4", simulated.SIZES[index], 0)
        for name, metric in simulated.METRICS.items():
            sd = stored["mcse"][name][index] * np.sqrt(dong.RUNS)
            assert abs(metric(y_true, y_prob) - stored["mean"][name][index]) < 5 * sd


def test_what_is_not_simulated_is_computed_again() -> None:
    assert printed.errata()["equation_45"] == STORED["errata"]["equation_45"]
    assert printed.reductions() == pytest.approx(STORED["errata"]["reductions"])
    assert printed.p_value_if_all_won(50) == pytest.approx(printed.P_VALUE, rel=0.01)
    assert printed.p_value_if_all_won(100) < printed.P_VALUE / 100
    assert max(map(printed.curve_difference, printed.TABLE_2)) < 1e-12


@pytest.mark.parametrize("points", [3, simulated.BINS])
def test_the_bound_is_inverse_to_the_sample_size_of_the_theorem(points: int) -> None:
    epsilon = simulated.bound(700, 0.1, points)
    assert points * np.log(1 / 0.1) / (2 * epsilon**2) == pytest.approx(700)


def test_the_size_needed_is_on_a_straight_line_in_logarithms() -> None:
    sizes = np.array(simulated.EFFICIENCY_SIZES, dtype=float)
    assert simulated.size_for(1 / np.sqrt(sizes), 1 / np.sqrt(500)) == pytest.approx(500)
    assert simulated.size_for(1 / np.sqrt(sizes), 1e-9) is None


def test_coverage_counts_the_data_sets_that_have_an_interval() -> None:
    tce = simulate.truth("D5").tce()
    inside, outside = [tce, tce - 0.1, tce + 0.1], [tce, tce + 0.1, tce + 0.2]
    runs = [[*inside, tce, tce - 0.1, tce + 0.1], [*outside, tce + 0.01, np.nan, np.nan]]
    rows = simulated.intervals("D5", 500, runs)["rows"]
    assert (rows["posterior"]["covered"], rows["posterior"]["of"]) == (1, 2)
    assert (rows["TCE_bpm, bootstrap"]["covered"], rows["TCE_bpm, bootstrap"]["of"]) == (1, 1)
    assert rows["TCE_bpm, true sd"]["bias"] == pytest.approx(0.005)
