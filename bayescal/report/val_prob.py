"""What R's val.prob prints, by its names, for readers who come from there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal import estimators, scores
from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.data.table import CalibrationData
from bayescal.data.weights import effective_cases
from bayescal.estimators.calibration_tests import Recalibrated, recalibrated
from bayescal.estimators.integrated import indices_of
from bayescal.posterior.functionals import MOST_AT_ENDS, share_at_ends
from bayescal.report.performance import with_ranks

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["VAL_PROB", "RawCases", "no_val_prob", "raw_cases", "val_prob"]


class RawCases(NamedTuple):
    """Checked cases of one group, with the score of each.

    Attributes
    ----------
    outcome : ndarray of shape (n,)
        0 or 1, of any numeric type.
    score : ndarray of shape (n,)
    weight : ndarray of shape (n,) or None
        Numbers of cases; sampling weights add up to Kish's effective size.
    """

    outcome: NDArray[Any]
    score: Floats
    weight: Floats | None


def raw_cases(data: CalibrationData) -> tuple[RawCases, ...]:
    """The cases behind a table on a grid, of each imputation; none where only the table is known.

    Its estimators are then those of the scores themselves.
    """
    return tuple(
        RawCases(
            outcome,
            score.astype(np.float64, copy=False),
            None if weight is None else effective_cases(weight, data.weight_type),
        )
        for outcome, score, weight in data._known_cases()
    )


class _Measured:
    """Estimators and scores of a table, or of the cases themselves."""

    def __init__(self, cases: CalibrationData | RawCases) -> None:
        if isinstance(cases, CalibrationData):
            self.size, self.rate = cases.effective_size, cases.events / cases.n
            self.at_ends = share_at_ends(cases)
            self._arrays: tuple[Any, ...] = (cases,)
            self._ranked: tuple[Any, ...] = (with_ranks(cases),)
            self._options: dict[str, Any] = {}
        else:
            outcome, score, weight = cases
            self.size = float(outcome.size if weight is None else weight.sum())
            self.rate = float(np.average(outcome, weights=weight))
            self.at_ends = float(np.average((score == 0) | (score == 1), weights=weight))
            self._arrays = self._ranked = (outcome, score)
            self._options = {"sample_weight": weight}

    def by(self, measure: Callable[..., Any], **options: Any) -> Any:
        return measure(*self._arrays, **self._options, **options)

    @cached_property
    def rank_correlation(self) -> float:
        return float(scores.somers_dxy(*self._ranked, **self._options))

    @cached_property
    def recalibrated(self) -> Recalibrated:
        """What one logistic recalibration says."""
        return recalibrated(*self._arrays, **self._options)

    @cached_property
    def spiegelhalter(self) -> Any:
        return self.by(estimators.spiegelhalter_test)

    @cached_property
    def of_lowess(self) -> dict[str, float]:
        """The indices of one lowess curve."""
        return dict(self.by(indices_of, names=("emax", "e90", "ici"), smoother="lowess"))


# Names in the order of val.prob, what each is, and how it is computed.
VAL_PROB: dict[str, tuple[str, Callable[[_Measured], float]]] = {
    "Dxy": ("Somers' rank correlation, 2 C - 1", lambda m: m.rank_correlation),
    "C (ROC)": ("C-statistic", lambda m: (1 + m.rank_correlation) / 2),
    "R2": ("Nagelkerke's R squared of the predictions as they are", lambda m: _nagelkerke(m)),
    "D": ("discrimination index", lambda m: m.recalibrated.discrimination),
    "D:Chi-sq": ("its likelihood ratio", lambda m: _discrimination_ratio(m)),
    "U": ("unreliability index", lambda m: m.recalibrated.unreliability),
    "U:Chi-sq": ("its likelihood ratio", lambda m: m.recalibrated.cox.statistic),
    "U:p": ("its p-value, 2 degrees of freedom", lambda m: m.recalibrated.cox.pvalue),
    "Q": (
        "quality index, D - U",
        lambda m: m.recalibrated.discrimination - m.recalibrated.unreliability,
    ),
    "Brier": ("Brier score", lambda m: m.by(scores.brier_score)),
    "Intercept": (
        "fitted jointly with the slope; not calibration-in-the-large",
        lambda m: m.recalibrated.intercept,
    ),
    "Slope": ("calibration slope", lambda m: m.recalibrated.slope),
    "Emax": ("largest error of a lowess curve", lambda m: m.of_lowess["emax"]),
    "E90": ("90th percentile of its error", lambda m: m.of_lowess["e90"]),
    "Eavg": ("its average error", lambda m: m.of_lowess["ici"]),
    "S:z": ("Spiegelhalter's z", lambda m: m.spiegelhalter.statistic),
    "S:p": ("its two-sided p-value", lambda m: m.spiegelhalter.pvalue),
}


def no_val_prob() -> pd.Series:
    """The same names, none of them defined: of times to an event."""
    import pandas as pd

    return pd.Series(dict.fromkeys(VAL_PROB, float("nan")))


def val_prob(cases: CalibrationData | RawCases) -> pd.Series:
    """The statistics of `val.prob`, from R's package rms, by its names.

    All are of the data as they are, by maximum likelihood and lowess: none is read off the
    posterior, so Eavg, E90 and Emax differ from ICI, E90 and Emax of an assessment.

    Parameters
    ----------
    cases : CalibrationData or RawCases
        Of one group. A table of more than 2048 distinct scores has the mean score of each cell of
        its grid in place of the scores, and the statistics differ from those of the cases in
        their third digit.

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
    >>> from bayescal.report.val_prob import val_prob
    >>> data = bc.CalibrationData([0, 1, 1, 0], [0.2, 0.7, 0.9, 0.7])
    >>> float(val_prob(data)["Dxy"])
    0.75
    """
    import pandas as pd

    measured = _Measured(cases)
    values = dict.fromkeys(VAL_PROB, np.nan)
    for name, (_, number) in VAL_PROB.items():
        with suppress(InputError):
            values[name] = float(number(measured))
    if measured.at_ends >= MOST_AT_ENDS:
        values["Intercept"] = values["Slope"] = np.nan
    return pd.Series(values, name="val_prob", dtype=float)


def _discrimination_ratio(measured: _Measured) -> float:
    """Twice the log likelihood of the scores, less that of the mean outcome."""
    return measured.recalibrated.discrimination * measured.size + 1


def _nagelkerke(measured: _Measured) -> float:
    """(1 - exp(-ratio / n)) / (1 - exp(-deviance of the mean outcome / n))."""
    rate = measured.rate
    if not 0 < rate < 1:
        raise InputError("y_true holds one class only, so R2 is not defined.")
    deviance = -2 * (rate * np.log(rate) + (1 - rate) * np.log(1 - rate))
    ratio = _discrimination_ratio(measured) / measured.size
    return float((1 - np.exp(-ratio)) / (1 - np.exp(-deviance)))
