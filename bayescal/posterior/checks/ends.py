"""Whether many scores are so near to 0 and 1 that the largest errors there are less sure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescal.model.problem import Problem
from bayescal.posterior.functionals import FUNCTIONALS

__all__ = ["NEAR_ENDS", "cautions_at_ends"]

NEAR_ENDS = 1e-3
FEWEST_CASES, LEAST_SHARE = 20, 0.02
"""From so many cases on, and this share of them, with scores that near to 0 or 1 one is told."""


def cautions_at_ends(tables: Sequence[Problem]) -> dict[str, str]:
    """Distances whose intervals are less sure on these scores, and why, as a clause.

    It depends on the scores alone: nearer than .001 to 0 or 1 are at least 20 cases, and at least
    2 % of all. In simulations such intervals of E90 and Emax were at times too narrow, more often
    the more cases there were.

    Parameters
    ----------
    tables : sequence of Problem
        One, or one for each imputation.

    Returns
    -------
    dict of str to str
        Empty where there is nothing to say.
    """
    for problem in tables:
        data = problem.data
        near = np.minimum(data.score, 1 - data.score) < NEAR_ENDS
        cases = float(data.trials[near].sum()) * data.weight_scale
        share = float(data.trials[near].sum() / data.n)
        if cases >= FEWEST_CASES and share >= LEAST_SHARE:
            why = f"{100 * share:.0f} % of scores are near 0 or 1: its interval may be too narrow"
            return {name: why for name, each in FUNCTIONALS.items() if each.is_of_ends}
    return {}
