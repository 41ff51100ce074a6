"""Cells of the scores, and few rows or nodes that stand for many rows of a table. Arrays only.

Cells, rows and nodes are placed by scores and trials alone; events are then shared among them. All
of it mirrors exactly when scores become 1 - s and events become the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logit

from bayescal.core.arrays import Floats

DEGREES = 4
PRIOR_SCALES = (0.25, 0.7)  # in log-odds; even odds
_CONSTANT = float(gammaln(2.5) - gammaln(2) - 0.5 * np.log(DEGREES * np.pi)) - np.log(2)

# Beside every score by itself these rows move the TCE by at most .00015 and .00006, over eight
# populations; 64 rows move it by .0006, and by 2.4 posterior standard deviations where cases are
# many.
# Most rows that carry a curve: of a table of up to `LARGE_TABLE` cases, and of a larger one.
MOST_ROWS = 128, 256
LARGE_TABLE = 5000

# A curve can jump only between two cells. Where 10.6 % of 20 000 cases lie behind a jump, the lower
# end of E90 was above the truth in .47 of 40 data sets with 41 cells, in .03 of 30 with 61.
CELLS = 41
MOST = 61
MANY = 2000
GROWTH = 0.173  # past that many cases, cells grow with this power of their number

# Share of the weight of rows that does not depend on whether their scores are right.
BY_CASES = 0.3
WIDEST = 0.6  # log-odds for which two nodes stand
TIE = 1e-9
Index = NDArray[np.intp]

# Share of the half range of the log-odds below which a recurrence has no next step.
EXHAUSTED = 1e-13

# The same of groups, whose recurrences are not re-orthogonalised.
EXHAUSTED_GROUP = 1e-7


@dataclass(frozen=True)
class PartitionPrior:
    """How many stretches a curve has, and how often they lie on the diagonal.

    After each of k cells the stretch ends with probability m / k, at most 0.9. After one off the
    diagonal the next lies on it with probability rho; after one on it, never. The first lies on it
    with probability rho / (1 + rho), so that the prior reads the same from both ends. A stretch off
    the diagonal meets it at an end with probability `hinge`, half of it for either end; it is a
    line where no stretch on the diagonal is there.
    """

    ends: tuple[float, ...] = (1.0, 3.0, 8.0)  # values of m, of equal probability
    rho: tuple[float, ...] = (0.05, 0.2, 0.5)  # values of equal probability
    hinge: float = 0.5

    def grid(self, cells: int) -> tuple[Floats, Floats]:
        """Probability that a stretch ends, and rho, for each combination of the two."""
        end, rho = np.meshgrid(np.minimum(np.array(self.ends) / cells, 0.9), self.rho)
        return end.ravel(), rho.ravel()


def log_prior(x: Floats) -> Floats:
    """Log density of a shift or a slope: half Student-t4 of scale .25, half of scale .7."""
    square, density = x * x, np.zeros_like(x)
    for scale in PRIOR_SCALES:
        spread = square / (DEGREES * scale**2)
        spread += 1
        power = np.sqrt(spread)
        power *= spread
        power *= spread  # of (DEGREES + 1) / 2
        density += np.divide(1 / scale, power, out=power)
    np.log(density, out=density)
    density += _CONSTANT
    return density


def draw_prior(rng: np.random.Generator, size: int) -> Floats:
    """Draws of a shift or a slope."""
    scale = rng.choice(PRIOR_SCALES, size)
    return np.asarray(scale * rng.standard_t(DEGREES, size))


def cell_edges(score: Floats, trials: Floats, cells: int | None = None) -> Floats:
    """Log-odds that cut ascending scores into cells of equal weight, midway between rows.

    A row belongs to one cell. `cells` is odd, by default 41 up to 2000 cases, 49 at 6000 and 61
    from 20 000 on.
    """
    cells = _most_cells(trials.sum()) if cells is None else cells
    cell = _nearest(_from_middle(weight_of_rows(score, trials)) * cells)
    x = logit(score)
    cut = np.flatnonzero((np.diff(cell) > 0) & (np.diff(x) > TIE))
    return np.asarray((x[cut] + x[cut + 1]) / 2)


def weight_of_rows(score: Floats, trials: Floats) -> Floats:
    """Weight of each row where knots and cells are placed, of mean 1 over the cases.

    Most of it is the information, trials * sqrt(s (1 - s)), that there is if the scores are right.
    At scores near 0 and 1 that is next to nothing, but there the scores are often wrong; so a share
    of the weight is that of the cases alone. Outcomes do not enter.
    """
    information = trials * np.sqrt(score * (1 - score))
    by_information = information * (trials.sum() / information.sum())
    return np.asarray(BY_CASES * trials + (1 - BY_CASES) * by_information)


def _most_cells(n: float) -> int:
    """The number of cells for n cases; odd, so that the middle of the scores is inside a cell."""
    grown = CELLS * max(1.0, n / MANY) ** GROWTH
    return 2 * int(min(MOST, grown) / 2) + 1


def cell_of(x: Floats, edges: Floats) -> Index:
    """The cell in which each of the log-odds `x` lies, counted from 0."""
    return np.asarray(np.searchsorted(edges, x), dtype=np.intp)


def first_of_merged(score: Floats, trials: Floats, most: int | None = None) -> Index:
    """Index in the table of the first row of each merged row, where neighbours become a few rows.

    A longer table than `most` (see `MOST_ROWS`) is cut on a scale that is half log-odds and half
    information, trials * sqrt(s (1 - s)), so that no row is wide and none holds much of what is
    known of the curve. The outer rows stay as they are: curves are often farthest from the diagonal
    there.
    """
    if most is None:
        most = MOST_ROWS[int(trials.sum() > LARGE_TABLE)]
    if score.size <= most:
        return np.arange(score.size)
    x = logit(score)
    by_information = _from_middle(trials * np.sqrt(score * (1 - score)))
    by_log_odds = (x - (x[0] + x[-1]) / 2) / max(x[-1] - x[0], TIE)
    odd = most - 3 + most % 2  # so that the middle of the scores is inside a row
    row = _nearest((by_information + by_log_odds) / 2 * odd)
    row[0], row[-1] = -np.inf, np.inf
    return np.asarray(np.flatnonzero(np.diff(row, prepend=np.nan)), dtype=np.intp)


def _from_middle(weight: Floats) -> Floats:
    """Share of the weight between the middle of it and each row, from -1/2 to 1/2."""
    below = np.cumsum(weight) - weight / 2
    above = np.cumsum(weight[::-1])[::-1] - weight / 2
    return np.asarray((below - above) / (2 * weight.sum()))


@dataclass(frozen=True)
class Nodes:
    """Weighted nodes of every stretch of consecutive cells, one stretch after the other."""

    x: Floats  # (nodes,): log-odds, and the trials and events that a node stands for
    weight: Floats  # (nodes,)
    hits: Floats  # (nodes,)
    start: Index  # (stretches,): index of a stretch's first node
    size: Index  # (stretches,): how many nodes it has


def stretch_nodes(x: Floats, trials: Floats, hits: Floats, cover: Cover) -> Nodes:
    """Nodes for sums over rows: two for each block of rows, exact for cubics in log-odds.

    `x` ascends, and no cell is empty.
    """
    start = np.append(cover.start, x.size)
    return cover.nodes(
        [
            _block_nodes(x, trials, hits, start[low], start[high + 1])
            for low, high in zip(cover.low, cover.high, strict=True)
        ]
    )


@dataclass(frozen=True)
class Cover:
    """Blocks of cells, of four sizes, that cover stretches."""

    start: Index  # (cells,): the first row of each cell
    low: tuple[Index, ...]  # (blocks,): the first and the last cell of the blocks of each size
    high: tuple[Index, ...]  # (blocks,)
    uses: NDArray[np.bool_]  # (stretches, all blocks): which blocks cover a stretch

    def nodes(self, made: Sequence[tuple[Floats, Floats, Floats, Index]]) -> Nodes:
        """The nodes of stretches, from those of blocks: x, weight and hits, and how many each."""
        x, weight, events, count = (np.concatenate(part) for part in zip(*made, strict=True))
        stretch, used = np.nonzero(self.uses)
        index = ranges((np.cumsum(count) - count)[used], count[used])
        total = np.bincount(stretch, count[used], len(self.uses)).astype(np.intp)
        return Nodes(x[index], weight[index], events[index], np.cumsum(total) - total, total)


def cover_of_stretches(x: Floats, cell: Index, first: Index, last: Index) -> Cover:
    """Blocks of cells that cover each stretch, from cell `first` to `last`.

    They are the largest that fit in it and are at most `WIDEST` log-odds wide; wider cells are cut.
    """
    start = np.searchsorted(cell, np.arange(cell[-1] + 1))
    end = np.append(start[1:], x.size) - 1
    from_middle = np.arange(start.size) - (start.size - 1) / 2
    covered = np.zeros((first.size, start.size), dtype=bool)
    uses, lows, highs = [], [], []
    for size in (8, 4, 2, 1):
        block = np.sign(from_middle) * np.ceil(np.ceil(np.abs(from_middle)) / size)
        low = np.flatnonzero(np.diff(block, prepend=np.nan))
        high = np.append(low[1:], block.size) - 1
        if size > 1:
            narrow = (x[end[high]] - x[start[low]] <= WIDEST) & (high > low)
            low, high = low[narrow], high[narrow]
        fits = (low >= first[:, None]) & (high <= last[:, None]) & ~covered[:, low]
        for column, (a, b) in enumerate(zip(low, high, strict=True)):
            covered[:, a : b + 1] |= fits[:, column, None]
        uses.append(fits)
        lows.append(low)
        highs.append(high)
    return Cover(start, tuple(lows), tuple(highs), np.hstack(uses))


def _block_nodes(
    x: Floats, trials: Floats, hits: Floats, start: Index, stop: Index
) -> tuple[Floats, Floats, Floats, Index]:
    """Two nodes a block of rows, or two for each part of a block that is too wide."""
    if not start.size:
        return np.empty(0), np.empty(0), np.empty(0), np.empty(0, dtype=np.intp)
    rows = ranges(start, stop - start)
    block = np.repeat(np.arange(start.size), stop - start)
    low, width = x[start], x[stop - 1] - x[start]
    parts = 2 * np.ceil((np.maximum(width / WIDEST, 1) - 1) / 2) + 1  # odd, as the cells are
    middle = (x[rows] - (low + width / 2)[block]) / np.maximum(width, TIE)[block] * parts[block]
    half = (parts[block] - 1) / 2
    part = np.clip(_nearest(middle), -half, half)
    new = np.append(True, (np.diff(block) > 0) | (np.diff(part) > 0))
    nodes = _two_nodes(x[rows], trials[rows], hits[rows], np.flatnonzero(new))
    return *nodes, 2 * np.bincount(block[new], minlength=start.size).astype(np.intp)


def _two_nodes(
    x: Floats, trials: Floats, hits: Floats, start: Index
) -> tuple[Floats, Floats, Floats]:
    """Gauss quadrature of consecutive rows: two nodes with their first four moments.

    Events keep their number and their mean, but no node has more of them than trials: else no curve
    would be steep enough for events that lie beyond a node.
    """
    size = np.diff(start, append=x.size)
    total = np.add.reduceat(trials, start)
    mean = np.add.reduceat(trials * x, start) / total
    deviation = x - np.repeat(mean, size)
    sd = np.sqrt(np.add.reduceat(trials * deviation**2, start) / total)
    third = np.add.reduceat(trials * deviation**3, start) / total
    skew = third / np.maximum(sd, 1e-6) ** 3
    root = np.sqrt(skew**2 + 4)
    steps = np.stack([skew - root, skew + root], axis=1) / 2
    weights = np.abs(steps[:, ::-1]) / root[:, None] * total[:, None]
    points = mean[:, None] + sd[:, None] * steps
    events = np.add.reduceat(hits, start)
    moment = np.add.reduceat(hits * deviation, start)
    gap = sd * root
    upper = (moment - events * sd * steps[:, 0]) / np.maximum(gap, TIE)
    upper = np.where(gap > TIE, upper, events * weights[:, 1] / total)
    upper = np.clip(upper, np.maximum(events - weights[:, 0], 0), np.minimum(events, weights[:, 1]))
    shared = np.column_stack([events - upper, upper])
    return points.ravel(), weights.ravel(), shared.ravel()


def _nearest(position: Floats) -> Floats:
    """The nearest whole number; of two that are as near, the one nearer to zero."""
    return np.asarray(np.sign(position) * np.ceil(np.abs(position) - 0.5 - TIE))


def ranges(start: Index, size: Index) -> Index:
    """Consecutive integers from each start on, as many as its size, one range after the other."""
    offset = np.cumsum(size) - size
    return np.asarray(np.arange(size.sum()) + np.repeat(start - offset, size))


def gauss_rule(x: Floats, weight: Floats, count: int) -> tuple[Floats, Floats]:
    """Nodes, ascending, and weights of the Gauss rule of ascending log-odds: `count` or fewer.

    Sums of a polynomial in log-odds of degree up to 2 count - 1 are the same over the nodes as over
    the rows. Nodes are the eigenvalues of the Jacobi matrix, which Lanczos steps with full
    re-orthogonalisation build from the rows. Golub & Welsch (1969), Mathematics of Computation 23.
    """
    middle, half = (x[0] + x[-1]) / 2, max((x[-1] - x[0]) / 2, np.finfo(float).tiny)
    unit, total = (x - middle) / half, weight.sum()
    diagonal, beside = _jacobi(unit, np.sqrt(weight / total), count)
    nodes, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))
    return middle + half * nodes, total * vectors[0] ** 2


def gauss_of_groups(
    x: Floats, weight: Floats, start: NDArray[np.intp], count: int
) -> tuple[Floats, Floats, Floats]:
    """Nodes and weights of the Gauss rules of consecutive groups, and how rows are split on them.

    The columns of `split` (rows, count) are the Lagrange polynomials of a group's nodes at its
    rows. The sum of `weight * split * value` over a group, with a value that is known of each row,
    gives the nodes what they need for sums of value * f(x): the same for polynomials f of degree up
    to count - 1. Groups begin at rows `start`; few nodes, since recurrences are not
    re-orthogonalised.
    """
    size = np.diff(start, append=x.size)
    group, total = np.repeat(np.arange(start.size), size), np.add.reduceat(weight, start)
    width = np.maximum.reduceat(x, start) - np.minimum.reduceat(x, start)
    basis = np.zeros((count, x.size))
    basis[0] = 1
    diagonal, beside = np.zeros((start.size, count)), np.zeros((start.size, count))
    for k in range(count):
        own = basis[k]
        diagonal[:, k] = np.add.reduceat(weight * x * own * own, start) / total
        if k + 1 == count:
            break
        following = (x - diagonal[group, k]) * own
        if k:
            following -= beside[group, k - 1] * basis[k - 1]
        norm = np.sqrt(np.add.reduceat(weight * following * following, start) / total)
        beside[:, k] = np.where(norm > EXHAUSTED_GROUP * width, norm, 0)
        inverse = np.divide(1, beside[:, k], out=np.zeros(norm.size), where=beside[:, k] > 0)
        basis[k + 1] = following * inverse[group]
    at = np.arange(count)
    jacobi = np.zeros((start.size, count, count))
    jacobi[:, at, at] = diagonal
    jacobi[:, at[1:], at[:-1]] = jacobi[:, at[:-1], at[1:]] = beside[:, :-1]
    nodes, vectors = np.linalg.eigh(jacobi)
    first = vectors[:, 0]
    split = np.zeros((x.size, count))
    for k in range(count):
        split += basis[k][:, None] * (first * vectors[:, k])[group]
    return nodes, total[:, None] * first**2, split


def _jacobi(x: Floats, root: Floats, count: int) -> tuple[Floats, Floats]:
    """Diagonal and off-diagonal of the Jacobi matrix, from rows of weights `root` squared."""
    basis = np.zeros((count, x.size))
    diagonal, beside = np.zeros(count), np.zeros(count)
    basis[0] = root
    for step in range(count):
        known = basis[: step + 1]
        following = x * basis[step]
        diagonal[step] = basis[step] @ following
        for _ in range(2):
            following -= (known @ following) @ known
        beside[step] = np.sqrt(following @ following)
        if beside[step] <= EXHAUSTED:
            return diagonal[: step + 1], beside[:step]
        if step + 1 < count:
            basis[step + 1] = following / beside[step]
    return diagonal, beside[:-1]
