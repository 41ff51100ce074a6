"""Studies of times to an event: some patients leave before the horizon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_number
from bayescal.core.optimise import clipped, zero_of
from bayescal.core.text import percent, shortened
from bayescal.data.rows import add_up
from bayescal.data.table import CalibrationData
from bayescal.data.times import TIME_STEPS, Survival, as_horizon

__all__ = ["PlannedTimes", "as_times"]

MOST_LEAVING = 0.99
LARGEST_RATIO = 20.0
ENDS_OF_STUDY = 64
"""Follow-up times at which expected shares are averaged."""
LEAST_VARIANCE_OF_CASE = 1e-12


@dataclass(frozen=True)
class PlannedTimes:
    """When events come, and when patients leave, in units of the horizon.

    Events come at a constant rate. Patients leave at a constant rate too, which can depend on their
    score; and when the study ends.

    Attributes
    ----------
    horizon : float
    leaving : float
        Share of the patients who would leave before the horizon if no event came and the study did
        not end.
    ratio : float
        By how much the rate of leaving is multiplied for each standard deviation of the log-odds of
        the scores.
    ends : (float, float) or None
        How long the patients who come last, and first, are followed when the study ends. The others
        lie evenly between.
    """

    horizon: float
    leaving: float
    ratio: float
    ends: tuple[float, float] | None

    @property
    def described(self) -> str:
        """In words."""
        by_score = ""
        if self.ratio != 1:
            by_score = (
                f", at a rate multiplied by {self.ratio:g} for each standard deviation of the "
                "log-odds of the score"
            )
        ends = ""
        if self.ends is not None:
            ends = f"; the study ends {self.ends[0]:g} to {self.ends[1]:g} after they came"
        return (
            f"times to an event by {self.horizon:g}, at constant rates; {percent(self.leaving)} "
            f"of the patients leave before{by_score}{ends}"
        )

    def rate(self, log_odds: Floats, weight: Floats) -> Floats:
        """Rate of leaving, in a horizon, at log-odds of scores.

        Parameters
        ----------
        log_odds, weight : ndarray of shape (rows,)
            And the share of the patients who have each score.
        """
        middle = log_odds @ weight
        spread = np.sqrt((log_odds - middle) ** 2 @ weight)
        if not self.leaving or self.ratio == 1 or not spread:
            return np.full_like(log_odds, -np.log1p(-self.leaving))
        relative = self.ratio ** ((log_odds - middle) / spread)

        def excess(log_rate: float) -> float:
            return float(-np.expm1(-np.exp(log_rate) * relative) @ weight) - self.leaving

        return np.asarray(relative * np.exp(zero_of(excess, -60, 60)))

    def shares(self, curve: Floats, rate: Floats) -> tuple[Floats, Floats]:
        """Shares of the patients whose event is seen, and who leave before the horizon without one.

        Parameters
        ----------
        curve, rate : ndarray of shape (..., rows)
            Risk by the horizon, and the rate of leaving.
        """
        hazard = -np.log1p(-clipped(curve))
        total = hazard + rate
        until = np.ones(1) if self.ends is None else self._ends_at(ENDS_OF_STUDY)
        seen = np.mean([-np.expm1(-total * min(end, 1)) for end in until], axis=0) * hazard / total
        followed = np.exp(-total) * float((until >= 1).mean())
        return seen, 1 - seen - followed

    def _ends_at(self, size: int) -> Floats:
        assert self.ends is not None
        low, high = self.ends
        return (low + (high - low) * (np.arange(size) + 0.5) / size) / self.horizon

    def study(
        self,
        rng: np.random.Generator,
        score: Floats,
        cases: NDArray[np.int64],
        curve: Floats,
        rate: Floats,
    ) -> CalibrationData:
        """One simulated study, from its cases at each score; each of shape (rows,)."""
        row = np.repeat(np.arange(score.size), cases)
        hazard = -np.log1p(-clipped(curve))[row]
        with np.errstate(divide="ignore"):
            event = rng.exponential(1, row.size) / hazard
            left = rng.exponential(1, row.size) / rate[row]
        if self.ends is not None:
            left = np.minimum(left, rng.uniform(*self.ends, row.size) / self.horizon)
        end = np.minimum(np.minimum(event, left), 2.0)
        outcome = Survival(self.horizon * end, (event <= left) & (event <= 2))
        return CalibrationData(outcome, score[row], horizon=self.horizon)

    @staticmethod
    def told(data: CalibrationData, score: Floats, curve: Floats) -> tuple[Floats, Floats]:
        """What cases tell of the log-odds of the risk, as known outcomes that tell as much.

        Near the true curve, and with the true timing of events. A case that left at u tells
        log(1 - g Q(u)); its first two derivatives are those of fractions of a case and of an event.

        Parameters
        ----------
        score, curve : ndarray of shape (rows,)
            All scores, and the true risks.

        Returns
        -------
        trials, hits : ndarray of shape (rows,)
        """
        followed = data.follow_up
        assert followed is not None
        row = np.searchsorted(score, data.score)[followed.row]
        g = curve[row]
        share = np.expm1(np.log1p(-g) * followed.exit / TIME_STEPS) / -g  # Q at the exit
        share = np.where(followed.left_early, share, 1.0)
        spread = np.maximum(g * (1 - g), LEAST_VARIANCE_OF_CASE)
        slope = -share * spread / np.maximum(1 - g * share, LEAST_VARIANCE_OF_CASE)
        bend = -slope * (1 - 2 * g - slope)
        slope, bend = (
            np.where(followed.event, 1 - g, slope),
            np.where(followed.left_early, bend, spread),
        )
        part = bend / spread
        trials = add_up(row, followed.weight * part, score.size)
        return trials, add_up(row, followed.weight * (slope + part * g), score.size)


def as_times(
    horizon: Any, leaving: Any = None, leaving_ratio: Any = None, follow_up: Any = None
) -> PlannedTimes | None:
    """Times to an event as `plan` takes them; None of outcomes that are all known."""
    if horizon is None:
        given = {"leaving": leaving, "leaving_ratio": leaving_ratio, "follow_up": follow_up}
        for name, value in given.items():
            if value is not None:
                raise InputError(
                    f"{name} was given without horizon=, the time by which scores are risks."
                )
        return None
    at = as_horizon(horizon)
    if leaving is None and follow_up is None:
        raise InputError(
            "leaving is missing: how many patients leave before the horizon? Pass their share, "
            "such as 0.3; or 0 with horizon= left out, where every outcome will be known."
        )
    return PlannedTimes(at, _share(leaving), _ratio(leaving, leaving_ratio), _ends(follow_up, at))


def _share(leaving: Any) -> float:
    share = 0.0 if leaving is None else as_number(leaving, "leaving")
    if not 0 <= share <= MOST_LEAVING:
        raise InputError(
            f"leaving must be a share from 0 to {MOST_LEAVING:g} of the patients, got {share:g}."
        )
    return share


def _ratio(leaving: Any, leaving_ratio: Any) -> float:
    if leaving_ratio is None:
        return 1.0
    if leaving is None:
        raise InputError("leaving_ratio was given without leaving=, the share who leave.")
    ratio = as_number(leaving_ratio, "leaving_ratio")
    if not 1 / LARGEST_RATIO <= ratio <= LARGEST_RATIO:
        raise InputError(
            f"leaving_ratio is {ratio:g}, and must be from {1 / LARGEST_RATIO:g} to "
            f"{LARGEST_RATIO:g}: how much faster patients leave for each standard deviation of the "
            "log-odds of their score."
        )
    return ratio


def _ends(follow_up: Any, horizon: float) -> tuple[float, float] | None:
    if follow_up is None:
        return None
    try:
        low, high = (as_number(each, "follow_up") for each in follow_up)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not 0 <= low <= high < np.inf:
        raise InputError(
            "follow_up must be how long the last patients who come are followed, and the first, "
            f"such as (2, 6), got {shortened(repr(follow_up))}."
        )
    if high <= horizon:
        raise InputError(
            f"follow_up ends at {high:g}, and the horizon is {horizon:g}: nobody would be followed "
            "to it. Plan a longer study, or choose an earlier horizon."
        )
    return low, high
