"""Frequentist estimators of calibration error, on plain arrays.

Every function takes `(y_true, y_prob)` and needs NumPy and SciPy only; an estimator returns a
float. The binned ones also take many outcomes at the same scores in one call. Those of times to an
event return more, and Cox regressions among them need statsmodels.
"""

from __future__ import annotations

from bayescal.estimators.binned import (
    BinnedReliability,
    ace,
    binned_reliability,
    debiased_ece,
    ece,
    expected_ece,
    hosmer_lemeshow_test,
    mce,
)
from bayescal.estimators.bpm import BPMCurve, fit_bpm_curve, tce_bpm
from bayescal.estimators.calibration_tests import (
    PolynomialTested,
    cox_test,
    discrimination_index,
    giviti_test,
    quality_index,
    spiegelhalter_test,
    unreliability,
)
from bayescal.estimators.cells import (
    CellTable,
    ValidityCurve,
    auc_v,
    average_labels,
    merge_cells,
    pde,
    pde_bins,
    probabilistic_count,
    probabilistic_kendall_tau,
    validity_curve,
)
from bayescal.estimators.classes import class_wise_ece, top_label_ece
from bayescal.estimators.clinical import (
    calibration_in_the_large,
    calibration_in_the_large_interval,
    calibration_intercept,
    calibration_intercept_interval,
    calibration_slope,
    calibration_slope_interval,
    observed_expected,
    observed_expected_interval,
)
from bayescal.estimators.cumulative import (
    averaged_two_bin_error,
    cumulative_difference_test,
    ks_error,
    ks_test,
    kuiper_error,
    kuiper_test,
)
from bayescal.estimators.density import kde_ece, ls_ece
from bayescal.estimators.distance import (
    DistanceBounds,
    distance_bounds,
    lower_distance_to_calibration,
    weak_calibration_error,
)
from bayescal.estimators.integrated import e50, e90, eci, emax, ici, ici_interval
from bayescal.estimators.kernel import kce, mmce, skce, skce_test
from bayescal.estimators.registry import Tested
from bayescal.estimators.smooth import (
    SmoothCurve,
    SmoothReliability,
    logit_smooth_ece,
    smooth_ece,
    smooth_ece_curve,
    smooth_reliability,
)
from bayescal.estimators.smoothers import flexible_curve
from bayescal.estimators.survival import (
    SurvivalCurve,
    SurvivalIndices,
    censoring_depends_on_score,
    ipcw_brier_score,
    martingale_observed_expected,
    survival_curve,
    survival_indices,
    survival_observed_expected,
)
from bayescal.estimators.sweep import sweep_bins, sweep_ece
from bayescal.estimators.uncertainty import Bias, Interval, estimator_bias, estimator_interval

__all__ = [
    "BPMCurve",
    "Bias",
    "BinnedReliability",
    "CellTable",
    "DistanceBounds",
    "Interval",
    "PolynomialTested",
    "SmoothCurve",
    "SmoothReliability",
    "SurvivalCurve",
    "SurvivalIndices",
    "Tested",
    "ValidityCurve",
    "ace",
    "auc_v",
    "average_labels",
    "averaged_two_bin_error",
    "binned_reliability",
    "calibration_in_the_large",
    "calibration_in_the_large_interval",
    "calibration_intercept",
    "calibration_intercept_interval",
    "calibration_slope",
    "calibration_slope_interval",
    "censoring_depends_on_score",
    "class_wise_ece",
    "cox_test",
    "cumulative_difference_test",
    "debiased_ece",
    "discrimination_index",
    "distance_bounds",
    "e50",
    "e90",
    "ece",
    "eci",
    "emax",
    "estimator_bias",
    "estimator_interval",
    "expected_ece",
    "fit_bpm_curve",
    "flexible_curve",
    "giviti_test",
    "hosmer_lemeshow_test",
    "ici",
    "ici_interval",
    "ipcw_brier_score",
    "kce",
    "kde_ece",
    "ks_error",
    "ks_test",
    "kuiper_error",
    "kuiper_test",
    "logit_smooth_ece",
    "lower_distance_to_calibration",
    "ls_ece",
    "martingale_observed_expected",
    "mce",
    "merge_cells",
    "mmce",
    "observed_expected",
    "observed_expected_interval",
    "pde",
    "pde_bins",
    "probabilistic_count",
    "probabilistic_kendall_tau",
    "quality_index",
    "skce",
    "skce_test",
    "smooth_ece",
    "smooth_ece_curve",
    "smooth_reliability",
    "spiegelhalter_test",
    "survival_curve",
    "survival_indices",
    "survival_observed_expected",
    "sweep_bins",
    "sweep_ece",
    "tce_bpm",
    "top_label_ece",
    "unreliability",
    "validity_curve",
    "weak_calibration_error",
]


def __dir__() -> list[str]:
    return sorted(__all__)
