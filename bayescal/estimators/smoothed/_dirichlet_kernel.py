"""Kernel regression of classes with Dirichlet kernels, each case left out of its own estimate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from bayescal._base.arrays import Floats, blocks, power_mean
from bayescal.estimators.smoothed._beta_kernel import CANDIDATES, JUDGES

__all__ = ["class_norm", "likeliest_class_bandwidth"]

DIRICHLET_BLOCK = 1 << 21


def class_norm(
    prob: Floats, labels: NDArray[np.intp], weight: Floats, bandwidth: float, order: float
) -> Floats:
    """The norm of class frequencies around each prediction less the prediction.

    Parameters
    ----------
    prob : ndarray of shape (n, classes)
        Inside the simplex.
    labels : ndarray of int of shape (replicates, n)
    weight : ndarray of shape (n,)
        Number of cases, more than 1 in all.

    Returns
    -------
    ndarray of shape (replicates,)
    """
    size, classes = prob.shape
    gap = np.empty((len(labels), size, classes))
    happened = labels[..., None] == np.arange(classes)
    for part in blocks(size, size, DIRICHLET_BLOCK):
        row = np.arange(part.stop - part.start)
        mass = np.broadcast_to(weight, (row.size, size)).copy()
        mass[row, np.arange(size)[part]] -= np.minimum(weight[part], 1)
        log_kernel = _log_kernel(prob[part], prob, bandwidth)
        log_kernel -= np.where(mass > 0, log_kernel, -np.inf).max(axis=1, keepdims=True)
        kernel = mass * np.exp(np.minimum(log_kernel, 0))
        kernel /= kernel.sum(axis=1, keepdims=True)
        gap[:, part] = kernel @ happened - prob[part]
    share = np.repeat(weight / weight.sum(), classes)
    counted = np.where(share > 0, gap.reshape(len(labels), -1), 0)
    return power_mean(counted, order, lambda power: power @ share)


def likeliest_class_bandwidth(prob: Floats, weight: Floats) -> float:
    """The candidate of largest leave-one-out likelihood, equal predictions left out together."""
    rows, member = np.unique(prob, axis=0, return_inverse=True)
    trials = np.bincount(member.ravel(), weight)
    if len(rows) == 1:
        return float(CANDIDATES[-1])
    judges = np.unique(np.linspace(0, len(rows) - 1, min(JUDGES, len(rows))).round().astype(int))
    others = np.broadcast_to(trials, (judges.size, len(rows))).copy()
    others[np.arange(judges.size), judges] = 0

    def likelihood(bandwidth: float) -> float:
        kernel = _log_kernel(rows[judges], rows, bandwidth)
        return float(trials[judges] @ logsumexp(kernel, axis=1, b=others))

    return float(CANDIDATES[int(np.argmax([likelihood(float(h)) for h in CANDIDATES]))])


def _log_kernel(at: Floats, centre: Floats, bandwidth: float) -> Floats:
    """Log density at each point (rows) of the Dirichlet law around each centre (columns)."""
    log_kernel: Floats = np.log(at) @ (centre.T / bandwidth)
    log_kernel -= gammaln(centre / bandwidth + 1).sum(axis=1)
    log_kernel += gammaln(centre.sum(axis=1) / bandwidth + centre.shape[1])
    return log_kernel
