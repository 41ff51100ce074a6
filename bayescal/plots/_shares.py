"""Draws as numbers for a figure: a histogram of what varies, and an atom where they coincide."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayescal.core.arrays import Floats

__all__ = ["Shares", "edges_over", "shares_of"]

FEWEST, MOST = 8, 40
SHARES_SAME = 1e-9
SHARES_TAIL = 0.002
FARTHEST_CELLS = 10


class Shares(NamedTuple):
    """A histogram with an atom.

    Attributes
    ----------
    edges : ndarray of shape (bars + 1,)
    share : ndarray of shape (bars,)
        Share of all draws in each bar, those of the atom not counted.
    atom : float
        Share of the draws that equal one value exactly.
    """

    edges: Floats
    share: Floats
    atom: float


def shares_of(values: Floats, edges: Floats, atom_at: float) -> Shares:
    """Count draws in bars, those at one value apart.

    Parameters
    ----------
    values : ndarray of shape (draws,)
    edges : ndarray of shape (bars + 1,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.plots._shares import shares_of
    >>> shares_of(np.array([0, 0, 0.2, 0.7]), np.array([0, 0.5, 1]), 0).share
    array([0.25, 0.25])
    """
    varies = np.abs(values - atom_at) > SHARES_SAME
    share = np.histogram(values[varies], edges)[0] / values.size
    return Shares(edges, share, float(1 - varies.mean()))


def edges_over(values: Floats, atom_at: float, hold: tuple[float, ...], floor: float) -> Floats:
    """Equal bars over all but the tails, fewer for fewer draws (twice their cube root).

    Parameters
    ----------
    hold : tuple of float
        Values to be in range, unless they are more than ten times as far from the draws as these
        are from each other.
    floor : float
        The least possible value, or minus infinity.
    """
    varies = values[np.abs(values - atom_at) > SHARES_SAME]
    ends = np.quantile(values, [SHARES_TAIL, 1 - SHARES_TAIL])
    far = FARTHEST_CELLS * (np.ptp(ends) or 1.0)
    reached = np.append(ends, np.clip(hold, ends[0] - far, ends[1] + far))
    low, high = float(reached.min()), float(reached.max())
    room = 0.03 * (high - low) or 0.01
    spread = np.ptp(np.quantile(varies, [SHARES_TAIL, 1 - SHARES_TAIL])) if varies.size else 0.0
    wide = spread / np.clip(2 * varies.size ** (1 / 3), FEWEST, MOST) or room
    start = floor if low - room <= floor else low - room
    return start + wide * np.arange(np.ceil((high + room - start) / wide) + 1)
