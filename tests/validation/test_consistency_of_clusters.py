"""Consistency checks of cases that come in clusters."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.estimators import uncertainty
from bayescal.estimators.uncertainty import AlikeCases
from bayescal.report.performance import panel_of
from bayescal.validation.consistency import alike_cases

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
FRAILTY = 1.0


def cases(seed, clusters=40, size=20):
    """Of a model that is calibrated for the population; patients differ in frailty."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), size)
    x = rng.normal(-0.7, 1.0, cluster.size)
    effect = FRAILTY * rng.standard_normal(clusters)
    outcome = (rng.random(cluster.size) < expit(x + effect[cluster])).astype(int)
    score = WEIGHTS @ expit(x + FRAILTY * NODES[:, None]) / WEIGHTS.sum()
    return outcome, score, cluster


def fitted(y, s, cluster=None, **options):
    return bc.fit(y, s, cluster=cluster, curve="beta", draws=200, random_state=1, **options)


@pytest.fixture(scope="module")
def post():
    return fitted(*cases(3))


def mean_gap(y_true, y_prob):
    return np.abs((np.asarray(y_true) - y_prob).mean(axis=-1))


def test_replicates_vary_by_the_design_effect(post):
    y, s, _ = cases(3)
    own = bc.check_consistency(post, mean_gap, predict=False, random_state=1)
    alone = bc.check_consistency(fitted(y, s), mean_gap, predict=False, random_state=1)
    ratio = np.mean(own.under_calibration**2) / np.mean(alone.under_calibration**2)
    assert post.diagnostics["design_effect"] > 2.5
    assert ratio == pytest.approx(post.diagnostics["design_effect"], rel=0.3)


def test_the_likeness_is_that_of_the_residuals():
    """Of outcomes simulated with a correlation it is found again."""
    rng = np.random.default_rng(4)
    cluster = np.repeat(np.arange(800), 6)
    score = rng.uniform(0.1, 0.6, cluster.size)
    ranks = stats.norm.cdf(AlikeCases(cluster, 0.3).normal(rng, 1)[0])
    data = bc.CalibrationData((ranks < score).astype(int), score, cluster=cluster)
    assert data.clusters is not None
    alike = alike_cases(data.clusters, data.score)
    assert alike.correlation == pytest.approx(0.3, abs=0.05)
    assert np.bincount(alike.cluster).tolist() == [6] * 800


def test_outcomes_keep_their_probabilities_and_a_cluster_may_share_one():
    rng = np.random.default_rng(1)
    normal = AlikeCases(np.array([0, 0, 1]), 0.6).normal(rng, 20_000)
    assert stats.kstest(normal[:, 0], "norm").pvalue > 1e-3
    assert np.corrcoef(normal.T)[0] == pytest.approx([1, 0.6, 0], abs=0.03)
    same = AlikeCases(np.array([0, 0]), 1.0).normal(rng, 5)
    np.testing.assert_array_equal(same[:, 0], same[:, 1])


def test_cases_told_ten_times_with_ids_equal_the_cases_once():
    y, s, _ = cases(5, 300, 1)
    often = [np.repeat(values, 10) for values in (y, s, np.arange(y.size))]
    once = bc.check_consistency(fitted(y, s), predict=False)
    told = bc.check_consistency(fitted(*often), predict=False)
    assert told.observed == pytest.approx(once.observed)
    alike = stats.ks_2samp(told.under_calibration, once.under_calibration)
    assert alike.pvalue > 1e-3
    forgotten = bc.check_consistency(fitted(*often[:2]), predict=False)
    assert np.median(forgotten.under_calibration) < 0.5 * np.median(told.under_calibration)


def test_many_cases_are_added_up_by_score(post, monkeypatch):
    first = bc.check_consistency(post, n_resamples=50, random_state=2)
    monkeypatch.setattr(uncertainty, "MOST_RESAMPLED", 0)
    second = bc.check_consistency(post, n_resamples=50, random_state=2)
    np.testing.assert_allclose(second.under_posterior, first.under_posterior, rtol=1e-9)


@pytest.mark.slow
def test_p_values_are_uniform_with_clusters_and_not_without():
    own, alone = [], []
    for seed in range(60):
        y, s, cluster = cases(seed)
        for values, ids in ((own, cluster), (alone, None)):
            check = bc.check_consistency(
                fitted(y, s, ids), mean_gap, n_resamples=60, predict=False, random_state=seed
            )
            values.append(check.prob_calibrated_exceeds)
    assert stats.kstest(own, "uniform").pvalue > 1e-3
    assert np.mean(np.array(own) < 0.05) < 0.15
    assert np.mean(np.array(alone) < 0.05) > 0.2


def test_refuses_what_is_not_simulated_by_cluster(post):
    with pytest.raises(InputError, match="resample_scores=True draws single cases"):
        bc.check_consistency(post, resample_scores=True)
    y, s, cluster = cases(3)
    weight = np.random.default_rng(1).uniform(0.5, 1.5, y.size)
    weighted = fitted(y, s, cluster, sample_weight=weight, weight_type="sampling")
    with pytest.raises(InputError, match="clusters beside sampling weights"):
        bc.check_consistency(weighted)


def test_the_ranges_of_an_assessment_know_clusters(post):
    """They are those of the check of each estimator, and wider than of independent cases."""
    y, s, _ = cases(3)
    own, alone = (panel_of([each], ["ece"], seed=1).loc["ece"] for each in (post, fitted(y, s)))
    assert own["estimate"] == pytest.approx(alone["estimate"])
    assert own["calibrated_upper"] > 1.2 * alone["calibrated_upper"]
    check = bc.check_consistency(post, "ece", n_resamples=2000, predict=False, random_state=5)
    assert own["calibrated_upper"] == pytest.approx(
        np.quantile(check.under_calibration, 0.95), rel=0.15
    )
