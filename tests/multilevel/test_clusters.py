"""Clusters of cases inside sites, periods and factors: cases told several times count once."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.inference.density import CurveDensity, prior_covariance
from bayescal.model.clusters import sandwich
from bayescal.model.problem import prepare
from bayescal.model.pymc import joined_rows
from bayescal.model.rows import every_row
from bayescal.multilevel.clusters import _BetweenGroups, _FittedGroup
from bayescal.multilevel.likelihood import SITE_NODES, of_tables
from bayescal.multilevel.nuts import model_of_terms
from bayescal.multilevel.problem import prepare_terms

SITES, PATIENTS, VISITS = 5, 16, 5
SITE = np.repeat(np.arange(SITES), PATIENTS * VISITS)
PATIENT = np.repeat(np.arange(SITES * PATIENTS), VISITS)
MONTH = np.tile(np.arange(VISITS), SITES * PATIENTS)
RNG = np.random.default_rng(5)
X = RNG.normal(-0.6, 1.0, SITE.size)
OUTCOME = (
    RNG.random(SITE.size)
    < expit(X + 0.25 * RNG.standard_normal(SITES)[SITE] + RNG.standard_normal(400)[PATIENT])
).astype(int)
SCORE = expit(X)
NAMES = ["observed_expected", "calibration_slope", "signed_error"]
OPTIONS = {"curve": "logistic", "random_state": 1, "draws": 4000}


def table(times=1, **roles):
    """The cases, each told several times."""
    own = {name: np.repeat(values, times) for name, values in roles.items()}
    return bc.CalibrationData(np.repeat(OUTCOME, times), np.repeat(SCORE, times), **own)


def problem(vary="site", **roles):
    return prepare_terms(table(**roles), vary, prior="neutral", curve="logistic", random_state=0)


def lengths(view):
    shown = view.summary(names=NAMES)
    return shown["upper"] - shown["lower"], shown["mean"]


def check_alike(one, other, ratio=0.15, apart=0.12):
    """Intervals as long, and at the same place."""
    (length, mean), (again, told) = lengths(one), lengths(other)
    assert ((again / length - 1).abs() < ratio).all(), again / length
    assert ((mean - told).abs() / length < apart).all(), (mean - told) / length


@pytest.fixture(scope="module")
def plain():
    return bc.fit(table(site=SITE), vary="site", **OPTIONS)


@pytest.fixture(scope="module")
def clustered():
    return bc.fit(table(site=SITE, cluster=PATIENT), vary="site", **OPTIONS)


def test_every_case_of_a_site_told_ten_times_is_told_once(plain):
    often = bc.fit(table(10, site=SITE, cluster=np.arange(SITE.size)), vary="site", **OPTIONS)
    for one, other in (
        (plain.average(), often.average()),
        (plain.at(site="2"), often.at(site="2")),
        (plain.new("site"), often.new("site")),
    ):
        check_alike(one, other)
    assert often.heterogeneity.loc["shift", "mean"] == pytest.approx(
        plain.heterogeneity.loc["shift", "mean"], rel=0.1
    )


def test_every_case_of_a_cell_told_ten_times_is_told_once():
    factors = {"sex": PATIENT % 2, "age": (PATIENT // 2) % 2}
    vary = ["sex", "age", bc.by("sex", "age")]
    once = bc.fit(bc.CalibrationData(OUTCOME, SCORE, subgroup=factors), vary=vary, **OPTIONS)
    told = {name: np.repeat(values, 10) for name, values in factors.items()}
    often = bc.CalibrationData(
        *(np.repeat(values, 10) for values in (OUTCOME, SCORE)),
        subgroup=told,
        cluster=np.repeat(np.arange(SITE.size), 10),
    )
    check_alike(once.at(sex="1", age="0"), bc.fit(often, vary=vary, **OPTIONS).at(sex="1", age="0"))


def test_a_cluster_for_each_case_changes_nothing(plain):
    single = bc.fit(table(site=SITE, cluster=np.arange(SITE.size)), vary="site", **OPTIONS)
    pd.testing.assert_frame_equal(single.table(), plain.table())


@pytest.mark.parametrize(
    "roles",
    [
        {},
        {"stratum": PATIENT % 2},
        {"stratum": PATIENT % 2, "sample_weight": np.linspace(0.4, 1.6, SITE.size)},
    ],
)
def test_clusters_of_one_group_are_flattened_as_those_of_one_curve(roles):
    group = prepare(table(cluster=PATIENT, **roles), curve="logistic", random_state=0)
    data = table(site=np.zeros(SITE.size, int), cluster=PATIENT, **roles)
    density = CurveDensity(group.of_single_cases())
    curve = _FittedGroup(group.of_single_cases(), density)
    made = curve.adjustment(*_BetweenGroups(data, [curve]).extra(0))
    at = density.near_mode().point
    precision = np.linalg.pinv(prior_covariance(density, at))
    rows = every_row(group)
    alone = sandwich(replace(group, most_rows=10**6), rows.basis,
                     expit(rows.offset + rows.basis @ made.top), precision)  # fmt: skip
    np.testing.assert_allclose(made.contraction, alone.contraction, atol=0.01)
    assert np.linalg.eigvals(made.contraction).real.min() < 0.9


@pytest.mark.parametrize("roles", [{}, {"stratum": PATIENT % 2}])
def test_what_groups_share_adds_up_to_what_their_cases_share(roles):
    """A cluster in several months: the covariance of the total is that of all cases together."""
    made = problem(bc.walk("period"), period=MONTH, cluster=PATIENT, **roles)
    groups = [group.of_single_cases() for group in made.groups.values()]
    curves = [_FittedGroup(group, CurveDensity(group)) for group in groups]
    between = _BetweenGroups(made.data, curves)
    numbers = range(len(curves))
    seen = sum(
        between._covariance(between.score[between.group == k], between.cluster[between.group == k])
        for k in numbers
    )  # fmt: skip
    rows = np.searchsorted(made.pooled.table.score, SCORE)
    assert np.array_equal(made.pooled.table.score[rows], SCORE)
    total = np.zeros((SITES * PATIENTS, 2))
    for k, (curve, group) in enumerate(zip(curves, made.groups.values(), strict=True)):
        mine = np.flatnonzero(k == MONTH)
        at = np.searchsorted(group.table.score, SCORE[mine])
        score = (OUTCOME[mine] - curve.fitted[at])[:, None] * curve.rows.basis[at]
        np.add.at(total, PATIENT[mine], score)
    if roles:
        for layer in (0, 1):
            own = np.arange(len(total)) % 2 == layer
            total[own] -= total[own].mean(axis=0)
        total *= np.sqrt(40 / 39)
    np.testing.assert_allclose(seen, total.T @ total, rtol=0.06)


def test_a_patient_in_two_sites_is_one_patient(clustered):
    """The average is as uncertain as where each is in one site; without the link it is surer."""
    moved = (SITE + PATIENT * 0 + np.tile([0, 1, 0, 1, 0], SITES * PATIENTS)) % SITES
    linked = bc.fit(table(site=moved, cluster=PATIENT), vary="site", **OPTIONS)
    apart = bc.fit(table(site=moved, cluster=PATIENT + 1000 * moved), vary="site", **OPTIONS)
    assert linked.problem.data.clusters.size == SITES * PATIENTS
    ratio = lengths(linked.at())[0] / lengths(apart.at())[0]
    assert 1.03 < ratio["observed_expected"] < 1.5


def test_the_likelihood_and_its_derivatives_agree():
    made = problem(site=SITE, cluster=PATIENT)
    (part,) = of_tables(made.pooled, made.columns, made.densities(range(SITES), SITE_NODES))
    u, step = np.full((SITES, 2, 1), 0.2), 1e-5
    gradient = part.told(u).gradient[..., 0]
    for k in range(2):
        near = np.repeat(u, 2, axis=2)
        near[:, k] += [step, -step]
        value = part.log_likelihood(near)
        np.testing.assert_allclose(
            gradient[:, k], (value[:, 0] - value[:, 1]) / (2 * step), rtol=1e-4, atol=1e-4
        )
    plain = problem(site=SITE)
    (alone,) = of_tables(plain.pooled, plain.columns, plain.densities(range(SITES), SITE_NODES))
    origin = np.zeros((SITES, 2, 1))
    np.testing.assert_allclose(part.log_likelihood(origin), alone.log_likelihood(origin), atol=1e-4)
    for k, group in enumerate(made.groups.values()):
        density = CurveDensity(group.of_single_cases()).adjusted_by(made.adjustments[k])
        np.testing.assert_allclose(
            part.log_likelihood(u)[k], density.log_likelihood(u[k].T), atol=1e-3
        )


@pytest.mark.slow
def test_the_pymc_model_has_the_same_likelihood():
    made = problem(site=SITE, cluster=PATIENT)
    rows = joined_rows([group.table for group in made.tables.values()], range(SITES))
    model = model_of_terms(made, rows)
    parts = [*model.observed_RVs, model["clusters"]]
    logp = model.compile_logp(parts, mode="FAST_COMPILE")
    named = model.replace_rvs_by_values([model["site_shift"], model["site_log_slope"]])
    coordinates = model.compile_fn(named, mode="FAST_COMPILE")
    densities = [
        CurveDensity(group.of_single_cases()).adjusted_by(made.adjustments[k])
        for k, group in enumerate(made.groups.values())
    ]
    rng, values = np.random.default_rng(0), []
    for _ in range(2):
        point = {
            name: value + 0.3 * rng.standard_normal(np.shape(value))
            for name, value in model.initial_point().items()
        }
        u = np.column_stack(coordinates(point))
        own = sum(float(each.log_likelihood(at[None])[0]) for each, at in
                  zip(densities, u, strict=True))  # fmt: skip
        values.append((float(logp(point)), own))
    (first, own), (second, other) = values
    assert abs(own - other) > 1
    assert first - second == pytest.approx(own - other, abs=1e-3)


def test_sites_of_one_patient_and_without_events_have_curves():
    outcome = np.where(SITE == 3, 0, OUTCOME)
    patient = np.where(SITE == 4, 1000, PATIENT)
    data = bc.CalibrationData(outcome, SCORE, site=SITE, cluster=patient)
    post = bc.fit(data, vary="site", **OPTIONS)
    alone = bc.fit(data.without("cluster"), vary="site", **OPTIONS)
    low, high = post.at(site="3").interval("observed_expected")
    assert high < 1
    assert low >= 0
    assert np.diff(post.at(site="4").interval("signed_error")) > np.diff(
        alone.at(site="4").interval("signed_error")
    )
    assert np.isfinite(post.table().select_dtypes("number")[["tce"]]).all(axis=None)
    assert np.isfinite(post.new("site").interval("tce")).all()
    assert post.diagnostics["pareto_k"] < 0.7


def test_strata_inside_sites_take_their_differences_away():
    """Patients of two wards that differ: with strata, intervals are shorter."""
    ward = PATIENT % 2
    outcome = (np.random.default_rng(3).random(SITE.size) < expit(X + 2.4 * ward - 1.2)).astype(int)
    plain, layered = (
        bc.fit(bc.CalibrationData(outcome, SCORE, site=SITE, cluster=PATIENT, **roles),
               vary="site", **OPTIONS) for roles in ({}, {"stratum": ward})
    )  # fmt: skip
    ratio = lengths(layered.at(site="1"))[0] / lengths(plain.at(site="1"))[0]
    assert ratio["observed_expected"] < 0.9


def test_equal_sampling_weights_of_periods_change_nothing():
    plain = bc.fit(table(period=MONTH), vary=bc.walk("period"), **OPTIONS)
    weighted = bc.fit(
        bc.CalibrationData(OUTCOME, SCORE, np.full(SITE.size, 2.5), weight_type="sampling",
                           period=MONTH), vary=bc.walk("period"), **OPTIONS
    )  # fmt: skip
    check_alike(plain.now(), weighted.now(), 0.1, 0.1)
    np.testing.assert_allclose(weighted.explanations, plain.explanations, atol=0.03)


def test_sampling_weights_and_strata_stand_inside_sites(clustered):
    weight = np.full(SITE.size, 3.0)
    layered = bc.fit(
        bc.CalibrationData(OUTCOME, SCORE, weight, weight_type="sampling", site=SITE,
                           cluster=PATIENT), vary="site", **OPTIONS
    )  # fmt: skip
    check_alike(clustered.average(), layered.average(), 0.1, 0.1)
    check_alike(clustered.at(site="1"), layered.at(site="1"), 0.1, 0.1)


def test_every_case_of_a_month_told_ten_times_is_told_once():
    once = bc.fit(table(period=MONTH), vary=bc.walk("period"), **OPTIONS)
    ids = np.arange(SITE.size)
    often = bc.fit(table(10, period=MONTH, cluster=ids), vary=bc.walk("period"), **OPTIONS)
    check_alike(once.now(), often.now(), 0.2, 0.15)
    np.testing.assert_allclose(often.explanations, once.explanations, atol=0.08)
    naive = bc.fit(table(10, period=MONTH), vary=bc.walk("period"), **OPTIONS)
    assert abs(naive.explanations["constant"] - once.explanations["constant"]) > 0.15
