"""Widths of intervals of many studies at once, by the normal approximation of the posterior.

The curve's coordinates are normal round the posterior mode, and the scores of the population are
those of the Bayesian bootstrap, both to first order. It is exact as studies grow, and costs
thousandths of a fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.optimise import clipped
from bayescal.gain.refit import Refit
from bayescal.model.curve import Curve, Frame
from bayescal.model.priors import Prior
from bayescal.planning.setting import Setting

__all__ = ["LINEAR", "NormalPosterior", "logistic_slope_error"]

# Functionals that are nearly linear in the curve, so that this approximation serves.
LINEAR = {
    "observed_expected",
    "calibration_in_the_large",
    "calibration_intercept",
    "calibration_slope",
    "signed_error",
}
MODE_STEPS = 50
MODE_CONVERGED = 1e-6
LEAST_VARIANCE = 1e-12
SEPARATED = 1e-3


@dataclass(frozen=True)
class NormalPosterior:
    """Posteriors of a curve in many studies, each normal round its mode.

    `score`, `trials` and the `curve` at the mode have shape (studies, rows); `slopes`, the
    derivatives of its log-odds by the coordinates, (studies, rows, d); `covariance` (studies, d,
    d).
    """

    score: Floats
    trials: Floats
    curve: Floats
    slopes: Floats
    covariance: Floats

    @classmethod
    def of(
        cls, setting: Setting, trials: Floats, hits: Floats, family: Curve, prior: Prior
    ) -> NormalPosterior:
        """Those of a family, from the mode of every study.

        Shapes: `trials`, `hits` (studies, rows).
        """
        score = clipped(setting.score)
        frames = [Frame(prior.centre_for(own, setting.weight)) for own in logit(score)]
        terms = [family.basis(*each) for each in zip(score, frames, strict=True)]
        offset, basis = (np.stack(each) for each in zip(*terms, strict=True))
        refit = Refit(family, prior, offset, basis, np.zeros(family.size))
        u = refit.modes(trials, hits)
        covariance = np.asarray(np.linalg.inv(refit.information(u, trials, hits)))
        return cls(score, trials, refit.curves(u), refit.slopes(u), covariance)

    def widths(self, name: str, half: float) -> Floats:
        """Widths of the intervals of a functional in `LINEAR`, of shape (studies,)."""
        total = self.trials.sum(axis=1, keepdims=True)
        weight, score = self.trials / total, np.broadcast_to(self.score, self.curve.shape)
        each = weight * self.curve * (1 - self.curve)
        if name in ("observed_expected", "signed_error"):
            expected = np.vecdot(weight, score)
            ratio = np.vecdot(weight, self.curve) / expected
            share = ratio if name == "observed_expected" else np.ones_like(ratio)
            by_curve = np.einsum("sk,skd->sd", each, self.slopes)
            by_case = self.curve - share[:, None] * score
            variance = self._variance(by_curve, weight, by_case, total[:, 0])
            if name == "signed_error":
                return 2 * half * np.sqrt(variance)
            error = np.sqrt(variance) / (expected * ratio)
            return np.asarray(2 * ratio * np.sinh(np.minimum(half * error, 700)))
        x = np.broadcast_to(logit(self.score), score.shape)
        with_slope = name != "calibration_in_the_large"
        line = _line(weight, x, weight * self.curve, with_slope=with_slope)
        lead = _lead(name, weight * line * (1 - line), x)
        by_curve = np.einsum("sk,skd->sd", each * lead, self.slopes)
        by_case = lead * (self.curve - line)
        return 2 * half * np.sqrt(self._variance(by_curve, weight, by_case, total[:, 0]))

    def _variance(self, by_curve: Floats, weight: Floats, by_case: Floats, total: Floats) -> Floats:
        """Variance by the curve, and by which patients there are."""
        of_curve = np.einsum("si,sij,sj->s", by_curve, self.covariance, by_curve)
        mean = np.vecdot(weight, by_case)
        spread = np.vecdot(weight, (by_case - mean[:, None]) ** 2)
        return np.asarray(of_curve + spread / (total + 1))


def logistic_slope_error(score: Floats, trials: Floats, hits: Floats) -> Floats:
    """Standard error of the slope of a logistic regression in each study, of shape (studies,).

    Infinite where the estimate does not exist.
    """
    x = np.broadcast_to(logit(clipped(score)), trials.shape)
    total = trials.sum(axis=1, keepdims=True)
    line = _line(trials / total, x, hits / total, with_slope=True)
    each = trials * line * (1 - line)
    mean = np.vecdot(each, x) / np.maximum(each.sum(axis=1), LEAST_VARIANCE)
    information = np.vecdot(each, (x - mean[:, None]) ** 2)
    events = hits.sum(axis=1)
    solved = (events > 0) & (events < total[:, 0]) & (information > SEPARATED)
    return np.where(solved, 1 / np.sqrt(np.maximum(information, SEPARATED)), np.inf)


def _line(weight: Floats, x: Floats, events: Floats, *, with_slope: bool) -> Floats:
    """Probabilities of the line in log-odds, or of slope 1, with the same sums of events.

    Shapes: `weight`, `x`, `events` (studies, rows).
    """
    mean = np.vecdot(weight, x)[:, None]
    spread = np.sqrt(np.vecdot(weight, (x - mean) ** 2))[:, None]
    z = (x - mean) / np.maximum(spread, LEAST_VARIANCE)
    first = events.sum(axis=1)
    second = np.vecdot(events, z)
    # From a line without slope Newton steps do not overshoot far.
    a = logit(clipped(first)) if with_slope else np.zeros(len(x))
    b = np.zeros(len(x))
    line = expit(a[:, None] + b[:, None] * z) if with_slope else expit(x)
    for _ in range(MODE_STEPS):
        each = weight * line * (1 - line)
        miss = first - np.vecdot(weight, line)
        mass = np.maximum(each.sum(axis=1), LEAST_VARIANCE)
        if with_slope:
            of_z, of_square = np.vecdot(each, z), np.vecdot(each, z * z)
            miss_z = second - np.vecdot(weight * line, z)
            area = np.maximum(of_square * mass - of_z**2, LEAST_VARIANCE)
            step = np.clip((mass * miss_z - of_z * miss) / area, -1, 1)
            up = np.clip((of_square * miss - of_z * miss_z) / area, -1, 1)
        else:
            step, up = np.zeros(len(x)), np.clip(miss / mass, -1, 1)
        a, b = a + up, b + step
        line = expit(a[:, None] + (b[:, None] * z if with_slope else x))
        if max(np.abs(step).max(), np.abs(up).max()) < MODE_CONVERGED:
            break
    return np.asarray(line)


def _lead(name: str, each: Floats, x: Floats) -> Floats:
    """How an event more at each score moves shift, intercept or slope of the line."""
    mass = each.sum(axis=1, keepdims=True)
    if name == "calibration_in_the_large":
        return np.broadcast_to(1 / mass, x.shape)
    mean = np.vecdot(each, x)[:, None] / mass
    slope = (x - mean) / np.vecdot(each, (x - mean) ** 2)[:, None]
    return np.asarray(slope if name == "calibration_slope" else 1 / mass - mean * slope)
