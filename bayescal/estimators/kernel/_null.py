"""What the unbiased squared kernel calibration error would be if the scores were calibrated."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincc, ndtr

from bayescal._base.arrays import Floats, blocks
from bayescal._base.errors import InputError
from bayescal.data.table import Table
from bayescal.estimators.kernel._form import form_of, kernel_at
from bayescal.estimators.kernel._pairs import pairs_of_hits

__all__ = ["draw_calibrated", "moments_of", "pearson_sf"]

NULL_MOST_CELLS = 512
SYMMETRIC = 1e-5
NULL_LEAST = 1e-12
NULL_BLOCK = 1 << 17


def draw_calibrated(
    table: Table, kernel: str, bandwidth: float, draws: int, rng: np.random.Generator
) -> Floats:
    """Unbiased squared errors of outcomes drawn from the scores, of shape (draws,)."""
    form = form_of(table.score, kernel, bandwidth)
    trials = table.trials.astype(np.int64)
    many = np.flatnonzero(trials > 1)
    values = np.empty(draws)
    for part in blocks(draws, trials.size, NULL_BLOCK):
        size = part.stop - part.start
        hits = (rng.random((size, trials.size)) < table.score).astype(np.float64)
        hits[:, many] = rng.binomial(trials[many], table.score[many], (size, many.size))
        values[part] = pairs_of_hits(table, form, hits).unbiased()
    return values


class Moments(NamedTuple):
    """Standard deviation and skewness of the unbiased squared error; its mean is 0."""

    sd: float
    skewness: float


def moments_of(table: Table, kernel: str, width: float) -> Moments:
    """Moments of the unbiased squared error over outcomes drawn from the scores.

    With v and m the second and third central moments of an outcome, sum_(i != j) r_i r_j k_ij has
    the second moment 2 sum_(i != j) v_i v_j k_ij^2 and the third
    4 sum_(i != j) m_i m_j k_ij^3 + 8 sum_(i, j, l distinct) v_i v_j v_l k_ij k_jl k_li.
    More than 512 distinct scores are put together in as many cells.
    """
    score, trials = table.score, table.trials
    variance = score * (1 - score)
    third = variance * (1 - 2 * score)
    cell, cells = _cells(score)

    def total(values: Floats) -> Floats:
        return np.bincount(cell, trials * values, cells).astype(np.float64, copy=False)

    single, square, cube = (total(variance**order) for order in (1, 2, 3))
    position = total(score) / total(np.ones_like(score))
    similar = kernel_at(np.abs(position[:, None] - position), kernel, width)
    paired = similar**2 @ single
    second = 2 * (single @ paired - square.sum())
    product = similar * single
    distinct = np.sum((product @ product) * product.T) - 3 * square @ paired + 2 * cube.sum()
    skewed = total(third) @ similar**3 @ total(third) - total(third**2).sum()
    if second <= NULL_LEAST * square.sum():
        raise InputError(
            f"bandwidth {width:g} is so small that no two scores are alike, and there are no "
            "pairs to test. Make it larger."
        )
    sd = np.sqrt(second)
    pairs = table.total * (table.total - 1)
    return Moments(float(2 * sd / pairs), float((4 * skewed + 8 * distinct) / sd**3))


def _cells(score: Floats) -> tuple[NDArray[np.intp], int]:
    """The cell of each distinct score, without empty ones, and their number."""
    if score.size <= NULL_MOST_CELLS:
        return np.arange(score.size), score.size
    position = (score - score[0]) * (NULL_MOST_CELLS / (score[-1] - score[0]))
    _, cell = np.unique(
        np.minimum(position.astype(np.intp), NULL_MOST_CELLS - 1), return_inverse=True
    )
    return cell, int(cell[-1]) + 1


def pearson_sf(z: Floats, skewness: float) -> Floats:
    """Upper tail of the Pearson III law (a shifted gamma) of mean 0, variance 1, this skewness."""
    if abs(skewness) < SYMMETRIC:
        tail: Floats = ndtr(-z)
        return tail
    shape = 4 / skewness**2
    at = np.maximum(shape + np.copysign(np.sqrt(shape), skewness) * z, 0)
    tail = gammaincc(shape, at) if skewness > 0 else gammainc(shape, at)
    return tail
