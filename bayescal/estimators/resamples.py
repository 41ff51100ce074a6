"""Weights of resampled cases: of single cases, of equal ones together, of clusters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, blocks
from bayescal.data.clusters import Clusters
from bayescal.data.weights import are_counts

RESAMPLES_BLOCK = 1 << 18
CASES_PER_CELL = 8


class Cells(NamedTuple):
    """Distinct pairs of score and outcome, in ascending order.

    Attributes
    ----------
    scores, outcomes, counts : ndarray of shape (cells,)
    size : int
        Number of cases, rounded.
    integral : bool
        Whether every count is an integer.
    """

    scores: Floats
    outcomes: Floats
    counts: Floats
    size: int
    integral: bool


def cells_of(outcomes: NDArray[Any], scores: Floats, weights: Floats | None) -> Cells:
    """Collapse cases to cells; weights are numbers of cases."""
    weight = np.ones(scores.size) if weights is None else weights
    order = np.lexsort((outcomes, scores))
    order = order[weight[order] > 0]
    scores, outcomes = scores[order], outcomes[order]
    new = (scores[1:] != scores[:-1]) | (outcomes[1:] != outcomes[:-1])
    first = np.flatnonzero(np.concatenate([[True], new]))
    counts = np.add.reduceat(weight[order], first)
    size = round(float(weight.sum()))
    return Cells(scores[first], outcomes[first], counts, size, are_counts(weight))


def _sizes(replicates: int, width: int) -> Iterator[int]:
    """How many replicates of this width to take at a time, so that memory stays bounded."""
    return (part.stop - part.start for part in blocks(replicates, width, RESAMPLES_BLOCK))


def draw(cells: Cells, replicates: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Bootstrap resamples, as blocks of cases per cell of shape (some, cells)."""
    number = cells.counts.size
    if not cells.integral or cells.size > CASES_PER_CELL * number:
        chances = cells.counts / cells.counts.sum()
        for some in _sizes(replicates, number):
            yield rng.multinomial(cells.size, chances, size=some).astype(np.float64)
        return
    cell = np.repeat(np.arange(number), cells.counts.astype(np.intp))
    for some in _sizes(replicates, cells.size):
        drawn = cell[rng.integers(cells.size, size=(some, cells.size))]
        drawn += number * np.arange(some)[:, None]
        counted = np.bincount(drawn.ravel(), minlength=some * number)
        yield counted.reshape(some, number).astype(np.float64)


def cells_of_clusters(clusters: Clusters, score: Floats) -> Cells:
    """Both outcomes at each score, whether or not they occur."""
    trials, hits = (
        np.bincount(clusters.row, each, score.size) for each in (clusters.trials, clusters.hits)
    )
    counts = np.column_stack([trials - hits, hits]).ravel()
    outcomes = np.tile([0.0, 1.0], score.size)
    return Cells(np.repeat(score, 2), outcomes, counts, round(float(trials.sum())), False)


def draw_clusters(
    clusters: Clusters, cells: int, replicates: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Resamples of whole clusters within strata, as blocks of cases per cell.

    Of k clusters k - 1 are drawn, and each counts k / (k - 1): means then vary as those of k new
    clusters do.

    References
    ----------
    Rao & Wu (1988), Resampling inference with complex survey data, JASA 83.
    """
    others = clusters.matrix(clusters.trials - clusters.hits, 2 * clusters.row, cells)
    cases = others + clusters.matrix(clusters.hits, 2 * clusters.row + 1, cells)
    layers = [np.flatnonzero(clusters.stratum == layer) for layer in range(clusters.strata)]
    for some in _sizes(replicates, max(cells, clusters.size)):
        counted = np.empty((some, clusters.size))
        for own in layers:
            k = own.size
            counted[:, own] = rng.multinomial(k - 1, np.full(k, 1 / k), some) * (k / (k - 1))
        yield np.asarray(counted @ cases)


def leave_one_out(
    cells: Cells, most: int, rng: np.random.Generator
) -> tuple[Iterator[Floats], Floats]:
    """The data less one case, for each cell, or for `most` random cases if there are more cells.

    Returns the blocks of cases per cell, and the share of the cases that each row stands for.
    """
    shares = cells.counts / cells.counts.sum()
    left_out = np.arange(shares.size)
    if shares.size > most:
        left_out = rng.choice(shares.size, most, p=shares)
        shares = np.full(most, 1 / most)

    def rows() -> Iterator[Floats]:
        start = 0
        for some in _sizes(left_out.size, cells.counts.size):
            block = np.tile(cells.counts, (some, 1))
            block[np.arange(some), left_out[start : start + some]] -= 1
            start += some
            yield block

    return rows(), shares
