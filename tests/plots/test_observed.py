"""Observed proportions in bins, and the strip of scores."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayescal as bc
from bayescal.plots._observed import count_scores, observed_proportions


@pytest.fixture(scope="module")
def post() -> bc.CalibrationPosterior:
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    return bc.fit(y_true, y_prob, curve="beta", random_state=1)


def test_the_strip_shows_every_score_by_outcome(post) -> None:
    (strip,) = bc.plots.reliability(post, Figure().subplots()).child_axes
    heights = np.concatenate([steps.get_data().values for steps in strip.patches])
    counts = count_scores(post.data, 0, 1)
    assert np.count_nonzero(heights > 0) == np.count_nonzero(counts.events)
    assert np.count_nonzero(heights < 0) == np.count_nonzero(counts.non_events)
    assert (counts.events.sum(), counts.non_events.sum()) == (
        post.data.events,
        post.data.n - post.data.events,
    )


def test_bins_hold_equally_many_cases(post) -> None:
    observed = observed_proportions(post.data, 8)
    np.testing.assert_array_equal(observed.trials, 25)
    assert observed.hits.sum() == post.data.events
    assert (np.diff(observed.score) > 0).all()


@pytest.mark.parametrize("n", [1, 4, 20, 200, 1000, 100_000])
def test_automatic_bins_are_few_and_hold_a_handful(n) -> None:
    y_true, y_prob = bc.simulate.sample("calibrated", n, random_state=0)
    observed = observed_proportions(bc.CalibrationData(y_true, y_prob))
    assert 1 <= observed.trials.size <= 15
    assert observed.trials.min() >= min(5, n)
    assert observed.trials.sum() == pytest.approx(n)


def test_ties_stay_together() -> None:
    data = bc.CalibrationData.from_counts([0.1, 0.2, 0.3, 0.9], [3, 90, 2, 5], [0, 9, 1, 5])
    observed = observed_proportions(data, 4)
    np.testing.assert_array_equal(observed.trials, [93, 7])
    np.testing.assert_allclose(observed.score, [18.3 / 93, 5.1 / 7])


def test_few_scores_with_enough_cases_are_bins_of_their_own() -> None:
    data = bc.CalibrationData.from_counts([0.1, 0.2, 0.9], [5, 900, 6], [0, 9, 5])
    np.testing.assert_array_equal(observed_proportions(data).trials, [5, 900, 6])


def test_sampling_weights_count_as_effective_cases() -> None:
    data = bc.CalibrationData([0, 1, 1, 0] * 10, [0.2, 0.8, 0.7, 0.3] * 10, [1.5, 0.5] * 20)
    observed = observed_proportions(data, 1)
    assert observed.trials[0] == pytest.approx(data.n * data.weight_scale)
