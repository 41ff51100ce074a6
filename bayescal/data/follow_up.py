"""How long the cases of a table were followed, up to a horizon, and what ended it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.text import count
from bayescal.data.members import Members
from bayescal.data.table import add_up

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "EARLY_SHARE",
    "FOLLOWED_COLUMNS",
    "LEFT",
    "OTHER_EVENT",
    "OWN_EVENT",
    "TIME_STEPS",
    "FollowUp",
]

TIME_STEPS = 1200
"""Steps of the grid from 0 to the horizon."""
STEP_ROUNDING = 1e-6
MOST_KEYS_A_CASE = 4
"""Up to so many possible keys for each case, cases are counted by key and not sorted."""
EARLY_SHARE = 0.05
"""Share of the time to the horizon by which some case must be under observation."""
FEW_UNDER_OBSERVATION, LEFT_FOR_EACH = 10, 20
"""Fewer cases, each for so many that have left, say too little of what happens from then on."""
FOLLOWED_COLUMNS = ("row", "entry", "exit", "kind")
"""What tells the entries of a follow-up apart, each an array of whole numbers."""
EXIT_ENTRY = "exit_entry"
"""How the entries of the clusters of followed cases are called in a dataset."""
LEFT, OWN_EVENT, OTHER_EVENT = range(3)
"""Kinds of exit: without an event, with that of interest, and with one that rules it out."""


@dataclass(frozen=True, eq=False)
class FollowUp:
    """Cases by row of a table, and by when they came, when they went, and by which kind of exit.

    Times are steps of a fixed grid, so that tables can be added. An event lies within the step that
    ends at its exit; a case that left did so at its exit, and was followed to the horizon where
    that is the last step.

    Attributes
    ----------
    horizon : float
    row, entry, exit : ndarray of int of shape (entries,)
        The last two from 0 to `TIME_STEPS`.
    kind : ndarray of int8 of shape (entries,)
        By the horizon: `LEFT`, `OWN_EVENT` or `OTHER_EVENT` (a competing event).
    weight : ndarray of shape (entries,)
        Sum of the weights of these cases.
    members : Members, optional
        The clusters of the cases, by entry in place of row.
    """

    horizon: float
    row: NDArray[np.intp]
    entry: NDArray[np.intp]
    exit: NDArray[np.intp]
    kind: NDArray[np.int8]
    weight: Floats
    members: Members | None = None

    @classmethod
    def of_cases(
        cls,
        horizon: float,
        row: NDArray[np.intp],
        time: Floats,
        kind: NDArray[np.int8],
        entry: Floats | None,
        weight: Floats,
        members: Members | None = None,
    ) -> Self:
        """Of cases, each in a row of a table; `members` has the number of a case as its row."""
        at = time / horizon * TIME_STEPS
        kind = np.where(time <= horizon, kind, LEFT).astype(np.int8)
        had = kind != LEFT
        of_event = np.clip(np.ceil(at - STEP_ROUNDING), 1, TIME_STEPS)
        left = np.where(time >= horizon, TIME_STEPS, np.clip(np.rint(at), 0, TIME_STEPS - 1))
        went = np.where(had, of_event, left).astype(np.intp)
        came = np.zeros(row.size, np.intp)
        if entry is not None:
            came = np.minimum(np.rint(entry / horizon * TIME_STEPS).astype(np.intp), went - had)
        return cls._summed(horizon, row, came, went, kind, weight, members=members)

    @classmethod
    def _summed(
        cls, horizon: float, *columns: NDArray[Any], members: Members | None = None
    ) -> Self:
        """Entries of columns that may have several alike, by whose position `members` are."""
        row, entry, exit_, kind, weight = columns
        came = TIME_STEPS + 1 if entry.any() else 1
        key = ((row * came + entry) * (TIME_STEPS + 1) + exit_) * 3 + kind
        if members is None:
            keys, total = _sums_by_key(key, weight)
        else:
            keys, at = np.unique(key, return_inverse=True)
            total, members = add_up(at, weight, keys.size), members.in_rows(at)
        rest, kind = np.divmod(keys, 3)
        rest, exit_ = np.divmod(rest, TIME_STEPS + 1)
        row, entry = np.divmod(rest, came)
        return cls(horizon, row, entry, exit_, kind.astype(np.int8), total, members)

    @classmethod
    def joined(cls, parts: Sequence[FollowUp]) -> FollowUp:
        """All entries of several tables, whose rows were made those of one."""
        horizons = sorted({part.horizon for part in parts})
        if len(horizons) > 1:
            raise InputError(
                f"the tables have the horizons {horizons[0]:g} and {horizons[1]:g}. Add tables of "
                "one horizon."
            )
        names = (*FOLLOWED_COLUMNS, "weight")
        columns = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
        starts = np.cumsum([0, *(part.row.size for part in parts)])
        members = [
            replace(part.members, row=part.members.row + start)
            for part, start in zip(parts, starts, strict=False)
            if part.members is not None
        ]
        together = Members.joined(members) if members else None
        return cls._summed(horizons[0], *columns, members=together)

    def in_rows(self, row: NDArray[np.intp]) -> FollowUp:
        """The same, where what was in row r is now in row `row[r]`, or, below 0, left out."""
        names, kept = (*FOLLOWED_COLUMNS[1:], "weight"), row[self.row] >= 0
        others = (getattr(self, name)[kept] for name in names)
        members = self.members
        if members is not None and not kept.all():
            members = members.in_rows(np.where(kept, np.cumsum(kept) - 1, -1))
        return self._summed(self.horizon, row[self.row][kept], *others, members=members)

    def without_clusters(self) -> FollowUp:
        """The same cases as independent ones."""
        return self if self.members is None else replace(self, members=None)

    def check(self) -> None:
        """Refuse a horizon of which, or of a time before which, the cases say nothing."""
        at, longest = self.horizon, float(self.exit.max()) * self.horizon / TIME_STEPS
        if self.exit.max() < TIME_STEPS and self.left_early.any():
            left = self.censored
            raise InputError(
                f"horizon is {at:g}, but no case was followed beyond {longest:.3g}, and {left:g} "
                f"left before the event: nothing says what happens between {longest:.3g} and "
                f"{at:g}. Choose a horizon of at most {longest:.3g}, with risks by then."
            )
        first = float(self.entry.min()) * at / TIME_STEPS
        if first > at * EARLY_SHARE:
            raise InputError(
                f"no case was under observation before {first:.3g}, so that nothing says how many "
                f"had the event by then, and the scores are risks from 0 to {at:g}. Count time "
                "from a moment at which cases were under observation, with risks from then on."
            )
        self._refuse_thin()

    def _refuse_thin(self) -> None:
        """Refuse a stretch of time in which nobody, or hardly anybody, is under observation."""
        at, under = self.horizon, self._under_observation
        left = np.bincount(self.exit, self.weight * self.left_early, TIME_STEPS + 1)
        left = np.cumsum(left)[:TIME_STEPS]
        first = int(self.entry.min())
        thin = (under < FEW_UNDER_OBSERVATION) & (left >= LEFT_FOR_EACH * under)
        thin &= np.arange(TIME_STEPS) >= first
        for some in (thin & (under <= 0), thin):
            start, end = _longest(some)
            if end - start <= EARLY_SHARE * TIME_STEPS:
                continue
            since, until = start * at / TIME_STEPS, end * at / TIME_STEPS
            most, gone = float(under[start:end].max()), float(left[start])
            who = f"never more than {count(most, 'case')} were" if most > 0 else "no case was"
            before = f", and {gone:.6g} had left by {since:.3g}" if gone else ""
            raise InputError(
                f"between {since:.3g} and {until:.3g} {who} under observation{before}: hardly "
                f"anything says what happens then. Choose a horizon of at most {since:.3g}, with "
                "risks by then."
            )

    @property
    def _under_observation(self) -> Floats:
        """Cases under observation in each step, without any event before."""
        came = np.bincount(self.entry, self.weight, TIME_STEPS + 1)
        went = np.bincount(self.exit, self.weight, TIME_STEPS + 1)
        return np.maximum(np.cumsum(came - went)[:TIME_STEPS], 0.0)

    @property
    def event(self) -> NDArray[np.bool_]:
        """Which entries had the event by the horizon."""
        return np.asarray(self.kind == OWN_EVENT)

    @property
    def other(self) -> NDArray[np.bool_]:
        """Which entries had a competing event by the horizon, which rules the event out."""
        return np.asarray(self.kind == OTHER_EVENT)

    @property
    def left_early(self) -> NDArray[np.bool_]:
        """Which entries left before the horizon, without any event."""
        return np.asarray((self.kind == LEFT) & (self.exit < TIME_STEPS))

    @property
    def censored(self) -> float:
        """Cases that left before the horizon, without any event (the sum of their weights)."""
        return float(self.weight[self.left_early].sum())

    @property
    def competing(self) -> float:
        """Cases with a competing event by the horizon (the sum of their weights)."""
        return float(self.weight[self.other].sum())

    @property
    def is_delayed(self) -> bool:
        """Whether some cases came under observation later than at time 0."""
        return bool(self.entry.any())

    def at_risk(self, times: Floats, of: NDArray[np.bool_] | None = None) -> Floats:
        """Cases under observation, without any event, just before each time of [0, horizon].

        Parameters
        ----------
        times : ndarray of shape (times,)
        of : ndarray of bool of shape (entries,), optional
            Which entries to count; by default all.
        """
        step = np.asarray(times, np.float64) / self.horizon * TIME_STEPS
        inside = (self.entry < step[:, None]) & (self.exit >= step[:, None] - STEP_ROUNDING)
        inside |= (step[:, None] <= 0) & (self.entry == 0)
        return np.asarray(inside @ (self.weight if of is None else self.weight * of))

    def cuts(self, intervals: int) -> tuple[int, ...]:
        """Steps between intervals with as much time at risk each: from 0 to the horizon."""
        risk = self._under_observation
        share = np.cumsum(risk) / max(float(risk.sum()), np.finfo(float).tiny)
        inner = np.searchsorted(share, np.arange(1, intervals) / intervals) + 1
        inner = np.unique(np.clip(inner, 1, TIME_STEPS - 1))
        return (0, *map(int, inner), TIME_STEPS)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FollowUp) or self.horizon != other.horizon:
            return False
        same = all(np.array_equal(getattr(self, n), getattr(other, n)) for n in FOLLOWED_COLUMNS)
        same &= self.members == other.members
        return same and np.allclose(self.weight, other.weight, rtol=1e-12, atol=0)

    def to_variables(self) -> dict[str, Any]:
        """Variables of a dataset, with the dimension `exit`."""
        variables: dict[str, Any] = {"horizon": ((), self.horizon)}
        for name in (*FOLLOWED_COLUMNS, "weight"):
            variables[f"exit_{name}"] = ("exit", getattr(self, name))
        if self.members is not None:
            variables |= self.members.to_variables(EXIT_ENTRY)
        return variables

    @classmethod
    def of_dataset(cls, dataset: xr.Dataset, rows: int) -> FollowUp | None:
        """Read back what `to_variables` wrote, for a table of so many rows; None without any."""
        if "horizon" not in dataset:
            return None
        row, entry, exit_, kind, weight = (
            dataset[f"exit_{name}"].to_numpy() for name in (*FOLLOWED_COLUMNS, "weight")
        )
        inside = (
            row.min() >= 0 and row.max() < rows and entry.min() >= 0 and exit_.max() <= TIME_STEPS
        )
        known = np.isin(kind, (LEFT, OWN_EVENT, OTHER_EVENT)).all()
        if not (inside and known and (entry <= exit_).all() and (weight > 0).all()):
            raise InputError(
                "the follow-up is not that of the table: it was edited or damaged. Load the file "
                "as it was written, or make the table again."
            )
        horizon = float(dataset["horizon"])
        row, entry, exit_ = (each.astype(np.intp) for each in (row, entry, exit_))
        members = Members.of_dataset(dataset, row.size, EXIT_ENTRY)
        if members is not None:
            members = replace(members, layer=None)  # strata are those of the table
        kind, weight = kind.astype(np.int8), weight.astype(np.float64)
        return cls(horizon, row, entry, exit_, kind, weight, members)


def _sums_by_key(key: NDArray[np.intp], weight: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Each of some keys from 0 on that occurs, ascending, and the sum of its weights."""
    if key.max(initial=0) > MOST_KEYS_A_CASE * key.size:
        keys, at = np.unique(key, return_inverse=True)
        return keys, add_up(at, weight, keys.size)
    keys = np.flatnonzero(np.bincount(key))
    return keys, add_up(key, weight)[keys]


def _longest(some: NDArray[np.bool_]) -> tuple[int, int]:
    """Start and end of the longest run of true values; (0, 0) without any."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], some.astype(np.int8), [0]])))
    starts, ends = edges[::2], edges[1::2]
    if not starts.size:
        return 0, 0
    longest = int(np.argmax(ends - starts))
    return int(starts[longest]), int(ends[longest])
