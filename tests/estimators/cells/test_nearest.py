"""Neighbours on a line are those of a loop over all pairs."""

import numpy as np

from bayescal.estimators.cells import on_line


def by_loop(points, cases, nearest, values):
    sums = []
    for point in points:
        distance = np.abs(points - point)
        order = np.argsort(distance)
        enough = np.cumsum(cases[order]) >= nearest - 1e-12 * cases.sum()
        radius = distance[order][enough.argmax()]
        sums.append(values[distance <= radius + 1e-12].sum())
    return sums


def test_neighbours_on_a_line_are_those_of_a_loop():
    rng = np.random.default_rng(6)
    for _ in range(50):
        points = np.unique(rng.random(rng.integers(1, 60)).round(rng.choice([1, 2, 8])))
        cases = rng.choice([0.3, 1.0, 2.5], points.size)
        values = rng.random(points.size)
        for nearest in (0.2, min(1, cases.sum()), cases.sum() / 3, cases.sum()):
            line = on_line(points, cases, nearest)(values)
            np.testing.assert_allclose(line, by_loop(points, cases, nearest, values))
