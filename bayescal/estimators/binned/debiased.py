"""The binned calibration error without the part that chance adds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError, as_flag, as_order
from bayescal._base.text import shortened
from bayescal.estimators.binned._rebin import rebinned
from bayescal.estimators.binned.bins import BINS_SAME, Bins, Rebins, as_cut, bins_of
from bayescal.estimators.door import OutcomesLike, Statistic, evaluate, read
from bayescal.estimators.registry import estimator

__all__ = ["debiased_core", "debiased_ece"]


def debiased_core(
    scores: Floats, weights: Floats | None, *, p: int, signed: bool, **cut: Any
) -> Statistic:
    """Core of `debiased_ece`."""
    bins = bins_of(scores, weights, **cut)
    return lambda outcomes: _corrected(bins, bins.rate(outcomes), p, signed)


@estimator(
    "Debiased ECE",
    prepare=debiased_core,
    paper="Kumar, Liang & Ma 2019; Broecker 2012; Ferro & Fricker 2012",
    estimates="binned calibration error, without the part that chance adds",
    bound="below TCE of the same order in the population",
    span=(0, 1),
    weighted=lambda s, y, w, *, p, signed, **cut: _corrected(*rebinned(s, y, w, **cut), p, signed),
)
def debiased_ece(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 15,
    binning: str = "mass",
    p: int = 2,
    ties: str = "together",
    signed: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Binned calibration error less what the chance in the outcomes adds to it (Kumar et al.).

    For p = 2, sum_b w_b (gap_b^2 - r_b (1 - r_b) / (n_b - 1)), with r_b the mean outcome of the
    n_b cases in bin b: unbiased for the binned square error. It is floored at 0 and rooted.

    For p = 1, twice the ECE less its mean over normal resamples of the bins' mean outcomes, with
    variances r_b (1 - r_b) / n_b, floored at 0. The mean is taken in closed form: this is the
    limit of what the authors' code prints as its resamples grow.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    n_bins : int
        Number of bins.
    binning : {"mass", "rank", "quantile", "width"}
        As in `ece`.
    p : {1, 2}
        Order of the norm.
    ties : {"together", "split"}
        As in `ece`.
    signed : bool
        Return the estimate of the p-th power before it is floored and rooted. It may be negative.
    %(weights_by_kish)s

    Returns
    -------
    float or ndarray
        One for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    InputError
        As `ece`; also if `p` is neither 1 nor 2.

    Notes
    -----
    One case says nothing of the variance in its bin. A bin with fewer than two cases counts as
    having no error, for both orders, and keeps its share of the cases. The authors' code does so
    for p = 2, and refuses such bins for p = 1.

    References
    ----------
    Kumar, Liang & Ma, "Verified Uncertainty Calibration", NeurIPS 2019, section 5 and appendix.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> round(estimators.ece(y_true, y_prob, binning="mass", p=2), 3)
    0.033
    >>> estimators.debiased_ece(y_true, y_prob)
    0.0
    """
    if as_order(p) not in (1, 2):
        given = shortened(repr(p))
        raise InputError(f"p must be 1 or 2: the debiased error is known for those, got {given}.")

    cases = read(y_true, y_prob, sample_weight, single=True)
    cut = as_cut(n_bins, binning, ties)
    return evaluate(debiased_core, cases, p=p, signed=as_flag(signed, "signed"), **cut)


def _corrected(bins: Bins | Rebins, rate: Floats, p: int, signed: bool) -> Floats:
    several = bins.mass >= 2 - BINS_SAME  # cases shared out between bins add up to integers
    debias = _debiased_square if p == 2 else _debiased_absolute
    gap, variance = np.abs(rate - bins.score), rate * (1 - rate)
    error = debias(gap, variance, np.where(several, bins.mass, 2)) * several
    power: Floats = (error * bins.mass).sum(-1) / bins.mass.sum(-1)
    return power if signed else np.maximum(power, 0) ** (1 / p)


def _debiased_square(gap: Floats, variance: Floats, cases: Floats) -> Floats:
    """Unbiased estimate of each bin's squared gap."""
    return gap**2 - variance / (cases - 1)


def _debiased_absolute(gap: Floats, variance: Floats, cases: Floats) -> Floats:
    """Twice each bin's gap less the mean of |Normal(gap, sd)|."""
    sd = np.sqrt(variance / cases)
    z = gap / np.where(sd > 0, sd, 1)
    folded = sd * math.sqrt(2 / math.pi) * np.exp(-(z**2) / 2) + gap * erf(z / math.sqrt(2))
    corrected: Floats = 2 * gap - np.where(sd > 0, folded, gap)
    return corrected
