"""Leave-one-out of whole clusters, held against fits without each cluster."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.inference import loo
from bayescal.inference.density import CurveDensity
from bayescal.inference.loo import LikelihoodParts, leave_cluster_out
from bayescal.model.problem import prepare

CLUSTERS, SIZE = 16, 12


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(5)
    cluster = np.repeat(np.arange(CLUSTERS), SIZE)
    x = rng.normal(-0.7, 1.1, cluster.size)
    effect = 0.8 * rng.standard_normal(CLUSTERS)
    outcome = rng.random(cluster.size) < expit(0.75 * x - effect[cluster])
    return outcome.astype(int), expit(x), cluster


@pytest.fixture(scope="module")
def compared(cases):
    y, s, cluster = cases
    curves = ["identity", "logistic", "noise", "pieces"]
    return bc.compare(y, s, cluster=cluster, curves=curves, draws=1000, random_state=1)


def predicted(post, y, s):
    """Sum of the log predictive densities of single outcomes."""
    g = post.curve(s).to_numpy().reshape(-1, len(s)).mean(axis=0)
    return float(np.log(np.where(y > 0, g, 1 - g)).sum())


@pytest.mark.parametrize("curve", ["logistic", "noise", "pieces"])
def test_a_cluster_left_out_is_predicted_as_by_a_fit_without_it(cases, compared, curve):
    y, s, cluster = cases
    refitted = []
    for one in range(CLUSTERS):
        others = cluster != one
        post = bc.fit(
            y[others], s[others], cluster=cluster[others], curve=curve, draws=1000, random_state=1
        )
        refitted.append(predicted(post, y[~others], s[~others]))
    left_out = compared.loo[curve]
    assert compared.design_effect > 2
    assert left_out.count.sum() == CLUSTERS
    assert left_out.elpd == pytest.approx(sum(refitted), abs=0.4)  # 3 to 10 with the parts alone
    assert np.sort(left_out.pointwise) == pytest.approx(np.sort(refitted), abs=0.4)


def test_cases_told_ten_times_with_ids_give_the_same_differences(cases):
    y, s, _ = cases
    often = [np.repeat(values, 10) for values in (y, s, np.arange(y.size))]
    curves = ["identity", "logistic"]
    once = bc.compare(y, s, curves=curves, draws=1000, random_state=1).table.loc["logistic"]
    told = bc.compare(*often[:2], cluster=often[2], curves=curves, draws=1000, random_state=1)
    row = told.table.loc["logistic"]
    assert row["elpd_diff"] / 10 == pytest.approx(once["elpd_diff"], abs=0.35)
    assert row["elpd_diff_error"] / 10 == pytest.approx(once["elpd_diff_error"], rel=0.1)
    assert row["pareto_k_loo"] < 0.7


def test_clusters_of_one_case_leave_out_cases(cases):
    y, s, _ = cases
    options = {"curves": ["identity", "beta"], "draws": 400, "random_state": 1}
    single = bc.compare(y, s, cluster=np.arange(y.size), **options)
    assert single.loo == single.loo_of_cases
    assert single.loo["beta"].elpd == bc.compare(y, s, **options).loo["beta"].elpd


def test_parts_sum_to_the_likelihood(cases):
    """Parts of all clusters are the likelihood that was fitted, but for a constant."""
    y, s, cluster = cases
    problem = prepare(y, s, cluster=cluster, curve="logistic", random_state=1)
    u = np.random.default_rng(1).normal([-0.1, -0.1], [0.3, 0.2], (20, 2))
    part = LikelihoodParts.of_curve(problem, u).of(slice(None))
    apart = part.sum(axis=0) - CurveDensity(problem).log_likelihood(u)
    assert np.ptp(apart) < 0.01


def test_many_clusters_are_left_out_in_blocks(cases, compared, monkeypatch):
    y, s, cluster = cases
    monkeypatch.setattr(loo, "COLUMNS_AT_ONCE", 3)
    again = bc.compare(
        y, s, cluster=cluster, curves=["identity", "logistic"], draws=1000, random_state=1
    )
    at_once = compared.loo["logistic"].pointwise
    assert again.loo["logistic"].pointwise == pytest.approx(at_once, rel=1e-9)


def test_separated_outcomes_count_each_cluster_as_one_case():
    s = np.linspace(0.05, 0.95, 60)
    y, cluster = (s > 0.5).astype(int), np.arange(60) // 4
    problem = prepare(y, s, cluster=cluster, curve="logistic", random_state=1)
    draws = np.random.default_rng(1).normal(0, 0.3, (400, 2))
    g = problem.probability(draws, s)
    first = np.log(np.where(y > 0, g, 1 - g))[:, :4].sum(axis=1)
    parts = LikelihoodParts.of_curve(problem, draws).of(slice(None))
    assert np.abs(parts - first / 4).max(axis=1).min() < 1e-9
    assert np.isfinite(leave_cluster_out(problem, draws).elpd)


def test_leave_one_out_says_what_it_leaves_out(compared):
    table = compared.table
    assert table.loc["identity", "elpd_diff_error"] == 0
    difference = compared.loo["logistic"].pointwise - compared.loo["identity"].pointwise
    error = np.sqrt(CLUSTERS * difference.var())
    assert table.loc["logistic", "elpd_diff_error"] == pytest.approx(error)
