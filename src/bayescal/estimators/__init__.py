"""Frequentist estimators of calibration error, on plain arrays.

Every function takes `(y_true, y_prob)` and needs NumPy and SciPy only; an estimator returns a
float. The binned ones also take many outcomes at the same scores in one call.
"""

from __future__ import annotations

from bayescal.estimators.binned import debiased_ece, ece, mce
from bayescal.estimators.bpm import fit_bpm_curve, tce_bpm
from bayescal.estimators.clinical import (
    calibration_in_the_large,
    calibration_intercept,
    calibration_slope,
    observed_expected,
)
from bayescal.estimators.clinical_intervals import (
    calibration_in_the_large_interval,
    calibration_intercept_interval,
    calibration_slope_interval,
    observed_expected_interval,
)
from bayescal.estimators.cumulative import (
    cumulative_difference_test,
    ks_error,
    ks_test,
    kuiper_error,
    kuiper_test,
)
from bayescal.estimators.density import kde_ece, ls_ece
from bayescal.estimators.integrated import e50, e90, eci, emax, ici
from bayescal.estimators.intervals import estimator_interval
from bayescal.estimators.likelihood import (
    cox_test,
    discrimination_index,
    quality_index,
    unreliability,
)
from bayescal.estimators.polynomial import giviti_test
from bayescal.estimators.simulated import ici_interval
from bayescal.estimators.smooth import logit_smooth_ece, smooth_curve, smooth_ece
from bayescal.estimators.smoothers import smoothed_curve
from bayescal.estimators.spiegelhalter import spiegelhalter_test

__all__ = [
    "calibration_in_the_large",
    "calibration_in_the_large_interval",
    "calibration_intercept",
    "calibration_intercept_interval",
    "calibration_slope",
    "calibration_slope_interval",
    "cox_test",
    "cumulative_difference_test",
    "debiased_ece",
    "discrimination_index",
    "e50",
    "e90",
    "ece",
    "eci",
    "emax",
    "estimator_interval",
    "fit_bpm_curve",
    "giviti_test",
    "ici",
    "ici_interval",
    "kde_ece",
    "ks_error",
    "ks_test",
    "kuiper_error",
    "kuiper_test",
    "logit_smooth_ece",
    "ls_ece",
    "mce",
    "observed_expected",
    "observed_expected_interval",
    "quality_index",
    "smooth_curve",
    "smooth_ece",
    "smoothed_curve",
    "spiegelhalter_test",
    "tce_bpm",
    "unreliability",
]


def __dir__() -> list[str]:
    return sorted(__all__)
