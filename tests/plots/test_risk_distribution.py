"""The risks by outcome: two histograms, each a share of its own cases."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayescal as bc
from bayescal.errors import InputError


@pytest.fixture(scope="module")
def post():
    y_true = np.array([0] * 6 + [1] * 2)
    y_prob = np.array([0.05, 0.05, 0.15, 0.15, 0.35, 0.55, 0.35, 0.85])
    return bc.fit(y_true, y_prob, curve="intercept", draws=400, random_state=1)


def heights(axes):
    return axes.patches[0].get_data().values


def test_each_histogram_is_a_share_of_the_cases_with_that_outcome(post):
    axes = Figure().subplots(2, 1)
    drawn = bc.plots.risk_distribution(post, axes, n_bins=10, thresholds=[0.3])
    assert list(drawn) == list(axes)
    edges = drawn[0].patches[0].get_data().edges
    assert edges[-1] == drawn[0].get_xlim()[1] >= 0.85
    for axis, scores in zip(
        drawn, ([0.35, 0.85], [0.05, 0.05, 0.15, 0.15, 0.35, 0.55]), strict=True
    ):
        counted, _ = np.histogram(scores, edges)
        np.testing.assert_allclose(heights(axis), 100 * counted / len(scores))
        assert [line.get_xdata()[0] for line in axis.lines] == [0.3]
    assert drawn[0].get_ylim() == drawn[1].get_ylim()
    assert drawn[0].texts[0].get_text() == "With the event (2)"


def test_outcomes_of_one_class_leave_one_histogram_empty():
    post = bc.fit(np.zeros(30), np.linspace(0.1, 0.5, 30), draws=400, random_state=1)
    upper, lower = bc.plots.risk_distribution(post, Figure().subplots(2, 1))
    assert heights(upper).sum() == 0
    assert heights(lower).sum() == pytest.approx(100)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"n_bins": 0}, "n_bins"), ({"thresholds": [2]}, "thresholds")],
)
def test_wrong_options_are_refused_by_name(post, options, words):
    with pytest.raises(InputError, match=words):
        bc.plots.risk_distribution(post, Figure().subplots(2, 1), **options)


def test_times_to_an_event_are_refused():
    times = bc.Survival([1, 2, 3, 4] * 5, [True, False, True, True] * 5)
    post = bc.fit(times, np.linspace(0.2, 0.8, 20), horizon=2.5, draws=400, random_state=1)
    with pytest.raises(InputError, match="left before the horizon"):
        bc.plots.risk_distribution(post, Figure().subplots(2, 1))
