"""Names and numbers in tables: short, readable, and true to what they stand for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal.core.text import (
    chance,
    chance_of_better,
    count,
    decimals,
    exact,
    excludes,
    in_natural_order,
    interval,
    only,
    plain,
    rounded,
    signed,
    told_apart,
)

NAMES = st.lists(st.text("ab -1\n", max_size=30), min_size=1, max_size=8, unique=True)


@given(names=NAMES, prefix=st.text("xy -", max_size=30), longest=st.integers(8, 40))
def test_no_two_names_are_alike_and_none_is_too_long(names, prefix, longest):
    shown, omitted = told_apart([prefix + name for name in names], longest)
    assert len(set(shown.values())) == len(names)
    assert max(map(len, shown.values())) <= longest
    assert all(plain(name).startswith(omitted) for name in shown)


@given(names=st.lists(st.text("ab 1", max_size=8), unique=True))
def test_short_names_stay_as_they_are(names):
    assert told_apart(names, 8) == ({name: name for name in names}, "")


@pytest.mark.parametrize(
    ("names", "shown", "omitted"),
    [
        (["Hospital North - Ward 1", "Hospital North - Ward 12"], ["Ward 1", "Ward 12"], 17),
        (["Hospital North-Ward 1", "Hospital South-Ward 1"], ["North-Ward 1", "South-Ward 1"], 9),
        (["abcdefghijklmnopqrstuvwxyz"], ["abcdefg…uvwxyz"], 0),
        (["x" * 20 + "1", "x" * 21 + "1"], ["xxxxxxx…xxxxx1", "1: xxxx…xxxxx1"], 0),
    ],
)
def test_long_names(names, shown, omitted):
    told, words = told_apart(names, 14)
    assert list(told.values()) == shown
    assert words == names[0][:omitted]


def test_no_end_is_rounded_onto_the_value_that_an_interval_excludes():
    assert rounded((0.93, 0.86, 0.998), 0.86, 0.998, apart=1) == ("0.930", "0.860", "0.998")
    assert rounded((1.1, 1.004, 1.2), 1.004, 1.2, apart=1)[1] == "1.004"
    assert rounded((-0.2, -0.4, -0.0031), -0.4, -0.0031, apart=0)[2] == "-0.003"
    assert rounded((0.93, 0.86, 1.0), 0.86, 1.0, apart=1) == rounded((0.93, 0.86, 1.0), 0.86, 1.0)
    rng = np.random.default_rng(0)
    for lower, length, gap in zip(*(10.0 ** -rng.uniform(0, 4, (3, 200))), strict=True):
        for ends in ((1 + gap, 1 + gap + length), (1 - gap - lower, 1 - gap)):
            low, high = map(float, rounded(ends, *ends, apart=1))
            assert (low > 1) == (ends[0] > 1 and excludes(*ends, 1))
            assert (high < 1) == (ends[1] < 1 and excludes(*ends, 1))


def test_an_interval_that_ends_at_a_value_but_for_rounding_includes_it():
    ends = 0.545, 0.99999999988
    assert rounded((0.761, *ends), *ends, apart=1) == ("0.76", "0.55", "1.00")
    assert not excludes(*ends, 1)
    assert excludes(0.545, 0.99, 1)


def test_an_interval_is_kept_apart_from_the_value_that_it_excludes():
    assert interval(0.9, 0.8, 0.998, 0.95) == "0.90 (95 % CrI 0.80 to 1.00)"
    assert interval(0.9, 0.8, 0.998, 0.95, 1) == "0.900 (95 % CrI 0.800 to 0.998)"
    assert interval(0.9, 0.8, 1.002, 0.95, 1) == "0.90 (95 % CrI 0.80 to 1.00)"


def test_counts_have_thousands_apart_and_one_is_one():
    assert count(1e6, "case") == "1,000,000 cases"
    assert count(1.0, "event") == "1 event"
    assert only(1.0, "event") == "there is only 1 event"
    assert only(0, "event") == "there are only 0 events"


def test_numbers_and_names_as_people_read_them():
    assert [decimals(*ends) for ends in ((0.031, 0.052), (0.6, 1.4), (0.6, 2.4))] == [3, 2, 1]
    assert (decimals(0.8, 0.997), decimals(0.8, 0.997, apart=1)) == (2, 3)
    assert (exact(np.float64(1.5)), exact(np.nextafter(1, 2))) == ("1.5", "1.0000000000000002")
    assert (signed(0.0021), signed(-0.0017, 2)) == ("+0.0021", "+0.00")
    assert (chance_of_better(-0.1, 0.3, 0.8), chance_of_better(0, 0, 0)) == ("0.80", "the same")
    assert [chance(p) for p in (0.001, 0.5, float("nan"))] == ["< 0.01", "0.50", "not known"]
    assert in_natural_order(["site 10", "site 2", "a"]) == ["a", "site 2", "site 10"]
    assert in_natural_order(["60-79", "<60"]) == ["<60", "60-79"]
