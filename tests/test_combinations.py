"""Every part of an analysis and every two, with every door: the table that was measured is true."""

import pytest

import combinations
from combinations import DOORS, MARKS, PAGE, PARTS

STORED = combinations.stored()
NAMES = [" + ".join(names) for names in combinations.pairs()]
SHARE = 8
"""Of the rows of the table one in so many is measured again, and the first row of each part."""
AGAIN = sorted(
    {*combinations.pairs()[::SHARE]}
    | {next(names for names in combinations.pairs() if part in names) for part in PARTS}
)
QUICK = [("sites", "imputations"), ("known sites", "spline"), ("clusters",)]


def test_every_pair_and_every_door_is_in_the_table():
    assert list(STORED) == NAMES
    assert all(list(row) == list(DOORS) for row in STORED.values())


def test_the_page_has_the_table():
    page = PAGE.read_text()
    assert combinations.with_tables(page, STORED) == page


@pytest.mark.parametrize("names", NAMES)
def test_a_refusal_names_the_part(names):
    words = [word for name in names.split(" + ") for word in PARTS[name].words]
    for door, told in STORED[names].items():
        if told not in MARKS:
            assert any(word in told for word in words), (door, told)
            assert told.endswith("."), (door, told)


def kind(told):
    return told if told in MARKS else "refused"


def check(names, doors):
    row = STORED[" + ".join(names)]
    for door in doors:
        assert kind(combinations.outcome(names, door)) == kind(row[door]), door


@pytest.mark.parametrize("names", QUICK, ids=" + ".join)
def test_fits_are_as_the_table_says(names):
    check(names, ["fit", "value_of_information"])


@pytest.mark.slow
@pytest.mark.parametrize("names", AGAIN, ids=" + ".join)
def test_doors_are_as_the_table_says(names):
    check(names, DOORS)
