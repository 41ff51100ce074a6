"""Followed cases one by one, as estimators read them, and Kaplan-Meier's risk by the horizon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.data.follow_up import TIME_STEPS
from bayescal.data.survival import Survival, refuse_horizon
from bayescal.estimators.proportions import kaplan_meier

__all__ = ["Followed", "read_followed"]


@dataclass(frozen=True)
class Followed:
    """Cases that were followed, by ascending score.

    Attributes
    ----------
    score : ndarray of shape (n,)
    entry, last : ndarray of int of shape (n,)
        Steps of time, of which the horizon is `TIME_STEPS`: cases are under observation from the
        step after `entry` to the step `last`.
    event : ndarray of bool of shape (n,)
        By the horizon, in the step `last`.
    """

    score: Floats
    entry: NDArray[np.intp]
    last: NDArray[np.intp]
    event: NDArray[np.bool_]

    @property
    def left(self) -> NDArray[np.bool_]:
        """Which cases left before the horizon without the event."""
        return ~self.event & (self.last < TIME_STEPS)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Of which cases it is known whether they have the event by the horizon."""
        return ~self.left

    def refuse_late_entry(self, what: str) -> None:
        """Refuse cases that came under observation after time 0."""
        if self.entry.any():
            raise InputError(
                f"{int((self.entry > 0).sum())} cases came under observation after time 0, and "
                f"{what} is defined for cases that are followed from then on. survival_curve, with "
                "method='cox', takes them."
            )

    def kaplan_meier(self) -> tuple[float, float]:
        """Risk by the horizon, and its standard error by Greenwood."""
        ones = np.ones(self.last.size)
        risk, effective = kaplan_meier(self.entry, self.last, self.event, ones, TIME_STEPS)
        if np.isnan(risk):
            raise InputError(
                "there is a time before the horizon at which no case was under observation, so "
                "that Kaplan-Meier's risk by the horizon is not defined. Choose an earlier horizon."
            )
        return risk, float(np.sqrt(max(risk * (1 - risk), 0.0) / effective))


def read_followed(
    y_true: Any, y_prob: ArrayLike | None = None, horizon: float | None = None
) -> Followed:
    """Cases of times to an event, and of risks by a horizon, or of a table that holds both.

    Cases that were read before come back as they are.
    """
    if isinstance(y_true, Followed):
        return y_true
    if isinstance(y_true, CalibrationData):
        refuse_horizon(horizon)
        if y_prob is not None:
            raise InputError("y_prob was given beside a table, which has its scores. Leave it out.")
        data = y_true
    elif isinstance(y_true, Survival):
        data = CalibrationData(y_true, y_prob, horizon=horizon)
    else:
        raise InputError(
            f"y_true is a {type(y_true).__name__}, and this is an estimator of times to an event: "
            "pass bayescal.Survival(time, event), or a CalibrationData of it."
        )
    followed = data.follow_up
    if followed is None:
        raise InputError(
            "y_true holds outcomes without times. This is an estimator of times to an event: pass "
            "bayescal.Survival(time, event). Of known outcomes use the estimators without "
            "'survival' in their name."
        )
    if data.is_pseudo or (followed.weight % 1).any():
        raise InputError(
            "y_true has sampling weights, and standard errors here count single cases. Use "
            "bayescal.fit, which takes them."
        )
    times = followed.weight.astype(np.intp)
    order = np.argsort(data.score[followed.row], kind="stable")
    order = np.repeat(order, times[order])
    score = data.score[followed.row]
    return Followed(
        score[order], followed.entry[order], followed.exit[order], followed.event[order]
    )
