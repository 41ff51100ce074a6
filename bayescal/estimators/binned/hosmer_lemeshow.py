"""The Hosmer-Lemeshow test: chi-square over groups of similar scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError, as_flag
from bayescal.estimators._result import Tested
from bayescal.estimators.binned.bins import Bins, as_bins, bins_of
from bayescal.estimators.door import OutcomesLike, evaluate, read

__all__ = ["hosmer_lemeshow_test"]

_CUTS = ("quantile", "together")


@documented
def hosmer_lemeshow_test(
    y_true: OutcomesLike,
    y_prob: ArrayLike | None = None,
    *,
    n_groups: int = 10,
    development: bool = False,
    sample_weight: ArrayLike | None = None,
) -> Tested:
    """Hosmer-Lemeshow test of calibration: events against expected events over groups.

    sum_g (O_g - E_g)^2 / (E_g (1 - E_g / n_g)), with O_g events, E_g the sum of the scores, and
    n_g cases in group g. Under calibration it is chi-square, with as many degrees of freedom as
    groups where the model comes from other data, and two fewer on the data that it was fitted to.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    n_groups : int
        Groups, cut at the quantiles of the scores as R does. Equal scores stay together, so that
        there may be fewer.
    development : bool
        Whether the model was fitted to these very cases.
    %(weights_by_kish)s

    Returns
    -------
    Tested
        Statistic, p-value and degrees of freedom.

    Raises
    ------
    InputError
        As `ece`; also if too few groups are left for a degree of freedom.

    Notes
    -----
    A group whose scores are all 0, or all 1, leaves nothing to chance: it counts for no degree of
    freedom, and an outcome that contradicts it makes the statistic infinite and the p-value 0.

    The groups are arbitrary, and in a large sample the test rejects models that are as good as
    calibrated: a p-value says nothing of how large the error is.

    References
    ----------
    Hosmer & Lemeshow, "Goodness of fit tests for the multiple logistic regression model",
    Communications in Statistics 1980.
    Hosmer, Lemeshow & Sturdivant, "Applied Logistic Regression", 3rd ed. 2013, section 5.2.2.

    Examples
    --------
    >>> from bayescal import estimators, simulate
    >>> y_true, y_prob = simulate.sample("calibrated", 1000, random_state=4)
    >>> test = estimators.hosmer_lemeshow_test(y_true, y_prob)
    >>> round(test.statistic, 2), round(test.pvalue, 2), test.df
    (4.38, 0.93, 10.0)
    """
    number = as_bins(n_groups, "n_groups")
    cases = read(y_true, y_prob, sample_weight)
    groups = _Groups(bins_of(cases.scores, cases.weights, number, *_CUTS))
    df = groups.chance.sum() - 2.0 * as_flag(development, "development")
    if df < 1:
        raise InputError(
            f"y_prob makes {groups.chance.sum()} groups with mean scores strictly between 0 and 1, "
            f"and the test needs {3 if development else 1}. Ask for more groups with n_groups=, if "
            "there are as many distinct scores."
        )
    statistic = evaluate(lambda *_: groups.statistic, cases)
    pvalue = chdtrc(df, statistic)
    return Tested(statistic, pvalue if np.ndim(pvalue) else float(pvalue), float(df))


class _Groups:
    """Bins that hold a case, and which of them leave something to chance."""

    def __init__(self, bins: Bins) -> None:
        self._bins = bins
        self._occupied = bins.mass > 0
        self._cases = bins.mass[self._occupied]
        self._score = bins.score[self._occupied]
        self.chance = (self._score > 0) & (self._score < 1)

    def statistic(self, outcomes: NDArray[Any]) -> Floats:
        """Chi-square of each replicate."""
        gap = self._bins.rate(outcomes)[:, self._occupied] - self._score
        variance = np.where(self.chance, self._score * (1 - self._score), 1) / self._cases
        certain = np.where(gap == 0, 0, np.inf)
        with np.errstate(over="ignore"):
            chi_square: Floats = np.where(self.chance, gap**2 / variance, certain).sum(axis=1)
        return chi_square
