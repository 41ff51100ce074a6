"""Binomial regressions of the outcomes on functions of the score, for many outcomes at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import qr
from scipy.special import expit, log_expit

from bayescal._base.arrays import Floats
from bayescal._base.log_odds import log_odds_of, logarithms
from bayescal.data.table import Table
from bayescal.data.weights import quantile
from bayescal.estimators.integrated._curve import Curve

__all__ = ["BASES", "Basis", "full_rank", "regression", "restricted_cubic"]

Basis = Callable[[Floats], Floats]
"""Scores or positions, (n,), to the functions of them that a regression uses, (k, n)."""

STEPS = 100


def logistic_basis(table: Table, n_knots: int) -> Basis:
    """A line in the log-odds."""
    return lambda score: np.stack([np.ones_like(score), log_odds_of(score)])


def beta_basis(table: Table, n_knots: int) -> Basis:
    """The log of the score and of its complement: beta calibration, unconstrained."""

    def functions(score: Floats) -> Floats:
        log_s, log_q = logarithms(score)
        return np.stack([log_s, -log_q, np.ones_like(log_s)])

    return functions


def rcs_basis(table: Table, n_knots: int) -> Basis:
    """A restricted cubic spline in the log-odds: cubic between knots, straight beyond them."""
    functions = restricted_cubic(log_odds_of(table.score), table.trials, n_knots)
    return lambda score: functions(log_odds_of(score))


def restricted_cubic(position: Floats, trials: Floats, n_knots: int) -> Basis:
    """Functions of a position with knots at quantiles of some; a line if fewer than 3 differ."""
    outer = {3: 0.1, 7: 0.025}.get(n_knots, 0.05)
    probs = np.linspace(outer, 1 - outer, n_knots)
    knots = np.unique([quantile(position, trials, prob) for prob in probs])
    if knots.size < 3:
        return lambda x: np.stack([np.ones_like(x), x])
    *inner, before, end = knots
    width, gap = end - knots[0], end - before

    def cubed(x: Floats, knot: float) -> Floats:
        above: Floats = np.maximum((x - knot) / width, 0)
        return above * above * above

    def functions(x: Floats) -> Floats:
        bends = [
            cubed(x, knot)
            - cubed(x, before) * (end - knot) / gap
            + cubed(x, end) * (before - knot) / gap
            for knot in inner
        ]
        return np.stack([np.ones_like(x), x, *bends])

    return functions


BASES: dict[str, Callable[[Table, int], Basis]] = {
    "beta": beta_basis,
    "logistic": logistic_basis,
    "rcs": rcs_basis,
}


def full_rank(basis: Basis, table: Table) -> Basis:
    """Combinations of the same functions that are orthonormal under the trials."""
    weighted = np.sqrt(table.trials) * basis(table.score)
    triangle, pivot = qr(weighted.T, mode="r", pivoting=True, overwrite_a=True)
    size = np.abs(np.diag(triangle))
    rank = int(np.count_nonzero(size > 1e-10 * size[0]))
    kept = pivot[:rank]
    change = np.linalg.inv(triangle[:rank, :rank]).T
    return lambda score: change @ basis(score)[kept]


def regression(basis: Basis, table: Table, at: Floats) -> Curve:
    """Fitted probabilities of each replicate, NaN where the likelihood has no maximum."""
    functions = full_rank(basis, table)
    observed = functions(table.score)
    wanted = observed if at is table.score else functions(at)

    def curve(hits: Floats) -> Floats:
        fitted: Floats = expit(_maxima(observed, table.trials, hits) @ wanted)
        return fitted

    return curve


def _maxima(basis: Floats, trials: Floats, hits: Floats) -> Floats:
    """Coefficients of greatest likelihood on the rows of a basis, NaN where there are none.

    Residuals are those of every row, where `bayescal._base.logistic` has totals alone: far out, the
    totals lose the digits that tell whether outcomes are separated by five functions of few scores.
    """
    maxima = np.full((hits.shape[0], basis.shape[0]), np.nan)
    running = np.arange(hits.shape[0])
    coef = np.zeros_like(maxima)
    value = _log_likelihood(coef, basis, trials, hits)
    for _ in range(STEPS):
        fitted = expit(coef @ basis)
        gradient = (hits - trials * fitted) @ basis.T
        weight = trials * fitted * (1 - fitted)
        information = np.stack([(basis * row) @ basis.T for row in weight])
        curvature = np.linalg.eigvalsh(information)
        exists = (curvature[:, 0] > 1e-12 * curvature[:, -1]) & (value < -1e-9)
        if not exists.all():
            running, coef, hits, value = running[exists], coef[exists], hits[exists], value[exists]
            gradient, information = gradient[exists], information[exists]
        step = np.linalg.solve(information, gradient[..., None])[..., 0]
        coef, value = _uphill(coef, step, value, basis, trials, hits)
        near = (gradient * step).sum(axis=1) < 1e-18
        maxima[running[near]] = coef[near]
        if near.any():
            running, coef, hits, value = running[~near], coef[~near], hits[~near], value[~near]
        if running.size == 0:
            break
    return maxima


def _uphill(
    coef: Floats, step: Floats, value: Floats, basis: Floats, trials: Floats, hits: Floats
) -> tuple[Floats, Floats]:
    """Take each step, halved until the likelihood does not fall."""
    for _ in range(60):
        moved = coef + step
        reached = _log_likelihood(moved, basis, trials, hits)
        fell = reached < value - 1e-12 * np.abs(value)
        if not fell.any():
            break
        step = np.where(fell[:, None], step / 2, step)
    return moved, reached


def _log_likelihood(coef: Floats, basis: Floats, trials: Floats, hits: Floats) -> Floats:
    eta = coef @ basis
    value: Floats = np.einsum("ij,ij->i", hits, eta) + log_expit(-eta) @ trials
    return value
