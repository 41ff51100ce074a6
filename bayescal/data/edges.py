"""Scores of exactly 0 and 1, whose log-odds are infinite, as a curve reads them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.optimise import EDGE, clipped
from bayescal.core.text import shortened

__all__ = ["Edges"]


class Edges(NamedTuple):
    """How scores of exactly 0 and 1 are read when a curve is fitted.

    Attributes
    ----------
    low, high : float
        The probabilities that stand in for 0 and for 1.
    moved : float
        How many cases have a score that is read as another.
    assumed : bool
        True when every score is 0 or 1, so nothing in the data says how they were rounded.
    given : bool
        True when the user set them. They are then the lowest and the highest score that is read:
        scores beyond them are moved there too, so that a score of 1 stays the highest.
    """

    low: float
    high: float
    moved: float
    assumed: bool
    given: bool = False

    def nearer(self, factor: float) -> Edges:
        """The same edges, this many times nearer to 0 and 1."""
        low, gap = max(self.low / factor, EDGE), max((1 - self.high) / factor, EDGE)
        return self._replace(low=low, high=1 - gap)

    def inside(self, score: Floats) -> Floats:
        """Scores strictly inside (0, 1), as the model reads them.

        Where there are scores of 0 or 1, those that no logarithm tells from them are read alike.
        """
        inner = clipped(score)
        if self.given:
            return np.clip(inner, self.low, self.high)
        ends = (EDGE, 1 - EDGE) if self.moved else (0, 1)
        inner = np.where((score == 0) | (inner <= ends[0]), self.low, inner)
        return np.where((score == 1) | (inner >= ends[1]), self.high, inner)


def edges_of(score: Floats, trials: Floats, edge: float | None = None) -> Edges:
    """Edges a quarter of the way from 0 and 1 to the nearest other score, or at `edge`.

    At `edge` they hold for all scores; see `Edges`.

    Parameters
    ----------
    score, trials : ndarray of shape (rows,)

    Returns
    -------
    Edges
        Never nearer to 0 and 1 than 1e-12.
    """
    inner = score[(score > 0) & (score < 1)]
    if edge is None:
        low = inner.min() / 4 if inner.size else EDGE
        gap = (1 - inner.max()) / 4 if inner.size else EDGE
    else:
        low = gap = _as_edge(edge)
    low, high = max(float(low), EDGE), 1 - max(float(gap), EDGE)
    beyond = (score == 0) | (score == 1) if edge is None else (score < low) | (score > high)
    moved = float(trials[beyond].sum())
    return Edges(low, high, moved, inner.size == 0 and edge is None, edge is not None)


def ends_of(probability: Floats) -> tuple[float, float]:
    """What probabilities of 0 and 1 are read as; where there are none, 1e-12 and 1 - 1e-12."""
    flat = probability.ravel()
    edges = edges_of(flat, np.ones(flat.size))
    low = edges.low if (flat == 0).any() else EDGE
    return low, edges.high if (flat == 1).any() else 1 - EDGE


def _as_edge(edge: Any) -> float:
    try:
        value = float(edge)
    except (TypeError, ValueError, OverflowError):
        value = np.nan
    if not 0 < value < 0.5:
        raise InputError(f"edge must lie strictly between 0 and 0.5, got {shortened(repr(edge))}.")
    return value
