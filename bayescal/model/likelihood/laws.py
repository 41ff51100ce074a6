"""The registry of likelihoods, from which a saved posterior reads its own back."""

from __future__ import annotations

from typing import Any

from bayescal.core.errors import check_choice
from bayescal.model.likelihood.binomial import Binomial
from bayescal.model.likelihood.law import Likelihood
from bayescal.model.likelihood.times.law import TimeToEvent

__all__ = ["LIKELIHOODS", "stored_likelihood"]

LIKELIHOODS: dict[str, type[Likelihood]] = {law.name: law for law in (Binomial, TimeToEvent)}
"""The laws by name."""


def stored_likelihood(described: dict[str, Any]) -> Likelihood:
    """The likelihood that a stored posterior describes."""
    name = check_choice(described["name"], LIKELIHOODS, "the likelihood of the tree")
    return LIKELIHOODS[name].from_dict(described)
