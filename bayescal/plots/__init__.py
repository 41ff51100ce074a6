"""Figures: one per file, matplotlib axes in, axes out. They draw numbers and compute none."""

from __future__ import annotations

from bayescal.plots._binned_reliability import binned_reliability
from bayescal.plots._comparison import comparison
from bayescal.plots._consistency import consistency
from bayescal.plots._display import BayesianCalibrationDisplay
from bayescal.plots._drift import drift
from bayescal.plots._forest import forest
from bayescal.plots._functional import functional, tce
from bayescal.plots._gain import gain
from bayescal.plots._missing_outcomes import missing_outcomes
from bayescal.plots._net_benefit import net_benefit
from bayescal.plots._net_benefit_lost import net_benefit_lost
from bayescal.plots._plan import plan
from bayescal.plots._prior_posterior import prior_posterior
from bayescal.plots._reliability import reliability
from bayescal.plots._risk_distribution import risk_distribution
from bayescal.plots._risks import risks
from bayescal.plots._site_curves import site_curves
from bayescal.plots._sites import sites
from bayescal.plots._smooth_reliability import smooth_reliability
from bayescal.plots._subgroups import subgroups
from bayescal.plots._value_of_information import value_of_information

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
    "sites",
    "smooth_reliability",
    "subgroups",
    "tce",
    "value_of_information",
]


def __dir__() -> list[str]:
    """Public names only."""
    return __all__
