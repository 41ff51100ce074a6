"""Is the machinery right? Simulation-based calibration, and the coverage of intervals."""

from __future__ import annotations

from bayescal.validation._coverage import coverage, coverage_table
from bayescal.validation._sbc import sbc
from bayescal.validation._uniformity import uniformity

__all__ = ["coverage", "coverage_table", "sbc", "uniformity"]


def __dir__() -> list[str]:
    return sorted(__all__)
