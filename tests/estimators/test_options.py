"""Options out of range are refused by their names, before anything is computed."""

import numpy as np
import pytest

from bayescal import estimators as e
from bayescal.errors import InputError

BINNED = [e.ece, e.debiased_ece, e.pde]
SWEPT = [e.sweep_ece, e.sweep_bins]
KERNEL = [e.kce, e.skce, e.skce_test]
SMOOTH = [e.smooth_ece, e.logit_smooth_ece, e.smooth_ece_curve]
SMOOTHED = [e.ici, e.e50, e.e90, e.emax, e.eci, e.flexible_curve]
INTERVALS = [
    e.observed_expected_interval,
    e.calibration_in_the_large_interval,
    e.calibration_intercept_interval,
    e.calibration_slope_interval,
]
DISTANCES = [e.lower_distance_to_calibration, e.distance_bounds]
WIDE = [e.mmce, *KERNEL, *SMOOTH, e.ls_ece, e.kde_ece]
"""Those with a bandwidth."""

REFUSED = [
    ([*BINNED, e.pde_bins], {"n_bins": 0}, "n_bins must be a whole number from 1"),
    ([*BINNED, e.pde_bins], {"n_bins": 10**12}, "n_bins"),
    ([*BINNED, e.pde_bins], {"n_bins": 2.5}, "n_bins"),
    ([*BINNED, e.pde_bins], {"binning": "equal"}, "binning must be one of 'mass', 'quantile'"),
    (BINNED[:2], {"ties": "first"}, "ties must be one of"),
    (SWEPT, {"binning": "mass"}, "binning must be one of 'rank', 'width'"),
    (SWEPT, {"ties": "first"}, "ties must be one of"),
    *(
        ([*BINNED, e.sweep_ece, e.kde_ece, e.tce_bpm], {"p": p}, "p must")
        for p in (0.5, np.nan, np.inf, "2")
    ),
    (DISTANCES, {"resolution": 8}, "resolution must be a whole number from 16 to 8,192"),
    (DISTANCES, {"resolution": 10**6}, "resolution"),
    *((WIDE, {"bandwidth": wrong}, "bandwidth") for wrong in (0, -1, np.nan, np.inf, True, "1")),
    (KERNEL, {"bandwidth": 0}, "bandwidth must be a number from 1e-09 to 1e"),
    (SMOOTH, {"bandwidth": 0}, "bandwidth must be a number from 1e-12 to"),
    (KERNEL, {"kernel": "gaussian", "bandwidth": 1e-4}, "bandwidth must be a number from 0.001"),
    (KERNEL, {"kernel": "cauchy"}, "kernel must be one of 'gaussian', 'laplace'"),
    ([e.skce], {"form": "linear"}, "form must be one of"),
    *(([e.skce], {"form": "block", "block_size": n}, "block_size must be") for n in (1, 2.0, 3)),
    ([e.skce], {"form": "block", "sample_weight": [1, 2]}, "so no sample_weight"),
    ([e.skce_test], {"method": "bootstrap"}, "method must be one of"),
    ([e.skce_test], {"n_resamples": 5}, "n_resamples must be"),
    ([e.skce_test], {"sample_weight": [1, 2.5]}, "whole numbers of cases"),
    ([e.skce_test], {"method": "moments", "bandwidth": 1e-6}, "no two scores are alike"),
    ([e.ls_ece], {"bandwidth": None}, "bandwidth must be"),
    ([e.ls_ece], {"bandwidth": 1e-7}, "bandwidth = 1e-07 is too small to resolve"),
    ([e.kde_ece], {"bandwidth": 1e-12}, "bandwidth = 1e-12 is too small to resolve"),
    ([e.kde_ece], {"bandwidth": 1e-5, "form": "triweight"}, "take at least 0.0003"),
    ([e.kde_ece], {"form": "beta"}, "form must be one of 'ratio', 'triweight'"),
    ([e.smooth_ece_curve], {"grid": [0.5, 2]}, "grid"),
    ([e.smooth_ece_curve], {"metric": "probit"}, "metric must be one of"),
    ([e.tce_bpm], {"objective": "both"}, "objective"),
    ([e.tce_bpm], {"density": "kernel"}, "density"),
    ([e.tce_bpm], {"objective": "released", "sample_weight": [1, 1]}, "sample_weight"),
    ([e.cox_test], {"kind": "weak"}, "kind must be one of 'intercept', 'joint', 'slope'"),
    ([e.giviti_test], {"devel": "other"}, "devel must be one of 'external', 'internal'"),
    ([e.giviti_test], {"threshold": 95}, "threshold must lie strictly between 0 and 1"),
    ([e.giviti_test], {"max_degree": 5}, "max_degree must be a whole number from 1"),
    ([e.giviti_test], {"max_degree": 1, "devel": "internal"}, "from 2 to 4"),
    ([e.cumulative_difference_test], {"part": "motion"}, "part must be one of 'both', 'bridge'"),
    (INTERVALS[1:], {"method": "score"}, "method must be one of 'profile', 'wald'"),
    ([*INTERVALS, e.ici_interval], {"ci_prob": 95}, "ci_prob must lie strictly between 0 and 1"),
    *((SMOOTHED, {"smoother": wrong}, "smoother must be one of") for wrong in ("gam", None)),
    *((SMOOTHED, {"span": wrong}, "span must be above 0") for wrong in (0, 1.5, np.nan, "wide")),
    *(([*SMOOTHED, e.ici_interval], {"n_knots": n}, "n_knots must be") for n in (2, 9, 3.0, True)),
    ([e.flexible_curve], {"scores": [0.1, 1.2]}, r"scores\[1\] = 1.2 is outside"),
    ([e.flexible_curve], {"scores": []}, "scores is empty"),
    ([e.ici_interval], {"index": "tce"}, "index must be one of"),
    ([e.ici_interval], {"smoother": "loess"}, "smoother must be one of 'beta', 'logistic', 'rcs'"),
    ([e.ici_interval], {"draws": 10}, "draws must be"),
]


@pytest.mark.parametrize(("functions", "options", "message"), REFUSED)
def test_options_out_of_range_are_named(functions, options, message):
    for function in functions:
        with pytest.raises(InputError, match=message):
            function([0, 1], [0.2, 0.4], **options)
