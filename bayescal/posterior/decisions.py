"""Decisions at a threshold: strategies, their net benefit, and the value of information."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayescal.core import decision
from bayescal.core.arrays import Floats, blocks
from bayescal.core.decision import least_treated
from bayescal.core.errors import InputError, as_count, as_items, check_choice
from bayescal.core.optimise import clipped
from bayescal.model.problem import Problem
from bayescal.posterior.evaluation import CurvesOfTable
from bayescal.posterior.functionals import CurveDraws, net_benefit, net_benefit_of_all
from bayescal.posterior.imputed import mixed
from bayescal.posterior.population import Population

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "N_FUTURES",
    "STRATEGIES",
    "Futures",
    "Information",
    "Sampled",
    "Treated",
    "benefits",
    "best_now",
    "by_cells",
    "by_curve",
    "by_mean_curve",
    "by_score",
    "information",
    "net_benefits",
    "value_of_curve",
]


STRATEGIES = ("treat_none", "treat_all", "model", "updated_model")
"""The strategies, the simplest first."""


class Treated(NamedTuple):
    """Whom a strategy treats at some thresholds, by rows of a problem.

    Attributes
    ----------
    share : ndarray of shape (rows, thresholds)
        Share of the cases of each row that are treated.
    excess : ndarray of shape (rows, thresholds)
        What the scores of the treated add, where the cases of a row differ in score.
    """

    share: Floats
    excess: Floats


def by_score(problem: Problem, thresholds: Floats) -> Treated:
    """Treat the cases whose score, as it was given, reaches the threshold.

    Parameters
    ----------
    thresholds : ndarray of shape (thresholds,)
    """
    return _treated(problem, problem.data.share_reaching(thresholds))


def by_mean_curve(
    of: CurvesOfTable, thresholds: Floats, parts: Sequence[CurvesOfTable] = ()
) -> Treated:
    """Treat the cases at whose score the mean of the curves reaches the threshold.

    Parameters
    ----------
    thresholds : ndarray of shape (thresholds,)
    parts : sequence of CurvesOfTable
        Of all tables, if the mean is that of the curves of several.
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

    Parameters
    ----------
    thresholds : ndarray of shape (thresholds,)
    model : Treated
        By the score.
    updated : Treated, optional
        By the mean curve.

    Returns
    -------
    ndarray of shape (strategies, draws, thresholds)
        In the order of `STRATEGIES`; the last is left out where it is not given.
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

    Parameters
    ----------
    thresholds : ndarray of shape (thresholds,)

    Returns
    -------
    ndarray of shape (draws, thresholds)
    """
    above = [draws.mean(np.maximum(draws.curve - t, 0)) / (1 - t) for t in thresholds]
    return np.stack(above, axis=1)


N_FUTURES = 2000


class Futures:
    """Simulated data sets of more cases, each of a curve and a population of the posterior.

    Parameters
    ----------
    population : {"bootstrap", "sample"}
    """

    def __init__(self, of: CurvesOfTable, population: str, rng: np.random.Generator) -> None:
        size = min(N_FUTURES, len(of.u))
        self._of, self._rng = of, rng
        self._is_known = population == "sample"
        self._index = np.sort(rng.choice(len(of.u), size, replace=False))
        self._weight = np.concatenate(
            [
                np.broadcast_to(draws.population.weight, draws.curve.shape)[
                    self._index[inside] - part.start
                ]
                for part, draws in of.draws(population)
                if (inside := (self._index >= part.start) & (self._index < part.stop)).any()
            ]
        )
        problem = of.problem
        self._log_odds = problem.curves_at().log_odds(of.u)

    def after(self, n_more: int) -> Iterator[CurveDraws]:
        """Posterior means after data sets of `n_more` cases, a block of data sets at a time.

        The curve and the population are independent, given the data. The mean curve is that of the
        draws, each weighted by the likelihood of the new outcomes; the mean population is exact.

        Yields
        ------
        CurveDraws
            One row a data set: its mean curve and its mean population.
        """
        curves = self._of.observed
        law = self._of.problem.likelihood
        for part in blocks(len(self._index), len(curves)):
            cases = self._rng.multinomial(n_more, self._weight[part]).astype(np.float64)
            chance = curves[self._index[part]]
            counted = cases.astype(np.int64)
            drawn = law.draw(self._rng, counted, chance)
            log_weight = law.of_tables(self._log_odds, cases, drawn.astype(np.float64))
            weight = np.exp(log_weight - logsumexp(log_weight, axis=1, keepdims=True))
            yield CurveDraws(
                weight @ curves, Population(self._of.problem.stated, self._population(cases))
            )

    def _population(self, cases: Floats) -> Floats:
        """Mean weights of the rows after new cases, of shape (data sets, rows)."""
        own = self._of.problem.trials
        if self._is_known:
            return np.asarray(np.broadcast_to(own / own.sum(), cases.shape))
        return np.asarray((own + cases) / (own.sum() + cases.sum(axis=1, keepdims=True)))


ROUNDING = 1e-12
CELL_DRAWS = 1 << 16


class Sampled(NamedTuple):
    """The value of data sets of some size, by threshold.

    Attributes
    ----------
    evsi, evsi_error : ndarray of shape (thresholds,)
        For the choice among the strategies, and its Monte Carlo standard error.
    evsi_of_recalibrating : ndarray of shape (thresholds,) or None
        With a recalibration on all data.
    """

    evsi: Floats
    evsi_error: Floats
    evsi_of_recalibrating: Floats | None


class Information(NamedTuple):
    """The value of information by threshold.

    Attributes
    ----------
    net_benefit, prob_best : ndarray of shape (thresholds, strategies)
    evpi, evpi_error : ndarray of shape (thresholds,)
    evpi_of_recalibrating : ndarray of shape (thresholds,) or None
    sampled : list of Sampled
        One for each size of future data.
    """

    strategies: tuple[str, ...]
    net_benefit: Floats
    prob_best: Floats
    evpi: Floats
    evpi_error: Floats
    evpi_of_recalibrating: Floats | None
    sampled: list[Sampled]


def by_curve(
    parts: Sequence[CurvesOfTable],
    thresholds: Floats,
    sizes: Sequence[int],
    population: str,
) -> Information:
    """By the posterior of the curve and the population of the scores.

    Parameters
    ----------
    parts : sequence of CurvesOfTable
        The curves of each table.
    thresholds : ndarray of shape (thresholds,)
    sizes : sequence of int
        Numbers of further cases.
    population : {"bootstrap", "sample"}
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
    of_curve = np.maximum(known.mean(axis=0) - now.net_benefit.max(axis=1), now.evpi)
    sampled = []
    futures = [
        Futures(of, population, of.problem.rng("value of information")) for of in parts if sizes
    ]
    for size in sizes:
        then, best = worth([each.after(size) for each in futures])
        evsi, error = _gain(then, then.max(axis=0), now)
        again, _ = _gain(then, best, now)
        sampled.append(Sampled(np.minimum(evsi, now.evpi), error, np.minimum(again, of_curve)))
    return now._replace(evpi_of_recalibrating=of_curve, sampled=sampled)


def by_cells(problem: Problem, thresholds: Floats, sizes: Sequence[int]) -> Information:
    """By the cases that reach a threshold or not, with the event or without it.

    The shares of the four cells are Dirichlet(counts), which is the Bayesian bootstrap of the
    cases.

    Parameters
    ----------
    thresholds : ndarray of shape (thresholds,)
    sizes : sequence of int
        Numbers of further cases.
    """
    parts = []
    rows, reaching = problem.table, problem.data.share_reaching(thresholds)
    for index, threshold in enumerate(thresholds):
        rng = problem.rng("value of information by cells")
        share = reaching[:, index]
        counts = np.array(
            [
                side @ values
                for side in (share, 1 - share)
                for values in (rows.hits, rows.trials - rows.hits)
            ]
        )
        shares = rng.standard_gamma(counts, (CELL_DRAWS, counts.size))
        shares /= shares.sum(axis=1, keepdims=True)
        now, sampled = _now(_of_cells(shares, threshold)), []
        for size in sizes:
            more = rng.multinomial(size, shares)
            then = _of_cells((counts + more) / (counts.sum() + size), threshold)
            evsi, error = _gain(then, then.max(axis=0), now)
            sampled.append(Sampled(np.minimum(evsi, now.evpi), error, None))
        parts.append(now._replace(sampled=sampled))
    return _joined(parts)


def _of_cells(shares: Floats, threshold: float) -> Floats:
    """Net benefit without updating, of shape (strategies, draws, 1), by shares of the cells."""
    hit, false, missed, _ = shares.T
    model = decision.net_benefit(hit, hit + false, threshold)
    everyone = decision.net_benefit(hit + missed, 1.0, threshold)
    return np.stack([np.zeros_like(model), everyone, model])[..., None]


def best_now(net_benefit: Floats) -> NDArray[np.intp]:
    """The strategy with the highest net benefit: of several, the simplest.

    Parameters
    ----------
    net_benefit : ndarray of shape (..., strategies)

    Returns
    -------
    ndarray of shape (...,)
        Its index.
    """
    best = net_benefit.max(axis=-1, keepdims=True)
    return np.asarray((net_benefit >= best - ROUNDING).argmax(axis=-1))


def _now(values: Floats) -> Information:
    """The value of perfect information on the best of the strategies.

    Parameters
    ----------
    values : ndarray of shape (strategies, draws, thresholds)
        Net benefit of each strategy in each draw.
    """
    best, mean = values.max(axis=0), values.mean(axis=1)
    first = best_now(np.moveaxis(values, 0, -1))
    shares = [(first == index).mean(axis=0) for index in range(len(values))]
    loss = best - np.take_along_axis(values, best_now(mean.T)[None, None], axis=0)[0]
    return Information(
        STRATEGIES[: len(values)],
        mean.T,
        np.stack(shares, axis=1),
        loss.mean(axis=0),
        loss.std(axis=0) / np.sqrt(len(loss)),
        None,
        [],
    )


def _gain(then: Floats, best: Floats, now: Information) -> tuple[Floats, Floats]:
    """Mean of what is won over the strategy that is best now, and its standard error.

    Parameters
    ----------
    then : ndarray of shape (strategies, data sets, thresholds)
        Expected net benefit of each strategy after each data set.
    best : ndarray of shape (data sets, thresholds)
        That of what is then done.
    """
    chosen = best_now(now.net_benefit)
    gain = best - np.take_along_axis(then, chosen[None, None], axis=0)[0]
    return gain.mean(axis=0), gain.std(axis=0) / np.sqrt(len(gain))


def _joined(parts: Sequence[Information]) -> Information:
    """Several thresholds, each computed by itself."""
    each = [list(one) for one in zip(*(part.sampled for part in parts), strict=True)]
    first = parts[0]
    sampled = [
        Sampled(
            np.concatenate([one.evsi for one in of_size]),
            np.concatenate([one.evsi_error for one in of_size]),
            None,
        )
        for of_size in each
    ]
    return Information(
        first.strategies,
        np.concatenate([part.net_benefit for part in parts]),
        np.concatenate([part.prob_best for part in parts]),
        np.concatenate([part.evpi for part in parts]),
        np.concatenate([part.evpi_error for part in parts]),
        None,
        sampled,
    )


INFORMATION_METHODS = ("curve", "cells")
INFORMATION_POPULATIONS = ("bootstrap", "sample")
MOST_FURTHER_CASES = 10**9


def net_benefits(of: CurvesOfTable, at: Floats, kind: str) -> Floats:
    """Net benefit of treating by the model and of treating all, of shape (draws, 2, thresholds)."""
    treated = by_score(of.problem, at)
    benefit = np.empty((len(of.u), 2, at.size))
    for part, draws in of.draws(kind):
        own = draws.population.score.ndim == 1
        benefit[part, 0] = net_benefit(draws, at, *(treated if own else ()))
        benefit[part, 1] = net_benefit_of_all(draws, at)
    return benefit


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

    Parameters
    ----------
    at : ndarray of shape (thresholds,)
    has_outcomes : bool
        Whether the cases at hand have any, which can be counted.
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
    if method == "cells" and not has_outcomes:
        raise InputError(
            "method='cells' counts patients with outcomes, and these are scores alone. Use "
            "method='curve'."
        )
    problem = tables[0].problem
    if problem.clusters is not None:
        _check_without_clusters(sizes, method)
    if method == "cells" and problem.of_times:
        raise InputError(
            "method='cells' counts outcomes that are known, and some cases left before the "
            "horizon. Take method='curve'."
        )
    if method == "cells" and len(tables) > 1:
        raise InputError(
            "method='cells' counts the cases of one table, and these are several imputations. "
            "Use method='curve'."
        )
    by_counts = method == "cells"
    known = by_cells(problem, at, sizes) if by_counts else by_curve(tables, at, sizes, kind)
    coords: dict[str, Any] = {"threshold": at, "strategy": list(known.strategies)}
    if n_more is not None:
        coords["n_more"] = sizes if np.ndim(n_more) else sizes[0]
    cases = float(np.mean([table.problem.n for table in tables]))
    return xr.Dataset(
        _variables(known, several=bool(np.ndim(n_more))),
        coords,
        {"method": method, "population": kind, "cases": cases},
    )


def _check_without_clusters(sizes: list[int], method: str) -> None:
    """Refuse what takes patients as independent."""
    named = "n_more" if sizes else "method='cells'"
    if sizes or method == "cells":
        raise InputError(
            f"{named} takes patients as independent, and these come in clusters. Leave it out: "
            "the value of perfect information by the curve counts clusters."
        )


def _as_sizes(n_more: Any) -> list[int]:
    """Numbers of further patients, as a list."""
    if n_more is None:
        return []
    one = np.ndim(n_more) == 0 if isinstance(n_more, np.ndarray) else np.isscalar(n_more)
    given = [n_more] if one else as_items(n_more, "n_more")
    if not given:
        raise InputError("n_more is empty: give a number of patients, or several, or leave it out.")
    return [as_count(each, "n_more", maximum=MOST_FURTHER_CASES) for each in given]


def _variables(of: Information, *, several: bool) -> dict[str, Any]:
    """Variables of the dataset, each with its dims."""
    by_strategy, by_size = ("threshold", "strategy"), ("threshold", "n_more")
    variables: dict[str, Any] = {
        "net_benefit": (by_strategy, of.net_benefit),
        "prob_best": (by_strategy, of.prob_best),
        "evpi": ("threshold", of.evpi),
        "evpi_error": ("threshold", of.evpi_error),
    }
    if of.evpi_of_recalibrating is not None:
        variables["evpi_of_recalibrating"] = ("threshold", of.evpi_of_recalibrating)
    for name in ("evsi", "evsi_error", "evsi_of_recalibrating"):
        columns = [getattr(each, name) for each in of.sampled]
        if columns and columns[0] is not None:
            stacked = np.stack(columns, axis=1)
            variables[name] = (by_size, stacked) if several else ("threshold", stacked[:, 0])
    return variables
