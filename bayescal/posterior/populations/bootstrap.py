"""Bayesian bootstraps: which weights of the scores each draw of a curve is averaged over."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import ndtri

from bayescal.core.arrays import Floats

__all__ = ["Bootstrap", "CaseBootstrap", "dirichlet"]

LEVELS = 1 << 13  # of a table of quantiles: its mean and variance are right to 0.1 %


class Bootstrap(Protocol):
    """A law of the weights of the rows, one vector for each draw of a curve."""

    def weights(self, part: slice, rng: np.random.Generator) -> Floats:
        """Weights of a block of draws, of shape (draws of the block, rows); each sums to 1."""

    def worth(self, values: Floats) -> float:
        """Independent cases whose mean varies as that of these values by row, for each case."""


class CaseBootstrap(NamedTuple):
    """Weights of independent cases: Dirichlet(trials).

    Attributes
    ----------
    trials : ndarray of shape (rows,)
        Cases of each row.
    """

    trials: Floats

    def weights(self, part: slice, rng: np.random.Generator) -> Floats:
        """Weights of a block of draws, of shape (draws of the block, rows)."""
        return dirichlet(self.trials, part.stop - part.start, rng)

    def worth(self, values: Floats) -> float:
        """One: cases are independent."""
        return 1.0


def dirichlet(trials: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Weights of shape (draws, rows) that sum to 1 over the rows, of the law Dirichlet(trials)."""
    gammas = _gammas(trials, draws, rng)
    total = gammas.sum(axis=1, keepdims=True)
    gammas *= 1 / np.where(total == 0, 1, total)
    gammas[total[:, 0] == 0] = trials / trials.sum()
    return gammas


def _gammas(shape: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Gamma variables of the shapes given, one a column, of shape (draws, rows).

    Where the shapes are 1, or 2 and more, they are read off tables of quantiles with 16 random bits
    a number; their mean and variance are within 0.1 % of the law's.
    """
    single = shape == 1
    if not (single | (shape >= 2)).all():
        return rng.standard_gamma(shape, (draws, shape.size))
    bits = rng.integers(1 << 64, size=(draws, -(-shape.size // 4)), dtype=np.uint64)
    level = bits.view(np.uint16)[:, : shape.size] & (LEVELS - 1)
    exponential, normal = _quantiles()
    if single.all():
        return exponential.take(level, mode="clip")
    gammas = _cubes_of_normals(normal.take(level, mode="clip"), shape)
    gammas[:, single] = exponential.take(level[:, single], mode="clip")
    return gammas


@cache
def _quantiles() -> tuple[Floats, Floats]:
    """Exponential and normal quantiles at the middles of `LEVELS` even steps."""
    middle = (np.arange(LEVELS) + 0.5) / LEVELS
    return -np.log(middle), ndtri(middle)


def _cubes_of_normals(normal: Floats, shape: Floats) -> Floats:
    """Gamma variables from standard normal ones, one shape a column; these are overwritten.

    References
    ----------
    Wilson & Hilferty (1931), The distribution of chi-square, PNAS 17.
    """
    scale = np.cbrt(shape)
    root = normal
    root *= scale / (3 * np.sqrt(shape))
    root += scale * (1 - 1 / (9 * shape))
    gammas: Floats = root * root
    gammas *= root
    return gammas
