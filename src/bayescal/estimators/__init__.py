"""Frequentist estimators of calibration error, on plain arrays.

Every function takes `(y_true, y_prob)` and needs NumPy and SciPy only; an estimator returns a
float. The binned ones also take many outcomes at the same scores in one call.
"""

from __future__ import annotations

from bayescal.estimators.binned import debiased_ece, ece, mce
from bayescal.estimators.bpm import fit_bpm_curve, tce_bpm

__all__ = ["debiased_ece", "ece", "fit_bpm_curve", "mce", "tce_bpm"]


def __dir__() -> list[str]:
    return sorted(__all__)
