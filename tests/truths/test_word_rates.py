"""Sentences are said when they are true, and rarely when they are not: shares on simulated sets."""

import json

import pytest

from words import CELLS, SETS, SHIFTS, SIZES, SLOPES, STORED, words_of

SAID = json.loads(STORED.read_text("utf-8"))["said"]


def share_of(cell, n, *words):
    return sum(SAID[f"{cell}, n = {n}"].get(word, 0.0) for word in words)


def test_every_cell_is_stored():
    assert set(SAID) == {f"{kind}, n = {n}" for kind, n in CELLS}


@pytest.mark.parametrize("n", SIZES)
def test_a_spread_that_is_right_is_rarely_called_wrong(n):
    assert share_of("slope 1", n, "spread too extreme", "spread too moderate") <= 0.05
    assert share_of("slope 1", n, "level too high", "level too low") <= 0.05
    perhaps = share_of("slope 1", n, "spread perhaps too extreme", "spread perhaps too moderate")
    assert perhaps <= 0.1


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("slope", ["0.75", "0.6", "1.3"])
def test_a_spread_that_is_wrong_is_rarely_called_right(n, slope):
    right = [word for word in SAID[f"slope {slope}, n = {n}"] if word.startswith("spread about")]
    assert share_of(f"slope {slope}", n, *right) <= 0.1
    other = "moderate" if float(slope) < 1 else "extreme"
    assert share_of(f"slope {slope}", n, f"spread too {other}") == 0


def test_many_patients_show_what_is_wrong():
    assert share_of("slope 1", 1000, "spread about right") >= 0.8
    assert share_of("slope 0.6", 1000, "spread too extreme") >= 0.95
    assert share_of("slope 0.75", 1000, "spread too extreme", "spread perhaps too extreme") >= 0.8
    assert share_of("shift 0.25", 1000, "level too low") >= 0.7
    for n in SIZES:
        assert share_of("slope -1", n, "runs the wrong way") >= 0.99
        for slope in SLOPES:
            if slope > 0:
                assert share_of(f"slope {slope:g}", n, "runs the wrong way") == 0


def test_random_labels_name_no_one_in_95_of_100_sets():
    assert share_of("sites 0", 1200, "a site is named") <= 0.05
    assert share_of("sites 0", 1200, "sites differ") <= 0.05
    assert share_of("sites 0.4", 1200, "a site is named") >= 0.7


def test_the_rule_of_updates_gains_at_least_what_others_gain():
    mean = {
        rule: sum(told.get(f"{rule}gain per 1000", 0.0) for told in SAID.values())
        for rule in ("", "(.8) ", "former ")
    }
    assert mean[""] >= max(mean.values())
    for n in SIZES:
        assert share_of("slope 1", n, "update") <= 0.1
        assert share_of("slope 1", n, "gain per 1000") >= -0.3
        for shift in SHIFTS:
            assert share_of(f"shift {shift:g}", n, "update that gains nothing") <= 0.15


@pytest.mark.slow
def test_shares_are_those_of_this_version():
    """A few sets of a cell: the words of each are among those that are stored."""
    told = {}
    for seed in range(6):
        for word, value in words_of("slope 0.6", 400, seed).items():
            if word.startswith("spread"):
                told[word] = told.get(word, 0) + value
    stored = {word: SAID["slope 0.6, n = 400"].get(word, 0) * SETS for word in told}
    assert all(told[word] <= round(stored[word]) for word in told), (told, stored)
