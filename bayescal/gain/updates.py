"""What every update of a model would gain, in the draws of the curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.decision import net_benefit
from bayescal.core.versions import one_blas_thread
from bayescal.gain._terms import brier_gains, net_benefit_name, treated
from bayescal.inference import CurveComparison
from bayescal.inference.loo import risks_left_out
from bayescal.model.curves import updates
from bayescal.model.times import expected_outcomes
from bayescal.posterior.decisions import by_mean_curve, by_score
from bayescal.posterior.evaluation import CurvesOfTable
from bayescal.posterior.functionals import net_benefit as benefit_of
from bayescal.posterior.imputed import mixed
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["OPTIMISM_EVERY", "Gains", "gains_of", "gains_on", "optimism_of"]

# Before, on development populations, stated probabilities from .5 to .9 were too large by .1 or
# more. With one draw in four, those of the chosen update are within .031 of the share that is true,
# on 1023 other populations.
# In one draw of so many the optimism of the update is taken off what it gains.
#
# Taken off in no draw, stated probabilities of development populations were too large; in all
# draws, those of updates that gain little were far too small.
OPTIMISM_EVERY = 4

# By measure and update: draws of the gain per patient, zero for "identity".
Gains = Mapping[str, Mapping[str, Floats]]


def gains_of(
    comparison: CurveComparison,
    thresholds: Sequence[float] = (),
    of: CalibrationPosterior | None = None,
    up_to: str | None = None,
) -> Gains:
    """Draws of what every update gains in Brier score, and in net benefit at some thresholds.

    Of shape (draws,).
    """
    tables = (comparison.posterior if of is None else of).tables
    names = list(updates(comparison.prior_prob, up_to))
    each = zip(tables, comparison.imputations, strict=True)
    gains = mixed([gains_on(part.distances, one, names, thresholds) for part, one in each])
    measures = "brier", *map(net_benefit_name, thresholds)
    by_measure = zip(measures, np.moveaxis(gains, 0, -1), strict=True)
    return {measure: dict(zip(names, draws, strict=True)) for measure, draws in by_measure}


@one_blas_thread
def gains_on(
    of: CurvesOfTable,
    comparison: CurveComparison,
    names: Sequence[str],
    thresholds: Sequence[float],
) -> Floats:
    """The same on one table, of shape (draws, measures, updates); the first update is none."""
    at, score = np.array(thresholds, dtype=np.float64), of.problem.stated
    drawn = {name: comparison.of_family(name) for name in names[1:]}
    # the same rows: those of a part are merged to fewer than those of all cases
    like: dict[str, Any] = {"data": of.problem.data, "most_rows": of.problem.most_rows}
    fitted = [CurvesOfTable(replace(problem, **like), u) for problem, u in drawn.values()]
    after = np.reshape([family.observed.mean(axis=0) for family in fitted], (-1, score.size))
    whom = []
    if thresholds:
        whom = [by_score(of.problem, at), *(by_mean_curve(family, at) for family in fitted)]
    gains = np.zeros((len(of.u), 1 + at.size, len(names)))
    for part, draws in of.draws("bootstrap"):
        gains[part, 0, 1:] = brier_gains(draws.curve, draws.population.weight, score, after).T
        for k, who in enumerate(whom):
            gains[part, 1:, k] = benefit_of(draws, at, *who)
    gains[:, 1:] -= gains[:, 1:, :1].copy()
    own = dict(zip(drawn, after, strict=True))
    if of.problem.data is not comparison.problem.data:
        own = {name: CurvesOfTable(*each).observed.mean(axis=0) for name, each in drawn.items()}
    gains[::OPTIMISM_EVERY, :, 1:] -= optimism_of(comparison, own, thresholds)
    return gains


@one_blas_thread
def optimism_of(
    comparison: CurveComparison, after: Mapping[str, Floats], thresholds: Sequence[float]
) -> Floats:
    """Apparent gain of each update less that by leave-one-out, of shape (measures, updates).

    The two are of the same outcomes, so that most of their chance variation cancels. Single
    patients are left out, also of clusters: the difference is then multiplied by the design effect.
    The outcome of a case that left before the horizon is the probability of its event, given that
    it had none until it left; by the likeliest steps of Q and the mean curve.

    Shapes: `after` (rows,).
    """
    told = _followed if comparison.problem.of_times else _known
    outcome, number, risks = told(comparison, after)
    share = number * comparison.design_effect / number.sum()
    loss = outcome * (1 - risks) ** 2 + (1 - outcome) * risks**2
    apparent, left_out = np.moveaxis(loss[0] - loss[1:], 1, 0)
    optimism = [(apparent - left_out) @ share]
    for threshold in thresholds:
        treats, others = np.moveaxis(treated(risks[1:], threshold), 1, 0)
        more = treats - others
        optimism.append(net_benefit(outcome * more, more, threshold) @ share)
    return np.array(optimism)


def _known(
    comparison: CurveComparison, after: Mapping[str, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Outcome and number of each kind of cases that is told apart, and their risks.

    Risks have the shape (updates, 2, kinds), those without an update first: by all cases, and by
    all but the one.
    """
    problem, left_out = comparison.problem, comparison.loo_of_cases
    of_kind = problem.table.hits, problem.table.trials - problem.table.hits
    rows = [np.flatnonzero(problem.sum_of_rows(cases) > 0) for cases in of_kind]
    outcome = np.repeat([1.0, 0.0], [each.size for each in rows])
    by_all = np.stack([problem.stated, *after.values()])[:, np.concatenate(rows)]
    density = np.exp([left_out[name].pointwise for name in ("identity", *after)])
    risks = np.stack([by_all, np.where(outcome > 0, density, 1 - density)], axis=1)
    return outcome, left_out["identity"].count, risks


def _followed(
    comparison: CurveComparison, updates: Mapping[str, Floats]
) -> tuple[Floats, Floats, Floats]:
    """The same of cases that were followed, the outcome a probability where they left before."""
    problem, followed = comparison.problem, comparison.problem.data.follow_up
    assert followed is not None
    (curves,) = comparison.posterior.tables
    mean = curves.observed.mean(axis=0)[problem.merged(followed.row)]
    score = problem.data.score[followed.row]
    risks = [risks_left_out(*comparison.of_family(name)) for name in updates]
    return expected_outcomes(problem, mean), followed.weight, np.array([(score, score), *risks])
