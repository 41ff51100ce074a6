"""The type of a smoothed curve."""

from __future__ import annotations

from collections.abc import Callable

from bayescal._base.arrays import Floats

__all__ = ["Curve"]

Curve = Callable[[Floats], Floats]
"""Events at each distinct score, (replicates, rows), to a smoothed curve, (replicates, scores)."""
