"""Frequentist estimators of calibration error, on plain arrays.

Every function takes `(y_true, y_prob)` and needs NumPy and SciPy only; an estimator returns a
float. The binned ones also take many outcomes at the same scores in one call. Those of times to an
event return more, and Cox regressions among them need statsmodels.

All raise `InputError` where the arrays are not outcomes and probabilities of the same cases, their
labels (of pandas or xarray) differ, or an option is out of its range.
"""

from __future__ import annotations

from bayescal.estimators.binned import BinnedReliability as BinnedReliability
from bayescal.estimators.binned import ace as ace
from bayescal.estimators.binned import binned_reliability as binned_reliability
from bayescal.estimators.binned import debiased_ece as debiased_ece
from bayescal.estimators.binned import ece as ece
from bayescal.estimators.binned import expected_ece as expected_ece
from bayescal.estimators.binned import hosmer_lemeshow_test as hosmer_lemeshow_test
from bayescal.estimators.binned import mce as mce
from bayescal.estimators.bpm import BPMCurve as BPMCurve
from bayescal.estimators.bpm import fit_bpm_curve as fit_bpm_curve
from bayescal.estimators.bpm import tce_bpm as tce_bpm
from bayescal.estimators.calibration_tests import PolynomialTested as PolynomialTested
from bayescal.estimators.calibration_tests import cox_test as cox_test
from bayescal.estimators.calibration_tests import discrimination_index as discrimination_index
from bayescal.estimators.calibration_tests import giviti_test as giviti_test
from bayescal.estimators.calibration_tests import quality_index as quality_index
from bayescal.estimators.calibration_tests import spiegelhalter_test as spiegelhalter_test
from bayescal.estimators.calibration_tests import unreliability as unreliability
from bayescal.estimators.cells import CellTable as CellTable
from bayescal.estimators.cells import ValidityCurve as ValidityCurve
from bayescal.estimators.cells import auc_v as auc_v
from bayescal.estimators.cells import average_labels as average_labels
from bayescal.estimators.cells import merge_cells as merge_cells
from bayescal.estimators.cells import pde as pde
from bayescal.estimators.cells import pde_bins as pde_bins
from bayescal.estimators.cells import probabilistic_count as probabilistic_count
from bayescal.estimators.cells import probabilistic_kendall_tau as probabilistic_kendall_tau
from bayescal.estimators.cells import validity_curve as validity_curve
from bayescal.estimators.classes import class_wise_ece as class_wise_ece
from bayescal.estimators.classes import top_label_ece as top_label_ece
from bayescal.estimators.clinical import calibration_in_the_large as calibration_in_the_large
from bayescal.estimators.clinical import (
    calibration_in_the_large_interval as calibration_in_the_large_interval,
)
from bayescal.estimators.clinical import calibration_intercept as calibration_intercept
from bayescal.estimators.clinical import (
    calibration_intercept_interval as calibration_intercept_interval,
)
from bayescal.estimators.clinical import calibration_slope as calibration_slope
from bayescal.estimators.clinical import calibration_slope_interval as calibration_slope_interval
from bayescal.estimators.clinical import observed_expected as observed_expected
from bayescal.estimators.clinical import observed_expected_interval as observed_expected_interval
from bayescal.estimators.cumulative import averaged_two_bin_error as averaged_two_bin_error
from bayescal.estimators.cumulative import cumulative_difference_test as cumulative_difference_test
from bayescal.estimators.cumulative import ks_error as ks_error
from bayescal.estimators.cumulative import ks_test as ks_test
from bayescal.estimators.cumulative import kuiper_error as kuiper_error
from bayescal.estimators.cumulative import kuiper_test as kuiper_test
from bayescal.estimators.density import kde_ece as kde_ece
from bayescal.estimators.density import ls_ece as ls_ece
from bayescal.estimators.distance import DistanceBounds as DistanceBounds
from bayescal.estimators.distance import distance_bounds as distance_bounds
from bayescal.estimators.distance import (
    lower_distance_to_calibration as lower_distance_to_calibration,
)
from bayescal.estimators.distance import weak_calibration_error as weak_calibration_error
from bayescal.estimators.integrated import e50 as e50
from bayescal.estimators.integrated import e90 as e90
from bayescal.estimators.integrated import eci as eci
from bayescal.estimators.integrated import emax as emax
from bayescal.estimators.integrated import ici as ici
from bayescal.estimators.integrated import ici_interval as ici_interval
from bayescal.estimators.kernel import kce as kce
from bayescal.estimators.kernel import mmce as mmce
from bayescal.estimators.kernel import skce as skce
from bayescal.estimators.kernel import skce_test as skce_test
from bayescal.estimators.registry import Tested as Tested
from bayescal.estimators.smooth import SmoothCurve as SmoothCurve
from bayescal.estimators.smooth import SmoothReliability as SmoothReliability
from bayescal.estimators.smooth import logit_smooth_ece as logit_smooth_ece
from bayescal.estimators.smooth import smooth_ece as smooth_ece
from bayescal.estimators.smooth import smooth_ece_curve as smooth_ece_curve
from bayescal.estimators.smooth import smooth_reliability as smooth_reliability
from bayescal.estimators.smoothers import flexible_curve as flexible_curve
from bayescal.estimators.survival import SurvivalCurve as SurvivalCurve
from bayescal.estimators.survival import SurvivalIndices as SurvivalIndices
from bayescal.estimators.survival import censoring_depends_on_score as censoring_depends_on_score
from bayescal.estimators.survival import ipcw_brier_score as ipcw_brier_score
from bayescal.estimators.survival import (
    martingale_observed_expected as martingale_observed_expected,
)
from bayescal.estimators.survival import survival_curve as survival_curve
from bayescal.estimators.survival import survival_indices as survival_indices
from bayescal.estimators.survival import survival_observed_expected as survival_observed_expected
from bayescal.estimators.sweep import sweep_bins as sweep_bins
from bayescal.estimators.sweep import sweep_ece as sweep_ece
from bayescal.estimators.uncertainty import Bias as Bias
from bayescal.estimators.uncertainty import Interval as Interval
from bayescal.estimators.uncertainty import estimator_bias as estimator_bias
from bayescal.estimators.uncertainty import estimator_interval as estimator_interval

__all__ = sorted(name for name, thing in globals().items() if callable(thing))


def __dir__() -> list[str]:
    return __all__
