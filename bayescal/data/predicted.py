"""Risks by several horizons as they are passed: a column for each, or whole predicted curves."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, ScoreWarning
from bayescal.core.text import count, exact, shortened
from bayescal.data.cases import as_floats, without_rounding
from bayescal.data.times import Survival, as_horizon

__all__ = ["PredictedCurves", "Risks", "is_whole_curve", "risk_at", "risks_by"]

MOST_HORIZONS = 20
FALLING = 1e-9
"""By how much a risk may fall in time through rounding."""


class Risks(NamedTuple):
    """Risks by several horizons, and the times to the event.

    Attributes
    ----------
    outcome : Survival
    horizons : tuple of float
        Ascending.
    columns : tuple of array-like
        Of each horizon; series with labels if a data frame was passed.
    notes : tuple of str
        How they were read off whole curves.
    """

    outcome: Survival
    horizons: tuple[float, ...]
    columns: tuple[Any, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PredictedCurves:
    """Whole predicted curves: the cumulative hazard of each case along time.

    Attributes
    ----------
    times : ndarray of shape (times,)
        Ascending, from 0.
    hazard : ndarray of shape (n, times)
        Cumulative, -log(1 - risk); infinite where the risk is 1.
    of_survival : bool
        Whether probabilities of survival were passed.
    index : pandas.Index
        Labels of the cases.
    """

    times: Floats
    hazard: Floats
    of_survival: bool
    index: Any

    @classmethod
    def of(cls, frame: Any) -> PredictedCurves:
        """Read a data frame with a row for each case, whose columns are times.

        Parameters
        ----------
        frame : pandas.DataFrame
            Risks, which rise in time, or probabilities of survival, which fall.
        """
        if not is_whole_curve(frame):
            raise InputError(
                "predicted is no data frame whose columns are times. Pass a row for each case and "
                "name the columns by the times, as in pd.DataFrame(curves, columns=times)."
            )
        times = as_floats(np.asarray(frame.columns), "the columns of y_prob")
        if not (np.diff(times) > 0).all() or not (times >= 0).all() or not times[-1] < np.inf:
            raise InputError(
                "the columns of y_prob are numbers, so that they are read as times, and are not "
                "ascending times from 0 on. Put them in order; or, if they are no times, name them "
                "by words."
            )
        values = np.stack(
            [as_floats(frame.iloc[:, k], f"y_prob[:, {k}]") for k in range(times.size)], axis=1
        )
        values = without_rounding(values, "y_prob")
        if not ((values >= 0) & (values <= 1)).all():
            row, column = np.argwhere(~((values >= 0) & (values <= 1)))[0]
            raise InputError(
                f"y_prob[{row}, {column}] = {exact(values[row, column])} is no probability; at "
                "each time the columns of y_prob hold risks, or probabilities of survival."
            )
        of_survival = bool(values[:, -1].mean() < values[:, 0].mean())
        if times.size == 1:
            of_survival = False
        risk = 1 - values if of_survival else values
        falls = (np.diff(risk, axis=1) < -FALLING).any(axis=1)
        if falls.any():
            kind = "survival rises" if of_survival else "the risk falls"
            raise InputError(
                f"y_prob has whole predicted curves, and in {count(int(falls.sum()), 'row')} of "
                f"{falls.size} {kind} in time, the first in row {int(falls.argmax())}. Each row is "
                "a case and each column a time: pass risks, or probabilities of survival, of one "
                "kind."
            )
        with np.errstate(divide="ignore"):
            hazard = np.maximum.accumulate(-np.log1p(-risk), axis=1)
        if times[0] > 0:
            times, hazard = np.append(0.0, times), np.column_stack([np.zeros(len(hazard)), hazard])
        elif (hazard[:, 0] > FALLING).any():
            raise InputError(
                "the column at time 0 of y_prob holds risks above 0: nobody has had the event "
                "then. Pass risks by each time."
            )
        return cls(times, hazard, of_survival, frame.index)

    def hazard_at(self, time: Floats) -> Floats:
        """Cumulative hazard of each case by a time of its own, or by one time for all.

        Between two times the hazard is constant.
        """
        at = np.broadcast_to(np.asarray(time, np.float64), (len(self.hazard),))
        self.check_until(float(at.max()))
        right = np.clip(np.searchsorted(self.times, at, side="left"), 1, self.times.size - 1)
        case = np.arange(at.size)
        before, after = self.hazard[case, right - 1], self.hazard[case, right]
        part = (at - self.times[right - 1]) / (self.times[right] - self.times[right - 1])
        rise = np.zeros(at.size)
        some = (part > 0) & (after > before)
        rise[some] = part[some] * (after[some] - before[some])
        return np.asarray(before + rise)

    def check_until(self, time: float) -> None:
        """Refuse a time after the last of the curves."""
        if time > self.times[-1]:
            raise InputError(
                f"the predicted curves end at {self.times[-1]:g}, and {time:g} is later: nothing "
                f"says what the model predicts there. Predict up to {time:g}, or choose a horizon "
                f"of at most {self.times[-1]:g}."
            )

    def risk_by(self, horizon: float) -> Any:
        """Risk of each case by a time, as a series with the labels of the cases."""
        import pandas as pd

        return pd.Series(-np.expm1(-self.hazard_at(np.array(horizon))), index=self.index)

    def told(self, horizons: tuple[float, ...]) -> str:
        """How the risks by horizons were read off, in a sentence."""
        by = ", ".join(f"{at:g}" for at in horizons)
        kind = "probabilities of survival" if self.of_survival else "risks"
        between = [at for at in horizons if at not in self.times]
        told = f"Risks by {by} were read off predicted curves ({kind} up to {self.times[-1]:g})"
        if between:
            told += ", between two times with a constant hazard"
        return f"{told}."


def is_whole_curve(predicted: Any) -> bool:
    """Whether this is a data frame whose columns are named by times."""
    if not (hasattr(predicted, "iloc") and hasattr(predicted, "columns")):
        return False
    import pandas as pd

    columns = predicted.columns
    if isinstance(columns, pd.RangeIndex) or len(columns) == 0:
        return False
    return all(
        isinstance(name, (int, float, np.number)) and not isinstance(name, bool) for name in columns
    )


def risk_at(predicted: Any, horizon: Any) -> Any:
    """Risks by one horizon: of whole curves those read off there, else what was passed."""
    if horizon is None or not is_whole_curve(predicted):
        return predicted
    return PredictedCurves.of(predicted).risk_by(as_horizon(horizon))


def risks_by(outcome: Any, predicted: Any, horizons: Any) -> Risks:
    """Risks by several horizons.

    Parameters
    ----------
    outcome : Survival
    predicted : array-like of shape (n, horizons), or data frame
        A column for each horizon, in their order; or whole curves, with columns named by times.
    horizons : sequence of float
        Ascending.
    """
    if not isinstance(outcome, Survival):
        raise InputError(
            "horizon is a list of several, and y_true is no Survival: each needs the times. Pass "
            "bc.Survival(time, event); a CalibrationData is of one horizon."
        )
    times = tuple(as_horizon(each) for each in np.ravel(np.asarray(horizons, dtype=object)))
    if not 0 < len(times) <= MOST_HORIZONS or (np.diff(times) <= 0).any():
        told = ", ".join(f"{each:g}" for each in times) or "none"
        raise InputError(
            f"horizon must be from 1 to {MOST_HORIZONS} ascending times, got {told}. Pass each "
            "once, in order, such as horizon=[1, 3, 5]."
        )
    if is_whole_curve(predicted):
        curves = PredictedCurves.of(predicted)
        columns = tuple(curves.risk_by(at) for at in times)
        return Risks(outcome, times, columns, (curves.told(times),))
    return Risks(outcome, times, _columns_of(predicted, times))


def _columns_of(risks: Any, horizons: tuple[float, ...]) -> tuple[Any, ...]:
    """The column of each horizon, a series with its labels if it comes from a data frame."""
    size = len(horizons)
    if np.ndim(risks) != 2 or np.shape(risks)[1] != size:
        shape = f"the shape {np.shape(risks)}" if risks is not None else "no scores"
        raise InputError(
            f"y_prob has {shape}, for {count(size, 'horizon')}. Pass a column of risks for each "
            "horizon, in their order; or whole predicted curves, as a data frame whose columns are "
            "named by the times."
        )
    names = [f"y_prob[:, {k}]" for k in range(size)]
    if hasattr(risks, "iloc"):
        names = [shortened(str(name)) for name in risks.columns]
    columns = [
        risks.iloc[:, k] if hasattr(risks, "iloc") else np.asarray(risks)[:, k] for k in range(size)
    ]
    values = [as_floats(column, name) for column, name in zip(columns, names, strict=True)]
    for k in range(1, size):
        before, after = float(values[k - 1].mean()), float(values[k].mean())
        if after < before:
            raise InputError(
                f"the mean risk falls from column {names[k - 1]} ({before:.3g}) to column "
                f"{names[k]} ({after:.3g}), and a risk by a later horizon is no smaller. Pass the "
                "columns in the order of the horizons, as risks and not as probabilities of "
                "survival."
            )
    falls = (np.diff(values, axis=0) < -FALLING).any(axis=0)
    if falls.any():
        warnings.warn(
            f"the predicted risk falls from one horizon to a later one in {int(falls.sum()):,} of "
            f"{count(falls.size, 'case')}, first in row {int(falls.argmax())}; an event by an "
            "earlier time is one by a later time, too. Each column is taken as it is.",
            ScoreWarning,
            stacklevel=4,
        )
    return tuple(columns)
