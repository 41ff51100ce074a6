"""The Bayesian bootstrap of clusters: weights of rows that fall and rise cluster by cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats, blocks
from bayescal.data.clusters.clusters import Clusters

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["ClusterBootstrap"]


@dataclass(frozen=True)
class ClusterBootstrap:
    """Weights of the cases of clusters, drawn for whole clusters within each stratum.

    A stratum of k clusters keeps its cases, shared by Dirichlet(a, ..., a) with a = 1 - 2 / k:
    nearly the Dirichlet(1, ..., 1) of many clusters, and right for few, where means then vary as
    those of k clusters drawn anew do. Two clusters stand for their stratum by turns.

    Attributes
    ----------
    cases : sparse array of shape (clusters, rows)
        Cases of each cluster in each row.
    stratum : ndarray of shape (clusters,)

    References
    ----------
    Rubin (1981), The Bayesian bootstrap, Annals of Statistics 9. Rao & Wu (1988), Resampling
    inference with complex survey data, JASA 83.
    """

    cases: sparse.csr_array
    stratum: NDArray[np.intp]

    @classmethod
    def of(cls, clusters: Clusters, row: NDArray[np.intp], rows: int) -> Self:
        """That of clusters whose entries are in these rows, of shape (entries,)."""
        return cls(clusters.matrix(clusters.trials, row, rows), clusters.stratum)

    def weights(self, part: slice, rng: np.random.Generator) -> Floats:
        """Weights of a block of draws, of shape (draws of the block, rows)."""
        size = part.stop - part.start
        weight = np.empty((size, self.cases.shape[1]))
        for some in blocks(size, self.stratum.size):
            weight[some] = self._shares(some.stop - some.start, rng) @ self.cases
        weight /= weight.sum(axis=1, keepdims=True)
        return weight

    def _shares(self, draws: int, rng: np.random.Generator) -> Floats:
        """Share of each cluster, of mean 1, of shape (draws, clusters)."""
        clusters = np.bincount(self.stratum)
        first = np.cumsum(clusters) - clusters
        gammas = rng.standard_gamma((1 - 2 / clusters)[self.stratum], (draws, self.stratum.size))
        total = np.add.reduceat(gammas, first, axis=1)
        none = total == 0
        if none.any():
            draw, layer = np.nonzero(none)
            chosen = first[layer] + rng.integers(clusters[layer])
            gammas[draw, chosen] = 1.0
            total[none] = 1.0
        gammas *= (clusters / total)[:, self.stratum]
        return gammas
