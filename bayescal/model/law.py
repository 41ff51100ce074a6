"""The law of the events among cases, given the curve: of known outcomes, or of times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.errors import check_choice
from bayescal.core.optimise import softplus, softplus_near
from bayescal.core.symbolic import functions_for
from bayescal.data.table import CalibrationData

INTERVALS = 6

# Standard deviations from the mean score past which the timing of events stays the same.
FARTHEST_Z = 3.0
LEAST_SPREAD_OF_SCORES = 1e-6

# Prior standard deviation of how many of the cases without the event have no other one, in
# log-odds.
NO_EVENT_SD = 2.0


class Likelihood:
    """The law of the events among the cases of a row, given the curve.

    `is_linear`: whether the log density is hits * log-odds less a function of the trials: the
    binomial law. Sums over the events are then exact, and engines that are written for it serve.
    """

    name: ClassVar[str]
    is_linear: ClassVar[bool] = False

    def draw(self, generator: np.random.Generator, trials: Any, probability: Floats) -> Any:
        """Simulated events of rows, all of whose cases are followed to their outcome.

        `probability` (n, rows): the curves; returns (n, rows).
        """
        return generator.binomial(trials, probability)

    def of_tables(self, log_odds: Floats) -> Callable[[Floats, Floats], Floats]:
        """Log likelihood of several tables of such cases, of the same rows, under several curves.

        `log_odds` (n, rows): the curves; returns a function of trials and hits (tables, rows), with
        values of shape (tables, n).
        """
        cost = np.logaddexp(0, log_odds)
        return lambda trials, hits: np.asarray(hits @ log_odds.T - trials @ cost.T)


class Binomial(Likelihood):
    """hits ~ Binomial(trials, g), of the single outcomes: without binomial coefficients.

    In log-odds the log density is hits * log-odds - trials * `cost`. Engines that add the events up
    before they know the curve take the two terms apart.
    """

    name: ClassVar[str] = "binomial"
    is_linear: ClassVar[bool] = True

    # log(1 + odds) of a case, by log-odds that are used as working memory.
    cost = staticmethod(softplus)
    cost_near = staticmethod(softplus_near)  # the same in a third of the time, right to 1e-16
    mean = staticmethod(expit)  # expected events of a case: the derivative of the cost

    def log_density(self, log_odds: Floats, trials: Floats, hits: Floats) -> Floats:
        """Log density of each row of n curves, of shape (n, rows)."""
        return np.asarray(hits * log_odds - trials * softplus(log_odds.copy()))

    def log_case(self, hit: bool, log_odds: Floats) -> Floats:
        """Log probability of the outcome of one case, of shape (n, rows)."""
        return -softplus_near(-log_odds if hit else log_odds.copy())

    def observe(self, name: str, seen: Sequence[Any], hits: Floats, **options: Any) -> None:
        """Observe events in the open PyMC model.

        `seen` (n,): trials, log-odds and, where there are any, weights; `hits` (n,); `**options`:
        such as `dims`.
        """
        import pymc as pm

        pm.CustomDist(
            name,
            *seen,
            logp=self.pymc_log_density,
            random=self._pymc_draw,
            observed=hits,
            **options,
        )

    def pymc_log_density(self, hits: Any, trials: Any, log_odds: Any, weight: Any = 1) -> Any:
        """The log density of each row as a PyTensor expression; finite at any log-odds."""
        import pytensor.tensor as pt

        return weight * (hits * log_odds - trials * pt.softplus(log_odds))

    def _pymc_draw(
        self,
        trials: Floats,
        log_odds: Floats,
        weight: Any = None,
        *,
        rng: np.random.Generator,
        size: Any = None,
    ) -> Floats:
        """Events of each row, for prior and posterior predictive draws of PyMC."""
        cases = np.rint(trials).astype(np.int64)
        return np.asarray(rng.binomial(cases, expit(log_odds), size).astype(np.float64))

    def of_calibrated(self, score: Floats, trials: Floats, hits: Floats) -> float:
        """Log likelihood of exact calibration, from the scores themselves."""
        return float(hits @ np.log(score) + (trials - hits) @ np.log1p(-score))

    def spread(self, trials: Floats, fitted: Floats) -> Floats:
        """Variance of the events, which is also the information on the log-odds."""
        return np.asarray(trials * fitted * (1 - fitted))


# The law of every problem that names no other.
BINOMIAL = Binomial()


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


def log_without(g: Floats, share: Floats, other: Floats) -> Floats:
    """Log probability of no event by a time, of no kind: 1 - g Q - (1 - g) V.

    `g` (n, entries): curves; `share`, `other` (entries,): Q and V.
    """
    return np.asarray(np.log(1 - other - g * (share - other)))


def late_of(g: Floats, share: Floats, other: Floats) -> tuple[Floats, Floats]:
    """How fast `log_without` falls by the log-odds of the curve, and the derivative of that.

    `g` (..., entries): curves; `share`, `other`: Q and V.
    """
    late = g * (1 - g) * (share - other) / (1 - other - g * (share - other))
    return late, late * (1 - 2 * g + late)


def tilted(ratio: Floats, g: Floats) -> Floats:
    """The scale t = R / (1 - g R) of ratios R, on which Gauss rules are made.

    For a curve h near g, log(1 - h R) - log(1 - g R) = log(1 + (g - h) t), which is nearly linear
    in t, so that a few nodes serve however many cases there are.
    """
    return np.asarray(ratio / (1 - g * ratio))


def untilted(t: Floats, g: Floats) -> Floats:
    """The ratio R of which `tilted` is t."""
    return np.asarray(t / (1 + g * t))
