"""What a table holds: made of cases, in any parts and order; selected, pooled and added."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import BLOCK
from bayescal.core.errors import CaseError, InputError
from bayescal.core.text import exact
from bayescal.data.cases import (
    CheckedCases,
    as_floats,
    as_scores,
    as_vector,
    as_weights,
    check_cases,
    check_same_length,
    is_missing,
    read_outcomes,
    refuse_first,
)
from bayescal.data.clusters import check_several, check_strata, read_clusters, strata_of
from bayescal.data.columns import ROLES, TIME_COLUMNS, WeightType
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
from bayescal.data.rows import MOST_WAITING, Index, Rows, each_case, numbered, summed, total
from bayescal.data.times import FollowUp, Survival, as_horizon, check_codes, refuse_horizon, timed
from bayescal.data.weights import (
    are_most,
    as_weight_type,
    sizes_of,
    warn_of_ambiguity,
    warn_of_sizes,
)

CASES = ("y_true", "time", "y_prob")
# What a chunk can have.
CHUNK_COLUMNS = ("y_true", *TIME_COLUMNS, "y_prob", *ROLES)


@dataclass(frozen=True)
class Contents:
    """What a table holds: its groups, and the cases of all of them, one after the other.

    `cells` has the levels of each group, in the order of their names; one without roles. Of parts
    that are not summed yet each row of `cases` is a case. Scores that came as numbers of 32 bits
    round those near 1 to it. Sampling weights can be numbers of effective cases already.
    """

    structure: Structure
    cells: tuple[Cell, ...]
    cases: Rows
    weight_type: WeightType | None = None
    horizon: float | None = None
    unknown: Contents | None = None
    is_single: bool = False
    is_effective: bool = False
    is_observed: bool = True
    """Whether there are outcomes, and not scores alone."""

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: not what was read off the cases."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def by_score(self) -> tuple[Rows, Index]:
        """The rows of each group by score, and the one that each of the cases is in."""
        if self.cases.cluster is not None or self.cases.kind is not None:
            return summed(self.cases, ())
        return self.cases, np.arange(self.cases.score.size)

    @cached_property
    def followed(self) -> tuple[FollowUp, Index]:
        """Of times to an event: the entries of the follow-up, and that of each of the cases."""
        assert self.horizon is not None
        return FollowUp.of_rows(self.cases, self.by_score[1], self.horizon).summed()


def _of_rows(
    structure: Structure,
    cells: tuple[Cell, ...],
    rows: Iterable[Rows],
    *,
    later: bool = False,
    **more: Any,
) -> Contents:
    """The sum of rows, of some groups: those remain that have a case; or rows to be summed `later`.

    Those of a part of a table are summed once, with those of others.
    """
    if later:
        return Contents(structure, cells, Rows.joined([*rows]), **more)
    cases = total(rows)
    present, cell = numbered(cases.cell)
    if present.size < len(cells):
        cells = tuple(cells[k] for k in present)
        cases = cases._replace(cell=cell.astype(np.int32))
    return Contents(structure, cells, cases, **more)


def regrouped(
    parts: Sequence[Contents], structure: Structure, having: Mapping[str, str] | None = None
) -> Contents:
    """All cases of some tables in other groups, or of the groups `having` some levels by role."""
    wanted = (having or {}).items()
    moved = [
        [
            tuple(of[role] for role in structure.levels) if wanted <= of.items() else None
            for of in map(part.structure.named, part.cells)
        ]
        for part in parts
    ]
    cells = ordered_cells({cell for each in moved for cell in each if cell is not None})
    position: dict[Cell | None, int] = {cell: at for at, cell in enumerate(cells)} | {None: -1}

    def rows() -> Iterator[Rows]:
        for part, each in zip(parts, moved, strict=True):
            to = np.array([position[cell] for cell in each], np.int32)
            at = part.cases._replace(cell=to[part.cases.cell])
            yield at if at.cell.min(initial=0) >= 0 else at.of(at.cell >= 0)

    unknown = [part.unknown for part in parts if part.unknown is not None]
    together = _of_rows(structure, cells, rows())
    return replace(
        parts[0],
        structure=structure,
        cells=together.cells,
        cases=together.cases,
        unknown=regrouped(unknown, structure, having) if unknown else None,
        is_single=any(part.is_single for part in parts),
    )


def added(parts: Sequence[Contents]) -> Contents:
    """The cases of several tables; groups and clusters of one name are one."""
    known = [part for part in parts if part.cases.score.size] or parts
    if len({part.cases.cluster is None for part in known}) > 1:
        raise InputError(
            "one table has clusters and the other has none. Make both with cluster=, where every "
            "case that stands alone is a cluster of its own."
        )
    if len({part.cases.stratum is None for part in known}) > 1:
        raise InputError("one table has strata and the other has none. Give both strata, or none.")
    horizons = {part.horizon for part in known}
    if len(horizons) > 1 and None in horizons:
        raise InputError(
            "one table has times to an event and the other has outcomes. Make both of one kind."
        )
    if len(horizons) > 1:
        one, two, *_ = sorted(at for at in horizons if at is not None)
        raise InputError(
            f"the tables have the horizons {one:g} and {two:g}. Add tables of one horizon."
        )
    types = {part.weight_type for part in parts if part.weight_type is not None}
    if len(types) > 1:
        raise InputError(
            "one table holds counts of cases and the other sampling weights, which have no common "
            "scale. Make both with the same weight_type=; a case that was sampled for certain has "
            "the sampling weight 1."
        )
    together = regrouped(parts, reduce(Structure.joined, (part.structure for part in parts)))
    check_strata(together.cases)
    weight_type, horizon = types.pop() if types else None, horizons.pop()
    return replace(together, weight_type=weight_type, horizon=horizon)


def selected(contents: Contents, levels: Mapping[str, str]) -> Contents:
    """The groups that have these levels, with the other roles."""
    having = regrouped([contents], contents.structure.without(levels), levels)
    if not having.cases.score.size:
        told = ", ".join(f"{role}={level!r}" for role, level in levels.items())
        raise InputError(f"no case has {told}. The combinations that occur are in data.cells.")
    return having


def of_group(contents: Contents, at: int) -> Contents:
    """The cases of one group, by its position, without roles; it takes no time for the others."""
    cell, unknown = contents.cells[at], contents.unknown
    start, end = np.searchsorted(contents.cases.cell, [at, at + 1])
    own = contents.cases.of(slice(start, end))._replace(cell=np.zeros(end - start, np.int32))
    if unknown is not None:
        has = cell in unknown.cells
        unknown = of_group(unknown, unknown.cells.index(cell)) if has else None
    return replace(contents, structure=NO_STRUCTURE, cells=((),), cases=own, unknown=unknown)


def forgotten(contents: Contents, roles: Collection[str]) -> Contents:
    """The same cases with some roles forgotten; with clusters, their strata."""
    structure = contents.structure.without(roles)
    gone = DEPENDENCE if "cluster" in roles else {"stratum"} & {*roles}
    if structure == contents.structure and not gone:
        return contents
    return regrouped([replace(contents, cases=contents.cases.without(gone))], structure)


def within(contents: Contents, label: str, role: str = IMPUTATION) -> Contents:
    """The same cases, all of one level of a role more, which is the outermost."""
    structure = contents.structure
    return replace(
        contents,
        structure=replace(structure, levels={role: (label,)} | structure.levels),
        cells=tuple((label, *cell) for cell in contents.cells),
        unknown=None if contents.unknown is None else within(contents.unknown, label, role),
    )


def stacked(contents: Contents) -> Contents:
    """What tables of several imputations of the same cases hold together, each case counting 1/m.

    That is for what is shown of the data: it knows nothing of the spread between tables, nor of
    clusters.
    """
    m = len(contents.structure.levels[IMPUTATION])
    return _divided(forgotten(contents, [IMPUTATION, "cluster"]), m)


def _divided(contents: Contents, m: int) -> Contents:
    """The same where each case counts 1/m."""
    unknown = None if contents.unknown is None else _divided(contents.unknown, m)
    return replace(contents, cases=contents.cases.divided(m), unknown=unknown)


def read(
    y_true: Any,
    y_prob: Any,
    sample_weight: Any,
    roles: Roles,
    *,
    weight_type: Any = None,
    pos_label: Any = None,
    horizon: Any = None,
    part: bool = False,
) -> tuple[CheckedCases, Index | None, Contents]:
    """Cases as they are checked, the group of each if there are groups, and the table of all.

    They are all that there are, or a `part` of them.
    """
    timed = isinstance(y_true, Survival)
    (y_true, y_prob, weight), roles = roles.aligned(
        **{"time" if timed else "y_true": y_true, "y_prob": y_prob, "sample_weight": sample_weight}
    )
    if timed and pos_label is not None:
        raise InputError("pos_label was given beside a Survival, whose events are 0/1. Drop it.")
    refuse_horizon(None if timed else horizon)
    outcome = y_true.outcome(horizon) if timed else y_true
    outcome, score, weight = cases = check_cases(
        outcome, y_prob, weight, pos_label=pos_label, part=part
    )
    chosen = None if weight is None else as_weight_type(weight_type, weight)
    structure, cells, code = read_groups(roles, score.size)
    more: dict[str, NDArray[Any]] = {}
    missing = np.isnan(outcome)
    if "cluster" in roles.columns:
        counts = ~missing * (1.0 if weight is None else weight)
        more = read_clusters(roles, counts, complete=not part)
    if timed:
        horizon = as_horizon(horizon)
        more |= y_true.steps(horizon)
    unknown, later = None, part and score.size <= BLOCK  # a large part needs room, and is summed
    if missing.any():
        given = None if weight is None else weight[missing]
        rows = each_case(score[missing], np.zeros(missing.sum()), given, code[missing])
        told = {"weight_type": chosen, "is_observed": False}
        unknown = _of_rows(structure, cells, rows, later=later, **told)
    groups = code if structure.levels else None
    contents = _of_rows(
        *(structure, cells, each_case(score, outcome, weight, groups, **more)),
        later=later,
        weight_type=chosen,
        horizon=horizon,
        unknown=unknown,
        is_single=score.dtype == np.float32,
    )
    return cases, groups, contents


def contents_of(
    y_true: Any, y_prob: Any, sample_weight: Any, roles: Roles, **told: Any
) -> tuple[Contents, CheckedCases]:
    """What the table of some cases holds, with what was told as in `read`; and the cases."""
    cases, code, contents = read(y_true, y_prob, sample_weight, roles, **told)
    outcome, score, weight = cases
    if weight is None and told["weight_type"] is not None:
        as_weight_type(told["weight_type"], None)
    if contents.horizon is not None:
        check_codes(y_true.unnamed_codes)
        _check_followed(contents)
    if weight is not None and contents.weight_type is None:
        warn_of_ambiguity(weight, score, np.nan_to_num(outcome), code)
    return contents, cases


class Reader:
    """Takes in cases part by part, and makes the table of all.

    What is told of all cases at once is gathered from the parts: their columns, whether any has the
    event, and what their weights can be.
    """

    def __init__(
        self, weight_type: WeightType | None = None, pos_label: Any = None, horizon: Any = None
    ) -> None:
        self._told = {"weight_type": weight_type, "pos_label": pos_label, "horizon": horizon}
        self._waiting: list[Contents] = []
        self._size, self._most = 0, 0
        self._columns: tuple[str, ...] | None = None
        self._codes: set[int] = set()
        self._other_labels: set[Any] = set()
        self._has_event = pos_label is None
        self._sizes, self._known, self._largest = np.zeros(3), 0, 0.0
        self.cases = 0

    def add(self, chunk: Any, name: str) -> None:
        """Take in one chunk, which errors call by this name."""
        given = _columns(chunk, name)
        try:
            if all(_size(given[key]) == 0 for key in given if key in CASES):
                return
            given = timed(given)
            y_true, y_prob = given.pop("y_true"), given.pop("y_prob")
            self._take(y_true, y_prob, given.pop("sample_weight", None), as_roles(**given))
        except CaseError as error:
            raise error.changed(part=name) from error
        except InputError as error:
            raise InputError(f"{name}: {error}") from error

    def _take(self, y_true: Any, y_prob: Any, sample_weight: Any, roles: Roles) -> None:
        cases, _, contents = read(y_true, y_prob, sample_weight, roles, **self._told, part=True)
        self._check_columns(sample_weight is not None, roles, contents.horizon is not None)
        outcome, score, weight = cases
        self.cases += score.size
        if weight is not None:
            self._largest = max(self._largest, float(weight.max()))
            self._sizes += sizes_of(weight)
            self._known += int(np.count_nonzero(~np.isnan(outcome) & (weight > 0)))
        if isinstance(y_true, Survival):
            self._codes |= y_true.unnamed_codes
        self._has_event |= bool((outcome > 0).any())
        if not self._has_event:
            labels = as_vector(y_true, "y_true").tolist()
            self._other_labels |= {each for each in labels if not is_missing(each)}
        self._waiting.append(contents)
        self._size += score.size
        if self._size >= max(BLOCK, self._most):
            self._waiting, self._size = [added(self._waiting)], 0
            self._most = MOST_WAITING * self._waiting[0].cases.score.size

    def finished(self) -> Contents:
        """What the table of all parts holds; see that it can be one."""
        weight_type, pos_label, _ = self._told.values()
        if self._columns is None:
            raise InputError("the chunks hold no cases: at least one observation is needed.")
        if "weights" in self._columns:
            as_weights([self._largest], 1)
        elif weight_type is not None:
            as_weight_type(weight_type, None)
        check_codes(self._codes)
        contents = added(self._waiting)
        if contents.cases.cluster is not None and contents.cases.score.size:
            check_several(strata_of(contents.cases))
        if contents.horizon is not None:
            _check_followed(contents)
        if contents.weight_type is None:
            warn_of_sizes(partial(self._once, contents), *self._sizes)
        if not self._has_event and self._other_labels:
            labels: NDArray[Any] = np.empty(len(self._other_labels), object)
            labels[:] = [*self._other_labels]
            read_outcomes(labels, pos_label=pos_label)  # which says of all what it says of some
        return contents

    def _once(self, contents: Contents) -> bool:
        """Whether parts are of a collapsed table, as `look_collapsed` says it of a whole one.

        No two cases have one score and outcome if there are as many as scores with each outcome.
        """
        rows = contents.by_score[0]
        event, none = rows.hits > 0, rows.trials > rows.hits
        told_once = rows.is_exact and self._known == event.sum() + none.sum()
        return told_once and are_most(rows.trials, event & none)

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


def _check_followed(contents: Contents) -> None:
    """Refuse a follow-up that says nothing of the horizon; warn of probabilities of survival."""
    for at, label in enumerate(contents.structure.levels.get(IMPUTATION, (None,))):
        one = contents if label is None else selected(contents, {IMPUTATION: label})
        of_all = forgotten(one, list(one.structure.levels))
        of_all.followed[0].check()
        if not at:
            of_all.followed[0].warn_of_survival(of_all.by_score[0].score.size)


def contents_of_counts(prob: Any, trials: Any, hits: Any, roles: Roles) -> Contents:
    """What the table of counts holds; repeated scores are added up."""
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
    groups, more = read_groups(roles, score.size), {}
    if "cluster" in roles.columns:
        more = read_clusters(roles, counts, complete=True)
    rows = Rows.exact(score, counts, events, groups.code, **more).of(counts > 0)
    return _of_rows(groups.structure, groups.cells, [rows], weight_type="counts")
