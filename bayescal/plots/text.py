"""Numbers and names as figures show them."""

from __future__ import annotations

import re

from bayescal.core.text import chance, count, decimals, interval, percent, rounded, shortened

__all__ = [
    "chance",
    "count",
    "decimals",
    "interval",
    "label",
    "minus",
    "percent",
    "rounded",
    "shortened",
]

LONGEST = 36


def label(name: object) -> str:
    """A user's name for something, which matplotlib shows as it is: no formula, never hidden."""
    shown = re.sub(r"(?<!\\)\$", r"\\$", shortened(name, LONGEST))
    return f" {shown}" if shown.startswith("_") else shown


def minus(numbers: str) -> str:
    """Numbers with the sign that axes use."""
    return numbers.replace("-", "−")
