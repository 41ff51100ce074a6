"""Several related curves: a PyMC model sampled by NUTS, and which engine serves a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from bayescal.core.arrays import Floats
from bayescal.data.rows import Rows
from bayescal.inference.curve import Sampler, by_engine, sample_model
from bayescal.model.problem import Problem
from bayescal.model.pymc import Observations, joined_rows, model_of
from bayescal.multilevel.changes import draw_terms
from bayescal.multilevel.curves import Curves
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.known import Summary
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.problem import MOST_SITE_ROWS, MultilevelProblem
from bayescal.multilevel.term import (
    LOG_ODDS_UNLIKE,
    Term,
    log_weights_of_shares,
    one_of_shares,
    shares_unlike,
    unlike_scale,
)
from bayescal.posterior.words import convergence

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


def model_of_terms(
    problem: MultilevelProblem, rows: Observations | None = None, *, named: bool = False
) -> pm.Model:
    """The PyMC model of several curves, not centred: effects are scaled standard normals.

    It has the scales `sd_shift` and `sd_log_slope` by `term`; of a robust term the
    `log_ratio_unlike` of each level, and the potential `robust`, which sums over whether each level
    is unlike the others. Rows are by default those of all groups, merged past 64 of a group.
    """
    if rows is None:
        of_times, tables = problem.pooled.of_times, problem.tables
        of_groups: list[Problem | Rows] = [
            group.table if of_times else replace(group, most_rows=MOST_SITE_ROWS)
            for group in tables.values()
        ]
        rows = joined_rows(of_groups, [problem.labels.index(label) for label in tables])
    return model_of(problem.pooled, rows, _Curves(problem), named=named)


class _Curves:
    """The curves of a problem's groups, as `model_of` asks for them."""

    def __init__(self, problem: MultilevelProblem) -> None:
        self.problem, self.dim, self.labels = problem, problem.dim, problem.labels
        self.tables, self.is_flattened = problem.tables, bool(problem.adjustments)

    def moved(self, average: dict[str, Any]) -> dict[str, Any]:
        """The coordinates that effects move, by group."""
        import pymc as pm

        problem = self.problem
        moved = {name: average[name] for name in problem.varying}
        pm.modelcontext(None).add_coord("term", [term.name for term in problem.terms])
        scales = {name: _scales(problem, name) for name in problem.varying}
        for number, term in enumerate(problem.terms):
            own = [scales[name][number] for name in problem.varying]
            for name, effect in _effects(problem, term, _suffix(problem, number), own).items():
                moved[name] = moved[name] + effect
        for name, of_group in moved.items():
            moved[name] = pm.Deterministic(f"{self.dim}_{name}", of_group, dims=self.dim)
        for label, summary in problem.summaries.items():
            at = problem.labels.index(label)
            own = [moved[name][at] if name in moved else u for name, u in average.items()]
            pm.Potential(f"known_{label}", _known_log_likelihood(summary, own))
        return moved

    def flattened(self, coefficients: list[Any]) -> list[Any]:
        """Coefficients by group at which the likelihood of independent cases is read.

        A potential adds what clusters add beside it.
        """
        import pymc as pm

        size = len(self.labels)
        k = len(coefficients)
        top, linear, contraction = np.zeros((k, size)), np.zeros((k, size)), np.zeros((k, k, size))
        contraction += np.eye(k)[..., None]
        for group, adjustment in self.problem.adjustments.items():
            top[:, group], contraction[..., group] = adjustment.top, adjustment.contraction
            linear[:, group] = adjustment.linear
        away = [each - at for each, at in zip(coefficients, top, strict=True)]
        told = sum((by * off).sum() for by, off in zip(linear, away, strict=True))
        pm.Potential("clusters", told)
        return [
            at + sum(by * off for by, off in zip(row, away, strict=True))
            for at, row in zip(top, contraction, strict=True)
        ]


def _suffix(problem: MultilevelProblem, number: int) -> str:
    return f"_{number}" if len(problem.terms) > 1 else ""


def _scales(problem: MultilevelProblem, name: str) -> Any:
    """Of each term, the scale of its effects on a coordinate."""
    import pymc as pm

    priors = [term.prior for term in problem.terms]
    nu, sigma = (np.array([getattr(each, of) for each in priors]) for of in ("nu", name))
    return pm.HalfStudentT(f"sd_{name}", nu=nu, sigma=sigma, dims="term")


def _effects(
    problem: MultilevelProblem, term: Term, suffix: str, scales: list[Any]
) -> dict[str, Any]:
    """Effects of a term on each coordinate that differs, by group."""
    import pymc as pm
    import pytensor.tensor as pt

    prior = term.prior
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


def sample_terms_nuts(problem: MultilevelProblem, draws: int, sampler: Sampler) -> MultilevelDraws:
    """Posterior draws of several curves; so many in all, over the chains."""
    seed = int(problem.pooled.rng("nuts").integers(2**31))
    return draws_of_trace(problem, *sample_model(model_of_terms(problem), draws, seed, sampler))


def draws_of_trace(
    problem: MultilevelProblem, posterior: xr.Dataset, stats: xr.Dataset
) -> MultilevelDraws:
    """The draws of several curves that a trace of their PyMC model holds."""
    varying, chains = problem.varying, posterior.sizes["chain"]

    def values(name: str) -> Floats:
        drawn = posterior[name].transpose("chain", "draw", ...).to_numpy()
        return np.asarray(drawn.reshape(-1, *drawn.shape[2:]), np.float64)

    average = np.column_stack([values(name) for name in problem.pooled.curve.coordinates])
    by_group = [f"{problem.dim}_{name}" for name in varying]
    kept = [*problem.pooled.curve.coordinates, *by_group, *(f"sd_{name}" for name in varying)]
    kept += [name for name in ("correlation", "log_ratio_unlike") if name in posterior]
    numbers = convergence(posterior[kept]) | {"divergences": float(stats["diverging"].sum())}
    scales = np.stack([values(f"sd_{name}") for name in varying], axis=-1).transpose(1, 0, 2)
    if not problem.terms[0].correlated:
        effects = []
        for number, (term, scale) in enumerate(zip(problem.terms, scales, strict=True)):
            suffix = _suffix(problem, number)
            standard = [values(f"standard_{name}{suffix}") @ term.design.T for name in varying]
            effects.append((np.stack(standard, axis=-1) * scale[:, None]).transpose(1, 0, 2))
        drawn = MultilevelDraws.of_effects(
            problem, average, scales, tuple(effects), "nuts", chains, numbers
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
        *(problem, average, groups, scales, chains, "nuts", numbers, correlation), **robust
    )


def fit_problem(
    problem: MultilevelProblem, draws: int, engine: str, sampler: Sampler
) -> MultilevelPosterior:
    """The posterior of several curves, by whichever engine serves."""
    no_nuts = ""
    if problem.is_walk:
        no_nuts = (
            "engine='nuts' cannot be used with period=: explanations of a change are averaged by "
            "their evidence, which NUTS does not compute. Use engine='auto'."
        )

    def fast() -> tuple[MultilevelDraws, str]:
        drawn = draw_terms(problem, draws)
        return drawn, drawn.verdict

    def nuts(sampler: Sampler) -> tuple[MultilevelDraws, str]:
        drawn = sample_terms_nuts(problem, draws, sampler)
        return drawn, drawn.verdict

    drawn = by_engine(problem.pooled, engine, sampler, fast, nuts, no_nuts=no_nuts)
    return MultilevelPosterior([Curves(drawn)])
