"""The value of information: what it is worth to know more before treating at a threshold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.decision import net_benefit
from bayescal.model.problem import Problem
from bayescal.posterior.decisions.future import Futures
from bayescal.posterior.decisions.strategies import (
    STRATEGIES,
    benefits,
    by_mean_curve,
    by_score,
    value_of_curve,
)
from bayescal.posterior.evaluation import CurvesOfTable
from bayescal.posterior.functionals import CurveDraws
from bayescal.posterior.imputed import mixed

__all__ = ["Information", "Sampled", "best_now", "by_cells", "by_curve"]

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
    model = net_benefit(hit, hit + false, threshold)
    everyone = net_benefit(hit + missed, 1.0, threshold)
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
