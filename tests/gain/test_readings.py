"""Two readings of a difference of distances."""

from __future__ import annotations

import numpy as np
import pytest

from bayescal.gain._readings import Readings


def test_ends_are_read_off_their_own_draws() -> None:
    grid = np.linspace(0, 1, 101)
    free = Readings(grid - 1, grid, np.full(101, -np.inf), np.full(101, np.inf), 0.1)
    assert free.interval(0.9) == pytest.approx((-0.95, 0.95), abs=0.011)
    capped = free._replace(least=np.full(101, -0.3), most=np.full(101, 0.2))
    assert capped.interval(0.9) == pytest.approx((-0.3, 0.2))
