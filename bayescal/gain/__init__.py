"""What a recalibration gained, as a posterior; and which one to try."""

from __future__ import annotations

from bayescal.gain._gain import recalibration_gain
from bayescal.gain.advice import (
    Recommendation,
    SeveralRecommendations,
    recommend,
    recommendation,
)
from bayescal.gain.result import ImputedGain, RecalibrationGain, SeveralGains
from bayescal.gain.unseen import Optimism, cross_fit, optimism
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
