"""Where the smoothers find the table of distinct scores."""

from __future__ import annotations

from collections.abc import Callable

from bayescal._base.arrays import Floats
from bayescal.data.table import Table, tabulate
from bayescal.data.weights import SAME, quantile

__all__ = ["SAME", "Curve", "Table", "quantile", "tabulate"]

Curve = Callable[[Floats], Floats]
"""Events at each distinct score, (replicates, rows), to a smoothed curve, (replicates, scores)."""
