"""Sizes of studies whose patients come in clusters, or from several sites."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

import bayescal as bc
from bayescal.errors import InputError
from bayescal.planning.analysis import Analysis
from bayescal.planning.clusters import as_clusters
from bayescal.planning.setting import setting_of
from bayescal.planning.sites import as_sites

TRUTH = bc.simulate.clinical(0.2, "overconfident")
SLOPE: dict[str, Any] = {
    "truth": TRUTH, "of": "calibration_slope", "width": 0.4, "analysis": "wald",
    "n_simulations": 50, "n_jobs": 1, "random_state": 1,
}  # fmt: skip


# Clusters


@pytest.mark.parametrize(
    ("size", "effect"), [(1, 1.0), (20, 1.95), ([10, 20, 30], 1 + (1400 / 60 - 1) * 0.05)]
)
def test_the_design_effect(size: Any, effect: float) -> None:
    planned = as_clusters(0.05, size)
    assert planned is not None
    assert planned.effect == pytest.approx(effect)


def test_few_clusters_tell_less_than_the_design_effect_says() -> None:
    """By the square of Student's quantile over the normal one, at clusters less one."""
    planned = as_clusters(0.1, 1000)
    assert planned is not None
    longer = (stats.t.ppf(0.975, 4 * 1000 / 999) / stats.norm.ppf(0.975)) ** 2
    assert planned.independent(5000) == pytest.approx(5000 / planned.effect / longer, abs=1)
    assert planned.independent(10**6) == pytest.approx(10**6 / planned.effect, rel=0.01)


def test_widths_differ_by_chance_as_the_design_effect_is_estimated() -> None:
    planned = as_clusters(0.1, 50)
    assert planned is not None
    squares = planned.estimated(1050, 4000, 1) ** 2
    degrees = 20 * 50 / 49
    assert squares.mean() == pytest.approx(1, abs=0.02)
    assert squares.var() == pytest.approx(2 / degrees, rel=0.1)
    alone = as_clusters(0.1, 1)
    assert alone is not None
    assert (alone.estimated(1000, 3, 1) == 1).all()


def test_a_plan_is_multiplied_by_the_design_effect() -> None:
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
def test_clustered_studies_of_the_planned_size_are_as_precise_as_planned() -> None:
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


# Sites


def test_sites_differ_as_they_are_said_to() -> None:
    planned = as_sites([1, 1, 2], {"shift": 0.3, "log_slope": 0.2}, None)
    assert planned is not None
    setting = planned.of(setting_of(TRUTH, None, 2000, 1), 1)
    each = logit(setting.curve.reshape(2000, 3, -1))
    weight = setting.weight.reshape(3, -1)
    assert weight.sum(axis=1) == pytest.approx([0.25, 0.25, 0.5])
    share = weight[0] / weight[0].sum()
    assert (each @ share).std() == pytest.approx(0.3, rel=0.05)
    steep = np.log((each[..., -1] - each[..., 0]) / np.ptp(logit(TRUTH.curve(setting.score_of(0)))))
    assert steep.std() == pytest.approx(0.2, rel=0.05)
    data = setting.table(0, *(counts[0] for counts in setting.part(range(1)).counts(400, 1)))
    assert data.n == 400
    assert len(data.groups) == 3


def test_a_study_of_sites_is_analysed_as_it_will_be() -> None:
    planned = as_sites(6, 0.2, "new site")
    assert planned is not None
    setting = planned.of(setting_of(TRUTH, None, 2, 1), 1)
    data = setting.table(0, *(counts[0] for counts in setting.counts(900, 1)))
    prior = bc.priors.PRESETS["neutral"]
    sites = bc.fit(data, vary="site", curve="logistic", prior=prior, draws=400, random_state=3)
    views = {"average site": sites.average(), "new site": sites.new()}
    widths = {}
    for population, view in views.items():
        own = Analysis("observed_expected", None, 0.03, "sites", "logistic", prior, 0.95, 400,
                       population=population)  # fmt: skip
        lower, upper = view.interval("observed_expected")
        widths[population] = own.result(data, 3)
        assert widths[population] == pytest.approx(upper - lower)
    assert widths["new site"] > 1.2 * widths["average site"]


def test_a_plan_of_sites_says_whose_interval_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """With widths that are known: 10 over the root of the patients."""

    def known(self: Analysis, data: Any, seed: int) -> float:
        assert self.population == "new site"
        assert len(data.groups) in ((8,) if data.n > 100 else range(1, 9))
        return float(10 / np.sqrt(data.n))

    monkeypatch.setattr(Analysis, "result", known)
    result = bc.plan(truth=TRUTH, of="observed_expected", width=0.5, sites=8, heterogeneity=0.4,
                     population="new site", n_simulations=50, n_jobs=1, random_state=1)  # fmt: skip
    assert result.n == pytest.approx(400, abs=2)
    assert result.population == "new site"
    assert "O/E) of the new site no wider than 0.5" in repr(result)
    assert "8 sites, which differ with standard deviations of 0.4 (shift) and 0.2" in repr(result)
    assert result.closed_form == {}


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
        ({"heterogeneity": 0.1}, "heterogeneity was given without sites"),
        ({"population": "new site"}, "population was given without sites"),
        ({"sites": 8}, "heterogeneity is missing"),
        ({"sites": 2, "heterogeneity": 0.1}, "sites must be a whole number from 3 to 200"),
        ({"sites": [1, 2, -3], "heterogeneity": 0.1}, "sites must be their number, from 3 to 200"),
        ({"sites": "all", "heterogeneity": 0.1}, "sites must be"),
        ({"sites": 8, "heterogeneity": -1}, "heterogeneity must be standard deviations from 0"),
        ({"sites": 8, "heterogeneity": {"slope": 1}}, "must have the keys 'shift'"),
        ({"sites": 8, "heterogeneity": 0.1, "population": "all"}, "population must be one of"),
        ({"sites": 8, "heterogeneity": 0.1}, "sites was given with conclude="),
    ],
)
def test_refuses(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bc.plan(**SLOPE, **options)
