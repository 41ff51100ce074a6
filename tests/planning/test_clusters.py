"""Sizes of studies whose patients come in clusters."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.planning.setting import as_clusters

TRUTH = bc.simulate.clinical(0.2, "overconfident")
SLOPE = {
    "truth": TRUTH, "of": "calibration_slope", "width": 0.4, "analysis": "wald",
    "n_simulations": 50, "n_jobs": 1, "random_state": 1,
}  # fmt: skip


# Clusters


@pytest.mark.parametrize(
    ("size", "effect"), [(1, 1.0), (20, 1.95), ([10, 20, 30], 1 + (1400 / 60 - 1) * 0.05)]
)
def test_the_design_effect(size, effect):
    planned = as_clusters(0.05, size)
    assert planned is not None
    assert planned.effect == pytest.approx(effect)


def test_few_clusters_tell_less_than_the_design_effect_says():
    """By the square of Student's quantile over the normal one, at clusters less one."""
    planned = as_clusters(0.1, 1000)
    assert planned is not None
    longer = (stats.t.ppf(0.975, 4 * 1000 / 999) / stats.norm.ppf(0.975)) ** 2
    assert planned.independent(5000) == pytest.approx(5000 / planned.effect / longer, abs=1)
    assert planned.independent(10**6) == pytest.approx(10**6 / planned.effect, rel=0.01)


def test_widths_differ_by_chance_as_the_design_effect_is_estimated():
    planned = as_clusters(0.1, 50)
    assert planned is not None
    squares = planned.estimated(1050, 4000, 1) ** 2
    degrees = 20 * 50 / 49
    assert squares.mean() == pytest.approx(1, abs=0.02)
    assert squares.var() == pytest.approx(2 / degrees, rel=0.1)
    alone = as_clusters(0.1, 1)
    assert alone is not None
    assert (alone.estimated(1000, 3, 1) == 1).all()


def test_a_plan_is_multiplied_by_the_design_effect():
    options = SLOPE | {"assurance": None}
    alone = bc.plan(**options)
    clustered = bc.plan(**options, icc=0.05, cluster_size=20)
    assert clustered.n == pytest.approx(1.95 * 1.04 * alone.n, rel=0.08)  # of some 60 clusters
    assert clustered.clusters == int(np.ceil(clustered.n / 20))
    assert clustered.events == pytest.approx(clustered.n * alone.prevalence)
    assert clustered.closed_form["calibration_slope"] == pytest.approx(
        1.95 * alone.closed_form["calibration_slope"]
    )
    assert f"patients in {clustered.clusters} clusters" in repr(clustered)
    assert "clusters of 20 patients with an intra-cluster correlation of 0.05" in (
        clustered.protocol()
    )
    assert alone.clusters is None
    assert "cluster" not in repr(alone)


@pytest.mark.slow
def test_clustered_studies_of_the_planned_size_are_as_precise_as_planned():
    """Real fits, with `cluster=`, of patients whose effects are normal on the log-odds."""
    truth = bc.simulate.clinical(0.2, "calibrated")
    result = bc.plan(truth=truth, of="observed_expected", width=0.4, assurance=None, icc=0.06,
                     cluster_size=15, curve="logistic", analysis="curve", n_simulations=50,
                     random_state=1)  # fmt: skip
    widths = []
    nodes, weights = np.polynomial.hermite_e.hermegauss(21)
    for k in range(20):
        rng = np.random.default_rng(k)
        cluster = np.arange(result.n) // 15
        x = logit(truth.sample(result.n, random_state=k)[1])
        effect = 0.75 * rng.standard_normal(cluster.max() + 1)[cluster]
        score = expit(x + 0.75 * nodes[:, None]).T @ weights / weights.sum()
        outcome = (rng.random(result.n) < expit(x + effect)).astype(int)
        post = bc.fit(outcome, score, cluster=cluster, curve="logistic", draws=400, random_state=k)
        lower, upper = post.interval("observed_expected")
        widths.append(upper - lower)
    assert np.mean(widths) == pytest.approx(0.4, rel=0.15)


# Refusals


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"icc": 0.1}, "icc was given without cluster_size"),
        ({"cluster_size": 4}, "cluster_size was given without icc"),
        ({"icc": 1.0, "cluster_size": 4}, "icc must be from 0 to below 1, got 1"),
        ({"icc": -0.1, "cluster_size": 4}, "icc must be from 0 to below 1"),
        ({"icc": 0.1, "cluster_size": 0.5}, "cluster_size must be the patients of a cluster"),
        ({"icc": 0.1, "cluster_size": []}, "cluster_size must be"),
        ({"icc": 0.1, "cluster_size": [[3]]}, "cluster_size must be"),
        ({"icc": 0.1, "cluster_size": "many"}, "cluster_size must be"),
    ],
)
def test_refuses(options, message):
    with pytest.raises(InputError, match=message):
        bc.plan(**SLOPE, **options)
