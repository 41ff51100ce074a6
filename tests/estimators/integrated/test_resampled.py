"""Loess of many resamples at once is that of each alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayescal.estimators import flexible_curve
from bayescal.estimators.integrated import resampled_loess, resamples_of
from bayescal.estimators.registry import ESTIMATORS

INDICES = ["ici", "e50", "e90", "emax", "eci"]


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 120),
    digits=st.integers(1, 9),
    span=st.sampled_from([0.1, 0.3, 0.75, 1.0]),
    scale=st.sampled_from([1.0, 1e-9, 1e-200]),
    seed=st.integers(0, 10**6),
)
def test_every_resample_has_the_curve_that_it_has_alone(
    n: int, digits: int, span: float, scale: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    scores = np.sort(np.round(rng.beta(0.5, 2, n), digits)) * scale
    outcomes = rng.integers(0, 2, n).astype(float)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=7).astype(float)
    weights[0] = 0
    weights[0, rng.integers(n)] = 5
    resamples = resamples_of(scores, outcomes, weights)
    curves = resampled_loess(resamples, span)
    for rows, weight in zip(resamples.each(), weights, strict=True):
        drawn = weight > 0
        alone = flexible_curve(
            outcomes[drawn], scores[drawn], np.unique(scores[drawn]), span=span,
            sample_weight=weight[drawn],
        )  # fmt: skip
        np.testing.assert_allclose(curves[rows], alone, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize(
    "options",
    [{}, {"clip": True}, {"span": 0.4}, {"smoother": "lowess"}, {"smoother": "isotonic"}],
)
def test_an_index_of_every_resample(name: str, options: dict[str, object]) -> None:
    entry = ESTIMATORS[name]
    rng = np.random.default_rng(1)
    scores = np.sort(rng.beta(1, 3, 150).round(2))
    outcomes = rng.integers(0, 2, 150).astype(float)
    weights = rng.multinomial(150, np.full(150, 1 / 150), size=5).astype(float)
    if name == "eci" and options.get("clip"):
        options = options | {"form": "relative"}
    values = entry.weighted(scores, outcomes, weights, **entry.defaults | options)
    alone = [
        entry.core(outcomes[None, weight > 0], scores[weight > 0], weight[weight > 0], **options)[0]
        for weight in weights
    ]
    np.testing.assert_allclose(values, alone, rtol=1e-10)
