"""What one asks of ordered periods, and the answers written to a file and read back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.multilevel.changes import explanation_prior, explanation_probabilities
from bayescal.multilevel.curves import Curves
from bayescal.multilevel.posterior import MultilevelPosterior
from free import given_free

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
