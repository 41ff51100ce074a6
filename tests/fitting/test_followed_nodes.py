"""Nodes in the place of followed cases that are known in part, against all of these cases."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit

import bayescal as bc
from bayescal.inference.density import CurveDensity, _expanded_at, sample_importance
from bayescal.model.cells import cell_of
from bayescal.model.partition import stretch_evidences
from bayescal.model.problem import prepare
from bayescal.model.rows import columns_at
from bayescal.model.times import entries_of, grid_of
from bayescal.model.times_rows import Correction, correction_of


def outcomes(n, kind="left by score", seed=5):
    """A wave, hazards that are not proportional, and high risks that leave early."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-1, 1.1, n)
    z, g = (x + 1) / 1.1, expit(x + 0.35 * np.sin(2 * x))
    event = (-rng.exponential(1, n) / np.log1p(-g)) ** np.exp(0.7 * z)
    left = np.minimum(rng.exponential(1, n) / (0.6 * np.exp(0.9 * z)), 2)
    code, entry = (event <= left).astype(int), None
    if kind == "competing":
        other = rng.exponential(1, n) * 2 * np.exp(0.4 * z)
        code = np.where(other < np.minimum(event, left), 2, code)
        left = np.minimum(left, other)
    time = np.minimum(event, left)
    if kind == "delayed":
        entry = np.where(rng.random(n) < 0.5, 0, rng.uniform(0, 0.5, n))
        seen = time > entry
        time, code, entry, x = (each[seen] for each in (time, code, entry, x))
    return bc.Survival(time, code, entry), expit(x)


def problem_of(n, family, kind="left by score"):
    outcome, risk = outcomes(n, kind)
    return prepare(outcome, risk, horizon=1, curve=family, random_state=1)


def at_entries(problem, u):
    """Curves of stretches, or of a smooth family, at every case that is known in part."""
    x = entries_of(problem).partial.x
    if problem.curve.in_cells:
        return problem.probability(u, expit(x))
    return expit(problem.curve.with_offset(u) @ columns_at(problem, x))


def nodes_and_curves(problem, u):
    """The nodes that a fit has, and curves at them."""
    if problem.curve.in_cells:
        nodes = correction_of(problem)
        g = problem.probability(u, expit(nodes.x))
        return _expanded_at(nodes, g.mean(axis=0)), g
    rows = CurveDensity(problem).rows
    return rows.correction, expit(problem.curve.with_offset(u) @ rows.columns)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["left by score", "delayed", "competing"])
@pytest.mark.parametrize("family", ["beta", "spline", "pieces"])
def test_nodes_tell_what_all_cases_tell(family, kind):
    """Over draws of the posterior the difference varies by less than a twentieth."""
    problem = problem_of(20_000, family, kind)
    u = sample_importance(problem, 400).draws[:40]
    nodes, g = nodes_and_curves(problem, u)
    partial = entries_of(problem).partial
    assert nodes.x.size < 700 < partial.size / 7
    every = at_entries(problem, u)
    reference = np.clip(np.interp(partial.x, *_ascending(nodes.x, nodes.g)), 1e-9, 1 - 1e-9)
    cases = Correction(nodes.steps, partial, reference)
    given = nodes.given_steps(g) - cases.given_steps(every)
    assert np.std(given) < 0.05
    assert np.std(_by_steps(nodes, g) - _by_steps(cases, every)) < 0.02
    assert np.std(cases.given_steps(every)) > 1  # so that they do tell of the curve


def _by_steps(nodes, g):
    """What integrating over the steps adds, of each curve."""
    return nodes.log_likelihood(g) - nodes.given_steps(g)


def _ascending(x, values):
    order = np.argsort(x)
    return x[order], values[order]


@pytest.mark.parametrize("kind", ["left by score", "competing"])
def test_the_integral_over_the_steps_is_that_of_each_curve(kind):
    """Expanded once, against Laplace's approximation at the likeliest steps of each curve."""
    problem = problem_of(600, "beta", kind)
    u = sample_importance(problem, 400).draws[:30]
    nodes, g = nodes_and_curves(problem, u)
    partial, each = entries_of(problem).partial, []
    for curve in at_entries(problem, u):
        steps = nodes.steps.likeliest(partial, curve)
        value, _, bend = steps.shares(partial).late(curve, partial.weight)
        log_det = np.linalg.slogdet(steps.information - bend)[1]
        each.append(steps.constant + value - log_det / 2)
    assert np.std(nodes.log_likelihood(g) - each) < 0.01
    assert np.std(_by_steps(nodes, g)) > 0.02


@pytest.mark.parametrize("kind", ["delayed", "competing"])
def test_how_the_curvature_moves_with_the_steps_is_its_derivative(kind):
    problem = problem_of(300, "beta", kind)
    steps, partial = correction_of(problem).steps, entries_of(problem).partial
    shares, g = steps.shares_of(partial), expit(0.3 + 0.8 * partial.x)
    root = np.random.default_rng(4).normal(size=(steps.at.size, steps.at.size))
    matrix = root @ root.T

    def trace(at):
        return (matrix * (steps.of_events(at)[2] - shares(at).late(g, partial.weight)[2])).sum()

    closed = shares(steps.at).slope_of_trace(g, partial.weight, matrix)
    closed += steps.slope_of_trace(matrix)
    moves = 1e-4 * np.eye(steps.at.size)
    by_differences = [(trace(steps.at + up) - trace(steps.at - up)) / 2e-4 for up in moves]
    np.testing.assert_allclose(closed, by_differences, rtol=1e-5, atol=1e-3)


def test_a_grid_of_times_keeps_what_cases_tell_of_any_steps():
    problem = problem_of(30_000, "beta")
    partial, grid = entries_of(problem).partial, grid_of(problem)
    assert grid.size < partial.size / 2
    assert grid.weight.sum() == pytest.approx(partial.weight.sum())
    steps = correction_of(problem).steps
    for shift in (0.0, 0.4):
        at = steps.at + shift * np.sin(np.arange(steps.at.size))
        curves = [
            steps.shares(each, at).late(expit(0.3 + 0.8 * each.x), each.weight)
            for each in (partial, grid)
        ]
        assert curves[0][0] == pytest.approx(curves[1][0], abs=0.1)
        np.testing.assert_allclose(curves[0][1], curves[1][1], atol=0.1)


@pytest.mark.parametrize("kind", ["left by score", "delayed"])
def test_draws_of_stretches_keep_their_worth_in_large_studies(kind):
    """The weights of whole curves do not vary more with more cases."""
    problem = problem_of(200_000, "pieces", kind)
    sample = sample_importance(problem, 400)
    assert sample.ess > 300
    assert sample.log_evidence_error < 0.05


def test_stretches_have_the_likelihood_of_their_nodes():
    """The evidence of lines, against that with each case that is known in part as it is."""
    problem = problem_of(5000, "pieces")
    entries, nodes = entries_of(problem), correction_of(problem)
    edges = np.array(problem.frame.cells[1:-1])
    known = problem.table.score, entries.events + entries.free, entries.events
    late = nodes.late(1.0)
    few = stretch_evidences(*known, edges, late=late)
    partial = entries.partial
    cases = Correction(nodes.steps, partial, expit(partial.x))
    every = stretch_evidences(*known, edges, late=cases.late(1.0))
    assert every.log_diagonal == pytest.approx(few.log_diagonal, abs=0.1)
    # The evidence of one line over more and more cells, relative to the diagonal.
    np.testing.assert_allclose(few.log_evidence[1], every.log_evidence[1], atol=0.1)


def test_cells_have_the_cases_of_their_scores():
    """Means of tied scores, which rounding may move, stay in their cell."""
    rng = np.random.default_rng(3)
    risk = np.repeat(np.linspace(0.05, 0.95, 30), 400)
    event = -rng.exponential(1, risk.size) / np.log1p(-risk)
    left = rng.exponential(1, risk.size)
    outcome = bc.Survival(np.minimum(event, left), event <= left)
    problem = prepare(outcome, risk, horizon=1, curve="pieces", random_state=1)
    nodes, partial = correction_of(problem), entries_of(problem).partial
    edges = np.array(problem.frame.cells[1:-1])
    mine, theirs = (
        np.bincount(cell_of(each.x, edges), each.weight, edges.size + 1)
        for each in (nodes, partial)
    )
    np.testing.assert_allclose(mine, theirs)
    assert nodes.x == pytest.approx(logit(risk)[np.abs(logit(risk) - nodes.x[:, None]).argmin(1)])


def test_tempered_nodes_are_fewer_cases():
    nodes = correction_of(problem_of(2000, "pieces"))
    late, half = nodes.late(1.0), nodes.late(2.0)
    g = expit(late.x + 0.2)
    assert half.log_likelihood(g) == pytest.approx(late.log_likelihood(g) / 2)
    assert late.log_likelihood(g) == pytest.approx(nodes.given_steps(expit(nodes.x + 0.2)[None])[0])
    assert replace(late, constant=0.0).log_likelihood(g) != pytest.approx(late.log_likelihood(g))
