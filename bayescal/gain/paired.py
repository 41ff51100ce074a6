"""Paired predictions: of each outcome, the probability before and after; and rows of like pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, blocks
from bayescal.core.decision import least_treated
from bayescal.core.errors import InputError
from bayescal.data.cases import (
    as_outcomes,
    as_scores,
    as_weights,
    check_same_length,
    is_matrix,
)
from bayescal.data.clusters import Clusters, clusters_of, read_clusters
from bayescal.data.columns import WeightType
from bayescal.data.doors import Given
from bayescal.data.matrices import as_probability_matrix
from bayescal.data.read import read_cases
from bayescal.data.roles import STRUCTURE, as_roles, read_groups
from bayescal.data.rows import GRID, LIMIT, Levels, Rows, add_up, levels_of, part_of
from bayescal.data.table import CalibrationData
from bayescal.data.times import FollowUp, Survival, as_horizon, check_codes, refuse_horizon, seen_as
from bayescal.data.weights import (
    as_weight_type,
    effective_cases,
    warn_of_ambiguity,
)
from bayescal.model.problem import Problem
from bayescal.posterior.population import ClusterBootstrap

__all__ = [
    "Alike",
    "PairedPredictions",
    "as_paired",
    "cases_of",
    "is_function",
    "of_equal_cells",
    "of_neighbours",
]

# Steps between neighbouring predictions that are noise of the arithmetic of a map.
LAST_DIGITS = 1e-14
# Decimals that scores may have been rounded to.
ROUNDED_TO = (2, 3, 4, 5, 6)
# Most by which a map that was rounded moves scores apart.
STEEPEST = 3.0
MOST_LOOKED_AT = 100_000


@dataclass(frozen=True)
class PairedPredictions:
    """Cases with both predictions.

    `outcome`, `before` and `weight` have shape (n,), `after` shape (repeats, n): one row, unless a
    cross-fit was repeated. Of times to an event the outcome is that by the horizon, NaN of a case
    that left before. Sampling weights add up to Kish's effective size. `clusters` say which cases
    depend on each other, where a row is a case; `labels` are cluster and stratum of each row, and
    `levels` its site, period and subgroups. `of_function` says that `after` came as a function, and
    `are_means` that a row stands for many cases by the means of their scores.
    """

    outcome: Floats
    before: Floats
    after: Floats
    weight: Floats
    weight_type: WeightType
    clusters: Clusters | None = None
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    levels: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    times: Survival | None = None
    horizon: float = float("nan")
    of_function: bool = False
    are_means: bool = False

    @cached_property
    def table_before(self) -> CalibrationData:
        """The table of the predictions before."""
        return self._table(self.before)

    @cached_property
    def tables_after(self) -> list[CalibrationData]:
        """The table of each row of the predictions after."""
        return [self._table(row) for row in self.after]

    def _table(self, score: Floats) -> CalibrationData:
        if self.are_means:
            return CalibrationData._of_means(score, self.weight, self.weight * self.outcome)
        options: dict[str, Any] = dict(self.labels)
        if self.weight_type == "sampling" or (self.weight != 1).any():
            options |= {"sample_weight": self.weight, "weight_type": self.weight_type}
        return self.table(score, **options).of_effective_cases()

    def table(self, score: Floats, **roles: Any) -> CalibrationData:
        """The table of these scores, and of what was seen of the cases."""
        if self.times is None:
            return CalibrationData(self.outcome, score, **roles)
        return CalibrationData(self.times, score, horizon=self.horizon, **roles)

    def in_groups(self, score: Floats) -> CalibrationData:
        """The table of these scores with the levels of the groups."""
        roles: dict[str, Any] = dict(self.levels)
        subgroups = {name: roles.pop(name) for name in self.levels if name not in STRUCTURE}
        roles |= {"subgroup": subgroups} if subgroups else {}
        options: dict[str, Any] = {"weight_type": self.weight_type, **self.labels, **roles}
        return self.table(score, sample_weight=self.weight, **options)

    @cached_property
    def groups(self) -> list[dict[str, str]]:
        """The combinations of levels that there are."""
        cells = sorted(set(zip(*(each.tolist() for each in self.levels.values()), strict=True)))
        return [dict(zip(self.levels, cell, strict=True)) for cell in cells]

    @cached_property
    def has_maps(self) -> bool:
        """Whether `after` is a map of `before`, maybe rounded: for all groups, or in each."""
        return self.is_rounded_map or all(self.at(each).is_rounded_map for each in self.groups)

    def at(self, levels: Mapping[str, str]) -> PairedPredictions:
        """The cases that have these levels, one at least."""
        have = [self.levels[role] == level for role, level in levels.items()]
        return self.of(np.all(have, axis=0))

    def of(self, some: NDArray[np.bool_]) -> PairedPredictions:
        """Some of the cases; which of them depend on each other is no longer said."""
        return replace(
            self,
            outcome=self.outcome[some],
            before=self.before[some],
            after=self.after[:, some],
            weight=self.weight[some],
            clusters=None,
            labels={},
            levels={},
            times=None if self.times is None else self.times.of(some),
        )

    @cached_property
    def some(self) -> NDArray[np.intp] | slice:
        """All cases; of more than 100 000, so many of them, evenly spread."""
        n = self.outcome.size
        if n <= MOST_LOOKED_AT:
            return slice(None)
        return np.random.default_rng(0).choice(n, MOST_LOOKED_AT, replace=False)

    @cached_property
    def is_map(self) -> bool:
        """Whether `after` is a map of `before`: equal scores before have equal scores after.

        When scores hardly repeat, anything would pass for a map: predictions with a marker that is
        known for a few patients, too. Predictions that came as numbers must therefore rise with the
        score before, or fall, throughout; a function of the scores may turn. Of many cases `some`
        are looked at.
        """
        if self.after.shape[0] > 1:
            return False
        after, levels = self._after_by_level
        mapped = after[levels.first]
        if not np.array_equal(mapped[levels.row], after):
            return False
        steps = np.diff(mapped)
        rises, falls = (steps >= -LAST_DIGITS).all(), (steps <= LAST_DIGITS).all()
        return self.of_function or bool(rises or falls)

    @cached_property
    def is_rounded_map(self) -> bool:
        """Whether `after` is a rising or falling map of `before`, or was before both were rounded.

        Equal scores before may then have several scores after. But those of different scores
        before do not cross, and they are no further apart than rounding can have left them.
        """
        if self.is_map or self.after.shape[0] > 1:
            return self.is_map
        first, second = _rounded_to(self.before), _rounded_to(self.after[0])
        if first is None or second is None:
            return False
        after, levels = self._after_by_level
        ordered = after[levels.order]
        lowest, highest = (
            each.reduceat(ordered, levels.start) for each in (np.minimum, np.maximum)
        )
        rises = (highest[:-1] <= lowest[1:]).all()
        falls = (highest[1:] <= lowest[:-1]).all()
        most = STEEPEST * first + second
        return bool((rises or falls) and (highest - lowest).max() <= most)

    def collapsed(self, thresholds: Sequence[float]) -> PairedPredictions:
        """The same, where many single cases that are alike are one row, by the means of its scores.

        They have one outcome, and scores that share a part of the grid of tables and the side of
        every threshold, before and after. Where a table keeps scores as they are, so does this.
        """
        sides = self.before, self.after[0]
        are_single = self.clusters is None and self.times is None and (self.weight == 1).all()
        if self.outcome.size <= MOST_LOOKED_AT or not are_single:
            return self
        if min(np.unique(side[self.some]).size for side in sides) <= LIMIT:
            return self
        least = least_treated(np.sort(thresholds))
        wide = GRID + least.size
        number = np.full(2 * wide * wide, -1, np.int32)  # of the row, by its key
        keys, cases = np.empty(0, np.intp), np.empty(0)
        base, beyond = np.empty((2, 2, 0))  # a score of each row, and the sum of what is above it
        for part in blocks(self.outcome.size):
            key, scores = (self.outcome[part] > 0).astype(np.intp), [side[part] for side in sides]
            for score in scores:
                # The part and the side of the thresholds rise with the score, and so their sum.
                reached = np.searchsorted(least, score, side="right") if least.size else 0
                key = key * wide + part_of(score) + reached
            new = np.flatnonzero(number[key] < 0)
            if new.size:
                unseen, at = np.unique(key[new], return_index=True)
                number[unseen] = keys.size + np.arange(unseen.size)
                more = [(0, 0), (0, unseen.size)]
                keys, cases = np.append(keys, unseen), np.pad(cases, more[1])
                base = np.append(base, [score[new[at]] for score in scores], axis=1)
                beyond = np.pad(beyond, more)
            row = number[key]
            cases += np.bincount(row, minlength=keys.size)
            for score, own, above in zip(scores, base, beyond, strict=True):
                above += np.bincount(row, score - own[row], keys.size)
        order = np.argsort(keys)
        before, after = (base + beyond / cases)[:, order]
        outcome = np.where(keys[order] < wide * wide, 0.0, 1.0)
        sums: dict[str, Any] = {"weight": cases[order], "are_means": True}
        return replace(self, outcome=outcome, before=before, after=after[None], **sums)

    @property
    def _after_by_level(self) -> tuple[Floats, Levels]:
        """Predictions after of `some` cases, and the distinct scores before."""
        return self.after[0, self.some], levels_of(self.before[self.some])

    @property
    def is_unchanged(self) -> bool:
        """Whether the recalibration changed nothing."""
        parts = blocks(self.before.size)
        return all(bool((self.after[:, part] == self.before[part]).all()) for part in parts)


def as_paired(given: Given, after: Any) -> PairedPredictions:
    """Check that outcomes and both predictions describe the same cases.

    Shapes: `after` (n,) or (repeats, n).
    """
    y_true, before = given.y_true, given.y_prob
    horizon, pos_label = given.words.get("horizon"), given.words.get("pos_label")
    sample_weight = given.roles.get("sample_weight")
    if not isinstance(y_true, Survival):
        refuse_horizon(horizon)
    if after is None:
        raise InputError(
            "after is missing: pass the predictions after recalibration, or the map that gives "
            "them, as after=."
        )
    if isinstance(y_true, CalibrationData):
        several = bool(set(y_true.levels) - {"imputation"})
        one = y_true.complete if several else y_true.one_group
        return replace(_of_table(one(takes_times=True), after), of_function=is_function(after))
    if before is None:
        raise InputError("before is missing: pass the predicted probabilities after y_true.")
    at, times = float("nan"), None
    if isinstance(y_true, Survival):
        at, times = as_horizon(horizon), y_true
        check_codes(times.unnamed_codes)
        if pos_label is not None:
            raise InputError(
                "pos_label was given beside times to an event, where the event is coded 1. Leave "
                "it out, or name another code as bc.Survival(time, event, cause=2)."
            )
    first = as_scores(before, "before")
    # before the outcomes become floats, since a map may need several times the room of its scores
    second = _mapped(after, first) if is_function(after) else _as_repeats(after)
    if times is None:
        outcome = as_outcomes(y_true, pos_label=pos_label, missing=True)
    else:
        outcome = times.known(at)
    check_same_length(outcome.size, "y_true", first.size, "before")
    check_same_length(outcome.size, "y_true", second.shape[1], "after")
    weight = as_weights(sample_weight, outcome.size)
    chosen = as_weight_type(given.words.get("weight_type"), weight)
    if weight is None:
        weight = np.broadcast_to(1.0, outcome.size)  # in no room
    elif chosen is None:
        warn_of_ambiguity(weight, first, np.nan_to_num(outcome))
    if times is None and np.isnan(outcome).any():
        weight = weight * ~np.isnan(outcome)
        if not weight.any():
            raise InputError("y_true has no outcome of a case with a weight: every one is missing.")
    read = chosen or "counts"
    cases = effective_cases(weight, read)
    kept = cases > 0
    is_full = bool(kept.all())
    mapped_from = first if is_function(after) else after
    own, own_first, own_second = (
        _own(values, source) if is_full else values[..., kept]
        for values, source in ((outcome, y_true), (first, before), (second, mapped_from))
    )
    share = cases if sample_weight is None and is_full else cases[kept]
    if times is not None:
        times = times.of(kept)
    pairs = PairedPredictions(
        *(own, own_first, own_second, share, read),
        times=times,
        horizon=at,
        of_function=is_function(after),
    )
    groups = read_groups(as_roles(**given.beside("site", "period", "subgroup")), outcome.size)
    if groups.structure.levels:
        cells, code = np.array(groups.cells), groups.code[kept]
        columns = zip(groups.structure.levels, cells.T, strict=True)
        pairs = replace(pairs, levels={role: level[code] for role, level in columns})
    roles = as_roles(**given.beside("cluster", "stratum"))
    if not roles.columns:
        return pairs
    hits = weight * np.nan_to_num(outcome)
    of_clusters = read_clusters(roles, weight, complete=True)
    squares = {"squares": weight**2, "square_hits": weight * hits}
    each = Rows.exact(first, weight, hits, **squares, **of_clusters).of(kept)
    return _in_clusters(pairs, each, cases.sum() / weight.sum())


def _own(values: Floats, given: Any) -> Floats:
    """Numbers that the caller cannot change: a copy, unless reading an array has made one."""
    is_new = type(given) is np.ndarray and not np.may_share_memory(values, given)
    return values if is_new else values.copy()


def cases_of(data: CalibrationData) -> tuple[Floats, Floats]:
    """Outcome and score of each case of a table, in ascending order of score, events last.

    Shapes: `outcome`, `score` (n,).
    """
    outcome, score, _ = read_cases(data, needs="cases").one
    order = np.lexsort((outcome, score))
    return outcome[order], score[order]


def _of_table(data: CalibrationData, after: Any) -> PairedPredictions:
    """Pairs of the cases of a table, those of one row and outcome together if they are alike."""
    rows, is_one = data.score.size, not data.levels
    second = _mapped(after, data.score) if is_function(after) else _as_repeats(after)
    size = second.shape[1]
    if not is_one and len(second) > 1:
        raise InputError(
            "after has several rows for each case. With sites, periods or subgroups give one "
            "prediction after for each case, or the map."
        )
    if size == rows:
        return _of_rows(data, second)
    repeats = size == data.n and np.ndim(after) == 2 and "cluster" not in data.roles and is_one
    if repeats and data.follow_up is None:
        outcome, first = cases_of(data)
        return PairedPredictions(outcome, first, second, np.ones(size), data.weight_type)
    raise InputError(
        f"after has {size} predictions, but the table has {rows} rows. A table no longer knows the "
        "order of its cases: pass after as a map, as one prediction for each of data.score, as "
        "cross_fit gives it for the table, or pass arrays of the cases instead of the table."
    )


def _of_rows(data: CalibrationData, after: Floats) -> PairedPredictions:
    """Pairs of the cases of each row, or of each cluster in it, those seen alike together."""
    (cases, row), times, horizon = data.cases, None, float("nan")
    if cases.cluster is not None and data.is_pseudo:
        raise InputError(
            "the table has cluster and sampling weights, and the gain needs the weight of each "
            "case. Pass y_true, before, sample_weight and cluster as arrays."
        )
    if data.follow_up is None:
        outcome = np.repeat([0.0, 1.0], row.size)  # of the non-events of all rows, then the events
        weight = np.concatenate([cases.trials - cases.hits, cases.hits])
        some = np.flatnonzero(weight)
        outcome, weight, entry = outcome[some], weight[some], some % row.size
        cases = cases.of(entry)._replace(trials=weight, hits=weight * outcome)
        row = row[entry]
    else:
        horizon = data.follow_up.horizon
        followed = FollowUp.of_rows(cases, row, horizon)
        times, weight = seen_as(followed), followed.weight
        outcome = times.known(horizon)
    levels = {role: np.array([cell[role] for cell in data.cells]) for role in data.levels}
    pairs = PairedPredictions(
        *(outcome, data.score[row], after[:, row], weight * data.weight_scale, data.weight_type),
        levels={role: level[cases.cell] for role, level in levels.items()},
        times=times,
        horizon=horizon,
    )
    return pairs if cases.cluster is None else _in_clusters(pairs, cases)


def _in_clusters(pairs: PairedPredictions, each: Rows, scale: float = 1.0) -> PairedPredictions:
    """The pairs with their clusters; each of the rows is one of them."""
    sampling = pairs.weight_type == "sampling"
    clusters = clusters_of(each, np.arange(pairs.outcome.size), scale, sampling=sampling)
    labels = {"cluster": each.cluster, "stratum": each.stratum}
    known = {role: keys for role, keys in labels.items() if keys is not None}
    return replace(pairs, clusters=clusters, labels=known)


def _rounded_to(score: Floats) -> float | None:
    """The step of the decimals that all scores were rounded to; None if they were not."""
    for places in ROUNDED_TO:
        scaled = score * 10.0**places
        if np.abs(scaled - np.rint(scaled)).max() < 1e-6:
            return float(10.0**-places)
    return None


def is_function(after: Any) -> bool:
    """Whether `after` is a map of scores rather than predictions."""
    return callable(after) or hasattr(after, "fit")


def _mapped(after: Any, score: Floats) -> Floats:
    """The predictions of a map at these scores, of shape (1, n)."""
    if isinstance(after, type):
        raise InputError(
            f"after is the class {after.__name__}, not an object of it. Pass a fitted one: "
            f"{after.__name__}().fit(scores, outcomes)."
        )
    column = score[:, None]
    if hasattr(after, "predict_proba"):
        values = as_probability_matrix(after.predict_proba(column), "after")[:, 1]
    elif hasattr(after, "transform"):
        values = after.transform(column)
    elif callable(after):
        values = after(score)
    else:
        raise InputError(
            f"after is a {type(after).__name__}, which has neither predict_proba nor transform. "
            "Pass a fitted recalibrator, a function of the scores, or predictions."
        )
    mapped = as_scores(values, "after")
    check_same_length(score.size, "before", mapped.size, "after")
    return mapped[None]


def _as_repeats(after: Any) -> Floats:
    """Predictions of shape (repeats, n)."""
    rows: list[Any] = list(np.asarray(after)) if is_matrix(after) else [after]
    if not rows:
        raise InputError("after holds no predictions: give one for each case.")
    checked = [as_scores(row, "after") for row in rows]
    return checked[0][None] if len(checked) == 1 else np.stack(checked)


# Cases up to which each is a row of its own in `of_neighbours`.
MOST_SINGLE = 1 << 14
# Bits that tell moves apart, below those of the row; a move is from -1 to 1.
MOVE_BITS = 36


class Alike(NamedTuple):
    """Cases sorted into rows.

    The `row` of each case, `one` of the cases of each row, the `weight` of each case, and its sum
    in each row, `trials`.
    """

    row: NDArray[np.intp]
    one: NDArray[np.intp]
    weight: Floats
    trials: Floats

    @classmethod
    def of(cls, row: NDArray[np.intp], weight: Floats, rows: int | None = None) -> Alike:
        """So many rows, by their numbers 0, 1, ...; by default as many as have cases."""
        rows = int(row.max()) + 1 if rows is None else rows
        one = np.zeros(rows, np.intp)
        one[row] = np.arange(row.size)
        return cls(row, one, weight, add_up(row, weight, rows))

    def means(self, values: Floats) -> Floats:
        """Weighted mean in each row of values of the cases; exact where they are equal."""
        base = values[self.one]
        beyond = add_up(self.row, self.weight * (values - base[self.row]), base.size)
        return np.asarray(base + beyond / np.where(self.trials > 0, self.trials, 1))

    def of_clusters(self, clusters: Clusters | None) -> ClusterBootstrap | None:
        """The law of the weights of the rows, where cases come in clusters."""
        if clusters is None:
            return None
        row = self.row[clusters.row].astype(np.intp, copy=False)
        return ClusterBootstrap.of(clusters, row, self.trials.size)


def of_equal_cells(
    pairs: PairedPredictions, before: Problem, after: Problem, thresholds: Sequence[float]
) -> Alike:
    """Rows of the cases that share a row of the problem before, and one of that after.

    Nobody shares a row with a case on another side of a threshold. Few distinct scores are rows of
    their own, and so are 0 and 1, the first and the last row of a problem.
    """
    sides = ((pairs.before, before), (pairs.after[0], after))
    row = np.zeros(pairs.outcome.size, np.intp)
    for score, problem in sides:
        row = _crossed(row, problem.rows_of(score))
        if thresholds:
            row = _crossed(row, _reached(score, thresholds))
    return Alike.of(row, pairs.weight)


def of_neighbours(pairs: PairedPredictions, thresholds: Sequence[float]) -> Alike:
    """Single cases; beyond 16 384 of them, each row takes an equal number of neighbours.

    Neighbours have the same outcome, share a row of the table before and the side of every
    threshold, and follow each other by how far the recalibration moves them.
    """
    n = pairs.outcome.size
    if n <= MOST_SINGLE:
        return Alike.of(np.arange(n), pairs.weight)
    key = _crossed(pairs.table_before.rows_of(pairs.before), pairs.outcome.astype(np.intp))
    if thresholds:
        key = _crossed(key, _reached(pairs.before, thresholds))
        key = _crossed(key, _reached(pairs.after, thresholds))
    moved = pairs.after.mean(axis=0) - pairs.before
    order = np.argsort((key << MOVE_BITS) + ((moved + 1) * 2 ** (MOVE_BITS - 1)).astype(np.int64))
    begins = np.flatnonzero(np.diff(key[order], prepend=-1))
    since = np.arange(n) - np.repeat(begins, np.diff(begins, append=n))
    row = np.empty(n, np.intp)
    row[order] = np.cumsum(since % -(-n // MOST_SINGLE) == 0) - 1
    return Alike.of(row, pairs.weight)


def _reached(score: Floats, thresholds: Sequence[float]) -> NDArray[np.intp]:
    """How many of the thresholds each case reaches, summed over repeats."""
    least = least_treated(np.sort(thresholds))
    reached = np.searchsorted(least, np.atleast_2d(score), side="right")
    return np.asarray(reached.sum(axis=0))


def _crossed(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number of each pair of numbers, in the order of those that occur."""
    pair = first * (int(second.max()) + 1) + second
    occurs = np.zeros(int(pair.max()) + 1, dtype=bool)
    occurs[pair] = True
    return np.asarray((np.cumsum(occurs) - 1)[pair])
