"""The generative benchmark: known calibration errors, and samples that have them."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import norm

from bayescal import simulate
from bayescal.errors import InputError
from bayescal.estimators import fit_bpm_curve
from bayescal.posterior.functionals import FUNCTIONALS, CurveDraws, net_benefit
from bayescal.posterior.population import Population
from bayescal.recalibrate import LogisticRecalibrator

EXACT = {
    "D1": 0.0497,
    "D1-code": 0.1307,
    "D2": 0.0129,
    "D3": 0.0410,
    "D4": 0.0738,
    "D5": 0.2754,
}
CALIBRATED = [name for name in simulate.names() if name.endswith("calibrated")]


@pytest.mark.parametrize(("name", "exact"), EXACT.items())
def test_exact_tce_of_the_published_truths(name, exact):
    assert simulate.truth(name).tce() == pytest.approx(exact, abs=5e-5)


@pytest.mark.parametrize("name", CALIBRATED)
def test_calibrated_truths_have_no_error(name):
    truth = simulate.truth(name)
    scores = np.array([0.0, 1e-9, 0.2, 0.5, 0.999, 1.0])
    assert truth.tce() == pytest.approx(0, abs=1e-12)
    assert truth.curve(scores) == pytest.approx(scores, abs=1e-12)


@pytest.mark.parametrize("name", simulate.names())
def test_a_truth_can_be_pickled(name):
    truth = simulate.truth(name)
    again = pickle.loads(pickle.dumps(truth))
    assert again == truth
    assert again.tce() == truth.tce()
    np.testing.assert_array_equal(again.curve([0, 0.2, 1]), truth.curve([0, 0.2, 1]))


@pytest.mark.parametrize("name", simulate.names())
def test_a_sample_agrees_with_the_population(name):
    truth = simulate.truth(name)
    size = 100_000
    y_true, y_prob = truth.sample(size, random_state=3)
    gap = np.abs(truth.curve(y_prob) - y_prob)
    assert gap.mean() == pytest.approx(truth.tce(), abs=5 * gap.std() / np.sqrt(size) + 1e-12)
    assert y_true.mean() == pytest.approx(truth.prevalence(), abs=2.5 / np.sqrt(size))
    assert (y_true - truth.curve(y_prob)).mean() == pytest.approx(0, abs=2.5 / np.sqrt(size))


@pytest.mark.parametrize("p", [1, 2, 3.5])
def test_tce_agrees_with_adaptive_quadrature(p):
    truth = simulate.truth("clinical-middle-asymmetric")
    law = truth.scores
    assert isinstance(law, simulate.LogitNormalScores)

    def integrand(log_odds):
        score = np.array([expit(log_odds)])
        gap = abs(truth.curve(score) - score).item()
        return float(gap**p * norm.pdf(log_odds, law.mean, law.sd))

    breaks = law.mean + law.sd * np.arange(-8, 9)
    integral = sum(quad(integrand, low, high)[0] for low, high in pairwise(breaks))
    assert truth.tce(p) == pytest.approx(integral ** (1 / p), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["D4", "clinical-low-asymmetric"])
def test_population_values_are_those_of_a_very_large_sample(name):
    """Every functional against a million cases, whose outcomes are replaced by their risks."""
    truth = simulate.truth(name)
    _, score = truth.sample(1_000_000, random_state=1)
    score = np.clip(score, 1e-12, 1 - 1e-12)
    cases = Population(score, np.full(score.size, 1 / score.size))
    draws = CurveDraws(truth.curve(score)[None], cases)
    for functional, known in FUNCTIONALS.items():
        sampled = known.compute(draws)[0]
        assert truth.functional(functional) == pytest.approx(sampled, rel=0.01, abs=1e-3), (
            functional
        )
    assert truth.functional("tce", p=2) == pytest.approx(truth.tce(2), abs=1e-9)
    thresholds = np.array([0.05, 0.2, 0.6])
    sampled = net_benefit(draws, thresholds)[0]
    np.testing.assert_allclose(truth.net_benefit(thresholds), sampled, atol=2e-3)
    quantiles = [truth.score_quantile(q) for q in (0.1, 0.5)]
    np.testing.assert_allclose(quantiles, np.quantile(score, [0.1, 0.5]), atol=2e-3)


def test_population_values_in_closed_form():
    shifted = simulate.truth("clinical-high-shifted")
    assert shifted.functional("calibration_in_the_large") == pytest.approx(0.5, abs=1e-9)
    assert shifted.functional("calibration_intercept") == pytest.approx(0.5, abs=1e-9)
    assert shifted.functional("calibration_slope") == pytest.approx(1, abs=1e-9)
    assert shifted.functional("observed_expected") == pytest.approx(
        shifted.prevalence() / 0.7, abs=1e-7
    )
    assert shifted.functional("signed_error") == pytest.approx(shifted.prevalence() - 0.7, abs=1e-7)
    assert simulate.truth("D5").functional("calibration_slope") == pytest.approx(0.34, abs=1e-4)
    assert simulate.truth("D5").functional("calibration_intercept") == pytest.approx(
        -0.97, abs=1e-4
    )
    # |1/2 - s| with s uniform is uniform on (0, 1/2); those above t have g - (1 - g) t / (1 - t).
    half = simulate.Truth(
        "half", "g is one half", simulate.BetaScores(1, 1), lambda log_s, log_q: 0 * log_s
    )
    assert half.functional("e50") == pytest.approx(0.25, abs=1e-4)
    assert half.functional("e90") == pytest.approx(0.45, abs=1e-4)
    assert half.functional("emax") == pytest.approx(0.5, abs=1e-4)
    assert half.net_benefit([0.2]) == pytest.approx(0.8 * (0.5 - 0.5 / 4), abs=1e-4)
    assert half.score_quantile(0.3) == pytest.approx(0.3)


@pytest.mark.parametrize("name", simulate.names())
def test_population_values_exist_for_every_truth(name):
    truth = simulate.truth(name)
    values = {functional: truth.functional(functional) for functional in FUNCTIONALS}
    assert np.isfinite(list(values.values())).all()
    assert values["signed_error"] == pytest.approx(
        truth.prevalence() * (1 - 1 / values["observed_expected"]), abs=1e-9
    )
    assert values["e50"] <= values["e90"] <= values["emax"]
    assert abs(values["signed_error"]) <= values["tce"] + 1e-12


@pytest.mark.parametrize("prevalence", ["low", "middle", "high"])
def test_clinical_scores_have_the_mean_they_are_named_for(prevalence):
    mean = {"low": 0.05, "middle": 0.3, "high": 0.7}[prevalence]
    calibrated = simulate.truth(f"clinical-{prevalence}-calibrated")
    shifted = simulate.truth(f"clinical-{prevalence}-shifted")
    assert calibrated.prevalence() == pytest.approx(mean, abs=1e-7)
    assert shifted.prevalence() > mean
    assert shifted.tce() == pytest.approx(shifted.prevalence() - mean, abs=1e-7)


def test_curves_follow_the_formulas_near_one():
    rest = np.array([1e-3, 1e-6, 1e-9])
    scores = 1 - rest
    rest = 1 - scores
    expected = {
        "D2": np.exp(-0.12) * rest**0.58,
        "D4": 1 / (1 + np.exp(-0.77) * rest**-0.80),
        "D1": 1 / (1 + np.exp(-0.88) * (scores / rest) ** 0.49),
    }
    for name, complement in expected.items():
        assert 1 - simulate.truth(name).curve(scores) == pytest.approx(complement, rel=1e-9)
    assert simulate.truth("D3").curve([1.0]) == pytest.approx(np.exp(-0.03))
    assert simulate.truth("D3").curve([0.5]) == pytest.approx(np.exp(-0.03) * 0.5**1.27)


@pytest.mark.parametrize("name", simulate.names())
def test_curves_are_probabilities_everywhere(name):
    scores = np.concatenate([[0, 5e-324, 1e-300, 1e-17], np.linspace(0.001, 1, 999)])
    curve = simulate.truth(name).curve(scores)
    assert np.all((curve >= 0) & (curve <= 1))
    assert np.all(np.diff(curve) >= 0)


def test_scores_that_round_to_one_are_kept():
    y_true, y_prob = simulate.sample("D1", 1000, random_state=1)
    assert (y_prob == 1).sum() > 100
    assert y_prob.dtype == np.float64
    assert y_true.dtype == np.int64
    assert set(y_true) == {0, 1}


def test_seeds_and_generators():
    first, second = (simulate.sample("D5", 50, random_state=4) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    generator = np.random.default_rng(4)
    np.testing.assert_array_equal(simulate.truth("D5").sample(50, generator), first)
    assert not np.array_equal(simulate.sample("D5", 50, generator), first)
    assert simulate.sample("D5", 50)[0].shape == (50,)


# The difference over even scores


def test_ead_is_equation_51():
    """1/1000 of a sum of 1001 terms, of curves whose formulas stand in Table 2."""

    def curve(scores):
        return np.sqrt(scores)

    total = 0.0
    for i in range(1001):
        s = i / 1000
        truth = expit(-0.97 + 0.34 * logit(s)) if 0 < s < 1 else s
        total += abs(np.sqrt(s) - truth)
    assert simulate.ead(curve, "D5") == pytest.approx(total / 1000, rel=1e-9)
    assert simulate.ead(curve, simulate.truth("D5")) == simulate.ead(curve, "D5")


def test_ead_of_the_truth_is_zero_and_of_the_opposite_at_most_1001_thousandths():
    for name in simulate.names():
        assert simulate.ead(simulate.truth(name).curve, name) == pytest.approx(0, abs=1e-12)
    steps = simulate.Truth(
        "steep", "odds to the power 10000", simulate.BetaScores(1, 1), lambda s, q: 1e4 * (s - q)
    )
    wrong = simulate.ead(lambda scores: (scores < 0.5).astype(float), steps)
    assert wrong == pytest.approx(1.001, abs=1e-3)


def test_ead_agrees_with_table_4_of_the_paper():
    """Printed, of one data set, are .0099 for D1, with the score law of the code, and .0067."""
    for name, printed in {"D1-code": 0.0099, "D5": 0.0067}.items():
        runs = [
            simulate.ead(fit_bpm_curve(*simulate.sample(name, 10_000, seed)).curve, name)
            for seed in range(8)
        ]
        assert np.mean(runs) == pytest.approx(printed, abs=0.004)


def test_ead_takes_curves_of_recalibrators_and_names_what_is_none():
    y_true, y_prob = simulate.sample("D5", 2000, random_state=1)
    fitted = LogisticRecalibrator().fit(y_prob, y_true)
    assert simulate.ead(fitted.transform, "D5") < 0.1
    with pytest.raises(InputError, match="curve must be a function"):
        simulate.ead(0.3, "D5")
    with pytest.raises(InputError, match="curve does not take an array of scores"):
        simulate.ead(float, "D5")
    with pytest.raises(InputError, match=r"curve\(scores\)\[1000\] = 2 is outside"):
        simulate.ead(lambda scores: 2 * scores * (scores == 1), "D5")
    with pytest.raises(InputError, match=r"curve\(scores\) has 1 values, of 1001"):
        simulate.ead(lambda scores: [0.5], "D5")
    with pytest.raises(InputError, match="truth must be one of"):
        simulate.ead(np.sqrt, "D9")


def test_a_truth_of_ones_own():
    truth = simulate.Truth(
        "constant",
        "g is one half",
        simulate.BetaScores(1, 1),
        lambda log_s, log_q: np.zeros_like(log_s),
    )
    assert truth.prevalence() == pytest.approx(0.5)
    assert truth.tce() == pytest.approx(0.25, abs=1e-8)
    assert truth.tce(2) == pytest.approx(np.sqrt(1 / 12), abs=1e-8)


@pytest.mark.parametrize("spread", [0.3, 1.2, 4.0])
@pytest.mark.parametrize("mean", [0.0001, 0.2, 0.5, 0.49999, 0.97])
def test_clinical_meets_any_mean_and_spread(mean, spread):
    truth = simulate.clinical(mean, "calibrated", spread=spread)
    assert truth.prevalence() == pytest.approx(mean, rel=1e-6)


def test_names_are_found_and_kept():
    for name in simulate.names():
        truth = simulate.truth(name)
        assert truth.name == name
        assert truth.description
        assert truth is simulate.truth(name)


@pytest.mark.parametrize(
    "call",
    [
        lambda: simulate.truth("D6"),
        lambda: simulate.sample("D1", 0),
        lambda: simulate.sample("D1", 10.5),
        lambda: simulate.truth("D1").tce(0.5),
        lambda: simulate.truth("D1").tce(np.inf),
        lambda: simulate.truth("D1").curve([1.2]),
        lambda: simulate.truth("D1").functional("ece"),
        lambda: simulate.truth("D1").functional("tce", p=0.5),
        lambda: simulate.truth("D1").net_benefit([1.0]),
        lambda: simulate.truth("D1").score_quantile(1),
        lambda: simulate.clinical(5, "calibrated"),
        lambda: simulate.clinical(0.3, "skewed"),
        lambda: simulate.clinical(0.3, "calibrated", spread=0),
    ],
)
def test_bad_arguments_are_named(call):
    with pytest.raises(
        InputError, match=r"name|n must|p must|thresholds|prob must|scores|mean_score|shape|spread"
    ):
        call()
