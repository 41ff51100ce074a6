"""Draws of an average: the component of each, and those that distances are read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.model.mixture import Component

__all__ = ["Averaged", "DistanceDraws"]


@dataclass(frozen=True)
class DistanceDraws:
    """The draws that distances of an average are read from; they pair with no draw of the curve.

    Attributes
    ----------
    u : ndarray of shape (draws, d)
        In the union of coordinates; all zero where calibration is exact.
    component : ndarray of shape (draws,)
        Index of each draw's component.
    above, below : ndarray of shape (rows,)
        Shares of the often-calibrated curves on either side, at the scores of the problem.
    """

    u: Floats
    component: np.ndarray[Any, Any]
    above: Floats
    below: Floats


@dataclass(frozen=True)
class Averaged:
    """What an averaged posterior has beside its draws.

    Attributes
    ----------
    components : tuple of Component
        What is mixed, with prior probabilities that add up to 1.
    prob_calibrated : float
        The posterior probability of exact calibration, of which no draw of the curve is.
    component : ndarray of shape (draws,)
        Index of each draw's component.
    distances : DistanceDraws, optional
        None if an earlier version stored the tree.
    """

    components: tuple[Component, ...]
    prob_calibrated: float
    component: np.ndarray[Any, Any]
    distances: DistanceDraws | None

    @property
    def curved(self) -> tuple[Component, ...]:
        """The components that are not exact calibration."""
        return tuple(each for each in self.components if not each.is_exact)

    @property
    def weights(self) -> dict[str, float]:
        """Prior probability of each family mixed, exact calibration included."""
        weights: dict[str, float] = {}
        for each in self.components:
            weights[each.family] = weights.get(each.family, 0.0) + each.prior
        return weights

    @property
    def asked(self) -> dict[str, float]:
        """The same of the families that were asked for, of which `saturated` may stand for some."""
        weights: dict[str, float] = {}
        for each in self.components:
            weights[each.stands_for] = weights.get(each.stands_for, 0.0) + each.prior
        return weights

    @property
    def families(self) -> dict[str, float]:
        """The same of the other families, given that calibration is not exact."""
        families = {name: each for name, each in self.weights.items() if name != "identity"}
        total = sum(families.values())
        return {name: weight / total for name, weight in families.items()}

    def family_of(self, component: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Index of the family of each of these components, -1 for exact calibration."""
        names = list(self.families)
        index = [-1 if each.is_exact else names.index(each.family) for each in self.components]
        return np.asarray(np.array(index)[component])
