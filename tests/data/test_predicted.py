"""Risks by several horizons: columns, and whole predicted curves."""

import numpy as np
import pandas as pd
import pytest

import bayescal as bc
from bayescal.data.matrices import is_whole_curve, risk_at, risks_by
from bayescal.errors import InputError, ScoreWarning

TIMES = [1.0, 2.0, 4.0]
RISKS = np.array([[0.1, 0.3, 0.4], [0.0, 0.2, 1.0]])
OUTCOME = bc.Survival([3.0, 5.0], [1, 0])


def frame(values=RISKS, times=TIMES):
    return pd.DataFrame(values, columns=times)


def test_risks_at_the_times_are_those_given_and_between_them_the_hazard_is_constant():
    told = risks_by(OUTCOME, frame(), [0.5, 1, 3, 4])
    each = np.array(told.columns)
    np.testing.assert_allclose(each[[1, 3]], RISKS[:, [0, 2]].T, atol=1e-15)
    np.testing.assert_allclose(each[0], 1 - np.sqrt(1 - RISKS[:, 0]), atol=1e-15)
    assert each[2, 0] == pytest.approx(1 - np.sqrt(0.7 * 0.6))
    assert each[2, 1] == 1
    (note,) = told.notes
    assert "Risks by 0.5, 1, 3, 4 were read off predicted curves (risks up to 4)" in note


def test_probabilities_of_survival_are_noticed():
    told = risks_by(OUTCOME, frame(1 - RISKS), [1, 2])
    np.testing.assert_allclose(told.columns, RISKS[:, :2].T, atol=1e-15)
    assert "probabilities of survival" in told.notes[0]
    one = risk_at(frame(1 - RISKS), 2)
    np.testing.assert_allclose(one, RISKS[:, 1])


def test_columns_that_are_not_named_by_times_are_risks():
    named = frame(times=["one", "two", "four"])
    for risks in (named, pd.DataFrame(RISKS), RISKS):
        assert not is_whole_curve(risks)
        told = risks_by(OUTCOME, risks, TIMES)
        np.testing.assert_array_equal(np.array(told.columns), RISKS.T)
        assert told.notes == ()
    assert risk_at(RISKS, 5) is RISKS


@pytest.mark.parametrize(
    ("values", "times", "horizons", "message"),
    [
        (RISKS, TIMES, [1, 5], "the predicted curves end at 4, and 5 is later"),
        (RISKS, [2.0, 1.0, 4.0], [1], "are not ascending times"),
        (RISKS * 3, TIMES, [1], "is no probability"),
        ([[0.1, 0.3, 0.2], [0.1, 0.2, 0.6]], TIMES, [1], "in 1 row of 2 the risk falls in time"),
        ([[0.9, 0.3, 0.2], [0.9, 0.2, 0.6]], TIMES, [1], "in 1 row of 2 survival rises in time"),
        ([[0.1, 0.3], [0.1, 0.2]], [0.0, 1.0], [1], "time 0 of y_prob holds risks above 0"),
    ],
)
def test_curves_that_are_no_curves_are_refused(values, times, horizons, message):
    with pytest.raises(InputError, match=message):
        risks_by(OUTCOME, frame(values, times), horizons)


def test_risks_that_fall_for_a_patient_are_counted():
    risks = pd.DataFrame([[0.1, 0.3], [0.2, 0.1], [0.2, 0.4]], columns=["r1", "r3"])
    with pytest.warns(ScoreWarning, match="in 1 of 3 cases, first in row 1"):
        risks_by(bc.Survival([1.0, 2.0, 4.0], [1, 1, 0]), risks, [1, 3])
    with pytest.raises(InputError, match=r"falls from column r3 \(0.267\) to column r1 \(0.167\)"):
        risks_by(OUTCOME, risks[["r3", "r1"]], [1, 3])


def test_one_horizon_of_whole_curves_is_fitted():
    rng = np.random.default_rng(1)
    rate = 0.2 * np.exp(rng.normal(0, 0.8, 80))
    time = np.minimum(rng.exponential(1 / rate), 6)
    outcome = bc.Survival(time, time < 6)
    predicted = pd.DataFrame(np.exp(-rate[:, None] * TIMES), columns=TIMES)
    options = {"curve": "logistic", "draws": 400, "random_state": 1, "horizon": 3}
    post = bc.fit(outcome, predicted, **options)
    same = bc.fit(outcome, -np.expm1(-3 * rate), **options)
    assert post.estimate("tce") == pytest.approx(same.estimate("tce"), rel=1e-6)
