"""Design effects: against sums over clusters written out, and where they are known."""

import numpy as np
import pytest
from scipy.special import expit, logit

from bayescal.model.clusters import cluster_design, sandwich
from bayescal.model.problem import prepare


def clustered(seed=0, clusters=400, size=8, spread=0.8):
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), size)
    score = np.round(expit(rng.normal(-0.5, 1, cluster.size)), 2).clip(0.01, 0.99)
    effect = spread * rng.standard_normal(clusters)
    outcome = (rng.random(cluster.size) < expit(logit(score) + effect[cluster])).astype(int)
    return outcome, score, cluster


def test_many_clusters_give_the_sandwich_of_the_textbook():
    y, s, cluster = clustered()
    problem = prepare(y, s, cluster=cluster, random_state=0)
    x = problem.log_odds
    basis = np.column_stack([np.ones_like(x), x])
    fitted = expit(0.1 + 0.9 * x)
    about = sandwich(problem, basis, fitted, 1e-9 * np.eye(2))
    case = np.column_stack([np.ones(s.size), logit(s)])
    expected = expit(case @ [0.1, 0.9])
    information = (case.T * (expected * (1 - expected))) @ case
    scores = np.zeros((400, 2))
    np.add.at(scores, cluster, case * (y - expected)[:, None])
    bread = np.linalg.inv(information)
    variance = bread @ (scores.T @ scores) @ bread
    np.testing.assert_allclose(about.effect, np.diag(variance) / np.diag(bread), rtol=0.05)
    flatter = about.contraction.T @ information @ about.contraction
    np.testing.assert_allclose(np.linalg.inv(flatter), variance * about.inflation, rtol=0.08)


@pytest.mark.parametrize("times", [2, 10])
def test_a_case_told_several_times_counts_once(times):
    y, s, _ = clustered(clusters=50, spread=0)
    repeated = [np.repeat(values, times) for values in (y, s, np.arange(y.size))]
    design = cluster_design(prepare(*repeated[:2], cluster=repeated[2], random_state=0))
    assert design.effective_n == pytest.approx(y.size, rel=0.12)
    assert design.slope_effect == pytest.approx(times, rel=0.12)


def test_clusters_of_one_case_change_nothing():
    y, s, _ = clustered(clusters=50)
    problem = prepare(y, s, cluster=np.arange(y.size), random_state=0)
    assert problem.clusters.are_single
    design = cluster_design(problem)
    assert design.effect == pytest.approx(1, abs=0.01)
    assert (design.degrees, design.inflation) == (np.inf, 1)


def test_degrees_of_freedom_are_the_clusters_less_one_or_fewer_where_sizes_differ():
    y, s, cluster = clustered(clusters=20, size=50, spread=0.5)
    equal = cluster_design(prepare(y, s, cluster=cluster, random_state=0))
    assert 15 < equal.degrees < 20.5
    uneven = np.where(cluster < 15, 0, cluster)
    few = cluster_design(prepare(y, s, cluster=uneven, random_state=0))
    assert few.degrees < 3
    assert few.inflation > equal.inflation > 1


def test_strata_take_what_differs_between_them_out():
    rng = np.random.default_rng(3)
    stratum = np.repeat(np.arange(4), 10)
    cluster = np.repeat(np.arange(40), 40)
    score = expit(rng.normal(0, 1, cluster.size))
    effect = np.array([-1.5, -0.5, 0.5, 1.5])[stratum]
    y = (rng.random(cluster.size) < expit(logit(score) + effect[cluster])).astype(int)
    ignored = cluster_design(prepare(y, score, cluster=cluster, random_state=0))
    known = cluster_design(
        prepare(y, score, cluster=cluster, stratum=stratum[cluster], random_state=0)
    )
    assert ignored.effect > 3
    assert known.effect < 1.6


def test_the_other_outcome_has_the_same_design():
    y, s, cluster = clustered(clusters=30)
    first = cluster_design(prepare(y, s, cluster=cluster, random_state=0))
    second = cluster_design(prepare(1 - y, 1 - s, cluster=cluster, random_state=0))
    for name, value in first.to_dict().items():
        assert second.to_dict()[name] == pytest.approx(value, rel=1e-6), name
