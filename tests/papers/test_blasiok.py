"""What the page says of Błasiok & Nakkiran's paper is what was stored, and is computed again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import blasiok
import blasiok_laws as laws
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


STORED = json.loads(blasiok.RESULTS.read_text("utf-8"))
PAGE = (ROOT / "docs" / "papers" / "blasiok.md").read_text("utf-8")
NOTEBOOK = (ROOT / "notebooks" / "papers" / "blasiok.ipynb").read_text("utf-8")
QUANTITIES = {"SmoothECE": "smooth_ece", "binned error": "ece", "±": "half_width"}
ROW = re.compile(
    rf"^\| (\d)[^|]* \| ({'|'.join(QUANTITIES)}) "
    r"\| ([\d.]+) \| ([\d.]+) \| ([-+][\d.]+) \| ([^|]+) \|$",
    re.M,
)
ROUNDING = 0.0005 + 1e-9


def test_the_stored_run_is_a_full_one() -> None:
    assert STORED["figures"].keys() == blasiok.PRINTED.keys()
    assert None not in STORED["figures"].values()
    assert STORED["settings"]["n_laws"] >= 1000


def test_the_page_has_every_number_of_every_figure() -> None:
    rows = [(figure, name) for figure, name, *_ in ROW.findall(PAGE)]
    assert rows == [(figure, name) for figure in blasiok.PRINTED for name in QUANTITIES]


@pytest.mark.parametrize(
    ("figure", "name", "printed", "ours", "difference", "verdict"), ROW.findall(PAGE)
)
def test_the_page_says_what_is_stored(
    figure: str, name: str, printed: str, ours: str, difference: str, verdict: str
) -> None:
    key = QUANTITIES[name]
    value, known = STORED["figures"][figure][key], getattr(blasiok.PRINTED[figure], key)
    assert float(printed) == known
    assert ours == f"{value:.4f}"
    assert difference == f"{value - known:+.4f}"
    if key == "half_width":
        low, high = STORED["figures"][figure]["half_width_of_100"]
        within = low - ROUNDING <= known <= high + ROUNDING
        assert verdict.startswith("within") is within
    else:
        assert (verdict == "the same") is (abs(value - known) <= ROUNDING)


def test_the_page_quotes_the_theorems() -> None:
    theorem = STORED["theorem_7"]
    quoted = [
        f"{theorem['laws']:,} laws",
        f"{theorem['least_smooth_over_distance']:.3f}",
        f"{theorem['largest_smooth_over_bound']:.3f}",
        f"{theorem['largest_smooth_over_sharper_bound']:.3f}",
        f"{theorem['pair_exponent']:.3f}",
        f"{theorem['least_weak_over_distance']:.3f}",
        f"{theorem['largest_weak_over_distance']:.3f}",
        *(f"{ratio:.3f}" for ratio in theorem["lemmas"].values()),
        *(f"{STORED['theorem_19'][key]:.3f}" for key in STORED["theorem_19"] if key != "laws"),
        *(f"{row['scaled_error']:.3f}" for row in STORED["theorem_11"]["rows"]),
        f"{STORED['rain']['half']:.4f}",
        f"{STORED['rain']['shared']:.4f}",
        f"{STORED['truth_in_band']:.0%}",
        *(f"{it['shown_error']:.4f}" for it in STORED["figures"].values()),
        *(f"{value:.4f}" for value in STORED["misprints"].values()),
    ]
    assert [text for text in quoted if text not in PAGE] == []


def test_the_notebook_shows_the_stored_numbers() -> None:
    for it in STORED["figures"].values():
        assert f"{it['smooth_ece']:.4f}" in NOTEBOOK
        assert f"{it['shown_error']:.4f}" in NOTEBOOK


def test_the_released_bins_are_chosen() -> None:
    for figure, printed in blasiok.PRINTED.items():
        assert STORED["figures"][figure]["n_bins"] == printed.n_bins


@pytest.mark.parametrize("figure", blasiok.PRINTED)
def test_a_figure_computed_again_is_the_stored_one(
    figure: str, request: pytest.FixtureRequest
) -> None:
    if figure in blasiok.FILES:
        request.getfixturevalue("shared_data")
    again = blasiok.figure_numbers(figure, n_resamples=100, sets=0, seed=1)
    assert again is not None
    stored = STORED["figures"][figure]
    close = 1e-3 if figure == "1" else 1e-6  # Figure 1 rests on scikit-learn's version
    for key in ("smooth_ece", "shown_error", "ece"):
        assert again[key] == pytest.approx(stored[key], abs=close)
    for key in ("n", "events", "n_bins"):
        assert again[key] == stored[key]


def test_the_rain_computed_again(shared_data: Path) -> None:
    again = blasiok.half_mass_at_ends(*blasiok.cases("5"))
    assert again["half"] == pytest.approx(STORED["rain"]["half"], abs=1e-6)
    assert again["shared"] == pytest.approx(STORED["rain"]["shared"], abs=1e-6)
    assert abs(again["half"] - blasiok.PRINTED["5"].smooth_ece) <= ROUNDING


@pytest.mark.parametrize("gap", [0.01, 0.05, 0.2])
def test_weak_calibration_is_half_the_distance_for_two_cases(gap: float) -> None:
    """By the package, by linear programmes and by hand: the left constant of Theorem 22 is 1/2."""
    two = laws.pair(gap)
    by_hand = gap * (1 - 2 * gap)
    for cost in (np.inf, 1.0):
        assert laws.distance(two, cost) == pytest.approx(by_hand, abs=1e-6)
        by_programme = laws.distance_by_programme(two, outcome_cost=cost)
        assert by_programme == pytest.approx(by_hand, abs=1e-6)
    for weak in (laws.weak(two), laws.weak_by_programme(two)):
        assert weak == pytest.approx(by_hand / 2, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_programmes_agree_with_the_package(seed: int) -> None:
    it = laws.random_law(np.random.default_rng(seed))
    assert laws.weak_by_programme(it) == pytest.approx(laws.weak(it), abs=1e-6)
    assert laws.distance_by_programme(it) == pytest.approx(laws.distance(it), abs=1e-4)


def test_new_laws_are_within_the_bounds() -> None:
    again, points = laws.sandwich(12, seed=3)
    assert points.shape == (12, 2)
    assert again["least_smooth_over_distance"] >= 0.5
    assert again["largest_smooth_over_bound"] <= again["largest_smooth_over_sharper_bound"] <= 1
    assert again["least_weak_over_distance"] >= 0.5 - 1e-6
    assert again["largest_weak_over_distance"] <= 2
    assert max(again["lemmas"].values()) <= 1 + 1e-6
    assert again["pair_exponent"] == pytest.approx(STORED["theorem_7"]["pair_exponent"], abs=1e-6)


def test_new_laws_are_within_the_bounds_in_log_odds() -> None:
    again = laws.sandwich_in_logits(4, seed=3)
    assert again["least_smooth_over_distance"] >= 0.5
    assert again["least_weak_over_distance"] >= 0.5 - 1e-6
    assert again["largest_weak_over_distance"] <= 2


def test_a_calibrated_law_does_not_move() -> None:
    it = laws.law(np.array([0.5]), np.array([1.0]), np.array([0.5]))
    assert laws.mean_move(it, 0.1) == pytest.approx(0, abs=1e-9)
    assert laws.smooth(it) == pytest.approx(0, abs=1e-9)


def test_misprints_computed_again() -> None:
    assert laws.misprints() == pytest.approx(STORED["misprints"], abs=1e-6)
