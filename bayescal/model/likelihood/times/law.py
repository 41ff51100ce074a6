"""The law of times to an event, some of them censored, given the risks by the horizon."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.core.errors import check_choice
from bayescal.core.symbolic import functions_for
from bayescal.data.table import CalibrationData
from bayescal.model.likelihood.binomial import BINOMIAL, Likelihood

__all__ = ["INTERVALS", "TimeToEvent", "likelihood_of"]


INTERVALS = 6
# Standard deviations from the mean score past which the timing of events stays the same.
FARTHEST_Z = 3.0
LEAST_SPREAD_OF_SCORES = 1e-6
# Prior standard deviation of how many of the cases without the event have no other one, in
# log-odds.
NO_EVENT_SD = 2.0


@dataclass(frozen=True)
class TimeToEvent(Likelihood):
    """An event by time u of a case with score s has probability g(s) Q(u | s).

    g is the curve, of risks by the horizon, where Q is 1. Q rises along lines between the `cuts`
    (steps of the grid of `FollowUp`), by steps softmax(a + c z(s)), with z the standardised
    log-odds of the score, and a and c standard normal. Given Q, a case with the event counts log g,
    one that was followed to the horizon log(1 - g), and one that left at u log(1 - g Q(u)).
    With competing events, one comes by u with probability (1 - g(s)) V(u | s). V rises in the same
    way to the share of the cases without the event that have one, by steps of a softmax with one
    more class, of those with no event at all; the a of this class is normal around log(intervals)
    with a standard deviation of 2. A case with a competing event counts log(1 - g), and one that
    left at u log(1 - g Q(u) - (1 - g) V(u)).
    """

    cuts: tuple[int, ...]
    centre: float  # mean and standard deviation of the log-odds of the scores
    spread: float
    competes: bool = False  # whether some cases had a competing event
    kept: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    name: ClassVar[str] = "time to event"

    @property
    def size(self) -> int:
        """Number of intervals."""
        return len(self.cuts) - 1

    def standardised(self, log_odds: Any) -> Any:
        """The z of scores, by their log-odds."""
        z = (log_odds - self.centre) / self.spread
        return functions_for(z).clip(z, -FARTHEST_Z, FARTHEST_Z)

    def located(self, step: Any) -> tuple[Any, Floats]:
        """Interval of each time after 0, and how far into it, in (0, 1]."""
        cuts = np.array(self.cuts)
        interval = np.searchsorted(cuts, step, side="left") - 1
        return interval, (step - cuts[interval]) / np.diff(cuts)[interval]

    def passed(self, step: Floats, classes: int) -> Floats:
        """How much of each interval has passed at times, and 0 of a class that is no interval.

        Returns (times, classes).
        """
        interval, fraction = self.located(step)
        passed = (np.arange(classes) < interval[:, None]).astype(np.float64)
        passed[np.arange(interval.size), interval] = fraction
        return np.asarray(passed)

    def prior_of_steps(self, classes: int) -> tuple[Floats, Floats]:
        """Centre and precision of the normal prior of a and c, of the intervals and one more class.

        `classes`: the intervals, or one more, of cases without any event.
        """
        centre, precision = np.zeros(2 * classes), np.ones(2 * classes)
        if classes > self.size:
            centre[classes - 1], precision[classes - 1] = np.log(self.size), 1 / NO_EVENT_SD**2
        return centre, precision

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready description; `from_dict` reads it back."""
        return {
            "name": self.name,
            "cuts": list(self.cuts),
            "centre": self.centre,
            "spread": self.spread,
            "competes": self.competes,
        }

    @classmethod
    def from_dict(cls, described: dict[str, Any]) -> TimeToEvent:
        """The law that a stored posterior describes."""
        check_choice(described["name"], (cls.name,), "the likelihood of the tree")
        cuts = tuple(int(cut) for cut in described["cuts"])
        competes = bool(described.get("competes", False))
        return cls(cuts, float(described["centre"]), float(described["spread"]), competes)


def likelihood_of(data: CalibrationData) -> Likelihood:
    """The law of a table's outcomes: of times to an event, or of outcomes that are known."""
    if data.follow_up is None:
        return BINOMIAL
    log_odds = np.asarray(logit(data.edges().inside(data.score)))
    centre = float(np.average(log_odds, weights=data.trials))
    spread = float(np.sqrt(np.average((log_odds - centre) ** 2, weights=data.trials)))
    spread, competes = max(spread, LEAST_SPREAD_OF_SCORES), bool(data.follow_up.other.any())
    return TimeToEvent(data.follow_up.cuts(INTERVALS), centre, spread, competes)
