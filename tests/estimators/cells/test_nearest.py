"""Neighbours on a line are those in space."""

from __future__ import annotations

import numpy as np

from bayescal.estimators.cells._nearest import in_space, on_line


def test_neighbours_on_a_line_are_those_in_space() -> None:
    rng = np.random.default_rng(6)
    for _ in range(50):
        points = np.unique(rng.random(rng.integers(1, 60)).round(rng.choice([1, 2, 8])))
        cases = rng.choice([0.3, 1.0, 2.5], points.size)
        values = rng.random(points.size)
        for nearest in (0.2, min(1, cases.sum()), cases.sum() / 3, cases.sum()):
            line = on_line(points, cases, nearest)(values)
            np.testing.assert_allclose(line, in_space(points[:, None], cases, nearest)(values))
