"""When curves differ between groups: one curve of several gives every term of its gain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.decision import net_benefit
from bayescal.core.versions import one_blas_thread
from bayescal.data.rows import add_up, levels_of
from bayescal.gain._curve_route import Posterior, joined
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
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["Views", "by_view", "in_shares"]

# One curve of the predictions before, and of those after.
Views = tuple[CalibrationPosterior, CalibrationPosterior]


@one_blas_thread
def by_view(views: Views, pairs: PairedPredictions, thresholds: Sequence[float]) -> Posterior:
    """Posterior of the gains for one curve of several.

    As `by_curve`, of a view on one of several curves. In as many draws as the predictions after
    are exactly calibrated the curve is the map.

    Parameters
    ----------
    views : tuple of CalibrationPosterior
        The same curve of the predictions before, and of those after.
    pairs : PairedPredictions
        Cases whose `after` is a map of `before`: all of those of the curve's scores.
    """
    (curves,) = views[0].tables
    problem, first, second = curves.problem, pairs.before, pairs.after[0]
    row, size = problem.rows_of(first), problem.score.size
    trials = add_up(row, pairs.weight, size)

    def means(values: Floats) -> Floats:
        """Weighted mean in each row."""
        return add_up(row, pairs.weight * values, size) / np.where(trials > 0, trials, 1.0)

    before, after = means(first), means(second)
    group = levels_of(after).row

    def happened() -> Floats:
        known = log_score(pairs.outcome, second) - log_score(pairs.outcome, first)
        in_row = as_happened(pairs.outcome, first, second, means)[row]
        return np.where(np.isnan(pairs.outcome), in_row, known)

    event, other = map(means, log_gains(first, second, happened))
    moved = {
        threshold: means(treated(second, threshold) - treated(first, threshold))
        for threshold in thresholds
    }
    exact = [~view.tables[0].u.any(axis=1) for view in views]
    is_map = np.asarray(exact[1] & ~exact[0])
    gains = []
    for part, drawn in curves.draws("bootstrap"):
        weight = drawn.population.weight
        curve = np.where(is_map[part, None], after, drawn.curve)
        terms = curve_terms(curve, weight, before, after, group, (event, other), ())
        for threshold, change in moved.items():
            worth = net_benefit(curve, 1.0, threshold)
            terms[net_benefit_name(threshold)] = mean(weight, worth * change)
        gains.append(terms)
    infinite = infinite_log_gain(pairs.outcome, first, pairs.after)
    return Posterior(with_infinite_log_gain(joined(gains), infinite))


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
    return Posterior({name: np.sum(share * values, axis=0) for name, values in each.items()})
