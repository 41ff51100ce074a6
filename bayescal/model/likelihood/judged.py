"""Outcomes that a judge recorded who is not always right: a second reader, a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, ndtri

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.data.data import CalibrationData
from bayescal.model.curve import expit_in_place
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.law import Likelihood
from bayescal.model.share import Beta

__all__ = ["Judged", "as_likelihood", "refuse_judged"]

JEFFREYS_COUNT = 0.5
"""Jeffreys' prior of a share: half a case with and half a case without."""
WORSE_THAN_CHANCE = 0.01
"""Probability of a judge no better than chance from which outcomes are refused."""
JUDGE_GRID = ndtri((np.arange(64) + 0.5) / 64)


@dataclass(frozen=True)
class Judged(Likelihood):
    """Outcomes as a judge recorded them, whose errors were counted on cases of known truth.

    hits ~ Binomial(trials, 1 - specificity + (sensitivity + specificity - 1) g(score)): g is the
    curve of the true outcomes. Sensitivity and specificity are fitted with the curve. Each has a
    Beta prior: Jeffreys' prior (half a case right, half a case wrong) and the counts.

    Parameters
    ----------
    sensitivity : tuple of (right, judged)
        Of cases that truly had the event: how many the judge recorded as events, of how many.
    specificity : tuple of (right, judged)
        Of cases that truly had none: how many the judge recorded as without, of how many.

    Raises
    ------
    InputError
        If these are not such counts (a share alone does not say how well it is known), or the judge
        may be no better than chance: sensitivity + specificity is at most 1 with a probability
        above 0.01.

    Notes
    -----
    The judge's errors must depend on the true outcome alone, not on the score, and the cases with
    known truth must be like those that were judged. If the truth of a sample of the judged cases
    themselves was checked, leave those cases out of the fit and count them here.

    References
    ----------
    Rogan & Gladen (1978), Estimating prevalence from the results of a screening test, American
    Journal of Epidemiology 107. McInturff et al. (2004), Modelling risk when binary outcomes are
    subject to error, Statistics in Medicine 23.

    Examples
    --------
    >>> import bayescal as bc
    >>> judge = bc.Judged(sensitivity=(90, 100), specificity=(95, 100))
    >>> judge.described()
    'a judge right on 90 of 100 events and 95 of 100 non-events'
    """

    sensitivity: tuple[float, float]
    specificity: tuple[float, float]

    name: ClassVar[str] = "judged"

    def __post_init__(self) -> None:
        for name in ("sensitivity", "specificity"):
            object.__setattr__(self, name, _as_counts(getattr(self, name), name))
        chance = self.prob_no_better_than_chance
        if chance > WORSE_THAN_CHANCE:
            raise InputError(
                f"with {self.described()}, sensitivity + specificity is at most 1 with probability "
                f"{chance:.2g}: such a judge may be no better than chance, and says nothing of the "
                "truth. Validate the judge on more cases, or take another."
            )

    @property
    def priors(self) -> tuple[tuple[str, Beta], ...]:
        """Of sensitivity and specificity."""
        return tuple(
            (name, Beta(right + JEFFREYS_COUNT, judged - right + JEFFREYS_COUNT))
            for name, (right, judged) in (
                ("sensitivity", self.sensitivity),
                ("specificity", self.specificity),
            )
        )

    @cached_property
    def prob_no_better_than_chance(self) -> float:
        """Probability that sensitivity + specificity is at most 1, before any outcome is seen."""
        (_, first), (_, second) = self.priors
        return float(
            (first.from_normal(JUDGE_GRID)[:, None] + second.from_normal(JUDGE_GRID) <= 1).mean()
        )

    def log_density(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> Floats:
        """As `Likelihood.log_density`."""
        sensitivity, specificity = nuisance[:, :1], nuisance[:, 1:]
        better = sensitivity + specificity - 1
        recorded = expit_in_place(log_odds)
        recorded *= better
        other = better - recorded
        recorded += 1 - specificity
        other += 1 - sensitivity
        for cases, chance in ((hits, recorded), (trials - hits, other)):
            some = cases > 0
            np.log(chance, out=chance, where=some)
            chance *= cases
        recorded += other
        return recorded

    def derivatives(
        self, log_odds: Floats, trials: Floats, hits: Floats, nuisance: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """As `Likelihood.derivatives`."""
        sensitivity, specificity = nuisance
        better = sensitivity + specificity - 1
        curve, rest = expit(log_odds), expit(-log_odds)
        rise = curve * rest
        recorded, other = 1 - specificity + better * curve, 1 - sensitivity + better * rest
        misses = trials - hits
        slope = hits / recorded - misses / other
        bend = -hits / recorded**2 - misses / other**2
        by = np.stack([better * rise, curve, -rest])
        hessian = bend * by[:, None] * by
        hessian[0, 0] += slope * better * rise * (rest - curve)
        hessian[0, 1:] += slope * rise
        hessian[1:, 0] += slope * rise
        value = hits * np.log(recorded) + misses * np.log(other)
        return value, slope * by, hessian

    def information(self, log_odds: Floats, trials: Floats, hits: Floats, at: Floats) -> Floats:
        """As `Likelihood.information`, expected."""
        sensitivity, specificity = at
        curve, rest = expit(log_odds), expit(-log_odds)
        better = sensitivity + specificity - 1
        recorded, other = 1 - specificity + better * curve, 1 - sensitivity + better * rest
        return np.asarray(trials * (better * curve * rest) ** 2 / (recorded * other))

    def draw(
        self, generator: np.random.Generator, trials: Any, probability: Floats, nuisance: Floats
    ) -> Any:
        """As `Likelihood.draw`."""
        return generator.binomial(trials, self.recorded(probability, nuisance))

    def recorded(self, probability: Floats, nuisance: Floats) -> Floats:
        """As `Likelihood.recorded`."""
        sensitivity, specificity = nuisance[:, :1], nuisance[:, 1:]
        return np.clip(1 - specificity + (sensitivity + specificity - 1) * probability, 0, 1)

    def pymc_log_density(self, hits: Any, trials: Any, log_odds: Any, *nuisance: Any) -> Any:
        """As `Likelihood.pymc_log_density`."""
        import pytensor.tensor as pt

        sensitivity, specificity = nuisance
        better = sensitivity + specificity - 1
        recorded = 1 - specificity + better * pt.sigmoid(log_odds)
        other = 1 - sensitivity + better * pt.sigmoid(-log_odds)
        return hits * pt.log(recorded) + (trials - hits) * pt.log(other)

    def to_dict(self) -> dict[str, Any]:
        """As `Likelihood.to_dict`."""
        counts = {"sensitivity": list(self.sensitivity), "specificity": list(self.specificity)}
        return {"name": self.name} | counts

    @classmethod
    def from_dict(cls, described: dict[str, Any]) -> Judged:
        """As `Likelihood.from_dict`."""
        return cls(tuple(described["sensitivity"]), tuple(described["specificity"]))

    def described(self) -> str:
        """As `Likelihood.described`."""
        right, events = self.sensitivity
        also, others = self.specificity
        return (
            f"a judge right on {right:g} of {events:g} events and {also:g} of {others:g} non-events"
        )


def as_likelihood(judged: Any) -> Likelihood:
    """The likelihood of outcomes that a judge recorded, or of outcomes that are known."""
    if judged is None:
        return BINOMIAL
    if isinstance(judged, Likelihood):
        return judged
    raise InputError(
        f"judged must be a bc.Judged, got {shortened(repr(judged))}. Pass "
        "bc.Judged(sensitivity=(right, judged), specificity=(right, judged))."
    )


def refuse_judged(judged: Any, data: CalibrationData, **beside: Any) -> None:
    """Refuse judged outcomes of cases with roles, which are fitted to outcomes that are known."""
    given = [*data.roles, *(name for name, value in beside.items() if value is not None)]
    given += ["times to an event"] * (data.follow_up is not None)
    if judged is not None and given:
        raise InputError(
            f"judged was given beside {given[0]}, which is fitted to outcomes that are known. "
            "Leave out one of the two."
        )


def _as_counts(value: Any, name: str) -> tuple[float, float]:
    """Counts of right judgements and of all."""
    example = f"such as {name}=(90, 100): right on 90 of 100 cases whose truth is known"
    if isinstance(value, (int, float, np.number)):
        raise InputError(
            f"{name} is {shortened(repr(value))}: a number alone does not say how well it is "
            f"known. Pass two counts, {example}. Of a share known exactly pass counts in the "
            "millions."
        )
    pair = isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2
    numbers = pair and all(
        isinstance(each, (int, float, np.number)) and not isinstance(each, bool) for each in value
    )
    if not numbers:
        raise InputError(f"{name} must be two counts, {example}; got {shortened(repr(value))}.")
    right, judged = float(value[0]), float(value[1])
    if not 0 <= right <= judged < 1e8 or judged < 1:
        raise InputError(
            f"{name} is {shortened(repr(value))}, but right judgements are between 0 and all, and "
            f"all are at least 1 and below 1e8: pass them {example}."
        )
    return right, judged
