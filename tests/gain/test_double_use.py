"""A map judged on the cases that it was fitted to is detected, and no other."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit

import bayescal as bc
from bayescal.data.doors import Given
from bayescal.gain._double_use import double_use
from bayescal.gain.paired import as_paired

FITTED = {
    "logistic": bc.recalibrate.LogisticRecalibrator(),
    "intercept": bc.recalibrate.InterceptRecalibrator(),
    "temperature": bc.recalibrate.TemperatureRecalibrator(),
    "beta": bc.recalibrate.BetaRecalibrator(),
    "isotonic": bc.recalibrate.IsotonicRecalibrator(),
    "histogram": bc.recalibrate.HistogramRecalibrator(),
}


SIGNS = {
    "logistic": "a logistic map",
    "intercept": "a shift of the log-odds",
    "temperature": "a stretch of the log-odds",
    "beta": "a logistic map",  # its score equations are among those of a beta map
    "isotonic": "each distinct value after",
    "histogram": "each distinct value after",
}


@pytest.mark.parametrize("name", FITTED)
def test_the_sign_of_each_map_is_named(patients, name):
    y, s = patients
    fitted = FITTED[name].fit(s, y)
    after = fitted.transform(s)
    assert SIGNS[name] in str(double_use(as_paired(Given(y, s), after)))
    if name not in ("histogram", "isotonic"):  # rounding as a file might
        assert double_use(as_paired(Given(y, s), np.round(after, 7)))
    y_new, s_new = bc.simulate.sample("clinical-middle-overconfident", 400, random_state=2)
    assert double_use(as_paired(Given(y_new, s_new), fitted.transform(s_new))) is None


@pytest.mark.parametrize("power", ["a", "b"])
def test_a_beta_map_with_one_exponent_of_zero_is_detected(patients, power):
    y, s = patients
    term = np.log(s) if power == "a" else -np.log1p(-s)
    solved = minimize(
        lambda at: (
            -np.sum(y * log_expit(at[0] + at[1] * term))
            - np.sum((1 - y) * log_expit(-at[0] - at[1] * term))
        ),
        [0.0, 1.0],
        method="BFGS",
        options={"gtol": 1e-8},
    )
    after = expit(solved.x[0] + solved.x[1] * term)
    assert "a beta map" in str(double_use(as_paired(Given(y, s), after)))


def test_a_gain_of_patients_that_were_fitted_to_warns(patients):
    y, s = patients
    after = bc.recalibrate.LogisticRecalibrator().fit(s, y).transform(s)
    with pytest.warns(UserWarning, match="fitted to these patients: the score equations"):
        gain = bc.recalibration_gain(y, s, after, draws=200, random_state=0)
    assert gain.in_sample
    for text in (gain.evidence, repr(gain), gain.summary().attrs["evidence"]):
        assert "in-sample (detected: " in " ".join(text.split()).lower()


@pytest.mark.slow
@pytest.mark.parametrize("name", FITTED)
def test_other_patients_are_not_accused(name):
    """Of 400 sets that the map has not seen, with scores as given, in per cent, and in tenths."""
    truth = bc.simulate.truth("clinical-middle-overconfident")
    maps = []
    for run in range(4):
        y, s = truth.sample(200, random_state=run)
        maps.append(FITTED[name].fit(s, y).transform)
        for other in range(100):
            y_new, s_new = truth.sample(200, random_state=1000 + 100 * run + other)
            if other % 4 == 1:
                s_new = np.clip(np.round(s_new, 2), 0.01, 0.99)
            elif other % 4 == 2:
                s_new = np.clip(np.round(s_new, 1), 0.1, 0.9)
            after = maps[-1](s_new)
            if other % 4 == 3:
                after = np.round(after, 2)
            assert double_use(as_paired(Given(y_new, s_new), after)) is None


def test_few_groups_that_agree_by_chance_are_not_accused():
    """Two groups told 1 in 10 and 3 in 10 have exactly so many events often enough."""
    before = np.repeat([0.15, 0.35], 50)
    after = np.repeat([0.1, 0.3], 50)
    outcome = np.concatenate([np.arange(50) < 5, np.arange(50) < 15]).astype(float)
    assert double_use(as_paired(Given(outcome, before), after)) is None


def test_a_map_fitted_with_weights_is_detected_with_them(patients):
    y, s = patients
    weight = 1.0 + np.arange(y.size) % 3
    after = bc.recalibrate.LogisticRecalibrator().fit(s, y, weight).transform(s)
    assert double_use(as_paired(Given(y, s, {"sample_weight": weight}), after))
    assert double_use(as_paired(Given(y, s), after)) is None


@pytest.mark.parametrize("name", FITTED)
def test_a_part_of_many_cases_tells_what_all_of_them_do(patients, name, monkeypatch):
    y, s = patients
    other = bc.simulate.sample("clinical-middle-overconfident", 3000, random_state=4)
    map_of = FITTED[name].fit(s, y).transform
    monkeypatch.setattr("bayescal.gain.paired.MOST_LOOKED_AT", 100)
    part = as_paired(Given(y, s), map_of(s))
    assert part.some.size == 100
    assert SIGNS[name] in str(double_use(part))
    assert double_use(as_paired(Given(*other), map_of(other[1]))) is None


def test_many_values_that_are_all_mean_outcomes_are_blocks():
    """More values than a table keeps apart."""
    rng = np.random.default_rng(3)
    before = np.repeat(np.sort(rng.random(2500)), 8)
    outcome = (rng.random(before.size) < before).astype(float)
    mean = outcome.reshape(-1, 8).mean(axis=1)
    value = np.clip(mean + 1e-9 * np.arange(2500), 0, 1)
    assert np.unique(value).size > 2048
    assert "each distinct value" in str(
        double_use(as_paired(Given(outcome, before), np.repeat(value, 8)))
    )
    outcome[np.argsort(value.repeat(8))[:8]] = 1 - outcome[np.argsort(value.repeat(8))[:8]]
    assert double_use(as_paired(Given(outcome, before), np.repeat(value, 8))) is None
