"""Pseudo-values: what each case adds to Kaplan-Meier's risk by the horizon."""

from __future__ import annotations

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.cox import at_risk
from bayescal.data.follow_up import TIME_STEPS
from bayescal.estimators.survival.cases import Followed

__all__ = ["pseudo_values"]


def pseudo_values(cases: Followed) -> Floats:
    """The n times of Kaplan-Meier's risk less n - 1 times that without the case.

    Of a case whose outcome is known in a study without censoring it is the outcome.

    Parameters
    ----------
    cases : Followed

    Returns
    -------
    ndarray of shape (n,)

    References
    ----------
    Andersen, Klein & Rosthøj, "Generalised linear models for correlated pseudo-observations, with
    applications to multi-state models", Biometrika 90, 2003.
    """
    cases.refuse_late_entry("the pseudo-value")
    size, (risk, _) = cases.score.size, cases.kaplan_meier()
    at = at_risk(cases.entry, cases.last, np.ones(size), TIME_STEPS)[1:]
    at = np.maximum(at, 1)
    died = np.bincount(cases.last[cases.event], minlength=TIME_STEPS + 1)[1:]
    # without a case: one fewer at risk in the steps that it was there, no other change
    without = np.cumprod(np.concatenate([[1.0], 1 - died / np.maximum(at - 1, 1)]))
    rest = np.cumprod(np.concatenate([[1.0], (1 - died / at)[::-1]]))[::-1]
    last = cases.last
    own = np.maximum(last, 1) - 1
    here = (1 - (died[own] - cases.event) / np.maximum(at[own] - 1, 1)) * (last > 0) + (last == 0)
    alive = without[own] * here * np.where(last > 0, rest[last], 1 - risk)
    return np.asarray(size * risk - (size - 1) * (1 - alive))
