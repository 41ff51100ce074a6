"""Clusters: the cases of each cluster, such as a patient, in each row of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.data.table import add_up

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["COUNTED", "Clusters", "centred_in_strata"]


COUNTED = ("trials", "hits", "square_trials", "square_hits")
"""What is summed over the cases of a cluster in a row."""


@dataclass(frozen=True)
class Clusters:
    """Cases and events of each cluster in each row of a table.

    Clusters are numbered by what they contain, so that neither their names nor the order of the
    cases matter.

    Attributes
    ----------
    cluster, row : ndarray of shape (entries,)
        Cluster and row of the table; each pair occurs once.
    trials, hits : ndarray of shape (entries,)
        Cases and events of that cluster in that row, on the scale of effective cases.
    square_trials, square_hits : ndarray of shape (entries,)
        Sums of the squared weights of these cases and events, on the squared scale.
    stratum : ndarray of shape (clusters,)
        Number of each cluster's stratum, from 0 without gaps.
    """

    cluster: NDArray[np.intp]
    row: NDArray[np.intp]
    trials: Floats
    hits: Floats
    square_trials: Floats
    square_hits: Floats
    stratum: NDArray[np.intp]

    @classmethod
    def of_cases(
        cls,
        cluster: NDArray[np.intp],
        row: NDArray[np.intp],
        counted: dict[str, Floats],
        stratum: NDArray[np.intp],
    ) -> Self:
        """Sum cases, or entries, over clusters and rows, and number the clusters by content.

        Parameters
        ----------
        cluster, row : ndarray of shape (n,)
        counted : dict of ndarray of shape (n,)
            By the names of `COUNTED`.
        stratum : ndarray of shape (clusters,)
        """
        rows = int(row.max()) + 1
        pairs, entry = np.unique(cluster * rows + row, return_inverse=True)
        sums = {name: add_up(entry, values) for name, values in counted.items()}
        of, at = np.divmod(pairs, rows)
        starts = np.flatnonzero(np.diff(of, prepend=-1))
        moments = [
            np.add.reduceat(values * at**power, starts)
            for values in (sums["trials"], sums["hits"])
            for power in range(3)
        ]
        by_content = np.lexsort((*moments, stratum))
        first = np.flatnonzero(np.diff(stratum[by_content], prepend=-1))
        strata = np.lexsort([each[by_content[first]] for each in moments])
        ranked = np.argsort(strata)[stratum]
        order = np.lexsort((*moments, ranked))
        number = np.argsort(order)[of]
        entries = np.lexsort((at, number))
        columns = {name: values[entries] for name, values in sums.items()}
        return cls(number[entries], at[entries], **columns, stratum=ranked[order])

    def in_rows(self, row: NDArray[np.intp]) -> Clusters:
        """The same clusters, where what was in one row is now in another: `row[r]` for r."""
        counted = {name: getattr(self, name) for name in COUNTED}
        return Clusters.of_cases(self.cluster, row[self.row], counted, self.stratum)

    @property
    def size(self) -> int:
        """Number of clusters."""
        return self.stratum.size

    @property
    def strata(self) -> int:
        """Number of strata."""
        return int(self.stratum.max()) + 1

    @property
    def in_stratum(self) -> NDArray[np.intp]:
        """Clusters of each stratum, of shape (strata,)."""
        return np.bincount(self.stratum)

    @property
    def are_single(self) -> bool:
        """Whether every cluster is one case, and there is one stratum: cases are independent."""
        total, squares = self.sums(self.trials), self.sums(self.square_trials)
        return self.strata == 1 and bool(np.allclose(total**2, squares, rtol=1e-9, atol=0))

    def sums(self, values: Floats) -> Floats:
        """Sums of values by entry over each cluster, of shape (clusters,)."""
        return add_up(self.cluster, values, self.size)

    def matrix(self, values: Floats, row: NDArray[np.intp], rows: int) -> sparse.csr_array:
        """Values by entry as a matrix of shape (clusters, rows).

        Parameters
        ----------
        values : ndarray of shape (entries,)
        row : ndarray of shape (entries,)
            Row of each entry, which may be one that merges several rows of the table.
        """
        from scipy import sparse

        return sparse.csr_array((values, (self.cluster, row)), shape=(self.size, rows))

    def centred(self, values: Floats) -> Floats:
        """Sums of clusters, of shape (clusters, ...), as deviations from their stratum's mean.

        They are scaled so that the sum of their squares is unbiased for the variance of the total
        of independent clusters. With one stratum they are left alone: the scores of a fitted curve
        sum to zero, or to what the prior balances.

        References
        ----------
        Binder (1983), On the variances of asymptotically normal estimators from complex surveys,
        International Statistical Review 51.
        """
        return centred_in_strata(values, self.stratum)


def centred_in_strata(values: Floats, stratum: NDArray[np.intp]) -> Floats:
    """Sums of clusters as deviations from their stratum's mean, as `Clusters.centred` has them.

    Parameters
    ----------
    values : ndarray of shape (clusters, ...)
    stratum : ndarray of shape (clusters,)
        Number of each cluster's stratum, from 0 without gaps.
    """
    clusters = np.bincount(stratum)
    if clusters.size == 1:
        return values
    total = np.zeros((clusters.size, *values.shape[1:]))
    np.add.at(total, stratum, values)
    shape = (-1, *(1 for _ in values.shape[1:]))
    mean = total / clusters.reshape(shape)
    factor = np.sqrt(clusters / (clusters - 1)).reshape(shape)
    return np.asarray((values - mean[stratum]) * factor[stratum])
