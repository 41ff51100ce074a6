"""Points in the unit cube: uniform along every axis, and better than SciPy's or about as good."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri

import bayescal as bc
from bayescal.core import sampling
from bayescal.core.sampling import GENERATORS, lattice_points, normal_points
from bayescal.inference.density import sample_importance
from bayescal.model.problem import prepare


def sobol(power, d, rng):
    return stats.qmc.Sobol(d, rng=rng).random_base2(power)


def independent(power, d, rng):
    return rng.random((1 << power, d))


FUNCTIONS = {
    "exponential": lambda x: np.exp(2 * x.mean(axis=1)),
    "product": lambda x: np.prod(1 + 0.8 * (x - 0.5) / np.arange(1, x.shape[1] + 1), axis=1),
    "squares": lambda x: ((x - 0.5) ** 2).sum(axis=1),
    "neighbours": lambda x: ((x - 0.5) * (np.roll(x, 1, axis=1) - 0.5)).sum(axis=1),
    "wave": lambda x: np.cos(ndtri(x.clip(1e-12, 1 - 1e-12)).sum(axis=1) / x.shape[1] ** 0.5),
    "peak": lambda x: np.prod(1 / (1 + 9 * (x - 0.5) ** 2 / x.shape[1] ** 0.5), axis=1),
}


def spread(draw, power, d):
    """Standard deviation of the averages of each function, over random shifts or scrambles."""
    averages = []
    for seed in range(20):
        points = draw(power, d, np.random.default_rng(seed))
        averages.append([function(points).mean() for function in FUNCTIONS.values()])
    return np.std(averages, axis=0)


@pytest.mark.parametrize("power", [6, 12])
@pytest.mark.parametrize("d", [1, 5, 45])
def test_each_axis_has_as_many_points_in_each_interval(power, d):
    points = lattice_points(power, d, np.random.default_rng(0))
    assert points.shape == (1 << power, d)
    for axis in points.T:
        counts, _ = np.histogram(axis, bins=1 << (power - 1), range=(0, 1))
        assert set(counts.tolist()) <= {1, 2, 3}
        assert stats.kstest(axis, "uniform").statistic < 2 / (1 << power)


def test_each_point_is_uniform_over_the_seeds():
    rng = np.random.default_rng(0)
    one = [lattice_points(6, 3, rng)[17] for _ in range(400)]
    for axis in np.transpose(one):
        assert stats.kstest(axis, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("d", [1, 5, 45])
def test_normal_points_are_quantiles_of_the_lattice(d):
    points = normal_points(7, d, np.random.default_rng(3))
    uniform = lattice_points(7, d, np.random.default_rng(3))
    assert np.array_equal(points, ndtri(np.clip(uniform, 1e-12, 1 - 1e-12)))
    first = lattice_points(7, d, np.random.default_rng(4))
    assert not np.array_equal(first, uniform)


def test_axes_beyond_the_lattice_are_paired_at_random():
    d = len(GENERATORS) + 3
    points = lattice_points(12, d, np.random.default_rng(1))
    correlation = np.corrcoef(points.T) - np.eye(d)
    assert np.abs(correlation).max() < 0.08
    error = spread(lattice_points, 10, d) / spread(independent, 10, d)
    assert stats.gmean(error) < 0.5


@pytest.mark.parametrize(
    ("curve", "times"), [("logistic", 1.5), ("beta", 1.5), ("spline", 1.5), ("intercept", 1.5)]
)
def test_the_evidence_is_as_near_as_with_scrambled_sobol_points(curve, times, monkeypatch):
    data = bc.CalibrationData(*bc.simulate.sample("clinical-middle-overconfident", 200, 0))

    def evidences():
        return [
            sample_importance(prepare(data, curve=curve, random_state=seed), 2000).log_evidence
            for seed in range(16)
        ]

    ours = evidences()
    monkeypatch.setattr(sampling, "normal_points", lambda *of: ndtri(sobol(*of)))
    theirs = evidences()
    assert np.std(ours) < times * np.std(theirs)
    assert np.mean(ours) == pytest.approx(np.mean(theirs), abs=4 * np.std(theirs))
