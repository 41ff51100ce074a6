"""Spiegelhalter's test: whether the Brier score is what the scores themselves promise."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal.estimators._result import Tested
from bayescal.estimators.clinical._recalibration import as_cases
from bayescal.estimators.door import OutcomesLike, Statistic, evaluate, read

__all__ = ["spiegelhalter_test"]


@documented
def spiegelhalter_test(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> Tested:
    """Spiegelhalter's z test of calibration, two-sided.

    z = sum (y - s) (1 - 2 s) / sqrt(sum (1 - 2 s)^2 s (1 - s)), over outcomes y and scores s: the
    Brier score less its mean under calibration, over its standard deviation. Above 0 the scores
    are too extreme, below 0 too timid.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    %(weights_by_kish)s

    Returns
    -------
    Tested
        A named tuple (statistic, pvalue, df); df is NaN.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases; if every score is 0,
        0.5 or 1, where the Brier score of a calibrated model is no matter of chance.

    Notes
    -----
    Errors that leave the Brier score as expected go unnoticed, such as scores of 0.5 throughout.
    MAPIE 1.6 gives the one-sided p-value, which for an overconfident model is half this one.

    References
    ----------
    Spiegelhalter, "Probabilistic prediction in patient management and clinical trials", Statistics
    in Medicine 5, 1986.

    Examples
    --------
    >>> from bayescal import estimators
    >>> test = estimators.spiegelhalter_test([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.4])
    >>> round(test.statistic, 3), round(test.pvalue, 3)
    (-1.005, 0.315)
    """
    z = evaluate(_core, read(y_true, y_prob, sample_weight))
    pvalue = 2 * ndtr(-np.abs(z))
    return Tested(z, float(pvalue) if isinstance(z, float) else pvalue)


def _core(scores: Floats, weights: Floats | None) -> Statistic:
    """The statistic z."""
    cases = as_cases(weights, scores.size)
    slope = 1 - 2 * scores
    variance = cases @ (slope**2 * scores * (1 - scores))
    if not variance > 0:
        raise InputError(
            "y_prob is 0, 0.5 or 1 for every case, where the Brier score of a calibrated model "
            "is no matter of chance and the test is not defined."
        )
    slope *= cases / np.sqrt(variance)
    expected = slope @ scores
    return lambda outcomes: outcomes @ slope - expected
