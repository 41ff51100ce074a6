"""The figures of a report: that of a few groups shows all of its strips and its legend."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

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
