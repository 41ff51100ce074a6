"""The reliability diagram: what it draws is what the posterior and the table say."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from scipy import stats

import bayescal as bc
from bayescal.core.text import count, interval, percent
from bayescal.errors import InputError
from drawn import labelled


@pytest.fixture(scope="module")
def post():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    return bc.fit(y_true, y_prob, curve="beta", random_state=1)


def bars(ax):
    (actual,) = [item for item in ax.containers if isinstance(item, ErrorbarContainer)]
    return actual


# Axes in, axes out


def test_draws_on_the_axes_it_is_given(post, ax):
    before = plt.get_fignums()
    assert bc.plots.reliability(post, ax) is ax
    assert plt.get_fignums() == before


def test_makes_one_figure_when_given_none(post):
    before = plt.get_fignums()
    made = bc.plots.reliability(post)
    assert len(plt.get_fignums()) == len(before) + 1
    assert made.figure.number in plt.get_fignums()


def test_leaves_global_settings_alone(post):
    before = mpl.rcParams.copy()
    bc.plots.reliability(post)
    assert mpl.rcParams == before


def test_says_what_is_what(post, ax):
    bc.plots.reliability(post, ax)
    (lower, upper), estimate = post.interval("tce"), post.estimate("tce")
    assert ax.get_xlabel() == "Predicted probability"
    assert ax.get_ylabel() == "Probability of the event"
    title, cases = ax.get_title("left").split("\n")
    assert title == f"TCE {estimate:.2f} (95 % CrI {lower:.2f} to {upper:.2f})"
    assert cases == f"200 cases, {post.data.events:.0f} with the event"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "Ideal",
        "95 % band",
        "50 % band",
        "Posterior mean",
        "Observed, 95 % interval",
    ]
    assert {text.get_text() for text in ax.texts} == {
        f"{post.data.events:.0f} events",
        f"{post.data.n - post.data.events:.0f} without",
    }
    assert ax.get_aspect() == 1
    assert ax.get_xlim() == ax.get_ylim() == (0, 1)


def test_the_options_reach_the_picture(post, ax):
    bc.plots.reliability(post, ax, ci_probs=[0.9], n_bins=None, p=2, legend=False)
    (lower, upper), estimate = post.interval("tce", 0.9, p=2), post.estimate("tce", 0.9, p=2)
    title = f"TCE (p = 2) {estimate:.2f} (90 % CrI {lower:.2f} to {upper:.2f})"
    assert ax.get_title("left").startswith(title)
    assert ax.get_legend() is None
    assert len(ax.collections) == 1
    assert not ax.containers


# Numbers drawn are the posterior's


def test_the_line_is_the_posterior_mean(post, ax):
    bc.plots.reliability(post, ax)
    score, median = labelled(ax, "Posterior mean").get_data()
    assert (score.min(), score.max()) == (post.data.score.min(), post.data.score.max())
    expected = post.curve(score).mean(("chain", "draw"))
    np.testing.assert_allclose(median, expected, rtol=1e-12)


@pytest.mark.parametrize(("where", "level"), [(0, 0.95), (1, 0.5)])
def test_the_bands_are_equal_tailed(post, ax, where, level):
    bc.plots.reliability(post, ax)
    drawn = ax.collections[where].get_paths()[0].vertices
    score = labelled(ax, "Posterior mean").get_xdata()
    tails = np.quantile(post.curve(score), [(1 - level) / 2, (1 + level) / 2], axis=(0, 1))
    for at in (0, score.size // 2, score.size - 1):
        heights = drawn[drawn[:, 0] == score[at], 1]
        np.testing.assert_allclose([heights.min(), heights.max()], tails[:, at], rtol=1e-12)


def test_the_bars_are_jeffreys_intervals(ax):
    data = bc.CalibrationData.from_counts([0.1, 0.4, 0.9], [10, 20, 10], [0, 7, 10])
    bc.plots.reliability(bc.fit(data, curve="beta", random_state=0), ax)
    points, _, (lines,) = bars(ax)
    np.testing.assert_allclose(points.get_ydata(), [0, 0.35, 1])
    ends = np.array([segment[:, 1] for segment in lines.get_segments()])
    tail = stats.beta([0.5, 7.5, 10.5], [10.5, 13.5, 0.5])
    np.testing.assert_allclose(ends[:, 0], [0, tail.ppf(0.025)[1], tail.ppf(0.025)[2]], rtol=1e-9)
    np.testing.assert_allclose(ends[:, 1], [tail.ppf(0.975)[0], tail.ppf(0.975)[1], 1], rtol=1e-9)


# Limits


@pytest.mark.parametrize(
    ("scores", "limits", "expected"),
    [
        (np.linspace(0.001, 0.04, 400), "auto", (0, 0.05)),
        (np.linspace(0.001, 0.04, 400), "full", (0, 1)),
        (np.linspace(0.001, 0.04, 400), (0.01, 0.2), (0.01, 0.2)),
        (np.linspace(0.2, 0.8, 400), "auto", (0, 1)),
    ],
)
def test_limits_follow_the_scores_unless_told(ax, scores, limits, expected):
    y_true = np.random.default_rng(0).random(400) < scores
    bc.plots.reliability(bc.fit(y_true, scores, curve="beta", random_state=0), ax, limits=limits)
    np.testing.assert_allclose(ax.get_xlim(), expected)
    np.testing.assert_allclose(ax.get_ylim(), expected)


def test_limits_close_in_on_scores_near_one(ax):
    scores = np.linspace(0.97, 0.999, 400)
    y_true = np.random.default_rng(0).random(400) < scores
    bc.plots.reliability(bc.fit(y_true, scores, curve="beta", random_state=0), ax)
    for low, high in (ax.get_xlim(), ax.get_ylim()):
        assert high == 1
        assert 0.9 <= low <= 0.97


# Odd data


def many_distinct():
    return bc.simulate.sample("clinical-low-shifted", 6000, random_state=0)


@pytest.mark.parametrize(
    ("y_true", "y_prob", "curve"),
    [
        pytest.param([1], [0.3], "beta", id="one case"),
        pytest.param([0] * 20, np.linspace(0.1, 0.9, 20), "beta", id="no event"),
        pytest.param([1] * 20, np.linspace(0.1, 0.9, 20), "beta", id="events only"),
        pytest.param([0, 1] * 50, np.repeat([0.2, 0.7], 50), "beta", id="two scores"),
        pytest.param([0, 1, 1] * 9, [0, 0.5, 1] * 9, "beta", id="scores of 0 and 1"),
        pytest.param([0, 1] * 20, np.linspace(0.1, 0.9, 40), "identity", id="identity"),
        pytest.param(*bc.simulate.sample("D1", 500, random_state=0), "beta", id="massed at 1"),
        pytest.param(*many_distinct(), "beta", id="compressed"),
    ],
)
def test_odd_data_can_be_drawn(y_true, y_prob, curve):
    post = bc.fit(y_true, y_prob, curve=curve, random_state=0)
    figure = Figure(layout="constrained")
    ax = bc.plots.reliability(post, figure.subplots())
    figure.canvas.draw()
    line = labelled(ax, "Posterior mean")
    assert np.isfinite(line.get_data()).all()
    assert line.get_xdata().size > 1
    assert np.isfinite(bars(ax)[0].get_xydata()).all()


def test_the_identity_curve_lies_on_the_diagonal(ax):
    post = bc.fit([0, 1] * 20, np.linspace(0.1, 0.9, 40), curve="identity", random_state=0)
    bc.plots.reliability(post, ax)
    np.testing.assert_allclose(*labelled(ax, "Posterior mean").get_data(), rtol=1e-12)
    assert ax.get_title("left").startswith("TCE 0.000 (95 % CrI 0.000 to 0.000)")


# Bad options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ci_probs": []}, "ci_probs is empty"),
        ({"ci_probs": [95]}, "ci_probs must lie strictly between 0 and 1"),
        ({"n_bins": 0}, "n_bins must be"),
        ({"n_bins": 2.5}, "n_bins must be"),
        ({"n_bins": True}, "n_bins must be"),
        ({"limits": "wide"}, "limits must be"),
        ({"limits": (0.5, 0.2)}, "limits must be"),
        ({"p": 0.5}, "p must be at least 1"),
    ],
)
def test_bad_options_are_refused_before_anything_is_drawn(post, ax, options, message):
    with pytest.raises(InputError, match=message):
        bc.plots.reliability(post, ax, **options)
    assert not ax.has_data()


# Numbers as text


@pytest.mark.parametrize(
    ("median", "lower", "upper", "expected"),
    [
        (0.0432, 0.0181, 0.0712, "0.04 (95 % CrI 0.02 to 0.07)"),
        (0.15, 0.04, 0.34, "0.15 (95 % CrI 0.04 to 0.34)"),
        (-0.0004, -0.05, 0.049, "0.00 (95 % CrI -0.05 to 0.05)"),
        (3.21, 0.4, 24.04, "3.2 (95 % CrI 0.4 to 24.0)"),
        (0.5, 0.5, 0.5, "0.500 (95 % CrI 0.500 to 0.500)"),
        (np.nan, np.nan, np.nan, "nan (95 % CrI nan to nan)"),
    ],
)
def test_numbers_are_rounded_to_what_is_known(median, lower, upper, expected):
    assert interval(median, lower, upper, 0.95) == expected


def test_counts_and_percentages():
    assert count(1_234_567, "case") == "1,234,567 cases"
    assert count(1, "case") == "1 case"
    assert count(2.5) == "2.5"
    assert percent(0.995) == "99.5 %"
