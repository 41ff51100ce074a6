"""Measures and random streams as the authors released them meet the numbers that they printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import as_released as released
import blasiok
import gruber
import gruber_released
import numpy as np
import pytest

from bayescal import estimators

PAGES = Path(__file__).resolve().parents[2] / "docs" / "papers"
DONG = json.loads(released.RESULTS.read_text("utf-8"))
GRUBER = json.loads(gruber_released.RESULTS.read_text("utf-8"))
READING = 0.001
"""How far a value may be from one that was read off a figure to .001."""
STATEMENTS = {"in the paper", "where"}
"""First columns of the tables that have no measure."""


def page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text("utf-8")


@pytest.mark.parametrize("name", ["blasiok", "dong", "gruber", "torabian", "theorems"])
def test_every_table_names_its_convention(name: str) -> None:
    tables = re.findall(r"^(?:(.+)\n\n)?\|([^|\n]*)\|.*\n\|[-| ]+\|$", page(name), re.M)
    assert tables
    without = [
        first
        for before, first in tables
        if not before.startswith("*Convention: ") and first.strip() not in STATEMENTS
    ]
    assert without == []


def test_the_pages_show_the_tables_as_released() -> None:
    assert released.shown_table_1(DONG["table_1"]) in page("dong")
    assert released.shown_table_4(DONG["table_4"]) in page("dong")
    assert released.shown_figures(DONG["blasiok"]) in page("blasiok")
    for shown in ("figure_1", "figure_2", "kernel"):
        assert getattr(gruber_released, f"shown_{shown}")(GRUBER) in page("gruber")


def test_table_1_of_dong_is_met() -> None:
    """Without recalibration by every measure; TPM, on its own cases, by ECE, KS and the sweep."""
    rows, printed = DONG["table_1"], released.PRINTED
    none, tpm, other = (rows[name] for name in ("none", "TPM", "TPM, fitted to other cases"))
    for name, known in zip(
        ("ECE", "KS", "smECE"), np.take(printed["none"], [0, 2, 3]), strict=True
    ):
        assert none[name] == pytest.approx(known, abs=1.5e-5)
    assert none["sweep"] == pytest.approx([printed["none"][1]] * 2, abs=1e-5)
    ece, sweep, ks, _ = printed["TPM"]
    assert tpm["ECE"] == pytest.approx(ece, abs=1.5e-5)
    assert tpm["KS"] == pytest.approx(ks, abs=5e-6)
    assert tpm["sweep"][0] < sweep < tpm["sweep"][1]
    assert min(other["sweep"][0], other["KS"]) > 4 * sweep
    assert rows["isotonic"]["sweep"][0] < printed["isotonic"][1] < rows["isotonic"]["sweep"][1]
    for name, known in printed.items():
        low, high = rows[name]["ECE_of_ties"]
        assert low - 5e-6 <= known[0] <= high + 5e-6
    assert other["ECE_of_ties"][0] > 1.3 * ece


def test_table_4_of_dong_is_met() -> None:
    for name, printed in released.TABLE_4.items():
        row = DONG["table_4"][name]
        assert abs(row["mean"] - printed) < 2.5 * row["sd"] / DONG["runs"] ** 0.5


def test_released_histograms_are_0_below_the_lowest_score_and_drop_the_last_bin() -> None:
    y, s = np.array([0, 1, 1, 1, 0, 0]), np.array([0.2, 0.3, 0.5, 0.6, 0.8, 0.9])
    at = np.array([0.1, 0.25, 0.55, 0.95])
    assert released.histogram(y, s, 3, at).tolist() == [0, 0.5, 1, 1]


def test_the_sweep_of_an_order_is_ours_without_ties() -> None:
    rng = np.random.default_rng(3)
    s = rng.random(300)
    y = (rng.random(300) < s**1.3).astype(int)
    made = released.sweep_of_order(y, s, np.argsort(s))
    assert made == pytest.approx(estimators.sweep_ece(y, s, ties="split"), abs=1e-12)
    assert released.sweeps_of_ties(y, s, 2) == pytest.approx((made, made))


@pytest.mark.parametrize("figure", ["1", "6"])
def test_the_first_relplot_gives_what_the_figures_print(figure: str) -> None:
    made = released.smooth_ece_of_2023(*blasiok.cases(figure))
    assert made == pytest.approx(DONG["blasiok"][figure], abs=1e-4)
    assert round(made, 3) == blasiok.PRINTED[figure].smooth_ece


def test_all_stored_smooth_eces_are_the_printed_ones() -> None:
    rounded = {figure: round(value, 3) for figure, value in DONG["blasiok"].items()}
    assert rounded == {figure: known.smooth_ece for figure, known in blasiok.PRINTED.items()}


def test_half_of_the_mass_at_the_ends_is_lost_as_released() -> None:
    """All scores 1, three in four of them wrong: .75 by definition, below .5 as released."""
    y, s = np.repeat([1, 0, 0, 0], 50), np.ones(200)
    assert estimators.smooth_ece(y, s) == pytest.approx(0.75, abs=0.01)
    assert released.smooth_ece_of_2023(y, s) < 0.5


@pytest.mark.slow
def test_rows_as_released_are_computed_again() -> None:
    if not released.CIFAR.is_file():
        pytest.skip("the logits are no part of the package")
    y, s = released.cases()["test"]
    stored = DONG["table_1"]["none"]
    assert released.equal_mass_ece(y, s) == pytest.approx(stored["ECE"], abs=1e-6)
    assert released.smooth_ece_of_2023(y, s) == pytest.approx(stored["smECE"], abs=1e-5)


def test_figure_2_of_gruber_is_met() -> None:
    for name, read in gruber.READ_OFF_FIGURE_2.items():
        made = GRUBER["figure_2"][name]
        assert [made["100"], made["10000"]] == pytest.approx(read, abs=READING)
    known = {name: round(made["10000"], 4) for name, made in GRUBER["figure_2"].items()}
    assert known == {"perfect": 0.0046, "mediocre": 0.0438, "bad": 0.0812}


def test_figure_1_of_gruber_is_met_with_all_cases() -> None:
    made = GRUBER["falls"]["10000"]["ETS"]
    for name in gruber_released.SHOWN_BY_PAPER:
        assert made[name]["root"]["mean"] == pytest.approx(
            gruber.READ_OFF["ETS"][name][1], abs=READING
        )


def test_all_test_cases_computed_again_as_released(shared_data: Path) -> None:
    again = gruber_released.falls(gruber_released.of_sets(10_000, 1))
    for method in ("TS", "ETS"):
        for name, stored in GRUBER["falls"]["10000"][method].items():
            made = again[method][name]["root"]["mean"]
            assert made == pytest.approx(stored["root"]["mean"], abs=1e-4), name


@pytest.mark.slow
def test_the_released_stream_drawn_again() -> None:
    """Signs of a decomposition may differ by machine, so that ECE may by what chance allows."""
    again = gruber_released.figure_2(small_sets=10)
    for name, stored in GRUBER["figure_2"].items():
        assert again[name]["10000"] == pytest.approx(stored["10000"], abs=0.01)


def test_released_bins_are_slices_of_the_sorted_scores() -> None:
    s = np.array([0.1, 0.2, 0.4, 0.5, 0.8])
    assert gruber_released.equal_mass_edges(s, 2).tolist() == pytest.approx([0.45, 1.0])
    y = np.array([0.0, 1, 0, 1, 1])
    first, second = 1 / 3 - 0.7 / 3, 1 - 0.65
    by_hand = (3 * (first**2 - 2 / 9 / 2) + 2 * second**2) / 5
    assert gruber_released.debiased(y, s, 2) == pytest.approx(max(by_hand, 0))


def test_the_released_debiased_estimate_is_ours_where_bins_are_equal() -> None:
    rng = np.random.default_rng(4)
    s = rng.random(300)
    y = (rng.random(300) < s**2) * 1.0
    made = gruber_released.debiased(y, s, 15) ** 0.5
    assert made == pytest.approx(estimators.debiased_ece(y.astype(int), s), abs=1e-12)


def test_the_released_kernel_estimate_is_ours_on_smooth_scores() -> None:
    """Ours sums exactly over the cases, theirs over a grid; the bandwidth is that of the hits."""
    rng = np.random.default_rng(5)
    s = rng.beta(3, 2, 2000)
    y = (rng.random(2000) < s**1.5) * 1.0
    made = gruber_released.kernel_estimate(y, s) ** 0.5
    ours = float(estimators.kde_ece(y.astype(int), s, form="triweight", p=2))
    assert made == pytest.approx(ours, abs=0.003)
    assert gruber_released.kernel_estimate(y, s**2) > made**2 / 2


def test_a_set_without_the_last_class_has_no_class_wise_error() -> None:
    proba = np.full((4, 3), 1 / 3)
    assert np.isnan(gruber_released.class_wise(np.array([0, 1, 1, 0]), proba, 15))
    assert gruber_released.class_wise(np.array([0, 1, 2, 0]), proba, 15) == pytest.approx(
        1 / 36 + 2 / 144
    )


def test_a_forked_pool_draws_the_same_sets_in_every_worker() -> None:
    assert gruber_released.workers(4, 160)["distinct"] == 40
    assert gruber_released.workers(1, 40)["distinct"] == 40
    assert GRUBER["pool"]["distinct"] * GRUBER["pool"]["workers"] == GRUBER["pool"]["draws"]


def test_both_orders_of_the_kernel_estimate_call_the_maps_harmful() -> None:
    for made in GRUBER["kernel_ce"].values():
        assert made["none"]["sets"] == 200
        for method in ("TS", "ETS"):
            assert made[method]["mean"] < -5 * made[method]["se"]
    orders = [GRUBER["kernel_ce"][p]["none"] for p in ("CE_1", "CE_2")]
    assert orders[0]["mean"] + 5 * orders[0]["se"] < orders[1]["mean"]
