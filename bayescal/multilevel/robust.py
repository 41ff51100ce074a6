"""Robust effects: a level is like the others or, with a small probability, unlike them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal.model.prior import Normal, Prior, StudentT

__all__ = ["PROB_UNLIKE", "unlike_scale", "unlike_scales"]

PROB_UNLIKE = 0.1
"""Prior probability that a level is unlike the others."""
FARTHER = 2.0
"""Levels unlike the others are spread at least so many times as far as those that are like them."""


def unlike_scale(prior: Prior, name: str, scale: Any) -> Any:
    """Standard deviation of a coordinate of levels that are unlike the others.

    It is that of the coordinate's own prior, and bounded away from the scale of the like levels.

    Parameters
    ----------
    scale : ndarray or PyMC variable
        Standard deviation between levels that are like each other.
    """
    law = prior.of(name)
    assert isinstance(law, Normal | StudentT)  # only a shift and slopes vary
    return (law.sigma**2 + (FARTHER * scale) ** 2) ** 0.5


def unlike_scales(prior: Prior, names: Sequence[str], scales: Floats) -> Floats:
    """Of several coordinates, for scales of shape (..., names)."""
    each = [unlike_scale(prior, name, scales[..., k]) for k, name in enumerate(names)]
    return np.stack(each, axis=-1)
