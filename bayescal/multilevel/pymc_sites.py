"""The curves of several sites as one PyMC model: the reference for hierarchical fits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.data.table import Rows
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.problem import Problem
from bayescal.model.pymc.model import coordinates_of_model
from bayescal.multilevel.sites_problem import MOST_SITE_ROWS, SitesProblem
from bayescal.multilevel.summary import Summary

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["sites_model"]


def sites_model(problem: SitesProblem, *, merged: bool = True) -> pm.Model:
    """The PyMC model of several sites, not centred: sites are the average plus scaled normals.

    Parameters
    ----------
    problem : SitesProblem
    merged : bool
        Whether neighbouring rows of a site's table are merged past 64 of them.

    Returns
    -------
    pymc.Model
        With coordinates `site` and `row`, and data `site_of_row`; and a potential for each site
        that is known by its summaries.
    """
    import pymc as pm
    import pytensor.tensor as pt

    pooled, prior = problem.pooled, problem.heterogeneity
    curve, frame, varying = pooled.curve, pooled.frame, problem.varying
    tables: list[Problem | Rows] = [
        replace(site, most_rows=MOST_SITE_ROWS) if merged else site.table
        for site in problem.tables.values()
    ]
    score, trials, hits = (
        np.concatenate([np.empty(0), *(getattr(table, name) for table in tables)])
        for name in ("score", "trials", "hits")
    )
    indices = [problem.labels.index(label) for label in problem.tables]
    site = np.repeat(np.array(indices, np.intp), [table.score.size for table in tables])
    offset, basis = curve.basis(score, frame)
    with pm.Model() as model:
        model.add_coord("site", list(problem.labels))
        model.add_coord("row", np.arange(score.size))
        of_row = pm.Data("site_of_row", site, dims="row")
        average = dict(zip(curve.coordinates, coordinates_of_model(pooled), strict=True))
        scales = {
            name: pm.HalfStudentT(f"sd_{name}", nu=prior.nu, sigma=getattr(prior, name))
            for name in varying
        }
        standard: list[Any] = [pm.Normal(f"standard_{name}", dims="site") for name in varying]
        if len(varying) > 1:
            unit = pm.Beta("unit_correlation", prior.correlation, prior.correlation)
            correlation = pm.Deterministic("correlation", 2 * unit - 1)
            own = pt.sqrt((1 - correlation) * (1 + correlation))
            standard[1] = correlation * standard[0] + own * standard[1]
        each = dict(average)
        for name, of_site in zip(varying, standard, strict=True):
            drawn = average[name] + scales[name] * of_site
            each[name] = pm.Deterministic(f"site_{name}", drawn, dims="site")
        for label, summary in problem.summaries.items():
            at = problem.labels.index(label)
            own = [each[name][at] if name in varying else each[name] for name in each]
            pm.Potential(f"known_{label}", _known_log_likelihood(summary, own))
        if not tables:
            return model
        by_row = [each[name][of_row] if name in varying else each[name] for name in each]
        coefficients = curve.coefficients(by_row, pt.exp)
        log_odds = offset + sum(
            coefficient * column for coefficient, column in zip(coefficients, basis.T, strict=True)
        )
        BINOMIAL.observe(
            "hits", (pm.Data("trials", trials, dims="row"), log_odds, hits), (), dims="row"
        )
    return model


def _known_log_likelihood(summary: Summary, u: list[Any]) -> Any:
    """Of one site's working coordinates, given its summaries."""
    import pytensor.tensor as pt

    coefficients = pt.stack([1.0, *summary.problem.curve.coefficients(u, pt.exp)])
    mean = pt.dot(pt.sigmoid(pt.dot(coefficients, summary.columns)), summary.weight)
    return summary.log_likelihood(mean, pt.dot(coefficients, summary.line), pt.log, pt.log1p)
