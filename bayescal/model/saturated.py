"""The saturated family: one risk for each of a few distinct scores, its law, and draws.

A risk is exactly the score with some probability, and else has a Beta law near the score. The
events at a score are then binomial, or beta-binomial. Both the probability and the scale of the
law are summed out over a few values. Scores of 0 and 1 need no other rule. Arrays only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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


@dataclass(frozen=True)
class RiskSums:
    """Evidence of independent risks that are not all the scores, and what draws of them need."""

    score: Floats  # (rows,): in [0, 1]; those nearer than 1e-12 to 0 or 1 are at that distance
    trials: Floats  # (rows,): cases and events; need not be whole numbers. All zero for the prior
    hits: Floats  # (rows,)
    prior: RiskPrior

    @cached_property
    def _shapes(self) -> tuple[Floats, Floats]:
        _, scale, relative = self.prior.settings
        return shapes_of(self.score, scale, relative)

    @cached_property
    def log_on(self) -> Floats:
        """Log likelihood of the single outcomes where a risk is the score, of shape (rows,)."""
        at, others = clipped(self.score), self.trials - self.hits
        return np.asarray(self.hits * np.log(at) + others * np.log1p(-at))

    @cached_property
    def log_off(self) -> Floats:
        """The same where it has its Beta law, of shape (settings, rows)."""
        a, b = self._shapes
        return np.asarray(betaln(a + self.hits, b + self.trials - self.hits) - betaln(a, b))

    @cached_property
    def _log_total(self) -> Floats:
        """Of either, of shape (settings, rows)."""
        return np.asarray(np.logaddexp(self._log_joint_on, self._log_off_share + self.log_off))

    @cached_property
    def _log_joint_on(self) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.prior.settings[0])[:, None] + self.log_on)

    @property
    def _log_off_share(self) -> Floats:
        return np.asarray(np.log1p(-self.prior.settings[0])[:, None])

    @cached_property
    def prob_on(self) -> Floats:
        """Probability that each risk is the score, of shape (settings, rows)."""
        return np.exp(self._log_joint_on - self._log_total)

    @cached_property
    def by_setting(self) -> Floats:
        """Log evidence at each setting, given that not all risks are the scores."""
        all_on = (self._log_joint_on - self._log_total).sum(axis=1)
        with np.errstate(divide="ignore"):
            all_on_before = self.score.size * np.log(self.prior.settings[0])
        given = np.log(-np.expm1(all_on)) - np.log(-np.expm1(all_on_before))
        return np.asarray(self._log_total.sum(axis=1) + given)

    @property
    def log_evidence(self) -> float:
        """Log likelihood of the single outcomes, given that not all risks are the scores."""
        return float(np.logaddexp.reduce(self.by_setting) - np.log(self.by_setting.size))

    @property
    def probability(self) -> Floats:
        """Posterior probability of each setting, of shape (settings,)."""
        weight = np.exp(self.by_setting - self.by_setting.max())
        return np.asarray(weight / weight.sum())

    def draw(self, draws: int, rng: np.random.Generator) -> Floats:
        """Independent draws of the errors, risk minus score, exactly zero where they are equal.

        Returns (draws, rows).
        """
        setting = resample(self.probability, draws, rng)
        a, b = self._shapes
        risk = rng.beta(
            a[setting] + self.hits, b[setting] + np.maximum(self.trials - self.hits, 0.0)
        )
        error = clipped(risk) - clipped(self.score)
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
