"""The sweep: against the authors' code, its definition in exact fractions, and hostile data."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescal import simulate
from bayescal.estimators import ece, sweep_bins, sweep_ece

CUTS = [
    {"binning": "rank", "ties": "together"},
    {"binning": "rank", "ties": "split"},
    {"binning": "width", "ties": "together"},
]


# The authors' code


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("name", ["A", "B", "C"])
@pytest.mark.oracle("sweep_ece")
def test_gives_the_known_answer(known, name, cut):
    """On B and C scores are tied; there neither way of parting them changes the answer."""
    outcomes, scores, answers = known(name)
    kind = "em" if cut["binning"] == "rank" else "ew"
    assert sweep_bins(outcomes, scores, **cut) == answers[f"caltrain.{kind}_sweep.n_bins"]
    for p in (1, 2):
        answer = answers[f"caltrain.{kind}_ece_sweep,norm{p}"]
        assert sweep_ece(outcomes, scores, p=p, **cut) == pytest.approx(answer, rel=1e-6)


# The definition


def sweep_by_definition(outcomes, scores, binning, ties):
    """Every number of bins in turn, with mean outcomes as fractions."""
    order = np.argsort(scores, kind="stable")
    scores, outcomes = scores[order], outcomes[order]
    n = scores.size
    values = [Fraction(int(outcome)) for outcome in outcomes]
    position = np.searchsorted(scores, scores)
    if ties == "split":
        position = np.arange(n)
        values = [
            Fraction(int(outcomes[scores == score].sum()), int((scores == score).sum()))
            for score in scores
        ]
    for n_bins in range(2, n + 1):
        index = position * n_bins // n
        if binning == "width":
            index = np.searchsorted(np.arange(1, n_bins) / n_bins, scores)
        members = [np.flatnonzero(index == b) for b in np.unique(index)]
        rates = [sum(values[i] for i in part) / len(part) for part in members]
        if any(rate > following for rate, following in pairwise(rates)):
            return n_bins - 1
    return n


cases = st.lists(
    st.tuples(
        st.one_of(st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 0.5, 0.9, 1.0]), st.floats(0, 1)),
        st.floats(0, 1),
    ),
    min_size=1,
    max_size=30,
)


@pytest.mark.slow
@pytest.mark.parametrize("block", [1, 1 << 18])
@pytest.mark.parametrize("cut", CUTS)
@settings(max_examples=60)
@given(data=cases, steep=st.sampled_from([0.0, 3.0, 30.0, 300.0]))
def test_follows_the_definition(cut, block, data, steep):
    scores, chance = np.array(data).T
    scores[scores < 1e-9] = 0
    outcomes = (chance < np.clip(0.5 + steep * (scores - 0.5), 0.05, 0.95)).astype(int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bayescal.estimators.sweep._SWEEP_BLOCK", block)
        actual = sweep_bins(outcomes, scores, **cut)
    assert actual == sweep_by_definition(outcomes, scores, **cut)


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("p", [1, 2])
def test_the_error_is_that_of_so_many_bins(cut, p):
    y_true, y_prob = simulate.sample("D4", 2000, random_state=1)
    y_prob = y_prob.round(2)
    n_bins = sweep_bins(y_true, y_prob, **cut)
    assert n_bins > 4
    expected = ece(y_true, y_prob, n_bins=n_bins, p=p, **cut)
    assert sweep_ece(y_true, y_prob, p=p, **cut) == pytest.approx(expected)


# Data that keep their order to the end


def test_rising_outcomes_take_a_bin_for_every_case():
    scores = np.linspace(0, 1, 50)
    assert sweep_bins(scores > 0.4, scores) == 50
    assert sweep_bins(scores > 0.4, scores, binning="width") == 50
    assert sweep_ece(scores > 0.4, scores) == pytest.approx(
        np.minimum(scores, 1 - scores).mean(), abs=0.02
    )


@pytest.mark.parametrize("binning", ["rank", "width"])
def test_a_fall_that_only_many_bins_show_is_found_soon(binning):
    """One pair out of order among 50,000: a bin for every two or three cases parts it."""
    scores = (np.arange(50_000) + 0.5) / 50_000
    outcomes = scores > 0.5
    outcomes[[24_999, 25_000]] = [True, False]
    actual = sweep_bins(outcomes, scores, binning=binning)
    assert 10_000 < actual < 50_000
    assert sweep_bins(outcomes[::-1], scores[::-1], binning=binning) == actual


def test_the_sweep_ends_at_a_hundred_thousand_bins():
    scores = (np.arange(120_000) + 0.5) / 120_000
    assert sweep_bins(scores > 0.3, scores) == 100_000
