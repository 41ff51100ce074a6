"""Frequentist estimators of calibration error, on plain arrays.

Every function takes `(y_true, y_prob)` and needs NumPy and SciPy only; an estimator returns a
float.
"""

from __future__ import annotations

from bayescal.estimators.bpm import fit_bpm_curve, tce_bpm

__all__ = ["fit_bpm_curve", "tce_bpm"]


def __dir__() -> list[str]:
    return sorted(__all__)
