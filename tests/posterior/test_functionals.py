"""Functionals against their definitions, worked out another way."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats
from scipy.special import expit, logit

import bayescal as bc
from bayescal import functionals as f
from bayescal.core.optimise import binomial_mle
from bayescal.errors import InputError
from bayescal.posterior.functionals import SECTIONS, UNITS
from bayescal.posterior.population import Population, draw_population

RNG = np.random.default_rng(0)
SCORE = np.sort(RNG.beta(2, 3, 40))
WEIGHT = RNG.dirichlet(np.ones(40), 25)
CURVE = expit(RNG.normal(0, 0.6, (25, 1)) + RNG.lognormal(0, 0.3, (25, 1)) * logit(SCORE))
DRAWS = f.CurveDraws(CURVE, Population(SCORE, WEIGHT))


def one_by_one(function):
    return np.array([function(g, w) for g, w in zip(CURVE, WEIGHT, strict=True)])


def large_by_root(g, w):
    def excess(a):
        return w @ expit(logit(SCORE) + a) - w @ g

    return optimize.brentq(excess, -20, 20, xtol=1e-13)


def line_by_regression(g, w):
    basis = np.column_stack([np.ones(SCORE.size), logit(SCORE)])
    return binomial_mle(basis, w, w * g)[0]


def cloglog_by_root(g, w):
    """Where the derivatives of the binomial log likelihood with this link vanish."""
    x = np.log(-np.log(1 - SCORE))

    def slope(line):
        hazard = np.exp(line[0] + line[1] * x)
        each = w * hazard * (g / (1 - np.exp(-hazard)) - 1)
        return each.sum(), each @ x

    return optimize.root(slope, [0.0, 1.0], tol=1e-13).x


def quantile_by_sorting(q):
    def by_sorting(g, w):
        error = np.abs(g - SCORE)
        order = np.argsort(error)
        return error[order][np.searchsorted(np.cumsum(w[order]), q)]

    return by_sorting


def most_lost(g, w):
    """The loss just above and at every threshold that a score or a curve makes special."""
    special = np.concatenate([[1e-9, 0.5], SCORE, g])
    at = [t for t in np.concatenate([special, special + 1e-9]) if 0 < t <= 0.5]
    return max(w @ ((g - t) * ((g >= t) * 1.0 - (t <= SCORE))) / (1 - t) for t in at)


BY_DEFINITION = {
    "tce": lambda g, w: w @ np.abs(g - SCORE),
    "ici": lambda g, w: w @ np.abs(g - SCORE),
    "e50": quantile_by_sorting(0.5),
    "e90": quantile_by_sorting(0.9),
    "emax": lambda g, w: np.abs(g - SCORE).max(),
    "signed_error": lambda g, w: w @ (g - SCORE),
    "observed_expected": lambda g, w: (w @ g) / (w @ SCORE),
    "calibration_in_the_large": large_by_root,
    "calibration_intercept": lambda g, w: line_by_regression(g, w)[0],
    "calibration_slope": lambda g, w: line_by_regression(g, w)[1],
    "cloglog_intercept": lambda g, w: cloglog_by_root(g, w)[0],
    "cloglog_slope": lambda g, w: cloglog_by_root(g, w)[1],
    "net_benefit_lost": most_lost,
    "kl_error": lambda g, w: w @ (g * np.log(g / SCORE) + (1 - g) * np.log((1 - g) / (1 - SCORE))),
    "cutoff_error": lambda g, w: max(
        abs((w * (g - SCORE))[i:j].sum()) for i in range(40) for j in range(i + 1, 41)
    ),
}


@pytest.mark.parametrize("name", f.FUNCTIONALS)
def test_functional_is_its_definition(name):
    actual = f.FUNCTIONALS[name].compute(DRAWS)
    np.testing.assert_allclose(actual, one_by_one(BY_DEFINITION[name]), rtol=1e-7, atol=2e-9)


@pytest.mark.parametrize("name", f.FUNCTIONALS)
def test_a_functional_carries_its_words(name):
    known = f.FUNCTIONALS[name]
    assert known.unit in UNITS
    assert known.section in SECTIONS
    assert known.hint or known.same_as
    assert known.title[0] == known.label[0].upper()
    assert "(" not in known.words
    for part in ("label", "short"):
        assert [getattr(each, part) for each in f.FUNCTIONALS.values()].count(
            getattr(known, part)
        ) == 1


def test_names_of_groups_of_functionals():
    assert f.heading("tce") == "True calibration error (TCE, ICI)"
    assert f.main_functionals() == ("tce", "observed_expected", "calibration_slope")


@pytest.mark.parametrize("name", f.FUNCTIONALS)
def test_functional_of_perfect_calibration(name):
    perfect = f.CurveDraws(np.broadcast_to(SCORE, CURVE.shape), Population(SCORE, WEIGHT))
    functional = f.FUNCTIONALS[name]
    np.testing.assert_allclose(functional.compute(perfect), functional.ideal, atol=1e-9)


@pytest.mark.parametrize("name", f.FUNCTIONALS)
def test_functional_does_not_depend_on_the_order_of_rows(name):
    order = np.random.default_rng(1).permutation(SCORE.size)
    shuffled = f.CurveDraws(CURVE[:, order], Population(SCORE[order], WEIGHT[:, order]))
    compute = f.FUNCTIONALS[name].compute
    np.testing.assert_allclose(compute(shuffled), compute(DRAWS), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("own", [False, True])
def test_a_line_in_complementary_log_log_is_read_off_exactly(own):
    hazard = -np.log1p(-SCORE)
    curve = np.tile(-np.expm1(-np.exp(0.2) * hazard**0.7), (25, 1))
    score = np.tile(SCORE, (25, 1)) if own else SCORE
    draws = f.CurveDraws(curve, Population(score, WEIGHT))
    np.testing.assert_allclose(f.cloglog_slope(draws), 0.7, rtol=1e-9)
    np.testing.assert_allclose(f.cloglog_intercept(draws), 0.2, rtol=1e-9)
    steep = f.CurveDraws(np.where(curve > 0.5, 1 - 1e-12, 1e-12), draws.population)
    assert np.isfinite(f.cloglog_slope(steep)).all()


@pytest.mark.parametrize("p", [0.5, 0, -1, np.nan])
def test_tce_refuses_what_is_no_norm(p):
    with pytest.raises(InputError, match="p must be at least 1"):
        f.tce(DRAWS, p)


def test_sample_quantiles_are_type_7_over_patients():
    trials = np.random.default_rng(2).integers(1, 6, SCORE.size).astype(float)
    draws = f.CurveDraws(CURVE, Population(SCORE, trials / trials.sum(), trials))
    patients = np.repeat(np.abs(CURVE - SCORE), trials.astype(int), axis=1)
    for q, compute in ((0.5, f.e50), (0.9, f.e90)):
        np.testing.assert_allclose(compute(draws), np.quantile(patients, q, axis=1), rtol=1e-12)


def test_line_needs_two_scores():
    draws = f.CurveDraws(np.full((3, 2), 0.4), Population(np.full(2, 0.3), np.full(2, 0.5)))
    with pytest.raises(InputError, match="two distinct scores"):
        f.calibration_slope(draws)
    with pytest.raises(InputError, match="two distinct scores"):
        bc.fit([0, 1], [0.3, 0.3], curve="beta", random_state=0).functional("calibration_intercept")


def test_extreme_scores_stay_finite():
    score = np.array([1e-12, 1e-6, 0.5, 1 - 1e-12])
    curve = np.array(
        [[1e-15, 0.3, 0.9, 1.0], [0.999, 0.9995, 0.9999, 1.0], [1e-9, 1e-9, 1e-9, 1e-9]]
    )
    draws = f.CurveDraws(curve, Population(score, np.full(4, 0.25)))
    for name, functional in f.FUNCTIONALS.items():
        assert np.isfinite(functional.compute(draws)).all(), name


def all_draws(kind, score, trials, draws=4000, seed=0):
    rng = np.random.default_rng(seed)
    blocks = [p for _, p in draw_population(kind, score, trials, draws, rng)]
    return np.vstack([np.atleast_2d(b.score) for b in blocks]), np.vstack(
        [b.weight for b in blocks]
    )


@pytest.mark.parametrize("rows", [2, 7, 60])
def test_weights_of_single_cases_are_even_dirichlet(rows):
    """Each weight is Beta(1, rows - 1), those of two cases together are Beta(2, rows - 2)."""
    score, rng = np.linspace(0.1, 0.9, rows), np.random.default_rng(rows)
    blocks = draw_population("bootstrap", score, np.ones(rows), 20_000, rng)
    weight = np.concatenate([drawn.weight for _, drawn in blocks])
    np.testing.assert_allclose(weight.sum(axis=1), 1, rtol=1e-12)
    assert weight.min() > 0
    for case in (0, rows - 1):
        assert stats.kstest(weight[:, case], stats.beta(1, rows - 1).cdf).pvalue > 1e-3
    if rows > 2:
        both = weight[:, :2].sum(axis=1)
        assert stats.kstest(both, stats.beta(2, rows - 2).cdf).pvalue > 1e-3


@pytest.mark.parametrize("trials", [[1, 2, 3, 4], [4, 1, 2], [2, 9, 1, 30], [3.5, 2, 6]])
def test_weights_of_rows_of_several_cases_are_dirichlet(trials):
    """Each weight is Beta(trials, the others' trials), in whatever order the rows stand."""
    counts = np.array(trials, dtype=float)
    score = np.linspace(0.1, 0.9, counts.size)
    _, weight = all_draws("bootstrap", score, counts, draws=20_000)
    np.testing.assert_allclose(weight.sum(axis=1), 1, rtol=1e-12)
    assert weight.min() > 0
    for own, values in zip(counts, weight.T, strict=True):
        assert stats.kstest(values, stats.beta(own, counts.sum() - own).cdf).pvalue > 1e-3


@pytest.mark.parametrize(("a", "b"), [(2.0, 3.0), (1.1233, 0.1147), (500.0, 5.0), (0.3, 0.2)])
def test_beta_population_keeps_all_its_mass(a, b):
    from scipy.special import betaincinv

    from bayescal.posterior.population import _beta_nodes

    nodes = _beta_nodes(np.array([a]), np.array([b]))
    assert nodes.weight.sum() == pytest.approx(1)
    assert nodes.weight[0] @ nodes.score[0] == pytest.approx(a / (a + b), abs=1e-9)
    quantiles = (np.arange(200_000) + 0.5) / 200_000
    score = np.clip(betaincinv(a, b, quantiles), 1e-12, 1 - 1e-12)

    def error(s):
        return np.abs(expit(-0.5 + 0.6 * logit(s)) - s)

    assert nodes.weight[0] @ error(nodes.score[0]) == pytest.approx(error(score).mean(), abs=5e-4)


def test_beta_population_posterior_matches_integration_on_a_grid():
    from scipy.special import betaln

    from bayescal.posterior.population import SHAPE_MEAN, SHAPE_SIGMA, _beta_shapes

    score = np.random.default_rng(3).beta(2, 4, 60)
    a, _ = _beta_shapes(score, np.ones(60), 8000, np.random.default_rng(0))

    def density(log_b, log_a):
        x, z = np.exp(log_a), np.exp(log_b)
        fit = (x - 1) * np.log(score).sum() + (z - 1) * np.log1p(-score).sum() - 60 * betaln(x, z)
        prior = -(x + z) / SHAPE_MEAN - 0.5 * (log_a**2 + log_b**2) / SHAPE_SIGMA**2
        return np.exp(fit + prior - 30)

    box = (np.log(0.5), np.log(10), np.log(1), np.log(20))
    total = integrate.dblquad(density, *box, epsrel=1e-6)[0]
    mean = integrate.dblquad(lambda v, w: w * density(v, w), *box, epsrel=1e-6)[0] / total
    assert np.log(a).mean() == pytest.approx(mean, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("population", ["bootstrap", "sample", "beta"])
def test_a_summary_in_one_pass_says_what_each_functional_says_alone(population):
    y, s = bc.simulate.sample("clinical-middle-asymmetric", 120, random_state=3)
    cmp = bc.compare(y, s, draws=400, random_state=3)
    table = cmp.posterior.summary(population=population)
    fresh = bc.CalibrationPosterior(cmp.posterior.tree)
    assert "ici" not in table.index
    for name in reversed(table.index):
        assert table.loc[name, "mean"] == float(fresh.functional(name, population).mean())
        assert table.loc[name, "estimate"] == fresh.estimate(name, population=population)
        lower, upper = fresh.interval(name, population=population)
        assert (lower, upper) == (table.loc[name, "lower"], table.loc[name, "upper"])


@pytest.mark.parametrize("rows", [2, 7, 40])
@pytest.mark.parametrize("spread", [0.3, 3.0, 9.0])
def test_the_nearest_line_and_shift_solve_their_equations(rows, spread):
    from scipy.special import expit, logit

    from bayescal.posterior.curve_draws import nearest_line, nearest_shift

    rng = np.random.default_rng(rows)
    score = expit(np.sort(rng.normal(0, spread, rows)))
    curve = expit(rng.normal(0.3, 1, (50, 1)) + rng.normal(0, 1, (50, 1)) * logit(score))
    curve = np.clip(curve + 0.1 * rng.random(curve.shape), 1e-9, 1 - 1e-9)
    weight = rng.dirichlet(np.ones(rows), 50)
    a, b = nearest_line(curve, weight, score)
    residual = weight * (curve - expit(a[:, None] + b[:, None] * logit(score)))
    assert np.abs(residual.sum(axis=1)).max() < 1e-9
    assert np.abs((residual * logit(score)).sum(axis=1)).max() < 1e-8
    events = (weight * curve).sum(axis=1)
    shift = nearest_shift(events, weight, score)
    mean = (weight * expit(logit(score) + shift[:, None])).sum(axis=1)
    np.testing.assert_allclose(mean, events, rtol=1e-9)
    each = [nearest_line(curve[i : i + 1], weight[i : i + 1], score) for i in range(50)]
    np.testing.assert_allclose(np.ravel([line[1] for line in each]), b, rtol=1e-7, atol=1e-9)


def test_the_kullback_leibler_error_is_infinite_at_a_score_of_1():
    score = np.append(SCORE[:-1], 1.0)
    assert np.isinf(f.kl_error(f.CurveDraws(CURVE, Population(score, WEIGHT)))).all()
    curve = CURVE.copy()
    curve[:, -1] = 1.0
    assert np.isfinite(f.kl_error(f.CurveDraws(curve, Population(score, WEIGHT)))).all()


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_a_posterior_refuses_an_infinite_error(end):
    y_true, y_prob = bc.simulate.sample("calibrated", 60, random_state=1)
    y_prob[0] = end
    post = bc.fit(y_true, y_prob, curve="logistic", draws=100, random_state=1)
    with pytest.raises(InputError, match=r"kl_error is infinite: 1\.7 % of scores are exactly"):
        post.interval("kl_error")
    assert post.interval("tce")[1] > 0


def test_line_of_a_logistic_curve_is_its_own():
    curve = expit(0.4 + 0.7 * logit(SCORE))[None]
    draws = f.CurveDraws(curve, Population(SCORE, np.full(SCORE.size, 1 / SCORE.size)))
    assert f.calibration_intercept(draws)[0] == pytest.approx(0.4, abs=1e-9)
    assert f.calibration_slope(draws)[0] == pytest.approx(0.7, abs=1e-9)


def test_the_kullback_leibler_error_is_the_fall_of_the_log_score():
    """Of the risks as predictions, instead of the scores; each score is nearer its own risk."""

    def log(p):
        return -(WEIGHT * (CURVE * np.log(p) + (1 - CURVE) * np.log1p(-p))).sum(axis=1)

    np.testing.assert_allclose(f.kl_error(DRAWS), log(SCORE) - log(CURVE), rtol=1e-9)
    squares = (WEIGHT * (CURVE - SCORE) ** 2).sum(axis=1)
    assert (f.kl_error(DRAWS) >= 2 * squares).all()  # Pinsker
