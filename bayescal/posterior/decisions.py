"""Decisions at a threshold: strategies, their net benefit, and the value of information."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayescal.core import decision
from bayescal.core.arrays import Floats, blocks
from bayescal.core.decision import least_treated
from bayescal.core.errors import InputError, as_count, as_items, check_choice
from bayescal.core.optimise import clipped
from bayescal.core.versions import one_blas_thread
from bayescal.model.problem import Problem
from bayescal.posterior.evaluation import CurvesOfTable
from bayescal.posterior.functionals import CurveDraws, net_benefit, net_benefit_of_all
from bayescal.posterior.imputed import mixed
from bayescal.posterior.population import Population

if TYPE_CHECKING:
    import xarray as xr

# The strategies, the simplest first.
STRATEGIES = ("treat_none", "treat_all", "model", "updated_model")


class Treated(NamedTuple):
    """Whom a strategy treats at some thresholds, by rows of a problem.

    `excess` (rows, thresholds): what the scores of the treated add, where the cases of a row differ
    in score.
    """

    share: Floats  # (rows, thresholds): share of the cases of each row that are treated
    excess: Floats


def by_score(problem: Problem, thresholds: Floats) -> Treated:
    """Treat the cases whose score, as it was given, reaches the threshold.

    `thresholds` (thresholds,).
    """
    return _treated(problem, problem.data.share_reaching(thresholds))


def by_mean_curve(
    of: CurvesOfTable, thresholds: Floats, parts: Sequence[CurvesOfTable] = ()
) -> Treated:
    """Treat the cases at whose score the mean of the curves reaches the threshold.

    `thresholds` (thresholds,); `parts`: of all tables, if the mean is that of the curves of
    several.
    """
    problem, score = of.problem, of.problem.data.score
    mean = np.mean([_mean_at(score, each) for each in parts or (of,)], axis=0)
    reaching = mean[:, None] >= least_treated(thresholds)
    return _treated(problem, reaching.astype(np.float64))


def _mean_at(score: Floats, of: CurvesOfTable) -> Floats:
    """The mean of the curves of one table."""
    curves, size = of.problem.curves_at(score), len(of.u)
    parts = blocks(size, score.size)
    total = np.sum([curves.probability(of.u[part]).sum(axis=0) for part in parts], axis=0)
    return np.asarray(total / size)


def _treated(problem: Problem, reaching: Floats) -> Treated:
    share = problem.mean_of_rows(reaching)
    scores = problem.mean_of_rows(clipped(problem.data.score)[:, None] * reaching)
    return Treated(share, scores - problem.stated[:, None] * share)


def benefits(
    draws: CurveDraws, thresholds: Floats, model: Treated, updated: Treated | None = None
) -> Floats:
    """Net benefit of each strategy, in each draw.

    `thresholds` (thresholds,); `model`: by the score; `updated`: by the mean curve; returns
    (strategies, draws, thresholds): in the order of `STRATEGIES`; the last is left out where it is
    not given.
    """
    everyone = net_benefit_of_all(draws, thresholds)
    by_treated = [
        net_benefit(draws, thresholds, *treated)
        for treated in (model, updated)
        if treated is not None
    ]
    return np.stack([np.zeros_like(everyone), everyone, *by_treated])


def value_of_curve(draws: CurveDraws, thresholds: Floats) -> Floats:
    """Net benefit of treating wherever the curve of the draw reaches the threshold.

    E_w max(g - t, 0) / (1 - t): no other rule that depends on the score has more.
    `thresholds` (thresholds,); returns (draws, thresholds).
    """
    above = [draws.mean(np.maximum(draws.curve - t, 0)) / (1 - t) for t in thresholds]
    return np.stack(above, axis=1)


N_FUTURES = 2000
ROUNDING = 1e-12
CELL_DRAWS = 1 << 16

# Variables of the value of information, by name: by threshold first; net benefits and their chance
# to be best then by strategy, what is expected of further cases then by their number.
Values = dict[str, Floats]


def futures_of(of: CurvesOfTable, population: str) -> Callable[[int], Iterator[CurveDraws]]:
    """Posterior means after simulated data sets of so many cases, one row a data set, in blocks.

    Each data set is of a curve and a population of the posterior. The mean curve is that of the
    draws, weighted by the likelihood of the new outcomes; the mean population is exact, since curve
    and population are independent, given the data.
    """
    problem, rng = of.problem, of.problem.rng("value of information")
    index = np.sort(rng.choice(len(of.u), min(N_FUTURES, len(of.u)), replace=False))
    share = np.concatenate(
        [
            np.broadcast_to(draws.population.weight, draws.curve.shape)[index[own] - part.start]
            for part, draws in of.draws(population)
            if (own := (index >= part.start) & (index < part.stop)).any()
        ]
    )
    law, trials = problem.likelihood, problem.trials
    log_likelihood = law.of_tables(problem.curves_at().log_odds(of.u))

    def after(n_more: int) -> Iterator[CurveDraws]:
        for part in blocks(index.size, len(of.observed)):
            cases = rng.multinomial(n_more, share[part])
            hits = law.draw(rng, cases, of.observed[index[part]]).astype(np.float64)
            log_weight = log_likelihood(cases.astype(np.float64), hits)
            weight = np.exp(log_weight - logsumexp(log_weight, axis=1, keepdims=True))
            seen = np.zeros(cases.shape) if population == "sample" else cases
            rows = (trials + seen) / (trials.sum() + seen.sum(axis=1, keepdims=True))
            yield CurveDraws(weight @ of.observed, Population(problem.stated, rows))

    return after


def by_curve(
    parts: Sequence[CurvesOfTable],
    thresholds: Floats,
    sizes: Sequence[int],
    population: str,
) -> Values:
    """By the posterior of the curve and the population of the scores.

    `parts`: the curves of each table; `thresholds` (thresholds,); `sizes`: numbers of further
    cases.
    """
    treated = [
        (by_score(of.problem, thresholds), by_mean_curve(of, thresholds, parts)) for of in parts
    ]

    def worth(drawn: Sequence[Iterable[CurveDraws]]) -> tuple[Floats, Floats]:
        """Of each strategy, and of knowing the curve, in the draws of all tables."""
        values, known = [], []
        for draws_of_table, whom in zip(drawn, treated, strict=True):
            each = [
                (benefits(draws, thresholds, *whom), value_of_curve(draws, thresholds))
                for draws in draws_of_table
            ]
            values.append(np.concatenate([one.transpose(1, 2, 0) for one, _ in each]))
            known.append(np.concatenate([one for _, one in each]))
        of_strategies = mixed(values).transpose(2, 0, 1)
        # rows may hold cases of several scores
        return of_strategies, np.maximum(mixed(known), of_strategies.max(axis=0))

    values, known = worth([(draws for _, draws in of.draws(population)) for of in parts])
    now = _now(values)
    of_curve = np.maximum(known.mean(axis=0) - now["net_benefit"].max(axis=1), now["evpi"])
    futures, each = [futures_of(of, population) for of in parts if sizes], []
    for size in sizes:
        then, best = worth([after(size) for after in futures])
        again = _gain(then, best, now).mean(axis=0)
        each.append(_sampled(then, now) | {"evsi_of_recalibrating": np.minimum(again, of_curve)})
    return now | {"evpi_of_recalibrating": of_curve} | _together(each, np.stack, axis=1)


def by_cells(problem: Problem, thresholds: Floats, sizes: Sequence[int]) -> Values:
    """By the cases that reach a threshold or not, with the event or without it.

    The shares of the four cells are Dirichlet(counts), which is the Bayesian bootstrap of the
    cases.
    `thresholds` (thresholds,); `sizes`: numbers of further cases.
    """
    parts, rows = [], problem.table
    others = rows.trials - rows.hits
    for threshold, share in zip(thresholds, problem.data.share_reaching(thresholds).T, strict=True):
        rng = problem.rng("value of information by cells")
        sides = share, 1 - share
        counts = np.array([side @ values for side in sides for values in (rows.hits, others)])
        shares = rng.standard_gamma(counts, (CELL_DRAWS, counts.size))
        shares /= shares.sum(axis=1, keepdims=True)
        now, each = _now(_of_cells(shares, threshold)), []
        for size in sizes:
            then = (counts + rng.multinomial(size, shares)) / (counts.sum() + size)
            each.append(_sampled(_of_cells(then, threshold), now))
        parts.append(now | _together(each, np.stack, axis=1))
    return _together(parts, np.concatenate)


def _of_cells(shares: Floats, threshold: float) -> Floats:
    """Net benefit without updating, of shape (strategies, draws, 1), by shares of the cells."""
    hit, false, missed, _ = shares.T
    model = decision.net_benefit(hit, hit + false, threshold)
    everyone = decision.net_benefit(hit + missed, 1.0, threshold)
    return np.stack([np.zeros_like(model), everyone, model])[..., None]


def best_now(net_benefit: Floats) -> NDArray[np.intp]:
    """The strategy with the highest net benefit: of several, the simplest.

    `net_benefit` (..., strategies); returns (...,): its index.
    """
    best = net_benefit.max(axis=-1, keepdims=True)
    return np.asarray((net_benefit >= best - ROUNDING).argmax(axis=-1))


def _now(values: Floats) -> Values:
    """The value of perfect information on the best of the strategies.

    `values` (strategies, draws, thresholds): net benefit of each strategy in each draw.
    """
    best, mean = values.max(axis=0), values.mean(axis=1)
    first = best_now(np.moveaxis(values, 0, -1))
    shares = [(first == index).mean(axis=0) for index in range(len(values))]
    loss = best - np.take_along_axis(values, best_now(mean.T)[None, None], axis=0)[0]
    return {
        "net_benefit": mean.T,
        "prob_best": np.stack(shares, axis=1),
        "evpi": loss.mean(axis=0),
        "evpi_error": loss.std(axis=0) / np.sqrt(len(loss)),
    }


def _gain(then: Floats, best: Floats, now: Values) -> Floats:
    """What is won over the strategy that is best now, of shape (data sets, thresholds).

    `then` (strategies, data sets, thresholds): expected net benefit of each strategy after each
    data set; `best` (data sets, thresholds): that of what is then done.
    """
    chosen = best_now(now["net_benefit"])
    return np.asarray(best - np.take_along_axis(then, chosen[None, None], axis=0)[0])


def _sampled(then: Floats, now: Values) -> Values:
    """The value of choosing the best of the strategies after these data sets, and its error."""
    gain = _gain(then, then.max(axis=0), now)
    error = gain.std(axis=0) / np.sqrt(len(gain))
    return {"evsi": np.minimum(gain.mean(axis=0), now["evpi"]), "evsi_error": error}


def _together(parts: Sequence[Values], join: Callable[..., Floats], **how: Any) -> Values:
    return {name: join([part[name] for part in parts], **how) for name in (parts or [{}])[0]}


INFORMATION_METHODS = ("curve", "cells")
INFORMATION_POPULATIONS = ("bootstrap", "sample")
BY_STRATEGY = dict.fromkeys(("net_benefit", "prob_best"), ("strategy",))
MOST_FURTHER_CASES = 10**9


@one_blas_thread
def net_benefits(of: CurvesOfTable, at: Floats, kind: str) -> Floats:
    """Net benefit of treating by the model and of treating all, of shape (draws, 2, thresholds)."""
    treated = by_score(of.problem, at)
    benefit = np.empty((len(of.u), 2, at.size))
    for part, draws in of.draws(kind):
        own = draws.population.score.ndim == 1
        benefit[part, 0] = net_benefit(draws, at, *(treated if own else ()))
        benefit[part, 1] = net_benefit_of_all(draws, at)
    return benefit


@one_blas_thread
def information(
    tables: Sequence[CurvesOfTable],
    at: Floats,
    n_more: Any,
    method: str,
    kind: str,
    *,
    has_outcomes: bool,
) -> xr.Dataset:
    """Value of knowing more; see `CalibrationPosterior.value_of_information`.

    `at` (thresholds,); `has_outcomes`: whether the cases at hand have any, which can be counted.
    """
    import xarray as xr

    sizes = _as_sizes(n_more)
    check_choice(kind, INFORMATION_POPULATIONS, "population")
    check_choice(method, INFORMATION_METHODS, "method")
    if tables[0].departure is not None:
        raise InputError(
            "value_of_information is of the prevalence that was fitted. Ask the posterior before "
            "at_prevalence."
        )
    problem, is_counted = tables[0].problem, method == "cells"
    counts = "method='cells' counts "
    why = {
        f"{counts}patients with outcomes, and these are scores alone": not has_outcomes,
        f"{counts}outcomes that are known, and some left before the horizon": problem.of_times,
        f"{counts}the cases of one table, and these are several imputations": len(tables) > 1,
    }
    if problem.clusters is not None and (sizes or is_counted):
        named = "n_more" if sizes else "method='cells'"
        raise InputError(
            f"{named} takes patients as independent, and these come "
            "in clusters. Leave it out: the value of perfect information by the curve counts "
            "clusters."
        )
    for reason in (reason for reason, holds in why.items() if is_counted and holds):
        raise InputError(f"{reason}. Use method='curve'.")
    known = by_cells(problem, at, sizes) if is_counted else by_curve(tables, at, sizes, kind)
    several, variables = bool(np.ndim(n_more)), {}
    for name, values in known.items():
        dims = [*BY_STRATEGY.get(name, ()), *(["n_more"] if name.startswith("evsi") else [])]
        if not several and "n_more" in dims:
            dims, values = [], values[:, 0]
        variables[name] = (("threshold", *dims), values)
    strategies = list(STRATEGIES[: known["net_benefit"].shape[1]])
    coords: dict[str, Any] = {"threshold": at, "strategy": strategies}
    if n_more is not None:
        coords["n_more"] = sizes if several else sizes[0]
    cases = float(np.mean([table.problem.n for table in tables]))
    told = {"method": method, "population": kind, "cases": cases}
    return xr.Dataset(variables, coords, told)


def _as_sizes(n_more: Any) -> list[int]:
    """Numbers of further patients, as a list."""
    if n_more is None:
        return []
    one = np.ndim(n_more) == 0 if isinstance(n_more, np.ndarray) else np.isscalar(n_more)
    given = [n_more] if one else as_items(n_more, "n_more")
    if not given:
        raise InputError("n_more is empty: give a number of patients, or several, or leave it out.")
    return [as_count(each, "n_more", maximum=MOST_FURTHER_CASES) for each in given]
