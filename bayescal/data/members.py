"""Which cluster and stratum the cases of a table are of, under keys that tables can be added by."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, by_group
from bayescal.core.errors import CaseError, InputError
from bayescal.core.text import shortened
from bayescal.data.build.cases import CheckedCases
from bayescal.data.build.labels import GroupNames
from bayescal.data.clusters import COUNTED, Clusters
from bayescal.data.roles import DEPENDENCE, Roles
from bayescal.data.table import Tables, add_up, row_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["ClusterReader", "Members", "rows_of_cases"]

Keys = NDArray[np.uint64]
MOST_CLUSTERED = 20_000_000
"""Cases with clusters that are read in parts: each is kept until the table is made."""


@dataclass(frozen=True, eq=False)
class Members:
    """Cases and events of each cluster in each row of a table, under keys made of their labels.

    A label has the same key in every table, so that clusters of two tables with one label are one
    cluster; the labels themselves are not kept. `clusters` numbers them by what they contain.

    Attributes
    ----------
    key : ndarray of shape (clusters,)
        Ascending.
    layer : ndarray of shape (clusters,) or None
        Key of each cluster's stratum; None where there are no strata.
    cluster, row : ndarray of shape (entries,)
        Cluster and row of the table; each pair occurs once.
    sums : ndarray of shape (4, entries)
        Weights of the cases and of the events, and the squares of these weights.
    """

    key: Keys
    layer: Keys | None
    cluster: NDArray[np.intp]
    row: NDArray[np.intp]
    sums: Floats

    @classmethod
    def summed(cls, key: Keys, layer: Keys | None, row: NDArray[np.intp], sums: Floats) -> Self:
        """Cases, or entries, summed over clusters and rows."""
        keys, number = np.unique(key, return_inverse=True)
        layers = None
        if layer is not None:
            layers = np.zeros(keys.size, np.uint64)
            layers[number] = layer
            if (layers[number] != layer).any():
                raise InputError(f"a cluster lies in several strata. {_UNIQUE}")
        rows = int(row.max(initial=0)) + 1
        pairs, entry = np.unique(number * rows + row, return_inverse=True)
        cluster, at = np.divmod(pairs, rows)
        return cls(keys, layers, cluster, at, np.stack([add_up(entry, each) for each in sums]))

    @classmethod
    def joined(cls, parts: Sequence[Members]) -> Members:
        """All entries of several tables, whose rows were made those of one."""
        if any((part.layer is None) != (parts[0].layer is None) for part in parts):
            raise InputError(
                "one table has strata and the other has none. Give both strata, or none."
            )
        entries = [part._by_entry() for part in parts]
        layers = [layer for _, layer in entries if layer is not None]
        return cls.summed(
            np.concatenate([key for key, _ in entries]),
            np.concatenate(layers) if layers else None,
            np.concatenate([part.row for part in parts]),
            np.concatenate([part.sums for part in parts], axis=1),
        )

    def in_rows(self, row: NDArray[np.intp]) -> Members:
        """The same, where what was in row r is now in row `row[r]`, or, below 0, left out."""
        kept = row[self.row] >= 0
        key, layer = self._by_entry()
        layers = None if layer is None else layer[kept]
        return Members.summed(key[kept], layers, row[self.row[kept]], self.sums[:, kept])

    def _by_entry(self) -> tuple[Keys, Keys | None]:
        layer = None if self.layer is None else self.layer[self.cluster]
        return self.key[self.cluster], layer

    @property
    def too_few(self) -> tuple[str, ...]:
        """The role that holds too few clusters to see how much they differ, if there is one."""
        if self.key.size < 2:
            return ("cluster",)
        if self.layer is None:
            return ()
        alone = np.unique(self.layer, return_counts=True)[1] < 2
        return ("stratum",) if alone.size > 1 and alone.any() else ()

    def clusters(self, scale: float, *, sampling: bool) -> Clusters:
        """The clusters on the scale of effective cases.

        Parameters
        ----------
        scale : float
            Of the weights.
        sampling : bool
            Whether the weights are sampling weights, and no counts of cases.
        """
        layer = np.zeros(self.key.size, np.uint64) if self.layer is None else self.layer
        stratum = np.unique(layer, return_inverse=True)[1]
        check_several(self.key.size, stratum)
        trials, hits, square_trials, square_hits = self.sums
        squares = (square_trials, square_hits) if sampling else (trials, hits)
        factor = scale**2 if sampling else scale
        values = (trials * scale, hits * scale, squares[0] * factor, squares[1] * factor)
        counted = dict(zip(COUNTED, values, strict=True))
        return Clusters.of_cases(self.cluster, self.row, counted, stratum)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Members) or (self.layer is None) != (other.layer is None):
            return False
        pairs = [(getattr(self, name), getattr(other, name)) for name in ("key", "cluster", "row")]
        if self.layer is not None:
            pairs.append((self.layer, other.layer))
        same = all(np.array_equal(one, two) for one, two in pairs)
        return same and np.allclose(self.sums, other.sums, rtol=1e-12, atol=0)

    def to_variables(self, of: str = "entry") -> dict[str, Any]:
        """Variables of a dataset, with the dimensions `cluster` and that of the entries."""
        variables: dict[str, Any] = {"cluster_key": ("cluster", self.key)}
        if self.layer is not None:
            variables["cluster_stratum"] = ("cluster", self.layer)
        columns = (self.cluster, self.row, *self.sums)
        return variables | {
            f"{of}_{name}": (of, values)
            for name, values in zip(("cluster", "row", *COUNTED), columns, strict=True)
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
        inside = bool(np.isfinite(sums).all()) and row.min() >= 0 and row.max() < rows
        if not (known and inside):
            raise InputError(
                "the clusters are not those of the table: it was edited or damaged. Load the file "
                "as it was written, or make the table again."
            )
        return cls(key, layer, cluster.astype(np.intp), row.astype(np.intp), sums)


class ClusterReader:
    """Keeps the cluster and stratum of each case until the rows of the table are known."""

    def __init__(self) -> None:
        self._called: list[str] = list(DEPENDENCE)
        self._names = GroupNames(), GroupNames()
        self._codes: list[list[Any]] = []
        self._cases: list[tuple[Any, ...]] = []
        self._size = 0

    def add(self, roles: Roles, cases: CheckedCases, code: NDArray[np.int64] | None) -> None:
        """Take in cases.

        Parameters
        ----------
        roles : Roles
            With clusters.
        code : ndarray of int of shape (n,) or None
            Group of each case.
        """
        size = cases.outcome.size
        self._size += size
        self._called = list(DEPENDENCE)
        if self._codes and self._size > MOST_CLUSTERED:
            raise InputError(
                f"{self._called[0]} is of more than {MOST_CLUSTERED:,} cases, and the cluster of "
                "each is kept until all are read. Leave clusters out, or take a sample of whole "
                "clusters."
            )
        kept: Any = slice(None) if cases.weight is None else cases.weight > 0
        codes: list[Any] = [None, None]
        for at, role in enumerate(DEPENDENCE):
            if role in roles.columns:
                labels = roles.columns[role]
                codes[at] = self._names[at].codes(labels, size, self._called[at])[kept]
        self._codes.append(codes)
        weight, group = (None if each is None else each[kept] for each in (cases.weight, code))
        outcome, score = (each[kept].astype(np.float64) for each in cases[:2])
        self._cases.append((outcome, score, weight, group))

    def members(self, tables: Tables, groups: GroupNames | None, *, complete: bool) -> Members:
        """Cases and events of each cluster in each row of the tables of all groups.

        Parameters
        ----------
        groups : GroupNames or None
            The name of each group's number.
        complete : bool
            Whether these are all cases, so that there must be several clusters.
        """
        score, group = (_joined(part[at] for part in self._cases) for at in (1, 3))
        return self.in_rows(rows_of_cases(tables, groups, score, group), complete=complete)

    def in_rows(self, row: NDArray[np.intp], *, complete: bool = True) -> Members:
        """As `members`, where the row of each case that counts is known."""
        cluster, layer = (_joined(parts) for parts in zip(*self._codes, strict=True))
        outcome, weight = (_joined(part[at] for part in self._cases) for at in (0, 2))
        each = np.ones(outcome.size) if weight is None else weight
        self._check(cluster, layer, complete=complete)
        keys, layers = (_keys(names.names) for names in self._names)
        sums = np.stack([each, each * outcome, each**2, each**2 * outcome])
        return Members.summed(keys[cluster], None if layer is None else layers[layer], row, sums)

    def _check(self, cluster: Any, layer: Any, *, complete: bool) -> None:
        """Refuse what only the labels can name."""
        called, of = self._called
        present, number = np.unique(cluster, return_inverse=True)
        stratum, layers = np.zeros(present.size, np.intp), ["all"]
        names = self._names[0].names
        if layer is not None:
            used, layer = np.unique(layer, return_inverse=True)
            layers = [self._names[1].names[k] for k in used.tolist()]
            stratum[number] = layer
            split = stratum[number] != layer
            if split.any():
                at = int(split.argmax())
                both = " and ".join(
                    shortened(repr(layers[each])) for each in (stratum[number[at]], layer[at])
                )
                name = shortened(repr(names[present[number[at]]]))
                raise CaseError(called, f"{name} lies in several strata, {both}", cure=_UNIQUE)
        if complete:
            check_several(present.size, stratum, called, names[present[0]], of, layers)


def check_several(
    clusters: int,
    stratum: NDArray[np.intp],
    called: str = "cluster",
    name: str | None = None,
    of: str = "stratum",
    layers: Sequence[str] | None = None,
) -> None:
    """Refuse one cluster in all, or in a stratum."""
    if clusters < 2:
        told = "" if name is None else f", {shortened(repr(name))}"
        raise CaseError(
            called,
            f"holds one cluster{told}, and at least two are needed to see how much clusters differ",
            cure=f"Leave {called} out if the cases are independent.",
        )
    alone = np.bincount(stratum) < 2
    if alone.size > 1 and alone.any():
        at = int(alone.argmax())
        told = f"one of {alone.size}" if layers is None else shortened(repr(layers[at]))
        raise CaseError(
            f"{of}:",
            f"{told} holds one cluster, so that nothing shows how much its clusters differ",
            cure="Merge it with a stratum that is alike.",
        )


_UNIQUE = (
    "If clusters are numbered anew in each stratum, make the labels unique: put the stratum's "
    "name before the cluster's."
)


def rows_of_cases(tables: Tables, groups: GroupNames | None, score: Floats, group: Any) -> Any:
    """The row of each case, in the rows of all groups one after the other.

    Parameters
    ----------
    group : ndarray of int of shape (n,)
        Number of each case's group, whose name is in `groups`; of no meaning without groups.
    """
    if groups is None:
        (rows,) = tables.values()
        return row_of(rows, score)
    row, start = np.empty(score.size, np.intp), 0
    order = by_group(group)
    ends = np.searchsorted(group[order], np.arange(len(groups.names) + 1))
    code_of = {name: code for code, name in enumerate(groups.names)}
    for name, rows in tables.items():
        code = code_of[str(name)]
        own = order[ends[code] : ends[code + 1]]
        row[own] = start + row_of(rows, score[own])
        start += rows.score.size
    return row


def _joined(parts: Iterable[Any]) -> Any:
    arrays = [part for part in parts if part is not None]
    return np.concatenate(arrays) if arrays else None


def _keys(names: Sequence[str]) -> Keys:
    """A number of 64 bits for each name, the same wherever it occurs."""
    digests = (
        hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for name in names
    )
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)
