"""Observed proportions in bins, counts of scores, and curves smoothed where they have steps."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy.special import expit

import bayescal as bc
from bayescal.plots import _numbers
from bayescal.plots._numbers import count_scores, curve_bands, observed_proportions


@pytest.fixture(scope="module")
def post():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    return bc.fit(y_true, y_prob, curve="beta", random_state=1)


def test_the_strip_shows_every_score_by_outcome(post):
    strip = bc.plots.reliability(post, Figure().subplots()).patches
    heights = np.concatenate([steps.get_data().values for steps in strip])
    counts = count_scores(post.data, np.linspace(0, 1, 51))
    assert (np.nanmax(heights), np.nanmin(heights)) == (1, -1)
    assert np.count_nonzero(heights > 0) == np.count_nonzero(counts.events)
    assert np.count_nonzero(heights < 0) == np.count_nonzero(counts.non_events)
    assert (counts.events.sum(), counts.non_events.sum()) == (
        post.data.events,
        post.data.n - post.data.events,
    )


def test_bins_hold_equally_many_cases(post):
    observed = observed_proportions(post.data, 8)
    np.testing.assert_array_equal(observed.trials, 25)
    assert observed.hits.sum() == post.data.events
    assert (np.diff(observed.score) > 0).all()


@pytest.mark.parametrize("n", [1, 4, 20, 200, 1000, 100_000])
def test_automatic_bins_are_few_and_hold_a_handful(n):
    y_true, y_prob = bc.simulate.sample("calibrated", n, random_state=0)
    observed = observed_proportions(bc.CalibrationData(y_true, y_prob))
    assert 1 <= observed.trials.size <= 15
    assert observed.trials.min() >= min(5, n)
    assert observed.trials.sum() == pytest.approx(n)


def test_ties_stay_together():
    data = bc.CalibrationData.from_counts([0.1, 0.2, 0.3, 0.9], [3, 90, 2, 5], [0, 9, 1, 5])
    observed = observed_proportions(data, 4)
    np.testing.assert_array_equal(observed.trials, [93, 7])
    np.testing.assert_allclose(observed.score, [18.3 / 93, 5.1 / 7])


def test_few_scores_with_enough_cases_are_bins_of_their_own():
    data = bc.CalibrationData.from_counts([0.1, 0.2, 0.9], [5, 900, 6], [0, 9, 5])
    np.testing.assert_array_equal(observed_proportions(data).trials, [5, 900, 6])


def test_sampling_weights_count_as_effective_cases():
    data = bc.CalibrationData([0, 1, 1, 0] * 10, [0.2, 0.8, 0.7, 0.3] * 10, [1.5, 0.5] * 20)
    observed = observed_proportions(data, 1)
    assert observed.trials[0] == pytest.approx(data.n * data.weight_scale)


def followed_cases(n):
    """Times to an event by 1, of cases of which those with high scores leave early."""
    rng = np.random.default_rng(3)
    score = rng.uniform(0.05, 0.8, n)
    event = -rng.exponential(1, n) / np.log1p(-score)
    left = np.minimum(rng.exponential(1, n) / (0.4 + score), 2)
    outcome = bc.Survival(np.minimum(event, left), event <= left)
    return bc.CalibrationData(outcome, score, horizon=1)


def test_bins_of_times_to_an_event_are_kaplan_meier():
    """Near the true risks, which are the scores; the events among all cases are too few."""
    seen = observed_proportions(followed_cases(30_000), 5)
    np.testing.assert_allclose(seen.proportion, seen.score, atol=0.03)
    followed = followed_cases(1000)
    few = observed_proportions(followed, 5)
    assert np.all(few.trials < 200)
    blind = bc.CalibrationData.from_counts(followed.score, followed.trials, followed.hits)
    assert np.all(few.proportion > observed_proportions(blind, 5).proportion)


def test_the_diagram_of_times_draws_kaplan_meier_and_says_who_left():
    followed = followed_cases(300)
    post = bc.fit(followed, curve="logistic", draws=400, random_state=1)
    axes = bc.plots.reliability(post, Figure().subplots(), n_bins=5)
    proportion = observed_proportions(followed, 5).proportion
    drawn = [line.get_ydata() for line in axes.lines if line.get_marker() == "o"]
    assert any(len(each) == 5 and np.allclose(each, proportion) for each in drawn)
    assert f"by 1, {followed.follow_up.censored:g} left before" in axes.get_title("left")
    assert "Kaplan-Meier, 95 % interval" in axes.get_legend_handles_labels()[1]


def test_with_competing_events_it_is_aalen_johansen():
    """Near the true risks; Kaplan and Meier, who take competing events for leaving, see more."""
    rng = np.random.default_rng(5)
    score = rng.uniform(0.05, 0.8, 20_000)
    u, left = rng.random(score.size), np.minimum(rng.exponential(1, score.size), 1.5)
    comes, code = np.where(u < 0.85, rng.random(score.size), 1.2), np.where(u < score, 1, 2)
    outcome = bc.Survival(np.minimum(comes, left), np.where(comes <= left, code, 0))
    data = bc.CalibrationData(outcome, score, horizon=1)
    seen = observed_proportions(data, 5)
    np.testing.assert_allclose(seen.proportion, seen.score, atol=0.03)
    one = bc.Survival(outcome.time, outcome.event)
    censored = observed_proportions(bc.CalibrationData(one, score, horizon=1), 5)
    assert np.all(censored.proportion > seen.proportion + 0.05)
    post = bc.fit(data, curve="logistic", draws=400, random_state=1)
    axes = bc.plots.reliability(post, Figure().subplots(), n_bins=5)
    assert "Aalen-Johansen, 95 % interval" in axes.get_legend_handles_labels()[1]
    assert "with a competing one" in axes.get_title("left")


def test_groups_of_which_nobody_was_followed_to_the_horizon_are_left_out():
    time, event = np.full(60, 2.0), np.arange(60) % 3 == 0
    time[event] = 0.5
    time[:20], event[:20] = 0.4, False
    data = bc.CalibrationData(bc.Survival(time, event), np.linspace(0.1, 0.9, 60), horizon=1)
    assert observed_proportions(data, 3).score == pytest.approx([0.5, 0.77], abs=0.02)


def calibrated(n, seed=5):
    rng = np.random.default_rng(seed)
    y_prob = expit(rng.normal(-0.8, 1.1, n))
    return bc.compare(rng.random(n) < y_prob, y_prob, random_state=1).posterior


@pytest.fixture(scope="module")
def average():
    return calibrated(150)


def bend(values, score):
    """The largest change of a step from one sixtieth of the range to the next."""
    even = np.linspace(score[0], score[-1], 61)
    return float(np.abs(np.diff(np.interp(even, score, values), 2)).max())


@pytest.mark.parametrize("n", [12, 60, 150, 400])
def test_mean_and_band_have_no_cliffs(n):
    post = calibrated(n)
    rough, smooth = curve_bands(post, [0.95]), curve_bands(post, [0.95], smoothed=True)
    np.testing.assert_array_equal(rough.score, smooth.score)
    assert bend(smooth.mean, smooth.score) < 0.5 * bend(rough.mean, rough.score)
    assert bend(smooth.mean, smooth.score) < 0.01
    for end in (smooth.lower[0], smooth.upper[0]):
        assert bend(end, smooth.score) < 0.03


def test_a_straight_line_of_deviations_stays_straight(average, monkeypatch):
    def line(_, at):
        return 0.1 + 0.8 * np.tile(at, (3, 1))

    monkeypatch.setattr(_numbers, "_curves", line)
    score = np.linspace(average.data.score[0], average.data.score[-1], 7)
    for share in (0.03, 0.1, 0.5):
        actual = _numbers._smoothed(average, score, share)
        np.testing.assert_allclose(actual, line(None, score), atol=1e-6)


def test_what_is_smoothed_is_near_the_posterior(average):
    rough, smooth = curve_bands(average, [0.95]), curve_bands(average, [0.95], smoothed=True)
    width = (rough.upper - rough.lower)[0]
    assert np.abs(smooth.mean - rough.mean).max() < 0.1 * width.max()
    assert np.abs((smooth.upper - smooth.lower)[0] / width - 1).max() < 0.2
