"""The saturated family: one risk for each of a few distinct scores, its law, and draws.

A risk is exactly the score with some probability, and else has a Beta law near the score. The
events at a score are then binomial, or beta-binomial. Both the probability and the scale of the
law are summed out over a few values. Scores of 0 and 1 need no other rule. Arrays only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from bayescal.core.arrays import Floats
from bayescal.core.optimise import clipped
from bayescal.core.sampling import resample
from bayescal.model.curve import Curve, Frame
from bayescal.model.families import IDENTITY

# Events, and non-events, that the law adds to those at the score: a score of 0 has a law too.
PSEUDO_CASE = 0.5
# Of a score, as a share of that of one half: where scores are nearer to 0 or 1 it counts.
LEAST_RELATIVE_VARIANCE = 0.04


@dataclass(frozen=True)
class RiskPrior:
    """How often a risk is exactly the score, and how near it is else; values are equally probable.

    `on`: probabilities that a risk is its score. `scale`: standard deviations of a risk at a score
    of one half, in log-odds. `relative`: at other scores, 0 if the law counts as many cases there,
    so that it is as wide in probability times the root of s (1 - s); 1 if it is as wide in
    log-odds.
    """

    on: tuple[float, ...] = (0.0, 0.2, 0.5, 0.8)
    scale: tuple[float, ...] = (0.1, 0.2, 0.4, 0.8, 1.6)
    relative: tuple[float, ...] = (0.0, 1.0)

    @property
    def settings(self) -> Floats:
        """All combinations of the three, of shape (3, settings)."""
        grid = np.meshgrid(self.on, self.scale, self.relative, indexing="ij")
        return np.stack([each.ravel() for each in grid])


def shapes_of(score: Floats, scale: Floats, relative: Floats) -> tuple[Floats, Floats]:
    """Both parameters of the Beta law of a risk, each of shape (settings, rows).

    `score` (rows,): in [0, 1]; `scale`, `relative` (settings,): as in `RiskPrior`; returns `a, b`
    (settings, rows).
    """
    variance = np.maximum(4 * score * (1 - score), LEAST_RELATIVE_VARIANCE)
    cases = 4 / scale[:, None] ** 2 / variance ** relative[:, None]
    return PSEUDO_CASE + cases * score, PSEUDO_CASE + cases * (1 - score)


class RiskSums:
    """Evidence of independent risks that are not all the scores, and draws of them.

    `score` (rows,) in [0, 1] are read as at least 1e-12 from either end; `trials`, `hits` (rows,)
    need not be whole numbers, and are all zero for the prior.

    Attributes
    ----------
    log_evidence : float
        Log likelihood of the single outcomes, given that not all risks are the scores.
    log_off : ndarray of shape (settings, rows)
        The same of each score where its risk has the Beta law.
    prob_on : ndarray of shape (settings, rows)
        Probability that each risk is the score.
    probability : ndarray of shape (settings,)
        Posterior probability of each setting.
    """

    def __init__(self, score: Floats, trials: Floats, hits: Floats, prior: RiskPrior) -> None:
        on, scale, relative = prior.settings
        (a, b), others, inside = shapes_of(score, scale, relative), trials - hits, clipped(score)
        self._inside, self._shapes = inside, (a + hits, b + np.maximum(others, 0.0))
        self.log_off = np.asarray(betaln(a + hits, b + trials - hits) - betaln(a, b))
        with np.errstate(divide="ignore"):
            log_on = np.log(on)[:, None] + (hits * np.log(inside) + others * np.log1p(-inside))
            all_on_before = score.size * np.log(on)
        either = np.logaddexp(log_on, np.log1p(-on)[:, None] + self.log_off)
        self.prob_on = np.exp(log_on - either)
        all_on = (log_on - either).sum(axis=1)
        given = np.log(-np.expm1(all_on)) - np.log(-np.expm1(all_on_before))
        by_setting = either.sum(axis=1) + given
        self.log_evidence = float(np.logaddexp.reduce(by_setting) - np.log(by_setting.size))
        weight = np.exp(by_setting - by_setting.max())
        self.probability = weight / weight.sum()

    def draw(self, draws: int, rng: np.random.Generator) -> Floats:
        """Independent draws of the errors, risk minus score, exactly zero where they are equal.

        Returns (draws, rows).
        """
        setting = resample(self.probability, draws, rng)
        error = clipped(rng.beta(*(shape[setting] for shape in self._shapes))) - self._inside
        error[self._draw_on(setting, rng)] = 0
        return error

    def _draw_on(self, setting: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.bool_]:
        """Which risks are the score, never all: the first that is not, then those after it."""
        prob = self.prob_on[setting]
        before = np.cumprod(prob, axis=1)
        first = 1 - before  # probability that the first that is off is among the rows up to here
        at = (rng.random(len(prob))[:, None] * first[:, -1:] < first).argmax(axis=1)[:, None]
        row = np.arange(prob.shape[1])
        later = (row > at) & (rng.random(prob.shape) < prob)
        return np.asarray((row < at) | later)


# Most distinct scores that have a risk of their own each.
MOST_SCORES = 20
UNLIKE_IMPUTATIONS = (
    f"Of at most {MOST_SCORES} distinct scores an average has families of its own. Where only some "
    "imputations have so few, fit one family, such as bc.fit(..., curve='beta')."
)
# Least cases a score, on average, from which on an average over families has such risks.
CASES_A_SCORE = 3

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


def _derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    """The risks themselves."""
    errors = [u[f"error_{k}"] for k in range(1, len(frame.scores) + 1)]
    risk = np.stack(errors, axis=-1) + np.array(frame.scores)
    return {"risk": (("chain", "draw", "error_dim_0"), np.clip(risk, 0, 1))}


SATURATED = Curve(
    name="saturated",
    formula="the log-odds of s + error, one error for each distinct score",
    coordinates=(),
    basis=IDENTITY.basis,
    combination=(),
    positive=(),
    derived=_derived,
    per_score=True,
    meaning="a risk of its own at each of a few distinct scores, some of them exactly right",
    update="give each score a risk of its own",
)
