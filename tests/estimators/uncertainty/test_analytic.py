"""The standard error of a squared error under calibration."""

from itertools import product

import numpy as np
import pytest

from bayescal.estimators import debiased_ece
from bayescal.estimators.binned import _sd_if_calibrated
from bayescal.estimators.bins import bins_of


def test_the_standard_error_under_calibration_is_exact():
    """Over every outcome that ten cases can have, at scores that are equal within a bin."""
    y_prob = np.repeat([0.1, 0.4, 0.7], [3, 5, 2])
    y_true = np.array(list(product([0, 1], repeat=10)))
    chance = np.prod(np.where(y_true, y_prob, 1 - y_prob), axis=1)
    square = debiased_ece(y_true, y_prob, n_bins=4, binning="width", signed=True)
    assert chance @ square == pytest.approx(0, abs=1e-12)
    bins = bins_of(y_prob, None, 4, "width", "together")
    assert _sd_if_calibrated(bins, y_prob) == pytest.approx(np.sqrt(chance @ square**2))
