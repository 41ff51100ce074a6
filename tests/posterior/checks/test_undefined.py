"""Slope and intercept, where much of the scores is exactly 0 or 1."""

import json
import math

import numpy as np
import pytest

import bayescal as bc
from bayescal.model.problem import prepare
from bayescal.posterior.functionals import MOST_AT_ENDS, undefined_measures

EDGES = (0.02, None, 1e-4, 1e-6)
LINE = ["calibration_slope", "calibration_intercept"]


def cases(moved, n=5000, to=1.0):
    """Of which so many have a score of 1, whatever their risk: a third of these is wrong."""
    rng = np.random.default_rng(0)
    score = rng.uniform(0.3, 1, n)
    outcome = (rng.uniform(size=n) < score).astype(int)
    score[:moved] = to
    return outcome, score


def slopes(moved):
    options = {"curve": "logistic", "draws": 400, "random_state": 0}
    y, s = cases(moved)
    return [float(bc.fit(y, s, edge=e, **options).functional(LINE[0]).mean()) for e in EDGES]


@pytest.mark.slow
def test_the_slope_is_stable_where_it_is_shown_and_arbitrary_where_it_is_not():
    """By the value that a score of 1 is read as, from .98 to .999999."""
    shown, hidden = slopes(24), slopes(500)
    assert 24 / 5000 < MOST_AT_ENDS < 500 / 5000
    assert max(shown) - min(shown) < 0.15
    assert max(hidden) > 6 * min(hidden)
    nearer = slopes(24)[2] - float(
        bc.fit(*cases(24), edge=1e-5, curve="logistic", draws=400, random_state=0)
        .functional(LINE[0])
        .mean()
    )
    assert abs(nearer) < 0.03  # its standard error is .04


@pytest.mark.parametrize(
    ("score", "told"),
    [
        ([0.2] * 995 + [0.3] * 1 + [1.0] * 4, None),
        ([0.2] * 994 + [0.3] * 1 + [1.0] * 5, "0.5 % of scores are 1"),
        ([0.2] * 829 + [0.3] * 1 + [0.0] * 170, "17 % of scores are 0"),
        ([0.2] * 900 + [0.0] * 50 + [1.0] * 50, "10 % of scores are 0 or 1"),
        ([0.0] * 500 + [1.0] * 500, "100 % of scores are 0 or 1"),
        ([0.2] * 1000, "all scores are equal"),
    ],
)
def test_why_is_said_in_words(score, told):
    problem = prepare(np.arange(1000) % 2, score, edge=0.01, random_state=0)
    assert undefined_measures([problem]) == (
        {} if told is None else dict.fromkeys((*LINE, "cloglog_slope", "cloglog_intercept"), told)
    )


@pytest.mark.parametrize("edge", EDGES)
def test_more_than_2048_scores_with_an_edge_beyond_some_of_them(edge):
    y, s = cases(500)
    options = {"edge": edge, "draws": 400, "random_state": 0}
    compared = bc.compare(y, s, **options)
    table = compared.posterior.summary()
    assert table.index[0] == "tce"
    assert not set(LINE) & set(table.index)
    assert table.attrs["undefined"] == dict.fromkeys(LINE, "10 % of scores are 1")
    assert table["estimate"]["tce"] == pytest.approx(0.04, abs=0.01)
    assert table.loc["observed_expected", "estimate"] == pytest.approx(y.sum() / s.sum(), abs=0.01)


def test_an_edge_keeps_the_order_of_scores():
    problem = prepare([0, 1, 0, 1], [0.5, 0.995, 0.999, 1.0], edge=0.003, random_state=0)
    np.testing.assert_array_equal(problem.table.score, [0.5, 0.995, 0.997, 0.997])
    assert problem.edges.moved == 2
    assert problem.inside(np.array([0.0, 1e-5])).tolist() == [0.003, 0.003]
    as_usual = prepare([0, 1, 0, 1], [0.5, 0.995, 0.999, 1.0], random_state=0)
    np.testing.assert_allclose(as_usual.table.score, [0.5, 0.995, 0.999, 0.99975])


@pytest.mark.slow
def test_every_text_says_that_the_slope_is_not_defined(tmp_path):
    y, s = cases(51, n=300)
    a = bc.assess(y, s, draws=400, random_state=0)
    why = "not defined: 17 % of scores are 1"
    text = str(a)
    assert max(map(len, text.splitlines())) <= 80
    assert "The slope is not defined, since 17 % of scores are 1." in " ".join(text.split())
    sentence = f"Calibration slope and intercept fitted jointly with the slope were {why}."
    assert sentence in a.describe()
    assert sentence in a.tripod().replace("\\", "")
    record = a.to_dict()
    assert record["undefined"] == dict.fromkeys(LINE, "17 % of scores are 1")
    assert not set(LINE) & set(record["functionals"])
    assert record["val_prob"]["Slope"] is None
    assert record["val_prob"]["Eavg"] is not None
    json.dumps(record, allow_nan=False)
    card = a.posterior._repr_html_()
    assert "not defined" in card
    assert "17 % of scores are 1" in card
    a.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8").replace("\xa0", " ")
    row = page.split("Calibration slope", 1)[1].split("</tr>", 1)[0]
    assert "not defined" in row
    assert "17 % of scores are 1" in row
    bc.plots.forest(a.posterior)


def test_sites_and_imputations_have_no_slope_either():
    y, s = cases(20, n=400)
    site = np.arange(400) % 4
    s[(site == 3) & (s == 1)] = 0.9
    post = bc.fit(y, s, site=site, curve="logistic", draws=400, random_state=0)
    assert post.table()["calibration_slope"].isna().tolist() == [True, True, True, False]
    assert "nan" not in repr(post)
    imputed = bc.fit(y, curve="beta", imputation=[s.clip(0, 0.99), s], draws=400, random_state=0)
    told = imputed.summary().attrs["undefined"]["calibration_slope"]
    assert told == "3.8 % of scores are 1"
    assert "nan" not in repr(imputed)


@pytest.mark.slow
def test_optimism_leaves_it_out_as_well():
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(1)
    x = rng.normal(size=(120, 2))
    y = (rng.random(120) < 1 / (1 + np.exp(-x[:, 0]))).astype(int)
    result = bc.optimism(
        DecisionTreeClassifier(random_state=0), x, y, n_folds=3, n_repeats=1, n_resamples=5,
        draws=400, random_state=0,
    )  # fmt: skip
    assert "Calibration slope     not defined" in repr(result)
    assert "nan" not in repr(result)
    assert math.isnan(result.summary()["bootstrap"]["calibration_slope"])
