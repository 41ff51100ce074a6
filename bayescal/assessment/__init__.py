"""An analysis in one call: how well calibrated, how sure, and what to do about it."""

from __future__ import annotations

from bayescal.assessment._assess import Assessment, assess
from bayescal.assessment.horizons import HorizonAssessment
from bayescal.assessment.record import read_report

__all__ = [
    "Assessment",
    "HorizonAssessment",
    "assess",
    "read_report",
]


def __dir__() -> list[str]:
    return sorted(__all__)
