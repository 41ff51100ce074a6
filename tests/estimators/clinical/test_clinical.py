"""O/E, calibration in the large, slope and intercept, against R and their definitions."""

import json
import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit
from scipy.stats import chi2, norm

from bayescal.errors import InputError, SeparationError
from bayescal.estimators import (
    calibration_in_the_large,
    calibration_in_the_large_interval,
    calibration_intercept,
    calibration_intercept_interval,
    calibration_slope,
    calibration_slope_interval,
    observed_expected,
    observed_expected_interval,
)
from bayescal.estimators.registry import ESTIMATORS
from clinical_sets import CLINICAL, read

ESTIMATES = [
    observed_expected,
    calibration_in_the_large,
    calibration_intercept,
    calibration_slope,
]
FITTED = ESTIMATES[1:]
INTERVALS = {
    calibration_in_the_large: calibration_in_the_large_interval,
    calibration_intercept: calibration_intercept_interval,
    calibration_slope: calibration_slope_interval,
}


def overlapping(n=60, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.beta(2, 3, n).round(2)
    return (rng.random(n) < scores**1.3).astype(int), scores


def standard_error(interval, *data):
    lower, upper = interval(*data, method="wald", ci_prob=0.9)
    return (upper - lower) / 2 / norm.ppf(0.95)


# Other packages


@pytest.mark.parametrize("name", ["A", "B", "C"])
@pytest.mark.oracle("observed_expected", "calibration_in_the_large")
@pytest.mark.oracle("calibration_intercept", "calibration_slope")
def test_gives_the_exact_answers(known, name):
    outcomes, scores, answers = known(name)
    line = answers["exact MLE logistic recalibration (intercept,slope), clip eps"]
    errors = answers["exact MLE logistic recalibration SEs"]
    shift = answers["exact calibration-in-the-large (intercept with offset logit(s)), clip eps"]
    assert observed_expected(outcomes, scores) == pytest.approx(answers["O:E ratio"], rel=1e-12)
    assert calibration_in_the_large(outcomes, scores) == pytest.approx(shift, rel=1e-6)
    for estimate, value, error in zip(FITTED[1:], line, errors, strict=True):
        assert estimate(outcomes, scores) == pytest.approx(value, rel=1e-6)
        actual = standard_error(INTERVALS[estimate], outcomes, scores)
        assert actual == pytest.approx(error, rel=1e-6)


@pytest.mark.parametrize("name", CLINICAL)
def test_gives_what_r_gives(clinical, name):
    *data, known = clinical(name)
    line = known["int_slope"]
    expected = {
        calibration_in_the_large: known["citl"],
        calibration_intercept: [line["(Intercept)"], line["(Intercept).1"]],
        calibration_slope: [line["lp"], line["lp.1"]],
    }
    assert observed_expected(*data) == pytest.approx(known["OE"], rel=1e-6)
    lower, upper = observed_expected_interval(*data)
    assert math.log(upper / lower) / 2 / norm.ppf(0.975) == pytest.approx(known["OE_se_log"])
    assert math.sqrt(lower * upper) == pytest.approx(known["OE"])
    for estimate, (value, error) in expected.items():
        assert estimate(*data) == pytest.approx(value, rel=1e-6, abs=1e-9)
        assert standard_error(INTERVALS[estimate], *data) == pytest.approx(error, rel=1e-6)


def test_gives_what_pmcalibration_prints(shared_data):
    """To half a unit of the last printed digit; its interval ends are interpolated."""
    known = json.loads((shared_data / "oracles" / "clinical.json").read_text())["published"]
    readme = known["pmcalibration + rms::val.prob (README.md of stephenrho/pmcalibration 0.2.0)"]
    data = read(shared_data, "pmcalibration_readme_sim2345")
    printed = readme["logistic_cal"]
    assert calibration_in_the_large(*data) == pytest.approx(printed["CITL"], abs=0.005)
    assert standard_error(calibration_in_the_large_interval, *data) == pytest.approx(
        printed["CITL_se"], abs=0.0005
    )
    lower, upper = calibration_in_the_large_interval(*data)
    assert lower == pytest.approx(printed["CITL_profileCI"][0], abs=0.005)
    assert upper == pytest.approx(printed["CITL_profileCI"][1], abs=0.0005)
    assert calibration_slope(*data) == pytest.approx(printed["slope"], abs=0.005)
    assert standard_error(calibration_slope_interval, *data) == pytest.approx(
        printed["slope_se"], abs=0.0005
    )
    actual = calibration_slope_interval(*data)
    assert actual == pytest.approx(printed["slope_profileCI"], abs=0.005)
    assert calibration_intercept(*data) == pytest.approx(
        readme["rms_val.prob"]["Intercept"], abs=0.0005
    )
    assert calibration_slope(*data) == pytest.approx(readme["rms_val.prob"]["Slope"], abs=0.0005)

    printed = known["pmcalibration CRAN vignette external-validation"]
    data = read(shared_data, "pmcalibration_vignette_sim2345_a3_0.3")
    assert calibration_in_the_large(*data) == pytest.approx(printed["CITL"], abs=0.0005)
    assert calibration_slope(*data) == pytest.approx(printed["slope"], abs=0.0005)
    actual = calibration_in_the_large_interval(*data)
    assert actual == pytest.approx(printed["CITL_CI"], abs=0.005)
    actual = calibration_slope_interval(*data)
    assert actual == pytest.approx(printed["slope_CI"], abs=0.05)
    z = (calibration_slope(*data) - 1) / standard_error(calibration_slope_interval, *data)
    assert z == pytest.approx(printed["z_slope"], abs=0.02)


# Definitions


def test_the_two_intercepts_solve_their_own_equations():
    outcomes, scores = overlapping(300)
    odds = logit(scores)
    shift = calibration_in_the_large(outcomes, scores)
    assert expit(shift + odds).sum() == pytest.approx(outcomes.sum(), rel=1e-12)
    line = calibration_intercept(outcomes, scores) + calibration_slope(outcomes, scores) * odds
    residual = outcomes - expit(line)
    assert residual.sum() == pytest.approx(0, abs=1e-9)
    assert residual @ odds == pytest.approx(0, abs=1e-9)
    assert abs(shift - calibration_intercept(outcomes, scores)) > 0.03


def test_a_profile_ends_where_the_likelihood_has_fallen_enough():
    outcomes, scores = overlapping(80, seed=1)
    odds = logit(scores)

    def loss(intercept, slope):
        eta = intercept + slope * odds
        return float(-outcomes @ log_expit(eta) - (1 - outcomes) @ log_expit(-eta))

    def best(function):
        return float(minimize(function, [0.5], method="Nelder-Mead", options={"xatol": 1e-9}).fun)

    top = loss(calibration_intercept(outcomes, scores), calibration_slope(outcomes, scores))
    for ci_prob in (0.5, 0.95):
        fall = chi2.ppf(ci_prob, 1) / 2
        for end in calibration_slope_interval(outcomes, scores, ci_prob=ci_prob):
            assert best(lambda a, b=end: loss(a[0], b)) == pytest.approx(top + fall, abs=1e-6)
        for end in calibration_intercept_interval(outcomes, scores, ci_prob=ci_prob):
            assert best(lambda b, a=end: loss(a, b[0])) == pytest.approx(top + fall, abs=1e-6)
        top_shift = loss(calibration_in_the_large(outcomes, scores), 1.0)
        for end in calibration_in_the_large_interval(outcomes, scores, ci_prob=ci_prob):
            assert loss(end, 1.0) == pytest.approx(top_shift + fall, abs=1e-9)


@pytest.mark.slow
def test_intervals_cover():
    rng = np.random.default_rng(2)
    scores = rng.beta(2, 4, 150)
    truth = {
        observed_expected_interval: expit(0.3 + 0.7 * logit(scores)).sum() / scores.sum(),
        calibration_slope_interval: 0.7,
        calibration_intercept_interval: 0.3,
    }
    for interval, value in truth.items():
        covered = 0
        for _ in range(200):
            outcomes = rng.random(150) < expit(0.3 + 0.7 * logit(scores))
            lower, upper = interval(outcomes, scores, ci_prob=0.9)
            covered += lower < value < upper
        assert 0.84 < covered / 200 < 0.96


# Batches, weights, order


def test_parts_do_not_show(monkeypatch):
    rng = np.random.default_rng(4)
    scores = rng.random(500)
    outcomes = rng.random((7, 500)) < scores
    full = [estimate(outcomes, scores) for estimate in FITTED]
    monkeypatch.setattr("bayescal.core.optimise.LOGISTIC_ROOM", 100)
    parts = [estimate(outcomes, scores) for estimate in FITTED]
    np.testing.assert_allclose(parts, full, rtol=1e-9, atol=1e-12)


# Limits


def test_certain_scores_are_read_as_nearly_certain():
    outcomes = np.array([0, 1, 0, 1, 1, 0, 1, 1])
    scores = np.array([0, 0, 0, 1, 1, 1, 0.4, 0.6])
    inside = np.clip(scores, 1e-12, 1 - 1e-12)
    for estimate in FITTED:
        assert estimate(outcomes, scores) == estimate(outcomes, inside)
        assert all(np.isfinite(INTERVALS[estimate](outcomes, scores)))
    assert observed_expected([0, 0], [0.0, 1.0]) == 0
    only = (outcomes[:6], scores[:6])
    assert calibration_slope(*only) == pytest.approx(
        (logit(2 / 3) - logit(1 / 3)) / (2 * logit(1 - 1e-12))
    )
    shift = calibration_in_the_large(*only)
    assert 3 * expit(shift + logit(inside[[0, 3]])).sum() == pytest.approx(3, rel=1e-9)


def test_a_slope_nearly_separated_and_one_reversed():
    scores = np.linspace(0.1, 0.9, 50)
    outcomes = (scores > 0.5).astype(int)
    outcomes[[24, 25]] = 1, 0
    assert calibration_slope(outcomes, scores) > 15
    assert calibration_slope(1 - outcomes, scores) == pytest.approx(
        -calibration_slope(outcomes, scores)
    )


# Separation


SCORES = np.linspace(0.05, 0.95, 20)
SEPARATED = {
    "no events": np.zeros(20),
    "all events": np.ones(20),
    "separated": SCORES > 0.5,
    "separated the other way": SCORES < 0.5,
}


@pytest.mark.parametrize("outcomes", SEPARATED.values(), ids=SEPARATED.keys())
def test_separation_is_named_not_estimated(outcomes):
    for estimate in (calibration_slope, calibration_intercept):
        for function in (estimate, INTERVALS[estimate]):
            with pytest.raises(SeparationError, match=r"A posterior does: use bayescal\.fit"):
                function(outcomes, SCORES)
        mixed = np.stack([outcomes, np.arange(20) % 2])
        actual = estimate(mixed, SCORES)
        assert math.isnan(actual[0])
        assert actual[1] == pytest.approx(estimate(mixed[1], SCORES))


@pytest.mark.parametrize("outcome", [0, 1])
def test_one_class_has_no_shift(outcome):
    outcomes = np.full(20, outcome)
    for function in (calibration_in_the_large, calibration_in_the_large_interval):
        with pytest.raises(SeparationError):
            function(outcomes, SCORES)
    actual = calibration_in_the_large([outcomes, np.arange(20) % 2], SCORES)
    assert np.isnan(actual).tolist() == [True, False]
    with pytest.raises(InputError, match="one class only"):
        observed_expected_interval(outcomes, SCORES)
    assert observed_expected(outcomes, SCORES) == pytest.approx(2 * outcome)


def test_classes_that_meet_at_one_score_are_separated():
    with pytest.raises(SeparationError):
        calibration_slope([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.5, 0.5, 0.7, 0.8])
    assert math.isfinite(calibration_slope([0, 1, 0, 1, 0, 1], [0.1, 0.2, 0.5, 0.5, 0.7, 0.8]))


def test_cases_of_no_weight_do_not_overlap():
    outcomes, scores = [0, 0, 1, 1, 1, 0], [0.1, 0.2, 0.6, 0.7, 0.15, 0.65]
    assert math.isfinite(calibration_slope(outcomes, scores))
    with pytest.raises(SeparationError):
        calibration_slope(outcomes, scores, sample_weight=[1, 1, 1, 1, 0, 0])


def test_one_score_has_no_slope_but_a_shift():
    outcomes, scores = [0, 1, 0, 0], [0.3] * 4
    for estimate in (calibration_slope, calibration_intercept):
        with pytest.raises(SeparationError, match="too few distinct scores"):
            estimate(outcomes, scores)
    shift = calibration_in_the_large(outcomes, scores)
    assert shift == pytest.approx(logit(1 / 4) - logit(0.3))


# Hostile input


def test_no_event_is_expected_of_scores_of_0():
    with pytest.raises(InputError, match="y_prob is 0 for every case"):
        observed_expected([0, 1], [0.0, 0.0])
    with pytest.raises(InputError, match="y_prob is 0 for every case"):
        observed_expected_interval([0, 1], [0.0, 0.0])


@pytest.mark.parametrize("score", [1e-9, 0.3, 0.5, 0.9, 1 - 1e-6, 1 - 1e-10])
@pytest.mark.parametrize("kind", [{"method": "profile"}, {"method": "wald"}, {}])
@pytest.mark.parametrize("order", [[0, 1], [1, 0], [0, 1, 1, 0], [0, 1, 1, 0, 1]])
def test_ties_one_rounding_apart_are_ties(score, kind, order):
    """Alone, and where nothing else makes events and others overlap."""
    beside = np.nextafter(score, 1)
    near = np.resize([score, beside], len(order))
    functions = [calibration_slope, calibration_intercept]
    if kind:
        functions = [calibration_slope_interval, calibration_intercept_interval]
    for outcomes, scores in [
        (order, near),
        ([0, 0, *order, 1, 1], [score / 8, score / 2, *near, *(1 - (1 - beside) / [2, 8])]),
    ]:
        for function in functions:
            with pytest.raises(SeparationError, match="separated"):
                function(outcomes, scores, **kind)


@pytest.mark.parametrize("score", [0.01, 0.3, 0.9, 0.999, 1 - 1e-6])
@pytest.mark.parametrize("method", ["profile", "wald"])
@pytest.mark.parametrize("widened", [False, True])
def test_ties_one_rounding_of_32_bits_apart_are_ties(score, method, widened):
    near = np.float32(score)
    beside = np.nextafter(near, np.float32(1))
    scores = np.array([near / 8, near, beside, near, (1 + beside) / 2], dtype=np.float32)
    for interval in (calibration_slope_interval, calibration_intercept_interval):
        with pytest.raises(SeparationError, match="separated"):
            interval([0, 0, 0, 1, 1], scores.astype(float) if widened else scores, method=method)


@pytest.mark.slow
@pytest.mark.parametrize("interval", INTERVALS.values())
def test_weights_of_any_size_have_an_interval_or_none(interval):
    rng = np.random.default_rng(5)
    for _ in range(20):
        n = int(rng.integers(2, 30))
        scores = rng.choice([0.1, 0.3, 0.5, 1e-10, 1 - 1e-10, 0.9], n)
        outcomes = rng.integers(0, 2, n)
        weights = rng.choice([1, 1e-6, 1e6, 0.001, 0, 1e-12, 1e7], n)
        for method in ("profile", "wald"):
            try:
                lower, upper = interval(outcomes, scores, method=method, sample_weight=weights)
            except InputError:
                continue
            assert -math.inf < lower < upper < math.inf


@pytest.mark.parametrize("gap", [1e-6, 1e-3])
def test_scores_a_little_apart_still_have_an_interval(gap):
    y_true, y_prob = [0, 1, 1, 0, 1, 1, 0], [0.3] * 5 + [0.3 + gap] * 2
    for interval, estimate in [
        (calibration_slope_interval, calibration_slope),
        (calibration_intercept_interval, calibration_intercept),
    ]:
        for method in ("profile", "wald"):
            lower, upper = interval(y_true, y_prob, method=method)
            assert lower < estimate(y_true, y_prob) < upper


@pytest.mark.parametrize("name", ["calibration_slope", "calibration_intercept"])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_cases_have_the_line_of_their_counts(name, weighted):
    rng = np.random.default_rng(1)
    scores = rng.choice(rng.beta(1, 3, 500), 70_000)
    outcomes = rng.random(scores.size) < scores**0.8
    weight = rng.integers(0, 3, scores.size) if weighted else np.ones(scores.size)
    score, row = np.unique(scores, return_inverse=True)
    hits = np.bincount(row, outcomes * weight)
    counts = np.stack([np.bincount(row, weight) - hits, hits], axis=1).ravel()
    function = ESTIMATORS[name].function
    long = function(outcomes, scores, sample_weight=weight if weighted else None)
    short = function(np.tile([0, 1], 500), np.repeat(score, 2), sample_weight=counts)
    assert long == pytest.approx(short, rel=1e-10)
