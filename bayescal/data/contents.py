"""What a table holds: made of cases, in any parts and order; selected, pooled and added."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import BLOCK, Floats, blocks
from bayescal.core.errors import CaseError, InputError, check_callable
from bayescal.core.text import exact, shortened
from bayescal.data.cases import (
    as_floats,
    as_scores,
    as_vector,
    as_weights,
    check_cases,
    check_same_length,
    is_missing,
    refuse_first,
    refuse_labels,
    warn_of_absent,
)
from bayescal.data.clusters import Members, check_several, read_clusters
from bayescal.data.columns import ROLES
from bayescal.data.roles import (
    DEPENDENCE,
    IMPUTATION,
    NO_STRUCTURE,
    Cell,
    Roles,
    Structure,
    as_roles,
    ordered_cells,
    read_groups,
)
from bayescal.data.rows import Rows, add_up, summed
from bayescal.data.times import FollowUp, Survival, as_horizon, check_codes, refuse_horizon
from bayescal.data.weights import (
    WeightType,
    as_weight_type,
    both_types,
    is_collapsed,
    warn_of_ambiguity,
    warn_of_types,
)

__all__ = []

MOST_WAITING = 4
"""Cases that wait for each row that is summed already: a case is summed once or twice."""
TIME_COLUMNS = ("time", "event", "entry")
CASES = ("y_true", "time", "y_prob")
CHUNK_COLUMNS = ("y_true", *TIME_COLUMNS, "y_prob", *ROLES)
"""What a chunk can have."""


@dataclass(frozen=True)
class Contents:
    """What a table holds.

    Attributes
    ----------
    structure : Structure
        The roles of the groups.
    cells : tuple of tuple of str
        The levels of each group, in the order of their names; one without roles.
    rows : Rows
        Of all groups, one after the other. Of parts that are not summed yet each row is a case.
    squares : ndarray of shape (cells,)
        Sums of the squared weights.
    weight_type : {"counts", "sampling"} or None
    members : Members, optional
        The clusters of the cases.
    follow_up : FollowUp, optional
        How long the cases were followed, of times to an event.
    unknown : Contents, optional
        The cases whose outcome is missing.
    is_single : bool
        Whether scores came as numbers of 32 bits, which round those near 1 to it.
    """

    structure: Structure
    cells: tuple[Cell, ...]
    rows: Rows
    squares: Floats
    weight_type: WeightType | None = None
    members: Members | None = None
    follow_up: FollowUp | None = None
    unknown: Contents | None = None
    is_single: bool = False

    def of_rows(self, rows: Rows) -> Contents:
        """The same groups with other rows, each case of which counts once; no clusters."""
        squares = add_up(rows.cell, rows.trials, len(self.cells))
        return replace(_independent(self), rows=rows, squares=squares)


def regrouped(
    parts: Sequence[Contents],
    structure: Structure,
    cell_of: Callable[[dict[str, str]], Cell | None],
) -> Contents:
    """All cases of some tables in other groups: the one way in which tables are summed.

    Parameters
    ----------
    structure : Structure
        The roles of the groups to be.
    cell_of : callable
        The levels there of a group with these levels, by role; None to leave its cases out.
    """
    new_of: dict[int, list[Cell | None]] = {}
    for part in parts:
        if id(part.cells) not in new_of:
            new_of[id(part.cells)] = [cell_of(part.structure.named(cell)) for cell in part.cells]
    cells = ordered_cells({cell for new in new_of.values() for cell in new if cell is not None})
    position: dict[Cell | None, int] = {cell: at for at, cell in enumerate(cells)} | {None: -1}
    moves = {
        key: np.array([position[cell] for cell in new], np.int32) for key, new in new_of.items()
    }
    squares = np.zeros(len(cells) + 1)  # of those left out at the end
    moved = []
    for part in parts:
        move = moves[id(part.cells)]
        squares += np.bincount(move % (len(cells) + 1), part.squares, squares.size)
        moved.append(part.rows._replace(cell=move[part.rows.cell]))
    together = Rows.joined(moved)
    kept = (together.cell >= 0) & (together.trials > 0)
    rows, at = summed(together if kept.all() else together.of(kept))
    to = np.full(kept.size, -1)
    to[kept] = at
    starts = np.cumsum([0, *(part.rows.score.size for part in parts)])
    members, follow_ups = [], []
    for part, start in zip(parts, starts, strict=False):
        if part.members is not None:
            row = to[part.members.row + start]
            members.append(part.members.of(row >= 0, row[row >= 0]))
        if part.follow_up is not None:
            row = to[part.follow_up.row + start]
            follow_ups.append(part.follow_up.of(row >= 0, row[row >= 0]))
    unknown = [part.unknown for part in parts if part.unknown is not None]
    present = np.unique(rows.cell)
    if present.size < len(cells):
        rows = rows._replace(cell=np.searchsorted(present, rows.cell).astype(np.int32))
        cells = tuple(cells[k] for k in present)
    return Contents(
        structure,
        cells,
        rows,
        squares[present],
        parts[0].weight_type,
        Members.summed(members) if members else None,
        FollowUp.summed(follow_ups) if follow_ups else None,
        regrouped(unknown, structure, cell_of) if unknown else None,
        any(part.is_single for part in parts),
    )


def added(parts: Sequence[Contents]) -> Contents:
    """The cases of several tables; groups and clusters of one name are one."""
    known = [part for part in parts if part.rows.score.size] or parts
    if len({part.members is None for part in known}) > 1:
        raise InputError(
            "one table has clusters and the other has none. Make both with cluster=, where every "
            "case that stands alone is a cluster of its own."
        )
    if len({part.follow_up is None for part in known}) > 1:
        raise InputError(
            "one table has times to an event and the other has outcomes. Make both of one kind."
        )
    types = {part.weight_type for part in parts if part.weight_type is not None}
    if len(types) > 1:
        raise InputError(
            "one table holds counts of cases and the other sampling weights, which have no common "
            "scale. Make both with the same weight_type=; a case that was sampled for certain has "
            "the sampling weight 1."
        )
    structure = reduce(Structure.joined, (part.structure for part in parts))
    together = regrouped(parts, structure, _in(structure))
    return replace(together, weight_type=types.pop() if types else None)


def selected(contents: Contents, levels: Mapping[str, str]) -> Contents:
    """The groups that have these levels, with the other roles."""
    rest = contents.structure.without(levels)

    def cell_of(named: dict[str, str]) -> Cell | None:
        has = all(named[role] == level for role, level in levels.items())
        return _in(rest)(named) if has else None

    having = regrouped([contents], rest, cell_of)
    if not having.rows.score.size:
        told = ", ".join(f"{role}={level!r}" for role, level in levels.items())
        raise InputError(f"no case has {told}. The combinations that occur are in data.cells.")
    return having


def of_group(contents: Contents, at: int) -> Contents:
    """The cases of one group, by its position, without roles.

    It takes as long as the group has rows, whatever the number of groups.
    """
    rows, cell = contents.rows, contents.cells[at]
    start, end = np.searchsorted(rows.cell, [at, at + 1])
    own = rows.of(slice(start, end))._replace(cell=np.zeros(end - start, np.int32))
    members, times, unknown = contents.members, contents.follow_up, contents.unknown
    if members is not None:
        some = (members.row >= start) & (members.row < end)
        members = members.of(some, members.row[some] - start)
    if times is not None:
        some = (times.row >= start) & (times.row < end)
        times = times.of(some, times.row[some] - start)
    if unknown is not None:
        has = cell in unknown.cells
        unknown = of_group(unknown, unknown.cells.index(cell)) if has else None
    squares = contents.squares[at : at + 1]
    kind = contents.weight_type
    return Contents(
        *(NO_STRUCTURE, ((),), own, squares, kind, members, times, unknown, contents.is_single)
    )


def forgotten(contents: Contents, roles: Collection[str]) -> Contents:
    """The same cases with some roles forgotten; with clusters, their strata."""
    if "cluster" in roles:
        contents = _independent(contents)
    elif "stratum" in roles and contents.members is not None:
        contents = replace(contents, members=contents.members._replace(layer=None))
    structure = contents.structure.without(roles)
    if structure == contents.structure:
        return contents
    return regrouped([contents], structure, _in(structure))


def split(contents: Contents) -> list[Contents]:
    """What the table of each imputation holds, in the order of their labels."""
    levels = contents.structure.levels[IMPUTATION]
    return [selected(contents, {IMPUTATION: level}) for level in levels]


def stacked(each: Sequence[Contents], labels: Sequence[str] | None = None) -> Contents:
    """What the tables of several imputations of the same cases hold together.

    Without labels the cases of all, each counted 1/m in each of m tables, so that cases and events
    are those of one table: for what is shown of the data, as it knows nothing of the spread between
    tables. With labels the groups of each imputation, for a file.
    """
    structure = reduce(Structure.joined, (part.structure for part in each))
    if labels is None:
        together = regrouped([_independent(part) for part in each], structure, _in(structure))
        return _divided(together, len(each))
    full = Structure({IMPUTATION: tuple(labels)} | structure.levels, structure.periods)
    inside = _in(structure)

    def of_one(label: str, part: Contents) -> Contents:
        return regrouped([part], full, lambda named: (label, *inside(named)))

    return added([of_one(label, part) for label, part in zip(labels, each, strict=True)])


def _independent(contents: Contents) -> Contents:
    """The same cases without clusters."""
    alone = None if contents.follow_up is None else contents.follow_up.without_clusters()
    return replace(contents, members=None, follow_up=alone)


def _divided(contents: Contents, m: int) -> Contents:
    """The same where each case counts 1/m."""
    rows, times, unknown = contents.rows, contents.follow_up, contents.unknown
    trials, hits, position = (values / m for values in (rows.trials, rows.hits, rows.position))
    return replace(
        contents,
        rows=rows._replace(trials=trials, hits=hits, position=position),
        squares=contents.squares / m,
        follow_up=None if times is None else replace(times, weight=times.weight / m),
        unknown=None if unknown is None else _divided(unknown, m),
    )


def _in(structure: Structure) -> Callable[[dict[str, str]], Cell]:
    """The levels of a group in the roles of a structure."""
    return lambda named: tuple(named[role] for role in structure.levels)


def contents_of(
    y_true: Any, y_prob: Any, sample_weight: Any, roles: Roles, **options: Any
) -> Contents:
    """What the table of some cases holds; options as those of `Reader`."""
    reader = Reader(**options)
    reader.take(y_true, y_prob, sample_weight, roles, complete=True)
    return reader.finished()


class Collector:
    """Sums parts of tables when enough of them wait."""

    def __init__(self) -> None:
        self._waiting: list[Contents] = []
        self._size, self._total = 0, 0

    def add(self, part: Contents) -> None:
        """Take in one part."""
        self._waiting.append(part)
        self._size += part.rows.score.size
        if self._size >= max(BLOCK, MOST_WAITING * self._total):
            self.total()

    def total(self) -> Contents:
        """All parts together."""
        total = added(self._waiting)
        self._waiting, self._size, self._total = [total], 0, total.rows.score.size
        return total


class Reader:
    """Takes in cases part by part, and makes the table of all.

    Parameters
    ----------
    weight_type : {"counts", "sampling"}, optional
        What the weights are; by default counts if all are whole numbers, else sampling weights.
    pos_label : object, optional
        The label in `y_true` that counts as the event.
    horizon : float, optional
        Of times to an event.

    Attributes
    ----------
    cases : int
        Number of cases so far.
    other_labels : set
        With `pos_label`, labels beside the event, while there was no event.
    has_event : bool
        Whether some case so far had the event.
    """

    def __init__(
        self,
        *,
        weight_type: WeightType | None = None,
        pos_label: Any = None,
        horizon: float | None = None,
    ) -> None:
        self._weight_type, self._pos_label, self._horizon = weight_type, pos_label, horizon
        self._parts, self._unweighted = Collector(), Collector()
        self._columns: tuple[str, ...] | None = None
        self._event_codes: set[int] = set()
        self.cases, self._largest = 0, 0.0
        self.has_event, self._sampling, self._is_whole = False, False, False
        self.other_labels: set[Any] = set()

    def add(self, chunk: Any, name: str) -> None:
        """Take in one chunk, which errors call by this name."""
        given = _columns(chunk, name)
        try:
            if all(_size(given[key]) == 0 for key in given if key in CASES):
                return
            times = {key: given.pop(key, None) for key in TIME_COLUMNS}
            y_true = given.pop("y_true", None)
            if times["time"] is not None:
                y_true = Survival(**times)
            y_prob, weight = given.pop("y_prob"), given.pop("sample_weight", None)
            self.take(y_true, y_prob, weight, as_roles(**given))
        except CaseError as error:
            raise error.changed(part=name) from error
        except InputError as error:
            raise InputError(f"{name}: {error}") from error

    def take(
        self,
        y_true: Any,
        y_prob: Any,
        sample_weight: Any,
        roles: Roles,
        *,
        complete: bool = False,
    ) -> None:
        """Take in cases, which are all that there are if they are complete."""
        named = "time" if isinstance(y_true, Survival) else "y_true"
        (y_true, y_prob, weight), roles = roles.aligned(
            **{named: y_true, "y_prob": y_prob, "sample_weight": sample_weight}
        )
        outcome, followed = y_true, None
        if isinstance(y_true, Survival):
            followed, outcome = y_true, y_true.outcome(as_horizon(self._horizon))
            self._event_codes |= y_true.unnamed_codes
            if self._pos_label is not None:
                raise InputError(
                    "pos_label was given beside a Survival, whose events are 0/1. Drop it."
                )
            if complete:
                check_codes(self._event_codes)
        else:
            refuse_horizon(self._horizon)
        self._check_columns(weight is not None, roles, followed is not None)
        label = None if followed is not None else self._pos_label
        cases = check_cases(outcome, y_prob, weight, pos_label=label, part=not complete)
        chosen = self._chosen(cases.weight)
        groups = read_groups(roles, cases.outcome.size)
        if complete and chosen is None and cases.weight is not None:
            warn_of_ambiguity(cases.weight, cases.score, np.nan_to_num(cases.outcome), groups.code)
        self._is_whole = complete
        self._note_labels(y_true, cases.outcome)
        self.cases += cases.outcome.size
        code, members, times = groups.code, None, None
        size = cases.score.size
        if "cluster" in roles.columns or followed is not None:
            weights = np.ones(size) if cases.weight is None else cases.weight
            known = weights * ~np.isnan(cases.outcome)
            hits = known * np.nan_to_num(cases.outcome)
            if "cluster" in roles.columns:
                members = read_clusters(roles, known, hits, complete=complete)
            if followed is not None:
                alone = None if members is None else members._replace(layer=None)
                times = FollowUp.of_cases(followed, as_horizon(self._horizon), weights, alone)
        for part in blocks(size, room=BLOCK if members is None and times is None else size):
            weights = np.ones(code[part].size) if cases.weight is None else cases.weight[part]
            score, y = cases.score[part].astype(np.float64), cases.outcome[part]
            missing = np.isnan(y) if y.dtype.kind == "f" else np.zeros(y.size, bool)
            unknown = None
            if missing.any():
                rows = Rows.exact(score, weights * missing, np.zeros(y.size), code[part])
                unknown = _raw(groups.structure, groups.cells, rows, chosen)
                y = np.nan_to_num(y)
            trials = weights * ~missing
            rows = Rows.exact(score, trials, trials * y, code[part])
            raw = _raw(groups.structure, groups.cells, rows, chosen, members, times, unknown)
            raw = replace(raw, is_single=cases.score.dtype == np.float32)
            self._parts.add(raw)
            if cases.weight is not None and self._is_unclear and not complete:
                once = np.sign(trials)
                self._unweighted.add(raw.of_rows(rows._replace(trials=once, hits=once * y)))

    @property
    def _is_unclear(self) -> bool:
        """Whether nothing so far says what the weights are."""
        return self._weight_type is None and not self._sampling

    def contents(self, *, complete: bool = False) -> Contents:
        """What the table of all parts holds.

        Parameters
        ----------
        complete : bool
            Whether these are all cases, so that there must be several clusters.
        """
        if self._columns is None:
            raise InputError("the chunks hold no cases: at least one observation is needed.")
        if "weights" in self._columns:
            as_weights([self._largest], 1)
        elif self._weight_type is not None:
            as_weight_type(self._weight_type, None)
        check_codes(self._event_codes)
        contents = self._parts.total()
        if complete and contents.members is not None:
            check_several(contents.members.strata)
        return contents

    def finished(self) -> Contents:
        """As `contents`, with a warning when whole-number weights can be either, or no event is.

        Rows that are exact show whether they were collapsed; on the grid nothing does.
        """
        contents = self.contents(complete=True)
        if contents.follow_up is not None:
            _check_followed(contents)
        if self._pos_label is not None and not self.has_event and not self._is_whole:
            check_labels(self._pos_label, self.other_labels)
        if self._is_unclear and self._largest > 0 and not self._is_whole:
            rows, plain = contents.rows, self._unweighted.total().rows
            total, squares = float(rows.trials.sum()), float(contents.squares.sum())
            types = both_types(int(plain.trials.sum()), total, squares)
            if types is not None and not _look_collapsed(rows, plain):
                warn_of_types(types, total, squares)
        return contents

    def _chosen(self, weight: Floats | None) -> WeightType | None:
        if weight is None:
            return self._weight_type
        chosen = as_weight_type(self._weight_type, weight)
        self._sampling |= chosen == "sampling"
        self._largest = max(self._largest, float(weight.max()))
        return chosen

    def _check_columns(self, weighted: bool, roles: Roles, timed: bool) -> None:
        now = (*["weights"] * weighted, *roles.of_groups(), *set(roles.columns) & {*DEPENDENCE})
        now = (*now, *["times to an event"] * timed)
        if self._columns is None:
            self._columns = now
        for what in {*now} ^ {*self._columns}:
            has, had = ("has", "had none") if what in now else ("has no", "had some")
            raise InputError(
                f"this chunk {has} {what}, and those before {had}. Give every chunk {what}, or "
                "none."
            )

    def _note_labels(self, y_true: Any, outcome: NDArray[Any]) -> None:
        """Keep the labels beside the event as long as there is no event."""
        self.has_event |= bool((outcome > 0).any())
        if self._pos_label is not None and not self.has_event:
            labels = as_vector(y_true, "y_true").tolist()
            self.other_labels |= {label for label in labels if not is_missing(label)}


def _raw(
    structure: Structure,
    cells: tuple[Cell, ...],
    rows: Rows,
    weight_type: WeightType | None,
    members: Members | None = None,
    follow_up: FollowUp | None = None,
    unknown: Contents | None = None,
) -> Contents:
    """A part of a table whose rows are cases."""
    squares = add_up(rows.cell, rows.trials**2, len(cells))
    return Contents(structure, cells, rows, squares, weight_type, members, follow_up, unknown)


def check_labels(pos_label: Any, others: Collection[Any]) -> None:
    """Warn that no case has the event beside one other label; refuse several."""
    if len(others) > 1:
        labels = np.empty(len(others), object)
        labels[:] = list(others)
        refuse_labels(labels, pos_label)
    for label in others:
        warn_of_absent(pos_label, label)


def read_chunks(
    chunks: Iterable[Any], reader: Reader, progress: Callable[[int], object] | None = None
) -> None:
    """Take in chunks, each called by its position."""
    if not isinstance(chunks, Iterable) or getattr(chunks, "shape", None) == ():
        raise InputError(f"chunks must be a list or a generator, got {shortened(repr(chunks))}.")
    check_callable(progress, "progress", "the number of cases")
    for position, chunk in enumerate(chunks):
        reader.add(chunk, f"chunk {position}")
        if progress is not None:
            progress(reader.cases)


def _columns(chunk: Any, name: str) -> dict[str, Any]:
    """The columns of a chunk by the names of the constructor's arguments."""
    if hasattr(chunk, "_asdict"):
        chunk = chunk._asdict()
    if isinstance(chunk, Mapping):
        unknown = [key for key in chunk if key not in CHUNK_COLUMNS]
        timed = not set(TIME_COLUMNS).isdisjoint(chunk)
        if timed and "y_true" in chunk:
            raise InputError(f"{name} has y_true and times to an event. Leave one of them out.")
        needed = ("time", "event", "y_prob") if timed else ("y_true", "y_prob")
        if unknown or not set(needed) <= set(chunk):
            what = f"has {unknown[0]!r}" if unknown else f"lacks {' or '.join(needed)}"
            raise InputError(f"{name} {what}. Its columns are called {', '.join(CHUNK_COLUMNS)}.")
        return dict(chunk)
    if not isinstance(chunk, (tuple, list)) or not 2 <= len(chunk) <= 4:
        raise InputError(
            f"{name} is no tuple (y_true, y_prob), (y_true, y_prob, weight) or "
            "(y_true, y_prob, weight or None, site), and no mapping, but "
            + type(chunk).__name__
            + (f" of length {len(chunk)}." if isinstance(chunk, (tuple, list)) else ".")
        )
    return dict(zip(("y_true", "y_prob", "sample_weight", "site"), chunk, strict=False))


def _size(column: Any) -> int:
    return len(column) if isinstance(column, Survival) else np.size(column)


def _look_collapsed(weighted: Rows, plain: Rows) -> bool:
    """Whether no score has two rows of one outcome, and most of the weight one of each."""
    misses = plain.trials - plain.hits
    if not plain.is_exact or (np.maximum(plain.hits, misses) > 1).any():
        return False
    return is_collapsed(weighted.trials, plain.trials == 2)


def _check_followed(contents: Contents) -> None:
    """Refuse a follow-up that says nothing of the horizon; warn of probabilities of survival."""
    is_imputed = IMPUTATION in contents.structure.levels
    for at, each in enumerate(split(contents) if is_imputed else [contents]):
        of_all = forgotten(each, list(each.structure.levels))
        assert of_all.follow_up is not None
        of_all.follow_up.check()
        if not at:
            of_all.follow_up.warn_of_survival(of_all.rows.score.size)


def contents_of_counts(prob: Any, trials: Any, hits: Any, roles: Roles) -> Contents:
    """What the table of counts holds; repeated scores are added up.

    Parameters
    ----------
    prob, trials, hits : array-like of shape (rows,)
    roles : Roles
        Columns by row.
    """
    (prob, trials, hits), roles = roles.aligned(prob=prob, trials=trials, hits=hits)
    score, cases = as_scores(prob, "prob"), as_vector(trials, "trials")
    check_same_length(score.size, "prob", cases.size, "trials")
    counts, events = as_weights(cases, score.size, "trials"), as_floats(hits, "hits")
    assert counts is not None
    check_same_length(score.size, "prob", events.size, "hits")
    wrong = ~np.isfinite(events) | (events < 0)
    refuse_first(wrong, events, "hits", "is not a non-negative count", "", alone=True)
    for name, values in (("trials", counts), ("hits", events)):
        problem = "is not a whole number of cases"
        refuse_first(values % 1 != 0, values, name, problem, "", alone=True)
    if (events > counts).any():
        at = int(np.flatnonzero(events > counts)[0])
        raise CaseError(
            "hits",
            f"exceeds trials[{at}] = {exact(counts[at])}",
            row=at,
            value=exact(events[at]),
            more=": there cannot be more events than cases",
        )
    groups, members = read_groups(roles, score.size), None
    if "cluster" in roles.columns:
        members = read_clusters(roles, counts, events, complete=True)
        members = members._replace(sums=members.sums[[0, 1, 0, 1]])  # each case counts once
    rows = Rows.exact(score, counts, events, groups.code)
    squares = add_up(groups.code, counts, len(groups.cells))
    return added([Contents(groups.structure, groups.cells, rows, squares, "counts", members)])
