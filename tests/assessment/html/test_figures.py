"""The figures of a report: that of a few groups shows all of its strips and its legend."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import pytest
from matplotlib.figure import Figure

import bayescal as bc
from bayescal.assessment.html import _figures


@pytest.fixture(scope="module")
def post() -> bc.CalibrationPosterior:
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 150, random_state=1)
    return bc.fit(y_true, y_prob, curve="logistic", draws=400, random_state=1)


@pytest.mark.parametrize("number", [2, 3, 6])
@pytest.mark.parametrize("name", ["", "Hospital of region "])
def test_nothing_is_cut(post, number, name) -> None:
    groups = {f"{name}{index}": post for index in range(number)}
    figure = _figures._group_curves(SimpleNamespace(groups=groups, ci_prob=0.95))
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert 0 <= box.x0 < box.x1 <= width
    assert 0 <= box.y0 < box.y1 <= height
    strips = [axes.texts[0].get_text() for axes in figure.axes[0].child_axes]
    assert len(set(strips)) == number


@pytest.fixture(scope="module", params=["clinical-middle-overconfident", "clinical-low-asymmetric"])
def assessment(request) -> bc.Assessment:
    y_true, y_prob = bc.simulate.sample(request.param, 150, random_state=1)
    return bc.assess(y_true, y_prob, draws=400, thresholds=[0.1], random_state=1)


NAMES = {"benefit": "risk in predictions", "benefit of a long name": "a model whose name is long 1"}
FIGURES = ("reliability", "calibration", "error", "risks", *NAMES)


@pytest.fixture(scope="module", params=FIGURES)
def figure(assessment, request) -> Figure:
    draw = getattr(_figures, f"{request.param.split()[0]}_figure")
    named = [NAMES[request.param]] if request.param in NAMES else []
    drawn: Figure = draw(assessment, *named).figure
    with _figures.drawing():
        _figures.lay_out(drawn)
    return drawn


def test_axes_and_all_round_them_have_room(figure) -> None:
    with _figures.drawing():
        boxes = [axes.get_tightbbox() for axes in figure.axes]
    width, height = figure.bbox.size
    assert all(0 <= box.x0 < box.x1 <= width for box in boxes)
    assert all(0 <= box.y0 < box.y1 <= height for box in boxes)
    assert all(above.y0 > below.y1 for above, below in itertools.pairwise(boxes))
    used = max(box.x1 for box in boxes) - min(box.x0 for box in boxes)
    assert used > 0.85 * width


def test_labels_stand_clear_of_ticks_which_are_all_in_view(figure) -> None:
    with _figures.drawing():
        for axes in figure.axes:
            for axis in (axes.xaxis, axes.yaxis):
                low, high = axis.get_view_interval()
                assert all(low - 1e-9 <= at <= high + 1e-9 for at in axis.get_majorticklocs())
                ticks = [tick.get_window_extent() for tick in axis.get_ticklabels()]
                beside = axis.label.get_window_extent()
                assert not axis.label.get_text() or not any(beside.overlaps(t) for t in ticks)


def test_the_style_of_figures_is_taken_on_once_and_left() -> None:
    import matplotlib as mpl

    before = mpl.rcParams["svg.fonttype"]
    with _figures.drawing():
        with _figures.drawing():
            assert mpl.rcParams["svg.fonttype"] == "none"
        assert mpl.rcParams["svg.fonttype"] == "none"
    assert mpl.rcParams["svg.fonttype"] == before
