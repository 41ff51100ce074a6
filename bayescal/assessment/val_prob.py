"""What R's val.prob prints, by its names, for readers who come from there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from bayescal import estimators, scores
from bayescal._base.errors import InputError
from bayescal.assessment.performance import with_ranks
from bayescal.data.data import CalibrationData
from bayescal.posterior.checks.undefined import MOST_AT_ENDS, share_at_ends

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["VAL_PROB", "val_prob"]

Number = Callable[[CalibrationData], float]

VAL_PROB: dict[str, tuple[str, Number]] = {
    "Dxy": ("Somers' rank correlation, 2 C - 1", lambda d: float(scores.somers_dxy(with_ranks(d)))),
    "C (ROC)": ("C-statistic", lambda d: float(scores.c_statistic(with_ranks(d)))),
    "R2": ("Nagelkerke's R squared of the predictions as they are", lambda d: _nagelkerke(d)),
    "D": ("discrimination index", lambda d: float(estimators.discrimination_index(d))),
    "D:Chi-sq": ("its likelihood ratio", lambda d: _discrimination_ratio(d)),
    "U": ("unreliability index", lambda d: float(estimators.unreliability(d))),
    "U:Chi-sq": ("its likelihood ratio", lambda d: float(estimators.cox_test(d).statistic)),
    "U:p": ("its p-value, 2 degrees of freedom", lambda d: float(estimators.cox_test(d).pvalue)),
    "Q": ("quality index, D - U", lambda d: float(estimators.quality_index(d))),
    "Brier": ("Brier score", lambda d: float(scores.brier_score(d))),
    "Intercept": (
        "fitted jointly with the slope; not calibration-in-the-large",
        lambda d: float(estimators.calibration_intercept(d)),
    ),
    "Slope": ("calibration slope", lambda d: float(estimators.calibration_slope(d))),
    "Emax": ("largest error of a lowess curve", lambda d: _of_lowess(estimators.emax, d)),
    "E90": ("90th percentile of its error", lambda d: _of_lowess(estimators.e90, d)),
    "Eavg": ("its average error", lambda d: _of_lowess(estimators.ici, d)),
    "S:z": ("Spiegelhalter's z", lambda d: float(estimators.spiegelhalter_test(d).statistic)),
    "S:p": ("its two-sided p-value", lambda d: float(estimators.spiegelhalter_test(d).pvalue)),
}
"""Names in the order of val.prob, what each is, and how it is computed."""


def val_prob(data: CalibrationData) -> pd.Series:
    """The statistics of `val.prob`, from R's package rms, by its names.

    All are of the data as they are, by maximum likelihood and lowess: none is read off the
    posterior, so Eavg, E90 and Emax differ from ICI, E90 and Emax of an assessment.

    Parameters
    ----------
    data : CalibrationData
        Of one group.

    Returns
    -------
    pandas.Series
        Dxy, C (ROC), R2, D, D:Chi-sq, U, U:Chi-sq, U:p, Q, Brier, Intercept, Slope, Emax, E90,
        Eavg, S:z and S:p; NaN where the data do not define one, as slope and intercept where many
        scores are exactly 0 or 1.

    References
    ----------
    Harrell, "Regression Modeling Strategies", 2nd edition, Springer 2015, section 10.9.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.assessment.val_prob import val_prob
    >>> data = bc.CalibrationData([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.7])
    >>> float(val_prob(data)["Dxy"])
    0.75
    """
    import pandas as pd

    values = dict.fromkeys(VAL_PROB, np.nan)
    for name, (_, number) in VAL_PROB.items():
        with suppress(InputError):
            values[name] = number(data)
    if share_at_ends(data) >= MOST_AT_ENDS:
        values["Intercept"] = values["Slope"] = np.nan
    return pd.Series(values, name="val_prob", dtype=float)


def _of_lowess(index: Callable[..., object], data: CalibrationData) -> float:
    return float(index(data, smoother="lowess"))  # type: ignore[arg-type]


def _discrimination_ratio(data: CalibrationData) -> float:
    """Twice the log likelihood of the scores, less that of the mean outcome."""
    return float(estimators.discrimination_index(data)) * data.effective_size + 1


def _nagelkerke(data: CalibrationData) -> float:
    """(1 - exp(-ratio / n)) / (1 - exp(-deviance of the mean outcome / n))."""
    rate = data.events / data.n
    if not 0 < rate < 1:
        raise InputError("y_true holds one class only, so R2 is not defined.")
    deviance = -2 * (rate * np.log(rate) + (1 - rate) * np.log(1 - rate))
    ratio = _discrimination_ratio(data) / data.effective_size
    return float((1 - np.exp(-ratio)) / (1 - np.exp(-deviance)))
