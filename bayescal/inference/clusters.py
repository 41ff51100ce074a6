"""A likelihood of independent cases, made as flat as clusters of cases make it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.optimise import maximise
from bayescal.model.clusters import sandwich
from bayescal.model.law import BINOMIAL
from bayescal.model.problem import Problem
from bayescal.model.rows import every_row, merged_rows
from bayescal.model.times_rows import TimesRows

__all__ = ["Adjustment", "FlattenedTimes", "adjustment_of", "flattened_times"]

# Of the prior's precision, which keeps the top of the likelihood where there are data.
PULL = 0.01


class Likelihood(Protocol):
    """What an adjustment needs of the density of a curve's coordinates."""

    def by_coefficients(self, coefficients: Floats) -> tuple[float, Floats, Floats]:
        """Log likelihood of independent cases, its gradient and information."""


@dataclass(frozen=True)
class Adjustment:
    """The log likelihood of clusters: log L(b_hat + C (b - b_hat)) + m (b - b_hat) + a constant.

    b are the coefficients, in which the curve's log-odds are linear. The constant leaves the log
    likelihood as it is at exact calibration, which all families share, so that their evidences can
    be compared.

    Attributes
    ----------
    top : ndarray of shape (k,)
        b_hat, where the likelihood is largest; of one group of several, near it.
    contraction : ndarray of shape (k, k)
        C.
    linear : ndarray of shape (k,) or float
        m, by which the likelihood has the slope at b_hat that clusters leave of it; zero where it
        is largest.

    References
    ----------
    Ribatet, Cooley & Davison (2012), Bayesian inference from composite likelihoods, with an
    application to spatial extremes, Statistica Sinica 22.
    """

    top: Floats
    contraction: Floats
    constant: float
    linear: Floats | float = 0.0

    def read_at(self, coefficients: Floats) -> Floats:
        """Where the likelihood of independent cases is read, for coefficients (..., k)."""
        return np.asarray(self.top + (coefficients - self.top) @ self.contraction.T)

    def beside(self, coefficients: Floats) -> Floats:
        """What is added to the likelihood read there, for coefficients (..., k)."""
        return np.asarray(((coefficients - self.top) * self.linear).sum(axis=-1) + self.constant)

    def as_at(self, coefficients: Floats, likelihood: Likelihood) -> Adjustment:
        """The same, with the constant that leaves this likelihood as it is at one point (k,)."""
        own, read = (
            likelihood.by_coefficients(point)[0]
            for point in (coefficients, self.read_at(coefficients))
        )
        return replace(self, constant=float(self.constant + own - read - self.beside(coefficients)))


@dataclass(frozen=True)
class FlattenedTimes:
    """Sums over followed cases, as flat as an adjustment makes them."""

    rows: TimesRows
    adjustment: Adjustment

    def log_likelihood(self, coefficients: Floats, others: Floats) -> Floats:
        """As `TimesRows.log_likelihood`."""
        read, own = coefficients.copy(), coefficients[:, 1:]
        read[:, 1:] = self.adjustment.read_at(own)
        return self.rows.log_likelihood(read, others) + self.adjustment.beside(own)

    def derivatives(self, coefficients: Floats, others: Floats) -> tuple[float, Floats, Floats]:
        """As `TimesRows.derivatives`."""
        change = self.adjustment
        value, gradient, hessian = self.rows.derivatives(change.read_at(coefficients), others)
        by = change.contraction
        beside = float(change.beside(coefficients))
        return value + beside, by.T @ gradient + change.linear, by.T @ hessian @ by


@dataclass(frozen=True)
class _OfTimes:
    """The likelihood of followed cases by coefficients: given the steps of Q, or over them."""

    rows: TimesRows
    given_steps: bool

    def by_coefficients(self, coefficients: Floats) -> tuple[float, Floats, Floats]:
        none = np.empty(0)
        value, gradient, hessian = self.rows.derivatives(coefficients, none)
        if not self.given_steps:
            at = np.append(1.0, coefficients)[None]
            value = float(self.rows.log_likelihood(at, none[None])[0])
        return value, gradient, -hessian


def flattened_times(
    rows: TimesRows, problem: Problem, at: Floats, covariance: Floats
) -> FlattenedTimes:
    """Followed cases of clusters: as `adjustment_of`, at fixed steps of Q for the slopes."""
    change = adjustment_of(_OfTimes(rows, True), problem, at, covariance)
    calibrated = problem.curve.with_offset(np.zeros((1, problem.curve.size)))[0, 1:]
    return FlattenedTimes(rows, change.as_at(calibrated, _OfTimes(rows, False)))


def adjustment_of(
    likelihood: Likelihood, problem: Problem, at: Floats, covariance: Floats
) -> Adjustment:
    """The adjustment of a curve's likelihood for the clusters of a table.

    Parameters
    ----------
    likelihood : Likelihood
        Of independent cases.
    problem : Problem
        With clusters.
    at : ndarray of shape (k,)
        Coefficients at the mode of the posterior of independent cases, where the sandwich is
        computed.
    covariance : ndarray of shape (k, k)
        Of the coefficients under the prior, there.
    """
    precision: Floats = np.asarray(np.linalg.pinv(covariance, hermitian=True), np.float64)
    rows = merged_rows(problem, every_row(problem))
    fitted = BINOMIAL.mean(rows.offset + rows.basis @ at)
    contraction = sandwich(problem, rows.basis, fitted, precision).contraction

    def pulled(coefficients: Floats) -> tuple[float, Floats, Floats]:
        value, gradient, information = likelihood.by_coefficients(coefficients)
        away = PULL * precision @ (coefficients - at)
        value -= float(away @ (coefficients - at)) / 2
        return value, gradient - away, -information - PULL * precision

    top = maximise(pulled, at, tolerance=1e-9).point
    calibrated = problem.curve.with_offset(np.zeros((1, problem.curve.size)))[0, 1:]
    return Adjustment(top, contraction, 0.0).as_at(calibrated, likelihood)
