"""What the page says of Gruber & Buettner's paper is what was stored, and is computed again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import gruber
import gruber_friedman
import gruber_laws as laws
import numpy as np
import pytest

from bayescal import estimators, scores

ROOT = Path(__file__).resolve().parents[2]


STORED = json.loads(gruber.RESULTS.read_text("utf-8"))
PAGE = (ROOT / "docs" / "papers" / "gruber.md").read_text("utf-8")
NOTEBOOK = (ROOT / "notebooks" / "papers" / "gruber.ipynb").read_text("utf-8")
PANEL = re.compile(
    r"^\| (ETS|DIAG), (.+?) \| (\d+) \| ([-.\d]+) \| ([-.\d]+) \| ([-+][.\d]+) \| (.+?) \|$", re.M
)
READING = 0.0015
"""How far a value read off a figure, to .001, may be from a rounded one that agrees."""


def improvement(method: str, name: str, n: int) -> float:
    record = STORED["resnet110"]
    return record["improvement"][method][name][record["sizes"].index(n)]["mean"]


def test_the_stored_run_is_a_full_one() -> None:
    assert STORED["settings"]["fewer"] == gruber.FEWER
    assert STORED["resnet110"]["sizes"] == list(gruber.SIZES)
    assert STORED["resnet110"]["sets"] == [max(1, m // gruber.FEWER) for m in gruber.SAMPLED]
    assert STORED["friedman"]["networks"] == 5
    assert STORED["friedman"]["steps"][-1] == 2000


def test_the_page_has_every_number_that_was_read_off() -> None:
    rows = [(method, name, int(n)) for method, name, n, *_ in PANEL.findall(PAGE)]
    assert rows == [
        (method, name, n)
        for method, read in gruber.READ_OFF.items()
        for name in read
        for n in (100, 10_000)
    ]


@pytest.mark.parametrize(
    ("method", "name", "n", "read", "ours", "difference", "verdict"), PANEL.findall(PAGE)
)
def test_the_panels_of_figure_1(method, name, n, read, ours, difference, verdict) -> None:
    known = gruber.READ_OFF[method][name][0 if n == "100" else 1]
    value = improvement(method, name, int(n))
    assert float(read) == known
    assert ours == f"{value:.4f}"
    assert difference == f"{value - known:+.4f}"
    assert verdict.startswith("the same") is (abs(value - known) <= READING)


def quoted() -> list[str]:
    """Numbers of the page that stand in its text and in its other tables."""
    values, simulated = STORED["resnet110"]["values"], STORED["simulated"]
    friedman, maps = STORED["friedman"], STORED["maps"]
    numbers = [f"{simulated['accuracy']:.3f}"]
    numbers += [f"{half:.3f}" for half in STORED["released_simulation"].values()]
    for row in values.values():
        if row[-1]["mean"] is not None:
            numbers += [f"{row[at]['mean']:.4f}" for at in (0, -1)]
    for model in simulated["models"].values():
        numbers += [f"{model['simulated'][at]['mean']:.4f}" for at in (0, -1)]
        numbers += [f"{model['formula'][at]:.4f}" for at in (0, -1)]
        numbers += [f"{model['ece']:.4f}", f"{model['ce_2']:.4f}"]
        numbers += [f"{model['rbs_improvement']:.4f}", f"{model['brier_improvement']:.4f}"]
    for step in gruber_friedman.TABLED:
        for side in gruber_friedman.SIDES:
            mean = gruber_friedman.mean_at(friedman, "mean_variance", side, step)
            ratio = friedman["ratios"][str(step)][side]
            numbers += [f"{mean:.2f}", f"{ratio['mean']:.2f}"]
    numbers += [f"{row['ce_2']:.4f}" for row in STORED["proposition_3_2"]]
    numbers += [f"{share:.1%}" for name, share in STORED["theorem_3_1"].items() if "KS" in name]
    for name in list(maps)[2:]:
        numbers += [f"{maps[name][key]:.4f}" for key in ("CE_2", "CWCE_2", "KS by class", "Brier")]
    numbers += [f"{maps[name]['Brier']:.4f}" for name in ("as predicted", "TS")]
    return numbers


def test_the_page_quotes_what_is_stored() -> None:
    assert [number for number in quoted() if number not in PAGE] == []


def test_the_notebook_shows_the_stored_numbers() -> None:
    for method, read in gruber.READ_OFF.items():
        for name in read:
            assert f"{improvement(method, name, 10_000):.3f}" in NOTEBOOK


def test_all_test_cases_computed_again(shared_data: Path) -> None:
    again = gruber.figures_1_and_3((10_000,), [1], seed=1)
    for name in gruber.ESTIMATES:
        stored = STORED["resnet110"]["values"][name][-1]["mean"]
        assert again["values"][name][0]["mean"] == pytest.approx(stored, abs=1e-6)
        for method in ("TS", "ETS", "DIAG"):
            assert again["improvement"][method][name][0]["mean"] == pytest.approx(
                improvement(method, name, 10_000), abs=1e-4
            )


@pytest.mark.slow
def test_small_test_sets_computed_again(shared_data: Path) -> None:
    """Within four standard errors of the stored means."""
    again = gruber.figures_1_and_3((100,), [40], seed=1)
    for name in gruber.SHOWN:
        stored, row = STORED["resnet110"]["values"][name][0], again["values"][name][0]
        assert abs(row["mean"] - stored["mean"]) < 4 * np.hypot(row["se"], stored["se"]), name


def test_the_simulation_computed_again() -> None:
    again = gruber.figure_2((100,), runs=100, seed=1)
    for name, model in again["models"].items():
        stored = STORED["simulated"]["models"][name]
        assert model["formula"][0] == pytest.approx(stored["formula"][0], abs=1e-6)
        row, kept = model["simulated"][0], stored["simulated"][0]
        assert abs(row["mean"] - kept["mean"]) < 4 * np.hypot(row["se"], kept["se"])


def test_the_mean_falls_ever_more_slowly_and_most_for_the_calibrated_model() -> None:
    simulated, falls = STORED["simulated"], []
    for model in simulated["models"].values():
        slopes = np.diff(model["formula"]) / np.diff(simulated["sizes"])
        assert np.all(slopes < 0)
        assert np.all(np.diff(slopes) > 0)
        ends = [model["simulated"][at]["mean"] for at in (0, -1)]
        falls.append(ends[0] - ends[1])
    assert falls == sorted(falls, reverse=True)
    assert [fall for fall in falls if f"{fall:.4f}" not in PAGE] == []


def test_the_released_halves_computed_again() -> None:
    again = gruber.released_simulation()
    assert again == pytest.approx(STORED["released_simulation"], abs=1e-3)
    assert again["first_half"] > again["second_half"] + 0.01


def test_networks_computed_again() -> None:
    """The first of those stored, at its first steps, up to what five stored digits leave."""
    rows, _ = gruber_friedman.one_network(0, 100)
    for column, name in enumerate(gruber_friedman.MEASURES):
        for at, side in enumerate(gruber_friedman.SIDES):
            kept = STORED["friedman"]["curves"][name][side][0][: len(rows)]
            np.testing.assert_allclose(rows[:, at, column], kept, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("step", [500, 750, 1000])
def test_variances_of_other_cases_have_the_same_mean(step: int) -> None:
    """Why Figure 9 does not show which cases were recalibrated, while the score does."""
    scaled, released = (
        {
            name: gruber_friedman.mean_at(STORED["friedman"], name, side, step)
            for name in ("mean_variance", "dss", "mean_squared_error")
        }
        for side in ("scaled", "released")
    )
    assert released["mean_variance"] == pytest.approx(scaled["mean_variance"], rel=0.1)
    assert released["mean_squared_error"] == scaled["mean_squared_error"]
    assert released["dss"] > scaled["dss"]


@pytest.mark.parametrize("row", laws.proposition_3_2(), ids=lambda row: f"{row['classes']}")
def test_proposition_3_2(row) -> None:
    assert row["ce_2"] == pytest.approx(row["printed"], abs=1e-12)
    assert row["largest_other"] == pytest.approx(0, abs=1e-12)
    assert row["kce"] > 0.01


def test_the_order_of_theorem_3_1() -> None:
    again = laws.theorem_3_1(150, seed=3)
    for name, share in again.items():
        if "KS by class" in name or "KS as printed" in name:
            assert share > 0
            assert STORED["theorem_3_1"][name] > 0
        else:
            assert share == 0
            assert STORED["theorem_3_1"][name] == 0


def test_two_groups_refute_the_bound_of_ks_by_class() -> None:
    """Two predicted classes with one confidence: the accuracies .9 and .7 are .8 on average."""
    truth = np.array([[0.9, 0.1], [0.3, 0.7]])
    proba = np.array([[0.8, 0.2], [0.2, 0.8]])
    made = laws.errors(truth, proba, np.ones(2))
    assert made["TCE_2"] == pytest.approx(0, abs=1e-12)
    assert made["KS"] == pytest.approx(0, abs=1e-12)
    assert made["KS by class"] == pytest.approx(0.1)
    assert made["KS as printed"] == pytest.approx(0.1)
    assert made["KS of the proof"] == pytest.approx(0, abs=1e-12)


def test_no_map_adds_sharpness() -> None:
    for value in (*laws.proposition_e_2(100, seed=3).values(), *STORED["sharpness"].values()):
        assert value <= 1e-9


def test_both_maps_have_no_ece_and_keep_the_accuracy() -> None:
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(4) / 2, 500)
    label = np.array([rng.choice(4, p=row) for row in proba])
    accuracy = float((proba.argmax(axis=1) == label).mean())
    top = laws.accuracy_for_the_top(proba, accuracy)
    np.testing.assert_allclose(top.sum(axis=1), 1)
    assert np.array_equal(top.argmax(axis=1), proba.argmax(axis=1))
    assert estimators.top_label_ece(label, top) == pytest.approx(0, abs=1e-12)
    assert len(np.unique(laws.label_frequencies(proba, label), axis=0)) == 4


def test_the_threshold_map_changes_the_accuracy() -> None:
    made = laws.threshold_map()
    assert made["below"] < made["above"]
    assert made["accuracy_after"] > made["accuracy_before"]


def test_the_root_falls_by_less_than_the_error() -> None:
    """Proposition 4.5 is of the squares; the text reads the roots."""
    for model in STORED["simulated"]["models"].values():
        assert model["brier_improvement"] == pytest.approx(model["ce_2_squared"], abs=1e-6)
    for name in ("mediocre", "bad"):
        model = STORED["simulated"]["models"][name]
        assert model["rbs_improvement"] < model["ce_2"] / 5


def test_the_kernel_score_does_not_tell_a_base_rate_from_the_truth() -> None:
    made = laws.kernel_score()
    assert made["constant"] == pytest.approx(0, abs=1e-12)
    assert made["truth"] == pytest.approx(0, abs=1e-12)
    assert made["reversed"] > 0.1
    assert made["constant, Brier"] > made["truth, Brier"]


def test_brier_falls_as_much_as_its_calibration_error_for_an_injective_map() -> None:
    rng = np.random.default_rng(2)
    truth, proba, size = laws.random_law(rng)
    after = proba**0.5 / (proba**0.5).sum(axis=1, keepdims=True)
    label, _, weight = laws.cases(truth, proba, size)
    sides = [
        np.average(((np.repeat(p, truth.shape[1], axis=0) - np.eye(truth.shape[1])[label]) ** 2)
                   .sum(axis=1), weights=weight)
        for p in (proba, after)
    ]  # fmt: skip
    errors = [
        scores.canonical_calibration_error(truth, p, p=2, sample_weight=size) ** 2
        for p in (proba, after)
    ]
    assert sides[0] - sides[1] == pytest.approx(errors[0] - errors[1], abs=1e-9)
