"""Patients who come in clusters: how many more of them a study needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_number
from bayescal.core.text import shortened
from bayescal.model.clusters import inflation_of
from bayescal.planning.setting import stream

__all__ = ["PlannedClusters", "as_clusters"]

LARGEST_CLUSTER = 1e6


@dataclass(frozen=True)
class PlannedClusters:
    """Sizes of clusters, and the correlation of the residuals of two of their patients.

    `weighted` is the sum of the squared sizes over the sum of the sizes: the cluster size that a
    patient meets (Eldridge, Ashby & Kerry, International Journal of Epidemiology 2006).
    """

    icc: float
    size: float
    weighted: float

    @property
    def effect(self) -> float:
        """The design effect: the variance over that of as many independent patients."""
        return 1 + (self.weighted - 1) * self.icc

    @property
    def described(self) -> str:
        """In words."""
        unequal = "" if self.weighted <= self.size * (1 + 1e-9) else "on average "
        return (
            f"clusters of {unequal}{self.size:g} patients with an intra-cluster correlation of "
            f"{self.icc:g} (design effect {self.effect:.3g})"
        )

    def independent(self, patients: int) -> int:
        """Independent patients who tell as much as these.

        They are fewer by the design effect, and by what the analysis adds where there are few
        clusters to estimate it from.
        """
        fewer = self.effect * inflation_of(self._degrees(patients))
        return max(round(patients / fewer), 1)

    def estimated(self, patients: int, size: int, seed: int) -> Floats:
        """How long intervals are by chance, as the design effect of each study is estimated.

        Over what they are with the true one; of shape (size,), the same for each study whenever it
        is simulated.
        """
        degrees = self._degrees(patients)
        if np.isinf(degrees):
            return np.ones(size)
        return np.asarray(
            np.sqrt(stream(seed, "clusters", patients).chisquare(degrees, size) / degrees)
        )

    def number(self, patients: float) -> int:
        """Clusters of so many patients."""
        return math.ceil(patients / self.size - 1e-9)

    def _degrees(self, patients: float) -> float:
        """Of the estimated variance: clusters less one, by the pairs of patients that inform it."""
        if self.weighted == 1:
            return np.inf
        clusters = patients / self.weighted
        return max((clusters - 1) * self.weighted / (self.weighted - 1), 1.0)


def as_clusters(icc: Any, cluster_size: Any) -> PlannedClusters | None:
    """Clusters as `plan` takes them; None of independent patients."""
    if icc is None and cluster_size is None:
        return None
    if icc is None or cluster_size is None:
        given, missing = ("cluster_size", "icc") if icc is None else ("icc", "cluster_size")
        raise InputError(f"{given} was given without {missing}. Pass both, or neither.")
    correlation = as_number(icc, "icc")
    if not 0 <= correlation < 1:
        raise InputError(f"icc must be from 0 to below 1, got {correlation:g}.")
    try:
        sizes = np.atleast_1d(np.asarray(cluster_size, dtype=np.float64))
    except (TypeError, ValueError):
        sizes = np.empty(0)
    if sizes.ndim != 1 or not sizes.size or not ((sizes >= 1) & (sizes <= LARGEST_CLUSTER)).all():
        raise InputError(
            "cluster_size must be the patients of a cluster, or those of each of several, each "
            f"from 1 to {LARGEST_CLUSTER:,.0f}, got {shortened(repr(cluster_size))}."
        )
    return PlannedClusters(correlation, float(sizes.mean()), float(sizes @ sizes / sizes.sum()))
