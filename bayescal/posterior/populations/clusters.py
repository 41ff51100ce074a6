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

MOST_CLUSTERS = 2000
"""Of a stratum; of more, random groups are drawn, whose variance is right to a few per cent."""
MANY_CLUSTERS = 200
"""From so many on, 1 - 2 / k is read as 1, which takes a tenth of the time."""


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
        size, few = part.stop - part.start, self._in_groups(rng)
        weight = np.empty((size, few.cases.shape[1]))
        for some in blocks(size, few.stratum.size):
            weight[some] = few._shares(some.stop - some.start, rng) @ few.cases
        weight /= weight.sum(axis=1, keepdims=True)
        return weight

    def worth(self, values: Floats) -> float:
        """Independent cases whose mean varies as that of these values by row, for each case."""
        total = self.cases.sum(axis=0)
        away = values - total @ values / total.sum()
        apart, clusters = self.cases @ away, np.bincount(self.stratum)
        apart -= (np.bincount(self.stratum, apart) / clusters)[self.stratum]
        variance = apart**2 @ (clusters / (clusters - 1))[self.stratum]
        return float(total @ away**2 / variance) if variance > 0 else 1.0

    def _in_groups(self, rng: np.random.Generator) -> ClusterBootstrap:
        """Of many clusters random groups, whose totals vary as much for each cluster."""
        clusters = np.bincount(self.stratum)
        if clusters.max() <= MOST_CLUSTERS:
            return self
        from scipy import sparse

        groups = np.minimum(clusters, MOST_CLUSTERS)
        shuffled = rng.permutation(self.stratum.size)
        shuffled = shuffled[np.argsort(self.stratum[shuffled], kind="stable")]
        layer = self.stratum[shuffled]
        index = np.arange(layer.size) - (np.cumsum(clusters) - clusters)[layer]
        group = (np.cumsum(groups) - groups)[layer] + index % groups[layer]
        entries = (np.ones(layer.size), (group, shuffled))
        member = sparse.csr_array(entries, shape=(groups.sum(), layer.size))
        return ClusterBootstrap(member @ self.cases, np.repeat(np.arange(groups.size), groups))

    def _shares(self, draws: int, rng: np.random.Generator) -> Floats:
        """Share of each cluster in its stratum, of shape (draws, clusters)."""
        clusters = np.bincount(self.stratum)
        first = np.cumsum(clusters) - clusters
        shape = (draws, self.stratum.size)
        if clusters.min() >= MANY_CLUSTERS:
            gammas = rng.standard_exponential(shape)
        else:
            gammas = rng.standard_gamma((1 - 2 / clusters)[self.stratum], shape)
        if clusters.size == 1 and clusters[0] > 2:
            return gammas
        total = np.add.reduceat(gammas, first, axis=1)
        none = total == 0
        if none.any():
            draw, layer = np.nonzero(none)
            chosen = first[layer] + rng.integers(clusters[layer])
            gammas[draw, chosen] = 1.0
            total[none] = 1.0
        gammas *= (clusters / total)[:, self.stratum]
        return gammas
