"""Widths of intervals of many studies at once, by the normal approximation of the posterior.

The curve's coordinates are normal round the posterior mode, and the scores of the population are
those of the Bayesian bootstrap, both to first order. It is exact as studies grow, and costs
thousandths of a fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from bayescal._base.arrays import Floats
from bayescal.model.curve import Curve, Frame
from bayescal.model.priors import Prior
from bayescal.planning.setting import EDGE, Setting

__all__ = ["LINEAR", "NormalPosterior", "logistic_slope_error"]

LINEAR = {
    "observed_expected",
    "calibration_in_the_large",
    "calibration_intercept",
    "calibration_slope",
    "signed_error",
}
"""Functionals that are nearly linear in the curve, so that this approximation serves."""
STEPS = 25
LONGEST = 2.0
CONVERGED = 1e-6
LEAST_VARIANCE = 1e-12
SEPARATED = 1e-3


@dataclass(frozen=True)
class NormalPosterior:
    """Posteriors of a curve in many studies, each normal round its mode.

    Attributes
    ----------
    score : ndarray of shape (studies, rows) or (1, rows)
    trials : ndarray of shape (studies, rows)
    curve : ndarray of shape (studies, rows)
        At the mode.
    slopes : ndarray of shape (studies, rows, d)
        Derivatives of the log-odds of the curve by the coordinates.
    covariance : ndarray of shape (studies, d, d)
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
        """Newton steps to the mode of every study.

        Parameters
        ----------
        setting : Setting
        trials, hits : ndarray of shape (studies, rows)
        family : Curve
            Without deviations or cells.
        prior : Prior
        """
        score = np.clip(setting.score, EDGE, 1 - EDGE)
        x = logit(score)
        frames = [Frame(prior.centre_for(x[k], setting.weight)) for k in range(len(score))]
        parts = [family.basis(score[k], frame) for k, frame in enumerate(frames)]
        offset = np.stack([part[0] for part in parts])
        basis = np.stack([part[1] for part in parts])
        combination = np.array(family.combination, dtype=np.float64).reshape(-1, family.size)
        positive = np.array(family.positive, dtype=bool)
        distributions = [prior.of(name) for name in family.coordinates]
        u, move = np.zeros((len(trials), family.size)), np.full(1, np.inf)
        diagonal = np.arange(family.size)
        for _ in range(STEPS):
            linear = u @ combination.T
            coefficient = np.where(positive, np.exp(linear), linear)
            jacobian = np.where(positive, coefficient, 1.0)[:, :, None] * combination
            curve = expit(offset + _combined(basis, coefficient))
            slopes = np.matmul(basis, jacobian)
            weight = trials * curve * (1 - curve)
            information = np.matmul(np.swapaxes(slopes * weight[..., None], 1, 2), slopes)
            by_log_odds = hits - trials * curve
            gradient = np.einsum("skd,sk->sd", slopes, by_log_odds)
            for k, distribution in enumerate(distributions):
                first, second = distribution.slope_and_curvature(u[:, k])
                gradient[:, k] += first
                information[:, k, k] += np.maximum(-second, 0)
            if np.abs(move).max() < CONVERGED:
                break
            move = np.linalg.solve(information, gradient[..., None])[..., 0]
            u = u + np.clip(move, -LONGEST, LONGEST)
        exact = information.copy()
        shared = np.broadcast_to(basis, (len(trials), *basis.shape[1:]))
        by_coefficient = np.einsum("skj,sk->sj", shared, by_log_odds)
        bend = np.where(positive, by_coefficient * coefficient, 0.0)
        exact -= np.matmul(combination.T * bend[:, None], combination)
        proper = np.linalg.eigvalsh(exact).min(axis=1) > LEAST_VARIANCE
        information[proper] = exact[proper]
        information[:, diagonal, diagonal] += LEAST_VARIANCE
        return cls(score, trials, curve, slopes, np.linalg.inv(information))

    def widths(self, name: str, half: float) -> Floats:
        """Widths of the intervals of a functional in `LINEAR`, of shape (studies,).

        Parameters
        ----------
        name : str
        half : float
            Standard deviations on either side.
        """
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
    x = np.broadcast_to(logit(np.clip(score, EDGE, 1 - EDGE)), trials.shape)
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

    Parameters
    ----------
    weight, x : ndarray of shape (studies, rows)
        Weights sum to 1 over the rows.
    events : ndarray of shape (studies, rows)
        Weighted events, whose sum, and whose sum times x, the line has.
    """
    a, b = np.zeros(len(x)), np.ones(len(x))
    first = events.sum(axis=1)
    second = np.vecdot(events, x)
    line = expit(x)
    for _ in range(STEPS):
        each = weight * line * (1 - line)
        miss = first - np.vecdot(weight, line)
        mass = np.maximum(each.sum(axis=1), LEAST_VARIANCE)
        if with_slope:
            of_x = np.vecdot(each, x)
            of_square = np.vecdot(each, x * x)
            miss_x = second - np.vecdot(weight * line, x)
            spread = np.maximum(of_square * mass - of_x**2, LEAST_VARIANCE)
            step = (mass * miss_x - of_x * miss) / spread
            up = (of_square * miss - of_x * miss_x) / spread
        else:
            step, up = np.zeros(len(x)), miss / mass
        a += np.clip(up, -LONGEST, LONGEST)
        b += np.clip(step, -LONGEST, LONGEST)
        line = expit(a[:, None] + b[:, None] * x)
        if max(np.abs(step).max(), np.abs(up).max()) < CONVERGED:
            break
    return np.asarray(line)


def _lead(name: str, each: Floats, x: Floats) -> Floats:
    """How an event more at each score moves shift, intercept or slope of the line."""
    mass = each.sum(axis=1, keepdims=True)
    if name == "calibration_in_the_large":
        return np.broadcast_to(1 / mass, x.shape)
    mean = np.vecdot(each, x)[:, None] / mass
    slope = (x - mean) / np.vecdot(each, (x - mean) ** 2)[:, None]
    return slope if name == "calibration_slope" else 1 / mass - mean * slope


def _combined(basis: Floats, coefficient: Floats) -> Floats:
    """Sums of the basis at each score, by the coefficients of each study."""
    if len(basis) == 1:
        return coefficient @ basis[0].T
    return np.asarray(np.matmul(basis, coefficient[..., None])[..., 0])
