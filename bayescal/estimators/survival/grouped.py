"""1-calibration: observed and predicted risks by a horizon, in groups of the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from bayescal._base.errors import InputError
from bayescal.data.validate import as_count, check_choice
from bayescal.estimators._result import Tested
from bayescal.estimators.survival.cases import read_followed

__all__ = ["one_calibration_test"]


def one_calibration_test(
    y_true: Any,
    y_prob: ArrayLike | None = None,
    *,
    horizon: float | None = None,
    n_groups: int = 10,
    variance: str = "greenwood",
) -> Tested:
    """1-calibration: Hosmer and Lemeshow's test at a horizon, with Kaplan-Meier in each group.

    Parameters
    ----------
    y_true : Survival or CalibrationData
        Times to an event, or a table of them that replaces scores and horizon.
    y_prob : array-like of shape (n_samples,), optional
        Predicted risks of the event by the horizon.
    horizon : float, optional
    n_groups : int
        Of as many cases each by rank of the score, from 2 to 100.
    variance : {"greenwood", "binomial"}
        Of the observed risk in a group: Greenwood's of Kaplan-Meier, with `n_groups` degrees of
        freedom, or that of known outcomes if the model is right, with `n_groups` - 1. The latter
        is the test as it was proposed; where many left early it rejects right models too often.

    Returns
    -------
    Tested
        A named tuple (statistic, pvalue, df).

    Raises
    ------
    InputError
        If these are no times and risks of the same cases, a group has no variance, or nobody in a
        group is under observation at some time before the horizon.

    Notes
    -----
    Leaving may depend on the score between groups, not within.

    References
    ----------
    D'Agostino & Nam, "Evaluation of the performance of survival analysis models: discrimination and
    calibration measures", Handbook of Statistics 23, 2003. Haider, Hoehn, Davis & Greiner,
    "Effective ways to build and evaluate individual survival distributions", Journal of Machine
    Learning Research 21, 2020. Demler, Paynter & Cook, "Tests of calibration and goodness-of-fit in
    the survival setting", Statistics in Medicine 34, 2015: "greenwood".

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal import estimators
    >>> outcome = bc.Survival([1, 2, 5, 5, 3, 5], [0, 1, 0, 0, 1, 0])
    >>> risk = [0.8, 0.7, 0.2, 0.4, 0.3, 0.1]
    >>> test = estimators.one_calibration_test(outcome, risk, horizon=5, n_groups=2)
    >>> round(test.statistic, 2), test.df
    (0.38, 2.0)
    """
    groups = as_count(n_groups, "n_groups", 2, 100)
    check_choice(variance, ("greenwood", "binomial"), "variance")
    cases = read_followed(y_true, y_prob, horizon)
    if cases.score.size < groups:
        raise InputError(
            f"n_groups is {groups}, and there are {cases.score.size} cases. Ask for fewer groups."
        )
    statistic = 0.0
    for mine in np.array_split(np.arange(cases.score.size), groups):
        group = cases.subset(mine)
        risk = float(group.score.mean())
        observed, error = group.kaplan_meier()
        square = error**2 if variance == "greenwood" else risk * (1 - risk) / mine.size
        if not square > 0:
            of = "the observed risk" if variance == "greenwood" else "the mean of y_prob"
            value = observed if variance == "greenwood" else risk
            raise InputError(
                f"{of} is {value:g} in one of {groups} groups, which then has no variance. Ask for "
                "fewer groups with n_groups."
            )
        statistic += (observed - risk) ** 2 / square
    df = groups - (variance == "binomial")
    return Tested(statistic, float(chdtrc(df, statistic)), float(df))
