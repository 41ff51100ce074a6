"""What people read: the page of an assessment, and the files of every page."""

from __future__ import annotations

from bayescal.report.assessment import Assessment, HorizonAssessment, assess
from bayescal.report.record import read_report

__all__ = ["Assessment", "HorizonAssessment", "assess", "read_report"]


def __dir__() -> list[str]:
    return sorted(__all__)
