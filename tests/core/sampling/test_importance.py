"""The importance sampler against densities whose integrals and moments are known."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayescal as bc
from bayescal.core import sampling
from bayescal.core.optimise import Mode
from bayescal.core.sampling import _Kernels, _log_kernels, importance_sample


def sample(density, information, draws=4000, seed=0):
    d = information.shape[0]
    mode = Mode(np.zeros(d), 0.0, information, True)
    return importance_sample(density, mode, draws, np.random.default_rng(seed))


def test_gaussian_evidence_and_moments():
    covariance = np.array([[2.0, 0.6], [0.6, 0.5]])
    density = stats.multivariate_normal(np.zeros(2), covariance)
    actual = sample(lambda u: density.logpdf(u) + 3.0, np.linalg.inv(covariance))
    assert actual.log_evidence == pytest.approx(3.0, abs=4 * actual.log_evidence_error)
    assert actual.pareto_k < 0.5
    np.testing.assert_allclose(np.cov(actual.draws.T), covariance, atol=0.15)
    np.testing.assert_allclose(actual.draws.mean(axis=0), 0, atol=0.08)


def test_the_stated_monte_carlo_error_is_the_spread_over_seeds():
    density = stats.t(7)
    runs = [sample(lambda u: density.logpdf(u[:, 0]), np.eye(1), seed=i) for i in range(40)]
    spread = np.std([run.log_evidence for run in runs])
    assert spread < 1.5 * np.mean([run.log_evidence_error for run in runs])


def test_a_poor_scale_is_refitted_and_a_hopeless_density_is_confessed():
    wide = sample(lambda u: stats.norm(0, 20).logpdf(u[:, 0]), np.eye(1) * 4)
    assert wide.pareto_k < 0.7
    assert wide.draws.std() == pytest.approx(20, rel=0.15)
    far = sample(
        lambda u: np.logaddexp(
            stats.norm(0, 1).logpdf(u[:, 0]), stats.norm(400, 1).logpdf(u[:, 0]) + 20
        ),
        np.eye(1),
    )
    assert far.draws.std() < 1.5, "the far mode is out of reach of any local sampler"


def test_resampling_keeps_quantiles():
    actual = sample(lambda u: stats.norm().logpdf(u[:, 0]), np.eye(1) * 0.5)
    drawn = np.quantile(actual.draws, [0.025, 0.5, 0.975])
    np.testing.assert_allclose(drawn, stats.norm.ppf([0.025, 0.5, 0.975]), atol=0.1)
    first, second = np.split(actual.draws[:, 0], 2)
    assert abs(first.mean() - second.mean()) < 0.1, "draws are in random order"


CLINICAL = {
    "brcal_hockey_538": ("brcal_hockey_538", "outcome", "score"),
    "brcal_hockey_rand": ("brcal_hockey_rand", "outcome", "score"),
    "pmcalibration_readme_sim2345": ("pmcalibration_readme_sim2345", "outcome", "score"),
    "predtools_val_data": ("predtools_val_data", "outcome", "score"),
    "precip_EMOS": ("reliabilitydiag_precip_Niamey_2016", "obs", "EMOS"),
    "precip_EPC": ("reliabilitydiag_precip_Niamey_2016", "obs", "EPC"),
    "precip_Logistic": ("reliabilitydiag_precip_Niamey_2016", "obs", "Logistic"),
}


@pytest.mark.parametrize("curve", ["logistic", "beta"])
@pytest.mark.parametrize("name", CLINICAL)
def test_clinical_prior_reproduces_the_published_posteriors(name, curve, shared_data):
    oracle = json.loads((shared_data / "oracles" / "clinical.json").read_text())
    expected = oracle["recomputed_bayes"][name][curve]
    file, outcome, score = CLINICAL[name]
    table = pd.read_csv(shared_data / "data" / "clinical" / f"{file}.csv")
    data = bc.CalibrationData(table[outcome], table[score])
    post = bc.fit(data, curve=curve, prior="clinical", random_state=1)
    calibrated = bc.fit(data, curve="identity", random_state=1)
    log_evidence = post.diagnostics["log_evidence"]
    atom = calibrated.diagnostics["log_evidence"]
    assert atom == pytest.approx(expected["loglik_calibrated"], abs=1e-6)
    assert log_evidence == pytest.approx(expected["log_marginal_likelihood"], abs=0.01)
    tce = float(post.tce(population="sample").mean())
    assert tce == pytest.approx(expected["TCE_L1_on_sample"]["mean"], abs=0.002)
    prob_calibrated = 1 / (1 + np.exp(log_evidence - atom))
    assert prob_calibrated == pytest.approx(expected["P_calibrated_prior0_5"], abs=0.01)
    assert post.problem.frame.centre == pytest.approx(expected["center_m"], rel=1e-9)


def test_a_mixture_of_narrow_and_wide_is_sampled_whole():
    scales, shares = np.array([0.01, 0.1, 1.0]), np.array([0.5, 0.3, 0.2])
    parts = [stats.multivariate_normal(np.full(6, scale), scale**2) for scale in scales]
    modes = [
        (Mode(np.full(6, scale), 0.0, np.eye(6) / scale**2, True), share)
        for scale, share in zip(scales, shares, strict=True)
    ]

    def log_density(u):
        return np.log(sum(w * part.pdf(u) for w, part in zip(shares, parts, strict=True)))

    actual = importance_sample(log_density, modes, 4000, np.random.default_rng(0))
    assert actual.log_evidence == pytest.approx(0, abs=4 * actual.log_evidence_error)
    assert actual.log_evidence_error < 0.02
    assert actual.pareto_k < 0.5
    near = np.abs(actual.draws - 0.01).max(axis=1) < 0.05
    assert near.mean() == pytest.approx(0.5, abs=0.03)
    assert (np.abs(actual.draws).max(axis=1) > 0.6).mean() == pytest.approx(0.2, abs=0.03)


def test_draws_keep_what_the_density_told_of_them():
    def told(points):
        return -0.5 * (points**2).sum(axis=1), np.stack([points[:, 0] ** 2, points[:, 1]], axis=1)

    drawn = sample(told, np.eye(2), draws=500)
    np.testing.assert_array_equal(drawn.beside[:, 0], drawn.draws[:, 0] ** 2)
    np.testing.assert_array_equal(drawn.beside[:, 1], drawn.draws[:, 1])
    plain = sample(lambda points: told(points)[0], np.eye(2), draws=500)
    assert plain.beside is None
    np.testing.assert_array_equal(plain.draws, drawn.draws)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_many_kernels_are_an_even_mixture_of_student_t(d):
    rng = np.random.default_rng(d)
    centres, points = rng.normal(size=(20, d)), rng.normal(size=(50, d)) * 30
    scale = np.linalg.cholesky(np.eye(d) + 0.3)
    laws = [stats.multivariate_t(at, scale @ scale.T, df=max(4, d)) for at in centres]
    density = np.reshape([law.pdf(points) for law in laws], (20, 50)).mean(axis=0)
    ours = _log_kernels(points, _Kernels(centres, scale))
    np.testing.assert_allclose(ours, np.log(density), rtol=1e-10)


def test_in_many_dimensions_one_kernel_is_tried_and_no_many(monkeypatch):
    tried = []

    def counted(log_density, kernels, draws, rng):
        tried.append(sum(len(each.centres) for each in kernels))
        return propose(log_density, kernels, draws, rng)

    propose = sampling._propose
    monkeypatch.setattr(sampling, "_propose", counted)
    for d in (5, 6):
        narrow = Mode(np.zeros(d), 0.0, 400 * np.eye(d), True)  # a twentieth of the true spread
        importance_sample(
            lambda u: -np.abs(u).sum(axis=1), narrow, 400, np.random.default_rng(0), 0.99
        )
    assert tried == [1, 1, 64, 64, 1, 1]
