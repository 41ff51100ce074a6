"""The registry of families of calibration curves, and the two curves that are not in it.

To add a family, describe it as a `Curve`, and register it: everything else (fits, comparisons,
averages, tables, figures, reports and the command line) reads the registry.

An averaged posterior is stored in the union of the families' coordinates: each draw belongs to one
family and is zero in the coordinates that family lacks. The coordinates of the beta family, the
floor and the ceiling, the spline and the stretches serve every family that has no others; any other
has coordinates of its own there, named after it.

A traced curve is read off the risks of cases, as a trace of any model has them. Cases with one
score may have several risks, by a covariate or a hospital: the curve is their mean at each score,
as it is where scores repeat, and else smoothed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, check_choice
from bayescal.core.optimise import clipped
from bayescal.model.curve import RATES, Curve, CurveAtScores, Frame, between
from bayescal.model.families import (
    BETA,
    IDENTITY,
    INTERCEPT,
    LAPSE,
    LOGISTIC,
    NEAR_CURVE,
    NOISE,
    SPLINE,
    TEMPERATURE,
    deviation_columns,
    spline_frame,
    with_deviations,
)
from bayescal.model.pieces import PIECES, cells_of
from bayescal.model.saturated import SATURATED

__all__ = [
    "AVERAGE",
    "CURVES",
    "EXACT",
    "FAMILY_OF_SEVERAL",
    "NEAR",
    "Curve",
    "Frame",
    "as_curve",
    "average_of",
    "in_average",
    "register",
    "stored_curve",
    "unregister",
    "updates",
]


def __dir__() -> list[str]:
    """Public names only."""
    return __all__


# Prior probability of exact calibration, unless another is given.
PRIOR_CALIBRATED = 0.05

# Up to so many distinct scores have a mean risk each.
FEW_SCORES = 40

# Scores at which a smooth curve is kept; between two of them it is straight.
MOST_POINTS = 128
MOST_BENDS = 8
EXACT, NEAR = IDENTITY.name, NEAR_CURVE.name

# The family of sites, factors and periods, unless another is named.
FAMILY_OF_SEVERAL = "beta"


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


def union_of(*compared: Curve) -> Curve:
    """The average's curve, with cells of the scores when `pieces` is among the families."""
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
    """What an average calls a coordinate of a family that others do not share."""
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
    where = {name: k for k, name in enumerate(union.at(frame).coordinates)}
    values = dict(zip(curve.at(frame).coordinates, draws.T, strict=False))
    if curve.in_average is not None:
        values = curve.in_average(draws, frame)
    united = np.zeros((draws.shape[0], len(where)))
    for name, value in values.items():
        own = _own_name(curve, name)
        united[:, where[own if own in where else name]] = value
    return united


@dataclass(frozen=True, eq=False)
class TracedCurve(Curve):
    """Curves that are their score and an error, which is straight between the frame's knots."""

    def at_scores(self, score: Floats, frame: Frame, stated: Floats | None = None) -> CurveAtScores:
        """The curves at fixed scores, for many draws."""
        return _TracedAtScores(self, score, frame, stated)


class _TracedAtScores(CurveAtScores):
    """Traced curves at scores, of shape (rows,) or (draws, rows)."""

    def __init__(
        self, curve: TracedCurve, score: Floats, frame: Frame, stated: Floats | None = None
    ) -> None:
        self.stated = score if stated is None else stated
        self._neighbours, self._share = between(score, expit(np.array(frame.knots)))

    def log_odds(self, u: Floats) -> Floats:
        """Log-odds, of shape (draws, rows), for draws `u` of shape (draws, knots)."""
        return np.asarray(logit(self.probability(u)))

    def probability(self, u: Floats) -> Floats:
        """The curves, of shape (draws, rows), for draws `u` of shape (draws, knots)."""
        if self.stated.ndim == 1:
            low, high = (u[:, side] for side in self._neighbours)
        else:
            low, high = (np.take_along_axis(u, side, 1) for side in self._neighbours)
        return clipped(self.stated + low + self._share * (high - low))


def _with_errors(curve: Curve, frame: Frame) -> Curve:
    return replace(curve, coordinates=tuple(f"error_{k + 1}" for k in range(len(frame.knots))))


# The curve of `from_pymc`, where the model has more than the curve of a family.
TRACED = TracedCurve(
    name="event_prob",
    formula="s + error, errors read off the risks of a model",
    coordinates=(),
    basis=IDENTITY.basis,
    combination=(),
    positive=(),
    sized=_with_errors,
    has_prior=False,
    meaning="the mean risk of cases with a score, in a model of the user's",
)


def mean_errors(score: Floats, risk: Floats, trials: Floats) -> tuple[Floats, Floats]:
    """Points, and mean of risk - score there: at each of a few scores, or smooth between points.

    Of a smooth curve, sums over the cases of risks, and of risks times log-odds, stay as they are;
    so observed over expected and the calibration slope are those of the risks themselves.
    """
    error = risk - score
    points, at = np.unique(score, return_inverse=True)
    if points.size <= FEW_SCORES:
        sums = np.zeros((points.size, score.size))
        sums[at, np.arange(score.size)] = trials
        return points, error @ (sums / sums.sum(axis=1, keepdims=True)).T
    if points.size > MOST_POINTS:
        points = np.unique(np.quantile(points, np.linspace(0, 1, MOST_POINTS)))
    order = np.argsort(score, kind="stable")
    frame = spline_frame(score[order], trials[order], 0.5)
    bends = min(MOST_BENDS, round(score.size ** (1 / 3)) - 2)
    columns, shown = (_columns(each, frame, bends) for each in (score, points))
    root = np.sqrt(trials)
    solved = np.linalg.pinv(root[:, None] * columns) * root
    return points, error @ (shown @ solved).T


def _columns(score: Floats, frame: Frame, bends: int) -> Floats:
    """What errors are sums of: two for the sums that stay, and curves that end at 0 and 1."""
    x = logit(score)
    line = np.column_stack([np.ones_like(x), x])
    curves = np.hstack([line, deviation_columns(score, frame)[:, :bends]])
    return np.hstack([line, (score * (1 - score))[:, None] * curves])


# The families by name, from the simplest to the most flexible.
CURVES: dict[str, Curve] = {
    curve.name: curve
    for curve in (
        IDENTITY,
        NEAR_CURVE,
        INTERCEPT,
        TEMPERATURE,
        LOGISTIC,
        NOISE,
        BETA,
        LAPSE,
        SPLINE,
        PIECES,
        SATURATED,
    )
}


def register(curve: Curve) -> None:
    """Add a family, which is then known by name wherever a family is asked for.

    Parameters
    ----------
    curve : Curve

    Raises
    ------
    InputError
        If the name is taken.

    Examples
    --------
    >>> import dataclasses
    >>> from bayescal.model.curves import CURVES, register, unregister
    >>> register(dataclasses.replace(CURVES["logistic"], name="line"))
    >>> list(CURVES)[-1]
    'line'
    >>> unregister("line")
    """
    if curve.name in CURVES or curve.name == AVERAGE.name:
        raise InputError(
            f"a family named {curve.name!r} exists already: give the new one another name."
        )
    CURVES[curve.name] = curve


def unregister(name: str) -> None:
    """Take a family out of the registry again.

    Parameters
    ----------
    name : str

    Raises
    ------
    InputError
        If no family has that name.
    """
    del CURVES[check_choice(name, CURVES, "name")]


def as_curve(curve: str | Curve) -> Curve:
    """A family by name, or the family itself.

    Parameters
    ----------
    curve : str or Curve

    Returns
    -------
    Curve

    Raises
    ------
    InputError
        If no family has that name.

    Examples
    --------
    >>> from bayescal.model.curves import as_curve
    >>> as_curve("logistic").coordinates
    ('shift', 'log_slope')
    """
    if isinstance(curve, Curve):
        return curve
    return CURVES[check_choice(curve, CURVES, "curve")]


def average_of(names: Iterable[str]) -> Curve:
    """The curve of an average over these families."""
    return union_of(*map(as_curve, names))


def updates(names: Iterable[str] | None = None, up_to: str | None = None) -> dict[str, str]:
    """What recalibrating by each family does, from the least to the most.

    Of these families; by default of all that can be compared. `up_to` names the last family: where
    curves are of one family, they tell nothing of updates beyond it.
    """
    among = [name for name, curve in CURVES.items() if not curve.per_score]
    among = among if names is None else list(names)
    tried = {name: curve.update for name, curve in CURVES.items() if curve.update and name in among}
    if up_to in tried:
        return dict(list(tried.items())[: list(tried).index(str(up_to)) + 1])
    return tried


def stored_curve(name: str, families: Iterable[str] = ()) -> Curve:
    """The family a stored posterior names, which may be an average of these families."""
    if name == TRACED.name:
        return TRACED
    return average_of(families) if name == AVERAGE.name else as_curve(name)
