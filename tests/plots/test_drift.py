"""The figure of drift draws what the posterior computed."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError


@pytest.fixture(scope="module")
def post():
    y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    months = np.repeat(["2024-01", "2024-02", "2024-03"], 100)
    return bc.fit(y_true, y_prob, period=months, draws=800, random_state=1)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", ["observed_expected", "tce"])
def test_lines_and_bars_are_those_of_the_tables(post, name):
    above, below = bc.plots.drift(post, name, limit=0.07)
    curve = next(line for line in above.lines if line.get_marker() == "o")
    np.testing.assert_allclose(curve.get_ydata(), post.table()[name])
    bars = [bar.get_height() for bar in below.patches]
    np.testing.assert_allclose(bars, post.when_changed()["prob"])
    assert [text.get_text() for text in below.get_xticklabels()] == list(post.labels)
    assert any(np.allclose(line.get_ydata(), 0.07) for line in above.lines)
    squares = [line for line in above.lines if line.get_marker() == "s"]
    assert len(squares) == (name == "observed_expected")


def test_it_draws_on_given_axes(post):
    _, axes = plt.subplots(2)
    assert bc.plots.drift(post, axes=axes)[1] is axes[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "ece"}, "name"),
        ({"limit": "high"}, "limit"),
        ({"ci_prob": 2}, "ci_prob"),
        ({"axes": []}, "axes"),
    ],
)
def test_errors_teach(post, options, message):
    with pytest.raises(InputError, match=message):
        bc.plots.drift(post, **options)


def test_other_posteriors_are_refused():
    with pytest.raises(InputError, match="period="):
        bc.plots.drift(bc.fit([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4], curve="beta"))


def test_a_forest_of_periods_keeps_their_order(post):
    (ax,) = bc.plots.forest(post)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == [*post.labels, "Next period"]
    drawn = [float(line.get_xdata()[0]) for line in ax.get_lines() if line.get_marker() == "o"]
    np.testing.assert_allclose(drawn, post.table()["observed_expected"])
