"""The Bayesian bootstrap of clusters: means and variances of what it weighs."""

import numpy as np
import pytest
from scipy import sparse

from bayescal.posterior.population import CaseBootstrap, ClusterBootstrap, draw_population

DRAWS = slice(0, 40_000)


@pytest.mark.parametrize("sizes", [(20,), (2,), (2, 2, 2), (3, 7), (2, 300)])
def test_means_vary_as_those_of_clusters_drawn_anew(sizes):
    """Within each stratum the variance of the mean is s^2 / k, with s^2 over k - 1."""
    clusters = sum(sizes)
    stratum = np.repeat(np.arange(len(sizes)), sizes)
    law = ClusterBootstrap(sparse.csr_array(np.eye(clusters)), stratum)
    weight = law.weights(DRAWS, np.random.default_rng(1))
    np.testing.assert_allclose(weight.sum(axis=1), 1)
    assert (weight >= 0).all()
    value = np.sin(np.arange(clusters) * 1.7) + stratum
    means = weight @ value
    expected = sum(
        (size / clusters) ** 2 * value[stratum == layer].var(ddof=1) / size
        for layer, size in enumerate(sizes)
    )
    assert means.mean() == pytest.approx(value.mean(), abs=4 * means.std() / 200)
    assert means.var() == pytest.approx(expected, rel=0.05)
    for layer, size in enumerate(sizes):
        share = weight[:, stratum == layer].sum(axis=1)
        np.testing.assert_allclose(share, size / clusters)


def test_random_groups_of_many_clusters_vary_as_the_clusters_do():
    sizes = (2500, 40)
    stratum = np.repeat([0, 1], sizes)
    law = ClusterBootstrap(sparse.csr_array(np.eye(sum(sizes))), stratum)
    weight = law.weights(slice(0, 4000), np.random.default_rng(3))
    value = np.sin(np.arange(sum(sizes)) * 1.7) * (1 + 3 * stratum)
    expected = sum(
        (size / sum(sizes)) ** 2 * value[stratum == layer].var(ddof=1) / size
        for layer, size in enumerate(sizes)
    )
    assert (weight @ value).var() == pytest.approx(expected, rel=0.1)


def test_a_beta_density_counts_what_clusters_are_worth():
    """Of four scores each in one cluster of k cases, k cases are worth one."""
    cases = sparse.csr_array(np.kron(np.ones((50, 1)), 5 * np.eye(4)))
    law = ClusterBootstrap(cases, np.zeros(200, int))
    score = np.array([0.2, 0.4, 0.6, 0.7])
    assert law.worth(np.log(score)) == pytest.approx(1 / 5, rel=0.01)
    alone = CaseBootstrap(np.full(4, 250.0))
    spread = {}
    for name, each in (("clusters", law), ("cases", alone)):
        drawn = draw_population(
            "beta", score, np.full(4, 250.0), 2000, np.random.default_rng(1), bootstrap=each
        )
        means = np.concatenate([np.sum(one.score * one.weight, axis=1) for _, one in drawn])
        spread[name] = means.std()
    assert spread["clusters"] / spread["cases"] == pytest.approx(5**0.5, rel=0.1)


def test_rows_of_one_cluster_rise_and_fall_together():
    cases = sparse.csr_array(np.array([[3.0, 1.0, 0.0], [0.0, 0.0, 4.0], [0.0, 0.0, 2.0]]))
    law = ClusterBootstrap(cases, np.zeros(3, int))
    weight = law.weights(slice(10, 510), np.random.default_rng(2))
    np.testing.assert_allclose(weight[:, 0], 3 * weight[:, 1])
    assert weight.shape == (500, 3)


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [8, 20])
@pytest.mark.parametrize("icc", [0.05, 0.5])
def test_stretched_draws_of_few_unequal_clusters_cover(clusters, icc):
    """95 % intervals of the mean of 600 sets, and those of the draws as they are."""
    rng = np.random.default_rng([clusters, round(100 * icc)])
    covered, plain = [], []
    for _ in range(600):
        size = np.maximum(rng.lognormal(3, 0.9, clusters).astype(int), 2)
        cluster = np.repeat(np.arange(clusters), size)
        value = np.sqrt(icc) * rng.standard_normal(clusters)[cluster]
        value += np.sqrt(1 - icc) * rng.standard_normal(cluster.size)
        cases = sparse.csr_array((np.ones(cluster.size), (cluster, np.arange(cluster.size))))
        law = ClusterBootstrap(cases, np.zeros(clusters, dtype=int))
        draws = law.weights(slice(0, 400), rng) @ value
        moved = draws.mean() + law.stretch(value) * (draws - draws.mean())
        for kept, drawn in ((covered, moved), (plain, draws)):
            lower, upper = np.quantile(drawn, [0.025, 0.975])
            kept.append(lower <= 0 <= upper)
    error = np.sqrt(0.95 * 0.05 / 600)
    assert abs(np.mean(covered) - 0.95) < 0.01 + 3 * error
    assert np.mean(plain) < 0.95 - 2 * error


def test_draws_of_many_equal_clusters_and_of_two_strata_are_stretched_as_student_says():
    from scipy.stats import norm
    from scipy.stats import t as student

    value = np.sin(np.arange(600) * 1.7)

    def stretch(sizes, stratum):
        cluster = np.repeat(np.arange(len(sizes)), sizes)
        each = np.arange(cluster.size)
        cases = sparse.csr_array((np.ones(cluster.size), (cluster, each)))
        law = ClusterBootstrap(cases, np.array(stratum))
        return law.stretch(value[: cluster.size])

    def ratio(degrees):
        return student.ppf(0.975, degrees) / norm.ppf(0.975)

    assert stretch([10] * 8, [0] * 8) == pytest.approx(ratio(7))
    assert stretch([1] * 600, [0] * 600) == pytest.approx(ratio(599))
    assert stretch([10] * 10, [0] * 5 + [1] * 5) == pytest.approx(ratio(8))
    assert stretch([100, 5, 5, 5], [0] * 4) > 2 * stretch([30] * 4, [0] * 4)
