"""Arrays are checked at the door, and not again by what an assessment does with them."""

import sys
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pytest

import bayescal as bc
from bayescal.data import cases as checks

PRINTED, PAGE = 5, 25
READERS = ("read_outcomes", "as_outcome_batch", "as_scores", "as_weights")
"""The functions that check every element of an array of cases."""


@contextmanager
def calls_of(functions):
    """Count calls of some functions, from whichever module and by whichever name."""
    names = {function.__code__: function.__name__ for function in functions}
    calls = Counter()

    def count(frame, event, _):
        if event == "call" and frame.f_code in names:
            calls[names[frame.f_code]] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield calls
    finally:
        sys.setprofile(before)


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
def test_arrays_are_checked_a_few_times_up_to_the_last_line_of_the_page(weighted, tmp_path):
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    weight = np.random.default_rng(1).lognormal(size=300) if weighted else None
    with calls_of([getattr(checks, name) for name in READERS]) as calls:
        a = bc.assess(y_true == 1, y_prob, sample_weight=weight, random_state=1)
        assert str(a)
        printed = calls.total()
        a.to_html(tmp_path / "report.html")
    assert calls["as_scores"] >= 1
    assert printed <= PRINTED, dict(calls)
    assert calls.total() - printed <= PAGE, dict(calls)
