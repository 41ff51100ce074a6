"""Clusters, strata, weights and imputations beside several curves of times to an event."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.inference.density import CurveDensity
from bayescal.model.clusters import sandwich
from bayescal.model.rows import every_row
from bayescal.model.times_rows import rows_given_steps
from bayescal.multilevel.clusters import _BetweenGroups, _FollowedGroup
from bayescal.multilevel.density import EffectsDensity
from bayescal.multilevel.followed import (
    identity_of_times,
    log_over_steps,
)
from bayescal.multilevel.likelihood import of_tables
from bayescal.multilevel.nuts import model_of_terms
from bayescal.multilevel.problem import prepare_terms

SITES, PATIENTS, VISITS = 4, 40, 3
SITE = np.repeat([f"s{k}" for k in range(SITES)], PATIENTS * VISITS)
PATIENT = np.repeat(np.arange(SITES * PATIENTS), VISITS)
MONTH = np.tile(np.arange(VISITS), SITES * PATIENTS)
LAYER = PATIENT % 2
WEIGHT = np.linspace(0.4, 1.6, SITE.size)
RNG = np.random.default_rng(3)
X = RNG.normal(-0.6, 1.0, SITE.size)
HAD = RNG.random(X.size) < expit(X + RNG.standard_normal(SITES * PATIENTS)[PATIENT])
COMES = np.where(HAD, 5 * RNG.random(X.size), 9.0)
LEFT = RNG.exponential(8, X.size)
RISK = expit(X)
FAST = {"draws": 400, "random_state": 1, "curve": "logistic"}
ROLES = [
    {"site": SITE, "cluster": PATIENT},
    {"site": SITE, "cluster": PATIENT, "stratum": LAYER},
    {"site": SITE, "cluster": PATIENT, "stratum": LAYER, "sample_weight": WEIGHT},
    {"site": SITE, "sample_weight": WEIGHT},
    {"period": MONTH, "cluster": PATIENT},
]


def table(leaving=True, times=1, order=None, **roles):
    """The cases, in another order, or each told several times."""
    time, event = (np.minimum(COMES, LEFT), COMES <= LEFT) if leaving else (COMES, HAD)
    some = np.repeat(np.arange(X.size), times) if order is None else order
    roles = {name: np.asarray(each)[some] for name, each in roles.items()}
    return bc.CalibrationData(bc.Survival(time[some], event[some]), RISK[some], horizon=5, **roles)


def known(**roles):
    return bc.CalibrationData(HAD.astype(int), RISK, **roles)


def problem(data, vary=None):
    vary = vary or (bc.walk("period") if "period" in data.levels else "site")
    return prepare_terms(data, vary, prior="neutral", curve="logistic", random_state=0)


def width(view, name="observed_expected"):
    return float(np.ptp(view.summary(names=[name]).loc[name, ["lower", "upper"]].astype(float)))


@pytest.fixture(scope="module")
def clustered():
    return bc.fit(table(site=SITE, cluster=PATIENT), **FAST)


@pytest.mark.parametrize("roles", ROLES)
def test_without_leaving_the_likelihood_of_each_group_is_that_of_known_outcomes(roles):
    followed, plain = problem(table(leaving=False, **roles)), problem(known(**roles))
    numbers = range(len(plain.labels))
    u = 0.4 * np.random.default_rng(0).standard_normal((40, 2))
    one, other = followed.densities(numbers), plain.densities(numbers)
    for k in numbers:
        ours, theirs = (each[k].log_likelihood(u) for each in (one, other))
        np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], atol=1e-5)


def test_without_leaving_the_posterior_is_that_of_known_outcomes():
    roles = {"site": SITE, "cluster": PATIENT}
    ours, theirs = bc.fit(table(leaving=False, **roles), **FAST), bc.fit(known(**roles), **FAST)
    pd.testing.assert_frame_equal(ours.table(), theirs.table(), atol=1e-5)
    assert ours.loo.elpd == pytest.approx(theirs.loo.elpd, abs=1e-5)


def test_the_sandwich_of_one_group_is_that_of_one_curve():
    made = problem(table(site=SITE, cluster=PATIENT))
    group = made.groups["s1"]
    alone, shared = group.of_single_cases(), made.shared_steps
    curve = _FollowedGroup(alone, 1, shared)
    rows = every_row(group)
    one = sandwich(replace(group, most_rows=10**6), rows.basis, curve.fitted, curve.precision)
    two = curve.adjustment(*_BetweenGroups(group.data, [curve]).extra(0))
    np.testing.assert_allclose(two.contraction, one.contraction, atol=0.05)
    assert np.linalg.eigvals(two.contraction).real.min() < 0.95


def test_groups_together_and_in_blocks_have_the_density_of_each():
    made = problem(table(site=SITE, cluster=PATIENT))
    each = made.densities(range(SITES))
    u = 0.4 * np.random.default_rng(1).standard_normal((SITES, 2, 30))
    for part in of_tables(made.pooled, made.columns, each):
        value = part.log_likelihood(u[list(part.numbers)])
        for number, row in zip(part.numbers, value, strict=True):
            np.testing.assert_allclose(row, each[number].log_likelihood(u[number].T), atol=1e-8)
    assert EffectsDensity(made).parts


def test_exact_calibration_has_the_likelihood_that_it_has_without_clusters():
    one, two = problem(table(site=SITE)), problem(table(site=SITE, cluster=PATIENT))
    assert two.adjustments
    assert identity_of_times(two) == pytest.approx(identity_of_times(one), abs=1e-8)


def test_a_cluster_for_each_case_changes_nothing():
    one = bc.fit(table(site=SITE, cluster=np.arange(SITE.size)), **FAST)
    pd.testing.assert_frame_equal(one.table(), bc.fit(table(site=SITE), **FAST).table())


def test_order_and_the_names_of_clusters_do_not_matter(clustered):
    order = np.random.default_rng(0).permutation(SITE.size)
    names = np.array([f"patient {997 * k % 1009}" for k in PATIENT])
    other = bc.fit(table(site=SITE, cluster=names, order=order), **FAST)
    pd.testing.assert_frame_equal(other.table(), clustered.table(), rtol=1e-6)


def test_exchanged_names_exchange_the_sites(clustered):
    turned = np.array([f"s{SITES - 1 - int(name[1])}" for name in SITE])
    one, other = clustered.problem, problem(table(site=turned, cluster=PATIENT))
    for k in range(SITES):
        ours, theirs = one.adjustments[k], other.adjustments[SITES - 1 - k]
        np.testing.assert_allclose(ours.contraction, theirs.contraction, atol=1e-6)
        np.testing.assert_allclose(ours.top, theirs.top, atol=1e-6)


def test_weights_are_cases_told_as_often():
    weight = np.where(np.arange(SITE.size) % 3, 1, 2)
    order = np.repeat(np.arange(SITE.size), weight)
    told = {"site": SITE, "cluster": PATIENT}
    one = problem(table(**told, sample_weight=weight))
    other = problem(table(**told, order=order))
    for k, ours in one.adjustments.items():
        np.testing.assert_allclose(ours.contraction, other.adjustments[k].contraction, rtol=1e-9)


def test_every_case_told_five_times_is_told_once():
    once = bc.fit(table(site=SITE), **FAST)
    often = bc.fit(table(times=5, site=SITE, cluster=np.arange(SITE.size)), **FAST)
    naive = bc.fit(table(times=5, site=SITE), **FAST)
    for name in ("observed_expected", "calibration_slope"):
        ratio = width(often.at(site="s1"), name) / width(once.at(site="s1"), name)
        assert 0.8 < ratio < 1.2
    assert width(naive.at(site="s1")) < 0.7 * width(once.at(site="s1"))


def test_a_table_is_kept(tmp_path):
    data = table(site=SITE, cluster=PATIENT, stratum=LAYER)
    data.to_netcdf(tmp_path / "table.nc")
    assert bc.CalibrationData.from_netcdf(tmp_path / "table.nc") == data
    alone = table(cluster=PATIENT, order=np.flatnonzero(SITE == "s2"))
    assert data.select(site="s2").without("stratum") == alone


@pytest.mark.slow
@pytest.mark.parametrize("beside", [{}, {"cluster": PATIENT}])
def test_imputations_of_scores_beside_sites(beside):
    time, event = np.minimum(COMES, LEFT), COMES <= LEFT
    noise = 0.3 * np.random.default_rng(0).standard_normal((2, X.size))
    outcome, risks = bc.Survival(time, event), expit(X + noise)
    options = {"horizon": 5, "site": SITE, **beside, **FAST}
    both = bc.fit(outcome, imputation=risks, **options)
    each = [bc.fit(outcome, risk, **options) for risk in risks]
    mean = np.mean([one.table()["observed_expected"] for one in each], axis=0)
    np.testing.assert_allclose(both.table()["observed_expected"], mean, atol=0.03)
    same = bc.fit(outcome, imputation=np.stack([RISK, RISK]), **options)
    one = bc.fit(outcome, RISK, **options)
    ours, theirs = (float(post.table()["observed_expected"].mean()) for post in (same, one))
    assert ours == pytest.approx(theirs, abs=0.02)


def test_imputations_without_leaving_are_those_of_known_outcomes():
    noise = 0.3 * np.random.default_rng(0).standard_normal((2, X.size))
    options = {"site": SITE, "cluster": PATIENT, "imputation": expit(X + noise), **FAST}
    ours = bc.fit(bc.Survival(COMES, HAD), horizon=5, **options)
    theirs = bc.fit(HAD.astype(int), **options)
    pd.testing.assert_frame_equal(ours.table(), theirs.table(), atol=1e-5)


def test_months_and_factors_have_repeated_patients():
    post = bc.fit(table(period=MONTH, cluster=PATIENT), **FAST | {"random_state": 2})
    assert sum(post.explanations) == pytest.approx(1)
    factors = {"sex": PATIENT % 2, "age": PATIENT // 2 % 2}
    time, event = np.minimum(COMES, LEFT), COMES <= LEFT
    crossed = bc.fit(
        bc.Survival(time, event), RISK, horizon=5, subgroup=factors, cluster=PATIENT, **FAST
    )
    assert np.isfinite(crossed.tce().to_numpy()).all()


def test_a_site_with_one_class_has_a_flattened_likelihood_with_its_slope():
    """Where no event came, the linear term keeps the slope of independent cases at the top."""
    time, event = np.minimum(COMES, LEFT), (COMES <= LEFT) & (SITE != "s0")
    data = bc.CalibrationData(bc.Survival(time, event), RISK, horizon=5, site=SITE, cluster=PATIENT)
    made = problem(data)
    density, change = made.densities([0])[0], made.adjustments[0]
    independent = density.adjusted_by(None)
    ours, theirs = (each.by_coefficients(change.top)[1] for each in (density, independent))
    flat = change.contraction.T @ (change.contraction.T @ theirs)
    np.testing.assert_allclose(ours, flat, rtol=1e-8)


def test_steps_beside_clusters_add_what_the_read_curves_have():
    """At curves at which the likelihood is read, all is as of independent cases."""
    plain, made = problem(table(site=SITE)), problem(table(site=SITE, cluster=PATIENT))
    u = np.random.default_rng(2).normal(0, 0.2, (SITES, 5, 2))
    read = []
    for k in range(SITES):
        coefficients = made.pooled.curve.with_offset(u[k])[:, 1:]
        at = made.adjustments[k].read_at(coefficients)
        read.append(np.column_stack([at[:, 0], np.log(at[:, 1])]))
    again = [made.pooled.curve.with_offset(each)[:, 1:] for each in read]
    for k in range(SITES):
        coefficients = made.pooled.curve.with_offset(u[k])[:, 1:]
        np.testing.assert_allclose(again[k], made.adjustments[k].read_at(coefficients), atol=1e-9)
    ours, theirs = log_over_steps(made, list(u)), log_over_steps(plain, read)
    np.testing.assert_allclose(np.diff(ours), np.diff(theirs), atol=1e-6)


@pytest.mark.slow
def test_pymc_has_the_same_density_of_clusters_given_the_steps():
    """But for the constant: at three sets of curves, all nodes at the likeliest steps of Q."""
    pytest.importorskip("pymc")
    made = prepare_terms(
        table(site=SITE, cluster=PATIENT),
        bc.by("site", robust=False),
        prior="neutral",
        curve="logistic",
        random_state=0,
    )
    model, shared = model_of_terms(made), made.shared_steps
    log_density = model.compile_logp(sum=True)
    point, k = model.initial_point(), shared.steps.at.size // 2
    point |= {"step": shared.steps.at[:k], "step_by_score": shared.steps.at[k:]}
    rows = [
        rows_given_steps(group, shared.partial[j], shared.steps)
        for j, group in enumerate(made.groups.values())
    ]
    theirs, ours = [], []
    for shift, slope in ((0.0, 0.0), (0.4, -0.2), (-0.7, 0.3)):
        at = point | {"shift": np.array(shift), "log_slope": np.array(slope)}
        theirs.append(float(log_density(at)))
        u = np.array([[shift, slope]])
        value = made.pooled.prior.logpdf(made.pooled.curve.coordinates, u)[0]
        for j, group in enumerate(made.groups.values()):
            density = CurveDensity(group.of_single_cases(), rows=rows[j])
            value += density.adjusted_by(made.adjustments[j]).log_likelihood(u)[0]
        ours.append(value)
    np.testing.assert_allclose(np.diff(theirs), np.diff(ours), atol=1e-6)
