"""Sums over all pairs of cases, weighed by a kernel of their scores, without visiting the pairs.

Both kernels make the sum one of squares, so that it is never negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from bayescal._base.arrays import Floats, blocks
from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.data.validate import check_choice

__all__ = ["Form", "as_width", "form_of", "kernel_at"]

Form = Callable[[Floats], Floats]
"""Masses at ascending scores, (replicates, n), to sum_ij m_i m_j k(s_i, s_j), (replicates,)."""

KERNEL_NARROWEST = {"gaussian": 1e-3, "laplace": 1e-9}
KERNEL_WIDEST = 1e9
KERNEL_REACH = 300.0
KERNEL_BLOCK = 1 << 18
KERNEL_TAIL = 8.6


def as_width(width: Any, kernel: str) -> float:
    """A width of this kernel that scores can be told apart by."""
    least = KERNEL_NARROWEST[check_choice(kernel, KERNEL_NARROWEST, "kernel")]
    number = isinstance(width, (int, float, np.integer, np.floating))
    if not number or isinstance(width, bool) or not least <= width <= KERNEL_WIDEST:
        raise InputError(
            f"bandwidth must be a number from {least:g} to {KERNEL_WIDEST:g} for the {kernel} "
            f"kernel, got {shortened(repr(width))}."
        )
    return float(width)


def kernel_at(distance: Floats, kernel: str, width: float) -> Floats:
    """The kernel itself, 1 at distance 0."""
    scaled = distance / width
    return np.exp(-scaled) if kernel == "laplace" else np.exp(-0.5 * scaled**2)


def form_of(scores: Floats, kernel: str, width: float) -> Form:
    """The sum over all pairs of ascending scores, each with itself included."""
    make = laplace_form if kernel == "laplace" else gaussian_form
    return make(scores, width)


def laplace_form(scores: Floats, width: float) -> Form:
    """By F_j = sum_(i <= j) m_i exp(-(s_j - s_i) / w): sum_j F_j^2 (1 - exp(-2 gap_j / w)).

    gap_j is the distance to the next score, endless for the last: what F_j loses on its way there.
    Within a part F_j is a running sum of m_i growth_i, over growth_j.
    """
    gap = np.diff(scores, append=np.inf) / width
    parts = [
        (part, growth := np.exp((scores[part] - scores[part.start]) / width),
         -np.expm1(-2 * gap[part]) / growth**2, float(np.exp(-gap[part.stop - 1]) / growth[-1]))
        for part in _parts(scores, KERNEL_REACH * width)
    ]  # fmt: skip

    def form(masses: Floats) -> Floats:
        total = np.zeros(masses.shape[0])
        carried = np.zeros(masses.shape[0])
        for part, growth, lost, kept in parts:
            reached = masses[:, part] * growth
            reached[:, 0] += carried
            np.cumsum(reached, axis=1, out=reached)
            carried = reached[:, -1] * kept
            total += np.einsum("ri,i->r", np.square(reached, out=reached), lost)
        return total

    return form


def _parts(scores: Floats, reach: float) -> list[slice]:
    """Stretches of ascending scores, of bounded length and number."""
    cell = (scores - scores[0]) // reach
    starts = np.append(np.flatnonzero(np.diff(cell)) + 1, np.arange(0, scores.size, KERNEL_BLOCK))
    ends = np.append(np.unique(starts), scores.size).tolist()
    return [slice(start, stop) for start, stop in pairwise(ends)]


def gaussian_form(scores: Floats, width: float) -> Form:
    """By the cosine series of the kernel, whose period is so long that no copy of it reaches back.

    k(d) = sum_k c_k cos(2 pi k d / period) with c_k > 0, so the sum is one of squared waves.
    """
    offset = scores - scores[0]
    period = offset[-1] + (KERNEL_TAIL + 0.4) * width
    highest = math.ceil(KERNEL_TAIL * period / (2 * math.pi * width))
    wave = 2 * math.pi / period * np.arange(highest + 1)
    power = width * math.sqrt(2 * math.pi) / period * np.exp(-0.5 * (wave * width) ** 2)
    power[1:] *= 2

    def form(masses: Floats) -> Floats:
        total = np.zeros(masses.shape[0])
        for part in blocks(wave.size, scores.size, KERNEL_BLOCK):
            angle = offset[:, None] * wave[part]
            total += ((masses @ np.cos(angle)) ** 2 + (masses @ np.sin(angle)) ** 2) @ power[part]
        return total

    return form
