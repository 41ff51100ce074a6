"""Intervals of a table with sampling weights are those of its cases with these weights."""

from __future__ import annotations

import numpy as np
import pytest

from bayescal import CalibrationData, simulate
from bayescal.estimators import ici_interval
from bayescal.validation.intervals import simulated_ici


@pytest.fixture(scope="module")
def cases():
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", 300, random_state=3)
    return y_true, y_prob.round(2), np.random.default_rng(1).lognormal(size=300)


def test_a_simulated_interval_counts_effective_cases(cases) -> None:
    y_true, y_prob, weight = cases
    table = CalibrationData(y_true, y_prob, sample_weight=weight)
    known = ici_interval(
        y_true,
        y_prob,
        smoother="logistic",
        ci_prob=0.9,
        draws=1000,
        sample_weight=weight,
        random_state=np.random.default_rng(1),
    )
    actual = simulated_ici(table, np.random.default_rng(1), 0.9, smoother="logistic")
    assert actual == pytest.approx(known, rel=1e-6)


def test_outcomes_that_are_nearly_separated_leave_everything_possible(
    monkeypatch: pytest.MonkeyPatch, cases
) -> None:
    def refused(*_, **__):
        raise np.linalg.LinAlgError("Matrix is not positive definite")

    monkeypatch.setattr("bayescal.validation.intervals.ici_interval", refused)
    y_true, y_prob, _ = cases
    table = CalibrationData(y_true, y_prob)
    assert simulated_ici(table, np.random.default_rng(1), 0.95, smoother="rcs") == (0.0, 1.0)
