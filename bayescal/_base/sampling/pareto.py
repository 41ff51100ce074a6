"""Pareto smoothing of many sets of importance weights at once."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from bayescal._base.arrays import Floats, blocks

__all__ = ["BAD_K", "smooth_rows"]

BAD_K = 0.7
"""Weights with a k-hat above this are not to be trusted (Vehtari et al., 2024)."""

PARETO_FLAT = 1e-9
PARETO_MANY = 225
PRIOR_QUARTILE = 3
PRIOR_DRAWS, PRIOR_SHAPE = 10, 0.5
NEGLIGIBLE = 10 * np.finfo(np.float64).eps


def smooth_rows(log_ratio: Floats) -> tuple[Floats, Floats]:
    """Pareto-smoothed log weights, up to a constant a row, and k-hat of each row.

    As ArviZ's `psislw` does it for one row after the other. A row with a flat top, whose largest
    tenth and one more are equal, has no tail to smooth, and a k-hat of minus infinity; where the
    fit fails k-hat is infinite. Both stay as they are.

    Parameters
    ----------
    log_ratio : ndarray of shape (rows, draws)

    Returns
    -------
    log_weights : ndarray of shape (rows, draws)
    pareto_k : ndarray of shape (rows,)

    References
    ----------
    Vehtari, Simpson, Gelman, Yao & Gabry (2024), Pareto smoothed importance sampling, JMLR 25.
    Zhang & Stephens (2009), A new and efficient estimation method for the generalized Pareto
    distribution, Technometrics 51.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal._base.sampling.pareto import smooth_rows
    >>> rng = np.random.default_rng(0)
    >>> _, k = smooth_rows(np.log(rng.pareto(2, (1, 100_000))))
    >>> bool(abs(k[0] - 1 / 2) < 0.05)
    True
    """
    draws = log_ratio.shape[1]
    weights = log_ratio - log_ratio.max(axis=1, keepdims=True)
    size = int(3 * np.sqrt(draws)) if draws > PARETO_MANY else draws // 5
    tenth = draws // 10
    most = max(size, tenth) + 1
    top = np.argpartition(weights, draws - most, axis=1)[:, -most:]
    top = np.take_along_axis(top, np.take_along_axis(weights, top, axis=1).argsort(axis=1), axis=1)
    ranked = np.take_along_axis(weights, top, axis=1)
    flat = ranked[:, -1] - ranked[:, -tenth - 1] < PARETO_FLAT
    top, ranked = top[:, -size - 1 :], ranked[:, -size - 1 :]
    with np.errstate(all="ignore"):
        smoothed, k = _smooth_tails(np.exp(ranked[:, 1:]), np.exp(ranked[:, :1]))
        smoothed = np.minimum(np.log(smoothed), 0)
    failed = ~np.isfinite(k) | np.isnan(smoothed).any(axis=1)
    kept = (failed | flat)[:, None]
    np.put_along_axis(weights, top[:, 1:], np.where(kept, ranked[:, 1:], smoothed), axis=1)
    return weights, np.where(flat, -np.inf, np.where(failed, np.inf, k))


def _smooth_tails(tail: Floats, cutoff: Floats) -> tuple[Floats, Floats]:
    """Quantiles of the generalized Pareto distribution fitted to each tail, and its shape."""
    excess = tail - cutoff
    size = excess.shape[1]
    candidates = 30 + int(np.sqrt(size))
    spread = 1 - np.sqrt(candidates / (np.arange(1, candidates + 1) - 0.5))
    quartile = excess[:, [int(size / 4 + 0.5) - 1]]
    b = spread / (PRIOR_QUARTILE * quartile) + 1 / excess[:, -1:]
    shape = np.empty_like(b)
    for part in blocks(candidates, excess.size):
        shape[:, part] = np.log1p(-b[:, part, None] * excess[:, None]).mean(axis=2)
    share = softmax(size * (np.log(-b / shape) - shape - 1), axis=1)
    share[share < NEGLIGIBLE] = 0
    mean = (b * share).sum(axis=1, keepdims=True) / share.sum(axis=1, keepdims=True)
    k = np.log1p(-mean * excess).mean(axis=1, keepdims=True)
    scale = -k / mean
    k = (size * k + PRIOR_DRAWS * PRIOR_SHAPE) / (size + PRIOR_DRAWS)
    probability = (np.arange(size) + 0.5) / size
    quantile = cutoff + scale * np.expm1(-k * np.log1p(-probability)) / k
    return np.where(scale > 0, quantile, np.nan), k[:, 0]
