"""When `after` is a map of `before`: one set of draws of the curve gives every term."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from bayescal.core.arrays import Floats
from bayescal.core.sampling import resample
from bayescal.core.versions import one_blas_thread
from bayescal.data.rows import levels_of
from bayescal.data.table import CalibrationData
from bayescal.gain._terms import (
    Terms,
    as_happened,
    curve_terms,
    infinite_log_gain,
    log_gains,
    with_infinite_log_gain,
)
from bayescal.gain.alike import of_equal_cells
from bayescal.gain.paired import PairedPredictions
from bayescal.inference.averaging import FamilySamples, Mixture, in_order, prior_probabilities
from bayescal.model.curves import average_of
from bayescal.model.draws import WEIGHTS
from bayescal.model.priors import Prior
from bayescal.model.problem import prepare
from bayescal.posterior.population import draw_population

__all__ = ["Posterior", "by_curve", "calibration_mixture", "joined", "quantiles"]

EVIDENCE_DRAWS = 1000


@dataclass(frozen=True)
class Posterior:
    """Draws of the gains.

    Attributes
    ----------
    draws : dict of ndarray of shape (draws,)
    before : Mixture or None
        Fitted to the predictions before, where it was.
    after : tuple of Mixture
        Fitted to those after, where they were.
    exact : ndarray of shape (draws,), optional
        Which side is exactly calibrated: 0 neither, 1 before, 2 after.
    """

    draws: Terms
    before: Mixture | None = None
    after: tuple[Mixture, ...] = ()
    exact: NDArray[np.intp] | None = None

    def interval(self, name: str, tail: float) -> tuple[float, float]:
        """Equal-tailed interval of a gain, with this probability on either side.

        Where a side is exactly calibrated, the fall in TCE is the largest or the least that is
        possible. Its interval holds that of each such hypothesis that is more probable than the
        tail, as that of TCE itself begins at 0 if exact calibration is.
        """
        values = self.draws[name]
        parts = [values]
        if name == "tce" and self.exact is not None:
            each = [values[self.exact == side] for side in (1, 2)]
            parts += [part for part in each if part.size > tail * values.size]
        lower, upper = zip(*(quantiles(part, tail, 1 - tail) for part in parts), strict=True)
        return min(lower), max(upper)


@one_blas_thread
def by_curve(
    pairs: PairedPredictions, thresholds: Sequence[float], prior: Prior, draws: int, seed: int
) -> Posterior:
    """Posterior of the gains from one set of draws of the curve E[y | before].

    The curve is near the predictions before, or near those after: the hypotheses of the averaged
    fit of either have half of the prior probability. They explain the same outcomes, so that
    evidence weighs them against each other. In the draws that are exactly calibrated the curve is
    the score before, or the score after.

    Parameters
    ----------
    pairs : PairedPredictions
        `after` must be a map of `before`. Clusters are weighed by the fit of the curve, and as a
        whole in the population.
    """
    sides = [
        calibration_mixture(table, prior, seed, draws)
        for table in (pairs.table_before, pairs.tables_after[0])
    ]
    problem, updated = (side.problem for side in sides)
    alike = of_equal_cells(pairs, problem, updated, thresholds)
    before, after = alike.means(pairs.before), alike.means(pairs.after[0])
    group, outcome = levels_of(after).row, pairs.outcome

    def happened() -> Floats:
        return as_happened(outcome, pairs.before, pairs.after[0], alike.means)

    logs = log_gains(before, after, happened)
    curves, exact = _draws_of_both(sides, (before, after), draws)
    gains = []
    for part, population in draw_population(
        *("bootstrap", before, alike.trials, draws, problem.rng("population")),
        bootstrap=alike.of_clusters(pairs.clusters),
    ):
        drawn, weight = curves(part), population.weight
        gains.append(curve_terms(drawn, weight, before, after, group, logs, thresholds))
    infinite = infinite_log_gain(outcome, pairs.before, pairs.after)
    terms = with_infinite_log_gain(joined(gains), infinite)
    return Posterior(terms, sides[0], (sides[1],), exact)


def _draws_of_both(
    sides: Sequence[Mixture], scores: Sequence[Floats], draws: int
) -> tuple[Callable[[slice], Floats], NDArray[np.intp]]:
    """Curves at the rows, of shape (draws, rows): of each side so many as its evidence says.

    Parameters
    ----------
    sides : sequence of Mixture
        Fitted to the predictions before, and to those after.
    scores : sequence of ndarray of shape (rows,)
        Before and after.

    Returns
    -------
    curves : callable
        Gives a block of draws.
    exact : ndarray of shape (draws,)
        As in `Posterior`.
    """
    rng = sides[0].problem.rng("sides")
    share = softmax([side.log_evidence for side in sides])
    of_side = resample(np.asarray(share), draws, rng)
    fitted = [side.posterior().tables[0] for side in sides]
    u = [of.distances.u for of in fitted]
    is_exact = [of.exact for of in fitted if of.exact is not None]
    exact = np.where(np.choose(of_side, is_exact), of_side + 1, 0)
    at = [side.problem.curves_at(score) for side, score in zip(sides, scores, strict=True)]

    def curves(part: slice) -> Floats:
        drawn = np.empty((part.stop - part.start, scores[0].size))
        for k, own in enumerate(u):
            mine = of_side[part] == k
            if mine.any():
                drawn[mine] = at[k].probability(own[part][mine])
        return drawn

    return curves, exact


def quantiles(values: Floats, *levels: float) -> list[float]:
    """Quantiles of draws, which are themselves draws where some are infinite."""
    if np.isfinite(values).all():
        return [float(value) for value in np.quantile(values, levels)]
    return [float(value) for value in np.quantile(values, levels, method="inverted_cdf")]


def joined(blocks: Sequence[Terms]) -> Terms:
    """Blocks of draws, one after the other."""
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def calibration_mixture(
    data: CalibrationData, prior: Prior, seed: int, draws: int = EVIDENCE_DRAWS
) -> Mixture:
    """The mixture of `bayescal.compare`, each of its families drawn when it is asked for."""
    names = in_order(tuple(WEIGHTS))
    problem = prepare(data, curve=average_of(names), prior=prior, random_state=seed)
    return Mixture(FamilySamples(problem, names), prior_probabilities(names), draws)
