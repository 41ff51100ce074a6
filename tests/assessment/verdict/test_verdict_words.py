"""The verdict in sentences."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.assessment.verdict import words
from bayescal.assessment.verdict.off import Off

CHEAP: Any = {"estimators": ("ece",), "draws": 1000, "random_state": 1}


@pytest.fixture(scope="module")
def calibrated() -> bc.Assessment:
    return bc.assess(
        *bc.simulate.sample("clinical-middle-calibrated", 300, random_state=2), **CHEAP
    )


@pytest.fixture(scope="module")
def off() -> bc.Assessment:
    y, s = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    return bc.assess(y, s, thresholds=[0.2, 0.5], **CHEAP)


@pytest.fixture(scope="module")
def sites() -> bc.Assessment:
    rng = np.random.default_rng(3)
    site = np.arange(1500) % 6
    x = -1.2 + rng.standard_normal(1500)
    effect = np.array([0, 0, 0, 0, 0.2, -1.3])[site]
    y = (rng.random(1500) < expit(x + effect)).astype(int)
    return bc.assess(y, expit(x), site=[f"ward {k}" for k in site], **CHEAP)


def test_both_answers_are_in_the_headline(calibrated, off) -> None:
    assert words.headline(calibrated).startswith("No sign that the model is off: 77 events for 87 ")
    assert "Risks are off by at most " in words.headline(calibrated)
    assert words.headline(off).startswith(
        "Yes, the model is off: its risks are too extreme, over-confident (slope 0."
    )
    for a in (calibrated, off):
        below = a.prob_tce_below(a.close)
        assert f"the probability is {max(below, 1 - below):.2f}" in words.headline(a)


def test_all_that_is_clear_but_the_limit_has_another_title_than_nothing_clear(
    calibrated, off
) -> None:
    tiny = bc.assess([0, 1, 0, 0, 1, 0, 0, 0, 1, 0], np.linspace(0.1, 0.6, 10), **CHEAP)
    assert {a.verdict for a in (calibrated, off, tiny)} == {"cannot tell"}
    assert len({words.title(a) for a in (calibrated, off, tiny)}) == 3
    assert "there are only 3 events" in words.headline(tiny)


def test_every_pair_of_answers_has_a_title() -> None:
    for answer in ("yes", "no sign", "cannot say"):
        for verdict in ("close enough", "miscalibrated", "cannot tell"):
            possible = (answer, verdict) != ("no sign", "miscalibrated")
            assert ((answer, verdict) in words.TWO_ANSWERS) == possible


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Off("yes", ("level and slope together",)), "off in level and slope taken together (O"),
        (
            Off("yes", ("too high over a range",)),
            "its risks are too high over a range (O/E",
        ),
        (Off("yes"), "though no single way is clear (O/E"),
        (Off("cannot say", why="so"), "cannot say whether the model is off, since so (O/E "),
    ],
)
def test_each_answer_has_its_words(calibrated, answer, told) -> None:
    a = bc.Assessment(**vars_of(calibrated))
    a.__dict__["off"] = answer
    assert told in words.first_answer(a)


def vars_of(a: bc.Assessment) -> dict[str, Any]:
    return {field.name: getattr(a, field.name) for field in dataclasses.fields(a)}


def test_what_is_above_0_is_not_shown_as_0(off) -> None:
    table = off.table.copy()
    table.loc["tce", ["estimate", "lower", "upper"]] = [0.04, 0.0003, 0.11]
    a = bc.Assessment(**vars_of(off))
    a.__dict__["table"] = table
    assert "by 4.00 percentage points on average (95 % interval 0.03 to 11.00)" in words.size(a)


def test_the_limit_is_the_default_or_yours(off) -> None:
    assert "the default limit of 3 points" in words.headline(off)
    own = bc.assess(off.data, close=0.07, **CHEAP)
    assert "your limit of 7 points" in words.headline(own)
    assert "Your limit is an average error of 7 points" in words.limit_reason(own)
    rare = bc.assess(*bc.simulate.sample("clinical-low-calibrated", 600, random_state=1), **CHEAP)
    told = words.limit_reason(rare)
    assert f"an average error of {100 * rare.close:g} point" in told
    assert "a quarter of the mean risk" in told
    assert "a quarter" not in words.limit_reason(off)


def test_the_limit_has_a_meaning_in_net_benefit(off, calibrated) -> None:
    """No curve within the limit loses more than is said, and the worst one loses that."""
    assert words.at_thresholds(calibrated) == ""
    told = re.findall(r"(\S+) where patients are treated from a risk of (\S+) on", off_text(off))
    assert [t for _, t in told] == ["0.2", "0.5"]
    data = off.data
    for cost, threshold in ((float(c), float(t)) for c, t in told):
        near = np.abs(data.score - threshold) < off.close
        for sign in (-1, 1):
            actual = data.score + sign * off.close
            treated, better = data.score >= threshold, actual >= threshold
            worth = (actual - threshold) / (1 - threshold) * (better * 1.0 - treated)
            assert (worth[~near] == 0).all()
            loss = 1000 * data.trials @ worth / data.n
            assert loss <= cost * 1.06
    worst = np.maximum(off.close - np.abs(data.score - 0.2), 0) / 0.8
    assert float(told[0][0]) == pytest.approx(1000 * data.trials @ worst / data.n, rel=0.06)


def off_text(a: bc.Assessment) -> str:
    return " ".join(str(a).split())


@pytest.mark.slow
def test_a_page_with_groups_says_what_the_next_group_meets(sites) -> None:
    told = words.whom(sites)
    lower, upper = sites.sites.new().interval("observed_expected", 0.95)
    assert f"expect between {100 * lower:.0f} and {100 * upper:.0f} events for 100" in told
    assert "so check the model there before it is used" in told
    assert "groups are clearly off, by events for 100 predicted: ward 5 " in words.headline(sites)
    assert "ward 0" not in words.headline(sites)
    assert told in off_text(sites)


def test_two_groups_clusters_and_weights_are_named() -> None:
    y, s = bc.simulate.sample("calibrated", 120, random_state=1)
    two = words.whom(bc.assess(y, s, site=np.arange(120) % 2, **CHEAP))
    assert two.startswith(
        "This is of the patients of 2 groups taken together; with fewer than 5 groups nothing can "
        "be said of a next one. In O/E, slope and curve of all together, errors of groups cancel: "
    )
    assert "in clusters like these" in words.whom(
        bc.assess(y, s, cluster=np.arange(120) // 4, **CHEAP)
    )
    weights = np.where(np.arange(120) % 2, 0.7, 1.4)
    weighted = bc.assess(y, s, sample_weight=weights, weight_type="sampling", **CHEAP)
    assert "the population that the sampling weights stand for" in words.whom(weighted)
    assert "events for" not in words.headline(weighted)


def test_ranges_are_told_after_yes_alone(calibrated, off) -> None:
    assert words.ranges(off).startswith("By range, predicted risks are ")
    assert words.ranges(calibrated) == ""


def test_the_order_of_the_page(off) -> None:
    page = off_text(off)
    parts = [
        "Yes, the model is off",
        "Risks are off by",
        "This holds for patients like these",
        "Recommended: ",
        "more patients like these would settle",
        "The default limit",
        "Measure ",
    ]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
