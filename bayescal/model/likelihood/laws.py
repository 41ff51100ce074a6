"""The registry of likelihoods, from which a saved posterior reads its own back."""

from __future__ import annotations

from typing import Any

from bayescal.data.judged import Judged
from bayescal.data.validate import check_choice
from bayescal.model.likelihood.binomial import BINOMIAL, Binomial
from bayescal.model.likelihood.judged import JudgedOutcomes
from bayescal.model.likelihood.law import Likelihood
from bayescal.model.likelihood.times.law import TimeToEvent

__all__ = ["LIKELIHOODS", "law_of", "stored_likelihood"]

LIKELIHOODS: dict[str, type[Likelihood]] = {
    law.name: law for law in (Binomial, JudgedOutcomes, TimeToEvent)
}
"""The laws by name."""


def law_of(judge: Judged | None) -> Likelihood:
    """The law of outcomes that a judge recorded, or of outcomes that are known."""
    return BINOMIAL if judge is None else JudgedOutcomes(judge)


def stored_likelihood(described: dict[str, Any]) -> Likelihood:
    """The likelihood that a stored posterior describes."""
    name = check_choice(described["name"], LIKELIHOODS, "the likelihood of the tree")
    return LIKELIHOODS[name].from_dict(described)
