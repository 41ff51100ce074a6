"""Poisson regression, fitted by statsmodels."""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.versions import needed

__all__ = ["fit_poisson"]


def fit_poisson(number: Floats, columns: Floats, offset: Floats) -> tuple[Floats, Floats]:
    """Regression of numbers with a log link.

    Parameters
    ----------
    number : ndarray of shape (n,)
    columns : ndarray of shape (n, k)
    offset : ndarray of shape (n,)
        Added to the log of the mean.

    Returns
    -------
    coefficients, errors : ndarray of shape (k,)
        With their standard errors.
    """
    with needed("Poisson regression", "bayescal[survival]"):
        import statsmodels.api as sm
    fitted = sm.GLM(number, columns, family=sm.families.Poisson(), offset=offset).fit()
    return np.asarray(fitted.params, np.float64), np.asarray(fitted.bse, np.float64)
