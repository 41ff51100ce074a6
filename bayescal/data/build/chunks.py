"""A table from chunks of cases, in constant memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.errors import CaseError, InputError, check_callable
from bayescal.core.text import shortened
from bayescal.data.build.builder import TableBuilder
from bayescal.data.build.cases import CheckedCases, check_cases
from bayescal.data.build.labels import GroupNames
from bayescal.data.contents import Contents, added, in_groups, pooled, split
from bayescal.data.follow_up import FollowUp
from bayescal.data.members import ClusterReader, rows_of_cases
from bayescal.data.roles import DEPENDENCE, IMPUTATION, NAMED, RoleReader, Roles, as_roles
from bayescal.data.survival import (
    Survival,
    as_horizon,
    check_codes,
    followed_in,
    refuse_horizon,
    warn_of_survival,
)
from bayescal.data.table import Rows, Tables
from bayescal.data.validate import as_floats, as_vector, as_weights, warn_of_absent
from bayescal.data.weights import (
    WeightType,
    as_weight_type,
    both_types,
    is_collapsed,
    warn_of_ambiguity,
    warn_of_types,
)

TIME_COLUMNS = ("time", "event", "entry")
CHUNK_COLUMNS = ("y_true", *TIME_COLUMNS, "y_prob", "sample_weight", *NAMED, "subgroup")
"""What a chunk can have."""


class ChunkReader:
    """Takes in chunks one by one, and makes the table of all.

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
    other_label : object or None
        With `pos_label`, the label beside the event, once there was one.
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
        self.cases = 0
        self._weight_type = weight_type
        self._pos_label, self._horizon = pos_label, horizon
        self._times: Contents | None = None
        self._event_codes: set[int] = set()
        self._builder = TableBuilder()
        self._unweighted = TableBuilder()
        self._roles = RoleReader()
        self._clusters: ClusterReader | None = None
        self._columns: tuple[str, ...] | None = None
        self.other_label: Any = None
        self.has_event = False
        self._sampling = False
        self._largest = 0.0

    def add(self, chunk: Any, name: str) -> None:
        """Take in one chunk, which errors call by this name."""
        given = _columns(chunk, name)
        try:
            if "time" in given and all(np.size(each) == 0 for each in given.values()):
                return
            given["y_true"] = self._outcome(given)
            known = [given.pop(each, None) for each in ("y_true", "y_prob", "sample_weight")]
            (y_true, y_prob, weight), roles = as_roles(**given).aligned(
                y_true=known[0], y_prob=known[1], sample_weight=known[2]
            )
            followed = y_true if isinstance(y_true, Survival) else None
            if followed is not None:
                _refuse_imputations(roles)
                y_true = followed.outcome(as_horizon(self._horizon))
            if all(np.size(column) == 0 for column in (y_true, y_prob)):
                return
            self._check_columns(weight is not None, roles, followed is not None)
            cases = check_cases(y_true, y_prob, weight, pos_label=self._pos_label, part=True)
            codes = self._roles.codes(roles, cases.outcome.size)
            if "cluster" in roles.columns:
                self._clusters = self._clusters or ClusterReader()
                self._clusters.add(roles, cases, codes)
            self._check_labels(y_true, cases)
            self._check_weights(cases)
            if followed is not None:
                self._follow(followed, cases, codes, roles)
        except CaseError as error:
            raise error.changed(part=name) from error
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
        self.has_event |= bool(cases.outcome.any())
        self.cases += cases.outcome.size
        self._builder.add(*cases, codes)
        if self._is_unclear and cases.weight is not None:
            counted = np.flatnonzero(cases.weight)
            kept = None if codes is None else codes[counted]
            self._unweighted.add(cases.outcome[counted], cases.score[counted], code=kept)

    @property
    def _is_unclear(self) -> bool:
        """Whether nothing so far says what the weights are."""
        return self._weight_type is None and not self._sampling

    def finished(self) -> Contents:
        """As `contents`, with a warning when whole-number weights can be either, or no event is.

        Rows that are exact show whether they were collapsed; on the grid nothing does.
        """
        contents = self.contents(complete=True)
        tables = contents[0]
        if contents.follow_up is not None:
            _check_followed(contents)
        if self._pos_label is not None and not self.has_event:
            warn_of_absent(self._pos_label, self.other_label)
        if self._is_unclear and self._largest > 0:
            rows = in_groups(self._unweighted, None if None in tables else self._roles.groups)
            total = sum(float(table.trials.sum()) for table in tables.values())
            squares = sum(table.square_sum for table in tables.values())
            number = int(sum(table.trials.sum() for table in rows.values()))
            types = both_types(number, total, squares)
            if types is not None and not _look_collapsed([*tables.values()], [*rows.values()]):
                warn_of_types(types, total, squares)
        return contents

    @property
    def is_empty(self) -> bool:
        """Whether no case so far counts."""
        return self._columns is None or ("weights" in self._columns and self._largest == 0)

    def contents(self, *, complete: bool = False) -> Contents:
        """What the table of all chunks holds.

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
        sampling: WeightType | None = "sampling" if self._sampling else None
        structure = self._roles.structure()
        names = self._roles.groups if structure.levels else None
        tables, members = in_groups(self._builder, names), None
        if self._clusters is not None:
            members = self._clusters.members(tables, names, complete=complete)
        followed = None if self._times is None else self._times.follow_up
        return Contents(tables, self._weight_type or sampling, structure, members, followed)

    def _outcome(self, given: dict[str, Any]) -> Any:
        """Outcomes of a chunk, or its times to an event; their columns are taken out."""
        times = {name: given.pop(name, None) for name in TIME_COLUMNS}
        outcome = given.get("y_true")
        if times["time"] is not None:
            outcome = Survival(**times)
        if isinstance(outcome, Survival):
            _refuse_label(self._pos_label)
        else:
            refuse_horizon(self._horizon)
        return outcome

    def _follow(
        self,
        outcome: Survival,
        cases: CheckedCases,
        codes: NDArray[np.int64] | None,
        roles: Roles,
    ) -> None:
        """Take in how long the cases were followed, in the rows of the table of all so far."""
        builder, names = TableBuilder(), None if codes is None else self._roles.groups
        builder.add(*cases, codes)
        tables, structure = in_groups(builder, names), self._roles.structure()
        follow_up = _followed(tables, names, outcome, cases, codes, self._horizon, roles)
        self._event_codes |= outcome.unnamed_codes
        part = Contents(tables, structure=structure, follow_up=follow_up)
        self._times = part if self._times is None else added(self._times, part)

    def _check_columns(self, weighted: bool, roles: Roles, timed: bool) -> None:
        now = (*["weights"] * weighted, *roles.structural(), *set(roles.columns) & {*DEPENDENCE})
        now = (*now, *["times to an event"] * timed)
        if self._columns is None:
            self._columns = now
        for what in {*now} ^ {*self._columns}:
            has, had = ("has", "had none") if what in now else ("has no", "had some")
            raise InputError(
                f"this chunk {has} {what}, and those before {had}. Give every chunk {what}, or "
                "none."
            )

    def _check_labels(self, y_true: Any, cases: CheckedCases) -> None:
        """With `pos_label` there are two labels in all, and not two others in different chunks."""
        if self._pos_label is None or cases.outcome.all():
            return
        first = int(cases.outcome.argmin())
        (label,) = as_vector(y_true, "y_true")[first : first + 1].tolist()
        if self.other_label is None:
            self.other_label = label
        elif label != self.other_label:
            raise InputError(
                f"y_true holds {shortened(repr(label))}, and chunks before hold "
                f"{shortened(repr(self.other_label))}, beside the "
                f"event pos_label={self._pos_label!r}. Pass two classes, one of them the event."
            )

    def _check_weights(self, cases: CheckedCases) -> None:
        if cases.weight is None:
            return
        self._sampling |= as_weight_type(self._weight_type, cases.weight) == "sampling"
        self._largest = max(self._largest, float(cases.weight.max()))


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


def _look_collapsed(weighted: list[Rows], rows: list[Rows]) -> bool:
    """Whether no score has two rows of one outcome, and most of the weight one of each."""
    if any(table.cell is not None for table in rows):
        return False
    hits = np.concatenate([table.hits for table in rows])
    trials = np.concatenate([table.trials for table in rows])
    if (np.maximum(hits, trials - hits) > 1).any():
        return False
    return is_collapsed(np.concatenate([table.trials for table in weighted]), trials == 2)


def read_chunks(
    chunks: Iterable[Any],
    reader: ChunkReader,
    progress: Callable[[int], object] | None = None,
) -> None:
    """Take in chunks, each called by its position."""
    if not isinstance(chunks, Iterable) or getattr(chunks, "shape", None) == ():
        raise InputError(f"chunks must be a list or a generator, got {shortened(repr(chunks))}.")
    check_callable(progress, "progress", "the number of cases")
    for position, chunk in enumerate(chunks):
        reader.add(chunk, f"chunk {position}")
        if progress is not None:
            progress(reader.cases)


def contents_of(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any,
    roles: Roles,
    *,
    weight_type: WeightType | None = None,
    pos_label: Any = None,
) -> Contents:
    """What the table of some cases holds, whose labels were compared."""
    given = (y_true, y_prob, sample_weight, roles)
    return _read_cases(*given, weight_type=weight_type, pos_label=pos_label).contents


class _ReadCases(NamedTuple):
    """What a table holds, the names of its groups, and the number of the group of each case."""

    contents: Contents
    groups: GroupNames | None
    codes: NDArray[np.int64] | None


def _read_cases(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any,
    roles: Roles,
    *,
    weight_type: WeightType | None,
    pos_label: Any = None,
) -> _ReadCases:
    cases = check_cases(y_true, y_prob, sample_weight, pos_label=pos_label)
    chosen_type, reader = as_weight_type(weight_type, cases.weight), RoleReader()
    codes = reader.codes(roles, cases.outcome.size)
    clusters = None
    if "cluster" in roles.columns:
        clusters = ClusterReader()
        clusters.add(roles, cases, codes)
    if cases.weight is not None and chosen_type is None:
        warn_of_ambiguity(cases.weight, cases.score, cases.outcome, codes)
    builder = TableBuilder()
    builder.add(*cases, codes)
    groups = None if codes is None else reader.groups
    tables, members = in_groups(builder, groups), None
    if clusters is not None:
        members = clusters.members(tables, groups, complete=True)
    return _ReadCases(Contents(tables, chosen_type, reader.structure(), members), groups, codes)


def _followed(
    tables: Tables,
    groups: GroupNames | None,
    outcome: Survival,
    cases: CheckedCases,
    codes: NDArray[np.int64] | None,
    horizon: Any,
    roles: Roles,
) -> FollowUp:
    """How long the cases of some tables were followed, and of which clusters they are."""
    kept: Any = slice(None) if cases.weight is None else cases.weight > 0
    group = None if codes is None else codes[kept]
    row = rows_of_cases(tables, groups, as_floats(cases.score, "y_prob")[kept], group)
    members = None
    if "cluster" in roles.columns:
        reader = ClusterReader()
        reader.add(replace(roles, columns={"cluster": roles.columns["cluster"]}), cases, None)
        members = reader.in_rows(np.arange(row.size), complete=False)
    return followed_in(row, outcome, cases.weight, as_horizon(horizon), members)


def contents_at(
    outcome: Survival,
    y_prob: Any,
    sample_weight: Any,
    roles: Roles,
    *,
    horizon: Any,
    weight_type: WeightType | None = None,
    pos_label: Any = None,
) -> Contents:
    """What the table of cases that were followed to a horizon, or left before, holds."""
    _refuse_label(pos_label)
    (outcome, y_prob, sample_weight), roles = roles.aligned(
        time=outcome, y_prob=y_prob, sample_weight=sample_weight
    )
    check_codes(outcome.unnamed_codes)
    known = outcome.outcome(as_horizon(horizon))
    contents, groups, codes = _read_cases(
        known, y_prob, sample_weight, roles, weight_type=weight_type
    )
    cases = check_cases(known, y_prob, sample_weight)
    followed = _followed(contents.tables, groups, outcome, cases, codes, horizon, roles)
    contents = contents._replace(follow_up=followed)
    several = split(contents) if IMPUTATION in contents.structure.levels else [contents]
    for each in several:
        _check_followed(each, warns=each is several[0])
    return contents


def _check_followed(contents: Contents, *, warns: bool = True) -> None:
    """Refuse a follow-up that says nothing of the horizon; warn of probabilities of survival."""
    of_all = pooled(contents)
    assert of_all.follow_up is not None
    of_all.follow_up.check()
    if warns:
        warn_of_survival(of_all.tables[None], of_all.follow_up)


def _refuse_label(pos_label: Any) -> None:
    """Refuse a label of the event beside times."""
    if pos_label is not None:
        raise InputError("pos_label was given beside a Survival, whose events are 0/1. Drop it.")


def _refuse_imputations(roles: Roles) -> None:
    """Refuse imputations in chunks of times to an event."""
    if IMPUTATION in roles.columns:
        raise InputError(
            "imputation was given beside times to an event in chunks. Make the "
            "table of all cases at once: CalibrationData(..., imputation=number)."
        )
