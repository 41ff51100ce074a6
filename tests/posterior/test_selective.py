"""Selective prediction: accuracy by the share of cases answered, from draws."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayescal as bc
from bayescal.errors import InputError
from bayescal.posterior.selective import Ranked, Selective

SCORE = np.array([0.9, 0.7, 0.5])
ANSWERED = np.array([[0.2, 0.6, 1.0]])
RIGHT = np.array([[0.2, 0.5, 0.7]])
BY_HAND = Selective((Ranked(SCORE, ANSWERED, RIGHT),))
"""Three rows with 0.2, 0.4 and 0.4 of the cases, right in 1, 0.75 and 0.5 of them."""


@pytest.fixture(scope="module")
def post() -> bc.CalibrationPosterior:
    rng = np.random.default_rng(1)
    sure = np.round(rng.uniform(0.4, 1, 600), 2)
    return bc.fit(rng.random(600) < sure, sure, curve="logistic", draws=400, random_state=1)


def test_accuracy_at_a_coverage_by_hand() -> None:
    at = [0.1, 0.2, 0.4, 1.0]
    expected = [1.0, 1.0, 0.35 / 0.4, 0.7]
    np.testing.assert_allclose([BY_HAND.accuracy_at(c)[0] for c in at], expected)
    risk = BY_HAND.risk_coverage(at)["risk"]
    np.testing.assert_allclose(risk, 1 - np.array(expected))


def test_aurc_is_the_area_under_the_curve() -> None:
    coverage = (np.arange(200_000) + 0.5) / 200_000
    right = np.interp(coverage, [0, *ANSWERED[0]], [0, *RIGHT[0]])
    area = np.mean(1 - right / coverage)
    assert BY_HAND.aurc[0] == pytest.approx(area, abs=1e-6)


def test_of_single_cases_aurc_is_nearly_the_mean_of_their_risks() -> None:
    right = np.random.default_rng(2).random(4000) < 0.8
    number = np.arange(1, right.size + 1)
    one = Ranked(np.linspace(1, 0, 4000), number[None] / 4000, np.cumsum(right)[None] / 4000)
    assert one.aurc[0] == pytest.approx(np.mean(1 - np.cumsum(right) / number), abs=2e-3)


def test_the_threshold_is_the_lowest_that_keeps_the_promise() -> None:
    assert BY_HAND.threshold(0.8) == (0.7, 1.0, 0.6, pytest.approx(0.5 / 0.6))
    assert BY_HAND.threshold(0.6).threshold == 0.5
    two = Selective(
        (Ranked(SCORE, np.tile(ANSWERED, (2, 1)), np.array([[0.2, 0.5, 0.7], [0.1, 0.3, 0.5]])),)
    )
    assert two.threshold(0.8, prob=0.5).threshold == 0.7
    assert two.threshold(0.8, prob=0.95) is None


def test_draws_are_those_of_the_curve_and_the_cases(post) -> None:
    answers = post.selective("sample")
    table = post.performance_summary([0.8], population="sample")
    above = post.data.trials[post.data.score >= 0.8].sum() / post.data.n
    assert answers.accuracy_at(float(above)).mean() == pytest.approx(table.loc["ppv@0.8", "mean"])
    assert answers.accuracy_at(1).mean() == pytest.approx(table.loc["events", "mean"])


def test_the_promise_holds_in_the_draws(post) -> None:
    promise = post.selective().threshold(0.8)
    drawn = post.performance([promise.threshold])["ppv"].to_numpy()
    assert (drawn >= 0.8).mean() == pytest.approx(promise.prob)
    assert promise.prob >= 0.95
    lower = post.data.score[post.data.score < promise.threshold].max()
    assert (post.performance([float(lower)])["ppv"].to_numpy() >= 0.8).mean() < 0.95


def test_seen_on_other_scores(post) -> None:
    sure = post.selective(np.full(50, 0.95))
    assert sure.accuracy_at(1).mean() > post.selective().accuracy_at(1).mean()


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda a: a.accuracy_at(0), r"coverages\[0\] = 0 is not in \(0, 1\]"),
        (lambda a: a.risk_coverage([0.5, 1.5]), r"coverages\[1\] = 1.5"),
        (lambda a: a.threshold(1.0), "accuracy must"),
        (lambda a: a.threshold(0.9, prob=2), "prob must"),
    ],
)
def test_what_is_out_of_range_is_refused(ask, told) -> None:
    with pytest.raises(InputError, match=told):
        ask(BY_HAND)


def test_scores_that_differ_by_draw_are_refused(post) -> None:
    with pytest.raises(InputError, match="population='beta'"):
        post.selective("beta")


def test_the_figure_draws_these_numbers(post) -> None:
    axes = bc.plots.risk_coverage(post, Figure().subplots(), accuracy=0.8)
    answers = post.selective()
    x, y = axes.get_lines()[0].get_data()
    np.testing.assert_allclose(y, answers.risk_coverage(x)["risk"])
    assert axes.get_lines()[1].get_xdata()[0] == answers.threshold(0.8).coverage
    assert f"{answers.aurc.mean():.2f}" in axes.get_title("left")
