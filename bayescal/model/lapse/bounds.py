"""A floor and a ceiling of a curve: g = guess + (1 - guess - lapse) h. Arrays only."""

from __future__ import annotations

import numpy as np

from bayescal.core.arrays import Floats

__all__ = ["RATES", "bounded_log_odds", "bounded_probability"]

RATES = ("guess", "lapse")
"""The coordinates that are the floor, and the distance of the ceiling from one."""


def bounded_probability(h: Floats, guess: Floats, lapse: Floats) -> Floats:
    """The curve g between its floor and its ceiling, from h in [0, 1]."""
    curve = np.asarray((1 - guess - lapse) * h)
    curve += guess
    return curve


def bounded_log_odds(log_odds: Floats, guess: Floats, lapse: Floats) -> Floats:
    """Log-odds of g, from those of h, without the loss of digits near 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.special import expit
    >>> from bayescal.model.lapse.bounds import bounded_log_odds
    >>> at = bounded_log_odds(np.array([-40.0, 0.0]), np.array(0.02), np.array(0.1))
    >>> expit(at).round(3)
    array([0.02, 0.46])
    """
    with np.errstate(divide="ignore"):
        event = np.logaddexp(np.log(guess), np.log1p(-lapse) + log_odds)
        other = np.logaddexp(np.log1p(-guess), np.log(lapse) + log_odds)
    return np.asarray(event - other)
