"""What clusters make of the number of cases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from bayescal._base.logistic import fit_logistic
from bayescal.model.clusters.sandwich import sandwich
from bayescal.model.problem import Problem

__all__ = ["Design", "cluster_design"]


@dataclass(frozen=True)
class Design:
    """Clusters, and how many independent cases would tell as much.

    Attributes
    ----------
    clusters, strata : int
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
    """

    clusters: int
    strata: int
    effect: float
    slope_effect: float
    degrees: float
    inflation: float
    n: float
    effective_n: float

    def to_dict(self) -> dict[str, float]:
        """What a reader of diagnostics is told."""
        return {
            "clusters": self.clusters,
            "strata": self.strata,
            "design_effect": self.effect,
            "design_effect_slope": self.slope_effect,
            "effective_n": self.effective_n,
        }

    def __str__(self) -> str:
        strata = f" in {self.strata} strata" if self.strata > 1 else ""
        return (
            f"{self.clusters:,} clusters{strata}; effective n "
            f"{min(self.effective_n, self.n):,.0f} of {self.n:,.0f}"
        )


def cluster_design(problem: Problem) -> Design:
    """Design effects of a table with clusters, round its logistic recalibration.

    Parameters
    ----------
    problem : Problem
        With clusters; of any family.

    Returns
    -------
    Design
    """
    clusters = problem.clusters
    assert clusters is not None
    x, trials = problem.log_odds, problem.trials
    basis = np.stack([np.ones_like(x), x])
    start = np.array([0.0, 1.0])
    coef, _ = fit_logistic(basis, trials, (basis @ problem.hits)[None], start=start)
    fitted = expit(coef[0] @ basis)
    weight = trials * fitted * (1 - fitted)
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
