"""Sizes of studies of times to an event, some of whose patients leave before the horizon."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bayescal as bc
from bayescal.data.times import TIME_STEPS
from bayescal.errors import InputError
from bayescal.planning.analysis import Analysis
from bayescal.planning.setting import Setting, setting_of
from bayescal.planning.times import PlannedTimes, as_times

TRUTH = bc.simulate.clinical(0.2, "overconfident")
PLAIN: dict[str, Any] = {
    "truth": TRUTH, "of": "observed_expected", "width": 0.5, "analysis": "curve",
    "curve": "logistic", "n_simulations": 50, "draws": 400, "n_jobs": 1, "random_state": 1,
}  # fmt: skip
TIMES: dict[str, Any] = {"horizon": 5, "leaving": 0.4, "leaving_ratio": 2.0}


def timed(times: PlannedTimes | None, size: int = 1) -> Setting:
    return replace(setting_of(TRUTH, None, size, 1), times=times)


@pytest.fixture(scope="module")
def result() -> Any:
    return bc.plan(**PLAIN, **TIMES)


@pytest.mark.parametrize("follow_up", [None, (2, 6)])
def test_studies_have_the_events_and_the_leaving_that_were_said(follow_up: Any) -> None:
    times = as_times(**TIMES, follow_up=follow_up)
    assert times is not None
    setting = timed(times)
    followed = setting.study(200_000, 1, 0).follow_up
    assert followed is not None
    events, left = followed.weight[followed.event].sum(), followed.censored
    seen, gone = times.shares(setting.curve, setting.leaving)
    assert events / 2e5 == pytest.approx(seen[0] @ setting.weight, abs=0.004)
    assert left / 2e5 == pytest.approx(gone[0] @ setting.weight, abs=0.004)
    before = -np.expm1(-setting.leaving[0]) @ setting.weight
    assert before == pytest.approx(0.4)


def test_the_rate_of_leaving_is_multiplied_by_the_ratio() -> None:
    x = np.linspace(-3, 3, 61)
    times = as_times(1, 0.3, 1.5)
    assert times is not None
    rate = times.rate(x, np.full(61, 1 / 61))
    slope = np.polyfit(x / x.std(), np.log(rate), 1)[0]
    assert slope == pytest.approx(np.log(1.5))


def test_what_a_case_tells_is_its_likelihood() -> None:
    """Derivatives of log g, log(1 - g) and log(1 - g Q) by the log-odds, by differences."""
    times = as_times(1, 0.5)
    assert times is not None
    score, curve = np.array([0.2, 0.6]), np.array([0.3, 0.55])
    outcome = bc.Survival([0.25, 0.5, 2.0], [False, True, False])
    data = bc.CalibrationData(outcome, [0.2, 0.6, 0.6], horizon=1)
    trials, hits = PlannedTimes.told(data, score, curve)

    def tells(x: float) -> float:
        g, q = 1 / (1 + np.exp(-x)), (1 - 0.7**0.25) / 0.3
        return float(np.log(1 - g * q))

    x, h = np.log(0.3 / 0.7), 1e-4
    slope = (tells(x + h) - tells(x - h)) / (2 * h)
    bend = (tells(x + h) - 2 * tells(x) + tells(x - h)) / h**2
    assert trials[0] == pytest.approx(-bend / 0.21, rel=1e-4)
    assert hits[0] - trials[0] * 0.3 == pytest.approx(slope, rel=1e-4)
    assert (trials[1], hits[1]) == pytest.approx((2, 1))
    assert data.follow_up is not None
    assert data.follow_up.exit.max() == TIME_STEPS


def test_quick_widths_follow_those_of_fits() -> None:
    setting = timed(as_times(5, 0.5), 12)
    options = ("observed_expected", None, 0.03, "curve", bc.curves.CURVES["logistic"])
    analysis = Analysis(*options, bc.priors.PRESETS["neutral"], 0.95, 1000)
    from bayescal.planning.approximate import NormalPosterior

    told = setting.told(500, 3)
    quick = NormalPosterior.of(setting, *told, analysis.curve, analysis.prior)
    widths = quick.widths("observed_expected", 1.96)
    fitted = [analysis.result(setting.study(500, 3, k), k) for k in range(setting.size)]
    np.testing.assert_allclose(fitted, widths, rtol=0.12)
    assert np.corrcoef(fitted, widths)[0, 1] > 0.8


@pytest.mark.slow
def test_leaving_takes_more_patients(result: Any) -> None:
    known = bc.plan(**PLAIN)
    assert known.n * 1.1 < result.n < 2.5 * known.n
    assert result.seen < result.prevalence
    assert result.events == pytest.approx(result.n * result.seen)
    assert not result.closed_form
    assert known.closed_form
    assert known.seen is None
    assert "times to an event by 5, at constant rates; 40 % of the patients" in result.protocol()


@pytest.mark.slow
def test_a_study_that_ends_early_takes_more_patients() -> None:
    ends = bc.plan(**PLAIN, horizon=5, follow_up=(1, 6))
    longer = bc.plan(**PLAIN, horizon=5, follow_up=(5, 6))
    assert ends.n > 1.1 * longer.n
    assert "the study ends 1 to 6 after they came" in ends.protocol()


@pytest.mark.slow
def test_studies_of_the_planned_size_are_as_precise_as_planned() -> None:
    result = bc.plan(**PLAIN | {"n_simulations": 400, "draws": 1000}, **TIMES)
    setting = timed(as_times(**TIMES), 60)
    reached = []
    for k in range(60):
        post = bc.fit(
            setting.study(result.n, 1000, k), curve="logistic", draws=1000, random_state=k
        )
        lower, upper = post.interval("observed_expected")
        reached.append(upper - lower <= 0.5)
    error = np.sqrt(0.8 * 0.2 / 60 + (2 * result.monte_carlo_error / result.n) ** 2)
    assert np.mean(reached) == pytest.approx(0.8, abs=3 * error)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"leaving": 0.3}, "leaving was given without horizon="),
        ({"follow_up": (2, 6)}, "follow_up was given without horizon="),
        ({"horizon": 5}, "leaving is missing"),
        ({"horizon": [1, 5], "leaving": 0.3}, "horizon is 2 times here"),
        ({"horizon": 5, "leaving": 1.0}, "leaving must be a share from 0 to 0.99"),
        ({"leaving_ratio": 2}, "leaving_ratio was given without horizon="),
        ({"horizon": 5, "leaving_ratio": 2, "follow_up": (2, 6)}, "without leaving="),
        ({"horizon": 5, "leaving": 0.2, "leaving_ratio": 0}, "leaving_ratio is 0, and must be"),
        ({"horizon": 5, "follow_up": (6, 2)}, "follow_up must be how long"),
        ({"horizon": 5, "follow_up": 6}, "follow_up must be how long"),
        ({"horizon": 5, "follow_up": (2, 5)}, "nobody would be followed"),
        ({"horizon": 5, "follow_up": (0, 5.00001), "leaving": 0.99}, None),
        ({**TIMES, "analysis": "wald"}, "horizon was given with"),
        ({**TIMES, "icc": 0.05, "cluster_size": 10}, "horizon was given with"),
        ({**TIMES, "of": "gain"}, "horizon was given with"),
        ({**TIMES, "conclude": "update", "width": None}, "horizon was given with"),
    ],
)  # fmt: skip
def test_wrong_times_are_refused_in_words(given: Any, message: str | None) -> None:
    if message is None:
        assert as_times(**given) is not None
        return
    with pytest.raises(InputError, match=message):
        bc.plan(**PLAIN | given)
