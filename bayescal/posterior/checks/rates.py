"""What the data say of the floor and the ceiling of a curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.model.lapse.bounds import RATES
from bayescal.model.lapse.family import RATE_PRIORS
from bayescal.model.prior import Prior
from bayescal.posterior.intervals import equal_tailed

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["rates_table"]

MOST_OF_THE_PRIOR = 0.5
"""A rate whose interval is longer than this share of its prior's is not said to be known."""
FEWEST_BOUNDED = 0.5
"""Least share of the draws with a floor and a ceiling."""
PRIOR_DRAWS = 20_000


def rates_table(draws: Mapping[str, Floats], prior: Prior, ci_prob: float) -> pd.DataFrame:
    """The floor and the ceiling of the curve, those whose posterior has left the prior.

    On most clinical scores the data do not tell a floor from a flatter slope, and the posterior of
    the rates is nearly their prior.

    Parameters
    ----------
    draws : mapping of str to ndarray of shape (draws,)
        Coordinates by name; those of an average are zero where a draw is of a family without
        floor and ceiling.
    prior : Prior
        Of the curve.
    ci_prob : float in (0, 1)
        Of the intervals, also of those whose lengths are compared.
    """
    import pandas as pd

    rows: dict[str, tuple[float, ...]] = {}
    bounded = np.any([draws[name] > 0 for name in RATES if name in draws], axis=0)
    levels = (1 - ci_prob) / 2, (1 + ci_prob) / 2
    even, prior = np.random.default_rng(0), prior.with_others(RATE_PRIORS)
    for name, title in zip(RATES, ("floor", "ceiling"), strict=True):
        if name not in draws or bounded.mean() < FEWEST_BOUNDED:
            continue
        before, rate = prior.of(name).sample(even, PRIOR_DRAWS), draws[name][bounded]
        short = np.ptp(np.quantile(rate, levels))
        if short <= MOST_OF_THE_PRIOR * np.ptp(np.quantile(before, levels)):
            risk = rate if title == "floor" else 1 - rate
            rows[title] = (float(risk.mean()), *equal_tailed(risk, ci_prob))
    columns = ["estimate", "lower", "upper"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns, dtype=np.float64)
