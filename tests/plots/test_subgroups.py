"""The forest of subgroups."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError


@pytest.fixture(scope="module")
def post():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    factors = {"sex": np.resize(["F", "M"], 400), "age": np.resize(["<60", "60+", "60+"], 400)}
    return bc.fit(y, s, subgroup=factors, curve="logistic", draws=1000, random_state=1)


@pytest.mark.parametrize("name", ["observed_expected", "tce", "signed_error"])
def test_marks_are_the_numbers_of_the_table(post, name):
    ax = bc.plots.subgroups(post, name, of="all")
    dots = [line for line in ax.get_lines() if line.get_marker() == "o"]
    squares = [line for line in ax.get_lines() if line.get_marker() == "s"]
    drawn = [float(line.get_xdata()[0]) for line in dots]
    table = post.table()
    if name in table:
        np.testing.assert_allclose(drawn, table[name])
        raw = [float(line.get_xdata()[0]) for line in squares]
        np.testing.assert_allclose(raw, table[f"{name}_raw"])
    else:
        assert drawn[0] == post.at(sex="F").estimate(name)
        assert not squares
    heights = [float(line.get_ydata()[0]) for line in dots]
    assert heights == sorted(set(heights))
    plt.close(ax.figure)


def test_factors_are_blocks(post):
    ax = bc.plots.subgroups(post)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == ["sex", "F", "M", "age", "<60", "60+"]
    bold = [text.get_text() for text in ax.get_yticklabels() if text.get_fontweight() == "bold"]
    assert bold == ["sex", "age"]
    plt.close(ax.figure)


def test_what_cannot_be_drawn_is_refused(post):
    with pytest.raises(InputError, match="two columns or more"):
        bc.plots.subgroups(post.at(sex="F"))
    with pytest.raises(InputError, match="of must be one of"):
        bc.plots.subgroups(post, of="sex")
