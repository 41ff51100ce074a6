"""What clusters make of the number of cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayescal.core.optimise import fit_logistic
from bayescal.data.rows import Rows
from bayescal.model.clusters.sandwich import sandwich
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.times.rows import likeliest_line
from bayescal.model.problem import Problem

__all__ = ["Design", "cluster_design", "is_separated"]

ONE_CASE_A_CLUSTER = (
    "outcomes are separated by the scores or of one class, so that nothing says how alike the "
    "cases of a cluster are: each cluster counts as one case"
)


@dataclass(frozen=True)
class Design:
    """Clusters, and how many independent cases would tell as much.

    Attributes
    ----------
    effect : float
        Design effect of the number of events: the variance of observed less expected, over that
        of independent cases.
    slope_effect : float
        Design effect of the calibration slope.
    degrees : float
        Degrees of freedom of the estimated variance.
    inflation : float
        Of variances, for the degrees of freedom.
    n, effective_n : float
        Cases that the likelihood would count, and these over the design effect.
    separated : bool
        Whether the scores separate the outcomes, or these are of one class. The sandwich is then
        0/0, and every cluster counts as one case.
    """

    clusters: int
    strata: int
    effect: float
    slope_effect: float
    degrees: float
    inflation: float
    n: float
    effective_n: float
    separated: bool = False

    @classmethod
    def mean(cls, each: Sequence[Design]) -> Design:
        """That of several imputations: the mean of their effects."""
        names = ("effect", "slope_effect", "degrees", "inflation", "effective_n")
        means: dict[str, Any] = {
            name: float(np.mean([getattr(one, name) for one in each])) for name in names
        }
        return replace(each[0], **means, separated=any(one.separated for one in each))

    @property
    def verdict(self) -> str:
        """Whether the design effects can be trusted: "ok", or why not."""
        return ONE_CASE_A_CLUSTER if self.separated else "ok"

    def to_dict(self) -> dict[str, float]:
        """What a reader of diagnostics is told."""
        return {
            "clusters": self.clusters,
            "strata": self.strata,
            "design_effect": self.effect,
            "design_effect_slope": self.slope_effect,
            "effective_n": self.effective_n,
            "separated": self.separated,
        }

    def __str__(self) -> str:
        strata = f" in {self.strata} strata" if self.strata > 1 else ""
        return (
            f"{self.clusters:,} clusters{strata}; effective n "
            f"{min(self.effective_n, self.n):,.0f} of {self.n:,.0f}"
            f"{', one a cluster' if self.separated else ''}"
        )


def is_separated(table: Rows) -> bool:
    """Whether a threshold on the scores parts the outcomes, which have then no best logistic curve.

    Returns
    -------
    bool
        True also of one class; False of both classes at one score.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.data.rows import Rows
    >>> from bayescal.model.clusters.design import is_separated
    >>> scores, trials = np.array([0.1, 0.4, 0.8]), np.array([2.0, 2.0, 2.0])
    >>> [is_separated(Rows(scores, trials, np.array(hits))) for hits in ([0.0, 1, 2], [0.0, 2, 1])]
    [True, False]
    """
    with_event, without = table.score[table.hits > 0], table.score[table.hits < table.trials]
    if not with_event.size or not without.size:
        return True
    apart = with_event.min() >= without.max() or with_event.max() <= without.min()
    return bool(apart and table.score[0] < table.score[-1])


def cluster_design(problem: Problem) -> Design:
    """Design effects of a table with clusters, round its logistic recalibration.

    Where there is no such recalibration, since the outcomes are separated, every cluster counts as
    one case.

    Parameters
    ----------
    problem : Problem
        With clusters; of any family.
    """
    clusters = problem.clusters
    assert clusters is not None
    if is_separated(problem.table):
        effective = min(float(clusters.size), problem.n)
        effect = problem.n / effective
        return Design(
            *(clusters.size, clusters.strata, effect, effect, np.inf, 1.0, problem.n, effective),
            separated=not clusters.are_single,
        )
    x, trials = problem.log_odds, problem.trials
    basis = np.stack([np.ones_like(x), x])
    if problem.of_times:
        coef = likeliest_line(problem)
    else:
        start = np.array([0.0, 1.0])
        coef = fit_logistic(basis, trials, (basis @ problem.hits)[None], start=start)[0][0]
    fitted = BINOMIAL.mean(coef @ basis)
    weight = BINOMIAL.spread(trials, fitted)
    total = weight.sum()
    middle = weight @ x / total if total > 0 else 0.0
    about = sandwich(problem, np.column_stack([basis[0], x - middle]), fitted, np.eye(2))
    effect, slope_effect = map(float, about.effect)
    return Design(
        clusters.size,
        clusters.strata,
        effect,
        slope_effect,
        about.degrees,
        about.inflation,
        problem.n,
        problem.n / effect,
    )
