"""Figures: matplotlib axes in, axes out. They draw numbers and compute none.

A curve, a forest of rows with intervals, a histogram of draws, lines over a range: `_curve`,
`_forest`, `histogram` and `_lines` each hold one function that draws, and those that call it.
"""

from __future__ import annotations

from bayescal.plots._curve import (
    binned_reliability,
    reliability,
    risk_distribution,
    site_curves,
    smooth_reliability,
)
from bayescal.plots._display import BayesianCalibrationDisplay
from bayescal.plots._forest import comparison, forest, risks
from bayescal.plots._lines import (
    drift,
    missing_outcomes,
    net_benefit,
    net_benefit_lost,
    plan,
    value_of_information,
)
from bayescal.plots.histogram import consistency, functional, gain, prior_posterior

__all__ = [
    "BayesianCalibrationDisplay",
    "binned_reliability",
    "comparison",
    "consistency",
    "drift",
    "forest",
    "functional",
    "gain",
    "missing_outcomes",
    "net_benefit",
    "net_benefit_lost",
    "plan",
    "prior_posterior",
    "reliability",
    "risk_distribution",
    "risks",
    "site_curves",
    "smooth_reliability",
    "value_of_information",
]


def __dir__() -> list[str]:
    """Public names only."""
    return __all__
