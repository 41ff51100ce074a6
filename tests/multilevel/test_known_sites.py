"""What a posterior answers of sites that are known by their summaries."""

from __future__ import annotations

import numpy as np
import pytest

import bayescal as bc
from bayescal.errors import InputError

KNOWN = {
    "site": ["<b>", "far", "slope"],
    "observed": [30, np.nan, np.nan],
    "expected": [22.0, np.nan, np.nan],
    "n": [80, np.nan, np.nan],
    "observed_expected": [np.nan, 0.8, np.nan],
    "lower": [np.nan, 0.5, np.nan],
    "upper": [np.nan, 1.3, np.nan],
    "calibration_slope": [0.9, np.nan, 0.7],
    "slope_lower": [0.5, np.nan, 0.35],
    "slope_upper": [1.3, np.nan, 1.4],
}


@pytest.fixture(scope="module")
def post():
    y, s = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    groups = np.resize(["north", "south"], y.size)
    return bc.fit(y, s, site=groups, known=KNOWN, curve="logistic", random_state=1)


@pytest.fixture(scope="module")
def alone():
    scores = np.linspace(0.05, 0.6, 40)
    return bc.fit(None, scores, known=KNOWN, curve="logistic", random_state=1)


def test_they_stand_among_the_others(post):
    assert post.labels == ("<b>", "far", "north", "slope", "south")
    assert post.tce().sizes["site"] == 5
    assert "5 sites, 400 cases" in str(post)
    assert "3 sites known by their summaries" in str(post)
    table = post.table()
    assert table.loc["<b>", ["cases", "events"]].tolist() == [80, 30]
    assert table.loc["<b>", "observed_expected_raw"] == pytest.approx(30 / 22)
    assert table.loc["far", "observed_expected_raw"] == 0.8
    assert np.isnan(
        table.loc["far", ["cases", "events", "calibration_slope_raw"]].to_numpy(float)
    ).all()
    numbers = table[["tce", "tce_lower", "tce_upper", "prob_differs", "prob_worst"]]
    assert numbers.notna().all(axis=None)


def test_a_view_has_scores_and_no_outcomes(post):
    view = post.at(site="<b>")
    assert not view.has_outcomes
    assert view.data.n == 400
    assert view.data.score @ view.data.trials / 400 == pytest.approx(22 / 80)
    assert "400 scores, without outcomes" in str(view)
    assert post.at(site="north").has_outcomes
    assert post.average().has_outcomes
    assert post.average().data.n == 400
    with pytest.raises(InputError, match="needs outcomes"):
        bc.check_consistency(view)


def test_summaries_alone(alone):
    assert not alone.has_outcomes
    assert "3 sites known by their summaries, at 40 scores" in str(alone)
    for view in (alone.average(), alone.new(), alone.at(site="far")):
        assert not view.has_outcomes
        assert 0 <= view.interval("tce")[0] < view.interval("tce")[1] < 1
    given = alone.new(scores=[0.1, 0.2])
    assert given.data.n == 2


def test_summaries_alone_are_stored_and_read_back(alone, tmp_path):
    alone.to_netcdf(tmp_path / "sites.nc")
    again = bc.load(tmp_path / "sites.nc")
    assert again.problem.known == alone.problem.known
    np.testing.assert_array_equal(again.new().tce(), alone.new().tce())


@pytest.mark.parametrize("which", ["post", "alone"])
def test_they_are_drawn(which, request):
    post = request.getfixturevalue(which)
    (ax,) = bc.plots.forest(post)
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert set(names) == {*post.labels, "Average site", "Next site"}
    assert np.isfinite([line.get_markersize() for line in ax.lines]).all()
    titles = [each.get_title(loc="left") for each in bc.plots.site_curves(post)]
    assert titles[:2] == ["<b> (80 cases, summary)", "far (summary)"]
    assert bc.plots.reliability(post.at(site="far")) is not None
