"""By how much an update flatters itself on the patients that it was fitted to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.decision import net_benefit
from bayescal.core.versions import one_blas_thread
from bayescal.gain._terms import net_benefit_name, treated
from bayescal.inference import CurveComparison
from bayescal.inference.loo import risks_left_out
from bayescal.model.problem import Problem
from bayescal.model.times import expected_outcomes

__all__ = ["optimism_of"]


class _Cases(NamedTuple):
    """Cases of each kind that are told apart, and their risks.

    Attributes
    ----------
    outcome : ndarray of shape (kinds,)
        0 or 1; of a case that left before the horizon the probability that it has the event.
    number : ndarray of shape (kinds,)
        How many cases there are of each kind.
    risks : dict of str to tuple of ndarray of shape (kinds,)
        By update, "identity" among them: the risk by all cases, and by all but the one case.
    """

    outcome: Floats
    number: Floats
    risks: dict[str, tuple[Floats, Floats]]


@one_blas_thread
def optimism_of(
    comparison: CurveComparison, after: Mapping[str, Floats], thresholds: Sequence[float]
) -> dict[str, dict[str, float]]:
    """Apparent gain of each update less that by leave-one-out, per patient.

    The two are of the same outcomes, so that most of their chance variation cancels. Single
    patients are left out, also of clusters: the difference is then multiplied by the design effect.
    The outcome of a case that left before the horizon is the probability of its event, given that
    it had none until it left; by the likeliest steps of Q and the mean curve.

    Parameters
    ----------
    comparison : CurveComparison
        Of one table.
    after : mapping of str to ndarray of shape (rows,)
        By update, the risk that it gives at the scores of the problem.

    Returns
    -------
    dict of str to dict of str to float
        By measure, as in `gains_of`, and by update.
    """
    of_times = comparison.problem.of_times
    cases = _followed(comparison, after) if of_times else _known(comparison, after)
    outcome, none = cases.outcome, cases.risks["identity"]
    share = cases.number * comparison.design_effect / cases.number.sum()
    result: dict[str, dict[str, float]] = {"brier": {}}
    result |= {net_benefit_name(threshold): {} for threshold in thresholds}
    for name in after:
        risks = zip(none, cases.risks[name], strict=True)
        apparent, left_out = (_loss(outcome, s) - _loss(outcome, risk) for s, risk in risks)
        result["brier"][name] = float(share @ (apparent - left_out))
        risk, others = cases.risks[name]
        for threshold in thresholds:
            more = treated(risk, threshold) - treated(others, threshold)
            rise = net_benefit(outcome * more, more, threshold)
            result[net_benefit_name(threshold)][name] = float(share @ rise)
    return result


def _loss(outcome: Floats, risk: Floats) -> Floats:
    """Expected Brier score."""
    return outcome * (1 - risk) ** 2 + (1 - outcome) * risk**2


def _known(comparison: CurveComparison, after: Mapping[str, Floats]) -> _Cases:
    """Cases whose outcomes are known."""
    problem, none = comparison.problem, comparison.loo_of_cases["identity"]
    row, outcome = _distinct_cases(problem)
    risks = {}
    for name, risk in {"identity": problem.stated, **after}.items():
        density = np.exp(comparison.loo_of_cases[name].pointwise)
        risks[name] = risk[row], np.where(outcome > 0, density, 1 - density)
    return _Cases(outcome, none.count, risks)


def _followed(comparison: CurveComparison, updates: Iterable[str]) -> _Cases:
    """Cases that were followed to an event or to the horizon, or left before."""
    problem, followed = comparison.problem, comparison.problem.data.follow_up
    assert followed is not None
    (curves,) = comparison.posterior.tables
    mean = curves.observed.mean(axis=0)[problem.merged(followed.row)]
    score = problem.data.score[followed.row]
    risks = {name: risks_left_out(*comparison.of_family(name)) for name in updates}
    outcome = expected_outcomes(problem, mean)
    return _Cases(outcome, followed.weight, {"identity": (score, score), **risks})


def _distinct_cases(problem: Problem) -> tuple[NDArray[np.intp], Floats]:
    """Row and outcome of each of the cases that `LeaveOneOut` tells apart."""
    table = problem.table
    rows = [
        np.flatnonzero(problem.sum_of_rows(cases) > 0)
        for cases in (table.hits, table.trials - table.hits)
    ]
    return np.concatenate(rows), np.repeat([1.0, 0.0], [each.size for each in rows])
