"""Likelihood-ratio, polynomial and Spiegelhalter tests, against R, their laws and definitions."""

import json
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit
from scipy.stats import chi2, kstest, norm

from bayescal.errors import InputError
from bayescal.estimators import (
    cox_test,
    discrimination_index,
    giviti_test,
    quality_index,
    spiegelhalter_test,
    unreliability,
)
from bayescal.estimators.calibration_tests import _Law
from clinical_sets import CLINICAL, read

KINDS = ["joint", "intercept", "slope"]
TESTS = [
    *[(cox_test, {"kind": kind}) for kind in KINDS],
    (giviti_test, {}),
    (giviti_test, {"devel": "internal", "threshold": 0.5}),
    (spiegelhalter_test, {}),
]
INDICES = [unreliability, discrimination_index, quality_index]
NAMES = [f"{test.__name__}-{'-'.join(map(str, own.values()))}" for test, own in TESTS]
NAMES += [index.__name__ for index in INDICES]
each_test = pytest.mark.parametrize(("test", "options"), TESTS, ids=NAMES[: len(TESTS)])


def data(n=80, decimals=2, seed=0):
    rng = np.random.default_rng(seed)
    scores = rng.beta(2, 3, n).round(decimals)
    return (rng.random(n) < scores**1.3).astype(int), scores


def best_of_powers(outcomes, scores, powers):
    """Largest log likelihood of a polynomial in the log-odds, by a general optimiser."""
    odds = logit(scores)
    basis = np.stack([((odds - odds.mean()) / odds.std()) ** k for k in powers])

    def loss(coef):
        eta = coef @ basis
        return float(-outcomes @ log_expit(eta) - (1 - outcomes) @ log_expit(-eta))

    return -float(minimize(loss, np.zeros(len(powers)), method="BFGS", options={"gtol": 1e-9}).fun)


def as_they_are(outcomes, scores):
    return float(outcomes @ np.log(scores) + (1 - outcomes) @ np.log(1 - scores))


# Other packages


@pytest.mark.parametrize("name", CLINICAL)
@pytest.mark.oracle("unreliability", "discrimination_index", "quality_index", "cox_test")
@pytest.mark.oracle("spiegelhalter_test")
def test_gives_what_r_gives(clinical, name):
    *pair, known = clinical(name)
    joint = cox_test(*pair)
    assert joint.statistic == pytest.approx(known["U_chisq"], rel=1e-6, abs=1e-9)
    assert joint.pvalue == pytest.approx(known["U_p"], rel=1e-6)
    assert unreliability(*pair) == pytest.approx(known["U"], rel=1e-6)
    assert discrimination_index(*pair) == pytest.approx(known["D"], rel=1e-6)
    assert discrimination_index(*pair) * pair[0].size + 1 == pytest.approx(known["D_chisq"])
    assert quality_index(*pair) == pytest.approx(known["Q"], rel=1e-6)
    actual = spiegelhalter_test(*pair)
    assert actual.statistic == pytest.approx(known["Spiegelhalter"]["Z"], rel=1e-6)
    assert actual.pvalue == pytest.approx(known["Spiegelhalter"]["P"], rel=1e-6)


def test_gives_what_r_prints(shared_data):
    """To half a unit of the last printed digit."""
    published = json.loads((shared_data / "oracles" / "clinical.json").read_text())["published"]
    known = published["pmcalibration + rms::val.prob (README.md of stephenrho/pmcalibration 0.2.0)"]
    pair = read(shared_data, "pmcalibration_readme_sim2345")
    for kind, key in zip(KINDS, ("LRT_weak", "LRT_citl", "LRT_slope"), strict=True):
        test = cox_test(*pair, kind=kind)
        assert (test.statistic, test.df, test.pvalue) == pytest.approx(
            known["logistic_cal"][key], abs=0.005
        )
    printed = known["rms_val.prob"]
    actual = {
        "D": discrimination_index(*pair),
        "D:Chi-sq": discrimination_index(*pair) * 1000 + 1,
        "U": unreliability(*pair),
        "U:Chi-sq": cox_test(*pair).statistic,
        "U:p": cox_test(*pair).pvalue,
        "Q": quality_index(*pair),
        "S:z": spiegelhalter_test(*pair).statistic,
        "S:p": spiegelhalter_test(*pair).pvalue,
    }
    for key, value in actual.items():
        assert value == pytest.approx(printed[key], abs=0.0005), key

    hockey = published[next(key for key in published if key.startswith("BRcal"))]
    test = cox_test(*read(shared_data, "brcal_hockey_538"))
    assert test.statistic == pytest.approx(hockey["LRT"], abs=1e-4)
    assert test.pvalue == pytest.approx(hockey["LRT_p"], abs=1e-5)


# Definitions


def test_cox_tests_are_twice_the_gain_in_log_likelihood():
    outcomes, scores = data()
    null, odds = as_they_are(outcomes, scores), logit(scores)
    line = best_of_powers(outcomes, scores, [0, 1])

    def loss(shift):
        eta = shift[0] + odds
        return float(-outcomes @ log_expit(eta) - (1 - outcomes) @ log_expit(-eta))

    shifted = -float(minimize(loss, [0.0], options={"gtol": 1e-9}).fun)
    gains = {"joint": line - null, "intercept": shifted - null, "slope": line - shifted}
    for kind, gain in gains.items():
        test = cox_test(outcomes, scores, kind=kind)
        assert test.statistic == pytest.approx(2 * gain, abs=1e-8)
        assert test.df == 1 + (kind == "joint")
        assert test.pvalue == pytest.approx(chi2.sf(2 * gain, test.df), rel=1e-6)
    assert unreliability(outcomes, scores) == pytest.approx((2 * gains["joint"] - 2) / 80)
    rate = outcomes.mean()
    mean = 80 * (rate * math.log(rate) + (1 - rate) * math.log(1 - rate))
    assert discrimination_index(outcomes, scores) == pytest.approx((2 * (null - mean) - 1) / 80)


def test_spiegelhalter_is_the_brier_score_in_standard_units():
    outcomes, scores = data(12, seed=1)
    rng = np.random.default_rng(1)
    brier = ((rng.random((400_000, 12)) < scores) - scores) ** 2
    brier = brier.mean(axis=1)
    actual = spiegelhalter_test(outcomes, scores)
    z = (((outcomes - scores) ** 2).mean() - brier.mean()) / brier.std()
    assert actual.statistic == pytest.approx(z, abs=0.01)
    assert actual.pvalue == pytest.approx(2 * norm.sf(abs(actual.statistic)))
    swapped = spiegelhalter_test(1 - outcomes, 1 - scores)
    assert swapped.statistic == pytest.approx(actual.statistic)


# The polynomial test


@pytest.mark.parametrize(("devel", "start"), [("external", 1), ("internal", 2)])
@pytest.mark.parametrize("truth", [0, 0.4, -0.5])
def test_the_degree_is_selected_forwards(devel, start, truth):
    rng = np.random.default_rng(3)
    odds = rng.normal(-0.5, 1.2, 600)
    eta = odds + truth * odds**2 + (truth < 0) * 0.3 * odds**3
    outcomes, scores = (rng.random(600) < expit(eta)).astype(int), expit(odds)
    fits = {k: best_of_powers(outcomes, scores, list(range(k + 1))) for k in range(1, 5)}
    for threshold in (0.3, 0.95):
        degree = start
        while degree < 4 and chi2.cdf(2 * (fits[degree + 1] - fits[degree]), 1) >= threshold:
            degree += 1
        test = giviti_test(outcomes, scores, devel=devel, threshold=threshold)
        ratio = 2 * (fits[degree] - as_they_are(outcomes, scores))
        assert test.degree == degree
        assert test.statistic == pytest.approx(ratio, abs=1e-6)
        law = _Law(3 - start, 1 - threshold, chi2.ppf(threshold, 1))
        assert test.pvalue == pytest.approx(law.exceeds(ratio, degree - start), rel=1e-5)
        assert math.isnan(test.df)


def test_the_first_degree_alone_is_the_joint_test():
    outcomes, scores = data(300, seed=4)
    test, joint = giviti_test(outcomes, scores, max_degree=1), cox_test(outcomes, scores)
    assert test[:2] == pytest.approx(joint[:2])
    assert test.degree == 1


def test_the_law_is_the_published_one():
    """Closed form of degree 2, external, and integrals of degree 3 (Nattino et al. 2014, 2016)."""
    k = chi2.ppf(0.95, 1)
    external, internal = _Law(2, 0.05, k), _Law(1, 0.05, k)
    for t in (4.0, 6.0, 12.0):
        gap = math.sqrt(2 / math.pi) * math.exp(-t / 2) * (math.sqrt(t) - math.sqrt(k))
        below = (chi2.cdf(t, 1) - 0.95 - gap) / 0.05
        assert external.exceeds(t, 1) == pytest.approx(1 - below, rel=1e-9)
        ends = math.sqrt(k), math.sqrt(t)
        below, _ = quad(lambda r: r * math.exp(-r * r / 2) * math.acos(math.sqrt(k) / r), *ends)
        assert internal.exceeds(t, 1) == pytest.approx(1 - 2 / (math.pi * 0.05) * below, rel=1e-9)
    for t in (9.0, 15.0):
        inside, _ = quad(lambda b, t=t: chi2.pdf(b, 1) * external.exceeds(t - b, 1), k, t - k)
        expected = (inside + chi2.sf(t - k, 1)) / 0.05
        assert external.exceeds(t, 2) == pytest.approx(expected, rel=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("base", [1, 2])
@pytest.mark.parametrize("powers", [0, 1, 2, 3])
def test_the_law_is_that_of_sums_of_chi_squared_variables(base, powers):
    rng = np.random.default_rng(5)
    for threshold in (0.5, 0.95):
        law = _Law(base, 1 - threshold, chi2.ppf(threshold, 1))
        entered = chi2.isf((1 - threshold) * rng.random((powers, 500)), 1).sum(axis=0)
        pvalue = [law.exceeds(t, powers) for t in entered + rng.chisquare(base, 500)]
        assert kstest(pvalue, "uniform").pvalue > 1e-4
    every_power_enters = _Law(base, 1 - 1e-12, chi2.ppf(1e-12, 1))
    for t in (0.1, 3.0, 30.0, 300.0):
        actual = every_power_enters.exceeds(t, powers)
        assert actual == pytest.approx(chi2.sf(t, base + powers), rel=1e-5)
    cut = chi2.ppf(0.95, 1)
    assert _Law(base, 0.05, cut).exceeds(powers * cut, powers) == pytest.approx(1)


@pytest.mark.slow
def test_p_values_are_uniform_under_calibration():
    rng = np.random.default_rng(6)
    scores = rng.beta(2, 3, 1000)
    outcomes = rng.random((2000, 1000)) < scores
    for test, options in [*TESTS[:4], TESTS[-1]]:
        pvalue = test(outcomes, scores, **options).pvalue
        assert kstest(pvalue, "uniform").pvalue > 1e-3
    chosen = giviti_test(outcomes, scores, threshold=0.7)
    for degree in (1, 2, 3):
        pvalue = chosen.pvalue[chosen.degree == degree]
        assert pvalue.size > 50
        assert kstest(pvalue, "uniform").pvalue > 1e-3


def test_internal_validation_of_a_fitted_model():
    """Scores refitted by logistic regression to the outcomes that they are tested on."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(300, 400))
    outcomes = rng.random((300, 400)) < expit(x)
    pvalue = []
    for row, hit in zip(x, outcomes, strict=True):
        basis = np.stack([np.ones(400), row])
        coef = np.zeros(2)
        for _ in range(8):
            fitted = expit(coef @ basis)
            coef += np.linalg.solve(
                (basis * fitted * (1 - fitted)) @ basis.T, basis @ (hit - fitted)
            )
        scores = expit(coef @ basis)
        assert cox_test(hit, scores).statistic == pytest.approx(0, abs=1e-8)
        pvalue.append(giviti_test(hit, scores, devel="internal").pvalue)
    assert kstest(pvalue, "uniform").pvalue > 1e-3


def test_no_degree_above_what_the_distinct_scores_allow():
    rng = np.random.default_rng(8)
    scores = rng.choice([0.2, 0.5, 0.8], 300)
    outcomes = (rng.random(300) < np.where(scores == 0.5, 0.9, 0.5)).astype(int)
    test = giviti_test(outcomes, scores)
    assert test.degree == 2
    saturated = sum(
        x * math.log(x / n) + (n - x) * math.log(1 - x / n)
        for x, n in ((outcomes[scores == s].sum(), (scores == s).sum()) for s in (0.2, 0.5, 0.8))
    )
    assert test.statistic == pytest.approx(2 * (saturated - as_they_are(outcomes, scores)))
    weight = (scores != 0.5).astype(int)
    with pytest.raises(InputError, match="2 distinct scores, too few for a polynomial of degree 2"):
        giviti_test(outcomes, scores, devel="internal", sample_weight=weight)
    with pytest.raises(InputError, match="1 distinct scores"):
        giviti_test([0, 1, 1], [0.3, 0.3, 0.3])


# Limits


@each_test
def test_certain_scores_that_outcomes_contradict(test, options):
    rng = np.random.default_rng(14)
    scores = np.concatenate([rng.random(60), [0.0, 1.0, 0.0, 1.0]])
    outcomes = np.concatenate([rng.random(60) < scores[:60], [1, 0, 0, 1]])
    actual = test(outcomes, scores, **options)
    assert np.isfinite(actual[:2]).all()
    inside = np.clip(scores, 1e-12, 1 - 1e-12)
    assert actual.statistic == pytest.approx(test(outcomes, inside, **options).statistic, rel=1e-9)


SCORES = np.linspace(0.05, 0.95, 20)
SEPARATED = [np.zeros(20), np.ones(20), SCORES > 0.5, SCORES < 0.5]


@pytest.mark.parametrize("outcomes", SEPARATED)
def test_separation_takes_the_likelihood_to_its_supremum(outcomes):
    null = as_they_are(outcomes.astype(float), SCORES)
    assert cox_test(outcomes, SCORES).statistic == pytest.approx(-2 * null, abs=1e-6)
    assert giviti_test(outcomes, SCORES).statistic == pytest.approx(-2 * null, abs=1e-6)
    assert unreliability(outcomes, SCORES) == pytest.approx((-2 * null - 2) / 20, abs=1e-6)
    parts = [cox_test(outcomes, SCORES, kind=kind).statistic for kind in ("intercept", "slope")]
    assert sum(parts) == pytest.approx(-2 * null, abs=1e-6)


def test_classes_that_meet_at_one_score():
    outcomes = np.array([0, 0, 1, 0, 1, 1, 1])
    scores = np.array([0.1, 0.2, 0.5, 0.5, 0.5, 0.7, 0.8])
    supremum = 2 * math.log(2 / 3) + math.log(1 / 3)
    expected = 2 * (supremum - as_they_are(outcomes, scores))
    assert cox_test(outcomes, scores).statistic == pytest.approx(expected, abs=1e-6)


def test_one_class_says_nothing_of_discrimination():
    assert discrimination_index(np.ones(4), [0.5] * 4) == pytest.approx((8 * math.log(0.5) - 1) / 4)


# Hostile input


def test_one_score_has_no_slope_to_test():
    outcomes, scores = [0, 1, 0, 0], [0.3] * 4
    for function in (cox_test, unreliability, quality_index):
        with pytest.raises(InputError, match="one distinct score"):
            function(outcomes, scores)
    assert 0 < cox_test(outcomes, scores, kind="intercept").pvalue < 1


@pytest.mark.parametrize("scores", [[0.5, 0.5, 0.5], [0.0, 1.0, 1.0], [0.0, 0.5, 1.0]])
def test_spiegelhalter_needs_a_brier_score_left_to_chance(scores):
    with pytest.raises(InputError, match=r"0, 0\.5 or 1 for every case"):
        spiegelhalter_test([0, 1, 1], scores)
