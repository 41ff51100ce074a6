"""The risk of single patients: draws of the curve at their scores, and P(another decision)."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayescal as bc
from bayescal.errors import InputError

HOW = {"curve": "logistic", "draws": 400, "random_state": 1}


@pytest.fixture(scope="module")
def cases():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    return y, s, np.resize(["A", "B", "C"], 300)


@pytest.fixture(scope="module")
def sites(cases):
    y, s, site = cases
    return bc.fit(y, s, site=site, **HOW)


@pytest.fixture(scope="module")
def post(cases):
    return bc.fit(*cases[:2], **HOW)


def test_they_are_the_curve_at_the_scores(post):
    at, thresholds = [0.1, 0.3, 0.3], [0.2, 0.3]
    table = post.risks(at, thresholds, ci_prob=0.8)
    draws = post.predict(at).to_numpy().reshape(-1, 3)
    assert table["risk"].tolist() == pytest.approx(draws.mean(axis=0).tolist())
    assert table["lower"].tolist() == pytest.approx(np.quantile(draws, 0.1, axis=0).tolist())
    others = (draws[:, 0] >= 0.2).mean(), (draws[:, 1] < 0.2).mean()
    assert table["flips@0.2"].tolist()[:2] == pytest.approx(others)
    assert table["flips@0.3"].tolist()[1] == pytest.approx((draws[:, 1] < 0.3).mean())


def test_one_number_is_one_patient(post):
    assert post.risks(0.3).equals(post.risks([0.3]))
    assert list(post.risks(0.3)) == ["score", "risk", "lower", "upper"]


def test_of_sites_here_on_average_and_in_a_new_one(sites):
    table = sites.risks(0.25, 0.2, at="B")
    assert table.index.get_level_values("curve").tolist() == ["B", "average site", "new site"]
    views = sites.at(site="B"), sites.average(), sites.new()
    for (_, row), view in zip(table.iterrows(), views, strict=True):
        assert row.tolist() == pytest.approx(view.risks(0.25, 0.2).iloc[0].tolist())
    width = (table["upper"] - table["lower"]).tolist()
    assert width[2] > width[1]


def test_of_periods_now_and_next(cases):
    y, s, _ = cases
    drift = bc.fit(y, s, period=np.repeat([1, 2, 3], 100), **HOW)
    table = drift.risks([0.1, 0.4])
    assert table.index.tolist() == [(w, k) for w in ("now", "next period") for k in (0, 1)]


def test_the_figure_has_a_row_for_each_curve(sites, post):
    ax = bc.plots.risks(sites, 0.25, Figure().subplots(), threshold=0.2, at="B")
    assert [text.get_text() for text in ax.get_yticklabels()] == ["B", "average site", "new site"]
    table = sites.risks(0.25, 0.2, at="B")
    first = next(line for line in ax.get_lines() if line.get_linewidth() == 2)
    assert list(first.get_xdata()) == pytest.approx(table.iloc[0][["lower", "upper"]].tolist())
    ax = bc.plots.risks(post, 0.25, Figure().subplots())
    assert [text.get_text() for text in ax.get_yticklabels()] == ["These patients"]
    with pytest.raises(InputError, match="score of one patient"):
        bc.plots.risks(post, [0.2, 0.3], Figure().subplots())
    with pytest.raises(InputError, match="the posterior has one"):
        bc.plots.risks(post, 0.2, Figure().subplots(), at="A")


def test_what_there_is_not_is_named(sites, post):
    with pytest.raises(InputError, match="at must be one of 'A', 'B', 'C'"):
        sites.risks(0.2, at="X")
    with pytest.raises(InputError, match="outside"):
        post.risks(1.2)
    with pytest.raises(InputError, match="thresholds"):
        post.risks(0.2, thresholds=1.5)
