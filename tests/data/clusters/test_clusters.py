"""Clusters of cases: sums by cluster and row, and what is refused."""

import numpy as np
import pytest

import bayescal as bc
from bayescal.data.clusters import COUNTED

N = 60


@pytest.fixture
def cases():
    rng = np.random.default_rng(4)
    score = np.round(rng.uniform(0.05, 0.95, N), 1)
    return (rng.random(N) < score).astype(int), score, rng.integers(0, 8, N)


def read(y, s, cluster, strata=None, **options):
    data = bc.CalibrationData(y, s, cluster=cluster, stratum=strata, **options)
    return data, data.clusters


def test_entries_sum_to_the_table(cases):
    y, s, cluster = cases
    data, clusters = read(y, s, cluster)
    rows = data.score.size
    for name in ("trials", "hits"):
        total = clusters.matrix(getattr(clusters, name), clusters.row, rows).sum(axis=0)
        np.testing.assert_allclose(total, getattr(data, name))
    sizes = np.sort(clusters.sums(clusters.trials))
    np.testing.assert_allclose(sizes, np.sort(np.bincount(cluster)))


def test_names_and_order_of_clusters_and_cases_do_not_matter(cases):
    y, s, cluster = cases
    strata = cluster // 4
    _, first = read(y, s, cluster, strata)
    order = np.random.default_rng(1).permutation(N)
    renamed = np.array([f"patient {7 * c % 11}" for c in cluster])
    layer = np.array(["north", "south"])[strata]
    _, second = read(y[order], s[order], renamed[order], layer[order])
    for name in ("cluster", "row", "stratum", *COUNTED):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_sampling_weights_count_on_the_effective_scale_and_zero_weights_not_at_all(cases):
    y, s, cluster = cases
    weight = np.where(cluster == 3, 0.0, np.linspace(0.5, 2.5, N))
    data, clusters = read(y, s, cluster, sample_weight=weight, weight_type="sampling")
    assert clusters.size == np.unique(cluster).size - 1
    assert clusters.trials.sum() == pytest.approx(data.effective_size)
    scaled = weight * data.weight_scale
    assert clusters.square_trials.sum() == pytest.approx(np.sum(scaled**2))


def test_sums_within_strata_are_unbiased_for_the_variance_of_a_total():
    rng = np.random.default_rng(5)
    stratum = np.repeat([0, 1, 2], [2, 3, 7])
    cluster = np.repeat(np.arange(12), 3)
    y, s = np.tile([0, 1, 0], 12), np.linspace(0.1, 0.9, 36)
    _, clusters = read(y, s, cluster, stratum[cluster])
    spread = np.array([1.0, 0.5, 2.0])[clusters.stratum]
    means = np.array([3.0, -1.0, 10.0])[clusters.stratum]
    seen = [
        np.sum(clusters.centred(means + spread * rng.standard_normal(12)) ** 2) for _ in range(4000)
    ]
    assert np.mean(seen) == pytest.approx(np.sum(spread**2), rel=0.05)


BAD = {
    "one cluster": (lambda c: (np.zeros(N), None), r"cluster holds one cluster, '0\.0'"),
    "too few": (lambda c: (c[:5], None), "cluster has 5"),
    "missing": (lambda c: ([None, *c[1:]], None), r"cluster\[0\] is missing"),
    "strata too few": (lambda c: (c, c[:5]), "stratum has 5"),
    "strata missing": (lambda c: (c, [*c[:-1], np.nan]), rf"stratum\[{N - 1}\] is missing"),
    "in two strata": (lambda c: (c, np.arange(N)), "lies in several strata"),
    "alone": (lambda c: (c, c == 1), "stratum: 'True' holds one cluster"),
    "strata alone": (lambda c: (None, c), "stratum was given without cluster"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("function", [bc.fit, bc.compare, bc.assess])
def test_bad_clusters_are_refused_in_words(cases, function, case):
    y, s, cluster = cases
    make, message = BAD[case]
    given, strata = make(cluster)
    with pytest.raises(bc.errors.InputError, match=message):
        function(y, s, cluster=given, stratum=strata)


def test_clusters_do_not_go_with_tables_or_nuts(cases):
    y, s, cluster = cases
    with pytest.raises(bc.errors.InputError, match="cluster was given beside a CalibrationData"):
        bc.fit(bc.CalibrationData(y, s), curve="beta", cluster=cluster)
    with pytest.raises(bc.errors.InputError, match="engine='nuts'"):
        bc.fit(y, s, curve="beta", cluster=cluster, engine="nuts")


def test_an_update_knows_the_clusters_before_by_their_labels(cases):
    y, s, cluster = cases
    first, rest = slice(0, 30), slice(30, N)
    joint = bc.fit(y, s, cluster=cluster, draws=400, random_state=1)
    before = bc.fit(y[first], s[first], cluster=cluster[first], draws=400, random_state=1)
    after = bc.update(before, y[rest], s[rest], cluster=cluster[rest])
    assert after.summary().equals(joint.summary())
    assert after.data == joint.data
    with pytest.raises(bc.errors.InputError, match="one table has clusters and the other"):
        bc.update(before, y[rest], s[rest])
