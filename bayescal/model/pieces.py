"""Stretches of the scores, each exactly on the diagonal, shifted from it, or a straight line.

Where a curve is calibrated its draws are the score itself, so chance adds nothing there. The
posterior is an exact sum over partitions of the scores, which has no PyMC form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.model.curve import Curve, Frame
from bayescal.model.partition.cells import cell_edges
from bayescal.model.partition.prior import PartitionPrior
from bayescal.model.partition.simulate import prior_partitions

__all__ = [
    "OFTEN_CALIBRATED",
    "PIECES",
    "PIECES_PRIOR",
    "PartitionPrior",
    "cells_of",
    "prior_pieces",
]

PIECES_PRIOR = PartitionPrior()
OFTEN_CALIBRATED = PartitionPrior(rho=(0.05, 0.2, 0.5, 0.8))
ON_DIAGONAL, SHIFTED, LINE = range(3)


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


def _basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    return logit(score), np.empty((score.size, 0))


def _frame(score: Floats, trials: Floats, centre: float) -> Frame:
    return Frame(centre, cells=cells_of(score, trials))


def _derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    """The type of the stretch that each cell belongs to: 0 on the diagonal, 1 shifted, 2 a line."""
    cells = range(1, len(frame.cells))
    shift = np.stack([u[f"cell_shift_{k}"] for k in cells], axis=-1)
    slope = np.stack([u[f"cell_slope_{k}"] for k in cells], axis=-1)
    stretch = np.where(slope != 0, LINE, np.where(shift != 0, SHIFTED, ON_DIAGONAL))
    return {"cell_type": (("chain", "draw", "cell"), stretch.astype(np.int8))}


PIECES = Curve(
    name="pieces",
    formula="logit s + shift + slope * logit s, shift and slope by cell of the scores",
    coordinates=(),
    basis=_basis,
    combination=(),
    positive=(),
    derived=_derived,
    shape_frame=_frame,
    in_cells=True,
    meaning="stretches that are calibrated, shifted or tilted, and jumps between them",
)
