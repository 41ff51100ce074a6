"""The error that leads a page of groups is against the curve of each patient's own group."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.assessment.html import render
from bayescal.assessment.record import schema
from bayescal.assessment.verdict.words import title, to_do
from bayescal.data.table import CalibrationData
from bayescal.model.problem import prepare
from bayescal.multilevel.own import OwnProblem
from bayescal.multilevel.populations import _shares

CHEAP: Any = {"estimators": ("ece",), "draws": 1000, "random_state": 1}
HALVES = [0.45, -0.45] * 6
TIMES: Any = {"draws": 1000, "random_state": 1}
CLOSE = ("close enough", "ithin the default limit", "ithin your limit", "o not update")


def outcomes(shifts, each=300, seed=2):
    """Outcomes and scores of groups whose true log-odds are shifted so, and the group's number."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(len(shifts)), each)
    x = rng.normal(-1, 1.2, group.size)
    y = (rng.random(group.size) < expit(x + np.array(shifts)[group])).astype(int)
    return y, expit(x), group


def head(a: bc.Assessment) -> str:
    """What is printed above the limit."""
    return " ".join(str(a).split("The default limit")[0].split())


@pytest.fixture(scope="module")
def halves() -> bc.Assessment:
    y, s, group = outcomes(HALVES)
    return bc.assess(y, s, site=[f"H{k}" for k in group], **CHEAP)


def test_errors_of_groups_do_not_cancel_in_the_error_that_leads(halves) -> None:
    _, s, group = outcomes(HALVES)
    x, shift = np.log(s / (1 - s)), np.array(HALVES)[group]
    truth = np.abs(expit(x + shift) - s).mean()
    assert halves.error["lower"] < truth < halves.error["upper"]
    assert halves.table.loc["tce", "upper"] < halves.error["lower"]
    assert (halves.verdict, halves.off.answer) == ("miscalibrated", "yes")
    assert len(halves.clearly_off) > 6


def test_no_page_calls_groups_close_that_are_off(halves) -> None:
    told = head(halves)
    number = len(halves.clearly_off)
    assert f"{number} of 12 groups are clearly off, by events for 100 predicted: H" in told
    assert "against the patients' own groups" in told
    assert "errors of groups cancel" in told
    page = " ".join(unescape(render(halves)).replace("\xa0", " ").split())
    for text in (told, halves.headline(), title(halves), page.split("The limit.")[0]):
        assert not any(each in text for each in CLOSE)
    assert halves.headline() in page
    record = json.loads(json.dumps(halves.to_dict()))
    jsonschema.validate(record, schema())
    assert record["headline"] == halves.headline()
    assert record["recommendation"]["text"] in to_do(halves)
    assert list(record["clearly_off"]) == list(halves.clearly_off)
    assert record["own_error"] == pytest.approx(halves.error)
    assert record["prob_close"] == halves.prob_tce_below(halves.close)
    these = halves.populations.loc["these"]
    assert [these[f"tce_{end}"] for end in halves.error] == pytest.approx([*halves.error.values()])
    measures = halves.tables["measures"].to_frame()
    assert measures.loc["own_error", "estimate"] == halves.error["estimate"]
    assert measures.loc["tce", "estimate"] == halves.table.loc["tce", "estimate"]


def test_that_no_update_for_all_helps_is_no_advice_to_leave_groups(halves) -> None:
    a = replace(halves)
    a.__dict__["recommendation"] = replace(halves.recommendation, choice="identity")
    assert to_do(a).startswith(
        "No one update for all groups is recommended: look at the groups that are clearly off, one "
        "by one. "
    )
    assert a.to_dict()["recommendation"]["text"] == to_do(a)
    for text in (to_do(a), str(a), a.describe(), a.tripod(), render(a)):
        assert "o not update" not in text
        assert "This is one update for all" not in text


@pytest.mark.slow
def test_fifteen_hospitals_alike_are_not_named() -> None:
    y, s, group = outcomes([0.0] * 15, each=200)
    a = bc.assess(y, s, site=[f"H{k}" for k in group], **CHEAP)
    assert a.clearly_off == {}
    assert a.error["lower"] == 0
    assert a.off.answer == "no sign"
    assert a.verdict != "miscalibrated"
    assert "clearly off" not in head(a)


@pytest.mark.slow
def test_one_small_group_keeps_the_verdict_from_close_enough() -> None:
    y, s, group = outcomes([0.0] * 8, each=400)
    few = np.flatnonzero(group == 7)[:120]
    y[few] = np.random.default_rng(4).random(120) < expit(np.log(s[few] / (1 - s[few])) + 1.8)
    keep = (group < 7) | np.isin(np.arange(y.size), few)
    label = [f"H{k}" for k in group[keep]]
    a = bc.assess(y[keep], s[keep], site=label, close=0.2, **CHEAP)
    assert list(a.clearly_off) == ["H7"]
    assert a.prob_tce_below(0.2) == 1
    assert (a.verdict, a.populations["verdict"]["these"]) == ("cannot tell", "cannot tell")
    assert a.more_to_settle == 0
    assert "clearly off, by events for 100 predicted: H7" in head(a)
    assert "says nothing of single groups" in a.headline()


@pytest.mark.slow
def test_two_groups_that_are_fitted_by_themselves_do_not_cancel_either() -> None:
    y, s, group = outcomes([0.8, -0.8], each=500)
    a = bc.assess(y, s, site=group, **CHEAP)
    assert a.several is None
    assert a.table.loc["tce", "upper"] < a.error["lower"]
    assert a.verdict == "miscalibrated"
    assert "2 of 2 groups are clearly off" in head(a)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("roles", "kind"),
    [
        (lambda group: {"period": [f"2024-{1 + k:02d}" for k in group]}, "period"),
        (lambda group: {"subgroup": {"sex": group % 2, "age": group // 2}}, "subgroup"),
    ],
)
def test_periods_and_subgroups_are_told_in_their_own_words(roles, kind) -> None:
    y, s, group = outcomes([0.8, -0.8, -0.8, 0.8])
    a = bc.assess(bc.CalibrationData(y, s, **roles(group)), **CHEAP)
    assert a.table.loc["tce", "upper"] < a.error["lower"]
    assert a.verdict == "miscalibrated"
    assert len(a.clearly_off) >= 4
    told = head(a)
    assert f"{kind}s are clearly off, by events for 100 predicted" in told
    assert f"against the patients' own {kind}s" in told
    assert f"errors of {kind}s cancel" in told
    if kind == "subgroup":
        assert {"sex 0, age 0", "sex 0, age 1"} <= set(a.clearly_off)


def test_one_curve_is_told_as_before() -> None:
    y, s, group = outcomes([0.0], each=400)
    for a in (bc.assess(y, s, **CHEAP), bc.assess(y, s, site=group, **CHEAP)):
        assert not a.has_own_curves
        assert a.prob_tce_below(0.03) == a.posterior.prob_below(0.03)
        assert "own" not in a.headline()
        assert "own_error" not in a.to_dict()


def shares(data: CalibrationData) -> np.ndarray:
    pooled = prepare(data.pooled(), random_state=1)
    rows = OwnProblem.of(pooled, tuple(replace(pooled, data=data.select(k)) for k in data.groups))
    return np.stack(_shares(rows, data, 4000, np.random.default_rng(1)), axis=1)


def test_shares_are_those_of_cases_of_weights_and_of_clusters() -> None:
    y, s, group = outcomes([0.0] * 3, each=100)
    keep = np.arange(300) >= 50
    y, s, group = y[keep], s[keep], group[keep]
    labels = np.array(["b", "c", "a"])[group]
    drawn = shares(bc.CalibrationData(y, s, site=labels))  # in the order a, b, c
    n = np.array([100, 50, 100])
    assert drawn.mean(axis=0) == pytest.approx(n / 250, abs=0.003)
    assert drawn.std(axis=0) == pytest.approx(np.sqrt(n / 250 * (1 - n / 250) / 251), rel=0.05)
    weight = np.where(labels == "a", 4.0, 1.0) * np.where(np.arange(250) % 2, 0.5, 1.5)
    weighted = shares(
        bc.CalibrationData(y, s, site=labels, sample_weight=weight, weight_type="sampling")
    )
    total = np.array([weight[labels == each].sum() for each in "abc"])
    assert weighted.mean(axis=0) == pytest.approx(total / total.sum(), abs=0.005)
    cluster = np.arange(250) // 10
    clustered = shares(bc.CalibrationData(y, s, site=labels, cluster=cluster))
    assert clustered.mean(axis=0) == pytest.approx(n / 250, abs=0.01)
    assert (clustered.std(axis=0) > 2.5 * drawn.std(axis=0)).all()


def test_sites_known_by_summaries_have_no_patients() -> None:
    y, s, group = outcomes([0.5, -0.5, 0.5], each=150)
    known = {"site": ["K"], "observed": [90], "expected": [30], "n": [200]}
    post = bc.fit(y, s, site=group, known=known, curve="logistic", draws=1000, random_state=1)
    assert "K" in post.labels
    assert post.own().data.n == y.size
    assert post.own().values_of("tce").shape == (1000,)


@pytest.mark.slow
def test_imputations_and_times_have_it_too() -> None:
    y, s, group = outcomes([0.9, -0.9, 0.9, -0.9], each=250)
    x = np.log(s / (1 - s))
    noise = np.random.default_rng(3).normal(0, 0.1, (3, y.size))
    imputed = bc.assess(y, imputation=expit(x + noise), site=group, **CHEAP)
    plain = bc.assess(y, s, site=group, **CHEAP)
    assert imputed.error["estimate"] == pytest.approx(plain.error["estimate"], abs=0.02)
    time = np.where(y == 1, 0.5, 2.0)
    followed = bc.assess(bc.Survival(time, y), s, horizon=1.0, site=group, **TIMES)
    assert followed.error["estimate"] == pytest.approx(plain.error["estimate"], abs=0.02)
    assert followed.verdict == plain.verdict == "miscalibrated"


@pytest.mark.slow
def test_fifteen_studies_of_brain_injury(shared_data) -> None:
    cases = pd.read_csv(shared_data / "data/clinical/impact_tbi_iecv.csv")
    a = bc.assess(cases.outcome, cases.score, site=cases.study, random_state=1)
    assert [*a.error.values()] == pytest.approx([0.0444, 0.0380, 0.0511], abs=5e-4)
    assert list(a.clearly_off)[:3] == ["UK4", "TCDB", "PEG"]
    assert len(a.clearly_off) == 6
    assert "6 of 15 groups are clearly off" in a.headline()
    assert "UK4 134 (" in a.headline()
    assert "off by 4.4 percentage points on average (95 % interval 3.8 to 5.1)" in a.headline()
    assert not any(each in head(a) for each in CLOSE)
