"""Groups whose curves are sums of effects as one PyMC model: the reference for the fast engine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.pymc.model import coordinates_of_model
from bayescal.multilevel.problem import EffectsProblem
from bayescal.multilevel.sites_problem import MOST_SITE_ROWS

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["effects_model"]


def effects_model(problem: EffectsProblem) -> pm.Model:
    """The PyMC model of groups with effects, not centred: effects are scaled standard normals.

    Parameters
    ----------
    problem : EffectsProblem

    Returns
    -------
    pymc.Model
        Its scales are `sd_{coordinate}_{term}`, and its standard normals
        `standard_{coordinate}_{term}`, with terms by number, from zero.
    """
    import pymc as pm
    import pytensor.tensor as pt

    pooled, curve = problem.pooled, problem.pooled.curve
    tables = [replace(each, most_rows=MOST_SITE_ROWS) for each in problem.groups.values()]
    score, trials, hits = (
        np.concatenate([getattr(table, name) for table in tables])
        for name in ("score", "trials", "hits")
    )
    group = np.repeat(np.arange(len(tables)), [table.score.size for table in tables])
    offset, basis = curve.basis(score, pooled.frame)
    with pm.Model() as model:
        u: dict[str, Any] = dict(zip(curve.coordinates, coordinates_of_model(pooled), strict=True))
        for name in problem.varying:
            of_group = u[name] * np.ones(len(tables))
            for number, term in enumerate(problem.terms):
                scale = pm.HalfStudentT(
                    f"sd_{name}_{number}", nu=term.prior.nu, sigma=getattr(term.prior, name)
                )
                standard = pm.Normal(f"standard_{name}_{number}", shape=term.innovations)
                design = term.design[list(term.of_group)]
                of_group = of_group + scale * pt.dot(design, standard)
            u[name] = of_group[group]
        coefficients = curve.coefficients(list(u.values()), pt.exp)
        log_odds = offset + sum(
            coefficient * column for coefficient, column in zip(coefficients, basis.T, strict=True)
        )
        BINOMIAL.observe("hits", (trials, log_odds, hits), ())
    return model
