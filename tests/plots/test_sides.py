"""Ranges of scores off the diagonal: numbers and marks agree with the posterior's own region."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import bayescal as bc
from bayescal.plots._sides import sides_of


@pytest.fixture(scope="module")
def off() -> bc.CalibrationPosterior:
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 2000, random_state=2)
    return bc.fit(y_true, y_prob, curve="beta", random_state=2)


@pytest.fixture(scope="module")
def calibrated() -> bc.CalibrationPosterior:
    y_true, y_prob = bc.simulate.sample("clinical-middle-calibrated", 400, random_state=2)
    return bc.compare(y_true, y_prob, random_state=2).posterior


def legend(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_ranges_hold_exactly_the_scores_off_the_diagonal(off, calibrated, level) -> None:
    for post in (off, calibrated):
        sides, region = sides_of(post, level), post.off_diagonal(level)
        score = region["score"].to_numpy()
        for ranges, side in ((sides.above, 1), (sides.below, -1)):
            inside = np.zeros(score.size, dtype=bool)
            for first, last in ranges:
                inside |= (score >= first) & (score <= last)
            np.testing.assert_array_equal(inside, region.to_numpy() == side)


def test_marks_say_on_which_side(off, calibrated) -> None:
    ax = bc.plots.reliability(off, Figure().subplots(), off_diagonal=True)
    above, below = (
        [text for text in legend(ax) if text.startswith(side)] for side in ("Above", "Below")
    )
    (low, high), *_ = sides_of(off, 0.95).above
    assert above == [f"Above ideal: {low:.2g} to {high:.2g}"]
    assert below[0].startswith("Below ideal: ")
    other = bc.plots.reliability(calibrated, Figure().subplots(), off_diagonal=True)
    assert "Nowhere off ideal (95 % joint)" in legend(other)
