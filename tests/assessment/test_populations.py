"""An assessment of groups opens with whom it is true of, each population with its verdict."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.assessment.populations import populations_of
from bayescal.assessment.text.sites import site_sentences
from bayescal.assessment.verdict.words import whom


def assessed(groups: int, sd: float, n: int = 900):
    """An assessment of groups whose true shifts have this standard deviation."""
    rng = np.random.default_rng(5)
    x, group = rng.normal(-0.5, 1.2, n), np.arange(n) % groups
    shifts = sd * np.linspace(-1.4, 1.4, groups)
    y = (rng.random(n) < expit(x + shifts[group])).astype(int)
    return bc.assess(y, expit(x), groups=[f"H{g}" for g in group], draws=400, random_state=1)


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
            shown = tuple(table.loc[name, f"{functional}_{end}"] for end in ("lower", "upper"))
            assert shown == pytest.approx(ends)
        assert table.loc[name, "prob_close"] == view.prob_tce_below(six.close)
    widths = table["observed_expected_upper"] - table["observed_expected_lower"]
    assert widths["next"] > 2 * widths["these"]


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
    expected = "close enough" if close > 0.5 else "miscalibrated"
    assert verdicts["these"] == expected


def test_one_population_has_no_such_table():
    y, s = bc.simulate.sample("calibrated", 150, random_state=1)
    one = bc.assess(y, s, draws=400, random_state=1)
    assert one.populations is None
    assert "populations" not in one.tables
    assert "populations" not in one.to_dict()
