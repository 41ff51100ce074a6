"""The one-standard-error rule of recommend, on log scores whose means and errors are known."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import ndtr

import bayescal as bc
from bayescal.gain import recommendation
from bayescal.inference.loo import LeaveOneOut
from bayescal.model.curves import updates

N = 400
LEVEL = -0.6
"""Log score of every patient without an update."""


def compared(short: dict[str, float], design_effect: float = 1.0):
    """A comparison in which families fall short of the best by so many standard errors.

    The best has the same log score for all patients. Those of another family lie at two values,
    half of the patients at each, whose mean is `short` standard errors lower.
    """
    spread = np.where(np.arange(N) % 2, 0.02, -0.02)
    data = bc.CalibrationData([1, 0] * (N // 2), np.linspace(0.05, 0.95, N))
    loo = {}
    for name in updates():
        lower = short.get(name, 5.0)
        pointwise = np.full(N, LEVEL)
        if lower:
            pointwise += spread - lower * 0.02 / np.sqrt(N)
        loo[name] = LeaveOneOut(float(pointwise.sum()), pointwise, np.ones(N), 0.1)
    return SimpleNamespace(loo=loo, data=data, design_effect=design_effect)


@pytest.mark.parametrize(
    ("short", "choice"),
    [
        ({"identity": 0.0}, "identity"),
        ({"logistic": 0.0, "identity": 0.99}, "identity"),
        ({"logistic": 0.0, "identity": 1.01}, "logistic"),
        ({"beta": 0.0, "identity": 1.9, "logistic": 0.99}, "logistic"),
        ({"beta": 0.0, "identity": 0.99, "logistic": 0.5}, "identity"),
        ({"spline": 0.0, "beta": 1.01, "logistic": 1.5}, "spline"),
        ({"intercept": 0.0, "beta": 0.1, "spline": 0.1}, "intercept"),
    ],
)
def test_the_simplest_within_one_standard_error_of_the_best_is_chosen(short, choice) -> None:
    advice = recommendation(compared(short))
    assert advice.choice == choice
    for name, lower in short.items():
        assert advice.table.loc[name, "short_of_best"] == pytest.approx(lower, abs=1e-9)


def test_a_design_effect_widens_the_standard_error() -> None:
    short = {"logistic": 0.0, "identity": 1.9}
    assert recommendation(compared(short)).choice == "logistic"
    clustered = recommendation(compared(short, design_effect=4.0))
    assert clustered.choice == "identity"
    assert clustered.table.loc["identity", "short_of_best"] == pytest.approx(0.95)


def test_gains_are_against_no_update() -> None:
    table = recommendation(compared({"logistic": 0.0, "identity": 1.5})).table
    assert tuple(table.loc["identity", ["gain", "se"]]) == (0, 0)
    assert table.loc["logistic", "gain"] == pytest.approx(1.5 * 0.02 / np.sqrt(N))
    assert table.loc["logistic", "se"] == pytest.approx(0.02 / np.sqrt(N))
    assert table.loc["logistic", "prob_better"] == pytest.approx(ndtr(1.5))
