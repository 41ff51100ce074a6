"""Net benefit lost to miscalibration: its two identities, its most over a range, its words."""

import json

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.posterior.curve_draws import CurveDraws
from bayescal.posterior.functionals import net_benefit_lost
from bayescal.posterior.population import Population

RNG = np.random.default_rng(4)
SCORE = np.sort(RNG.beta(2, 3, 60))
WEIGHT = RNG.dirichlet(np.ones(60), 6)
CURVE = expit(RNG.normal(0, 0.5, (6, 1)) + RNG.lognormal(0, 0.3, (6, 1)) * logit(SCORE))
POINTS = CurveDraws(CURVE, Population(SCORE, WEIGHT))
SPREAD = CurveDraws(CURVE, Population(SCORE, WEIGHT, merged=True))
MIDDLES = (np.arange(4000) + 0.5) / 4000
OFF = "clinical-middle-overconfident"


@pytest.fixture(scope="module")
def losses():
    return {
        kind: np.array([(1 - t) * net_benefit_lost(draws, float(t)) for t in MIDDLES])
        for kind, draws in (("points", POINTS), ("spread", SPREAD))
    }


@pytest.mark.parametrize("kind", ["points", "spread"])
def test_over_all_thresholds_it_adds_up_to_the_squared_error(losses, kind):
    squared = POINTS.mean(POINTS.error**2)
    np.testing.assert_allclose(2 * losses[kind].mean(axis=0), squared, rtol=2e-3)


def test_it_is_the_net_benefit_of_the_curve_less_that_of_the_score():
    for t in (0.1, 0.25, 0.6):
        value = POINTS.mean(np.maximum(CURVE - t, 0)) / (1 - t)
        by_score = bc.functionals.net_benefit(POINTS, np.array([t]))[:, 0]
        np.testing.assert_allclose(net_benefit_lost(POINTS, t), value - by_score, atol=1e-14)


@pytest.mark.parametrize("draws", [POINTS, SPREAD], ids=["points", "spread"])
def test_no_threshold_of_a_range_loses_more_than_its_most(draws):
    inside = np.linspace(0.1, 0.4, 3001)
    each = np.array([net_benefit_lost(draws, float(t)) for t in inside]).max(axis=0)
    most = net_benefit_lost(draws, (0.1, 0.4))
    rough = 1 if draws is POINTS else 0.97  # between spread rows the range is not searched
    assert (most >= rough * each - 1e-12).all()
    assert (most <= each * 1.02).all()


def test_spread_scores_are_those_between_the_rows():
    score = np.linspace(0.0005, 0.9995, 1000)
    fine = CurveDraws(score[None] + 0.03, Population(score, np.full(1000, 1e-3)))
    rows = score.reshape(100, 10).mean(axis=1)
    coarse = Population(rows, np.full(100, 1e-2), merged=True)
    merged = CurveDraws(rows[None] + 0.03, coarse)
    for t in (0.2, 0.333, (0.2, 0.4)):
        exact = 0.03**2 / 2 / (1 - np.max(t))  # of a uniform density
        assert net_benefit_lost(merged, t)[0] == pytest.approx(exact, rel=1e-3)
        assert net_benefit_lost(fine, t)[0] == pytest.approx(exact, rel=0.04)


@pytest.mark.parametrize(
    ("threshold", "match"),
    [
        (0, "threshold must lie strictly between 0 and 1"),
        (25, "divide by 100"),
        ("high", "threshold must lie strictly between"),
        ((0.3, 0.1), "lowest risk first"),
        ((0.1, 0.2, 0.3), "lowest and the highest risk of a range"),
        ((0.1, 1.0), "strictly between"),
        ({}, "lowest and the highest"),
        (None, "strictly between|must be a list"),
    ],
)
def test_thresholds_that_are_none_are_refused(threshold, match):
    with pytest.raises(InputError, match=match):
        net_benefit_lost(POINTS, threshold)


@pytest.fixture(scope="module")
def a():
    y, s = bc.simulate.sample(OFF, 300, random_state=2)
    options = {"draws": 400, "estimators": ("ece",), "random_state": 1}
    return bc.assess(y, s, thresholds=[0.3, 0.05, 0.1], **options)


def test_a_summary_has_it_where_there_are_thresholds(a):
    post = a.posterior
    rows = [f"net_benefit_lost@{at}" for at in ("0.05", "0.1", "0.3", "0.05 to 0.3")]
    assert list(a.summary().index) == [*post.summary().index, *rows]
    assert list(post.summary(names=(), thresholds=[0.1]).index) == [rows[1]]
    assert not [name for name in post.summary().index if "lost" in name]
    told = a.facts.net_benefit_lost
    for name, threshold in zip(rows, (0.05, 0.1, 0.3, (0.05, 0.3)), strict=True):
        options = {"threshold": threshold}
        ends = post.interval("net_benefit_lost", **options)
        assert told.loc[name, ["lower", "upper"]].tolist() == list(ends)
        assert told.loc[name, "estimate"] == post.estimate("net_benefit_lost", **options)
    assert (told["upper"].iloc[-1] >= told["upper"].iloc[:-1]).all()
    below = post.prob_below(0.004, "net_benefit_lost", threshold=[0.05, 0.3])
    assert below == (post.values_of("net_benefit_lost", threshold=(0.05, 0.3)) < 0.004).mean()


def test_terminal_page_and_record_have_it(a, tmp_path):
    most = 1000 * a.facts.net_benefit_lost.iloc[-1]
    cell = f"{most['estimate']:.1f} ({most['lower']:.1f} to {most['upper']:.1f})"
    assert cell in str(a)
    assert a.tables["lost"].texts()["0.05 to 0.3"]["lost"] == cell
    a.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert f">{cell}</td>" in page
    record = bc.read_report(tmp_path / "page.html")
    assert record["net_benefit_lost"] == json.loads(json.dumps(a.to_dict()))["net_benefit_lost"]
    assert list(record["net_benefit_lost"])[-1] == "net_benefit_lost@0.05 to 0.3"


def test_without_thresholds_nothing_is_said_of_it():
    y, s = bc.simulate.sample(OFF, 100, random_state=2)
    a = bc.assess(y, s, draws=400, estimators=("ece",), random_state=1)
    assert a.facts.net_benefit_lost.empty
    assert "lost" not in a.tables
    assert "net benefit per 1000" not in str(a)
    assert a.to_dict()["net_benefit_lost"] == {}


def test_it_knows_imputations_and_every_population(a):
    y, s = bc.simulate.sample(OFF, 150, random_state=2)
    moved = expit(logit(s) + np.random.default_rng(1).normal(0, 0.2, (3, 150)))
    imputed = bc.fit(y, imputation=moved, draws=300, random_state=1)
    table = imputed.summary(names=(), thresholds=[0.1, 0.3])
    assert (table["lower"] <= table["estimate"]).all()
    assert (table["estimate"] <= table["upper"]).all()
    ends = [
        a.posterior.interval("net_benefit_lost", population=each, threshold=(0.05, 0.3))[1]
        for each in ("bootstrap", "sample", "beta")
    ]
    assert max(ends) < 1.5 * min(ends)


def test_the_figure_draws_the_loss_and_titles_the_most(a):
    post, between = a.posterior, (0.05, 0.3)
    ax = bc.plots.net_benefit_lost(post, between, ci_prob=0.9)
    (line,) = ax.get_lines()
    at, height = line.get_data()
    assert (at[0], at[-1]) == between
    assert height[0] == pytest.approx(1000 * post.estimate("net_benefit_lost", threshold=0.05))
    most = 1000 * post.estimate("net_benefit_lost", threshold=between)
    assert float(ax.get_title(loc="left").split("\n")[1].split()[0]) == pytest.approx(most, abs=0.1)
    assert ax.get_xlim() == between
    wide = bc.plots.net_benefit_lost(post, legend=False)
    assert wide.get_xlim() == (0, 0.5)
    assert wide.get_legend() is None
    with pytest.raises(InputError, match="between must have the lowest risk first"):
        bc.plots.net_benefit_lost(post, (0.3, 0.1))
