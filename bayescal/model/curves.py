"""The registry of families of calibration curves.

To add a family, describe it as a `Curve` in a file of its own, and register it: everything else
(fits, comparisons, averages, tables, figures, reports and the command line) reads the registry.
"""

from __future__ import annotations

from collections.abc import Iterable

from bayescal.core.errors import InputError, check_choice
from bayescal.model.average import AVERAGE, in_average, union_of
from bayescal.model.curve import Curve, Frame
from bayescal.model.families import (
    BETA,
    IDENTITY,
    INTERCEPT,
    LAPSE,
    LOGISTIC,
    NEAR_CURVE,
    NOISE,
    TEMPERATURE,
)
from bayescal.model.pieces import PIECES
from bayescal.model.saturated import SATURATED
from bayescal.model.spline import SPLINE
from bayescal.model.traced import TRACED

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

EXACT, NEAR = IDENTITY.name, NEAR_CURVE.name


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


# The family of sites, factors and periods, unless another is named.
FAMILY_OF_SEVERAL = "beta"


def average_of(names: Iterable[str]) -> Curve:
    """The curve of an average over these families."""
    return union_of(as_curve(name) for name in names)


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
