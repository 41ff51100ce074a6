"""Ends of intervals, and the probabilities that agree with them to the last draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.text import rounded
from bayescal.posterior.checks.undefined import NOT_DEFINED
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "SUMMARY_COLUMNS",
    "equal_tailed",
    "joint_interval",
    "lower_end",
    "share_above",
    "share_below",
    "summary_rows",
    "upper_end",
    "verdict_of",
]

INTERVALS_ROUNDING = 1e-9
SUMMARY_COLUMNS = ("estimate", "credible interval")


def equal_tailed(values: Floats, ci_prob: float) -> tuple[float, float]:
    """Quantiles that leave the same probability on either side."""
    tail = (1 - ci_prob) / 2
    lower, upper = np.quantile(values, [tail, 1 - tail])
    return float(lower), float(upper)


def joint_interval(readings: Sequence[Floats], ci_prob: float) -> tuple[float, float]:
    """From the lowest of the readings' lower ends to the highest of their upper ends."""
    lower = min(lower_end(values, ci_prob) for values in readings)
    return lower, max(upper_end(values, ci_prob) for values in readings)


def upper_end(values: Floats, ci_prob: float) -> float:
    """The least value that is not exceeded by a share (1 + ci_prob) / 2 of the draws.

    It lies below x if and only if at least that share of the draws lies below x.
    """
    return float(np.sort(values)[_enough(values.size, ci_prob) - 1])


def lower_end(values: Floats, ci_prob: float) -> float:
    """The largest value that a share (1 + ci_prob) / 2 of the draws reaches.

    It lies above x if and only if at least that share of the draws lies above x.
    """
    return float(np.sort(values)[values.size - _enough(values.size, ci_prob)])


def share_below(values: Floats, x: float) -> float:
    """Share of the draws below x."""
    return float(np.mean(values < x))


def share_above(values: Floats, x: float) -> float:
    """Share of the draws above x."""
    return float(np.mean(values > x))


def verdict_of(lower: float, upper: float, close: float) -> str:
    """What an interval of the true calibration error says of a limit.

    Parameters
    ----------
    lower, upper : float
        Ends of the interval.
    close : float
        An error that is close enough to none.

    Returns
    -------
    {"close enough", "miscalibrated", "cannot tell"}
        The interval lies below the limit, above it, or neither.
    """
    if upper < close:
        return "close enough"
    return "miscalibrated" if lower > close else "cannot tell"


def _enough(size: int, ci_prob: float) -> int:
    """How many draws make up a share (1 + ci_prob) / 2, at least one."""
    return max(1, math.ceil(size * (1 + ci_prob) / 2 - INTERVALS_ROUNDING))


def summary_rows(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """A summary's estimates and intervals as text, by label, for `SUMMARY_COLUMNS`."""
    rows = {}
    for name, row in table.iterrows():
        ends = row["lower"], row["upper"]
        middle, low, high = rounded((row["estimate"], *ends), *ends)
        rows[FUNCTIONALS[str(name)].label] = middle, f"{low} to {high}"
    for name, why in table.attrs["undefined"].items():
        rows[FUNCTIONALS[name].label] = NOT_DEFINED, why
    return rows
