"""The page on numbers that decide has the stored results, and these keep what was asked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import bayescal as bc
import deciding_coverage as deciding
import lower_bound as bound
import truthfulness

PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "deciding.md"


def stored(name: str):
    return json.loads((deciding.RESULTS / f"{name}.json").read_text("utf-8"))


def test_the_page_has_the_coverage_of_losses_and_cutoff_errors() -> None:
    results = stored("deciding_coverage")
    assert deciding.page_table(results) in PAGE.read_text("utf-8")
    (sets,) = {row["data_sets"] for row in results["rows"]}
    assert sets >= 60
    assert f"{sets} data sets" in PAGE.read_text("utf-8")


def test_an_average_covers_no_loss_and_one_family_does_not() -> None:
    rows = [row for row in stored("deciding_coverage")["rows"] if row["true"] < 1e-9]
    assert len(rows) == 2 * 2 * 3 * 4
    for row in rows:
        if row["analysis"] == "average":
            assert row["covered"] >= 0.95
        else:
            assert row["covered"] <= 0.1


def test_the_page_has_the_coverage_of_the_kullback_leibler_error() -> None:
    results = stored("kl_coverage")
    assert deciding.page_table(results) in PAGE.read_text("utf-8")
    (sets,) = {row["data_sets"] for row in results["rows"]}
    assert sets >= 40
    assert f"{sets} data sets a cell" in PAGE.read_text("utf-8")
    average = [row for row in results["rows"] if row["analysis"] == "average"]
    assert len(average) == len(deciding.KL_TRUTHS) * len(deciding.KL_SIZES)
    assert min(row["covered"] for row in average) >= 0.9


def test_the_page_has_the_lower_bounds_and_these_keep_what_was_asked() -> None:
    rows = stored("lower_bound")
    assert bound.page_table(rows) in PAGE.read_text("utf-8")
    sets = sum(row["sets"] for row in rows)
    false = sum(row["sets"] * row["false"] for row in rows) / sets
    assert sets >= 2000
    assert f"bounds of {sets} data sets" in PAGE.read_text("utf-8")
    assert false <= bound.MOST
    assert f"{false:.3f} of all".lstrip("0") in PAGE.read_text("utf-8")
    for row in rows:
        assert row["false"] <= 0.05 + 3 * (0.05 * 0.95 / row["sets"]) ** 0.5


def test_the_page_says_which_measures_reward_a_lie() -> None:
    rows = {row["measure"]: row for row in stored("truthfulness")}
    assert truthfulness.page_table(list(rows.values())) in PAGE.read_text("utf-8")
    assert rows["Brier score"]["difference"] < -5 * rows["Brier score"]["error"]
    for name in ("ECE, 10 bins", "SmoothECE", "debiased ECE"):
        assert rows[name]["difference"] > 5 * rows[name]["error"]
    atb = rows["ATB"]
    assert atb["difference"] < 2 * atb["error"]
    assert abs(atb["honest"] - 1 / 6 / truthfulness.CASES) < 0.15 * atb["honest"]
    ours = rows["TCE of the averaged posterior"]["difference"]
    assert ours < 0.15 * rows["ECE, 10 bins"]["difference"]


def test_both_ways_of_telling_are_calibrated() -> None:
    sets = [truthfulness.told(run) for run in range(200)]
    for how in ("exact risks", "three values"):
        y, s = (np.concatenate([each[how][k] for each in sets]) for k in (0, 1))
        assert bc.estimators.debiased_ece(y, s, p=1) < 0.01
    assert np.unique(s).size == 3
