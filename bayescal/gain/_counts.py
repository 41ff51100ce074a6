"""How the errors of each draw count towards TCE: as in an averaged posterior.

Where a prediction is calibrated, every draw of a smooth curve still has a distance from it. Of the
draws on each side of a gain, as many as in the average of that side therefore count no error
(exact calibration), or count one by how sure its side is (stretches that are often calibrated).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.sampling import resample
from bayescal.inference.averaging import Mixture
from bayescal.posterior.one_sided import nearest_row, one_sided, sureness

__all__ = ["Counts"]


@dataclass(frozen=True)
class Counts:
    """How errors count on one side of a gain, before or after.

    Attributes
    ----------
    exact, often : ndarray of shape (draws,)
        Draws that count no error, and those that count one by how sure its side is.
    side : ndarray of shape (rows,)
        How sure that is; see `sureness`.
    """

    exact: NDArray[np.bool_]
    often: NDArray[np.bool_]
    side: Floats

    @classmethod
    def of(cls, mixture: Mixture, score: Floats, draws: int, seed: int, purpose: str) -> Counts:
        """Those of the mixture fitted to one side, at these scores inside (0, 1)."""
        rng = np.random.default_rng([seed, *purpose.encode()])
        part = resample(mixture.shares.distances, draws, rng)
        exact = np.array([each.is_exact for each in mixture.components])
        often = np.array([each.is_often for each in mixture.components])
        side = sureness(*mixture.sides)[nearest_row(mixture.problem.log_odds, score)]
        return cls(exact[part], often[part], side)

    def counted(self, error: Floats, part: slice, known: NDArray[np.bool_] | None = None) -> Floats:
        """The errors of a block of draws, of shape (draws, rows), as far as they count.

        In draws in which the curve is known, because the other side is exact, all of it counts.
        """
        often = self.often[part] if known is None else self.often[part] & ~known
        counts = np.where(self.exact[part][:, None], 0.0, error)
        counts[often] = one_sided(error[often], np.zeros(1), self.side)
        return counts
