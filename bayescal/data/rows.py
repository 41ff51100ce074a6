"""Binomial rows: exact up to a limit, then on a fixed grid of log-odds; and scores of 0 and 1.

The rows of a cell (a combination of levels) are exact while it has at most `LIMIT` distinct scores.
Past that its scores fall into fixed parts of a grid, equally wide in log-odds, and each part keeps
the mean of its scores. Positions inside a part are whole multiples of 2**-20 of its width, so their
sums are exact integers and do not depend on the order in which the scores arrive.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bayescal.core.arrays import BLOCK, Floats, blocks
from bayescal.core.decision import least_treated
from bayescal.core.errors import InputError
from bayescal.core.optimise import EDGE, clipped
from bayescal.core.text import shortened

__all__ = ["Edges", "Rows"]

LIMIT = 2048
# Values from which on `numpy.add.at` is the fastest sum.
MANY_VALUES = 1000
# Cases that wait for each row that is summed already: a case is summed once or twice.
MOST_WAITING = 4
# Up to so many possible keys for each value, keys are counted and not sorted.
MOST_KEYS_A_VALUE = 4

_PARTS = LIMIT - 2  # scores of exactly 0 and 1 keep rows of their own
_GRID_REACH = float(np.log1p(-EDGE) - np.log(EDGE))  # log-odds of the outermost edge
_EDGES = expit(np.linspace(-_GRID_REACH, _GRID_REACH, _PARTS + 1))
_LOWER = np.concatenate([[0.0], _EDGES[:-1], [1.0]])
_WIDTH = np.concatenate([[1.0], np.diff(_EDGES), [1.0]])
# Steps of the width of a part of the grid in which positions are counted.
CELL_PARTS = 2.0**20
# Rows of a full grid, those of the scores 0 and 1 included.
GRID = _LOWER.size

SQUARES = ("squares", "square_hits")
SUMS = ("trials", "hits", "position", *SQUARES)
# What tells cases of one score and cell apart.
TOLD = ("cluster", "stratum", "entry", "exit", "kind")
LARGEST_KEY = 2**62

Index: TypeAlias = NDArray[np.intp]
Keys: TypeAlias = NDArray[np.uint64]
Cells: TypeAlias = NDArray[np.int32]
Grid: TypeAlias = NDArray[np.int16]
# Indices of cases; a slice where they stay as they are.
Order: TypeAlias = Index | slice


class Rows(NamedTuple):
    """Cases that are alike, and how many: what a table holds, and whatever is asked of it.

    A row is of one cell and one score; where more is known of its cases, of each combination of a
    cluster, and of when cases came, when they went, and why. `grid` is -1 while the score is exact,
    else its part; `position` sums positions in the part, in 2**-20 of its width. Without `squares`
    every case counts once. Clusters and strata are keys made of labels, the same in every table.
    """

    score: Floats
    trials: Floats
    hits: Floats
    cell: Cells = np.empty(0, np.int32)
    grid: Grid = np.empty(0, np.int16)
    position: Floats = np.empty(0)
    squares: Floats | None = None
    square_hits: Floats | None = None
    cluster: Keys | None = None
    stratum: Keys | None = None
    entry: Index | None = None
    exit: Index | None = None
    kind: NDArray[np.int8] | None = None

    @classmethod
    def exact(cls, score: Floats, trials: Floats, hits: Floats, cell: Any = 0, **more: Any) -> Rows:
        """Rows of scores as they are, which may repeat."""
        cells = np.full(score.size, cell, np.int32)
        none = np.full(score.size, -1, np.int16)
        plain = np.add(score, 0.0, dtype=np.float64)  # no -0.0
        return cls(plain, trials, hits, cells, none, np.zeros(score.size), **more)

    @classmethod
    def on_grid(cls, score: Floats, trials: Floats, hits: Floats) -> Rows:
        """Rows of parts of the grid, by the means of the scores of their cases."""
        part, position = locate(score)
        rows = cls.exact(score, trials, hits)
        return rows._replace(grid=part.astype(np.int16), position=position * trials)

    @property
    def is_exact(self) -> bool:
        """Whether no row is a part of the grid."""
        return not (self.grid >= 0).any()

    @property
    def square_sums(self) -> tuple[Floats, Floats]:
        """Squared weights of the cases and of the events, where none are kept those of one each."""
        trials = self.trials if self.squares is None else self.squares
        return trials, self.hits if self.square_hits is None else self.square_hits

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """The rows of several tables, one after the other."""
        if len(parts) == 1:
            return parts[0]
        if any(part.squares is not None for part in parts):
            parts = [part._replace(squares=part.square_sums[0]) for part in parts]
        if any(part.square_hits is not None for part in parts):
            parts = [part._replace(square_hits=part.square_sums[1]) for part in parts]
        columns: list[Any] = [
            None if each[0] is None else np.concatenate(each) for each in zip(*parts, strict=True)
        ]
        return cls(*columns)

    def of(self, some: Any) -> Rows:
        """Some of the rows."""
        columns: list[Any] = [None if column is None else column[some] for column in self]
        return Rows(*columns)

    def without(self, names: Collection[str]) -> Rows:
        """The same without some of the columns that need not be there."""
        gone: dict[str, Any] = dict.fromkeys(names)
        return self._replace(**gone)

    def divided(self, m: int) -> Rows:
        """The same, where each case counts 1/m."""
        sums: dict[str, Any] = {
            name: of / m for name in SUMS if (of := getattr(self, name)) is not None
        }
        return self._replace(**sums)


def numbered(key: NDArray[Any]) -> tuple[NDArray[Any], Index]:
    """The distinct keys, ascending, and the number of each value's key: the one way to number."""
    if key.dtype.kind not in "iu" or not key.size or key.min() < 0:
        return np.unique(key, return_inverse=True)
    if key.max() > MOST_KEYS_A_VALUE * key.size:
        return np.unique(key, return_inverse=True)
    present = np.flatnonzero(np.bincount(key))
    number = np.empty(present[-1] + 1, np.intp)
    number[present] = np.arange(present.size)
    return present, number[key]


def add_up(row: NDArray[Any], values: NDArray[Any], size: int = 0) -> Floats:
    """Sum of the values that fall in each of `size` rows; without it of as many as occur.

    Of many values `numpy.add.at` gives the sums of `numpy.bincount` in two thirds of the time.
    """
    if not size or row.size < MANY_VALUES:
        return np.asarray(np.bincount(row, values, minlength=size), dtype=np.float64)
    total = np.zeros(size)
    np.add.at(total, row.astype(np.intp, copy=False), values.astype(np.float64, copy=False))
    return total


def summed(rows: Rows, alike: Sequence[str] = TOLD) -> tuple[Rows, Index]:
    """Rows of which each cell has every score once, exact or on the grid; and the row of each.

    Rows stay apart by the columns `alike`; others are forgotten. Sums of counts and of positions
    are whole numbers below 2**53, so that no order of the rows changes them; sums of other weights
    depend on it in their last bits.
    """
    cells = int(rows.cell.max(initial=0)) + 1
    on_grid = np.zeros(cells, bool)
    on_grid[rows.cell[rows.grid >= 0]] = True
    exact, level = ~on_grid[rows.cell], rows.grid.astype(np.intp)
    scores = np.empty(0)
    if exact.any():
        scores, level[exact] = np.unique(rows.score[exact], return_inverse=True)
        if scores.size > LIMIT:
            pairs = np.sort(rows.cell[exact].astype(np.intp) * scores.size + level[exact])
            pairs = pairs[np.diff(pairs, prepend=-1) > 0]
            on_grid |= np.bincount(pairs // scores.size, minlength=cells) > LIMIT
    gridded, position = on_grid[rows.cell], rows.position.copy()
    new = gridded & (rows.grid < 0)
    if new.any():
        level[new], within = locate(rows.score[new])
        position[new] = within * rows.trials[new]
    width = GRID if on_grid.all() else max(GRID, scores.size)  # few keys are counted, not sorted
    told = {name: of for name in alike if (of := getattr(rows, name)) is not None}
    first, at = numbered_by(rows.cell.astype(np.intp) * width + level, cells * width, told)
    rows = rows._replace(position=position)
    columns: dict[str, Any] = {
        name: add_up(at, of, first.size) for name in SUMS if (of := getattr(rows, name)) is not None
    }
    if told:
        columns |= {name: of[first] for name, of in told.items()}
    cell, level = rows.cell[first], level[first]
    gridded = on_grid[cell]
    score = np.empty(first.size)
    score[~gridded] = scores[level[~gridded]]
    if gridded.any():
        position, trials = columns["position"][gridded], columns["trials"][gridded]
        score[gridded] = mean_score(level[gridded], position, trials)
    grid = np.where(gridded, level, -1).astype(np.int16)
    return Rows(score=score, cell=cell, grid=grid, **columns), at


def numbered_by(key: Index, size: int, more: dict[str, NDArray[Any]]) -> tuple[Index, Index]:
    """Where one of each thing alike is, and the number of each, by a key below `size` and more."""
    for column in more.values():
        values, code = numbered(column)
        if size * values.size > LARGEST_KEY:
            few, key = numbered(key)
            size = few.size
        key, size = key * values.size + code, size * values.size
    distinct, at = numbered(key)
    first = np.empty(distinct.size, np.intp)
    first[at] = np.arange(at.size)  # the last of those alike, which all are the same
    return first, at


def each_case(
    score: NDArray[Any],
    outcome: NDArray[Any],
    weight: Floats | None = None,
    cell: Any = None,
    **more: NDArray[Any],
) -> Iterator[Rows]:
    """A row of each case with an outcome and a weight, as many at a time as the cache holds."""
    for part in blocks(score.size, room=BLOCK):
        hits = outcome[part].astype(np.float64)
        trials, squares = np.ones(hits.size), {}
        kept = ~np.isnan(hits)
        if weight is not None:
            trials = weight[part]
            kept &= trials > 0
            hits *= trials
            squares = {"squares": trials**2}
            if "cluster" in more:
                squares["square_hits"] = trials * hits
        of_part = {name: values[part] for name, values in more.items()} if more else {}
        at = 0 if cell is None else cell[part]
        rows = Rows.exact(score[part], trials, hits, at, **squares, **of_part)
        yield rows if kept.all() else rows.of(kept)


def total(parts: Iterable[Rows]) -> Rows:
    """The sum of all, in the room of one part and the rows of the sum."""
    waiting: list[Rows] = []
    size = most = 0
    for part in parts:
        waiting.append(part)
        size += part.score.size
        if size >= max(BLOCK, most):
            waiting, size = [summed(Rows.joined(waiting))[0]], 0
            most = MOST_WAITING * waiting[0].score.size
    return summed(Rows.joined(waiting))[0] if size or not most else waiting[0]


def collapse(score: Floats, outcome: Floats, weight: Floats | None = None) -> Rows:
    """Collapse single cases to rows, exact or on the grid, in one pass."""
    return total(each_case(score, outcome, weight))


def locate(score: Floats) -> tuple[Index, Floats]:
    """Part of the grid of each score, and the position in it as a whole number of steps."""
    part = part_of(score)
    position = np.subtract(score, _LOWER.take(part))
    position *= CELL_PARTS / _WIDTH.take(part)
    np.clip(position, 0, CELL_PARTS, out=position)
    return part, np.rint(position, out=position)


def mean_score(part: NDArray[Any], position: Floats, trials: Floats) -> Floats:
    """The mean score of so many cases in each of some parts of the grid."""
    return np.asarray(_LOWER[part] + _WIDTH[part] * (position / (trials * CELL_PARTS)))


def part_of(score: Floats) -> Index:
    with np.errstate(divide="ignore"):
        scaled = 1 - score
        np.divide(score, scaled, out=scaled)
        np.log(scaled, out=scaled)
    scaled += _GRID_REACH
    scaled *= _PARTS / (2 * _GRID_REACH)
    part = np.clip(scaled, 0, _PARTS - 1, out=scaled).astype(np.intp)
    part += 1
    if score.min(initial=1) == 0:
        part[score == 0] = 0
    if score.max(initial=0) == 1:
        part[score == 1] = GRID - 1
    return part


def row_of(rows: Rows, score: Floats) -> Index:
    """Index of the row of each of these scores, which are among those of a table of one cell."""
    if rows.is_exact:
        return np.searchsorted(rows.score, score)
    row_at = np.searchsorted(rows.grid, np.arange(GRID))
    row = np.empty(score.size, dtype=np.intp)
    for part in blocks(score.size):
        row_at.take(part_of(score[part]), out=row[part], mode="clip")
    return row


def share_reaching(rows: Rows, thresholds: Floats) -> Floats:
    """Share of each row's cases whose score is at least t, of shape (rows, thresholds).

    In the part of the grid that holds t the cases are taken as evenly spread over it.
    """
    shared = (rows.score[:, None] >= least_treated(thresholds)).astype(np.float64)
    wide = (rows.grid > 0) & (rows.grid < GRID - 1)
    lower, width = _LOWER[rows.grid[wide], None], _WIDTH[rows.grid[wide], None]
    shared[wide] = np.clip((lower + width - thresholds) / width, 0.0, 1.0)
    return shared


class Levels(NamedTuple):
    """The distinct scores of the cases that count, ascending, and their weight at each.

    `order` sorts these cases by score, and `start` is where each distinct score begins in it;
    `weight` is in this order, and None when all count once.
    """

    score: Floats
    trials: Floats
    order: Order
    start: Index
    weight: Floats | None = None

    @property
    def row(self) -> Index:
        """Index of the distinct score of each case, where all count."""
        size = int(self.total) if self.weight is None else self.weight.size
        cases = np.diff(self.start, append=size)
        row = np.empty(size, dtype=np.intp)
        row[self.order] = np.repeat(np.arange(self.score.size), cases)
        return row

    @property
    def first(self) -> Index:
        """One of the cases at each score."""
        return self.start if isinstance(self.order, slice) else self.order[self.start]

    @property
    def total(self) -> float:
        """Sum of all weights."""
        return float(self.trials.sum())

    def totals(self, values: NDArray[Any]) -> Floats:
        """Sums over the cases at each score, along the last axis of (..., n)."""
        return _runs(values[..., self.order], self.start)

    def hits(self, outcomes: NDArray[Any]) -> Floats:
        """Weighted events at each score, along the last axis of (..., n)."""
        events = outcomes[..., self.order]
        return _runs(events if self.weight is None else events * self.weight, self.start)


def _runs(ranked: NDArray[Any], start: Index) -> Floats:
    """Sums of runs of values that begin so."""
    if start.size == ranked.shape[-1]:
        return ranked.astype(np.float64, copy=False)
    total: Floats = np.add.reduceat(ranked, start, axis=-1, dtype=np.float64)
    return total


def levels_of(score: Floats, weight: Floats | None = None) -> Levels:
    """Take cases of equal scores together, those that have a weight, by sorting if need be."""
    counted = None if weight is None or weight.all() else np.flatnonzero(weight)
    if weight is not None and counted is not None:
        score, weight = score[counted], weight[counted]
    order, ranked = ascending(score)
    start = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1])[: ranked.size])
    weight = None if weight is None else weight[order]
    trials = _runs(np.ones(ranked.size) if weight is None else weight, start)
    return Levels(
        ranked[start], trials, order if counted is None else counted[order], start, weight
    )


def ascending(score: Floats) -> tuple[Order, Floats]:
    """The order in which scores ascend, and the scores in it."""
    if (score[1:] >= score[:-1]).all():
        return slice(None), score
    order = np.argsort(score)
    return order, score[order]


class Edges(NamedTuple):
    """How scores of exactly 0 and 1 are read when a curve is fitted: as `low` and `high`.

    `moved` cases have a score that is read as another; `assumed` where every score is 0 or 1, so
    that nothing says how they were rounded. Edges that the user has `given` are the lowest and the
    highest score that is read, so that a score of 1 stays the highest.
    """

    low: float
    high: float
    moved: float
    assumed: bool
    given: bool = False

    def nearer(self, factor: float) -> Edges:
        """The same edges, this many times nearer to 0 and 1."""
        low, gap = max(self.low / factor, EDGE), max((1 - self.high) / factor, EDGE)
        return self._replace(low=low, high=1 - gap)

    def inside(self, score: Floats) -> Floats:
        """Scores strictly inside (0, 1), as the model reads them.

        Where there are scores of 0 or 1, those that no logarithm tells from them are read alike.
        """
        inner = clipped(score)
        if self.given:
            return np.clip(inner, self.low, self.high)
        ends = (EDGE, 1 - EDGE) if self.moved else (0, 1)
        inner = np.where((score == 0) | (inner <= ends[0]), self.low, inner)
        return np.where((score == 1) | (inner >= ends[1]), self.high, inner)


def edges_of(score: Floats, trials: Floats, edge: float | None = None) -> Edges:
    """Edges a quarter of the way from 0 and 1 to the nearest other score, or at `edge` for all.

    They are never nearer to 0 and 1 than 1e-12.
    """
    inner = score[(score > 0) & (score < 1)]
    if edge is None:
        low = inner.min() / 4 if inner.size else EDGE
        gap = (1 - inner.max()) / 4 if inner.size else EDGE
    else:
        low = gap = _as_edge(edge)
    low, high = max(float(low), EDGE), 1 - max(float(gap), EDGE)
    beyond = (score == 0) | (score == 1) if edge is None else (score < low) | (score > high)
    moved = float(trials[beyond].sum())
    return Edges(low, high, moved, inner.size == 0 and edge is None, edge is not None)


def ends_of(probability: Floats) -> tuple[float, float]:
    """What probabilities of 0 and 1 are read as; where there are none, 1e-12 and 1 - 1e-12."""
    flat = probability.ravel()
    edges = edges_of(flat, np.ones(flat.size))
    low = edges.low if (flat == 0).any() else EDGE
    return low, edges.high if (flat == 1).any() else 1 - EDGE


def _as_edge(edge: Any) -> float:
    try:
        value = float(edge)
    except (TypeError, ValueError, OverflowError):
        value = np.nan
    if not 0 < value < 0.5:
        raise InputError(f"edge must lie strictly between 0 and 0.5, got {shortened(repr(edge))}.")
    return value
