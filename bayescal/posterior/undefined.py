"""Measures that the scores do not define, and why."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescal.core.errors import InputError
from bayescal.data.table import CalibrationData
from bayescal.model.problem import Problem
from bayescal.posterior.functionals import FUNCTIONALS

__all__ = ["MOST_AT_ENDS", "NOT_DEFINED", "refuse_infinite", "share_at_ends", "undefined_measures"]


# In the place of a number.
NOT_DEFINED = "not defined"

# Scores of 32 bits so near to 1 show that those of 1 may have been rounded: steps are 6e-8.
NEAREST_IN_32_BITS = 1e-5
# Share of the cases with a score of exactly 0 or 1 from which on no line in log-odds is shown.
#
# Their log-odds are infinite, so that the line depends on the values that they are read as. In
# 5000 cases of which a third of the scores of 1 are wrong, values of 1 - .02 to 1 - 1e-6 give
# slopes from .99 to .85 where this share is 0.5 %, but from .55 to .08 where it is 10 %.
MOST_AT_ENDS = 0.005


def undefined_measures(tables: Sequence[Problem]) -> dict[str, str]:
    """Functionals that these scores do not define, and why, such as "17 % of scores are 1".

    Where scores of 0 and 1 are read as they are, because there are few, one of them is enough.
    """
    lines = [name for name, each in FUNCTIONALS.items() if each.needs_line]
    if any(np.unique(table.score).size < 2 for table in tables):
        return dict.fromkeys(lines, "all scores are equal")
    most = max((table.data for table in tables), key=share_at_ends)
    as_they_are = any(table.frame.scores for table in tables) and share_at_ends(most) > 0
    if share_at_ends(most) < MOST_AT_ENDS and not as_they_are:
        return {}
    ends = [f"{end:g}" for end in (0, 1) if (most.score == end).any()]
    share = 100 * share_at_ends(most)
    shown = f"{share:.0f}" if share >= 10 else f"{share:.2g}"
    told = f"{shown} % of scores are {' or '.join(ends)}"
    inner = most.score[(most.score > 0) & (most.score < 1)]
    if most.is_single and inner.size and 1 - inner.max() < NEAREST_IN_32_BITS:
        told += ", to which 32 bits round: pass scores of 64 bits"
    return dict.fromkeys(lines, told)


def refuse_infinite(name: str, data: CalibrationData) -> None:
    """Refuse a functional that is infinite on these scores.

    `name`: a name in the registry.
    """
    if FUNCTIONALS[name].needs_inside and share_at_ends(data) > 0:
        raise InputError(
            f"{name} is infinite: {100 * share_at_ends(data):.2g} % of scores are exactly 0 or 1, "
            "where the risk is not. Fit scores that are moved inside, such as to [0.001, 0.999]."
        )


def share_at_ends(data: CalibrationData) -> float:
    """Share of the cases with a score of exactly 0 or 1."""
    at_end = (data.score == 0) | (data.score == 1)
    return float(data.trials[at_end].sum() / data.n)
