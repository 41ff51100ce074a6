"""An assessment of groups opens with whom it is true of, each population with its verdict."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.assessment.html import render
from bayescal.assessment.populations import populations_of
from bayescal.assessment.text.sites import site_sentences
from bayescal.assessment.verdict.words import to_do, whom
from bayescal.gain.updates.gains import gains_of


def assessed(groups: int, sd: float, n: int = 900):
    """An assessment of groups whose true shifts have this standard deviation."""
    rng = np.random.default_rng(5)
    x, group = rng.normal(-0.5, 1.2, n), np.arange(n) % groups
    shifts = sd * np.linspace(-1.4, 1.4, groups)
    y = (rng.random(n) < expit(x + shifts[group])).astype(int)
    groups = [f"H{g}" for g in group]
    return bc.assess(y, expit(x), site=groups, thresholds=[0.4], draws=400, random_state=1)


@pytest.fixture(scope="module")
def six():
    return assessed(6, 0.8)


@pytest.fixture(scope="module")
def three():
    return assessed(3, 0.8, 300)


def test_each_row_is_that_view_of_the_hierarchical_fit(six):
    table = six.populations
    views = {"these": six.sites.at(), "average": six.sites.average(), "next": six.sites.new()}
    assert list(table.index) == list(views)
    for name, view in views.items():
        for functional in ("tce", "observed_expected", "calibration_slope"):
            ends = view.interval(functional)
            if (name, functional) == ("these", "tce"):  # against their own groups
                ends = six.error["lower"], six.error["upper"]
            shown = tuple(table.loc[name, f"{functional}_{end}"] for end in ("lower", "upper"))
            assert shown == pytest.approx(ends)
        below = six.prob_tce_below if name == "these" else view.prob_below
        assert table.loc[name, "prob_close"] == below(six.close)
    widths = table["observed_expected_upper"] - table["observed_expected_lower"]
    assert widths["next"] > 2 * widths["these"]


ENDS = ("estimate", "lower", "upper")


def test_no_two_numbers_of_one_measure_and_population_differ(six):
    """Table of populations, summary, record, first screen and TRIPOD: one posterior."""
    these, view = six.populations.loc["these"], six.sites.at()
    record, first = six.to_dict(), six.tables["first"].to_frame()
    expected = [these[f"tce_{end}"] for end in ENDS]
    assert [record["own_error"][end] for end in ENDS] == pytest.approx(expected)
    assert first.loc["tce", list(ENDS)].tolist() == pytest.approx(expected)
    for name in ("observed_expected", "calibration_slope"):
        expected = [these[f"{name}_{end}"] for end in ENDS]
        assert six.summary().loc[name, list(ENDS)].tolist() == pytest.approx(expected)
        assert [record["functionals"][name][end] for end in ENDS] == pytest.approx(expected)
        assert first.loc[name, list(ENDS)].tolist() == pytest.approx(expected)
    assert (record["verdict"], record["prob_close"]) == (these["verdict"], these["prob_close"])
    assert six.tables["near"].to_frame().loc["0.03", "below"] == these["prob_close"]
    told = view.performance_summary([0.4])
    for name, named in (("c_statistic", "c_statistic"), ("brier_score", "brier")):
        expected = told.loc[named, ["mean", "lower", "upper"]].tolist()
        assert six.performance.loc[name, list(ENDS)].tolist() == pytest.approx(expected)
    benefit = six.net_benefit.loc[0.4]
    assert benefit["lower"] == pytest.approx(told.loc["net_benefit@0.4", "lower"], abs=1e-3)
    worth = view.value_of_information([0.4])
    assert six.information.loc[0.4, "evpi"] == float(worth["evpi"].item())
    assert six.prob_calibrated == six.sites.prob_calibrated["every_site"]


@pytest.mark.slow
def test_words_and_page_have_the_numbers_of_the_first_row(six):
    shown = six.tables["populations"].texts()["these"]
    page = render(six)
    middle, ends = shown["observed_expected"].rstrip(")").split(" (")
    for text in (six.headline(), six.describe(), page):
        flat = text.replace("\n", " ")
        assert f"O/E {middle}, {ends.replace(' to ', ' to ')}" in flat
    assert six.tables["measures"].texts()["observed_expected"]["interval"] == ends
    for text in (str(six), page, six.describe(), six.tripod()):
        assert "Families of curves were weighted" not in text
    assert "against the patients' own groups" in six.headline()
    assert "every group is exactly calibrated" in str(six)


def test_the_gains_of_updates_are_those_of_these_patients(six):
    advice = six.recommendation
    here = gains_of(six.comparison, [0.4], six.sites.at())["net_benefit@0.4"]["logistic"]
    pooled = gains_of(six.comparison, [0.4])["net_benefit@0.4"]["logistic"]
    gain = advice.table.loc["logistic", "net_benefit_gain@0.4"]
    assert gain == pytest.approx(here.mean())
    assert gain != pytest.approx(pooled.mean())
    assert "the patients of these 6 groups" in to_do(six)
    chosen = advice.choice
    if chosen not in (None, "identity"):
        there = gains_of(six.comparison, [0.4], six.sites.new())["net_benefit@0.4"]
        assert six.prob_better_elsewhere == np.mean(there[chosen] > 0)
        assert "in the next group it is better than no update" in to_do(six)


def test_shrunk_and_raw_groups_are_one_table(six):
    table, sites = six.by_group, six.sites.table()
    for name in ("observed_expected", "calibration_slope"):
        shrunk = sites[[name, f"{name}_lower", f"{name}_upper"]].loc[table.index].to_numpy()
        own = table[[f"{name}_{end}" for end in ENDS]].to_numpy()
        np.testing.assert_allclose(own, shrunk)
        raw = sites[f"{name}_raw"].loc[table.index].to_numpy()
        np.testing.assert_allclose(table[f"{name}_raw"].to_numpy(), raw)
    assert "Alone" in str(six)


def test_scores_that_separate_no_better_than_chance_are_seen_in_the_data(three):
    other = replace(three)
    in_data = three.performance.assign(estimate=0.4, lower=0.3, upper=0.45)
    assert other.performance_is_of_curve
    other.__dict__["_performance_in_data"] = in_data
    assert not other.performance_is_of_curve
    assert other.performance.equals(in_data)


@pytest.mark.slow
def test_periods_open_with_all_the_last_and_the_next():
    rng = np.random.default_rng(4)
    x, month = rng.normal(-0.5, 1.2, 600), np.repeat(["2024-01", "2024-02", "2024-03"], 200)
    y = (rng.random(600) < expit(x + 0.9 * (month == "2024-03"))).astype(int)
    cases = bc.CalibrationData(y, expit(x), period=month)
    a = bc.assess(cases, draws=400, random_state=1)
    views = {"these": a.periods.at(), "now": a.periods.now(), "next": a.periods.new()}
    assert list(a.populations.index) == list(views)
    for name, view in views.items():
        upper = a.error["upper"] if name == "these" else view.interval("tce")[1]
        assert a.populations.loc[name, "tce_upper"] == pytest.approx(upper)
    assert a.table.equals(views["these"].summary())
    text = " ".join(str(a).split())
    assert "patients of these 3 periods" in text
    assert "In the last period, 2024-03, O/E is" in text
    assert "In the next period expect between" in text
    assert "every period is exactly calibrated" in text
    record, page = a.to_dict(), render(a)
    assert set(record["populations"]) == set(views)
    assert record["periods"]["prob_changed"] == (1 - a.periods.explanations["constant"])
    assert sum(record["periods"]["explanations"].values()) == pytest.approx(1)
    assert "Last period" in page
    assert "Period by period" in page
    assert 'id="periods-figure' in page
    into = a.periods.when_changed()["prob"].idxmax()
    for told in (text, " ".join(page.replace("\xa0", " ").split()), a.tripod()):
        assert f"The largest change was most probably into {into}" in told
        assert "A model in use changes outcomes" in told


def test_the_terminal_opens_with_them(six):
    text = str(six)
    order = ["900 cases", "All patients", "Average group", "Next group"]
    places = [text.index(each) for each in [*order, six.headline()[:30]]]
    assert places == sorted(places)
    assert next(iter(six.tables)) == "populations"
    below = six.populations.loc["next", "prob_close"]
    verdict = six.populations.loc["next", "verdict"]
    assert f"{verdict}: the error is below 0.03 with probability {below:.2f}" in text
    assert max(map(len, six.tables["populations"].lines())) <= 80
    assert len(six.tables["populations"].to_frame()) == 3


def test_the_record_has_them_and_keeps_its_schema(six):
    record = six.to_dict()
    assert set(record["populations"]) == {"these", "average", "next"}
    assert record["populations"]["next"]["verdict"] in (
        "close enough", "miscalibrated", "cannot tell",
    )  # fmt: skip


def test_with_fewer_than_five_groups_nothing_is_said_of_a_next_one(three):
    assert list(three.populations.index) == ["these", "average"]
    assert "Next group" not in str(three)
    assert "nothing can be said of a next one" in whom(three)
    assert "has not been seen" not in " ".join(site_sentences(three))


@pytest.mark.parametrize("close", [1e-4, 0.9])
def test_verdicts_follow_the_limit(six, close):
    verdicts = populations_of(six.sites, close, 0.95)["verdict"]
    expected = "cannot tell" if close > 0.5 else "miscalibrated"  # groups are clearly off
    assert verdicts["these"] == expected


def test_one_population_has_no_such_table():
    y, s = bc.simulate.sample("calibrated", 150, random_state=1)
    one = bc.assess(y, s, draws=400, random_state=1)
    assert one.populations is None
    assert "populations" not in one.tables
    assert "populations" not in one.to_dict()
