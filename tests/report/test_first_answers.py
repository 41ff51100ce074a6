"""First answers on the data that people bring: short, not contradicted, equal for equal data."""

import re

import numpy as np
import pytest

import bayescal as bc
from bayescal.report.verdict import is_short
from first_sets import SETS

RULES = {
    "150 calibrated": "spread",
    "slope .55 of 400": "spread",
    "12 patients": "spread",
    "29 events in 4000": "spread",
    "300 000 patients": "level",
    "all scores .5": "level",
    "scores 0 and 1": "labels",
    "inverted": "wrong way",
    "separated": "level and spread",
    "15 hospitals that differ": "parts",
    "15 hospitals alike": "spread",
    "periods with a jump": "parts",
    "an odd subgroup": "parts",
    "three classes": "level and spread",
    "a language model": "level",
}
INTERVAL = r"\(([-\d.]+) to ([-\d.]+)\)"


@pytest.fixture(scope="module", params=SETS)
def assessed(request):
    args, roles = SETS[request.param]()
    return request.param, bc.assess(*args, **roles, draws=1000)


@pytest.mark.slow
def test_the_first_line_is_short_and_follows_the_rule(assessed):
    name, a = assessed
    first, *_ = a.page().answer
    assert is_short(first), first
    assert a.to_dict()["rule"] == RULES[name]
    assert a.headline().startswith(first)


@pytest.mark.slow
def test_nothing_below_contradicts_the_first_line(assessed):
    name, a = assessed
    page = a.page()
    first, *others = page.answer
    table = a.tables["first"].to_frame()
    lead = " ".join(text for text in page.sections[0].blocks if isinstance(text, str))
    told = " ".join([first, *others, lead])
    for word in ("fits", "no sign", "0.975", "default limit"):
        assert word not in told
    if name in ("inverted", "scores 0 and 1"):
        assert "Recommended:" not in str(page)
        return
    if "too extreme" in first.lower() and "perhaps" not in first.lower():
        assert table["upper"]["calibration_slope"] < 1
    if "too high" in first.lower():
        assert table["upper"]["observed_expected"] < 1
        assert "too low" not in told
    if "off by at most" in first:
        assert table["lower"]["error"] == 0
        clear = [
            row.name
            for row in a.tables["first"].rows
            if row.name in ("observed_expected", "calibration_slope")
            and not row["lower"] <= 1 <= row["upper"]
        ]
        assert not clear or "if it is off at all" in told
    numbers = re.findall(rf"slope ([\d.]+) {INTERVAL}", first)
    for middle, low, high in numbers:
        row = table.loc["calibration_slope", ["estimate", "lower", "upper"]]
        np.testing.assert_allclose([float(middle), float(low), float(high)], row, rtol=0.1)


@pytest.mark.slow
def test_equal_data_give_equal_words():
    (y, p), roles = SETS["150 calibrated"]()
    order = np.random.default_rng(0).permutation(y.size)
    one = bc.assess(y, p, **roles, draws=500)
    other = bc.assess(y[order], p[order], **roles, draws=500)
    assert str(one) == str(other)
    assert one.facts.seed == other.facts.seed


@pytest.mark.slow
def test_sites_that_are_off_are_on_the_first_screen():
    args, roles = SETS["15 hospitals that differ"]()
    page = bc.assess(*args, **roles, draws=1000).page()
    assert page.figures[0].name == "forest"
    named = next(text for text in page.sections[0].blocks if "clearly off" in str(text))
    assert re.findall(r"H\d\d \d+ \(\d+ to \d+\)", named)
