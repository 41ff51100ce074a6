"""How often a judge is right who recorded the outcomes: a second reader, a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import betaincinv

from bayescal._base.errors import InputError
from bayescal._base.text import count, shortened

__all__ = ["Judged", "as_judged"]

JEFFREYS_COUNT = 0.5
"""Jeffreys' prior of a share: half a case with and half a case without."""
WORSE_THAN_CHANCE = 0.01
"""Probability of a judge no better than chance from which outcomes are refused."""
EVEN_SHARES = (np.arange(64) + 0.5) / 64


@dataclass(frozen=True)
class Judged:
    """Outcomes as a judge recorded them, whose errors were counted on cases of known truth.

    A role of a table, `CalibrationData(y_true, y_prob, judged=...)`, and an argument of
    `bayescal.fit` and others. A fit estimates the curve of the true outcomes:

    hits ~ Binomial(trials, 1 - specificity + (sensitivity + specificity - 1) g(score))

    Sensitivity and specificity are fitted with the curve. Each has a Beta prior: Jeffreys' prior
    (half a case right, half a case wrong) and the counts.

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
    def beta_counts(self) -> dict[str, tuple[float, float]]:
        """Parameters of the Beta priors of sensitivity and specificity."""
        each = {"sensitivity": self.sensitivity, "specificity": self.specificity}
        return {
            name: (right + JEFFREYS_COUNT, judged - right + JEFFREYS_COUNT)
            for name, (right, judged) in each.items()
        }

    @cached_property
    def prob_no_better_than_chance(self) -> float:
        """Probability that sensitivity + specificity is at most 1, before any outcome is seen."""
        first, second = (betaincinv(*counts, EVEN_SHARES) for counts in self.beta_counts.values())
        return float((first[:, None] + second <= 1).mean())

    def to_dict(self) -> dict[str, Any]:
        """The counts, as `from_dict` reads them."""
        return {"sensitivity": list(self.sensitivity), "specificity": list(self.specificity)}

    @classmethod
    def from_dict(cls, described: Mapping[str, Any]) -> Judged:
        """Read back what `to_dict` wrote."""
        return cls(tuple(described["sensitivity"]), tuple(described["specificity"]))

    def described(self) -> str:
        """The judge in words."""
        right, events = self.sensitivity
        also, others = self.specificity
        return (
            f"a judge right on {count(right)} of {count(events, 'event')} and {count(also)} of "
            f"{count(others, 'non-event')}"
        )


def as_judged(judged: Any, name: str = "judged") -> Judged | None:
    """The judge who recorded the outcomes, or None of outcomes that are known."""
    if judged is None or isinstance(judged, Judged):
        return judged
    raise InputError(
        f"{name} must be a bc.Judged, got {shortened(repr(judged))}. Pass "
        "bc.Judged(sensitivity=(right, judged), specificity=(right, judged))."
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
