"""The reliability diagram's extras: smoothers, ranges off the diagonal, several models, groups."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayescal as bc
from bayescal.core.text import interval
from bayescal.errors import InputError
from drawn import labelled, legend

# Overlays


def test_overlays_are_the_estimators_curves(off, ax):
    bc.plots.reliability(off, ax, overlay=("smooth", "isotonic", "loess"))
    y_true, y_prob, weight = off.data.to_arrays()
    score = labelled(ax, "Posterior mean").get_xdata()
    for label, name in (("Isotonic (CORP)", "isotonic"), ("Loess", "loess")):
        expected = bc.estimators.flexible_curve(
            y_true, y_prob, score, smoother=name, sample_weight=weight
        )
        np.testing.assert_allclose(labelled(ax, label).get_ydata(), expected)
    smooth = bc.estimators.smooth_ece_curve(
        y_true, y_prob, grid=score, sample_weight=weight
    ).outcome
    np.testing.assert_allclose(labelled(ax, "SmoothECE's curve").get_ydata(), smooth)


@pytest.mark.slow
def test_one_overlay_may_be_named_alone(off, ax):
    bc.plots.reliability(off, ax, overlay="rcs")
    assert "Restricted cubic spline" in legend(ax)


# Several


def test_each_model_has_a_line_a_band_and_scores(off, calibrated, ax):
    models = {"old": off, "new": calibrated}
    assert bc.plots.reliability(models, ax, p=2, ci_probs=[0.5, 0.9]) is ax
    assert len(ax.collections) == 2
    assert len(ax.patches) == 4
    assert not ax.containers
    for name, post in models.items():
        lower, upper = post.interval("tce", 0.9, p=2)
        (line,) = [line for line in ax.get_lines() if line.get_label().startswith(name)]
        expected = post.curve(line.get_xdata()).mean(("chain", "draw"))
        exact = {} if post.problem.curve.in_cells else {"rtol": 1e-12}
        np.testing.assert_allclose(line.get_ydata(), expected, **{"rtol": 0.05} | exact)
        assert line.get_label().startswith(f"{name}: TCE (p = 2) ")
        shown = interval(post.estimate("tce", 0.9, p=2), lower, upper, 0.9)
        assert line.get_label() == f"{name}: TCE (p = 2) {shown}"
    named = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
    drawn = [line for line in named if len(line.get_xdata())]
    styles = {(line.get_color(), line.get_linestyle()) for line in drawn}
    assert len(styles) == 3


def test_groups_of_a_table_are_drawn_as_models():
    y_true, y_prob = bc.simulate.sample("clinical-low-shifted", 300, random_state=0)
    data = bc.CalibrationData(y_true, y_prob, site=np.repeat(["a", "b", "c"], 100))
    fits = {name: bc.fit(data.select(name), curve="beta", random_state=0) for name in data.groups}
    figure = Figure(layout="constrained")
    ax = bc.plots.reliability(fits, figure.subplots(), n_bins=4, limits="full")
    figure.canvas.draw()
    assert [text.split(":")[0] for text in legend(ax)] == ["Ideal", "a", "b", "c"]
    assert ax.get_xlim() == (0, 1)
    assert len([line for line in ax.get_lines() if line.get_marker() == "o"]) == 3


def test_the_strips_do_not_leave_the_figure(off):
    ax = bc.plots.reliability(dict.fromkeys("abcdef", off))
    ax.figure.canvas.draw()
    box = ax.figure.bbox
    for part in (*ax.patches, *ax.texts, ax.title, ax.xaxis.label):
        extent = part.get_window_extent()
        assert box.x0 - 1 <= extent.x0 <= extent.x1 <= box.x1 + 1
        assert box.y0 - 1 <= extent.y0 <= extent.y1 <= box.y1 + 1


@pytest.mark.parametrize(
    ("wanted", "options", "message"),
    [
        ("one", {"overlay": "cubic"}, "overlay must be one of"),
        ("one", {"overlay": ["rcs"] * 5}, "overlay names 5 smoothers"),
        ("two", {"overlay": "loess"}, "overlay, off_diagonal and on_diagonal are for one fit"),
        ("two", {"off_diagonal": True}, "overlay, off_diagonal and on_diagonal are for one fit"),
        ("none", {}, "post holds 0 models"),
        ("two", {"n_bins": 0}, "n_bins must be"),
    ],
)
def test_bad_options_are_refused_before_anything_is_drawn(off, ax, wanted, options, message):
    posts = {"one": off, "two": {"a": off, "b": off}, "none": {}}
    with pytest.raises(InputError, match=message):
        bc.plots.reliability(posts[wanted], ax, **options)
    assert not ax.has_data()
