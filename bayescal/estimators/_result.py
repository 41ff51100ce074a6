"""What a test returns."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Tested"]


class Tested(NamedTuple):
    """Statistic and p-value of a test.

    Attributes
    ----------
    statistic : float or ndarray
        One for each replicate when outcomes have leading dimensions.
    pvalue : float or ndarray
        Probability, if the model is calibrated, of a statistic at least as extreme.
    df : float
        Degrees of freedom; NaN where the distribution has none.
    """

    statistic: Any
    pvalue: Any
    df: float = float("nan")
