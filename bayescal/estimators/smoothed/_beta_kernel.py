"""Kernel regression of outcomes with beta kernels, each case left out of its own estimate."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.special import betaln, logsumexp

from bayescal._base.arrays import Floats, blocks, power_mean
from bayescal.data.table import Table

__all__ = ["likeliest_bandwidth", "ratio_norm"]

CANDIDATES = np.concatenate([np.logspace(-5, -1, 15), np.linspace(0.2, 1, 5)])
JUDGES = 256
BETA_BLOCK = 1 << 18


def ratio_norm(table: Table, hits: Floats, bandwidth: float, order: float) -> Floats:
    """The norm of the gaps, for events and the other cases at each distinct score.

    Parameters
    ----------
    table : Table
    hits : ndarray of shape (replicates, rows)
        Events at each distinct score.
    bandwidth, order : float
    """
    score, trials = table.score, table.trials
    norms = []
    for part in blocks(score.size, score.size, BETA_BLOCK):
        row = np.arange(part.start, part.stop)
        kernel = _log_beta_kernel(score[row], score, bandwidth)
        own = (row - part.start, row)
        kernel[own] = np.where(trials[row] > 1, kernel[own], -np.inf)
        kernel -= kernel.max(axis=1, keepdims=True)
        np.exp(kernel, out=kernel)
        tied = kernel[own].copy()
        kernel[own] = 0
        near, total = hits @ kernel.T, kernel @ trials
        for outcome, cases in ((1, hits[:, row]), (0, trials[row] - hits[:, row])):
            left_out = np.minimum(cases, 1)
            events = near + tied * (hits[:, row] - outcome * left_out)
            rate = events / (total + tied * (trials[row] - left_out))
            share = cases / table.total
            gap = np.where(share > 0, rate - score[row], 0)
            norms.append(power_mean(gap, order, partial(_summed, share)))
    return power_mean(np.stack(norms, axis=-1), order, lambda power: power.sum(axis=-1))


def _summed(share: Floats, power: Floats) -> Floats:
    """Sum over the last axis, by share."""
    total: Floats = (share * power).sum(axis=-1)
    return total


def _log_beta_kernel(at: Floats, centre: Floats, bandwidth: float) -> Floats:
    """Log density at each point (rows) of the beta kernel around each centre (columns)."""
    first, second = centre / bandwidth, (1 - centre) / bandwidth
    log_kernel: Floats = np.stack([np.log(at), np.log1p(-at)], axis=1) @ np.stack([first, second])
    log_kernel -= betaln(first + 1, second + 1)
    return log_kernel


def likeliest_bandwidth(table: Table) -> float:
    """The candidate of largest leave-one-out likelihood, equal scores left out together."""
    score, trials = table.score, table.trials
    if score.size == 1:
        return float(CANDIDATES[-1])  # with one score there is nothing to weigh
    judges = np.unique(np.linspace(0, score.size - 1, min(JUDGES, score.size)).round().astype(int))
    others = np.broadcast_to(trials, (judges.size, score.size)).copy()
    others[np.arange(judges.size), judges] = 0
    likelihood = [
        trials[judges] @ logsumexp(_log_beta_kernel(score[judges], score, h), axis=1, b=others)
        for h in CANDIDATES
    ]
    return float(CANDIDATES[int(np.argmax(likelihood))])
