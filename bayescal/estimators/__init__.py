"""Frequentist estimators of calibration error, on plain arrays.

Every function takes `(y_true, y_prob)` and needs NumPy and SciPy only; an estimator returns a
float. The binned ones also take many outcomes at the same scores in one call. Those of times to an
event return more, and Cox regressions among them need statsmodels.
"""

from __future__ import annotations

from bayescal.estimators._result import Tested
from bayescal.estimators.binned.debiased import debiased_ece
from bayescal.estimators.binned.diagram import BinnedReliability, binned_reliability
from bayescal.estimators.binned.expected import expected_ece
from bayescal.estimators.binned.hosmer_lemeshow import hosmer_lemeshow_test
from bayescal.estimators.binned.multiclass import class_wise_ece, top_label_ece
from bayescal.estimators.binned.plugin import ace, ece, mce
from bayescal.estimators.binned.sweep.sweep import sweep_bins, sweep_ece
from bayescal.estimators.bpm import BPMCurve, fit_bpm_curve, tce_bpm
from bayescal.estimators.cells.deviation import CellTable, pde, pde_bins
from bayescal.estimators.cells.merging import average_labels, merge_cells, probabilistic_count
from bayescal.estimators.cells.ranking import probabilistic_kendall_tau
from bayescal.estimators.cells.validity import ValidityCurve, auc_v, validity_curve
from bayescal.estimators.clinical.giviti import PolynomialTested, giviti_test
from bayescal.estimators.clinical.intervals import (
    calibration_in_the_large_interval,
    calibration_intercept_interval,
    calibration_slope_interval,
    observed_expected_interval,
)
from bayescal.estimators.clinical.likelihood import (
    cox_test,
    discrimination_index,
    quality_index,
    unreliability,
)
from bayescal.estimators.clinical.measures import (
    calibration_in_the_large,
    calibration_intercept,
    calibration_slope,
    observed_expected,
)
from bayescal.estimators.clinical.spiegelhalter import spiegelhalter_test
from bayescal.estimators.cumulative.cumulative import (
    averaged_two_bin_error,
    cumulative_difference_test,
    ks_error,
    ks_test,
    kuiper_error,
    kuiper_test,
)
from bayescal.estimators.distance.distance import (
    DistanceBounds,
    distance_bounds,
    lower_distance_to_calibration,
    weak_calibration_error,
)
from bayescal.estimators.integrated.indices import e50, e90, eci, emax, ici
from bayescal.estimators.integrated.simulated import ici_interval
from bayescal.estimators.integrated.smoothers import flexible_curve
from bayescal.estimators.kernel.kernel import kce, mmce, skce
from bayescal.estimators.kernel.skce_null import skce_test
from bayescal.estimators.smoothed.density import kde_ece, ls_ece
from bayescal.estimators.smoothed.diagram import SmoothReliability, smooth_reliability
from bayescal.estimators.smoothed.smooth import (
    SmoothCurve,
    logit_smooth_ece,
    smooth_ece,
    smooth_ece_curve,
)
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
from bayescal.estimators.uncertainty.bias import Bias, estimator_bias
from bayescal.estimators.uncertainty.intervals import Interval, estimator_interval

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
