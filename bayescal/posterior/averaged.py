"""What an averaged posterior has beside the draws of its curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Averaged"]


@dataclass(frozen=True)
class Averaged:
    """Of which family each draw of the curve is, and which draws are of exact calibration.

    Attributes
    ----------
    weights : mapping of str to float
        Prior probability of each family mixed, exact calibration included.
    asked : mapping of str to float
        The same of the families asked for; others stand for some where there are few scores.
    prob_calibrated : float
        The posterior probability of exact calibration.
    family : ndarray of int of shape (draws,)
        Index of the family of each draw among `families`.
    exact : ndarray of bool of shape (draws,)
        Draws in which the model is exactly calibrated, so many as that is probable: their distances
        are 0. What is read off the curve itself, which is given that it is not, uses all draws.
    """

    weights: Mapping[str, float]
    asked: Mapping[str, float]
    prob_calibrated: float
    family: NDArray[np.intp]
    exact: NDArray[Any]

    @property
    def families(self) -> dict[str, float]:
        """Prior probability of the other families, given that calibration is not exact."""
        families = {name: each for name, each in self.weights.items() if name != "identity"}
        total = sum(families.values())
        return {name: weight / total for name, weight in families.items()}
