"""Layers of a reliability diagram: smoothers, ranges off the diagonal, bent axes, and print."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy.special import expit

import bayescal as bc
from bayescal.estimators import flexible_curve, smooth_ece_curve
from bayescal.plots._curve import _sides_of as sides_of
from bayescal.plots._curve import smoother_at
from bayescal.plots.style import round_ticks
from drawn import legend


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_ranges_hold_exactly_the_scores_off_the_diagonal(off, calibrated, level):
    for post in (off, calibrated):
        (above, below), region = sides_of(post, level), post.off_diagonal(level)
        score = region["score"].to_numpy()
        for ranges, side in ((above, 1), (below, -1)):
            inside = np.zeros(score.size, dtype=bool)
            for first, last in ranges:
                inside |= (score >= first) & (score <= last)
            np.testing.assert_array_equal(inside, region.to_numpy() == side)


def test_marks_say_on_which_side(off, calibrated):
    ax = bc.plots.reliability(off, Figure().subplots(), off_diagonal=True)
    above, below = (
        [text for text in legend(ax) if text.startswith(side)] for side in ("Above", "Below")
    )
    (low, high), *_ = sides_of(off, 0.95)[0]
    assert above == [f"Above ideal: {low:.2g} to {high:.2g}"]
    assert below[0].startswith("Below ideal: ")
    other = bc.plots.reliability(calibrated, Figure().subplots(), off_diagonal=True)
    assert "Nowhere off ideal (95 % joint)" in legend(other)


@pytest.fixture(scope="module")
def average():
    rng = np.random.default_rng(5)
    y_prob = expit(rng.normal(-0.8, 1.1, 150))
    return bc.compare(rng.random(150) < y_prob, y_prob, random_state=1).posterior


@pytest.fixture(scope="module")
def rare():
    rng = np.random.default_rng(4)
    y_prob = expit(rng.normal(-5.4, 1, 4000))
    return bc.fit(rng.random(4000) < y_prob, y_prob, curve="logistic", random_state=1)


def test_a_smoothed_curve_says_so_and_others_are_drawn_as_they_are(average, rare):
    told = bc.plots.reliability(average, Figure().subplots()).get_legend_handles_labels()[1]
    assert "Smoothed: 20 % of cases" in told
    ax = bc.plots.reliability(rare, Figure().subplots())
    assert not any(name.startswith("Smoothed") for name in ax.get_legend_handles_labels()[1])
    (line,) = [line for line in ax.get_lines() if line.get_label() == "Posterior mean"]
    expected = rare.curve(line.get_xdata()).mean(("chain", "draw"))
    np.testing.assert_allclose(line.get_ydata(), expected, rtol=1e-12)


def test_the_axis_is_bent_where_events_are_rare(average, rare):
    bent = bc.plots.reliability(rare, Figure().subplots())
    straight = bc.plots.reliability(average, Figure().subplots())
    assert (bent.get_xscale(), straight.get_xscale()) == ("function", "linear")
    inside = bent.transAxes.inverted().transform(
        bent.transData.transform([(float(np.median(rare.data.score)), 0.01)])
    )
    assert 0.1 < inside[0, 0] < 0.9
    assert bc.plots.reliability(rare, Figure().subplots(), limits="full").get_xscale() == "linear"
    chosen = bc.plots.reliability(rare, Figure().subplots(), scale="log")
    assert chosen.get_xscale() == chosen.get_yscale() == "log"
    assert chosen.get_xlim()[0] > 0
    with pytest.raises(bc.errors.InputError, match="scale must be one of"):
        bc.plots.reliability(rare, Figure().subplots(), scale="logit")


@pytest.mark.parametrize(("scale", "low", "high"), [("root", 0, 0.15), ("log", 1e-4, 0.1)])
def test_ticks_are_round_and_apart(scale, low, high):
    ticks = round_ticks(scale, low, high)
    assert 4 <= len(ticks) <= 9
    assert ticks == sorted(set(ticks))
    assert ticks[0] >= low
    assert ticks[-1] <= high


def test_a_short_log_axis_has_even_ticks():
    np.testing.assert_allclose(round_ticks("log", 0.78, 1.25), [0.8, 0.9, 1, 1.1, 1.2])


@pytest.mark.parametrize("width", [3.4, 7.0])
def test_it_can_be_read_in_print(average, rare, width):
    """Lines of 0.8 points, letters of 7, and nothing outside the figure."""
    with mpl.rc_context({"font.size": 8}):
        figure, axes = plt.subplots(figsize=(width, 1.25 * width), layout="constrained")
        bc.plots.reliability(average if width < 7 else rare, axes)
        figure.canvas.draw()
    shown = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    assert min(text.get_fontsize() for text in shown) >= 7
    assert min(line.get_linewidth() for line in axes.get_lines()) >= 0.8
    for part in (*axes.patches, *axes.texts, axes.get_legend(), axes.xaxis.label, axes._left_title):
        box = part.get_tightbbox(figure.canvas.get_renderer())
        assert box.x0 >= -1
        assert box.x1 <= figure.bbox.x1 + 1
        assert box.y0 >= -1
        assert box.y1 <= figure.bbox.y1 + 1
    plt.close(figure)


AT = np.array([0.1, 0.3, 0.6])


@pytest.fixture(scope="module")
def cases():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=3)
    return y_true, y_prob.round(2), np.random.default_rng(1).lognormal(size=300)


@pytest.mark.parametrize("name", ["loess", "lowess", "rcs"])
def test_an_overlay_counts_effective_cases(cases, name):
    y_true, y_prob, weight = cases
    table = bc.CalibrationData(y_true, y_prob, sample_weight=weight)
    known = flexible_curve(y_true, y_prob, AT, smoother=name, sample_weight=weight)
    np.testing.assert_allclose(smoother_at(table, name, AT), known, rtol=1e-8)


def test_the_smooth_overlay_is_that_of_the_cases(cases):
    y_true, y_prob, weight = cases
    table = bc.CalibrationData(y_true, y_prob, sample_weight=weight)
    known = smooth_ece_curve(y_true, y_prob, grid=AT, sample_weight=weight).outcome
    np.testing.assert_allclose(smoother_at(table, "smooth", AT), known, rtol=1e-8)
