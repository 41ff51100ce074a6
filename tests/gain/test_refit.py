"""Refits on weighted cases."""

from __future__ import annotations

import numpy as np
import pytest

import bayescal as bc
from bayescal.gain._refit import Refit
from bayescal.model.priors import as_prior


@pytest.mark.parametrize("n", [30, 60, 400])
def test_the_weighted_fit_is_the_posterior_mode_of_repeated_cases(patients, n) -> None:
    y, s = (values[:n] for values in patients)
    prior = as_prior({"centre": 0.4})  # weights do not move it
    refit = Refit(bc.CalibrationData(y, s), prior)
    table, n = refit.problem, refit.problem.score.size
    rng = np.random.default_rng(0)
    trials = rng.integers(1, 12, (5, n)) * table.trials
    hits = rng.binomial(trials.astype(int), table.hits / table.trials).astype(float)
    curves = refit.curves(trials, hits)
    for count, events, curve in zip(trials, hits, curves, strict=True):
        again = Refit(bc.CalibrationData.from_counts(table.score, count, events), prior)
        np.testing.assert_allclose(curve, again._probability(again.start[None])[0], atol=1e-6)
