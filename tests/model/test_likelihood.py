"""Gauss nodes of the scores in place of rows: the likelihood of every row, to rounding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

import bayescal as bc
from bayescal.inference.density import CurveDensity, sample_importance
from bayescal.model.cells import gauss_of_groups, gauss_rule
from bayescal.model.problem import prepare
from bayescal.model.rows import at_nodes, every_row

DRAWS = 400


def t4(rng, n):
    return rng.standard_t(4, n)


def two_humps(rng, n):
    return np.where(rng.random(n) < 0.5, -3.0, 3.0) + 0.7 * rng.standard_normal(n)


def beta_like(rng, n):
    share = rng.beta(2, 3, n)
    return np.log(share) - np.log1p(-share)


def uniform(rng, n):
    share = rng.random(n)
    return np.log(share) - np.log1p(-share)


def shifted(rng, n):
    return rng.normal(5, 3, n)


def heavy(rng, n):
    """Log-odds far beyond those of the edges, so that many scores are 0 and 1."""
    return 60 * rng.standard_t(4, n)


def mass(rng, n):
    """A tight mass beside a bulk, whose rows nearly coincide."""
    return np.where(rng.random(n) < 0.5, 1 + 1e-9 * rng.random(n), rng.standard_normal(n))


def ends(rng, n):
    return np.where(
        rng.random(n) < 0.6, rng.choice([-np.inf, np.inf], n), 2 * rng.standard_normal(n)
    )


LAWS = (t4, two_humps, beta_like, uniform, shifted, heavy, mass, ends)


def cases(law, n, seed=1, slope=0.8, weighted=False):
    rng = np.random.default_rng(seed)
    x = law(rng, n)
    y = rng.random(n) < expit(0.3 + slope * np.clip(x, -27, 27))
    weight = rng.uniform(0.1, 3, n) if weighted else None
    return bc.CalibrationData(y, expit(x), sample_weight=weight)


def largest_error(problem):
    """Of the log likelihood, against every row of the table, over posterior draws."""
    draws = sample_importance(problem, DRAWS).draws
    exact = CurveDensity(problem, rows=every_row(problem)).log_likelihood(draws)
    return float(np.abs(CurveDensity(problem).log_likelihood(draws) - exact).max())


@pytest.mark.parametrize("law", [t4, two_humps, beta_like, uniform, shifted])
@pytest.mark.parametrize("n", [500, 2000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("curve", ["intercept", "temperature", "logistic", "beta"])
def test_the_likelihood_is_that_of_every_row(law, n, curve):
    problem = prepare(cases(law, n), curve=curve, random_state=1)
    assert CurveDensity(problem).rows.size < problem.table.score.size
    assert largest_error(problem) < 1e-6


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(LAWS), min_size=1, max_size=3),
    st.floats(1, 6),
    st.floats(-2, 2),
    st.floats(0.2, 4),
    st.integers(0, 1000),
    st.booleans(),
)
def test_whatever_the_law_of_the_scores(laws, digits, moved, slope, seed, weighted):
    def law(rng, n):
        which, parts = rng.integers(len(laws), size=n), [each(rng, n) for each in laws]
        return moved + np.choose(which, parts)

    data = cases(law, int(10**digits), seed, slope, weighted)
    assert largest_error(prepare(data, curve="beta", random_state=1)) < 1e-5


def test_more_nodes_are_taken_where_curves_are_steep():
    sizes = [
        CurveDensity(prepare(cases(two_humps, 2000, slope=slope), random_state=1)).rows.size
        for slope in (1, 4)
    ]
    assert sizes[0] == 32 < sizes[1]


def test_events_are_summed_over_every_row():
    problem = prepare(cases(uniform, 2000), random_state=1)
    offset, basis = problem.curve.basis(problem.table.score, problem.frame)
    rows = CurveDensity(problem).rows
    np.testing.assert_array_equal(rows.events, problem.table.hits @ basis)
    assert rows.constant == problem.table.hits @ offset
    assert rows.trials.sum() == pytest.approx(2000, abs=1e-9)
    assert (rows.trials > 0).all()


def test_few_scores_stay_as_they_are():
    problem = prepare(cases(uniform, 32), curve="beta", random_state=1)
    np.testing.assert_array_equal(CurveDensity(problem).rows.basis, every_row(problem).basis)


@pytest.mark.parametrize("curve", ["spline", "pieces"])
def test_curves_that_bend_at_knots_keep_merged_rows(curve):
    problem = prepare(cases(uniform, 2000), curve=curve, random_state=1)
    assert CurveDensity(problem).rows.size == problem.score.size > 32


@pytest.mark.parametrize("law", LAWS)
def test_relabelled_scores_have_mirrored_nodes(law):
    data = cases(law, 1500)
    inside = np.clip(data.score, 0.01, 0.99)
    ours, theirs = (
        prepare(bc.CalibrationData.from_counts(s, data.trials, k), curve="beta", random_state=1)
        for s, k in ((inside, data.hits), (1 - inside, data.trials - data.hits))
    )
    u = np.random.default_rng(1).normal(0, 0.3, (20, 3))
    mirrored = u * [-1, 1, -1]
    one, other = (CurveDensity(problem) for problem in (ours, theirs))
    np.testing.assert_allclose(
        one.log_likelihood(u), other.log_likelihood(mirrored), rtol=1e-12, atol=1e-9
    )
    np.testing.assert_allclose(one.rows.trials, other.rows.trials[::-1], rtol=1e-8, atol=1e-9)


def test_repeats_and_weights_are_one_thing():
    y, s = bc.simulate.sample("D1", 400, random_state=1)
    count = np.random.default_rng(1).integers(1, 4, 400)
    u = np.random.default_rng(1).normal(0, 0.3, (20, 3))
    values = [
        CurveDensity(problem).log_likelihood(u)
        for problem in (
            prepare(np.repeat(y, count), np.repeat(s, count), random_state=1),
            prepare(y, s, sample_weight=count, random_state=1),
        )
    ]
    np.testing.assert_array_equal(*values)


@given(
    st.lists(st.integers(-27_000, 27_000), min_size=3, max_size=40, unique=True),
    st.integers(1, 8),
    st.integers(0, 99),
)
def test_a_rule_is_exact_for_polynomials(points, count, seed):
    x = np.sort(points) / 1000  # scores nearer to each other than rounding are one
    weight = np.random.default_rng(seed).uniform(0.1, 5, x.size)
    nodes, own = gauss_rule(x, weight, min(count, x.size))
    assert (own > 0).all()
    assert x[0] - 1e-9 <= nodes[0] <= nodes[-1] <= x[-1] + 1e-9
    assert (np.diff(nodes) > 0).all()
    for power in range(2 * nodes.size):
        exact = weight @ (x / 27) ** power
        assert own @ (nodes / 27) ** power == pytest.approx(exact, abs=1e-11 * weight.sum())


def test_rows_that_coincide_end_the_recurrence():
    x = np.array([-1.0, -1.0, 0.5, 0.5, 0.5])
    nodes, weight = gauss_rule(x, np.ones(5), 4)
    np.testing.assert_allclose(nodes, [-1, 0.5], atol=1e-14)
    np.testing.assert_allclose(weight, [2, 3])
    nodes, weight = gauss_rule(np.full(3, 2.0), np.ones(3), 2)
    np.testing.assert_allclose(nodes, [2])
    np.testing.assert_allclose(weight, [3])


@pytest.mark.parametrize("count", [1, 2, 3])
def test_rules_of_groups_are_those_of_each(count):
    """Also of groups of one row, and of rows that coincide."""
    rng = np.random.default_rng(count)
    sizes = [9, 1, 5, 4, 30]
    x, weight = rng.normal(0, 2, sum(sizes)), rng.uniform(0.1, 5, sum(sizes))
    x[10:14] = 1.5
    start = np.cumsum([0, *sizes[:-1]])
    nodes, total, split = gauss_of_groups(x, weight, start, count)
    value = rng.normal(size=x.size)
    for k, (first, size) in enumerate(zip(start, sizes, strict=True)):
        rows = slice(first, first + size)
        own, some = weight[rows], total[k] > 1e-12
        for power in range(2 * count):
            exact = own @ x[rows] ** power
            assert total[k, some] @ nodes[k, some] ** power == pytest.approx(exact)
        assert own @ split[rows] == pytest.approx(total[k])
        shared = (own * value[rows]) @ split[rows]
        for power in range(count):
            exact = own @ (value[rows] * x[rows] ** power)
            distinct = np.unique(x[rows]).size
            if power < distinct:
                assert shared @ nodes[k] ** power == pytest.approx(exact, abs=1e-9)
    assert (total > 1e-12).sum(axis=1).tolist() == [
        min(count, np.unique(each).size) for each in np.split(x, start[1:])
    ]


def test_nodes_near_one_have_the_log_odds_that_are_wanted():
    """A score has few digits of its distance to 1, where many cases may be."""
    rng = np.random.default_rng(1)
    y, s = rng.random(40_000) < 0.999, 1 - 1e-12 * (1 + rng.integers(0, 400, 40_000))
    problem = prepare(y, s, curve="beta", random_state=1)
    every, u = every_row(problem), np.array([[0.3, -0.4, 0.5], [-1.0, -1.5, 0.2]])
    coefficients = problem.curve.with_offset(u)
    exact = every.log_likelihood(coefficients)
    nodes = at_nodes(problem, every, 16)
    assert nodes.size == 16
    np.testing.assert_allclose(nodes.log_likelihood(coefficients), exact, atol=1e-6)
