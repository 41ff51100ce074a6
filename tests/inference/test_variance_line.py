"""The line between predicted variances and those of errors: best fit and posterior, brute force."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, logit
from scipy.stats import logistic, norm, t

from bayescal.core.errors import InputError
from bayescal.inference import variance as room
from bayescal.inference.variance import best_line, rows_of


def data(n=200, seed=0, slope=3.0, intercept=0.5):
    """Squared errors, predicted variances and counts."""
    rng = np.random.default_rng(seed)
    variance = rng.gamma(2, 0.7, n)
    error = rng.normal(0, np.sqrt(slope * variance + intercept))
    return error**2, variance, rng.integers(1, 4, n).astype(float)


def mean_score(line, squared, variance, weight):
    predicted = line[0] * variance + line[1]
    return float(weight @ (squared / predicted + np.log(predicted)) / weight.sum())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("slope", "intercept"), [(3, 0.5), (0.2, 0), (0, 2), (1, 1)])
def test_no_other_line_scores_better(seed, slope, intercept):
    cases = data(60, seed, slope, intercept)
    line = best_line(rows_of(*cases))
    assert min(line) > 0
    best = min(
        minimize(
            mean_score, start, args=cases, bounds=[(1e-10, None)] * 2, options={"ftol": 1e-14}
        ).fun
        for start in ([1, 0.1], [0.1, 1], [3, 3])
    )
    assert mean_score(line, *cases) <= best + 1e-8


def test_the_unit_does_not_matter():
    squared, variance, weight = data()
    slope, intercept = best_line(rows_of(squared, variance, weight))
    moved = best_line(rows_of(squared * 1e40, variance * 1e-20, weight))
    assert moved[0] == pytest.approx(slope * 1e60, rel=1e-6)
    assert moved[1] == pytest.approx(intercept * 1e40, rel=1e-6)


def test_many_cases_in_cells_give_nearly_the_same_line():
    squared, variance, weight = data(50_000)
    rows = rows_of(squared, variance, weight)
    assert rows.weight.size <= 1024
    assert rows.weight.sum() == pytest.approx(weight.sum())
    best = minimize(mean_score, [3, 0.5], args=(squared, variance, weight), bounds=[(0, None)] * 2)
    assert best_line(rows) == pytest.approx(best.x, rel=2e-3)


def test_errors_that_are_all_zero_are_refused():
    with pytest.raises(InputError, match="y_true equals mean in every case"):
        rows_of(np.zeros(3), np.ones(3), np.ones(3))


# The posterior


def test_density_is_its_definition():
    squared, variance, weight = data(30)
    rows = rows_of(squared, variance, weight)
    unit = weight @ variance / weight.sum()

    def plain(log_scale, log_odds):
        share = expit(log_odds)
        w, b = np.exp(log_scale) * share, unit * np.exp(log_scale) * (1 - share)
        likelihood = weight @ norm(0, np.sqrt(w * variance + b)).logpdf(np.sqrt(squared))
        return float(likelihood + t(4).logpdf(log_scale) + logistic.logpdf(log_odds))

    points = np.random.default_rng(1).normal(size=(20, 2))
    difference = room._log_density(rows, points) - [plain(*point) for point in points]
    np.testing.assert_allclose(difference, difference[0], atol=1e-9)


def test_gradient_and_hessian_are_those_of_the_density():
    rows = rows_of(*data(30))
    for point in np.random.default_rng(1).normal(size=(5, 2)):
        _, gradient, hessian = room._objective(rows, point)
        numeric = approx_fprime(point, lambda x: room._objective(rows, x)[0], 1e-6)
        np.testing.assert_allclose(gradient, numeric, rtol=1e-3, atol=1e-3)
        columns = approx_fprime(point, lambda x: room._objective(rows, x)[1], 1e-6)
        np.testing.assert_allclose(hessian, columns, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("n", [5, 40, 400])
@pytest.mark.parametrize(("slope", "intercept"), [(3, 0.5), (1, 0), (0, 2)])
def test_draws_have_the_quantiles_of_a_grid(n, slope, intercept):
    rows = rows_of(*data(n, 3, slope, intercept))
    line = room.variance_line(rows, 4000, np.random.default_rng(0))
    assert line.pareto_k < 0.7
    share = line.slope / (line.slope + line.intercept / rows.unit)
    draws = np.log(line.slope + line.intercept / rows.unit), logit(share)
    axes = [np.linspace(x.mean() - 8 * x.std(), x.mean() + 8 * x.std(), 401) for x in draws]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    log_density = room._log_density(rows, points)
    mass = np.exp(log_density - log_density.max()).reshape(401, 401)
    for axis, drawn in enumerate(draws):
        cumulated = np.cumsum(mass.sum(axis=1 - axis)) / mass.sum()
        for level in (0.05, 0.5, 0.95):
            quantile = np.interp(level, cumulated, axes[axis])
            assert np.mean(drawn <= quantile) == pytest.approx(level, abs=0.03)


def test_extreme_predictions_have_a_finite_posterior():
    rng = np.random.default_rng(0)
    for variance in (np.geomspace(1e-100, 1e100, 50), np.full(50, 3.0), np.full(50, 1e-110)):
        squared = rng.normal(size=50) ** 2
        rows = rows_of(squared, variance, np.ones(50))
        line = room.variance_line(rows, 400, rng)
        assert np.isfinite([line.slope, line.intercept]).all()
        assert np.isfinite(best_line(rows)).all()
