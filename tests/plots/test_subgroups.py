"""The forest of subgroups."""

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
@pytest.mark.parametrize("by", [None, ["sex", "age"]])
def test_marks_are_the_numbers_of_the_table(post, name, by):
    (ax,) = bc.plots.forest(post, names=name, by=by)
    drawn = [float(line.get_xdata()[0]) for line in ax.get_lines() if line.get_marker() == "o"]
    parts, table = post.parts(by), post.table()
    np.testing.assert_allclose(drawn, [post.at(part.levels).estimate(name) for part in parts])
    keys = [(part.factor, part.level) for part in parts]
    if name in table:
        np.testing.assert_allclose(drawn, table.loc[keys, name])
    alone = [float(line.get_xdata()[0]) for line in ax.get_lines() if line.get_marker() == "s"]
    raw = table.loc[keys, f"{name}_raw"] if f"{name}_raw" in table else []
    np.testing.assert_allclose(alone, raw)
    plt.close(ax.figure)


def test_factors_are_blocks(post):
    (ax,) = bc.plots.forest(post)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == ["sex", "F", "M", "age", "<60", "60+", "All cases"]
    bold = [text.get_text() for text in ax.get_yticklabels() if text.get_fontweight() == "bold"]
    assert bold == ["sex", "age"]
    plt.close(ax.figure)


def test_what_cannot_be_drawn_is_refused(post):
    with pytest.raises(InputError, match="by must be one of"):
        bc.plots.forest(post, by="colour")
    with pytest.raises(InputError, match="by is of several curves"):
        bc.plots.forest(post.at(sex="F"), by="sex")
    with pytest.raises(InputError, match="names must be one of"):
        bc.plots.forest(post, names="ece")
    with pytest.raises(InputError, match="estimators stand beside one curve"):
        bc.plots.forest(post, estimators={"ece": 0.1})
