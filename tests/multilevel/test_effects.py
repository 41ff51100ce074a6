"""Groups with effects: against NUTS, against sites, and what must not change them."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm, t

import bayescal as bc
from bayescal.core.sampling import even_points
from bayescal.inference.curve import as_sampler
from bayescal.model.priors import Heterogeneity, Normal, Prior
from bayescal.multilevel.density import EffectsDensity
from bayescal.multilevel.draws import effects_of_prior
from bayescal.multilevel.nuts import sample_terms_nuts
from bayescal.multilevel.problem import MultilevelProblem, prepare_terms
from bayescal.multilevel.sample import draw_effects, draw_effects_at
from bayescal.multilevel.term import Term

SCALES = Heterogeneity()


def table(of_group, n=80, seed=1, shifts=None, mean=-1.0):
    """Cases of groups, named so that their order is that of their number."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(of_group), n)
    x = rng.normal(mean, 1.2, group.size)
    moved = np.zeros(of_group) if shifts is None else np.asarray(shifts)
    y = (rng.random(group.size) < expit(x + moved[group])).astype(int)
    labels = np.array([f"group {k:02d}" for k in group])
    return bc.CalibrationData(y, expit(x), site=labels)


def prepared(data, terms, **options):
    """The problem of these tables with any terms."""
    return replace(prepare_terms(data, **options), terms=tuple(terms))


def walk(periods=6, curve="logistic", elapsed=None, prior="neutral", scales=SCALES, **options):
    shifts = np.where(np.arange(periods) < periods // 2, -0.4, 0.5)
    data = table(periods, shifts=shifts, **options)
    steps = (1.0,) * (periods - 1) if elapsed is None else elapsed
    term = Term("month", "walk", data.groups, tuple(range(periods)), scales, steps)
    return prepared(data, [term], prior=prior, curve=curve, random_state=1)


def crossed(shape=(2, 3), curve="logistic", prior="neutral", **options):
    levels = list(product(*map(range, shape)))
    shifts = [0.3 * a - 0.2 * b for a, b in levels]
    data = table(len(levels), shifts=shifts, **options)
    terms = [
        Term(f"factor {k}", "exchangeable", tuple(map(str, range(size))), of_group, SCALES)
        for k, (size, of_group) in enumerate(zip(shape, zip(*levels, strict=True), strict=True))
    ]
    return prepared(data, terms, prior=prior, curve=curve, random_state=1)


def sites_and_periods(sites=3, periods=4, curve="logistic", prior="neutral", **options):
    """Each site in each period."""
    levels = list(product(range(sites), range(periods)))
    data = table(len(levels), shifts=[0.3 * a - 0.2 * b for a, b in levels], **options)
    of_site, of_period = zip(*levels, strict=True)
    steps = tuple(np.full(periods - 1, 1 / (periods - 1)))
    terms = [
        Term("site", "exchangeable", tuple(map(str, range(sites))), of_site, SCALES),
        Term("period", "walk", tuple(map(str, range(periods))), of_period, SCALES, steps),
    ]
    return prepared(data, terms, prior=prior, curve=curve, random_state=1)


def dense_log_integral(problem, point):
    """Laplace's approximation with all effects in one matrix, of a logistic curve, row by row."""
    r, terms = 2, problem.terms
    scales = [term.prior.scales(point[None, r * k :][:, :r], problem.varying)[0]
              for k, term in enumerate(terms)]  # fmt: skip
    design = [np.ones((len(problem.labels), 1))]
    design += [term.design[list(term.of_group)] for term in terms]
    factor = [np.ones(r), *scales]
    columns = np.hstack(
        [np.kron(each, np.diag(scale)) for each, scale in zip(design, factor, strict=True)]
    ).reshape(len(problem.labels), r, -1)
    middle = logit(problem.pooled.frame.centre)
    rows = [group.table for group in problem.groups.values()]

    def evaluated(z):
        prior = [problem.pooled.prior.of(name) for name in problem.varying]
        spread = np.array([*(law.sigma for law in prior), *np.ones(z.size - r)])
        value = norm.logpdf(z, 0, spread).sum()
        gradient, information = -z / spread**2, np.diag(1 / spread**2)
        for own, table in zip(columns, rows, strict=True):
            shift, log_slope = own @ z
            x = logit(table.score) - middle
            eta = middle + shift + np.exp(log_slope) * x
            by = np.column_stack([np.ones(x.size), np.exp(log_slope) * x]) @ own
            mean = expit(eta)
            value += table.hits @ eta - table.trials @ np.logaddexp(0, eta)
            gradient = gradient + by.T @ (table.hits - table.trials * mean)
            information = information + (by.T * (table.trials * mean * (1 - mean))) @ by
        return value, gradient, information

    z = np.zeros(columns.shape[2])
    for _ in range(40):
        value, gradient, information = evaluated(z)
        z = z + np.linalg.solve(information, gradient)
    value, _, information = evaluated(z)
    log_det = np.linalg.slogdet(information / (2 * np.pi))[1]
    return value - log_det / 2 + norm.logpdf(point).sum()


def named(drawn):
    """All draws of a fit as arrays whose first axis is the draw."""
    yield "average", drawn.average
    yield "groups", drawn.groups.transpose(1, 0, 2)
    for number, (scales, effects) in enumerate(zip(drawn.scales, drawn.effects, strict=True)):
        yield f"scales {number}", np.log(scales)
        yield f"effects {number}", effects.transpose(1, 0, 2)


@pytest.mark.slow
def test_both_engines_agree():
    """On levels that are exchangeable and levels in order at once, under priors with t tails."""
    problem = sites_and_periods(2, 3, prior="clinical")
    fast = draw_effects(problem, 16_000)
    slow = sample_terms_nuts(problem, 6000, as_sampler({"target_accept": 0.98}))
    assert fast.verdict == "ok"
    assert slow.stats["r_hat"] < 1.03
    for (name, one), (_, other) in zip(named(fast), named(slow), strict=True):
        sd = np.maximum(other.std(axis=0), 1e-9)
        assert np.abs((one.mean(axis=0) - other.mean(axis=0)) / sd).max() < 0.12, name
        ratio = np.maximum(one.std(axis=0), 1e-9) / sd
        # The largest of some sixty ratios, each with an error of .04 of the reference itself.
        assert 0.85 < ratio.min() <= ratio.max() < 1.18, name


@pytest.mark.parametrize(
    "problem",
    [walk(4, elapsed=(1.0, 2.0, 1.0)), crossed(), sites_and_periods()],
    ids=["walk", "crossed factors", "sites and periods"],
)
def test_the_log_integral_is_that_of_dense_algebra(problem):
    check_log_integral(problem)


def check_log_integral(problem):
    """As it stands with one Newton step from the quadratic that is kept, and with several."""
    density = EffectsDensity(problem)
    points = np.random.default_rng(2).normal(size=(4, density.size)) * 0.5
    expected = [dense_log_integral(problem, point) for point in points]
    np.testing.assert_allclose(density(points), expected, rtol=0, atol=2e-3)
    density.steps = 6
    np.testing.assert_allclose(density(points), expected, rtol=0, atol=1e-5)  # of nodes


def test_the_interaction_of_two_factors_is_eliminated_group_by_group():
    """Each cell is a level by itself, and has a way of its own through the algebra."""
    problem = crossed((3, 3))
    cells = Term("cells", "exchangeable", problem.labels, tuple(range(9)), SCALES)
    problem = replace(problem, terms=(*problem.terms, cells))
    assert EffectsDensity(problem).layout.is_level
    check_log_integral(problem)


def test_the_weights_correct_laplaces_integral_to_the_exact_one():
    """Of two sites of a few patients, against sums over grids of the average and of each site."""
    data = bc.CalibrationData([0, 1, 1, 0, 0], [0.2, 0.3, 0.6, 0.4, 0.1], site=list("aabbb"))
    term = Term("site", "exchangeable", ("a", "b"), (0, 1), Heterogeneity(shift=2.0))
    problem = prepared(data, [term], prior="neutral", curve="intercept", random_state=1)
    density, point = EffectsDensity(problem), np.array([[1.0]])
    scale = density.heterogeneity(point)[0][0, 0, 0]
    average, effect = np.linspace(-6, 6, 401), np.linspace(-8, 8, 801) * scale
    total = norm.pdf(average)
    for label in "ab":
        table = problem.groups[label].table
        eta = logit(table.score) + (average[:, None] + effect)[..., None]
        likelihood = np.exp(eta @ table.hits - np.logaddexp(0, eta) @ table.trials)
        total = total * (likelihood @ norm.pdf(effect, 0, scale)) * (effect[1] - effect[0])
    exact = np.log(total.sum() * (average[1] - average[0]))
    peaks = density.peaks(point)
    weights = np.exp(
        draw_effects_at(
            density, peaks, np.zeros(40_000, np.intp), np.random.default_rng(1)
        ).log_weight
    )
    assert abs(peaks.log_integral[0] - exact) > 0.01
    assert peaks.log_integral[0] + np.log(weights.mean()) == pytest.approx(exact, abs=0.005)


@pytest.mark.parametrize("r", [1, 2])
def test_points_of_a_set_balance_and_each_has_the_law(r):
    points = even_points((3, r, 4000), 8, np.random.default_rng(1))
    assert np.abs(points.sum(axis=-1)).max() < 1e-9
    levels = np.array([0.1, 0.7, 0.95])
    for column in range(r):
        quantiles = np.quantile(points[:, column], levels)
        np.testing.assert_allclose(quantiles, t.ppf(levels, 8), atol=0.04)


def test_sites_whose_shift_and_slope_are_independent_are_an_exchangeable_term():
    data = table(7, shifts=[-0.6, -0.3, 0, 0.1, 0.2, 0.5, 0.6])
    sites = prepare_terms(
        *(data, bc.by("site", robust=False, prior=Heterogeneity(correlation=1e5))),
        prior="neutral",
        curve="logistic",
        random_state=1,
    )
    independent = replace(sites, terms=(replace(sites.terms[0], correlated=False),))
    expected, drawn = draw_effects(sites, 16_000), draw_effects(independent, 16_000)
    assert drawn.stats["log_evidence"] == pytest.approx(expected.stats["log_evidence"], abs=0.05)
    for one, other in (
        (drawn.groups, expected.groups),
        (drawn.average[None], expected.average[None]),
        (drawn.scales, expected.scales),
    ):
        sd = other.std(axis=1)
        np.testing.assert_allclose((one.mean(axis=1) - other.mean(axis=1)) / sd, 0, atol=0.08)
        np.testing.assert_allclose(one.std(axis=1) / sd, 1, atol=0.08)


def test_laplace_is_exact_where_the_curve_has_no_part():
    """Without a case that informs, the integral over the latent variables is the likelihood."""
    data = bc.CalibrationData.from_counts([0.5, 0.5], [2, 2], [1, 1], site=["a", "b"])
    tight = Prior(shift=Normal(0, 1e-3), log_slope=Normal(0, 1e-3))
    scales = Heterogeneity(shift=1e-3, log_slope=1e-3)
    term = Term("site", "exchangeable", ("a", "b"), (0, 1), scales)
    problem = prepared(data, [term], prior=tight, curve="logistic", random_state=1)
    point = np.array([[0.3, -0.2]])
    expected = 4 * np.log(0.5) + norm.logpdf(point).sum()
    assert EffectsDensity(problem)(point)[0] == pytest.approx(expected, abs=1e-4)


def test_steps_of_a_walk_are_those_of_its_time():
    """Two steps of one unit, and one of two units, have the same variance in between."""
    drawn = walk(3, elapsed=(1.0, 4.0)).terms[0].design
    np.testing.assert_allclose(drawn, [[0, 0], [1, 0], [1, 2]])


def test_prior_draws_have_the_scales_of_the_prior():
    drawn = effects_of_prior(walk(3, n=5, elapsed=(1.0, 4.0)), 16_000, 4)
    assert np.median(drawn.scales[0][:, 0]) == pytest.approx(0.3 * 0.765, abs=0.01)
    ratio = (drawn.effects[0][2] - drawn.effects[0][1]) / drawn.scales[0]
    np.testing.assert_allclose(ratio.std(axis=0), 2, atol=0.06)
    assert (drawn.effects[0][0] == 0).all()


@pytest.mark.parametrize("curve", ["intercept", "temperature", "logistic", "beta"])
def test_hard_groups_have_an_answer(curve):
    """No event, events alone, one patient, one score."""
    y = np.concatenate([np.tile([0, 1], 20), np.zeros(8), np.ones(3), [1], [0, 1, 0]])
    s = np.concatenate([np.linspace(0.1, 0.9, 40), np.linspace(0.05, 0.6, 8), [0.2, 0.3, 0.9, 0.4]])
    s = np.concatenate([s, [0.3, 0.3, 0.3]])
    labels = np.repeat(["usual", "no event", "events", "single", "one score"], [40, 8, 3, 1, 3])
    data = bc.CalibrationData(y, s, site=labels)
    term = Term("site", "exchangeable", data.groups, tuple(range(5)), SCALES)
    problem = prepared(data, [term], prior="neutral", curve=curve, random_state=1)
    drawn = draw_effects(problem, 4000)
    assert drawn.verdict == "ok"
    assert drawn.groups.shape == (5, 4000, problem.pooled.curve.size)
    assert all(np.isfinite(values).all() for _, values in named(drawn))


def test_the_order_of_levels_of_a_factor_has_no_part():
    problem = crossed()
    term, other = problem.terms
    turned = Term(
        "factor 0", "exchangeable", ("1", "0"), tuple(1 - k for k in term.of_group), SCALES
    )
    one = draw_effects(problem, 8000)
    again = draw_effects(replace(problem, terms=(turned, other)), 8000)
    sd = one.effects[0].std(axis=1)
    off = (one.effects[0].mean(axis=1) - again.effects[0][::-1].mean(axis=1)) / sd
    np.testing.assert_allclose(off, 0, atol=0.06)


def test_a_level_without_a_group_is_drawn_from_the_others():
    problem = crossed()
    term, other = problem.terms
    unseen = Term("factor 0", "exchangeable", ("0", "1", "2"), term.of_group, SCALES)
    drawn = draw_effects(replace(problem, terms=(unseen, other)), 8000)
    standard = drawn.effects[0][2] / drawn.scales[0]
    np.testing.assert_allclose(standard.mean(axis=0), 0, atol=0.05)
    np.testing.assert_allclose(standard.std(axis=0), 1, atol=0.05)


def test_a_problem_is_read_back_from_its_attributes():
    problem = walk(4, elapsed=(1.0, 2.0, 1.0))
    again = MultilevelProblem.from_attributes(problem.to_attributes(), problem.data)
    assert again.terms == problem.terms
    assert (draw_effects(again, 400).average == draw_effects(problem, 400).average).all()
