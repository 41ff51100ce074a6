"""Stretches of the scores, each exactly on the diagonal, shifted from it, or a straight line.

Where a curve is calibrated its draws are the score itself, so chance adds nothing there. The
posterior is an exact sum over partitions of the scores, which has no PyMC form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.model.cells import PartitionPrior, cell_edges, cell_of, draw_prior
from bayescal.model.curve import Curve, Frame
from bayescal.model.families import IDENTITY
from bayescal.model.partition import (
    LEFT,
    LINE,
    RIGHT,
    SHIFT,
    TYPES,
    PartitionDraws,
    assemble,
    type_weights,
)

__all__ = [
    "OFTEN_CALIBRATED",
    "PIECES",
    "PIECES_PRIOR",
    "PartitionPrior",
    "cells_of",
    "prior_partitions",
    "prior_pieces",
]


Index = NDArray[np.intp]


def prior_partitions(
    score: Floats,
    trials: Floats,
    edges: Floats,
    prior: PartitionPrior,
    draws: int,
    rng: np.random.Generator,
) -> PartitionDraws:
    """Curves from the prior, given the scores and that they leave the diagonal somewhere.

    `score` (rows,): inside (0, 1), ascending; `trials` (rows,); `edges` (cells - 1,).
    """
    k = edges.size + 1
    end, rho = prior.grid(k)
    setting = rng.integers(end.size, size=draws)
    draw, start, stop, on = _stretches(k, end[setting], rho[setting], rng)
    follows = np.flatnonzero(draw[1:] == draw[:-1])
    on_left, on_right = np.zeros((2, draw.size), dtype=bool)
    on_left[follows + 1], on_right[follows] = on[follows], on[follows + 1]
    kind = np.full(draw.size, -1)
    for left in (False, True):
        for right in (False, True):
            mine = np.flatnonzero(~on & (on_left == left) & (on_right == right))
            kind[mine] = rng.choice(TYPES, mine.size, p=type_weights(left, right, prior.hinge))
    x = logit(score)
    information = trials * score * (1 - score)
    cell = cell_of(x, edges)
    below = np.append(0.0, np.cumsum(np.bincount(cell, information, k)))
    below_x = np.append(0.0, np.cumsum(np.bincount(cell, information * x, k)))
    ends = np.concatenate([x[:1], edges, x[-1:]])
    centre = (below_x[stop] - below_x[start]) / (below[stop] - below[start])
    height = np.where((kind == SHIFT) | (kind == LINE), draw_prior(rng, draw.size), 0.0)
    slope = np.where(kind >= LINE, draw_prior(rng, draw.size), 0.0)
    pivot = np.where(kind == LEFT, ends[start], np.where(kind == RIGHT, ends[stop], centre))
    return assemble(draw, start, stop, height - slope * pivot, slope, setting, k)


def _stretches(
    k: int, end: Floats, rho: Floats, rng: np.random.Generator
) -> tuple[Index, Index, Index, NDArray[np.bool_]]:
    """Draw, first cell, end and whether on the diagonal; of each stretch, in order."""
    parts = []
    wanted = np.arange(end.size)
    while wanted.size:
        position = np.zeros(wanted.size, dtype=np.intp)
        on = rng.random(wanted.size) < (rho / (1 + rho))[wanted]
        active, rows = wanted, []
        while active.size:
            stop = np.minimum(position + rng.geometric(end[active]), k)
            rows.append((active, position, stop, on))
            going = stop < k
            on = (~on & (rng.random(active.size) < rho[active]))[going]
            active, position = active[going], stop[going]
        draw, start, stop, on = (np.concatenate(part) for part in zip(*rows, strict=True))
        rejected = draw[on & (stop - start == k)]
        kept = ~np.isin(draw, rejected)
        parts.append((draw[kept], start[kept], stop[kept], on[kept]))
        wanted = rejected
    draw, start, stop, on = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = np.lexsort((start, draw))
    return draw[order], start[order], stop[order], on[order]


PIECES_PRIOR = PartitionPrior()
OFTEN_CALIBRATED = PartitionPrior(rho=(0.05, 0.2, 0.5, 0.8))


def cells_of(score: Floats, trials: Floats) -> tuple[float, ...]:
    """Log-odds at which the cells of the scores begin and end."""
    x = logit(score)
    return (float(x[0]), *cell_edges(score, trials).tolist(), float(x[-1]))


def prior_pieces(
    frame: Frame,
    score: Floats,
    trials: Floats,
    rng: np.random.Generator,
    size: int,
    partition: PartitionPrior = PIECES_PRIOR,
) -> Floats:
    """Draws of shifts and slopes by cell from their prior, of shape (size, 2 * cells)."""
    edges = np.array(frame.cells[1:-1])
    drawn = prior_partitions(score, trials, edges, partition, size, rng)
    return np.hstack([drawn.shift, drawn.slope])


def _frame(score: Floats, trials: Floats, centre: float) -> Frame:
    return Frame(centre, cells=cells_of(score, trials))


def _derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    """The type of the stretch that each cell belongs to: 0 on the diagonal, 1 shifted, 2 a line."""
    cells = range(1, len(frame.cells))
    shift = np.stack([u[f"cell_shift_{k}"] for k in cells], axis=-1)
    slope = np.stack([u[f"cell_slope_{k}"] for k in cells], axis=-1)
    stretch = np.where(slope != 0, 2, shift != 0)
    return {"cell_type": (("chain", "draw", "cell"), stretch.astype(np.int8))}


PIECES = Curve(
    name="pieces",
    formula="logit s + shift + slope * logit s, shift and slope by cell of the scores",
    coordinates=(),
    basis=IDENTITY.basis,
    combination=(),
    positive=(),
    derived=_derived,
    shape_frame=_frame,
    in_cells=True,
    meaning="stretches that are calibrated, shifted or tilted, and jumps between them",
)
