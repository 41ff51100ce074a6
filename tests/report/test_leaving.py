"""What becomes of the answers if those who left early were not like the others."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.posterior.departures import other_hazard


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


@pytest.mark.parametrize("delta", [-1.0, 1.0])
def test_it_finds_the_risk_of_all_if_delta_is_true(delta):
    """Which the fit alone misses: it takes those who left to be like the others."""
    outcome, score, risk = study(delta)
    post = bc.fit(outcome, score, horizon=1, curve="logistic", draws=400, random_state=1)
    others = post._departing(other_hazard(post.problem, delta))
    true = {"observed_expected": risk.mean() / score.mean(), "tce": np.abs(risk - score).mean()}
    for name, value in true.items():
        lower, upper = others.interval(name)
        assert lower < value < upper
        lower, upper = post.interval(name)
        assert not lower < value < upper


def test_what_has_nobody_who_left_is_refused():
    known = bc.fit([0, 1, 1, 0] * 20, [0.2, 0.7, 0.6, 0.3] * 20, curve="logistic", draws=400)
    with pytest.raises(InputError, match="post is of outcomes that are known"):
        other_hazard(known.problem, 0.5)
    outcome = bc.Survival(np.linspace(1, 3, 80), np.arange(80) % 3 == 0)
    post = bc.fit(outcome, np.linspace(0.1, 0.6, 80), horizon=1, curve="logistic", draws=400)
    with pytest.raises(InputError, match="no case left before 1"):
        other_hazard(post.problem, 0.5)


def test_the_report_warns_if_high_risks_leave_early():
    from bayescal.report.followed import followed_words

    outcome, score, _ = study(0, 400)
    told = " ".join(followed_words(bc.CalibrationData(outcome, score, horizon=1)))
    assert "Cases with high predicted risks left earlier" in told
    assert "(score test of Cox regression, p < 0.001)" in told
    alike = np.random.default_rng(1).permutation(score)
    assert "left earlier" not in " ".join(
        followed_words(bc.CalibrationData(outcome, alike, horizon=1))
    )
