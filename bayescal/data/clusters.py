"""Clusters: which cases depend on each other, and what each cluster holds in each row of a table.

A table keeps its clusters under keys made of their labels, so that tables can be added. A fit sees
them numbered by what they contain (`Clusters`): neither names nor order matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import CaseError, InputError
from bayescal.core.text import shortened
from bayescal.data.roles import Roles, labels_of
from bayescal.data.rows import Index, Keys, Rows, add_up

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["Clusters"]

# What is summed over the cases of a cluster in a row.
COUNTED = ("trials", "hits", "square_trials", "square_hits")
UNIQUE = (
    "If clusters are numbered anew in each stratum, make the labels unique: put the stratum's "
    "name before the cluster's."
)


def clusters_of(cases: Rows, row: Index, scale: float, *, sampling: bool) -> Clusters:
    """The clusters of cases, which are in some `row`, on the scale of effective cases."""
    stratum = strata_of(cases)
    check_several(stratum)
    assert cases.cluster is not None
    squares = cases.square_sums if sampling else (cases.trials, cases.hits)
    factor = scale**2 if sampling else scale
    values = (cases.trials * scale, cases.hits * scale, squares[0] * factor, squares[1] * factor)
    counted = dict(zip(COUNTED, values, strict=True))
    return Clusters.of_cases(
        np.unique(cases.cluster, return_inverse=True)[1], row, counted, stratum
    )


def strata_of(cases: Rows) -> Index:
    """Number of the stratum of each cluster, in the order of their keys."""
    assert cases.cluster is not None
    keys, first = np.unique(cases.cluster, return_index=True)
    if cases.stratum is None:
        return np.zeros(keys.size, np.intp)
    return np.unique(cases.stratum[first], return_inverse=True)[1]


def too_few(cases: Rows) -> tuple[str, ...]:
    """The role that holds too few clusters to see how much they differ, if there is one."""
    if cases.cluster is None:
        return ()
    clusters = np.bincount(strata_of(cases))
    if clusters.sum() < 2:
        return ("cluster",)
    return ("stratum",) if clusters.size > 1 and (clusters < 2).any() else ()


def check_strata(cases: Rows) -> None:
    """Refuse a cluster that lies in several strata."""
    if cases.stratum is not None and cases.cluster is not None:
        keys, cluster = np.unique(cases.cluster, return_inverse=True)
        of = np.empty(keys.size, np.uint64)
        of[cluster] = cases.stratum
        if (of[cluster] != cases.stratum).any():
            raise InputError(f"a cluster lies in several strata. {UNIQUE}")


def read_clusters(roles: Roles, weight: Floats, *, complete: bool) -> dict[str, Keys]:
    """The keys of the cluster of each case, and of its stratum if there are any, by role.

    `weight` is 0 where an outcome is unknown: such cases may be of any cluster. Of all the cases,
    if they are `complete`, there must be several clusters.
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
    of_strata = {"stratum": _keys(layers)[layer]} if "stratum" in roles.columns else {}
    return {"cluster": _keys(names)[cluster]} | of_strata


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
    """Cases and events of each cluster in each row of a table; each pair occurs once.

    Clusters are numbered by what they contain, so that neither their names nor the order of the
    cases matter. Trials and hits are on the scale of effective cases, sums of squared weights on
    the squared scale; strata are numbered from 0 without gaps.
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
        """Sum cases, or entries, over clusters and rows, and number the clusters by content."""
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
        """Values by entry as a matrix of shape (clusters, rows), rows by those of the entries."""
        from scipy import sparse

        return sparse.csr_array((values, (self.cluster, row)), shape=(self.size, rows))

    def centred(self, values: Floats) -> Floats:
        """Sums of clusters, of shape (clusters, ...), as deviations from their stratum's mean.

        Scaled so that the sum of squares is unbiased for the variance of the total: Binder (1983),
        Int. Stat. Review 51. With one stratum they are left alone: the scores of a fitted curve sum
        to zero, or to what the prior balances.
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
