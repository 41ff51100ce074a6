"""The zero of a function between two ends."""

import numpy as np
import pytest

from bayescal.core.optimise import zero_of

FUNCTIONS = {
    "straight": lambda x: 3 * x,
    "flat at its zero": lambda x: x**3,
    "steep at its zero": lambda x: np.sign(x) * abs(x) ** 0.3,
    "flat at its ends": np.tanh,
    "falling": lambda x: -np.expm1(x),
}


@pytest.mark.parametrize("at", [-20.0, 0.3, 20.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_zero_is_found_inside_and_at_the_ends(name, at):
    assert zero_of(lambda x: float(FUNCTIONS[name](x - at)), -20, 20, 1e-10) == pytest.approx(
        at, abs=1e-9
    )
