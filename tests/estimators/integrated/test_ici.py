"""The ICI family against R, published tables, and its own definition."""

import json

import numpy as np
import pytest

from bayescal import simulate
from bayescal.errors import InputError, SeparationError
from bayescal.estimators import e50, e90, eci, emax, flexible_curve, ici, ici_interval
from clinical_sets import CLINICAL, read

INDICES = {"Eavg": ici, "E50": e50, "E90": e90, "Emax": emax, "ECI": eci}
SMOOTHERS = ["loess", "lowess", "rcs", "logistic", "beta", "isotonic"]


def stored(shared_data):
    return json.loads((shared_data / "oracles" / "clinical.json").read_text())


# R


@pytest.mark.slow
@pytest.mark.parametrize("name", CLINICAL)
@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("loess_deg2", {"smoother": "loess"}),
        ("valprob_lowess", {"smoother": "lowess"}),
        ("rcs5_logit", {"smoother": "rcs"}),
        ("rcs3_logit", {"smoother": "rcs", "n_knots": 3}),
        ("logistic", {"smoother": "logistic"}),
        ("beta", {"smoother": "beta"}),
        ("iso", {"smoother": "isotonic"}),
    ],
)
@pytest.mark.oracle("ici", "e50", "e90", "emax", "eci")
def test_gives_what_r_gives(
    clinical,
    request,
    name,
    key,
    options,
):
    """R's glm stops at a change in deviance of 1e-8: hence the absolute tolerance."""
    if key == "loess_deg2":
        request.getfixturevalue("shared_data")  # its anchors are R's own
    outcomes, scores, known = clinical(name)
    actual = {label: index(outcomes, scores, **options) for label, index in INDICES.items()}
    assert actual == pytest.approx(known[key], rel=1e-6, abs=1e-9)


PUBLISHED = "pmcalibration + rms::val.prob (README.md of stephenrho/pmcalibration 0.2.0)"


@pytest.mark.parametrize(
    ("table", "labels", "smoother"),
    [
        ("rcs5_on_logit", ["Eavg", "E50", "E90", "Emax", "ECI"], "rcs"),
        ("rms_val.prob", ["Eavg", "E90", "Emax"], "lowess"),
    ],
)
def test_gives_the_published_digits(shared_data, table, labels, smoother):
    outcomes, scores = read(shared_data, "pmcalibration_readme_sim2345")
    printed = stored(shared_data)["published"][PUBLISHED][table]
    for label in labels:
        actual = INDICES[label](outcomes, scores, smoother=smoother)
        assert round(float(actual), 3) == printed[label]


# Definition


@pytest.mark.parametrize("smoother", SMOOTHERS)
@pytest.mark.parametrize("digits", [1, 9])
def test_is_the_distance_of_the_curve_from_the_scores(smoother, digits):
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", 300, random_state=1)
    y_prob = y_prob.round(digits)
    gap = np.abs(flexible_curve(y_true, y_prob, smoother=smoother) - y_prob)
    assert ici(y_true, y_prob, smoother=smoother) == pytest.approx(gap.mean())
    assert e50(y_true, y_prob, smoother=smoother) == pytest.approx(np.median(gap))
    assert e90(y_true, y_prob, smoother=smoother) == pytest.approx(np.quantile(gap, 0.9))
    assert emax(y_true, y_prob, smoother=smoother) == pytest.approx(gap.max())
    square = np.mean(gap**2)
    assert eci(y_true, y_prob, smoother=smoother) == pytest.approx(100 * square)
    relative = eci(y_true, y_prob, form="relative", smoother=smoother)
    assert relative == pytest.approx(square / np.mean((y_prob - y_true.mean()) ** 2))


def test_scores_of_0_and_1():
    scores, outcomes = [0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 0, 0]
    for smoother in SMOOTHERS:
        assert ici(outcomes, scores, smoother=smoother) == pytest.approx(0.375)
        assert emax(outcomes, scores, smoother=smoother) == pytest.approx(0.5)


# Undefined and refused


def test_the_relative_form_of_nothing():
    scores = np.full(10, 0.3)
    outcomes = np.array([np.arange(10) < 3, np.arange(10) < 4])
    actual = eci(outcomes, scores, form="relative")
    assert np.isnan(actual[0])
    assert actual[1] == pytest.approx(1)
    with pytest.raises(InputError, match="every score in y_prob equals the mean outcome"):
        eci(outcomes[0], scores, form="relative")


def test_eci_knows_two_forms():
    with pytest.raises(InputError, match="form must be one of 'mean-square', 'relative'"):
        eci([0, 1], [0.2, 0.4], form="multiclass")


# Simulated intervals


@pytest.mark.slow
@pytest.mark.parametrize("label", INDICES)
def test_interval_gives_the_published_one(shared_data, label):
    """Published: the quantiles of 1000 draws, in three digits.

    Ours over 24 seeds give the Monte Carlo error of such a quantile. Four of its standard
    deviations and half a printed digit are the room that the published run is given.
    """
    outcomes, scores = read(shared_data, "pmcalibration_readme_sim2345")
    published = stored(shared_data)["published"][PUBLISHED]["rcs5_simCI95"][label]
    name = INDICES[label].__name__
    ends = np.array([ici_interval(outcomes, scores, index=name, random_state=i) for i in range(24)])
    assert (np.abs(published - ends.mean(axis=0)) < 4 * ends.std(axis=0, ddof=1) + 0.0005).all()
    assert (ends.std(axis=0) < 0.08 * ends.mean(axis=0)).all()


@pytest.mark.parametrize("smoother", ["logistic", "beta", "rcs"])
def test_interval_holds_the_estimate_and_shrinks(smoother):
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", 4000, random_state=7)
    widths = []
    for n in (400, 4000):
        pair = y_true[:n], y_prob[:n]
        lower, upper = ici_interval(*pair, smoother=smoother, random_state=0)
        assert lower < ici(*pair, smoother=smoother) < upper
        widths.append(upper - lower)
    assert widths[1] == pytest.approx(widths[0] / np.sqrt(10), rel=0.4)


def test_interval_of_a_line_by_the_delta_method():
    """Far from calibration every gap keeps its sign, and the ICI is nearly normal."""
    y_true, y_prob = simulate.sample("clinical-middle-shifted", 2000, random_state=8)
    lower, upper = ici_interval(
        y_true, y_prob, smoother="logistic", draws=8000, ci_prob=0.9, random_state=1
    )
    fitted = flexible_curve(y_true, y_prob, smoother="logistic")
    assert (fitted > y_prob).all()
    log_odds = np.log(y_prob / (1 - y_prob))
    basis = np.column_stack([np.ones_like(log_odds), log_odds])
    weight = fitted * (1 - fitted)
    gradient = weight @ basis / y_prob.size
    error = np.sqrt(gradient @ np.linalg.inv((basis.T * weight) @ basis) @ gradient)
    middle = ici(y_true, y_prob, smoother="logistic")
    assert lower == pytest.approx(middle - 1.644854 * error, abs=0.08 * error)
    assert upper == pytest.approx(middle + 1.644854 * error, abs=0.08 * error)


def test_interval_of_weights_and_seeds():
    y_true, y_prob = simulate.sample("clinical-middle-overconfident", 200, random_state=9)
    weight = np.random.default_rng(0).integers(0, 3, 200)
    weighted = ici_interval(y_true, y_prob, sample_weight=weight, random_state=3)
    pair = np.repeat(y_true, weight), np.repeat(y_prob, weight)
    assert weighted == pytest.approx(ici_interval(*pair, random_state=3), rel=1e-6)
    assert weighted != ici_interval(*pair, random_state=4)


def test_interval_of_separated_outcomes():
    with pytest.raises(SeparationError, match="'logistic' curve does not exist"):
        ici_interval([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.9], smoother="logistic")


def test_an_interval_of_nearly_separated_outcomes_is_given_or_refused():
    """All but two of 50 cases are events; the covariance of the spline is nearly singular."""
    truth = simulate.truth("D1")
    for seed in (96, 182, 309, 321, 344):
        cases = truth.sample(50, np.random.default_rng([seed, 7]))
        try:
            lower, upper = ici_interval(*cases, draws=100, random_state=1)
        except SeparationError:
            continue
        assert 0 <= lower < upper <= 1
