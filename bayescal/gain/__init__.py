"""What a recalibration gained, as a posterior; and which one to try."""

from __future__ import annotations

from bayescal.gain._cross import cross_fit
from bayescal.gain._gain import recalibration_gain
from bayescal.gain._result import RecalibrationGain
from bayescal.gain.development.optimism import Optimism, optimism
from bayescal.gain.imputed import ImputedGain
from bayescal.gain.several import SeveralGains
from bayescal.gain.updates.recommend import recommend
from bayescal.gain.updates.recommendation import Recommendation, recommendation
from bayescal.gain.updates.several import SeveralRecommendations
from bayescal.gain.variance import VarianceGain, variance_gain

__all__ = [
    "ImputedGain",
    "Optimism",
    "RecalibrationGain",
    "Recommendation",
    "SeveralGains",
    "SeveralRecommendations",
    "VarianceGain",
    "cross_fit",
    "optimism",
    "recalibration_gain",
    "recommend",
    "recommendation",
    "variance_gain",
]


def __dir__() -> list[str]:
    return sorted(__all__)
