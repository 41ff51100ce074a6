"""Times to an event in a PyMC model: curve and steps of Q together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayescal.core.symbolic import logit_of
from bayescal.model.likelihood.times.entries import entries_of, joined, law_of
from bayescal.model.problem import Problem

__all__ = ["observe_times"]

STEP_NAMES = ("step", "competing_step")
"""Coordinates of the steps of events, and of competing ones."""


def observe_times(problems: Sequence[Problem], score: Any, log_odds: Any) -> None:
    """Add the steps of Q and the likelihood to the open model.

    Parameters
    ----------
    problems : sequence of Problem
        One, or those of several groups that have their steps in common.
    score, log_odds : PyTensor variables of shape (rows,)
        Scores inside (0, 1), and log-odds of the curve, at the rows of the problems' tables, one
        table after the other.
    """
    import pymc as pm
    import pytensor.tensor as pt

    entries, law = joined([entries_of(problem) for problem in problems]), law_of(problems[0])
    model = pm.modelcontext(None)
    z = law.standardised(logit_of(score))
    partial, shares = entries.partial, []
    own = law.standardised(partial.x)
    trials = entries.events + entries.free
    total = (entries.events * log_odds - trials * pt.softplus(log_odds)).sum()
    for name, counted in zip(STEP_NAMES, entries.in_interval, strict=False):
        size = counted.shape[1]
        dims = "interval" if size == law.size else "interval_or_none"
        model.add_coord(dims, np.arange(1, size + 1))  # the last of these: no event of any kind
        centre, precision = law.prior_of_steps(size)
        a = pm.Normal(name, centre[:size], precision[:size] ** -0.5, dims=dims)
        c = pm.Normal(f"{name}_by_score", centre[size:], precision[size:] ** -0.5, dims=dims)
        some = counted.sum(axis=1) > 0
        q = pt.special.softmax(a + z[some, None] * c, axis=1)
        total += (counted[some] * pt.log(q)).sum()
        passed = law.passed(partial.step, size)
        steps = pt.special.softmax(a + own[:, None] * c, axis=1)
        shares.append((passed * steps).sum(axis=1))
    if partial.size:
        event = pt.sigmoid(log_odds[partial.row])
        without = sum(risk * share for risk, share in zip((event, 1 - event), shares, strict=False))
        total += (partial.weight * pt.log1p(-without)).sum()
    pm.Potential("followed", total)
