"""The essentials of STRATOS: the range of thresholds, whom a threshold selects, and by group."""

from __future__ import annotations

import numpy as np
import pytest

import bayescal as bc
from bayescal.assessment import html as report
from bayescal.assessment.essentials import decision_range
from bayescal.assessment.record import schema
from bayescal.assessment.schema.validate import first_fault
from bayescal.assessment.word import document

CASES = 300


@pytest.fixture(scope="module")
def cases():
    return bc.simulate.sample("clinical-middle-overconfident", CASES, random_state=1)


@pytest.fixture(scope="module")
def plain(cases):
    return bc.assess(*cases, estimators=("ece",), draws=400, random_state=1)


@pytest.fixture(scope="module")
def grouped(cases):
    groups = np.array(["north", "south"])[np.arange(CASES) % 2]
    options = {"thresholds": [0.05, 0.3], "estimators": ("ece",), "draws": 400, "random_state": 1}
    return bc.assess(*cases, site=groups, **options)


@pytest.fixture(scope="module")
def plain_page(plain):
    return report.render(plain)


@pytest.mark.parametrize(
    ("events", "given", "expected"),
    [
        (20, (), (0.1, 0.4, (0.1, 0.2, 0.4), True)),
        (20, (0.3,), (0.1, 0.4, (0.3,), False)),
        (20, (0.05, 0.5), (0.05, 0.5, (0.05, 0.5), False)),
        (90, (), (0.45, 0.99, (0.45, 0.9, 0.99), True)),
        (1, (), (0.01, 0.02, (0.01, 0.02), True)),
        (0, (), (0.01, 0.02, (0.01, 0.02), True)),
    ],
)
def test_the_range_is_half_to_twice_the_prevalence_and_holds_what_was_given(
    events, given, expected
) -> None:
    y_true = np.arange(100) < events
    post = bc.fit(y_true, np.linspace(0.1, 0.9, 100), curve="intercept", draws=400, random_state=1)
    assert decision_range(post, given) == expected


def test_what_a_threshold_selects_is_that_of_the_data(cases, plain) -> None:
    """The curve is smooth and its draws have an interval that holds the proportions."""
    y_true, y_prob = cases
    for threshold, row in plain.classification.iterrows():
        treated = y_prob >= threshold
        counted = {
            "treated": treated.mean(),
            "sensitivity": treated[y_true == 1].mean(),
            "specificity": 1 - treated[y_true == 0].mean(),
            "ppv": y_true[treated].mean(),
            "npv": 1 - y_true[~treated].mean(),
        }
        for name, value in counted.items():
            assert row[f"{name}_lower"] - 0.03 < value < row[f"{name}_upper"] + 0.03, name
            assert row[f"{name}_estimate"] == pytest.approx(value, abs=0.06), name


def test_a_threshold_that_nobody_reaches_has_no_predictive_value(cases) -> None:
    y_true, y_prob = cases
    a = bc.assess(y_true, y_prob / 2, thresholds=[0.9], estimators=(), draws=400, random_state=1)
    assert np.isnan(a.classification.loc[0.9, "ppv_estimate"])
    cells = a.tables["classification"].texts()["0.9"]
    assert cells["ppv"] == "not defined"
    assert cells["sensitivity"] == "0 (0 to 0)"


@pytest.mark.slow
def test_a_default_range_is_said_to_be_one_and_decides_nothing(plain, plain_page, grouped) -> None:
    other = report.render(grouped)
    assert "No threshold was given" in plain_page
    assert "nothing is recommended by it" in plain_page
    assert plain.recommendation.thresholds == ()
    assert "No threshold was given" not in other
    assert "only these decide what is recommended" in other
    assert "Each group: C-statistic" in other
    assert str(plain).count("Sens.") == 0
    assert str(grouped).count("Sens.") == 1


def test_the_section_has_all_four(plain_page) -> None:
    page = plain_page
    section = page[page.index('<h2 id="essentials">') : page.index('<h2 id="update">')]
    for name in ("calibration-title", "benefit-figure-title", "risks-figure-title"):
        assert f'id="{name}"' in section
    assert "C-statistic" in section
    assert "Sensitivity" in section


def test_each_group_has_its_own_numbers(cases, grouped) -> None:
    y_true, y_prob = cases
    table = grouped.essentials_by_group
    assert list(table.index) == ["north", "south"]
    for k, name in enumerate(table.index):
        own = bc.scores.c_statistic(y_true[k::2], y_prob[k::2])
        assert table.loc[name, "c_statistic_estimate"] == pytest.approx(own)
        assert table.loc[name, "c_statistic_lower"] < own < table.loc[name, "c_statistic_upper"]
        benefit = grouped.group(name).net_benefit([0.3])["model"].median()
        assert table.loc[name, "net_benefit@0.3_estimate"] == pytest.approx(float(benefit))
    assert {"essentials_groups"} <= set(grouped.tables)
    assert first_fault(grouped.to_dict(), schema()) == ""
    assert set(grouped.to_dict()["essentials"]["groups"]) == {"north", "south"}


@pytest.mark.slow
def test_levels_of_factors_have_theirs_and_tripod_tells_them(cases) -> None:
    y_true, y_prob = cases
    factors = {"sex": np.arange(CASES) % 2, "class": np.arange(CASES) % 3}
    options = {"estimators": (), "draws": 400, "random_state": 1}
    a = bc.assess(y_true, y_prob, subgroup=factors, **options)
    own = float(a.several.at({"sex": "1"}).performance()["c_statistic"].mean())
    assert a.essentials_by_subgroup.loc["sex: 1", "c_statistic_estimate"] == pytest.approx(own)
    in_data = bc.scores.c_statistic(y_true[1::2], y_prob[1::2])
    assert own == pytest.approx(in_data, abs=0.06)
    assert set(a.to_dict()["essentials"]["subgroups"]) >= {"sex: 0", "class: 2"}
    assert f"sex: 1: O/E {a.tables['levels'].texts()['sex: 1']['observed_expected']}" in a.tripod()
    assert "in the levels of sex, class" in a.tripod()
    assert len(document(a)) > 10_000


@pytest.mark.slow
def test_times_to_an_event_have_no_risks_by_outcome() -> None:
    rng = np.random.default_rng(1)
    risk = rng.beta(2, 5, 200)
    end = rng.exponential(-1 / np.log1p(-risk))
    left = rng.uniform(0.3, 2, 200)
    times = bc.Survival(np.minimum(end, left), end <= left)
    a = bc.assess(times, risk, horizon=1.0, draws=400, random_state=1)
    page = report.render(a)
    assert "risks-figure" not in page
    assert "benefit-figure-title" in page
    assert 0 < a.decision_range.lowest < 0.3
