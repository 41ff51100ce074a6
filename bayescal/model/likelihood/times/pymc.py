"""Times to an event in a PyMC model: curve and steps of Q together."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal.model.likelihood.times.entries import entries_of, law_of
from bayescal.model.problem import Problem

__all__ = ["observe_times"]


def observe_times(problem: Problem, log_odds: Any) -> None:
    """Add the steps of Q and the likelihood to the open model.

    Parameters
    ----------
    log_odds : PyTensor variable of shape (rows,)
        Of the curve, at the rows of the problem's table.
    """
    import pymc as pm
    import pytensor.tensor as pt

    entries, law = entries_of(problem), law_of(problem)
    model = pm.modelcontext(None)
    model.add_coord("interval", np.arange(1, law.size + 1))
    a = pm.Normal("step", dims="interval")
    c = pm.Normal("step_by_score", dims="interval")
    z = law.standardised(np.log(problem.table.score) - np.log1p(-problem.table.score))
    some = entries.events > 0
    q = pt.special.softmax(a + z[some, None] * c, axis=1)
    trials = entries.events + entries.free
    total = (entries.events * log_odds - trials * pt.softplus(log_odds)).sum()
    total += (entries.in_interval[some] * pt.log(q)).sum()
    partial = entries.partial
    if partial.size:
        interval, fraction = law.located(partial.step)
        passed = (np.arange(law.size) < interval[:, None]).astype(np.float64)
        passed[np.arange(partial.size), interval] = fraction
        own = law.standardised(partial.x)
        share = (passed * pt.special.softmax(a + own[:, None] * c, axis=1)).sum(axis=1)
        event = pt.sigmoid(log_odds[partial.row])
        total += (partial.weight * pt.log1p(-event * share)).sum()
    pm.Potential("followed", total)
