"""Leave-one-out of several curves, held against fits without a case and without a cluster."""

import numpy as np
import pytest
from scipy.special import expit

import bayescal as bc
from bayescal.inference import loo
from bayescal.inference.loo import CasesOfClusters, LikelihoodParts, leave_one_out
from bayescal.model.rows import every_row
from bayescal.multilevel.compared import left_out
from free import given_free

RNG = np.random.default_rng(5)
SIZE, SITES = 40, ("A", "B", "C", "D")
SITE = np.repeat(SITES, SIZE)
X = RNG.normal(-0.7, 1.1, SITE.size)
S = expit(X)
SHIFT = np.repeat([0.5, -0.3, 0.1, 0.0], SIZE)
Y = (RNG.random(SITE.size) < expit(0.8 * X + SHIFT)).astype(int)
CLUSTER = np.repeat(np.arange(20), 8)
EFFECT = 0.8 * RNG.standard_normal(20)
CLUSTER[-16:-8] = 0  # a cluster of two sites
ALIKE = (RNG.random(SITE.size) < expit(0.8 * X + SHIFT + EFFECT[CLUSTER])).astype(int)


def fitted(y, kept, **options):
    roles = {name: values[kept] for name, values in options.items()}
    how = {"curve": "logistic", "draws": 1000, "random_state": 1}
    return given_free(bc.fit(y[kept], S[kept], site=SITE[kept], **roles, **how))


def predicted(post, y, cases):
    """Sum of the log predictive densities of some cases, each by the curve of its site."""
    total = 0.0
    for site in np.unique(SITE[cases]):
        own = cases[SITE[cases] == site]
        g = post.at(site=site).curve(S[own]).to_numpy().reshape(-1, own.size).mean(axis=0)
        total += float(np.log(np.where(y[own] > 0, g, 1 - g)).sum())
    return total


EVERY = np.arange(SITE.size)


@pytest.fixture(scope="module")
def single():
    return fitted(Y, EVERY)


@pytest.fixture(scope="module")
def clustered():
    return fitted(ALIKE, EVERY, cluster=CLUSTER)


@pytest.mark.slow
def test_a_case_left_out_is_predicted_as_by_a_fit_without_it(single):
    """The least expected cases, one after the other."""
    order = np.lexsort((S, -Y, SITE))  # by site, events first, ascending scores
    loo = single.loo
    assert (loo.count == 1).all()
    assert loo.pointwise.size == SITE.size
    for index in np.argsort(loo.pointwise)[:3]:
        case = order[[index]]
        refitted = predicted(fitted(Y, case != EVERY), Y, case)
        assert loo.pointwise[index] == pytest.approx(refitted, abs=0.04)
        assert predicted(single, Y, case) - refitted > 0.04
    assert loo.elpd == pytest.approx(loo.pointwise.sum())
    assert loo.error == pytest.approx(np.sqrt(SITE.size) * loo.pointwise.std())
    assert loo.pareto_k < 0.7


@pytest.mark.slow
def test_a_cluster_left_out_is_predicted_as_by_a_fit_without_it(clustered):
    """The five least expected clusters."""
    names, loo = np.unique(CLUSTER), clustered.loo
    inside = [predicted(clustered, ALIKE, np.flatnonzero(one == CLUSTER)) for one in names]
    refitted = []
    for one in names[np.argsort(inside)[:5]]:
        others = one != CLUSTER
        post = fitted(ALIKE, others, cluster=CLUSTER)
        refitted.append(predicted(post, ALIKE, np.flatnonzero(~others)))
    lowest = np.sort(loo.pointwise)[:5]
    assert loo.pointwise.size == names.size
    assert lowest == pytest.approx(np.sort(refitted), abs=0.25)
    assert sum(sorted(inside)[:5]) - sum(refitted) > 1.5  # what leaving out clusters is for


def test_parts_of_clusters_sum_to_the_likelihood_of_a_site(clustered):
    """But for a constant, by which a part is known."""
    problem = clustered.problem
    change, table = problem.adjustments[0], problem.tables["A"]
    u = RNG.normal(0, 0.3, (20, 2))
    coefficients, rows = problem.pooled.curve.with_offset(u), every_row(table)
    clusters = problem.data.select("A").clusters
    parts = LikelihoodParts.flattened(CasesOfClusters(clusters), rows, coefficients, change)
    total = parts.of(slice(None)).sum(axis=0)
    read = coefficients.copy()
    read[:, 1:] = change.read_at(coefficients[:, 1:])
    fitted_to = rows.log_likelihood(read) + change.beside(coefficients[:, 1:])
    assert np.ptp(total - fitted_to) < 1e-6


def test_many_clusters_are_left_out_in_blocks(clustered, monkeypatch):
    monkeypatch.setattr(loo, "COLUMNS_AT_ONCE", 3)
    again = left_out(clustered._free)
    assert again.pointwise == pytest.approx(clustered.loo.pointwise, rel=1e-9)


def test_single_cases_are_those_of_each_site(single):
    """The curve of a site is all that a case of it enters."""
    own = leave_one_out(single.problem.tables["C"], single._free.groups[2])
    assert single.loo.pointwise[2 * SIZE : 3 * SIZE] == pytest.approx(own.pointwise, rel=1e-9)


def test_periods_have_it_too():
    data = bc.CalibrationData(Y, S, period=np.repeat([1, 2, 3, 4], SIZE))
    loo = bc.fit(data, draws=400, random_state=1).loo
    assert loo.count.sum() == SITE.size
    assert np.isfinite(loo.elpd)


def test_sites_known_alone_and_imputations_are_refused():
    known = {"site": ["X", "Y"], "n": [400, 300], "observed": [60, 40], "expected": [55, 45]}
    alone = bc.fit(None, S, known=known, curve="intercept", draws=400, random_state=1)
    with pytest.raises(bc.errors.InputError, match="known by their summaries alone"):
        _ = alone.loo
    twice = bc.fit(Y, imputation=[S, S**1.1], site=SITE, draws=400, random_state=1)
    with pytest.raises(bc.errors.InputError, match=r"imputations\[0\].loo"):
        _ = twice.loo
    assert np.isfinite(twice.imputations[0].loo.elpd)
