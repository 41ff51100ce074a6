"""A report in the words of who reads it, and numbers for a logger."""

import re

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError

ITEMS = bc.words(case="item", site="task", event="correct", risk="confidence")
STANDARD = re.compile(
    r"(?<![\w.=-])(cases?|patients?|groups?|sites?|(non-)?events?|risks?)(?![\w=-])", re.I
)
CHEAP = {"draws": 400, "random_state": 1}


def answers(n=240):
    rng = np.random.default_rng(1)
    sure = np.round(0.3 + 0.69 * rng.beta(3, 1.2, n), 2)
    right = rng.random(n) < 0.85 * sure
    return right, sure, np.array(["maths", "event QA", "code"])[np.arange(n) % 3]


@pytest.fixture(scope="module")
def a():
    y, p, task = answers()
    return bc.assess(y, p, site=task, labels=ITEMS, **CHEAP)


def check(text):
    assert not STANDARD.search(text.replace("event QA", ""))


@pytest.mark.slow
def test_the_page_says_items_tasks_and_correct(a, tmp_path):
    a.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    page, _ = page.split("<summary>Code for the same numbers")
    check(re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", page, flags=re.S))


def test_the_report_says_items_tasks_and_correct(a):
    for text in (str(a), repr(a), a.headline(), a.describe().split("\nReferences")[0]):
        check(text)
    assert re.search(r"240 items, \d+ correct", str(a))
    assert "task" in str(a)


def test_names_from_the_data_numbers_and_the_record_stay(a):
    y, p, task = answers()
    plain = bc.assess(y, p, site=task, **CHEAP)
    assert "event QA" in str(a)
    assert re.findall(r"\d\.\d+", str(a)) == re.findall(r"\d\.\d+", str(plain))
    assert a.to_dict() == plain.to_dict()
    assert STANDARD.search(str(plain))


def test_titles_of_publications_stay(a):
    plain = bc.assess(*answers()[:2], **CHEAP)
    for text in (a.describe(), a.tripod()):
        listed = text.split("References")[-1].splitlines()
        known = plain.describe() + plain.tripod()
        assert all(line in known for line in listed if "Dong" in line)


def test_words_keep_their_capitals_and_code_keeps_its_names():
    assert ITEMS.of("Groups: 12 cases, no events.") == "Tasks: 12 items, no correct."
    assert ITEMS.of("cases with the event, without the event") == (
        "items that are correct, that are not correct"
    )
    code = "pass groups= or --event, a.case, subgroups, event.csv"
    assert ITEMS.of(code) == code
    assert bc.words(event=("relapse", "relapses")).of("the event; 2 events") == (
        "the relapse; 2 relapses"
    )
    assert bc.words(case=("child", "children")).of("Patients") == "Children"
    assert ITEMS.of("the group case", keep={"case"}) == "the task case"


@pytest.mark.parametrize(
    ("given", "told"), [({"case": 1}, "case"), ({"site": ""}, "site"), ({"event": ("a",)}, "event")]
)
def test_what_is_no_word_is_refused(given, told):
    with pytest.raises((InputError, TypeError), match=told):
        bc.words(**given)
    with pytest.raises((InputError, TypeError), match="labels"):
        bc.assess(*answers()[:2], labels="item", **CHEAP)
