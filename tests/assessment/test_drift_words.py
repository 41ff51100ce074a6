"""What is said of periods: nothing is named that the data do not tell."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayescal.assessment.text.drift import changed_in_words, now_in_words, stands_out
from bayescal.assessment.text.periods import drift_sentences
from bayescal.multilevel.posterior import MultilevelPosterior

MONTHS = [f"2024-{month:02}" for month in range(1, 13)]


def drift_of(prob: list[float], changed: float = 0.7) -> Any:
    """What the words read of a fit."""
    columns = {name: prob for name in ("prob", "if_sudden", "within_one")}
    when = pd.DataFrame(columns, index=MONTHS[1 : 1 + len(prob)])
    problem = SimpleNamespace(labels=MONTHS[: len(prob) + 1])
    shares = {"constant": 0.3, "sudden": 0.4, "gradual": 0.3}
    return SimpleNamespace(
        explanations=shares,
        when_changed=lambda: when,
        problem=problem,
        labels=problem.labels,
        prob_changed=changed,
    )


@pytest.mark.parametrize(
    ("prob", "clear"),
    [
        ([0.04, *[0.03] * 10], False),
        ([0.09, *[0.01] * 10], False),
        ([0.12, *[0.08] * 10], False),
        ([0.23, *[0.06] * 10], True),
        ([0.12, *[0.01] * 10], True),
        ([0.6, 0.4], True),
        ([0.2, 0.15], False),
        ([0.9], True),
    ],
)
def test_a_period_is_named_as_that_of_the_change_where_it_stands_out(prob, clear) -> None:
    assert stands_out(pd.Series(prob)) == clear
    told = drift_sentences(drift_of(prob))[1]
    assert ("was most probably into 2024-02" in told) == clear
    assert ("no period stands out" in told) != clear
    if len(prob) > 1:
        assert ("it did in 2024-02" in changed_in_words(drift_of(prob))) == clear


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ((0.88, 1.28), "2024-12: the number of events fits, with 88 to 128 events for 100"),
        ((0.46, 3.54), "too few to say whether the number of events fits, with 46 to 354 events"),
        ((1.2, 3.54), "risks are too low, with 120 to 354"),
    ],
)
def test_a_wide_interval_does_not_say_that_the_number_of_events_fits(ends, told) -> None:
    row = {"observed_expected_lower": ends[0], "observed_expected_upper": ends[1]}
    populations = pd.DataFrame({"now": row | {"prob_miscalibrated": 0.4}}).T
    post: MultilevelPosterior = drift_of(list(np.full(11, 0.05)))
    assert told in now_in_words(post, populations, 0.03)


def test_no_period_is_named_where_there_was_probably_no_change() -> None:
    post = drift_of([0.4, 0.02, 0.02], changed=0.45)
    told = drift_sentences(post)[1]
    assert "cannot be said into which period" in told
    assert "the probability that there was one is 0.45" in told
    assert "it did in" not in changed_in_words(post)
