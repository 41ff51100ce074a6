"""What others fit to several sites: `python docs/benchmarks/sites_rivals.py [--runs N]`.

Two-stage pooling: a logistic regression on a restricted cubic spline at each site, then at every
score a random-effects meta-analysis of the sites' log-odds. And a generalised linear mixed model: a
logistic regression with a random intercept and slope. The interval of the mixed model's average
curve is from its fixed effects alone; that between sites belongs to the interval of a new site.

The data sets are those of `sites.py`, and so is where results are kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit
from scipy.stats import norm, t

import sites
from bayescal._base.logistic import binomial_mle
from bayescal.errors import InputError

LEVELS = (0.1, 0.5, 0.9)
"""Quantiles of a site's scores at which its spline has its knots."""
STEPS = 200
STEP = 1e-4
"""Of finite differences of the log likelihood."""
FEWEST = 3
"""Fewest sites with an estimate between which a spread, and an interval of a new one, exist."""


class Meta(NamedTuple):
    """Random-effects meta-analyses, one for each of several scores.

    Attributes
    ----------
    mean, variance : ndarray of shape (scores,)
        Of the average site, the variance as the inverse of the sum of weights.
    adjusted : ndarray of shape (scores,)
        The variance of Hartung and Knapp.
    between : ndarray of shape (scores,)
        Between sites, by restricted maximum likelihood.
    """

    mean: np.ndarray
    variance: np.ndarray
    adjusted: np.ndarray
    between: np.ndarray


def meta_analysis(estimate: np.ndarray, variance: np.ndarray) -> Meta:
    """Pool estimates of sites, of shape (sites, scores), at each score by itself."""
    between = np.maximum(estimate.var(axis=0, ddof=1) - variance.mean(axis=0), 0.0)
    for _ in range(STEPS):
        weight = 1 / (variance + between)
        total, squared = weight.sum(axis=0), (weight**2).sum(axis=0)
        mean = (weight * estimate).sum(axis=0) / total
        trace = total - squared / total
        information = squared - 2 * (weight**3).sum(axis=0) / total + (squared / total) ** 2
        step = ((weight * (estimate - mean)) ** 2).sum(axis=0) - trace
        moved = np.maximum(between + step / information, 0.0)
        done = np.abs(moved - between).max() < 1e-10
        between = moved
        if done:
            break
    weight = 1 / (variance + between)
    total = weight.sum(axis=0)
    mean = (weight * estimate).sum(axis=0) / total
    around = (weight * (estimate - mean) ** 2).sum(axis=0) / (len(estimate) - 1)
    return Meta(mean, 1 / total, around / total, between)


def spline(x: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Restricted cubic spline of three knots, straight beyond them, of shape (n, 3)."""
    first, middle, last = knots
    at_first, at_middle, at_last = (np.maximum(x - knot, 0) ** 3 for knot in knots)
    bend = at_first
    bend = bend - at_middle * (last - first) / (last - middle)
    bend = bend + at_last * (middle - first) / (last - middle)
    return np.column_stack([np.ones_like(x), x, bend / (last - first) ** 2])


def by_site(
    outcome: np.ndarray, x: np.ndarray, site: np.ndarray, at: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Log-odds of every site with an estimate, and their variances, of shape (sites, scores)."""
    estimates, variances = [], []
    for one in np.unique(site):
        mine = site == one
        knots = np.quantile(x[mine], LEVELS)
        wanted, basis, trials = spline(at, knots), spline(x[mine], knots), np.ones(mine.sum())
        try:
            coef, covariance = binomial_mle(basis, trials, outcome[mine].astype(float))
        except InputError:
            continue
        estimates.append(wanted @ coef)
        variances.append(np.einsum("ij,jk,ik->i", wanted, covariance, wanted))
    return np.array(estimates), np.array(variances)


class Mixed(NamedTuple):
    """A logistic regression with random coefficients, by Laplace's maximum likelihood.

    Attributes
    ----------
    fixed : ndarray of shape (k,)
    covariance : ndarray of shape (k, k)
        Of the fixed effects, given the spread between sites.
    between : ndarray of shape (k, k)
        Covariance of the random effects.
    log_likelihood : float
    converged : bool
    """

    fixed: np.ndarray
    covariance: np.ndarray
    between: np.ndarray
    log_likelihood: float
    converged: bool


class MixedModel:
    """Laplace's likelihood of a logistic regression whose coefficients all differ between sites.

    Parameters
    ----------
    outcome : ndarray of shape (n,)
    basis : ndarray of shape (n, k)
    site : ndarray of shape (n,)
    offset : ndarray of shape (n,) or float
    """

    def __init__(
        self,
        outcome: np.ndarray,
        basis: np.ndarray,
        site: np.ndarray,
        offset: np.ndarray | float = 0.0,
    ) -> None:
        order = np.argsort(site, kind="stable")
        _, self.start, self.index = np.unique(site[order], return_index=True, return_inverse=True)
        self.sign, self.basis = np.where(outcome[order] == 1, 1.0, -1.0), basis[order]
        self.offset = np.broadcast_to(np.asarray(offset, float), outcome.shape)[order]
        k = basis.shape[1]
        self.lower = np.tril_indices(k)
        self.products = self.basis[:, self.lower[0]] * self.basis[:, self.lower[1]]
        self.unit = np.zeros((self.start.size, k))

    def fit(self) -> Mixed:
        """Maximise over the fixed effects and the factor of the covariance between sites."""
        k = self.basis.shape[1]
        trials, hits = np.ones(self.sign.size), (1 + self.sign) / 2
        first, _ = binomial_mle(self.basis, trials, hits, self.offset)
        factor = 0.2 * np.eye(k)
        start = np.concatenate([first, factor[self.lower]])
        best = minimize(self.loss, start, jac=self.slope, method="BFGS", options={"gtol": 1e-3})
        fixed, factor = self.parts(best.x)
        _, information = self.modes(fixed, factor)
        between = factor @ factor.T
        own = np.linalg.solve(np.eye(k) + information @ between, information)
        covariance = np.linalg.inv(own.sum(axis=0))
        return Mixed(fixed, covariance, between, -float(best.fun), bool(best.success))

    def parts(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Fixed effects, and the triangular factor of the covariance between sites."""
        k = self.basis.shape[1]
        factor = np.zeros((k, k))
        factor[self.lower] = point[k:]
        return point[:k], factor

    def loss(self, point: np.ndarray) -> float:
        """Minus the log likelihood, the sites' coefficients integrated out by Laplace."""
        fixed, factor = self.parts(point)
        value, information = self.modes(fixed, factor)
        curvature = np.eye(factor.shape[0]) + factor.T @ information @ factor
        return float(np.linalg.slogdet(curvature)[1].sum() / 2 - value)

    def slope(self, point: np.ndarray) -> np.ndarray:
        """Central differences of the loss."""
        steps = STEP * np.eye(point.size)
        sides = [self.loss(point + step) - self.loss(point - step) for step in steps]
        return np.array(sides) / (2 * STEP)

    def modes(self, fixed: np.ndarray, factor: np.ndarray) -> tuple[float, np.ndarray]:
        """Penalised log likelihood at the modes of the sites, and their information (sites, k, k).

        Coefficients of a site are the fixed ones plus the factor times independent unit normals.
        """
        k, unit = fixed.size, self.unit
        for _ in range(STEPS):
            coef = fixed + unit @ factor.T
            eta = self.offset + np.vecdot(self.basis, coef[self.index])
            fitted = expit(eta)
            error = ((1 + self.sign) / 2 - fitted)[:, None] * self.basis
            sums = np.add.reduceat((fitted * (1 - fitted))[:, None] * self.products, self.start)
            information = np.zeros((self.start.size, k, k))
            information[:, self.lower[0], self.lower[1]] = sums
            information[:, self.lower[1], self.lower[0]] = sums
            gradient = np.add.reduceat(error, self.start) @ factor - unit
            step = np.linalg.solve(
                np.eye(k) + factor.T @ information @ factor, gradient[..., None]
            )[..., 0]
            if (gradient * step).sum() < 1e-12:
                break
            unit = unit + np.clip(step, -1, 1)
        self.unit = unit
        value = log_expit(self.sign * eta).sum() - (unit**2).sum() / 2
        return float(value), information


def scored(mean: np.ndarray, sd: np.ndarray, quantile: float, true: np.ndarray) -> float:
    """Interval score of mean plus or minus some standard deviations of log-odds."""
    return sites.interval_score(expit(mean - quantile * sd), expit(mean + quantile * sd), true)


def one_run(size: int, spread: float, truth: str, seed: int) -> sites.Run:
    """Interval scores of both, and the sites that have no estimate of their own."""
    _, new_at, outcome, score, site = sites.draw(size, spread, truth, seed)
    average, new = (
        sites.curve(at, sites.GRID) for at in (np.array([sites.POPULATION[truth]]), new_at)
    )
    x, at = logit(score), logit(sites.GRID)
    estimate, variance = by_site(outcome, x, site, at)
    k = len(estimate)
    row = {"left_out": float(size - k)}
    if k >= FEWEST:
        meta = meta_analysis(estimate, variance)
        hartung, far = t.ppf(0.975, [k - 1, k - 2])
        spread_new = np.sqrt(meta.between + meta.variance)
        row |= {
            "two_stage.average.interval_score": scored(
                meta.mean, np.sqrt(meta.adjusted), hartung, average
            ),
            "two_stage.new.interval_score": scored(meta.mean, spread_new, far, new),
        }
    basis = np.column_stack([np.ones_like(x), x - sites.MEAN])
    fit = MixedModel(outcome, basis, site).fit()
    row["mixed_converged"] = float(fit.converged)
    row["mixed_singular"] = float(np.linalg.eigvalsh(fit.between)[0] < 1e-6)
    wanted, normal = np.column_stack([np.ones_like(at), at - sites.MEAN]), norm.ppf(0.975)
    mean = wanted @ fit.fixed
    for name, covariance, true in (
        ("average", fit.covariance, average),
        ("new", fit.covariance + fit.between, new),
    ):
        sd = np.sqrt(np.einsum("ij,jk,ik->i", wanted, covariance, wanted))
        row[f"mixed.{name}.interval_score"] = scored(mean, sd, normal, true)
    return row


if __name__ == "__main__":
    sites.run_cells("sites_rivals", one_run)
