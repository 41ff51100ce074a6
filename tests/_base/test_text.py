"""Names in tables: short, readable, and no two alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayescal._base.text import plain, told_apart

NAMES = st.lists(st.text("ab -1\n", max_size=30), min_size=1, max_size=8, unique=True)


@given(names=NAMES, prefix=st.text("xy -", max_size=30), longest=st.integers(8, 40))
def test_no_two_names_are_alike_and_none_is_too_long(names, prefix, longest) -> None:
    shown, omitted = told_apart([prefix + name for name in names], longest)
    assert len(set(shown.values())) == len(names)
    assert max(map(len, shown.values())) <= longest
    assert all(plain(name).startswith(omitted) for name in shown)


@given(names=st.lists(st.text("ab 1", max_size=8), unique=True))
def test_short_names_stay_as_they_are(names) -> None:
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
def test_long_names(names, shown, omitted) -> None:
    told, words = told_apart(names, 14)
    assert list(told.values()) == shown
    assert words == names[0][:omitted]
