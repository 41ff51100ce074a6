"""What the data say of the floor and the ceiling of a curve."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.model.lapse.bounds import RATES
from bayescal.model.prior import Prior

__all__ = ["learnt_rates"]

MOST_OF_THE_PRIOR = 0.5
"""A rate whose interval is longer than this share of its prior's is not said to be known."""
FEWEST_BOUNDED = 0.5
"""Least share of the draws with a floor and a ceiling."""
PRIOR_DRAWS = 20_000


def learnt_rates(draws: Mapping[str, Floats], prior: Prior, ci_prob: float) -> dict[str, Floats]:
    """Draws of the rates whose posterior has left the prior.

    On most clinical scores the data do not tell a floor from a flatter slope, and the posterior of
    the rates is nearly their prior.

    Parameters
    ----------
    draws : mapping of str to ndarray of shape (draws,)
        Coordinates by name; those of an average are zero where a draw is of a family without
        floor and ceiling.
    prior : Prior
        Of the rates.
    ci_prob : float in (0, 1)
        Of the intervals whose lengths are compared.

    Returns
    -------
    dict of str to ndarray
        "floor" and "ceiling", those that are known: the draws with a floor and a ceiling.
    """
    if not set(RATES) <= set(draws):
        return {}
    bounded = np.any([draws[name] > 0 for name in RATES], axis=0)
    if bounded.mean() < FEWEST_BOUNDED:
        return {}
    levels = (1 - ci_prob) / 2, (1 + ci_prob) / 2
    even = np.random.default_rng(0)
    known = {}
    for name, title in zip(RATES, ("floor", "ceiling"), strict=True):
        before = prior.of(name).sample(even, PRIOR_DRAWS)
        short = np.ptp(np.quantile(draws[name][bounded], levels))
        if short <= MOST_OF_THE_PRIOR * np.ptp(np.quantile(before, levels)):
            rate = draws[name][bounded]
            known[title] = rate if title == "floor" else 1 - rate
    return known
