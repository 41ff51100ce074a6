"""Several related curves as one PyMC model, sampled by NUTS: the reference for the fast engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.core.versions import sample_nuts
from bayescal.data.rows import Rows
from bayescal.inference.nuts import as_sampler
from bayescal.model.draws import CHAINS
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.times.pymc import observe_times
from bayescal.model.problem import Problem
from bayescal.model.pymc.model import coordinates_of_model
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.problem import MOST_SITE_ROWS, MultilevelProblem
from bayescal.multilevel.robust import (
    LOG_ODDS_UNLIKE,
    log_weights_of_shares,
    one_of_shares,
    shares_unlike,
    unlike_scale,
)
from bayescal.multilevel.summary import Summary
from bayescal.multilevel.term import Term
from bayescal.posterior.checks.verdict import convergence

if TYPE_CHECKING:
    import pymc as pm

__all__ = ["multilevel_model", "sample_terms_nuts"]


def multilevel_model(problem: MultilevelProblem, *, merged: bool = True) -> pm.Model:
    """The PyMC model of several curves, not centred: effects are scaled standard normals.

    Parameters
    ----------
    merged : bool
        Whether neighbouring rows of a group's table are merged past 64 of them, but for those of
        times to an event.

    Returns
    -------
    pymc.Model
        With coordinates `site` (or `period`, or `cell`) and `row`, and data `site_of_row`; scales
        `sd_shift` and `sd_log_slope`, with the number of the term where there are several; of a
        robust term the `log_ratio_unlike` of each level, and the potential `robust`, which sums
        over whether each level is unlike the others; and a potential for each site that is known by
        its summaries.
    """
    import pymc as pm
    import pytensor.tensor as pt

    pooled, curve, dim = problem.pooled, problem.pooled.curve, problem.dim
    merged = merged and not pooled.of_times
    tables: list[Problem | Rows] = [
        replace(group, most_rows=MOST_SITE_ROWS) if merged else group.table
        for group in problem.tables.values()
    ]
    score, trials, hits = (
        np.concatenate([np.empty(0), *(getattr(table, name) for table in tables)])
        for name in ("score", "trials", "hits")
    )
    indices = [problem.labels.index(label) for label in problem.tables]
    group = np.repeat(np.array(indices, np.intp), [table.score.size for table in tables])
    offset, basis = curve.basis(score, pooled.frame)
    with pm.Model() as model:
        model.add_coord(dim, list(problem.labels))
        model.add_coord("row", np.arange(score.size))
        of_row = pm.Data(f"{dim}_of_row", group, dims="row")
        each = dict(zip(curve.coordinates, coordinates_of_model(pooled), strict=True))
        moved = {name: each[name] for name in problem.varying}
        for number, term in enumerate(problem.terms):
            for name, effect in _effects(problem, term, _suffix(problem, number)).items():
                moved[name] = moved[name] + effect
        for name, of_group in moved.items():
            each[name] = pm.Deterministic(f"{dim}_{name}", of_group, dims=dim)
        for label, summary in problem.summaries.items():
            at = problem.labels.index(label)
            own = [each[name][at] if name in moved else each[name] for name in each]
            pm.Potential(f"known_{label}", _known_log_likelihood(summary, own))
        if not tables:
            return model
        by_row = [each[name][of_row] if name in moved else each[name] for name in each]
        coefficients = curve.coefficients(by_row, pt.exp)
        if problem.adjustments:
            everywhere = np.zeros(len(problem.labels))
            read = _in_clusters(
                problem, curve.coefficients([u + everywhere for u in each.values()], pt.exp)
            )
            coefficients = [of_group[of_row] for of_group in read]
        log_odds = offset + sum(
            coefficient * column for coefficient, column in zip(coefficients, basis.T, strict=True)
        )
        if pooled.of_times:
            observe_times(list(problem.tables.values()), log_odds)
            return model
        BINOMIAL.observe(
            "hits", (pm.Data("trials", trials, dims="row"), log_odds, hits), dims="row"
        )
    return model


def _in_clusters(problem: MultilevelProblem, coefficients: list[Any]) -> list[Any]:
    """Coefficients by group at which the likelihood of independent cases is read.

    A potential adds what clusters add beside it.
    """
    import pymc as pm

    size = len(problem.labels)
    k = len(coefficients)
    top, linear, contraction = np.zeros((k, size)), np.zeros((k, size)), np.zeros((k, k, size))
    contraction += np.eye(k)[..., None]
    for group, adjustment in problem.adjustments.items():
        top[:, group], contraction[..., group] = adjustment.top, adjustment.contraction
        linear[:, group] = adjustment.linear
    away = [each - at for each, at in zip(coefficients, top, strict=True)]
    pm.Potential("clusters", sum((by * off).sum() for by, off in zip(linear, away, strict=True)))
    return [
        at + sum(by * off for by, off in zip(row, away, strict=True))
        for at, row in zip(top, contraction, strict=True)
    ]


def _suffix(problem: MultilevelProblem, number: int) -> str:
    return f"_{number}" if len(problem.terms) > 1 else ""


def _effects(problem: MultilevelProblem, term: Term, suffix: str) -> dict[str, Any]:
    """Effects of a term on each coordinate that differs, by group."""
    import pymc as pm
    import pytensor.tensor as pt

    prior = term.prior
    scales = [
        pm.HalfStudentT(f"sd_{name}{suffix}", nu=prior.nu, sigma=getattr(prior, name))
        for name in problem.varying
    ]
    standard: list[Any] = [
        pm.Normal(f"standard_{name}{suffix}", shape=term.innovations) for name in problem.varying
    ]
    independent, own = list(standard), 1.0
    if term.correlated and len(standard) > 1:
        unit = pm.Beta("unit_correlation", prior.correlation, prior.correlation)
        correlation = pm.Deterministic("correlation", 2 * unit - 1)
        own = pt.sqrt((1 - correlation) * (1 + correlation))
        standard[1] = correlation * standard[0] + own * standard[1]
    of_group = np.array(term.of_group, np.intp)
    if term.kind == "walk":
        by_group = [pt.dot(term.design[of_group], each) for each in standard]
    else:
        by_group = [each[of_group] for each in standard]
    scaled = [scale * each for scale, each in zip(scales, by_group, strict=True)]
    if term.robust:
        farther = [
            unlike_scale(problem.prior_of_unlike, name, scale)
            for name, scale in zip(problem.varying, scales, strict=True)
        ]
        log_ratio = pt.log(own)
        for z, effect, scale, far in zip(independent, standard, scales, farther, strict=True):
            log_ratio += (z**2 - (scale * effect / far) ** 2) / 2 + pt.log(scale / far)
        if not term.correlated:
            log_ratio = pm.Deterministic("log_ratio_unlike", log_ratio)
            log_odds = log_ratio + LOG_ODDS_UNLIKE
            pm.Potential("robust", (pt.softplus(log_odds) - np.logaddexp(0, LOG_ODDS_UNLIKE)).sum())
            return dict(zip(problem.varying, scaled, strict=True))
        log_ratio = pm.Deterministic("log_ratio_unlike", log_ratio[of_group], dims=problem.dim)
        shares, log_prior = shares_unlike(len(problem.labels))
        each = pt.softplus(log_ratio + logit(shares)[:, None]) + np.log1p(-shares)[:, None]
        pm.Potential("robust", pt.logsumexp(each.sum(axis=1) + log_prior))
    return dict(zip(problem.varying, scaled, strict=True))


def _known_log_likelihood(summary: Summary, u: list[Any]) -> Any:
    """Of one site's working coordinates, given its summaries."""
    import pytensor.tensor as pt

    coefficients = pt.stack([1.0, *summary.problem.curve.coefficients(u, pt.exp)])
    mean = pt.dot(pt.sigmoid(pt.dot(coefficients, summary.columns)), summary.weight)
    return summary.log_likelihood(mean, pt.dot(coefficients, summary.line), pt.log, pt.log1p)


def sample_terms_nuts(
    problem: MultilevelProblem, draws: int, sampler: Mapping[str, Any] | None = None
) -> MultilevelDraws:
    """Posterior draws of several curves from four chains; so many in all."""
    posterior, stats, _ = sample_nuts(
        multilevel_model(problem),
        draws=draws // CHAINS,
        chains=CHAINS,
        seed=int(problem.pooled.rng("nuts").integers(2**31)),
        **as_sampler(sampler),
    )
    varying = problem.varying

    def values(name: str) -> Floats:
        drawn = posterior[name].transpose("chain", "draw", ...).to_numpy()
        return np.asarray(drawn.reshape(-1, *drawn.shape[2:]), np.float64)

    average = np.column_stack([values(name) for name in problem.pooled.curve.coordinates])
    kept = [str(name) for name in posterior.data_vars if not str(name).startswith("standard_")]
    numbers = convergence(posterior[kept]) | {"divergences": float(stats["diverging"].sum())}
    suffixes = [_suffix(problem, number) for number in range(len(problem.terms))]
    scales = np.stack([np.column_stack([values(f"sd_{n}{s}") for n in varying]) for s in suffixes])
    if not problem.terms[0].correlated:
        effects = []
        for term, suffix, scale in zip(problem.terms, suffixes, scales, strict=True):
            standard = [values(f"standard_{name}{suffix}") @ term.design.T for name in varying]
            effects.append((np.stack(standard, axis=-1) * scale[:, None]).transpose(1, 0, 2))
        drawn = MultilevelDraws.of_effects(
            problem, average, scales, tuple(effects), "nuts", CHAINS, numbers
        )
        if problem.robust_term is None:
            return drawn
        prob = expit(values("log_ratio_unlike").T + LOG_ODDS_UNLIKE)
        unlike = problem.pooled.rng("unlike levels").random(prob.shape) < prob
        return replace(drawn, unlike=unlike[list(problem.robust_term.of_group)])
    groups = np.repeat(average[None], len(problem.labels), axis=0)
    for name, column in zip(varying, problem.columns, strict=True):
        groups[:, :, column] = values(f"{problem.dim}_{name}").T
    correlation = values("correlation") if len(varying) > 1 else np.zeros(len(average))
    robust: dict[str, Any] = {}
    if problem.terms[0].robust:
        rng, log_ratio = problem.pooled.rng("unlike sites"), values("log_ratio_unlike").T
        shares = shares_unlike(len(log_ratio))
        share = one_of_shares(shares[0], log_weights_of_shares(log_ratio, shares), rng)
        unlike = rng.random(log_ratio.shape) < expit(logit(share) + log_ratio)
        robust = {"share_unlike": share, "unlike": unlike}
    return MultilevelDraws(
        *(problem, average, groups, scales, CHAINS, "nuts", numbers, correlation), **robust
    )
