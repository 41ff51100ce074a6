"""Clusters: which cases depend on each other, and what each cluster holds in each row of a table.

A table keeps its clusters under keys made of their labels (`Members`), so that tables can be added.
A fit sees them numbered by what they contain (`Clusters`): neither names nor order matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import CaseError, InputError
from bayescal.core.text import shortened
from bayescal.data.roles import Roles, labels_of
from bayescal.data.rows import add_up, numbered

if TYPE_CHECKING:
    import xarray as xr
    from scipy import sparse

__all__ = ["Clusters", "Members"]

COUNTED = ("trials", "hits", "square_trials", "square_hits")
"""What is summed over the cases of a cluster in a row."""
UNIQUE = (
    "If clusters are numbered anew in each stratum, make the labels unique: put the stratum's "
    "name before the cluster's."
)
DAMAGED = (
    "the clusters are not those of the table: it was edited or damaged. Load the file as it was "
    "written, or make the table again."
)

Keys = NDArray[np.uint64]
Index = NDArray[np.intp]


class Members(NamedTuple):
    """Cases and events of each cluster in each row of a table, under keys made of their labels.

    A label has the same key in every table, so that clusters of two tables with one label are one
    cluster; the labels themselves are not kept.

    Attributes
    ----------
    key, layer : ndarray of shape (entries,)
        Keys of the cluster and of its stratum; of the stratum None where there are none.
    row : ndarray of shape (entries,)
        Row of the table.
    sums : ndarray of shape (4, entries)
        Weights of the cases and of the events, and the squares of these weights.
    """

    key: Keys
    layer: Keys | None
    row: Index
    sums: Floats

    def of(self, some: Any, row: Index) -> Members:
        """Some of the entries, in other rows."""
        layer = None if self.layer is None else self.layer[some]
        return Members(self.key[some], layer, row, self.sums[:, some])

    @classmethod
    def summed(cls, parts: Sequence[Members]) -> Members:
        """The entries of several tables in the rows of one, each cluster once in a row."""
        layers = [part.layer for part in parts if part.layer is not None]
        if layers and len(layers) < len(parts):
            raise InputError(
                "one table has strata and the other has none. Give both strata, or none."
            )
        key, row = (np.concatenate([part[at] for part in parts]) for at in (0, 2))
        sums = np.concatenate([part.sums for part in parts], axis=1)
        keys, cluster = np.unique(key, return_inverse=True)
        rows = int(row.max(initial=0)) + 1
        pairs, entry = numbered(cluster * rows + row)
        cluster, row = np.divmod(pairs, rows)
        layer = None
        if layers:
            given = np.concatenate(layers)
            layer = np.empty(pairs.size, np.uint64)
            layer[entry] = given
            of = np.empty(keys.size, np.uint64)
            of[cluster] = layer
            if (layer[entry] != given).any() or (of[cluster] != layer).any():
                raise InputError(f"a cluster lies in several strata. {UNIQUE}")
        total = np.stack([add_up(entry, each, pairs.size) for each in sums])
        return cls(keys[cluster], layer, row, total)

    @property
    def strata(self) -> Index:
        """Number of the stratum of each cluster, in the order of their keys."""
        keys, first = np.unique(self.key, return_index=True)
        if self.layer is None:
            return np.zeros(keys.size, np.intp)
        return np.unique(self.layer[first], return_inverse=True)[1]

    @property
    def too_few(self) -> tuple[str, ...]:
        """The role that holds too few clusters to see how much they differ, if there is one."""
        clusters = np.bincount(self.strata)
        if clusters.sum() < 2:
            return ("cluster",)
        return ("stratum",) if clusters.size > 1 and (clusters < 2).any() else ()

    def with_strata_of(self, other: Members) -> Members:
        """The same entries with the strata that their clusters have in another table."""
        if other.layer is None:
            return self._replace(layer=None)
        keys, first = np.unique(other.key, return_index=True)
        layer = other.layer[first][np.searchsorted(keys, self.key)]
        return self._replace(layer=layer)

    def clusters(self, scale: float, *, sampling: bool) -> Clusters:
        """The clusters on the scale of effective cases.

        Parameters
        ----------
        scale : float
            Of the weights.
        sampling : bool
            Whether the weights are sampling weights, and no counts of cases.
        """
        stratum = self.strata
        check_several(stratum)
        trials, hits, square_trials, square_hits = self.sums
        squares = (square_trials, square_hits) if sampling else (trials, hits)
        factor = scale**2 if sampling else scale
        values = (trials * scale, hits * scale, squares[0] * factor, squares[1] * factor)
        counted = dict(zip(COUNTED, values, strict=True))
        cluster = np.unique(self.key, return_inverse=True)[1]
        return Clusters.of_cases(cluster, self.row, counted, stratum)

    def equals(self, other: Members | None) -> bool:
        """Whether these are the same clusters in the same rows."""
        if other is None or (self.layer is None) != (other.layer is None):
            return False
        pairs = [(self.key, other.key), (self.row, other.row)]
        if self.layer is not None and other.layer is not None:
            pairs.append((self.layer, other.layer))
        same = all(np.array_equal(one, two) for one, two in pairs)
        return same and np.allclose(self.sums, other.sums, rtol=1e-12, atol=0)

    def to_variables(self, of: str = "entry") -> dict[str, Any]:
        """Variables of a dataset, with the dimensions `cluster` and that of the entries."""
        keys, first, cluster = np.unique(self.key, return_index=True, return_inverse=True)
        variables: dict[str, Any] = {"cluster_key": ("cluster", keys)}
        if self.layer is not None:
            variables["cluster_stratum"] = ("cluster", self.layer[first])
        columns = (cluster, self.row, *self.sums)
        names = ("cluster", "row", *COUNTED)
        return variables | {
            f"{of}_{name}": (of, each) for name, each in zip(names, columns, strict=True)
        }

    @classmethod
    def of_dataset(cls, dataset: xr.Dataset, rows: int, of: str = "entry") -> Members | None:
        """Read back what `to_variables` wrote, for a table of so many rows; None without any."""
        if f"{of}_cluster" not in dataset:
            return None
        key = dataset["cluster_key"].to_numpy()
        layer = dataset["cluster_stratum"].to_numpy() if "cluster_stratum" in dataset else None
        cluster, row = (dataset[f"{of}_{name}"].to_numpy() for name in ("cluster", "row"))
        sums = np.stack([dataset[f"{of}_{name}"].to_numpy() for name in COUNTED])
        known = np.array_equal(np.unique(cluster), np.arange(key.size))
        if not (known and np.isfinite(sums).all() and row.min() >= 0 and row.max() < rows):
            raise InputError(DAMAGED)
        layers = None if layer is None else layer[cluster]
        return cls(key[cluster], layers, row.astype(np.intp), sums)


def read_clusters(roles: Roles, weight: Floats, hits: Floats, *, complete: bool) -> Members:
    """The cluster and stratum of each case, which is in the row of its number.

    Parameters
    ----------
    complete : bool
        Whether these are all cases, so that there must be several clusters.
    """
    cluster, names = labels_of(roles.columns["cluster"], weight.size, "cluster")
    layer, layers = np.zeros(weight.size, np.intp), ["all"]
    if "stratum" in roles.columns:
        layer, layers = labels_of(roles.columns["stratum"], weight.size, "stratum")
    counted = weight > 0
    stratum = np.zeros(len(names), np.intp)
    stratum[cluster[counted]] = layer[counted]
    split = counted & (stratum[cluster] != layer)
    if split.any():
        at = int(split.argmax())
        both = " and ".join(shortened(repr(layers[k])) for k in (stratum[cluster[at]], layer[at]))
        name = shortened(repr(names[cluster[at]]))
        raise CaseError("cluster", f"{name} lies in several strata, {both}", cure=UNIQUE)
    if complete:
        present = np.unique(cluster[counted])
        used, of_present = np.unique(stratum[present], return_inverse=True)
        if not present.size:
            raise CaseError("y_true", "has no outcome", more=": every one is missing")
        check_several(of_present, names[present[0]], [layers[k] for k in used])
    keys = _keys(layers)[layer] if "stratum" in roles.columns else None
    sums = np.stack([weight, hits, weight**2, weight * hits])
    return Members(_keys(names)[cluster], keys, np.arange(weight.size), sums)


def check_several(
    stratum: Index, name: str | None = None, layers: Sequence[str] | None = None
) -> None:
    """Refuse one cluster in all, or in a stratum; by their names, where these are known."""
    if stratum.size < 2:
        told = "" if name is None else f", {shortened(repr(name))}"
        raise CaseError(
            "cluster",
            f"holds one cluster{told}, and at least two are needed to see how much clusters differ",
            cure="Leave cluster out if the cases are independent.",
        )
    alone = np.bincount(stratum) < 2
    if alone.size > 1 and alone.any():
        told = f"one of {alone.size}"
        if layers is not None:
            told = shortened(repr(layers[int(alone.argmax())]))
        raise CaseError(
            "stratum:",
            f"{told} holds one cluster, so that nothing shows how much its clusters differ",
            cure="Merge it with a stratum that is alike.",
        )


def _keys(names: Sequence[str]) -> Keys:
    """A number of 64 bits for each name, the same wherever it occurs."""
    digests = (
        hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for name in names
    )
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


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
        clusters = np.bincount(self.stratum)
        if clusters.size == 1:
            return values
        total = np.zeros((clusters.size, *values.shape[1:]))
        np.add.at(total, self.stratum, values)
        shape = (-1, *(1 for _ in values.shape[1:]))
        mean = total / clusters.reshape(shape)
        factor = np.sqrt(clusters / (clusters - 1)).reshape(shape)
        return np.asarray((values - mean[self.stratum]) * factor[self.stratum])
