"""LS-ECE and both forms of KDE-ECE against other code, their definitions, and hostile data."""

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import beta

from bayescal import simulate
from bayescal.errors import InputError
from bayescal.estimators import kde_ece, ls_ece

# LS-ECE


@pytest.mark.oracle("ls_ece")
@pytest.mark.parametrize("name", ["A", "B", "C"])
@pytest.mark.parametrize("bins", [1, 10, 15])
def test_ls_ece_is_the_exact_integral(known, name, bins):
    outcomes, scores, answers = known(name)
    actual = ls_ece(outcomes, scores, bandwidth=1 / bins)
    exact = answers[f"LS-ECE sigma=1/{bins} exact (trapezoid 400001 pts, logits clipped +-40)"]
    assert actual == pytest.approx(exact, rel=1e-8)
    sampled = [v for k, v in answers.items() if k.startswith(f"chidambaram.LS-ECE sigma=1/{bins},")]
    assert sampled == pytest.approx([actual] * len(sampled), rel=0.03)


def test_ls_ece_of_one_score():
    """With little noise it is the calibration error itself, with much noise about one half."""
    assert ls_ece([0, 1, 1, 1], [0.4] * 4, bandwidth=1e-3) == pytest.approx(0.35, rel=1e-6)
    assert ls_ece([0, 1], [0.5] * 2, bandwidth=1e4) == pytest.approx(0.5, rel=1e-3)
    assert ls_ece([0, 1], [0.5] * 2, bandwidth=1e-3) < 2e-4
    assert ls_ece([0, 1], [0.0, 1.0]) < 1e-9
    assert ls_ece([1, 0], [0.0, 1.0]) == pytest.approx(1)


# KDE-ECE: the ratio


@pytest.mark.oracle("kde_ece")
@pytest.mark.parametrize("name", ["A", "B", "C"])
@pytest.mark.parametrize("bandwidth", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("p", [1, 2])
def test_the_authors_print_twice_the_ratio_without_a_root(known, name, bandwidth, p):
    outcomes, scores, answers = known(name)
    key = f"ece_kde.get_ece_kde(bw={bandwidth},p={p},clip 1e-06,float64) = 2*ratio"
    actual = kde_ece(outcomes, scores, bandwidth=bandwidth, p=p)
    assert actual**p == pytest.approx(answers[key] / 2, rel=1e-9)


def kernels(scores, bandwidth):
    """Density at each score, by row, of the beta kernel around each score, by column."""
    return beta.pdf(scores[:, None], scores / bandwidth + 1, (1 - scores) / bandwidth + 1)


@pytest.mark.parametrize("p", [1, 2.5])
def test_ratio_leaves_out_one_case_of_tied_ones(p):
    rng = np.random.default_rng(1)
    scores = rng.choice([0.1, 0.25, 0.5, 0.7, 0.71, 0.95], 40)
    outcomes = rng.random(40) < scores
    kernel = kernels(scores, 0.05)
    np.fill_diagonal(kernel, 0)
    gap = np.abs(kernel @ outcomes / kernel.sum(axis=1) - scores)
    actual = kde_ece(outcomes, scores, bandwidth=0.05, p=p)
    assert actual == pytest.approx((gap**p).mean() ** (1 / p), rel=1e-9)


@pytest.mark.parametrize("name", ["A", "B"])
def test_default_bandwidth_has_the_largest_likelihood(known, name):
    """Equal scores are left out together; the authors' selector does neither."""
    outcomes, scores, answers = known(name)
    outcomes, scores = outcomes[:200], scores[:200].clip(1e-6, 1 - 1e-6)
    candidates = [*np.logspace(-5, -1, 15), *np.linspace(0.2, 1, 5)]
    score, count = np.unique(scores, return_counts=True)
    likelihood = []
    for bandwidth in candidates:
        kernel = kernels(score, bandwidth)
        np.fill_diagonal(kernel, 0)
        likelihood.append(count @ np.log(np.maximum(kernel @ count, 1e-300)))
    best = candidates[int(np.argmax(likelihood))]
    assert kde_ece(outcomes, scores) == kde_ece(outcomes, scores, bandwidth=best)
    theirs = answers.get("ece_kde.get_bandwidth (clip 1e-06, float64)")
    assert theirs is None or theirs < best / 50


@pytest.mark.parametrize("p", [1, 2])
def test_ratio_at_the_ends_is_finite(p):
    """A score of exactly 1 has the mean outcome of the other highest scores."""
    outcomes, scores = [1, 0, 1, 1, 0], [1.0, 1.0, 1.0, 0.5, 0.0]
    for bandwidth in (1e-5, 0.01, 0.5, None):
        assert 0 < kde_ece(outcomes, scores, bandwidth=bandwidth, p=p) < 1
    assert kde_ece([1, 1, 0, 0], [1.0, 1.0, 0.0, 0.0], bandwidth=0.01) < 2e-6


def test_ratio_with_one_score_is_the_leave_one_out_mean():
    expected = (3 * abs(2 / 4 - 0.4) + 2 * abs(3 / 4 - 0.4)) / 5
    assert kde_ece([1, 1, 1, 0, 0], [0.4] * 5) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(InputError, match="only one case"):
        kde_ece([1], [0.4])


def test_ratio_in_chunks(monkeypatch):
    y_true, y_prob = simulate.sample("calibrated", 300, random_state=1)
    everywhere = kde_ece(y_true, y_prob)
    monkeypatch.setattr("bayescal.estimators.density.BETA_BLOCK", 10_000)
    assert kde_ece(y_true, y_prob) == pytest.approx(everywhere, rel=1e-12)


# KDE-ECE: densities


def triweight(scores, weights, at, bandwidth):
    """Density by triweight kernels of this standard deviation, reflected at 0 and 1."""
    density = np.zeros_like(at)
    for centre, weight in zip(scores, weights, strict=True):
        for image in (centre, -centre, 2 - centre):
            z = (at - image) / (3 * bandwidth)
            density += weight * np.maximum(1 - z**2, 0) ** 3
    return density * 35 / 32 / (3 * bandwidth * np.sum(weights))


@pytest.mark.slow
@pytest.mark.oracle("kde_ece")
@pytest.mark.parametrize("name", ["A", "B", "C"])
def test_triweight_is_the_integral_that_the_authors_take_without_the_ends(known, name):
    outcomes, scores, answers = known(name)
    bandwidth = scores[outcomes == 1].std() * (2 * scores.size) ** -0.2
    theirs = np.linspace(-0.6, 1.6, 2**14)
    theirs = theirs[(theirs > 0) & (theirs < 1)]
    for at, everywhere in ((theirs, False), (np.linspace(0, 1, 10_001), True)):
        density = triweight(scores, np.ones_like(scores), at, bandwidth)
        events = triweight(scores, outcomes, at, bandwidth) * outcomes.mean()
        for p in (1, 2):
            gap = np.abs(at - events / np.where(density > 0, density, 1)) ** p * density
            value = np.trapezoid(gap, at) / np.trapezoid(density, at)
            if everywhere:
                actual = kde_ece(outcomes, scores, form="triweight", p=p)
                assert actual**p == pytest.approx(value, rel=1e-5)
            else:
                printed = answers.get(f"mnm.ece_kde_binary(order={p})")
                assert printed is None or value == pytest.approx(printed, rel=1e-5)


def test_triweight_where_it_has_no_bandwidth():
    for outcomes, scores in (([0, 0, 0], [0.2, 0.5, 0.6]), ([1, 1, 0], [0.2, 0.2, 0.6])):
        with pytest.raises(InputError, match="finds no bandwidth"):
            kde_ece(outcomes, scores, form="triweight")
        assert kde_ece(outcomes, scores, form="triweight", bandwidth=0.01) > 0.3
    actual = kde_ece([[0, 0, 0], [1, 0, 1]], [0.2, 0.5, 0.6], form="triweight")
    assert np.isnan(actual[0])
    assert 0 < actual[1] < 1


def test_triweight_narrow_and_wide():
    outcomes, scores = [0, 1, 0, 0], [0.2, 0.2, 0.6, 0.9]
    narrow = kde_ece(outcomes, scores, form="triweight", bandwidth=0.001)
    assert narrow == pytest.approx((2 * 0.3 + 0.6 + 0.9) / 4, abs=1e-3)
    at = np.linspace(0, 1, 100_001)
    wide = np.trapezoid(np.abs(at - 0.25), at)
    actual = kde_ece(outcomes, scores, form="triweight", bandwidth=1e6)
    assert actual == pytest.approx(wide, rel=1e-5)


# What holds for all


def test_fractions_of_cases_left_out_keep_rates_within_bounds():
    """Sampling weights may leave less than one case at a score."""
    rng = np.random.default_rng(9)
    for _ in range(50):
        scores, outcomes = rng.choice([0.0, 0.3, 0.5, 1.0], 8), rng.integers(0, 2, 8)
        weight = 10.0 ** rng.uniform(-9, 3, 8)
        assert 0 <= kde_ece(outcomes, scores, sample_weight=weight, p=7, bandwidth=0.1) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("sigma", [0.05, 0.7, 5.0])
def test_ls_ece_by_the_trapezoid_rule(sigma):
    rng = np.random.default_rng(0)
    scores = np.concatenate([[0.0, 1.0, 1.0], rng.beta(0.6, 0.6, 50).round(3)])
    outcomes = rng.random(53) < scores**2
    at = np.linspace(-40 - 9 * sigma, 40 + 9 * sigma, 400_001)
    gap = np.zeros_like(at)
    for outcome, centre in zip(outcomes, np.clip(logit(scores), -40, 40), strict=True):
        gap += (outcome - expit(at)) * np.exp(-0.5 * ((at - centre) / sigma) ** 2)
    exact = np.trapezoid(np.abs(gap), at) / (53 * sigma * np.sqrt(2 * np.pi))
    assert ls_ece(outcomes, scores, bandwidth=sigma) == pytest.approx(exact, rel=1e-6)
