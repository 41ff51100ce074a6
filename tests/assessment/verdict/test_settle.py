"""How many more patients would settle the verdict on the limit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

import bayescal as bc
from bayescal.assessment.verdict.settle import more_to_settle
from bayescal.posterior.intervals import verdict_of


def normal(mean, sd, size=4000):
    return mean + sd * ndtri((np.arange(size) + 0.5) / size)


def settled_share(mean, sd, close, n, more, rng):
    """By simulating the means of future normal posteriors."""
    left = n / (n + more)
    truth = rng.normal(mean, sd, 20_000)
    centre = left * mean + (1 - left) * (truth + rng.normal(0, sd * np.sqrt(n / more), truth.size))
    return np.mean(np.abs(centre - close) > 1.959964 * sd * np.sqrt(left))


@pytest.mark.parametrize("mean", [0.01, 0.025, 0.04])
def test_a_normal_posterior_is_settled_as_often_as_said(mean) -> None:
    more = more_to_settle(normal(mean, 0.012), 0.03, 0.95, 400)
    share = settled_share(mean, 0.012, 0.03, 400, more, np.random.default_rng(1))
    assert share == pytest.approx(0.8, abs=0.025)


def test_nothing_more_is_needed_where_it_is_settled() -> None:
    for mean in (0.01, 0.06):
        error = normal(mean, 0.005)
        assert verdict_of(float(np.mean(error < 0.03)), 0.95) != "cannot tell"
        assert more_to_settle(error, 0.03, 0.95, 400) == 0


def test_no_number_is_given_where_the_error_is_about_the_limit() -> None:
    error = np.append(normal(0.03, 1e-5), normal(0.05, 0.02, 1000))
    assert more_to_settle(error, 0.03, 0.95, 400) == np.inf


def test_it_scales_with_the_cases_and_has_two_digits() -> None:
    error = normal(0.025, 0.012)
    few, many = (more_to_settle(error, 0.03, 0.95, n) for n in (100, 100_000))
    assert many == pytest.approx(1000 * few, rel=0.05)
    assert few == float(f"{few:.2g}")


def test_more_patients_are_needed_for_a_higher_level() -> None:
    error = normal(0.012, 0.012)
    assert more_to_settle(error, 0.03, 0.8, 400) < more_to_settle(error, 0.03, 0.99, 400)


@pytest.mark.slow
def test_the_assessment_says_it() -> None:
    y, s = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=1)
    a = bc.assess(y, s, estimators=("ece",), draws=1000, random_state=1)
    assert a.verdict == "cannot tell"
    assert 400 < a.more_to_settle < 40_000
    assert f"About {a.more_to_settle:,.0f} more patients like these" in str(a)
    assert a.to_dict()["more_to_settle"] == a.more_to_settle
    sure = bc.assess(y, s, close=0.3, estimators=("ece",), draws=1000, random_state=1)
    assert sure.more_to_settle == 0
    assert "more patients like these" not in str(sure)
