"""An analysis in one call: how well calibrated, how sure, and what to do about it."""

from __future__ import annotations

from bayescal.assessment._assess import Assessment, assess

__all__ = ["Assessment", "assess"]


def __dir__() -> list[str]:
    return sorted(__all__)
