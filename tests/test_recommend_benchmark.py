"""The benchmark of recommended updates: its populations, its numbers, what is asked, its page."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import recommend as benchmark
import recommend_bars as asked
import recommend_page as page
from bayescal.inference.loo import LeaveOneOut
from bayescal.model.curves import updates
from one_posterior_bars import reliability
from recommend_kinds import FORMS, KINDS, RATES, calibrated, drawn

N, LEVEL = 400, -0.6


def compared(short: dict[str, float], design_effect: float = 1.0):
    """A comparison in which families fall short of the best by so many standard errors.

    The best has the same log score for all patients. Those of another family lie at two values,
    half of the patients at each, whose mean is `short` standard errors lower.
    """
    spread = np.where(np.arange(N) % 2, 0.02, -0.02)
    loo = {}
    for name in updates():
        lower = short.get(name, 5.0)
        pointwise = np.full(N, LEVEL)
        if lower:
            pointwise += spread - lower * 0.02 / np.sqrt(N)
        loo[name] = LeaveOneOut(float(pointwise.sum()), pointwise, np.ones(N), 0.1)
    return SimpleNamespace(loo=loo, design_effect=design_effect)


@pytest.mark.parametrize(
    ("short", "choice"),
    [
        ({"identity": 0.0}, "identity"),
        ({"logistic": 0.0, "identity": 0.99}, "identity"),
        ({"logistic": 0.0, "identity": 1.01}, "logistic"),
        ({"beta": 0.0, "identity": 1.9, "logistic": 0.99}, "logistic"),
        ({"spline": 0.0, "beta": 1.01, "logistic": 1.5}, "spline"),
    ],
)
def test_the_former_rule_takes_the_simplest_within_one_standard_error(short, choice) -> None:
    assert benchmark.one_standard_error(compared(short)) == choice
    if choice == "logistic" and short["identity"] < 2:
        assert benchmark.one_standard_error(compared(short, design_effect=4.0)) == "identity"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_populations_of_a_kind_have_the_risks_of_their_patients(kind) -> None:
    prevalence = []
    for run in range(3):
        truth, rng = drawn(kind, 300, run, 1)
        y, s = truth.sample(100_000, rng)
        assert y.mean() == pytest.approx(truth.curve(s).mean(), abs=0.006)
        score, risk = benchmark.at_nodes(truth)
        assert risk.mean() == pytest.approx(y.mean(), abs=0.008)
        assert score.mean() == pytest.approx(s.mean(), abs=0.006)
        prevalence.append(risk.mean())
    assert len(set(prevalence)) == 3


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rate", RATES)
def test_calibrated_populations_have_their_share_of_events(rate, form) -> None:
    score, risk = benchmark.at_nodes(calibrated(rate, form))
    np.testing.assert_allclose(score, risk, rtol=1e-9)
    assert risk.mean() == pytest.approx(rate, abs=0.002)


def test_a_data_set_has_the_truth_of_every_update() -> None:
    row = benchmark.of_kind(KINDS[0], 300, 3)
    assert (row["kind"], row["n"], row["run"]) == ("hospital", 300, 3)
    truth, rng = drawn(KINDS[0], 300, 3, benchmark.SEED)
    y, s = truth.sample(300, rng)
    post = benchmark.bc.fit(y, s, curve="logistic", draws=benchmark.DRAWS, random_state=0)
    new_y, new_s = truth.sample(200_000, 1)
    after = np.interp(new_s, np.sort(s), benchmark.mean_curve(post, np.sort(s)))
    fall = np.mean((new_y - new_s) ** 2 - (new_y - after) ** 2)
    assert row["logistic_true"] == pytest.approx(fall, abs=0.0015)
    for name in asked.UPDATES:
        assert row[f"{name}_lower"] <= row[f"{name}_gain"] <= row[f"{name}_upper"]
        assert 0 <= row[f"{name}_benefit_prob"] <= 1


def rows_of(**columns) -> pd.DataFrame:
    """Data sets in which all updates have the same numbers."""
    given = {key: np.atleast_1d(value) for key, value in columns.items()}
    size = max(map(len, given.values()))
    table = pd.DataFrame({"kind": "one", "n": np.full(size, 300), "events": 100})
    for name in asked.UPDATES:
        for what in ("prob", "true", "gain", "lower", "upper"):
            table[f"{name}_{what}"] = np.resize(given.get(what, np.zeros(1)), size)
    for what in ("choice", "former"):
        table[what] = np.resize(given.get(what, np.array(["identity"])), size)
    return table


def test_what_is_asked_is_measured() -> None:
    rows = rows_of(
        prob=np.full(200, 0.8),
        true=np.where(np.arange(200) < 130, 0.003, -0.001),
        lower=-0.002,
        upper=0.002,
        choice=["beta", "identity"],
        former=["identity"] * 100 + ["spline"] * 100,
    )
    assert asked.gap(asked.statements(rows, "beta")) == pytest.approx(0.15)
    assert len(asked.statements(rows)) == 100
    assert set(asked.statements(rows)["update"]) == {"beta"}
    assert asked.covered(asked.statements(rows, "spline")) == pytest.approx(0.35)
    power = asked.power(rows).loc[300]
    assert power.tolist() == pytest.approx([0.5, 30 / 130, 130])
    measured = {bar.what: bar for bar in asked.of_probabilities(rows)}
    assert not measured["largest gap of stated and true, beta"].met
    few = rows_of(prob=[0.5, 0.6], choice=["", "intercept"]).assign(events=[19, 5])
    (bar,) = asked.of_few(few)
    assert (bar.measured, bar.met) == (0.5, False)


def test_shares_of_calibrated_data_are_held_to_two_percent() -> None:
    cell = pd.DataFrame({"rate": 0.2, "n": 100, "choice": ["beta"] * 4 + ["identity"] * 196})
    table = pd.concat([cell, cell.assign(n=200, choice="identity")]).assign(former="spline")
    one, other, everything = asked.of_calibrated(table)
    assert (one.measured, other.measured, everything.measured) == (0.02, 0, 0.01)
    assert one.bound == pytest.approx(0.0398)
    assert one.met
    assert not next(asked.of_calibrated(table.assign(choice="beta"))).met


@pytest.fixture(scope="module")
def stored() -> dict[str, pd.DataFrame]:
    return page.stored_parts()


def test_the_stored_results_are_of_the_data_sets_that_are_described(stored) -> None:
    counts = stored["kinds"].groupby(["n", "kind"]).size()
    assert {n: set(counts[n]) for n in benchmark.SIZES} == {
        n: {runs} for n, runs in benchmark.SIZES.items()
    }
    assert set(stored["kinds"]["kind"]) == {kind.__name__ for kind in KINDS} == set(page.KINDS)
    assert (stored["calibrated"].groupby(["rate", "n"]).size() >= 200).all()
    for part in ("kinds", "calibrated"):
        file = page.RESULTS / "recommend" / f"{part}.npz"
        assert file.stat().st_size < 1_000_000


def test_the_stored_results_meet_what_is_asked_but_for_small_probabilities(stored) -> None:
    missed = {bar.what: bar for bar in asked.bars(stored) if not bar.met}
    simple = ("intercept", "logistic", "beta", "lapse")
    names = {f"largest gap of stated and true, {name}": name for name in simple}
    one_more = "share of calibrated sets with an update, 20 % events, n = 400"
    assert set(missed) == {*names, one_more}
    assert missed[one_more].measured * 200 == 8, "the bound is 7.96 of 200"
    kinds = stored["kinds"]
    judged = kinds[asked.enough(kinds)].reset_index(drop=True)
    for name in names.values():
        table = reliability(asked.statements(judged, name))
        wide = table[(table["count"] >= asked.MANY) & (table["gap"] > 0.08)]
        assert (wide["true"] > wide["stated"]).all(), "too small, and never too large"
        assert wide["gap"].max() < 0.14


def test_the_page_says_what_is_met_and_where_it_is_weak(stored) -> None:
    text = page.recommend_page()
    bars = asked.bars(stored)
    assert f"{sum(bar.met for bar in bars)} of {len(bars)} conditions are met." in text
    for bar in bars:
        assert bar.met or f"{bar.what}; asked {bar.relation} {bar.bound:g}, measured" in text
    for words in ("## Where it is weak", "## With thresholds", "| n = 100 |"):
        assert words in text
    assert "nan" not in text


def test_there_is_no_page_before_it_is_measured(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    assert page.recommend_page() == ""
