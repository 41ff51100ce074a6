"""The union of the families' coordinates: what an averaged posterior is stored in.

Each draw belongs to one family and is zero in the coordinates that family lacks. The coordinates
of the beta family, the floor and the ceiling, the spline and the stretches serve every family that
has no others; any other family has coordinates of its own there, named after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.model.curve import Curve, Frame
from bayescal.model.families import BETA
from bayescal.model.lapse import RATES
from bayescal.model.pieces import PIECES, cells_of
from bayescal.model.spline import deviation_columns, spline_frame, with_deviations

__all__ = ["AVERAGE", "PRIOR_CALIBRATED", "in_average", "union_of"]

# Prior probability of exact calibration, unless another is given.
PRIOR_CALIBRATED = 0.05


@dataclass(frozen=True)
class _Basis:
    """The beta family's, each other family's departure from the diagonal, and the deviations."""

    others: tuple[Curve, ...] = ()

    def __call__(self, score: Floats, frame: Frame) -> tuple[Floats, Floats]:
        offset, line = BETA.basis(score, frame)
        columns = [line]
        for family in self.others:
            own_offset, own = family.basis(score, frame)
            offset = offset + (own_offset - logit(score))
            columns.append(own)
        return offset, np.hstack([*columns, deviation_columns(score, frame)])


AVERAGE = Curve(
    name="average",
    formula="a mixture of the families compared",
    coordinates=BETA.coordinates,
    basis=_Basis(),
    combination=BETA.combination,
    positive=BETA.positive,
    shape_frame=spline_frame,
    sized=with_deviations,
    in_cells=True,
    per_score=True,
)


def _frame_with_cells(score: Floats, trials: Floats, centre: float) -> Frame:
    return replace(spline_frame(score, trials, centre), cells=cells_of(score, trials))


def union_of(families: Iterable[Curve]) -> Curve:
    """The average's curve, with cells of the scores when `pieces` is among the families."""
    compared = tuple(families)
    curve = replace(AVERAGE, shape_frame=_frame_with_cells) if PIECES in compared else AVERAGE
    if any(family.is_bounded for family in compared):
        curve = _with_rates(curve)
    shared = set(curve.coordinates)
    others = tuple(family for family in compared if not shared.issuperset(family.coordinates))
    if not others:
        return curve
    from scipy.linalg import block_diag

    combination = block_diag(*(np.array(each.combination) for each in (curve, *others)))
    named = (_own_name(each, name) for each in others for name in each.coordinates)
    return replace(
        curve,
        coordinates=(*curve.coordinates, *named),
        basis=_Basis(others),
        combination=tuple(map(tuple, combination.tolist())),
        positive=sum((each.positive for each in others), curve.positive),
    )


def _with_rates(curve: Curve) -> Curve:
    """The same with a floor and a ceiling, which none of its coefficients depends on."""
    none = (0.0,) * len(RATES)
    return replace(
        curve,
        coordinates=(*curve.coordinates, *RATES),
        combination=tuple((*row, *none) for row in curve.combination),
    )


def _own_name(family: Curve, coordinate: str) -> str:
    return f"{family.name}_{coordinate}"


def in_average(curve: Curve, draws: Floats, union: Curve, frame: Frame) -> Floats:
    """A family's draws in the union of coordinates, zero where it has none.

    Parameters
    ----------
    curve : Curve
    draws : ndarray of shape (draws, d)
        Its own working coordinates.
    union : Curve
        The average's, from `union_of`.
    frame : Frame
        Of the average.

    Returns
    -------
    ndarray of shape (draws, d)
        With as many columns as the average has at that frame.
    """
    names = union.at(frame).coordinates
    united = np.zeros((draws.shape[0], len(names)))
    columns = {name: k for k, name in enumerate(names)}
    own_names = curve.at(frame).coordinates
    values = dict(zip(own_names, draws.T, strict=False))
    if curve.in_average is not None:
        values = curve.in_average(draws, frame)
    own = {name: _own_name(curve, name) for name in values}
    for name, value in values.items():
        united[:, columns[own[name] if own[name] in columns else name]] = value
    return united
