"""How far Brownian motion on [0, 1] strays and ranges: the laws that cumulative tests need."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from bayescal._base.arrays import Floats

__all__ = ["range_sf", "supremum_sf"]

TERMS = np.arange(8)[:, None]
ODD = 2 * TERMS + 1
SIGN = (-1.0) ** TERMS
LEAST = 1e-2


def supremum_sf(x: Floats) -> Floats:
    """Probability that the largest |W(t)| exceeds x, of x of any shape.

    4 sum_k (-1)^k P(Z > (2k+1) x) converges fast for large x, and one less
    4/pi sum_k (-1)^k / (2k+1) exp(-((2k+1) pi / x)^2 / 8) for small x. k = 0, 1, ...
    """
    far, near = _split(x, 1.0)
    tail = 4 * (SIGN * ndtr(-ODD * far)).sum(axis=0)
    body = 4 / np.pi * (SIGN / ODD * np.exp(-((ODD * np.pi / near) ** 2) / 8)).sum(axis=0)
    return _joined(x, 1.0, tail, 1 - body)


def range_sf(x: Floats) -> Floats:
    """Probability that max W(t) - min W(t) exceeds x (Feller 1951), of x of any shape.

    8 sum_k (-1)^k (k+1) P(Z > (k+1) x) converges fast for large x, and one less
    8 sum_k (1/x^2 + 1/((2k+1) pi)^2) exp(-((2k+1) pi / x)^2 / 2) for small x. k = 0, 1, ...
    """
    far, near = _split(x, 2.0)
    tail = 8 * (SIGN * (TERMS + 1) * ndtr(-(TERMS + 1) * far)).sum(axis=0)
    decay = np.exp(-((ODD * np.pi / near) ** 2) / 2)
    body = 8 * ((1 / near**2 + 1 / (ODD * np.pi) ** 2) * decay).sum(axis=0)
    return _joined(x, 2.0, tail, 1 - body)


def _split(x: Floats, at: float) -> tuple[Floats, Floats]:
    flat = np.ravel(x)
    return np.maximum(flat, at), np.clip(flat, LEAST, at)


def _joined(x: Floats, at: float, tail: Floats, body: Floats) -> Floats:
    return np.where(np.ravel(x) > at, tail, body).reshape(np.shape(x))
