"""The law of times to an event, some of them censored, given the risks by the horizon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

import numpy as np
from scipy.special import logit

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.law import Likelihood

__all__ = ["INTERVALS", "TimeToEvent", "likelihood_of"]

INTERVALS = 6
FARTHEST_Z = 3.0
"""Standard deviations from the mean score past which the timing of events stays the same."""
LEAST_SPREAD_OF_SCORES = 1e-6


@dataclass(frozen=True)
class TimeToEvent(Likelihood):
    """An event by time u of a case with score s has probability g(s) Q(u | s).

    g is the curve, of risks by the horizon, where Q is 1. Q rises along lines between the cuts, by
    steps softmax(a + c z(s)), with z the standardised log-odds of the score, and a and c standard
    normal. Given Q, a case with the event counts log g, one that was followed to the horizon
    log(1 - g), and one that left at u log(1 - g Q(u)).

    Attributes
    ----------
    cuts : tuple of int
        Times between the intervals, as steps of the grid of `FollowUp`: from 0 to the last.
    centre, spread : float
        Mean and standard deviation of the log-odds of the scores.
    """

    cuts: tuple[int, ...]
    centre: float
    spread: float
    _kept: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    name: ClassVar[str] = "time to event"
    of_cases: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """Number of intervals."""
        return len(self.cuts) - 1

    def standardised(self, log_odds: Floats) -> Floats:
        """The z of scores, by their log-odds."""
        return np.clip((log_odds - self.centre) / self.spread, -FARTHEST_Z, FARTHEST_Z)

    def located(self, step: Any) -> tuple[Any, Floats]:
        """Interval of each time after 0, and how far into it, in (0, 1]."""
        cuts = np.array(self.cuts)
        interval = np.searchsorted(cuts, step, side="left") - 1
        return interval, (step - cuts[interval]) / np.diff(cuts)[interval]

    def log_density(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> Floats:
        """Not of rows, in which cases that left early are beside others."""
        _refuse()

    def derivatives(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """As `log_density`."""
        _refuse()

    def draw(
        self, generator: np.random.Generator, trials: Any, probability: Floats, nuisance: Floats
    ) -> Any:
        """Events by the horizon, if no case left before."""
        return generator.binomial(trials, probability)

    def of_tables(self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats) -> Floats:
        """As `Likelihood.of_tables`, of further cases, all of them followed to the horizon."""
        return BINOMIAL.of_tables(log_odds, trials, hits, nuisance)

    def pymc_log_density(self, hits: Any, trials: Any, log_odds: Any, *nuisance: Any) -> Any:
        """As `log_density`."""
        _refuse()

    def observe(
        self, name: str, rows: tuple[Any, Any, Any], nuisance: Sequence[Any], **options: Any
    ) -> None:
        """As `log_density`; the PyMC model of times is in `times.pymc`."""
        _refuse()

    def to_dict(self) -> dict[str, Any]:
        """As `Likelihood.to_dict`."""
        return {
            "name": self.name,
            "cuts": list(self.cuts),
            "centre": self.centre,
            "spread": self.spread,
        }

    @classmethod
    def from_dict(cls, described: dict[str, Any]) -> TimeToEvent:
        """As `Likelihood.from_dict`."""
        cuts = tuple(int(cut) for cut in described["cuts"])
        return cls(cuts, float(described["centre"]), float(described["spread"]))


def likelihood_of(data: CalibrationData) -> Likelihood:
    """The law of a table's outcomes: of times to an event, or of outcomes that are known."""
    if data.follow_up is None:
        return BINOMIAL
    log_odds = np.asarray(logit(data.edges().inside(data.score)))
    centre = float(np.average(log_odds, weights=data.trials))
    spread = float(np.sqrt(np.average((log_odds - centre) ** 2, weights=data.trials)))
    return TimeToEvent(data.follow_up.cuts(INTERVALS), centre, max(spread, LEAST_SPREAD_OF_SCORES))


def _refuse() -> NoReturn:
    raise InputError(
        "times to an event reached a computation that is written for outcomes that are known. Fit, "
        "compare or assess them without it."
    )
