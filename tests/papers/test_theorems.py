"""The page of theorems has the stored results, and these are computed again on fewer laws."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import gruber_released
import numpy as np
import pytest
import theorems

from bayescal import estimators
from papers_page import PAPERS, page_with_lists

PAGES = Path(__file__).resolve().parents[2] / "docs" / "papers"
PAGE = (PAGES / "theorems.md").read_text("utf-8")
STORED = json.loads(theorems.RESULTS.read_text("utf-8"))


@pytest.mark.parametrize("name", PAPERS)
def test_the_lists_of_a_page_are_made_of_stored_results(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text("utf-8")
    assert page_with_lists(name, page) == page


@pytest.mark.parametrize("shown", ["section_3", "regions", "jumps", "lemma_17"])
def test_the_page_has_the_stored_tables(shown: str) -> None:
    assert getattr(theorems, f"shown_{shown}")(STORED) in PAGE


def test_the_page_has_figure_7() -> None:
    stored = json.loads(gruber_released.RESULTS.read_text("utf-8"))
    assert gruber_released.shown_figure_7(stored) in PAGE
    falls = {n: made["ETS"] for n, made in stored["falls"].items()}
    brier = [made["RBS"]["square"] for made in falls.values()]
    assert abs(brier[0]["mean"] - brier[-1]["mean"]) < 2 * brier[0]["se"]
    changed = [
        name
        for name in gruber_released.MEASURES
        if falls["100"][name]["square"]["mean"] < 0 < falls["10000"][name]["square"]["mean"]
    ]
    assert changed == ["15b TCE_2", "100b TCE_2", "15b CWCE_2", "100b CWCE_2"]


def test_the_page_states_what_is_stored() -> None:
    tie, e, lemma = STORED["theorem_1"]["tie"], STORED["equation_14"], STORED["lemma_17"]
    for sentence in (
        f"{STORED['section_3']['predictors']:,} in all",
        f"b = {tie['larger']:.2f}",
        f"pairs of random laws equation 14 is larger in {e['larger_than_15']}",
        f"are {e['example_by_shares']:.1f} apart by equation 14 and {e['example_by_cases']:.1f}",
        f"| {lemma['largest_weak_squared_over_weak']:.3f} |",
        f"| {lemma['least_distance_ratio']:.3f} |",
        f"| {lemma['largest_distance_over_root']:.3f} |",
    ):
        assert sentence in PAGE, sentence
    assert e["smaller_than_15"] == 0
    assert lemma["least_distance_ratio"] > 0.5


def test_partitions_are_all_partitions() -> None:
    assert [len(list(theorems.partitions(n))) for n in range(6)] == [1, 1, 2, 5, 15, 52]


def test_section_3_computed_again() -> None:
    broken = theorems.section_3(60, seed=1)["broken"]
    exception = "theorem 2, only if, with a risk of 1/2"
    assert {name: n for name, n in broken.items() if n and name != exception} == {}
    assert STORED["section_3"]["broken"][exception] > 0


def test_the_properties_are_those_of_the_paper() -> None:
    it = theorems.Population((1, 3), (Fraction(1, 5), Fraction(4, 5)))
    mean = Fraction(13, 20)
    assert theorems.averaged(it, [[0, 1]]) == (mean, mean)
    assert theorems.is_calibrated(it, (mean, mean))
    assert not theorems.is_calibrated(it, (Fraction(1, 5), mean))
    assert not theorems.is_accurate(it, (mean, mean))
    assert theorems.is_accurate(it, (Fraction(0), Fraction(1, 10)))
    assert theorems.is_strictly_monotonic(it, (Fraction(0), Fraction(1, 10)))
    assert not theorems.is_strictly_monotonic(it, (mean, mean))


def test_a_risk_of_one_half_refutes_theorem_2() -> None:
    made = theorems.counterexample_to_theorem_2()
    assert made == STORED["theorem_2"]
    assert made["is_calibrated"]
    assert made["is_accurate"]
    assert made["theorem_says_none"]
    assert theorems.observation_1() == STORED["observation_1"]


def test_the_fitted_curve_jumps_where_two_minima_tie() -> None:
    tie, stored = theorems.tie(), STORED["theorem_1"]
    assert tie["values"][0] == pytest.approx(tie["values"][1], abs=1e-12)
    assert (tie["smaller"], tie["larger"]) == pytest.approx((0, 3.416), abs=1e-3)
    (row,) = theorems.jumps((1e-4,))
    assert row["curves"] == pytest.approx(stored["jumps"][2]["curves"], abs=1e-5)
    ratios = [each["ratio"] for each in stored["jumps"]]
    assert all(after > 5 * before for before, after in itertools.pairwise(ratios))


def test_the_objective_is_that_of_the_package() -> None:
    """Equation 9 of the package has bins; with one bin for each score it is the proof's."""
    s, share, weight = theorems.TIE
    least, best = theorems.fitted(s, share, weight)
    g = theorems.curve_at(s, best)
    assert weight @ np.exp((g - share) ** 2) == pytest.approx(least)
    curve = estimators.BPMCurve(*best, "paper", least)
    assert curve.curve(s) == pytest.approx(g)


def test_equation_14_is_never_below_equation_15() -> None:
    made = theorems.equation_14(10, seed=2)
    assert made["smaller_than_15"] == 0
    assert made["larger_than_15"] > 0
    assert (made["example_by_shares"], made["example_by_cases"]) == pytest.approx((0.6, 0.1))


def test_pairs_reach_the_exponent_of_lemma_17() -> None:
    for row in STORED["lemma_17"]["pairs"]:
        assert row["reached"] == pytest.approx(row["stated"], abs=0.01)
    again = theorems.exponents("power", 3.0)
    assert again["reached"] == pytest.approx(4, abs=0.01)


def test_weak_calibration_of_two_scores() -> None:
    """Ten cases at .4 and .5, one event too many at one and too few at the other."""
    y = np.repeat([1, 0, 1, 0], [5, 5, 4, 6])
    s = np.repeat([0.4, 0.5], 10)
    made = float(estimators.weak_calibration_error(y, s))
    assert made == pytest.approx(theorems.weak_of_two(0.1, 0.1))
