"""Families of calibration curves, one a file, and the registry that names them.

To add a family, write its file and add it to the tuple below.
"""

from __future__ import annotations

from bayescal.data.validate import check_choice
from bayescal.model.average import AVERAGE, average_of, in_average
from bayescal.model.beta import BETA
from bayescal.model.curve import Curve, Frame
from bayescal.model.identity import IDENTITY
from bayescal.model.intercept import INTERCEPT
from bayescal.model.logistic import LOGISTIC
from bayescal.model.pieces import PIECES
from bayescal.model.spline import SPLINE
from bayescal.model.stored import stored_frame
from bayescal.model.temperature import TEMPERATURE

__all__ = [
    "AVERAGE",
    "CURVES",
    "Curve",
    "Frame",
    "as_curve",
    "average_of",
    "in_average",
    "stored_curve",
    "stored_frame",
]

CURVES: dict[str, Curve] = {
    curve.name: curve
    for curve in (IDENTITY, INTERCEPT, TEMPERATURE, LOGISTIC, BETA, SPLINE, PIECES)
}
"""The families by name, from the simplest to the most flexible."""


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


def stored_curve(name: str) -> Curve:
    """The family a stored posterior names, which may be an average of the others."""
    return AVERAGE if name == AVERAGE.name else as_curve(name)
