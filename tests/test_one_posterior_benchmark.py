"""The benchmark of what the averaged posterior states: its populations, its numbers, its page."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import one_posterior as benchmark
import one_posterior_bars as asked
import one_posterior_page as page
import one_posterior_stored as results
from one_posterior_cells import CELLS
from one_posterior_designs import DESIGNS
from one_posterior_kinds import KINDS, MappedScores, TwoGroups, drawn, whole_percent

DOCS = Path(__file__).resolve().parents[1] / "docs"

MISSED, CALIBRATED = "missed events", "calibrated, ten values"
TWO_CELLS = {
    truth: sizes[:1] for truth, sizes in CELLS.items() if truth.name in (MISSED, CALIBRATED)
}
PARTS = ("kinds", "cells", "designs")
STORED = results.RESULTS / "one_posterior"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    """Stored results of two data sets of two cells, one design and one kind."""
    path = tmp_path_factory.mktemp("one_posterior")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(benchmark, "CELLS", TWO_CELLS)
        patch.setattr(benchmark, "DESIGNS", DESIGNS[3:4])
        patch.setattr(benchmark, "KINDS", KINDS[6:7])
        patch.setattr(benchmark, "SIZES", (300,))
        patch.setattr(benchmark, "DRAWS", 200)
        options = SimpleNamespace(runs=2, path=path / "batches", jobs=1)
        for part in PARTS:
            rows = benchmark.measured(part, options)
            benchmark.store(rows, path / "one_posterior" / f"{part}.npz")
        with patch.context() as without:
            without.setattr(benchmark.bc, "compare", None)
            assert benchmark.measured("cells", options), "finished batches are read back"
    return path


@pytest.fixture
def stored(folder, monkeypatch: pytest.MonkeyPatch) -> dict[str, pd.DataFrame]:
    monkeypatch.setattr(results, "RESULTS", folder)
    return results.stored_parts()


def test_every_number_of_a_data_set_is_stored(stored) -> None:
    cells = stored["cells"]
    assert cells[["cell", "n", "run"]].to_numpy().tolist() == [
        [truth.name, n, run] for truth, (n,) in TWO_CELLS.items() for run in range(2)
    ]
    assert cells["exact"].tolist() == [False, False, True, True]
    assert cells["tce_true"].round(4).tolist() == [0.0343, 0.0343, 0, 0]
    assert (cells["emax_true"] >= cells["e90_true"]).all()
    assert stored["designs"]["emax_true"].isna().all() == (stored["designs"]["tce_true"] > 0).all()
    numbers = cells.drop(columns=["cell", "n", "run", "exact"])
    assert np.isfinite(numbers.to_numpy()).all()
    for target in asked.DISTANCES:
        assert (cells[f"{target}_lower_95"] <= cells[f"{target}_lower_80"]).all()
        assert (cells[f"{target}_upper_80"] <= cells[f"{target}_upper_95"]).all()


def test_data_sets_are_the_same_again_and_other_code_is_measured_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    first, again = (benchmark.drawn(KINDS[0], 300, 1, benchmark.SEED) for _ in range(2))
    for one, other in zip(
        first[0].sample(50, first[1]), again[0].sample(50, again[1]), strict=True
    ):
        assert (one == other).all()
    before = benchmark.state_of_code()
    (tmp_path / "one.py").write_text("changed = True")
    monkeypatch.setattr(benchmark.bc, "__file__", str(tmp_path / "__init__.py"))
    assert benchmark.state_of_code() != before


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_populations_of_a_kind_differ_and_have_the_errors_of_their_patients(kind) -> None:
    errors = []
    for run in range(3):
        truth, rng = drawn(kind, 300, run, 1)
        y, s = truth.sample(100_000, rng)
        assert (y - s).mean() == pytest.approx(truth.functional("signed_error"), abs=0.006)
        assert ((s > 0) & (s < 1)).mean() > 0.99
        errors.append(truth.tce())
    assert len(set(errors)) == 3 or kind.__name__ == "updated"


@pytest.mark.parametrize(
    "law",
    [
        TwoGroups(0.3, (-2.0, 0.5), (0.8, 0.6)),
        MappedScores(TwoGroups(0.2, (-1.0, 1.0), (1.0, 0.5)), whole_percent),
    ],
)
def test_quantiles_of_a_law_are_those_of_its_draws(law) -> None:
    level = np.array([0.001, 0.1, 0.4, 0.5, 0.8, 0.99])
    expected, rest = law.quantiles(level, 1 - level)
    assert np.quantile(law.draw(400_000, 1), level) == pytest.approx(expected, abs=0.011)
    assert expected + rest == pytest.approx(1)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_a_design_samples_its_population(design) -> None:
    true, expected = design.truth.prevalence(), design.truth.functional("signed_error")
    events, errors = [], []
    for seed in range(60):
        study = design.sample(np.random.default_rng(seed))
        y, weight = study["y_true"], study.get("sample_weight")
        s = study["y_prob"] if "y_prob" in study else study["imputations"].mean(axis=0)
        events.append(np.average(y, weights=weight))
        errors.append(np.average(y - s, weights=weight))
    for values, value in ((events, true), (errors, expected)):
        assert np.mean(values) == pytest.approx(value, abs=4 * np.std(values) / 60**0.5 + 0.002)


def test_gaps_of_stated_probabilities_are_measured_in_bins() -> None:
    stated = np.repeat([0.2, 0.6, 1.0], 100)
    true = np.r_[np.arange(100) < 20, np.arange(100) < 45, np.arange(100) < 98]
    rows = pd.DataFrame({"stated": stated, "true": true, "kind": "one", "n": 300, "limit": 0.01})
    table = asked.reliability(rows)
    assert table["gap"].round(9).tolist() == [0, 0.15, 0.02]
    assert asked.largest_gap(rows, 100) == pytest.approx(0.15)
    assert np.isnan(asked.largest_gap(rows, 101))
    sure = asked.sure_and_true(rows, ["kind"])
    assert sure.loc["one"].tolist() == [0.98, 100]
    assert asked.brier(rows.iloc[:100]) == pytest.approx(0.16)
    edges = asked.reliability(pd.DataFrame({"stated": [0.0, 0.3, 0.975, 1.0], "true": True}))
    assert edges["count"].to_dict() == {"0 to 0.025": 1, "0.3 to 0.5": 1, "0.975 to 1": 2}


def test_intervals_are_scored_and_missing_ones_counted() -> None:
    table = pd.DataFrame(
        {
            "cell": ["a", "a", "b", "b"],
            "n": 300,
            "exact": [False, False, True, True],
            "tce_true": [0.02, 0.02, 0.0, 0.0],
            "tce_lower_95": [0.01, 0.03, 0.0, 0.0],
            "tce_upper_95": [0.03, 0.05, 0.02, 0.02],
            "tce_lower_80": [0.01, 0.03, 0.0, 0.01],
            "tce_upper_80": [0.03, 0.05, 0.01, 0.02],
            "above_more": [0.5, 0.99, 0.0, 0.0],
            "below_less": [0.975, 0.0, 1.0, 1.0],
        }
    )
    cells = asked.by_cell(table)
    assert cells["covered"].tolist() == [0.5, 1]
    assert cells["covered_80"].tolist() == [0.5, 0.5]
    assert cells["above"].tolist() == [0.5, 0]
    assert asked.scores(table, "tce").tolist() == pytest.approx([0.02, 0.02 + 0.4, 0.02, 0.02])
    assert asked.scores(table, "tce", 80)[3] == pytest.approx(0.01 + 0.1)
    wrong = asked.false_verdicts(table)
    assert wrong.to_numpy().tolist() == [[0.5, 0.5]]


def test_a_report_contradicts_itself_when_a_distance_is_less_than_the_signed_error() -> None:
    class Stated:
        """The signed error is from .02 to .04; TCE is stated from .01 to .05."""

        def interval(self, name, level, **options):
            return (0.02, 0.04) if name == "signed_error" else (0.01, 0.05)

        def prob_above(self, x, name="tce", **options):
            return 0.7 if name == "signed_error" else 0.6

        def prob_below(self, x, name="tce", **options):
            return 0.0 if name == "signed_error" else 0.3

    ends = {"lower_95": 0.01, "upper_95": 0.05, "lower_80": 0.02, "upper_80": 0.03}
    row = {f"{name}_{end}": x for name in ("tce", "tce_2", "emax") for end, x in ends.items()}
    shortage = benchmark.contradictions(Stated(), row)
    assert shortage["excluded_95"] == pytest.approx(0.01)
    assert shortage["excluded_80"] == pytest.approx(0.01)
    assert shortage["crossed"] == pytest.approx(0.1)
    assert shortage["apart"] == pytest.approx(0.1)


def test_a_verdict_is_wrong_when_the_error_lies_on_the_other_side_of_the_limit() -> None:
    table = pd.DataFrame(
        {
            "tce_below_0.03": [0.98, 0.99, 0.01, 0.0, 0.5],
            "tce_above_0.03": [0.02, 0.01, 0.99, 1.0, 0.5],
            "tce_true": [0.02, 0.04, 0.02, 0.04, 0.03],
        }
    )
    assert asked.verdicts(table).tolist() == [0.8, 0.5]
    assert asked.verdicts(table, level=0.999).tolist() == [0.2, 0]


def test_dropping_a_patient_moves_a_probability_by_as_much_as_it_says() -> None:
    columns = [f"tce_above_{limit:g}" for limit in asked.LIMITS["tce"]]
    rows = [[0.9, 0.5, 0.06, 0.02], [0.85, 0.7, 0.06, 0.0], [0.9, 0.5, 0.0, 0.02]]
    table = pd.DataFrame(rows, columns=columns).assign(set=1, patient=[-1, 0, 1])
    moves = asked.dropped_moves(table)
    assert moves["moves"].tolist() == pytest.approx([0.2])
    assert moves["falls"].tolist() == [True]


def test_the_page_has_every_cell_and_what_is_asked(stored) -> None:
    text = page.one_posterior_page()
    assert f"| {MISSED} | 300 |" in text
    assert f"| {DESIGNS[3].name} |" in text
    assert all(f"*{page._plain_kind(kind.__name__)}*" in text for kind in KINDS)
    bars = asked.bars(stored)
    met = sum(bar.met for bar in bars)
    assert f"{met} of {len(bars)} conditions are met." in text
    assert {bar.number for bar in bars} == {0, 1, 2, 3, 4, 5, 6, 7, 9}


def test_there_is_no_page_before_it_is_measured(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    assert page.one_posterior_page() == ""


def test_every_part_is_stored_by_the_same_code() -> None:
    codes = set()
    for part in results.PARTS:
        file = STORED / f"{part}.npz"
        assert file.stat().st_size < 1_000_000
        with np.load(file) as columns:
            codes.add(json.loads(str(columns["versions"]))["code"])
    assert len(codes) == 1
    assert {bar.number for bar in asked.bars(results.stored_parts())} == set(page.TITLES)
    assert "nan" not in page.one_posterior_page()


def test_the_page_says_how_many_data_sets_it_rests_on_and_how_precise_they_are(stored) -> None:
    cells = pd.concat([stored["cells"]] * 50).reset_index(drop=True)
    words = results.precision(cells, stored["designs"])
    assert f"{(0.95 * 0.05 / 100) ** 0.5:.3f} in a fixed cell" in words
    assert f"{(0.95 * 0.05 / 200) ** 0.5:.3f} in the mean over all fixed cells" in words
    assert f"the two are {(0.95 * 0.05 / 2) ** 0.5:.3f} and {(0.8 * 0.2 / 2) ** 0.5:.3f}" in words
    assert "(2 of each kind and size)" in page.one_posterior_page()


def test_conditions_that_are_not_met_come_first_with_what_was_measured() -> None:
    met = asked.at_most(1, "gap", 0.1, 0.0999)
    missed = asked.at_least(6, "slope: coverage at 95 %, mean", 0.92, 0.9198)
    first, table = page._asked([met, missed])
    assert first.startswith("1 of 2 conditions are met. Not met:")
    assert first.endswith("slope: coverage at 95 %, mean; asked at least 0.92, measured 0.9198")
    assert "| gap | at most 0.1 | 0.0999 | yes |" in table
    assert page._asked([met])[0] == "1 of 1 conditions are met."


def test_the_page_on_exact_calibration_quotes_the_stored_shares() -> None:
    kinds = results.stored_parts()["kinds"]
    text = " ".join((DOCS / "explanation" / "calibrated.md").read_text("utf-8").split())
    assert f"of which {100 * kinds['exact'].mean():.0f} % are exactly calibrated" in text
    rows = pd.DataFrame({"stated": kinds["prob_calibrated"], "true": kinds["exact"].astype(bool)})
    bins = asked.reliability(rows).tail(2)
    (low, high) = (
        [f"{row[name]:.2f}"[1:] for name in ("stated", "true")] for _, row in bins.iterrows()
    )
    assert f"a stated {low[0]} on average was true of {low[1]}, and {high[0]} of {high[1]}" in text


def test_the_tutorial_quotes_the_stored_coverage_of_the_largest_error() -> None:
    cells = pd.DataFrame(
        json.loads((benchmark.RESULTS / "number_coverage.json").read_text("utf-8"))["cells"]
    )
    least = cells[cells["target"] == "emax"].groupby("size")["coverage"].min()
    text = " ".join((DOCS / "tutorial.md").read_text("utf-8").split())
    assert f"in at least {int(100 * least[200])} % of the data sets of every" in text
    assert f"5000 in as few as {100 * least[5000]:.0f} %" in text
