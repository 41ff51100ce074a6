"""Refits on weighted cases."""

from __future__ import annotations

import numpy as np
import pytest

import bayescal as bc
from bayescal.gain._refit import Refit
from bayescal.model.priors import as_prior


@pytest.fixture(scope="module")
def patients():
    return bc.simulate.sample("clinical-middle-overconfident", 400, random_state=1)


def test_the_weighted_fit_is_the_posterior_mode_of_repeated_cases(patients) -> None:
    y, s = patients
    y, s = y[:60], s[:60]
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, (3, 60)).astype(float)
    curves = Refit(y.astype(float), s, np.ones(60), as_prior("neutral")).curves(weight)
    for row, curve in zip(weight, curves, strict=True):
        again = Refit(y.astype(float), s, row, as_prior("neutral"))
        np.testing.assert_allclose(curve, again._probability(again.start[None])[0], atol=1e-5)
