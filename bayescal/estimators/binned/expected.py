"""How large the binned error of a sample is on average, as a function of its size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.estimators.binned.bins import as_cut, bins_of
from bayescal.estimators.door import OutcomesLike, read

__all__ = ["expected_ece"]

LARGEST_SIZE = 1e15


@documented
def expected_ece(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    sizes: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "width",
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Mean `ece` of order 1 of samples of a size, drawn from these cases as the population.

    mu(n) = sum_b p_b (sd_b sqrt(2 / pi) exp(-gap_b^2 / (2 sd_b^2)) + gap_b (1 - 2 Phi(-gap_b /
    sd_b))), with p_b the share of bin b, gap_b its mean score less its mean outcome, and sd_b^2 =
    (variance of its scores + rate_b (1 - rate_b)) / (n p_b): the mean absolute value of normal gaps
    (Proposition 3.3 of the paper). It falls towards the `ece` of the population as n grows.

    Parameters
    ----------
    %(outcomes)s
    %(scores)s
    sizes : int or array-like of shape (n_sizes,), optional
        Numbers of cases n, at least 1. By default that of the cases given.
    n_bins : int
        Number of bins.
    binning : {"width", "mass", "quantile", "rank"}
        As in `ece`; the cuts are those of the population.
    sample_weight : array-like of shape (n_samples,), optional
        Shares of the cases in the population, up to a factor.

    Returns
    -------
    float or ndarray of shape (n_sizes,)
        From `ece` to 1.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, a size is below 1, or an
        option is out of range.

    Notes
    -----
    It is an approximation: bins with few cases have no normal gaps, the share of a bin varies from
    sample to sample, and mean score and mean outcome of a bin are taken for independent, as the
    paper does. Of samples of 200, 1000 and 5000 cases of simulate's "clinical-middle-overconfident"
    it is .102, .070 and .063, where the means of 300 simulated samples are .100, .069 and .063; of
    "calibrated" .090, .040 and .018, and .090, .041 and .018.

    The gaps of a sample are larger than those of its population, so that the value at its own size
    is above its own `ece`: give the cases of a large data set, or a known curve.

    A population with a known curve is each score twice, with and without the event, weighed by the
    chance of either.

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, Proposition 3.3 and appendix D.5.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("clinical-middle-overconfident", 100_000, random_state=1)
    >>> estimators.expected_ece(y_true, y_prob, [100, 1000, 10_000]).round(4)
    array([0.1325, 0.0679, 0.0595])
    >>> round(estimators.ece(y_true, y_prob), 4)
    0.0587
    """
    cut = as_cut(n_bins, binning, "together")
    cases = read(y_true, y_prob, sample_weight, replicates=False).counted()
    number = _as_sizes(cases.mass if sizes is None else sizes)
    outcomes, scores = cases.outcomes[0].astype(np.float64), cases.scores
    bins = bins_of(scores, cases.weights, **cut)
    filled = bins.mass > 0
    gap = bins.mean(scores - outcomes)[filled]
    rate = bins.mean(outcomes)
    square = bins.mean(scores**2) - bins.score**2 + rate * (1 - rate)
    share = bins.mass[filled] / bins.total
    sd = np.sqrt(np.maximum(square[filled], 0) / share / number[..., None])
    z = np.divide(gap, sd, out=np.full_like(sd, np.inf), where=sd > 0)
    size = np.abs(z)
    mean = np.sqrt(2 / np.pi) * np.exp(-0.5 * size**2) * sd + np.abs(gap) * (1 - 2 * ndtr(-size))
    values = mean @ share
    return values if np.ndim(values) else float(values)


def _as_sizes(sizes: Any) -> Floats:
    try:
        number = np.asarray(sizes, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        number = np.empty((0, 0))
    if number.ndim > 1 or not number.size or not ((number >= 1) & (number <= LARGEST_SIZE)).all():
        raise InputError(
            "sizes must be a number of cases, or several, from 1 to 1e15, got "
            f"{shortened(repr(sizes))}."
        )
    return number
