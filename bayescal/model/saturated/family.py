"""The saturated family: one risk for each distinct score, where there are few of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.model.curve import Curve, Frame
from bayescal.model.saturated.law import RiskPrior, RiskSums

__all__ = [
    "ANY_RISKS",
    "CASES_A_SCORE",
    "MOST_SCORES",
    "SATURATED",
    "SOME_RISKS_EXACT",
    "are_few",
    "prior_errors",
]

MOST_SCORES = 20
"""Most distinct scores that have a risk of their own each."""
CASES_A_SCORE = 3
"""Least cases a score, on average, from which on an average over families has such risks."""

ANY_RISKS = RiskPrior()
# In an average these stand beside `pieces`, with half of its weight. In its place altogether, they
# covered the curve of a point score that jumps in .79 of 40 data sets of 1000 patients, not in .94:
# above a jump all points err together, which stretches describe better.
SOME_RISKS_EXACT = RiskPrior(on=(0.2, 0.5, 0.8))


def are_few(scores: int, cases: float) -> bool:
    """Whether so many cases have few distinct scores: at most 20, with three cases each or more."""
    return scores <= MOST_SCORES and cases >= CASES_A_SCORE * scores


def prior_errors(
    frame: Frame, rng: np.random.Generator, size: int, prior: RiskPrior = ANY_RISKS
) -> Floats:
    """Draws of the errors at the scores of a frame from their prior, of shape (size, scores)."""
    score = np.array(frame.scores)
    return RiskSums(score, np.zeros(score.size), np.zeros(score.size), prior).draw(size, rng)


def _basis(score: Floats, frame: Frame) -> tuple[Floats, Floats]:
    return logit(score), np.empty((score.size, 0))


def _derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    """The risks themselves."""
    errors = [u[f"error_{k}"] for k in range(1, len(frame.scores) + 1)]
    risk = np.stack(errors, axis=-1) + np.array(frame.scores)
    return {"risk": (("chain", "draw", "error_dim_0"), np.clip(risk, 0, 1))}


SATURATED = Curve(
    name="saturated",
    formula="the log-odds of s + error, one error for each distinct score",
    coordinates=(),
    basis=_basis,
    combination=(),
    positive=(),
    derived=_derived,
    per_score=True,
    meaning="a risk of its own at each of a few distinct scores, some of them exactly right",
    update="give each score a risk of its own",
)
