"""Intervals and probabilities of draws, and distances that respect the signed error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.text import rounded
from bayescal.posterior.checks.undefined import NOT_DEFINED
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "SUMMARY_COLUMNS",
    "equal_tailed",
    "floored",
    "share_below",
    "summary_rows",
    "verdict_of",
]

INTERVALS_ROUNDING = 1e-9
SUMMARY_COLUMNS = ("estimate", "credible interval")


def equal_tailed(values: Floats, ci_prob: float) -> tuple[float, float]:
    """Quantiles that leave the same probability on either side."""
    tail = (1 - ci_prob) / 2
    lower, upper = np.quantile(values, [tail, 1 - tail])
    return float(lower), float(upper)


def share_below(values: Floats, x: float) -> float:
    """Share of the draws below x."""
    return float(np.mean(values < x))


def floored(distance: Floats, signed: Floats) -> Floats:
    """Draws of a distance, no quantile of which lies below that of the size of a signed error.

    Sorted, each is at least as large as the signed error of its rank, and as its negative. Every
    draw keeps its rank; draws that are equal are ranked by the size of their signed error.

    Parameters
    ----------
    distance, signed : ndarray of shape (draws,)
        Their draws need not pair.

    Returns
    -------
    ndarray of shape (draws,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.posterior.intervals import floored
    >>> floored(np.array([0.3, 0.0, 0.1]), np.array([0.2, -0.1, 0.0]))
    array([0.3, 0. , 0.1])
    >>> floored(np.array([0.3, 0.0, 0.0]), np.array([-0.1, -0.2, -0.4]))
    array([0.4, 0.1, 0.2])
    >>> floored(np.array([0.0, 0.0, 0.0]), np.array([-0.3, 0.1, 0.2]))
    array([0.3, 0. , 0.1])
    """
    order, ranked = np.lexsort((np.abs(signed), distance)), np.sort(signed)
    least = np.maximum(ranked, -ranked[::-1])
    values = np.empty_like(distance)
    values[order] = np.maximum(distance[order], least)
    return values


def verdict_of(prob_below: float, ci_prob: float) -> str:
    """What the probability that the true calibration error is below a limit says of it.

    Returns
    -------
    {"close enough", "miscalibrated", "cannot tell"}
        The error is below the limit, or above it, with probability (1 + ci_prob) / 2 at least; or
        neither.
    """
    enough = (1 + ci_prob) / 2 - INTERVALS_ROUNDING
    if prob_below >= enough:
        return "close enough"
    return "miscalibrated" if 1 - prob_below >= enough else "cannot tell"


def summary_rows(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """A summary's estimates and intervals as text, by label, for `SUMMARY_COLUMNS`."""
    rows = {}
    for name, row in table.iterrows():
        ends = row["lower"], row["upper"]
        middle, low, high = rounded((row["estimate"], *ends), *ends, FUNCTIONALS[str(name)].apart)
        rows[FUNCTIONALS[str(name)].label] = middle, f"{low} to {high}"
    for name, why in table.attrs["undefined"].items():
        rows[FUNCTIONALS[name].label] = NOT_DEFINED, why
    return rows
