"""When curves differ between groups: one curve of several gives every term of its gain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.decision import net_benefit
from bayescal.core.versions import one_blas_thread
from bayescal.data.table import add_up
from bayescal.gain._counts import Counts
from bayescal.gain._curve_route import MappedRows, Posterior, exact_sides, joined
from bayescal.gain._terms import (
    as_happened,
    curve_terms,
    infinite_log_gain,
    log_gains,
    log_score,
    mean,
    net_benefit_name,
    treated,
    with_infinite_log_gain,
)
from bayescal.gain.paired import PairedPredictions
from bayescal.multilevel.view import CurveView
from bayescal.posterior.evaluation import CurvesOfTable

__all__ = ["Views", "by_view", "in_shares"]

Views = tuple[CurveView, CurveView]
"""One curve of the predictions before, and of those after."""


@one_blas_thread
def by_view(views: Views, pairs: PairedPredictions, thresholds: Sequence[float]) -> Posterior:
    """Posterior of the gains for one curve of several.

    As `by_curve`, of a view on one of several curves. The fall in TCE is read from the draws of
    distances: the curve is the diagonal in as many of them as that is probable, and it is the map
    in as many as the predictions after are exactly calibrated.

    Parameters
    ----------
    views : tuple of CurveView
        The same curve of the predictions before, and of those after.
    pairs : PairedPredictions
        Cases whose `after` is a map of `before`: all of those of the curve's scores.
    """
    curves, distances = (_curves(views[0], kind) for kind in ("draws", "distances"))
    problem, first, second = curves.problem, pairs.before, pairs.after[0]
    row, size = problem.rows_of(first), problem.score.size
    trials = add_up(row, pairs.weight, size)

    def means(values: Floats) -> Floats:
        """Weighted mean in each row."""
        return add_up(row, pairs.weight * values, size) / np.where(trials > 0, trials, 1.0)

    table = MappedRows.of(means(first), means(second), trials)

    def happened() -> Floats:
        known = log_score(pairs.outcome, second) - log_score(pairs.outcome, first)
        in_row = as_happened(pairs.outcome, first, second, means)[row]
        return np.where(np.isnan(pairs.outcome), in_row, known)

    event, other = map(means, log_gains(first, second, happened))
    moved = {
        threshold: means(treated(second, threshold) - treated(first, threshold))
        for threshold in thresholds
    }
    exact = [np.all(_curves(view, "distances").u == 0, axis=1) for view in views]
    none = np.zeros(len(curves.u), dtype=bool)
    counts = (
        Counts(exact[0], none, np.ones(size)),
        Counts(exact[1], none, np.ones(table.score_after.size)),
    )
    gains = []
    both = zip(curves.draws("bootstrap"), distances.draws("bootstrap"), strict=True)
    for (part, drawn), (_, far) in both:
        weight = drawn.population.weight
        terms = curve_terms(
            drawn.curve, weight, table.before, table.after, table.group, (event, other), ()
        )
        terms["tce"] = table.fall(far.curve, weight, counts, part)
        for threshold, change in moved.items():
            worth = net_benefit(drawn.curve, 1.0, threshold)
            terms[net_benefit_name(threshold)] = mean(weight, worth * change)
        gains.append(terms)
    infinite = infinite_log_gain(pairs.outcome, first, pairs.after)
    terms = with_infinite_log_gain(joined(gains), infinite)
    return Posterior(terms, exact=exact_sides(counts))


def _curves(view: CurveView, kind: str) -> CurvesOfTable:
    """Curves of a view: the draws, or those that distances are read from, if there are any."""
    of_distances = kind == "distances" and view.has_distances
    (curves,) = (view.curves_of_distances if of_distances else view.curves_of_draws).parts
    return curves


def in_shares(parts: Sequence[Posterior], cases: Floats, rng: np.random.Generator) -> Posterior:
    """Posterior of the gains for the cases of several groups together, from that of each.

    Parameters
    ----------
    parts : sequence of Posterior
        One a group, of draws of one fit.
    cases : ndarray of shape (groups,)
    """
    names = parts[0].draws
    share = rng.dirichlet(cases, size=len(next(iter(names.values())))).T
    each = {name: np.stack([part.draws[name] for part in parts]) for name in names}
    sides = np.stack([part.exact for part in parts if part.exact is not None])
    exact = np.unique(sides, axis=1, return_inverse=True)[1].ravel()
    draws = {name: np.sum(share * values, axis=0) for name, values in each.items()}
    return Posterior(draws, exact=exact)
