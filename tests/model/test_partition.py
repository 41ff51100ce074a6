"""Sums over partitions, against enumeration and quadrature."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, log_expit, logit, logsumexp
from scipy.stats import t as student

from bayescal.model import partition as integrals
from bayescal.model.cells import (
    CELLS,
    PartitionPrior,
    cell_edges,
    cell_of,
    cover_of_stretches,
    draw_prior,
    log_prior,
    stretch_nodes,
    weight_of_rows,
)
from bayescal.model.families import spline_frame
from bayescal.model.partition import (
    LEFT,
    LINE,
    RIGHT,
    SHIFT,
    TYPES,
    _OfStretches,
    draw_partitions,
    partition_sums,
    stretch_evidences,
    type_weights,
)
from bayescal.model.pieces import prior_partitions

GRID = np.linspace(-9, 9, 1801)
PRIOR = PartitionPrior(ends=(1.0, 3.0), rho=(0.2, 0.5), hinge=0.0)
HINGED = PartitionPrior(ends=(1.0, 3.0), rho=(0.2, 0.5), hinge=0.4)


def table(rows=12, n=400, seed=0, curve=lambda x: 0.6 * x + 0.3, low=-3.0, high=2.5):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(low, high, rows))
    trials = rng.multinomial(n, np.full(rows, 1 / rows)).astype(float) + 1
    return expit(x), trials, rng.binomial(trials.astype(int), expit(curve(x))).astype(float)


def log_likelihood(x, trials, hits, delta):
    eta = x + delta
    return (hits * log_expit(eta) + (trials - hits) * log_expit(-eta)).sum(axis=-1)


def by_quadrature(score, trials, hits, kind, centre, ends):
    """Evidence of one stretch relative to the diagonal, on a fine grid."""
    x = logit(score)
    base = log_likelihood(x, trials, hits, 0.0)
    step = np.log(GRID[1] - GRID[0])
    if kind != LINE:
        pivot = {SHIFT: None, LEFT: ends[0], RIGHT: ends[1]}[kind]
        shape = np.ones_like(x) if pivot is None else x - pivot
        values = log_likelihood(x, trials, hits, GRID[:, None] * shape) + log_prior(GRID)
        return logsumexp(values) + step - base
    coarse = GRID[::6]
    a, b = np.meshgrid(coarse, coarse)
    delta = a[..., None] + b[..., None] * (x - centre)
    values = log_likelihood(x, trials, hits, delta) + log_prior(a) + log_prior(b)
    return logsumexp(values) + 2 * np.log(coarse[1] - coarse[0]) - base


def evidences_by_quadrature(score, trials, hits, edges, hinges):
    x = logit(score)
    cell = cell_of(x, edges)
    k = edges.size + 1
    ends = np.concatenate([x[:1], edges, x[-1:]])
    information = trials * score * (1 - score)
    out = {}
    for first in range(k):
        for last in range(first, k):
            rows = (cell >= first) & (cell <= last)
            centre = np.average(x[rows], weights=information[rows])
            for kind in range(TYPES if hinges else 2):
                out[first, last, kind] = by_quadrature(
                    score[rows], trials[rows], hits[rows], kind, centre, ends[[first, last + 1]]
                )
    return out


def paths(k):
    """All ways to cut k cells into stretches, on (True) or off the diagonal, never on twice."""
    for cuts in product((False, True), repeat=k - 1):
        bounds = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), k]
        stretches = list(pairwise(bounds))
        for on in product((False, True), repeat=len(stretches)):
            if not any(a and b for a, b in pairwise(on)):
                yield stretches, on


def path_prior(stretches, on, k, m, rho):
    end = min(m / k, 0.9)
    probability = rho / (1 + rho) if on[0] else 1 / (1 + rho)
    for index, (start, stop) in enumerate(stretches):
        probability *= (1 - end) ** (stop - start - 1)
        if index + 1 < len(stretches):
            probability *= end * (1.0 if on[index] else (rho if on[index + 1] else 1 - rho))
    return probability


def enumerate_paths(evidence, k, prior):
    """Log evidence at each (m, rho), relative to the diagonal, and marginals of each cell."""
    log_evidence, marginal = [], []
    for rho in prior.rho:
        for m in prior.ends:
            total, mass, on_cells = 0.0, 0.0, np.zeros(k)
            for stretches, on in paths(k):
                if all(on):
                    continue
                weight = probability = path_prior(stretches, on, k, m, rho)
                for index, (start, stop) in enumerate(stretches):
                    if on[index]:
                        continue
                    left = index > 0 and on[index - 1]
                    right = index + 1 < len(on) and on[index + 1]
                    types = type_weights(left, right, prior.hinge)
                    weight *= sum(
                        types[kind] * np.exp(evidence[start, stop - 1, kind])
                        for kind in range(TYPES)
                        if types[kind] > 0
                    )
                mass += probability
                total += weight
                for index, (start, stop) in enumerate(stretches):
                    on_cells[start:stop] += weight * on[index]
            log_evidence.append(np.log(total / mass))
            marginal.append(on_cells / total)
    return np.array(log_evidence), np.array(marginal)


@pytest.mark.slow
@pytest.mark.parametrize("prior", [PRIOR, HINGED], ids=["lines", "hinges"])
@pytest.mark.parametrize("cells", [1, 3, 5])
@pytest.mark.parametrize("n", [30, 400])
def test_sums_are_those_of_all_partitions(prior, cells, n):
    score, trials, hits = table(n=n, seed=cells)
    edges = cell_edges(score, trials, cells)
    k = edges.size + 1
    assert k == cells
    hinges = prior.hinge > 0
    actual = stretch_evidences(score, trials, hits, edges, hinges)
    exact = evidences_by_quadrature(score, trials, hits, edges, hinges)
    for (first, last, kind), value in exact.items():
        assert actual.log_evidence[kind, actual.index[first, last]] == pytest.approx(value, abs=0.1)
    used = {key: actual.log_evidence[key[2], actual.index[key[0], key[1]]] for key in exact}
    log_evidence, marginal = enumerate_paths(used, k, prior)
    sums = partition_sums(actual, prior)
    np.testing.assert_allclose(sums.by_setting - actual.log_diagonal, log_evidence, atol=1e-9)
    average = logsumexp(log_evidence) - np.log(log_evidence.size)
    assert sums.log_evidence == pytest.approx(actual.log_diagonal + average)
    share = np.exp(log_evidence - logsumexp(log_evidence))
    np.testing.assert_allclose(sums.probability, share, atol=1e-9)
    drawn = draw_partitions(sums, 20_000, np.random.default_rng(0))
    on = ((drawn.shift == 0) & (drawn.slope == 0)).mean(axis=0)
    np.testing.assert_allclose(on, share @ marginal, atol=0.015)
    assert ((drawn.shift != 0) | (drawn.slope != 0)).any(axis=1).all()


def test_prior_sums_to_one_without_the_diagonal():
    score, trials, _ = table()
    edges = cell_edges(score, trials, 5)
    nothing = {(i, j, kind): 0.0 for i in range(5) for j in range(i, 5) for kind in range(TYPES)}
    log_evidence, _ = enumerate_paths(nothing, 5, PRIOR)
    np.testing.assert_allclose(log_evidence, 0, atol=1e-12)
    stretches = stretch_evidences(score, trials * 1e-12, trials * 0, edges)
    sums = partition_sums(stretches, PRIOR)
    np.testing.assert_allclose(sums.by_setting, 0, atol=0.1)  # the quadrature of the prior itself


def test_one_stretch_is_a_line_under_its_prior():
    """Almost no stretch ends and none is on the diagonal: logistic recalibration by quadrature."""
    score, trials, hits = table(n=2000)
    edges = cell_edges(score, trials)
    sums = partition_sums(
        stretch_evidences(score, trials, hits, edges),
        PartitionPrior(ends=(1e-9,), rho=(1e-9,), hinge=0.0),
    )
    one = evidences_by_quadrature(score, trials, hits, np.empty(0), False)
    exact = np.logaddexp(one[0, 0, SHIFT], one[0, 0, LINE]) - np.log(2)
    diagonal = log_likelihood(logit(score), trials, hits, 0.0)
    # Two nodes for each block of rows leave .020 of this, the points of the integral .002.
    assert sums.log_evidence - diagonal == pytest.approx(exact, abs=0.025)


def test_draws_of_a_line_have_its_moments():
    score, trials, hits = table(n=300)
    x = logit(score)
    sums = partition_sums(
        stretch_evidences(score, trials, hits, np.empty(0)), PartitionPrior((1.0,), (0.5,), 0.0)
    )
    drawn = draw_partitions(sums, 40_000, np.random.default_rng(1))
    lines = drawn.slope[:, 0] != 0
    centre = np.average(x, weights=trials * score * (1 - score))
    a, b = np.meshgrid(GRID[::6], GRID[::6])
    delta = a[..., None] + b[..., None] * (x - centre)
    density = log_likelihood(x, trials, hits, delta) + log_prior(a) + log_prior(b)
    weight = np.exp(density - logsumexp(density))
    slope = drawn.slope[lines, 0]
    height = drawn.shift[lines, 0] + centre * slope
    for values, grid in ((height, a), (slope, b)):
        mean = (weight * grid).sum()
        sd = np.sqrt((weight * (grid - mean) ** 2).sum())
        assert values.mean() == pytest.approx(mean, abs=0.06 * sd)
        assert values.std() == pytest.approx(sd, rel=0.08)
    assert np.unique(slope).size > 1000


@given(
    rows=st.integers(1, 200),
    n=st.integers(1, 5000),
    seed=st.integers(0, 10_000),
    hinge=st.sampled_from([0.0, 0.4]),
)
@settings(max_examples=25)
def test_relabelling_changes_nothing(rows, n, seed, hinge):
    score, trials, hits = table(rows, n, seed)
    score, other = expit(logit(score)), expit(-logit(score))[::-1]
    prior = PartitionPrior(hinge=hinge)
    edges, mirrored = cell_edges(score, trials), cell_edges(other, trials[::-1])
    np.testing.assert_allclose(mirrored, -edges[::-1], atol=1e-9)
    here = stretch_evidences(score, trials, hits, edges, hinge > 0)
    there = stretch_evidences(other, trials[::-1], (trials - hits)[::-1], mirrored, hinge > 0)
    np.testing.assert_allclose(
        partition_sums(there, prior).by_setting, partition_sums(here, prior).by_setting, atol=1e-7
    )
    k = here.cells
    swap = [SHIFT, LINE, RIGHT, LEFT]
    mirror = there.index[np.ix_(range(k)[::-1], range(k)[::-1])].T
    np.testing.assert_allclose(
        there.log_evidence[swap][:, mirror[here.index >= 0]],
        here.log_evidence[:, here.index[here.index >= 0]],
        atol=1e-7,
    )


def test_cells_are_few_and_grow_slowly():
    score, _, _ = table(2048, low=-6, high=4)
    sizes = [cell_edges(score, np.full(2048, n / 2048)).size + 1 for n in (200, 2e3, 6e3, 2e4, 1e6)]
    np.testing.assert_allclose(sizes, [CELLS, CELLS, 49, 61, 61])


def test_evidence_is_of_the_counts_alone():
    score, trials, hits = table(rows=60, n=3000)
    edges = cell_edges(score, trials)
    full = stretch_evidences(score, trials, hits, edges)
    twice = np.repeat(score, 2)
    halves = stretch_evidences(
        twice, np.repeat(trials, 2) / 2, np.repeat(hits, 2) / 2, cell_edges(score, trials)
    )
    np.testing.assert_allclose(halves.log_evidence, full.log_evidence, atol=1e-7)


def test_scores_that_differ_by_rounding_share_a_cell():
    score = np.sort(np.concatenate([np.linspace(0.1, 0.9, 40), np.linspace(0.1, 0.9, 40) + 1e-16]))
    score = np.unique(score)
    ones = np.ones(score.size)
    edges = cell_edges(score, ones)
    cell = cell_of(logit(score), edges)
    assert np.unique(cell).tolist() == list(range(edges.size + 1))
    stretches = stretch_evidences(score, ones, ones * (np.arange(score.size) % 2), edges)
    assert np.isfinite(stretches.log_evidence[:2]).all()


@pytest.mark.parametrize("rows", [5, 200, 2048])
def test_nodes_have_the_moments_of_the_rows(rows):
    score, trials, hits = table(rows, 50_000, low=-9, high=6)
    x = logit(score)
    edges = cell_edges(score, trials)
    cell = cell_of(x, edges)
    assert (np.diff(cell) <= 1).all()
    assert cell[0] == 0
    assert cell[-1] == edges.size
    first, last = np.triu_indices(edges.size + 1)
    nodes = stretch_nodes(x, trials, hits, cover_of_stretches(x, cell, first, last))
    assert ((nodes.hits >= 0) & (nodes.hits <= nodes.weight + 1e-9)).all()
    events = [hits[(cell >= i) & (cell <= j)].sum() for i, j in zip(first, last, strict=True)]
    np.testing.assert_allclose(np.add.reduceat(nodes.hits, nodes.start), events, atol=1e-8)
    for power in range(4):
        by_stretch = np.add.reduceat(nodes.weight * nodes.x**power, nodes.start)
        exact = [
            (trials * x**power)[(cell >= i) & (cell <= j)].sum()
            for i, j in zip(first, last, strict=True)
        ]
        np.testing.assert_allclose(by_stretch, exact, rtol=1e-8, atol=1e-6)


@pytest.mark.parametrize(("rows", "count"), [(600, 50), (300, 20), (40, 500), (300, 1)])
@pytest.mark.parametrize("outcomes", ["calibrated", "a step"])
def test_no_stretch_is_likelier_than_the_outcomes_can_be(rows, count, outcomes):
    """Many equal outcomes beside each other: no curve is steep enough to gain without limit."""
    rng = np.random.default_rng(rows)
    score = np.sort(rng.beta(2, 3, rows))
    happened = score > 0.4 if outcomes == "a step" else rng.random(rows) < score
    trials, hits = np.full(rows, float(count)), count * happened.astype(float)
    edges = cell_edges(score, trials)
    stretches = stretch_evidences(score, trials, hits, edges, hinges=True)
    cell = cell_of(logit(score), edges)
    by_cell = np.bincount(cell, -hits * np.log(score) - (trials - hits) * np.log1p(-score))
    below = np.append(0, np.cumsum(by_cell))  # of the diagonal; a perfect curve would have zero
    first, last = np.triu_indices(edges.size + 1)
    assert (stretches.log_evidence <= below[last + 1] - below[first] + 0.05).all()


@pytest.mark.parametrize(("shift", "slope"), [(0.01, 0.0), (0.3, -0.3), (-1.0, -1.0)])
def test_few_nodes_stand_for_many_rows(shift, slope):
    """A million cases on 2048 rows, in one stretch: the likelihood of nodes and of rows."""
    score, trials, hits = table(2048, 1_000_000, low=-8, high=5)
    x = logit(score)
    cell = cell_of(x, cell_edges(score, trials))
    ends = np.array([[0], [cell[-1]]])
    nodes = stretch_nodes(x, trials, hits, cover_of_stretches(x, cell, *ends))
    delta = shift + slope * nodes.x
    nothing = np.zeros((1, delta.size))
    ratio = _OfStretches(nodes, None).ratio(
        np.full((1, 1), shift), np.full((1, 1), slope), delta, nothing, nothing[:, :1]
    )
    exact = log_likelihood(x, trials, hits, shift + slope * x)
    assert ratio[0, 0] == pytest.approx(exact - log_likelihood(x, trials, hits, 0.0), abs=0.2)
    assert nodes.size[0] < 100


@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize("hits", ["none", "all", "some"])
@pytest.mark.parametrize("ends", [(-2.0, 1.0), (-27.0, 27.0), (-27.0, -26.0)])
def test_few_scores_and_one_class(rows, hits, ends):
    score = expit(np.linspace(*ends, rows))
    trials = np.full(rows, 400.0)
    events = {"none": 0 * trials, "all": trials, "some": np.round(0.4 * trials)}[hits]
    edges = cell_edges(score, trials)
    sums = partition_sums(stretch_evidences(score, trials, events, edges, True), HINGED)
    drawn = draw_partitions(sums, 500, np.random.default_rng(0))
    assert np.isfinite(sums.by_setting).all()
    assert np.isfinite(drawn.shift).all()
    assert np.isfinite(drawn.slope).all()
    assert drawn.shift.shape == (500, edges.size + 1)
    assert edges.size + 1 <= rows


def test_prior_draws_are_those_of_the_sums_without_data():
    score, trials, _ = table(rows=80, n=2000)
    edges = cell_edges(score, trials, 9)
    drawn = prior_partitions(score, trials, edges, HINGED, 20_000, np.random.default_rng(0))
    mass, on = np.zeros(4), np.zeros((4, 9))
    for index, (rho, m) in enumerate(product(HINGED.rho, HINGED.ends)):
        for stretches, kinds in paths(9):
            if all(kinds):
                continue
            weight = path_prior(stretches, kinds, 9, m, rho)
            mass[index] += weight
            for (start, stop), is_on in zip(stretches, kinds, strict=True):
                on[index, start:stop] += weight * is_on
    exact = (on / mass[:, None]).mean(axis=0)
    off = (drawn.shift != 0) | (drawn.slope != 0)
    np.testing.assert_allclose(1 - off.mean(axis=0), exact, atol=0.015)
    assert off.any(axis=1).all()


def test_the_prior_of_a_coefficient_is_its_mixture():
    x = np.linspace(-4, 4, 9)
    exact = 0.5 * student.pdf(x, 4, scale=0.25) + 0.5 * student.pdf(x, 4, scale=0.7)
    np.testing.assert_allclose(np.exp(log_prior(x)), exact, rtol=1e-12)
    drawn = draw_prior(np.random.default_rng(0), 20_000)
    cdf = 0.5 * student.cdf(0.5, 4, scale=0.25) + 0.5 * student.cdf(0.5, 4, scale=0.7)
    assert (drawn < 0.5).mean() == pytest.approx(cdf, abs=0.015)


@pytest.mark.parametrize("mirror", [False, True])
def test_cells_and_knots_are_also_where_there_are_many_cases_near_zero_and_one(mirror):
    s = np.random.default_rng(1).beta(0.15, 0.22, 30_000)
    score, count = np.unique(np.clip(1 - s if mirror else s, 1e-12, 1 - 1e-12), return_counts=True)
    trials, x = count.astype(float), logit(score)
    cell = cell_of(x, cell_edges(score, trials))
    assert np.bincount(cell, trials).max() < 0.08 * trials.sum()
    knots = spline_frame(score, trials, 0.5).knots
    assert trials[(x < knots[0]) | (x > knots[-1])].sum() < 0.16 * trials.sum()
    half = score < 0.5
    by_information = trials * np.sqrt(score * (1 - score))
    weight = weight_of_rows(score, trials)
    np.testing.assert_allclose(weight.sum(), trials.sum())
    np.testing.assert_allclose(
        weight[half].sum() / weight.sum(),
        0.3 * trials[half].sum() / trials.sum()
        + 0.7 * by_information[half].sum() / by_information.sum(),
    )


@pytest.mark.parametrize("n", [30, 300])
def test_integrals_of_stretches_do_not_depend_on_their_points(monkeypatch, n):
    """Their errors would add up over partitions, and raise the probability of stretches."""
    score, trials, hits = table(n=n)
    edges, posterior = cell_edges(score, trials), []
    sizes = {"RINGS": 24, "SPOKES": 24, "LEVELS": 48}
    for points in ({name: getattr(integrals, name) for name in sizes}, sizes):
        for name, size in points.items():
            monkeypatch.setattr(integrals, name, size)
        integrals._levels.cache_clear()
        integrals._rings.cache_clear()
        evidences = stretch_evidences(score, trials, hits, edges)
        posterior.append(partition_sums(evidences, PRIOR).log_evidence)
    integrals._levels.cache_clear()
    integrals._rings.cache_clear()
    few, many = posterior
    assert few == pytest.approx(many, abs=0.01)
