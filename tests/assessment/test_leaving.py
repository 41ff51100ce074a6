"""What becomes of the answers if those who left early were not like the others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError


def study(delta, n=6000):
    """Risks that are right for those who stay; who left has another hazard. And the true risks."""
    rng = np.random.default_rng(4)
    x = rng.normal(-1, 1.1, n)
    score = expit(x)
    hazard, unit = -np.log1p(-score), rng.exponential(1, n)
    left = np.minimum(rng.exponential(1, n) / (0.6 * np.exp(0.8 * (x + 1))), 2)
    stayed = unit / hazard
    event = np.where(stayed <= left, stayed, left + (unit - hazard * left) / hazard / np.exp(delta))
    gone = np.minimum(left, 1)
    risk = -np.expm1(-hazard * (gone + np.exp(delta) * (1 - gone)))
    return bc.Survival(np.minimum(event, left), event <= left), score, risk


@pytest.fixture(scope="module")
def fitted():
    outcome, score, _ = study(0)
    return bc.fit(outcome, score, horizon=1, curve="logistic", draws=400, random_state=1)


@pytest.mark.parametrize("delta", [-1.0, 1.0])
def test_it_finds_the_risk_of_all_if_delta_is_true(delta):
    """Which the fit alone misses: it takes those who left to be like the others."""
    outcome, score, risk = study(delta)
    post = bc.fit(outcome, score, horizon=1, curve="logistic", draws=400, random_state=1)
    row = bc.leaving_sensitivity(post, [delta]).table.loc[delta]
    true = {"observed_expected": risk.mean() / score.mean(), "tce": np.abs(risk - score).mean()}
    for name, value in true.items():
        assert row[f"{name}_lower"] < value < row[f"{name}_upper"]
        lower, upper = post.interval(name)
        assert not lower < value < upper
    assert row["verdict"] == "miscalibrated"


def test_at_zero_it_is_the_fit_and_the_verdict_changes_where_it_says(fitted):
    told = bc.leaving_sensitivity(fitted, [0.0])
    row = told.table.loc[0.0]
    for name in ("observed_expected", "tce"):
        ends = [row[f"{name}_lower"], row[f"{name}_upper"]]
        np.testing.assert_allclose(ends, fitted.interval(name))
    assert row["verdict"] == "close enough"
    below, above = told.changes_at
    assert -0.5 < below < 0 < above < 0.5
    at = bc.leaving_sensitivity(fitted, [below, below + 0.1, above - 0.1, above]).table["verdict"]
    assert list(at == "close enough") == [False, True, True, False]
    assert f"{np.exp(below):.2f} or {np.exp(above):.2f}" in repr(told)


def test_a_wide_limit_never_changes(fitted):
    told = bc.leaving_sensitivity(fitted, [0.0], close=0.5)
    assert told.changes_at == (None, None)
    assert "stays the same" in told.told


def test_what_has_nobody_who_left_is_refused(fitted):
    known = bc.fit([0, 1, 1, 0] * 20, [0.2, 0.7, 0.6, 0.3] * 20, curve="logistic", draws=400)
    with pytest.raises(InputError, match="post is of outcomes that are known"):
        bc.leaving_sensitivity(known)
    outcome = bc.Survival(np.linspace(1, 3, 80), np.arange(80) % 3 == 0)
    post = bc.fit(outcome, np.linspace(0.1, 0.6, 80), horizon=1, curve="logistic", draws=400)
    with pytest.raises(InputError, match="no case left before 1"):
        bc.leaving_sensitivity(post)
    with pytest.raises(InputError, match="deltas must be log hazard ratios from -5 to 5"):
        bc.leaving_sensitivity(fitted, [7])


def test_the_figure_draws_the_table(fitted):
    told = bc.leaving_sensitivity(fitted, [-0.5, 0, 0.5])
    axes = bc.plots.leaving(told.table, "observed_expected", close=1)
    (line, *_) = axes.get_lines()
    np.testing.assert_allclose(line.get_xdata(), np.exp([-0.5, 0, 0.5]))
    np.testing.assert_allclose(line.get_ydata(), told.table["observed_expected"])
    assert axes.get_ylabel() == "Observed over expected"
    with pytest.raises(InputError, match="name must be one of"):
        bc.plots.leaving(told.table, "ici")
    with pytest.raises(InputError, match="table must be that of"):
        bc.plots.leaving(told.table[["tce"]])


def test_the_report_warns_if_high_risks_leave_early():
    from bayescal.assessment.followed import followed_words

    outcome, score, _ = study(0, 400)
    told = " ".join(followed_words(bc.CalibrationData(outcome, score, horizon=1)))
    assert "Cases with high predicted risks left earlier" in told
    assert "(score test of Cox regression, p < 0.001)" in told
    alike = np.random.default_rng(1).permutation(score)
    assert "left earlier" not in " ".join(
        followed_words(bc.CalibrationData(outcome, alike, horizon=1))
    )
