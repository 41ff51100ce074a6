"""Ordered periods: their engine, and their posterior."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, log_expit, logsumexp
from scipy.stats import norm

import bayescal as bc
from bayescal.errors import InputError
from bayescal.multilevel.changes import (
    PROB_CONSTANT,
    change_prior,
    explanation_prior,
    explanation_probabilities,
    steps_of,
)
from bayescal.multilevel.curves import Curves
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.problem import prepare_terms
from bayescal.multilevel.term import walk
from free import given_free

GRID = np.linspace(-3, 3, 401)


def year(size=0.0, months=12, patients=100, change=6, seed=1, mean=-1.0):
    """Outcomes, scores and months, with a sudden shift into one month."""
    rng = np.random.default_rng(seed)
    month = np.repeat(np.arange(months), patients)
    x = rng.normal(mean, 1.2, month.size)
    outcome = (rng.random(month.size) < expit(x + size * (month >= change))).astype(int)
    return outcome, expit(x), month


def quarters():
    """Four quarters of few patients, in which only a shift can differ; one quarter is missing."""
    outcome, score, month = year(size=0.9, months=4, patients=40, change=2, seed=3)
    return outcome, score, np.array(["2023-Q1", "2023-Q2", "2023-Q4", "2024-Q1"])[month], month


def by_grid(problem, months, outcome, score):
    """Log evidence of each explanation, and mean of the last shift, by integration on a grid."""
    x = np.log(score / (1 - score))
    signs = np.where(outcome == 1, 1, -1)
    likelihood = np.array(
        [
            log_expit(signs[months == k][:, None] * (x[months == k][:, None] + GRID)).sum(axis=0)
            for k in range(months.max() + 1)
        ]
    )
    step = np.log(GRID[1] - GRID[0])
    first = problem.pooled.prior.of("shift").logpdf(GRID)
    evidence, last = [logsumexp(first + likelihood.sum(axis=0)) + step], []
    change = change_prior(problem)["shift"].logpdf(GRID[:, None] - GRID)
    for k in range(1, len(likelihood)):
        joint = first + likelihood[:k].sum(axis=0) + change
        joint = joint + likelihood[k:].sum(axis=0)[:, None]
        evidence.append(logsumexp(joint) + 2 * step)
    levels = (np.arange(60) + 0.5) / 60
    scales = problem.terms[0].prior.scales(norm.ppf(levels)[:, None], ["shift"])[:, 0]
    for scale in scales:
        forward = first + likelihood[0]
        for k, elapsed in enumerate(problem.data.periods.elapsed, 1):
            kernel = norm.logpdf(GRID[:, None] - GRID, scale=scale * np.sqrt(elapsed))
            kernel -= logsumexp(kernel, axis=0)
            forward = logsumexp(kernel + forward, axis=1) + likelihood[k]
        last.append((logsumexp(forward) + step, np.exp(forward - logsumexp(forward)) @ GRID))
    of_scale, mean = np.array(last).T
    evidence.append(logsumexp(of_scale) - np.log(of_scale.size))
    return np.array(evidence), np.exp(of_scale - logsumexp(of_scale)) @ mean


def test_explanations_have_the_evidence_of_numerical_integration():
    outcome, score, label, month = quarters()
    post = bc.fit(outcome, score, period=label, curve="intercept", draws=8000, random_state=1)
    assert post.data.periods.elapsed == pytest.approx([0.25, 0.5, 0.25])
    evidence, last = by_grid(post.problem, month, outcome, score)
    post = given_free(post)
    np.testing.assert_allclose(post._drawn.log_evidence, evidence, atol=0.03)
    recent = 1 / np.array([9.0, 4.0, 1.0])
    weight = np.array([0.5, *0.4 * recent / recent.sum(), 0.1]) * np.exp(evidence)
    shares = [weight[0], weight[1:4].sum(), weight[4]] / weight.sum()
    np.testing.assert_allclose(post.explanations, shares, atol=0.01)
    walked = post._drawn.explanation == 4
    drawn = post._drawn.in_order()[-1, walked, 0]
    assert drawn.mean() == pytest.approx(last, abs=4 * drawn.std() / np.sqrt(walked.sum()))


def test_rows_need_no_order_and_units_of_time_have_no_part():
    outcome, score, month = year(patients=30, months=5)
    order = np.random.default_rng(1).permutation(month.size)
    one = bc.fit(outcome, score, period=month, random_state=1)
    for labels in (month[order], 7.5 * month[order] - 30):
        other = bc.fit(outcome[order], score[order], period=labels, random_state=1)
        np.testing.assert_allclose(one.explanations, other.explanations, rtol=1e-6)
        curves = (each.now().curve([0.1, 0.5]) for each in (one, other))
        np.testing.assert_allclose(*curves, rtol=1e-6)


@pytest.mark.parametrize("periods", [2, 12, 60])
def test_a_change_into_the_last_period_has_prior_probability_however_long_the_record(periods):
    labels = np.repeat(np.arange(periods), 2)
    data = bc.CalibrationData(np.tile([0, 1], periods), np.tile([0.3, 0.7], periods), period=labels)
    constant, *sudden, gradual = explanation_prior(prepare_terms(data, walk(), prior="neutral"))
    assert (constant, sum(sudden), gradual) == pytest.approx((0.5, 0.4, 0.1))
    assert sudden == sorted(sudden)
    assert sudden[-1] > 0.24


def test_the_present_may_be_what_the_last_month_shows():
    """Six months as scores say, and one of 92 events where 77 are expected: 1.7 standard errors."""
    score, below = np.repeat(np.linspace(0.1, 0.6, 11), 10), np.tile((np.arange(10) + 0.5) / 10, 11)
    shift = np.repeat([0.0, 0.4], [6, 1])
    risk = expit(np.log(score / (1 - score)) + shift[:, None])
    outcome = (below < risk).astype(int)
    post = bc.fit(
        *(outcome.ravel(), np.tile(score, 7)),
        period=np.repeat(np.arange(7), score.size),
        curve="logistic",
        draws=1000,
        random_state=1,
    )
    shown = outcome[-1].mean() / score.mean()
    lower, upper = post.now().interval("observed_expected", population="sample")
    assert lower < outcome[0].mean() / score.mean() < shown + 0.04 < upper
    before = post.at(period="0").interval("observed_expected", population="sample")
    assert before[1] < shown


def test_a_category_is_added_after_the_last():
    outcome, score, month = year(patients=40, months=3)
    names, old = np.array(["spring", "summer", "autumn"]), month < 2
    first = pd.Categorical(names[month[old]], categories=names[:2], ordered=True)
    more = pd.Categorical(names[month[~old]], categories=names, ordered=True)
    post = bc.fit(outcome[old], score[old], period=first, draws=400, random_state=1)
    assert bc.update(post, outcome[~old], score[~old], period=more).labels == tuple(names)


def test_equal_periods_say_that_nothing_changed_where_it_could_have():
    """The same cases in both periods: the evidence is against every explanation but the first."""
    outcome, score, _ = year(patients=400, months=1)
    twice = [np.tile(each, 2) for each in (outcome, score)]
    post = bc.fit(*twice, period=np.repeat([1, 2], outcome.size), curve="logistic", random_state=1)
    assert post.explanations["constant"] > PROB_CONSTANT + 0.1
    steps = steps_of(post._drawn)[0]
    assert (steps[post._drawn.explanation == 0] == 0).all()


@pytest.mark.parametrize("curve", ["intercept", "temperature", "logistic", "beta"])
def test_hard_periods_have_an_answer(curve):
    """No event, events alone, one patient."""
    outcome, score, month = year(patients=50, months=3)
    outcome = np.concatenate([outcome, np.zeros(8, int), [1, 1, 1, 0]])
    score = np.concatenate([score, np.linspace(0.05, 0.6, 8), [0.2, 0.3, 0.9, 0.4]])
    month = np.concatenate([month, np.repeat([3, 4, 5], [8, 3, 1])])
    post = bc.fit(outcome, score, period=month, curve=curve, random_state=1)
    assert post.diagnostics["verdict"] == "ok"
    table = post.table()
    assert np.isnan(table.loc["3", "calibration_slope_raw"])
    assert ((table["tce_lower"] <= table["tce"]) & (table["tce"] <= table["tce_upper"])).all()


def test_counts_are_repeats():
    outcome, score, month = year(patients=20, months=3)
    counts = np.random.default_rng(3).integers(1, 4, month.size)
    options = {"draws": 400, "random_state": 5}
    one = bc.fit(
        outcome, score, period=month, sample_weight=counts, weight_type="counts", **options
    )
    repeated = [np.repeat(each, counts) for each in (outcome, score, month)]
    other = bc.fit(*repeated[:2], period=repeated[2], **options)
    np.testing.assert_allclose(one.now().tce(), other.now().tce(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"period": ["a", "b"] * 30}, "order is not plain"),
        ({"period": [1] * 60}, "one period only"),
        ({"period": [1, 2] * 20}, "y_true has 60 observations but period has 40"),
        ({"site": [1, 2] * 30}, "the table has site and period"),
        ({"engine": "nuts"}, "engine='nuts'"),
        ({"curve": "spline"}, "curve='spline'"),
    ],
)
def test_errors_teach(options, message):
    outcome, score, month = year(patients=20, months=3)
    with pytest.raises(InputError, match=message):
        bc.fit(outcome, score, **{"period": month, **options})


def test_cases_of_a_table_have_no_periods():
    outcome, score, month = year(patients=20, months=3)
    table = bc.CalibrationData(outcome, score, site=month)
    with pytest.raises(InputError, match=r"period was given beside a CalibrationData.*period="):
        bc.fit(table, period=month)
    by_period = bc.CalibrationData(outcome, score, period=month)
    assert bc.fit(by_period, draws=400).labels == ("0", "1", "2")


def test_updates_say_when_cases_were():
    outcome, score, month = year(patients=20, months=3)
    post = bc.fit(outcome, score, period=month, draws=400)
    with pytest.raises(InputError, match="period="):
        bc.update(post, outcome, score)
    with pytest.raises(InputError, match="months"):
        bc.update(post, outcome, score, period=["2024-01"] * 60)
    with pytest.raises(InputError, match="periods was given"):
        bc.update(bc.fit(outcome, score, curve="beta", draws=400), outcome, score, period=month)


MONTHS = tuple(f"2024-{k:02}" for k in range(1, 7))


@pytest.fixture(scope="module")
def post():
    rng = np.random.default_rng(5)
    month = np.repeat(np.arange(6), 120)
    x = rng.normal(-1, 1.2, month.size)
    outcome = (rng.random(month.size) < expit(x + 0.6 * (month >= 3))).astype(int)
    labels = np.array(MONTHS)[month]
    return bc.fit(outcome, expit(x), period=labels, curve="logistic", draws=2000, random_state=1)


def test_periods_answer_as_any_posterior_does(post):
    assert post.labels == MONTHS
    assert post.now() is post.at(period="2024-06")
    now = post.now()
    assert now.data.n == 120
    assert now.summary(names=["tce"]).loc["tce", "estimate"] == now.estimate("tce")
    at = np.array([0.2, 0.6])
    drawn = now.curve(at).to_numpy().reshape(-1, 2)
    direct = post.problem.pooled.probability(post._drawn.in_order()[-1], at)
    np.testing.assert_allclose(drawn, direct)
    by_period = post.functional("observed_expected")
    assert by_period.dims == ("chain", "draw", "period")
    np.testing.assert_array_equal(
        by_period.sel(period="2024-06"), now.functional("observed_expected")
    )


def test_the_next_period_is_now_but_for_one_step(post):
    following = post.new()
    moved = post._drawn.following != post._drawn.in_order()[-1]
    gradual = post._drawn.explanation == len(MONTHS)
    np.testing.assert_array_equal(moved.any(axis=1), gradual)
    now, then = post.now().curve([0.3]), following.curve([0.3])
    assert then.std() > now.std()
    other = post.new(scores=[0.9, 0.95])
    assert float(other.functional("observed_expected").mean()) < 1.2
    assert following._title == "The next period"


def test_the_largest_step_is_somewhere_if_there_was_one(post):
    when = post.when_changed()
    assert list(when.index) == list(MONTHS[1:])
    drawn = (post._drawn.explanation > 0).mean()
    assert when["prob"].sum() == pytest.approx(drawn)
    assert (1 - post.explanations["constant"]) == pytest.approx(drawn, abs=0.02)
    assert when["by_then"].iloc[-1] == pytest.approx(1)
    assert when["by_then"].is_monotonic_increasing
    assert when["if_sudden"].sum() == pytest.approx(1)
    inner = when["if_sudden"].rolling(3, center=True).sum().iloc[1:-1]
    np.testing.assert_allclose(when["within_one"].iloc[1:-1], inner)
    assert post.explanations.sum() == pytest.approx(1)


def test_when_is_asked_with_all_periods_alike(post):
    """A sudden change alone, and as likely everywhere, was as probably into one as into another."""
    walk = post._drawn.explanation == len(MONTHS)
    flat = replace(
        post._drawn,
        log_evidence=np.zeros(len(MONTHS) + 1),
        explanation=np.where(walk, 0, post._drawn.explanation),
    )
    alike = given_free(MultilevelPosterior([Curves(flat)])).when_changed()
    np.testing.assert_allclose(alike["if_sudden"], 1 / len(alike))
    np.testing.assert_allclose(alike["prob"], alike["prob"].mean())
    by_prior = explanation_probabilities(post._drawn)[1:-1]
    recent = explanation_prior(post.problem)[1:-1]
    expected = (by_prior / recent) / (by_prior / recent).sum()
    np.testing.assert_allclose(post.when_changed()["if_sudden"], expected)


def test_steps_up_to_delta_are_not_counted(post):
    shares = [post.when_changed(delta)["prob"].sum() for delta in (0, 0.02, 0.05, 0.5)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == 0
    assert post.when_changed(0.5)["by_then"].isna().all()


def test_the_gain_of_updating_is_that_of_the_mean_curve(post):
    """Under the posterior the mean Brier gain of its mean is the mean squared step to it."""
    gain = post.gain_of_updating()
    assert list(gain.index) == [
        (name, rule) for name in ("now", "all periods") for rule in ("brier", "log_score")
    ]
    now = post.now().problem
    mean = now.probability(post._drawn.in_order()[-1]).mean(axis=0)
    expected = now.trials / now.trials.sum() @ (mean - now.score) ** 2
    assert gain.loc[("now", "brier"), "mean"] == pytest.approx(expected, rel=0.1)
    assert (gain["lower"] <= gain["mean"]).all()
    assert gain.loc[("now", "brier"), "mean"] > gain.loc[("all periods", "brier"), "mean"]
    narrow = post.gain_of_updating(0.5)
    assert (narrow["lower"] >= gain["lower"]).all()


def test_the_table_has_a_row_a_period(post):
    table = post.table()
    assert list(table.index) == list(MONTHS)
    assert (table["cases"] == 120).all()
    assert (table["observed_expected_lower"] < table["observed_expected"]).all()
    assert table["observed_expected"].std() < table["observed_expected_raw"].std()


def test_periods_in_another_order_are_refused(post):
    tree = post.tree.copy(deep=True)
    renamed = post.tree["posterior"].to_dataset().assign_coords(period=list(MONTHS[::-1]))
    tree["posterior"] = type(tree)(renamed)
    with pytest.raises(InputError, match="periods of the tree"):
        MultilevelPosterior(tree)


def test_prior_draws_change_as_often_as_the_prior_says(post):
    prior = post._fits[0].prior
    periods, following = prior.in_order(), prior.following
    assert periods.shape == post._drawn.in_order().shape
    moved = (periods[-1] != periods[0]).any(axis=1)
    assert moved.mean() == pytest.approx(0.5, abs=0.05)
    assert (following != periods[-1]).any(axis=1).mean() == pytest.approx(0.1, abs=0.03)
    changed = (periods[1:] != periods[:-1]).any(axis=2)
    sudden = changed[:, changed.sum(axis=0) == 1].sum(axis=1)
    assert sudden[-1] > 2 * sudden[-2] > 0
    recent = np.arange(5.0, 0, -1) ** -2.0
    np.testing.assert_allclose(sudden / sudden.sum(), recent / recent.sum(), atol=0.06)
    spread = periods[:, :, 0].std(axis=1)
    assert spread[-1] > spread[0] == pytest.approx(1.0, abs=0.1)


def test_what_is_printed(post):
    shown = repr(post)
    assert "6 periods, 2024-01 to 2024-06, 720 cases" in shown
    assert "explanations: constant" in shown
    assert "next period" in post._repr_html_()


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda post: post.at(period="2024-07"), "level of period"),
        (lambda post: post.at(period=3), "level of period"),
        (lambda post: post.new(scores=[1.2]), "scores"),
        (lambda post: post.when_changed("much"), "delta"),
        (lambda post: post.gain_of_updating(2), "ci_prob"),
        (lambda post: post.functional("ece"), "name"),
        (lambda post: post.at(month="2024-01"), "the role of a level must be one of 'period'"),
    ],
)
def test_questions_that_have_no_answer(post, ask, message):
    with pytest.raises(InputError, match=message):
        ask(post)
