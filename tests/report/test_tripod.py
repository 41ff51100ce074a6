"""The items of TRIPOD+AI: what they say is what the assessment says, and names stay names."""

import re

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.errors import InputError
from bayescal.planning.result import Plan
from bayescal.report.page import tripod_of

NAMES = ["north|<b>x</b>", "*south* [a](http://x)", "we`st\nnew | $x$ &lt; \\"]
NUMBERS = ["10", "11", "12d", "12e", "12f", "12g", "14", "20a", "21", "23a", "23b", "24"]


@pytest.fixture(scope="module")
def cases():
    return bc.simulate.sample("clinical-middle-overconfident", 240, random_state=1)


@pytest.fixture(scope="module")
def plain(cases):
    return bc.assess(*cases, draws=400, random_state=1)


@pytest.fixture(scope="module")
def grouped(cases):
    groups = np.array(NAMES)[np.arange(240) % 3]
    return bc.assess(*cases, thresholds=[0.1, 0.4], site=groups, draws=400, random_state=1)


def text_of(a):
    return {item.number: item.text for item in tripod_of(a.facts, a._verdict, None, None)}


def test_results_are_those_of_the_assessment(plain, grouped):
    for a in (plain, grouped):
        told = text_of(a)
        assert list(told) == NUMBERS
        assert a.headline() in told["23a"]
        assert str(a.recommendation) in told["24"]
        assert "240 cases" in told["21"]
        assert f"seed {a.facts.seed}" in told["12e"]
        for sentence in told.values():
            assert sentence.endswith(".")


def test_what_was_not_done_is_said(plain, grouped):
    told = text_of(plain)
    assert "not examined" in told["12d"]
    assert told["23b"] == "Not examined."
    assert "no threshold was given" in told["12e"]
    assert "net benefit" not in told["23a"]
    more = text_of(grouped)
    assert "3 sites" in more["12d"]
    assert "from risks of 0.1, 0.4 on" in more["12e"]
    assert more["23a"].count("Per 1000 patients") == 2
    assert "O/E of the average site is" in more["23b"]
    assert "of the next one" not in more["23b"]  # of three sites


def test_two_groups_have_no_hierarchical_model(cases):
    a = bc.assess(*cases, site=np.arange(240) % 2, draws=400, random_state=1)
    told = text_of(a)
    assert "fewer than 3 groups" in told["12d"]
    assert "hierarchical" not in told["12d"] + told["23b"]
    assert told["23b"].count("TCE") == 2


def test_names_from_the_data_are_no_markup(grouped):
    markdown_it = pytest.importorskip("markdown_it")
    text = grouped.tripod()
    page = markdown_it.MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text)
    assert page.count("<tr>") == 1 + len(NUMBERS)
    assert page.count("<td>") == 3 * len(NUMBERS)
    tags = set(re.findall(r"<(\w+)", page))
    assert tags <= {"p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    assert "north|&lt;b&gt;x&lt;/b&gt;" in page
    assert "*south* [a](http://x)" in page


def test_references_are_those_that_are_cited(grouped):
    body, listed = grouped.tripod().split("\nReferences\n")
    assert "doi:10.1136/bmj-2023-078378" in listed
    for line in listed.strip().splitlines():
        author = line.removeprefix("- ").split()[0]
        assert author in body


@pytest.mark.slow
def test_the_report_has_the_items_escaped(grouped, tmp_path):
    grouped.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Items of the TRIPOD+AI checklist on calibration, filled in" in page
    assert "<b>x</b>" not in page
    assert page.index("23b") > 0


def planned():
    table = pd.DataFrame({"n": [400], "studies": [100]})
    goal = {"of": "calibration_slope", "width": 0.3, "conclude": None}
    given = {"limit": 0.03, "assurance": 0.8, "analysis": "average", "ci_prob": 0.95}
    return Plan(
        **goal, **given, n=400, monte_carlo_error=3.0, prevalence=0.2,
        described="a calibrated model", table=table, closed_form={}, seed=1,
    )  # fmt: skip


def test_a_plan_and_the_flow_of_cases_are_told(plain):
    plan = planned()
    told = {item.number: item.text for item in tripod_of(plain.facts, plain._verdict, plan, None)}
    assert plan.protocol() in told["10"]
    assert "fewer than planned" in told["10"]
    assert plan.protocol() in plain.tripod(plan)
    assert "to be stated by the authors" in text_of(plain)["10"]
    source = {"Rows read": 250, "Rows dropped": 10}
    flow = {item.number: item.text for item in tripod_of(plain.facts, plain._verdict, None, source)}
    assert "10 rows with a missing value left out" in flow["11"]
    assert "The file had 250 rows; 10 left out, because a value was missing." in flow["20a"]
    assert "with the event and" in flow["20a"]
    assert "The file had" not in text_of(plain)["20a"]


def test_what_is_no_plan_is_refused(plain):
    with pytest.raises(InputError, match="plan must be a Plan"):
        plain.tripod(plan=300)


def test_imputations_are_item_11(cases):
    y_true, y_prob = cases
    several = np.stack([y_prob, np.clip(y_prob * 1.03, 0, 1)])
    a = bc.assess(y_true, imputation=several, estimators=(), draws=400, random_state=1)
    assert text_of(a)["11"].startswith("2 imputations were combined")
    assert "Nothing was imputed" not in text_of(a)["11"]
