"""Whether an interval excludes a value, as clearly as its ends are known."""

from __future__ import annotations

__all__ = ["excludes"]

SLACK = 1e-3
"""Share of its length by which an interval must miss a value.

With another seed its ends move by many times as much; and where a share of the draws is exactly at
the value, an end lies on it but for rounding.
"""


def excludes(lower: float, upper: float, value: float) -> bool:
    """Whether the value lies outside the interval, by more than a thousandth of its length.

    Examples
    --------
    >>> from bayescal._base.ends import excludes
    >>> excludes(0.6, 0.95, 1.0), excludes(0.6, 0.99999, 1.0), excludes(0.6, 1.2, 1.0)
    (True, False, False)
    """
    slack = SLACK * (upper - lower)
    return value < lower - slack or value > upper + slack
