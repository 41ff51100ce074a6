"""The constants of a fit, read back from a tree of this version or an earlier one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.model.curve import Frame

__all__ = ["stored_frame"]


def stored_frame(read: Mapping[str, Any]) -> Frame:
    """The frame that a tree's attribute describes.

    Before 0.1.0 a spline was kept as a `smoother`, weights of truncated cubes and of a line.
    """
    knots = tuple(read["knots"])
    deviations = read["deviations"] if "deviations" in read else read["smoother"]
    if "smoother" in read and deviations:
        deviations = (_truncated_cubes(np.array(knots)) @ np.array(deviations)).tolist()
    cells = tuple(read.get("cells", ()))
    scores = tuple(read.get("scores", ()))
    return Frame(read["centre"], knots, tuple(map(tuple, deviations)), cells, scores)


def _truncated_cubes(knots: Floats) -> Floats:
    """Hastie, Tibshirani & Friedman (2009), eq. 5.5, and a line, all at the knots."""
    z = (knots - knots[0]) / (knots[-1] - knots[0])
    cubes = np.maximum(z[:, None] - z, 0) ** 3
    bends = (cubes[:, :-1] - cubes[:, -1:]) / (1 - z[:-1])
    return np.column_stack([bends[:, :-1] - bends[:, -1:], np.ones_like(knots), knots])
