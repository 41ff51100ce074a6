"""Is the model off, and which way."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit, ndtr

import bayescal as bc
from bayescal.assessment.stretches import Stretch
from bayescal.assessment.verdict.off import depth_of_zero, is_off, sure_ranges

CHEAP: Any = {"estimators": ("ece",), "draws": 1000, "random_state": 1}


def brute_depth(x, y):
    """The least share of points strictly on one side of a line through the origin, by trying."""
    angle = np.linspace(0, 2 * np.pi, 20_001)
    return min((np.cos(a) * x + np.sin(a) * y > 0).mean() for a in angle)


@pytest.mark.parametrize("at", [(0, 0), (1, 0.5), (-0.3, 2)])
def test_the_depth_is_the_least_share_of_a_halfplane(at) -> None:
    x, y = np.random.default_rng(1).standard_normal((2, 101)) + np.reshape(at, (2, 1))
    assert depth_of_zero(x, y) == pytest.approx(brute_depth(x, y), abs=1e-9)
    assert depth_of_zero(3 * x, y - 2 * x) == depth_of_zero(x, y)


def test_the_depth_of_normal_points_is_that_of_their_distance() -> None:
    x, y = np.random.default_rng(2).standard_normal((2, 200_000))
    assert depth_of_zero(x + 1.5, y + 0.8) == pytest.approx(ndtr(-np.hypot(1.5, 0.8)), abs=0.002)


class Known:
    """A posterior of which shift and slope are normal, with correlation -0.9."""

    def __init__(self, shift, slope, events=50.0, k=0.1) -> None:
        z = np.random.default_rng(3).standard_normal((2, 4000))
        self.shift = 0.1 * (shift + z[0])
        self.slope = 1 + 0.1 * (slope - 0.9 * z[0] + np.sqrt(1 - 0.9**2) * z[1])
        self.diagnostics = {"pareto_k": k}
        self.data = SimpleNamespace(n=300.0, events=events, weight_scale=1.0)

    def values_of(self, name):
        return self.shift if name == "calibration_in_the_large" else self.slope

    def table(self, tce=0.01, slope=True):
        draws = {
            "tce": np.full(9, tce),
            "observed_expected": np.exp(self.shift),
            "calibration_in_the_large": self.shift,
            "calibration_slope": self.slope,
        }
        ends = {name: np.quantile(values, [0.025, 0.975]) for name, values in draws.items()}
        table = pd.DataFrame.from_dict(ends, orient="index", columns=["lower", "upper"])
        return table if slope else table.drop(index="calibration_slope")


def asked(post, tce=0.01, parts=(), verdict="cannot tell", **options):
    return is_off(post, post.table(tce, **options), list(parts), 0.95, verdict)


RANGE = Stretch("high", 0.3, 0.6, 0.98, 0.3)


@pytest.mark.parametrize(
    ("post", "options", "answer", "ways"),
    [
        (Known(0, 0), {"tce": 0}, "no sign", ()),
        (Known(-3, 0), {}, "yes", ("too many events predicted",)),
        (Known(3, -3.1), {}, "yes", ("too few events predicted", "over-confident")),
        (Known(0, 3.1), {}, "yes", ("under-confident",)),
        (Known(1.5, 1.5), {}, "yes", ("level and slope together",)),
        (Known(2.1, -2.1), {}, "cannot say", ()),
        (Known(-3, 0), {"tce": 0}, "cannot say", ()),
        (Known(0, 0), {}, "cannot say", ()),
        (Known(0, 0), {"parts": [RANGE]}, "yes", ("too high over a range",)),
        (Known(0, 0), {"parts": [RANGE], "tce": 0}, "cannot say", ()),
        (Known(0, 0), {"verdict": "miscalibrated"}, "yes", ()),
        (Known(0, 0, k=0.9), {"tce": 0}, "cannot say", ()),
        (Known(-5, 0, k=0.9), {}, "cannot say", ()),
        (Known(0, 0, events=19), {"tce": 0}, "cannot say", ()),
        (Known(0, 0, events=285), {"tce": 0}, "cannot say", ()),
        (Known(-5, 0, events=5), {}, "yes", ("too many events predicted",)),
        (Known(-3, 0), {"slope": False}, "yes", ("too many events predicted",)),
        (Known(0, 9), {"slope": False, "tce": 0}, "no sign", ()),
        (Known(0, -12), {}, "yes", ("reversed",)),
    ],
)
def test_the_answer_follows_the_joint_region_the_ranges_and_the_size(
    post, options, answer, ways
) -> None:
    actual = asked(post, **options)
    assert (actual.answer, actual.ways) == (answer, ways)
    assert bool(actual.why) == (answer == "cannot say")


def test_why_is_said() -> None:
    assert asked(Known(0, 0, events=3), tce=0).why == "there are only 3 events"
    assert asked(Known(0, 0, events=299), tce=0).why == "there is only 1 non-event"
    assert "no stronger than chance" in asked(Known(2.1, -2.1)).why
    assert "cannot be trusted" in asked(Known(0, 0, k=2.0)).why


def test_only_sure_and_wide_ranges_count() -> None:
    parts = [
        RANGE,
        RANGE._replace(probability=0.97),
        RANGE._replace(cases=0.03),
        RANGE._replace(state="on"),
        RANGE._replace(state="low"),
    ]
    assert sure_ranges(parts, 0.95) == [parts[0], parts[4]]
    assert sure_ranges(parts, 0.9) == [parts[0], parts[1], parts[4]]


HOSTILE = {
    "no events": (np.zeros(200), np.linspace(0.2, 0.9, 200)),
    "one case": ([1], [0.3]),
    "one score": (np.arange(100) < 80, np.full(100, 0.3)),
    "labels": (np.arange(60) % 2, (np.arange(60) % 3 > 0) * 1.0),
    "reversed": (np.arange(300) % 10 < np.linspace(9, 1, 300), np.linspace(0.05, 0.95, 300)),
    "confidently wrong": (np.tile([0, 1, 1], 50), np.tile([0.999, 0.001, 0.98], 50)),
    "tiny risks": (np.arange(5000) % 250 == 0, np.full(5000, 1e-3) * (1 + np.arange(5000) % 7)),
    "ends": (np.arange(200) % 4 == 0, np.repeat([0.0, 0.1, 0.5, 1.0], 50)),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", HOSTILE)
def test_after_yes_the_size_does_not_start_at_0_and_no_sentence_contradicts_it(name) -> None:
    y, s = (np.asarray(part, dtype=float) for part in HOSTILE[name])
    a = bc.assess(y, s, **CHEAP)
    text, lower = a.headline(), a.table.loc["tce", "lower"]
    assert a.off.answer in ("yes", "no sign", "cannot say")
    assert not (a.verdict == "miscalibrated" and a.off.answer != "yes")
    if a.off.answer == "yes":
        assert lower > 0
        shown = text.split(" interval ")[1].split(" to ")[0]
        assert float(shown) > 0
        assert text.startswith("Yes, the model is off")
    if a.off.answer == "no sign":
        assert lower == 0
        assert "at most" in text
    assert (" at most " in text) == (lower == 0)
    for name, measure in (("too many", "observed_expected"), ("over-", "calibration_slope")):
        if any(way.startswith(name) for way in a.off.ways):
            assert a.table.loc[measure, "upper"] < 1


@pytest.mark.slow
def test_imputations_and_clusters_have_an_answer() -> None:
    rng = np.random.default_rng(5)
    y, s = bc.simulate.sample("clinical-middle-overconfident", 900, random_state=5)
    noisy = expit(logit(s) + 0.1 * rng.standard_normal((3, 900)))
    imputed = bc.assess(y, imputation=noisy, **CHEAP)
    grouped = bc.assess(y, s, cluster=np.arange(900) // 6, **CHEAP)
    for a in (imputed, grouped):
        assert a.off.answer == "yes"
        assert "over-confident" in a.off.ways
        assert a.to_dict()["off"] == {"answer": "yes", "ways": list(a.off.ways), "why": ""}
