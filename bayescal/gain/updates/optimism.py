"""By how much an update flatters itself on the patients that it was fitted to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.decision import net_benefit
from bayescal._base.threads import one_blas_thread
from bayescal.gain._terms import net_benefit_name, treated
from bayescal.inference import CurveComparison
from bayescal.model.problem import Problem

__all__ = ["optimism_of"]


@one_blas_thread
def optimism_of(
    comparison: CurveComparison, after: Mapping[str, Floats], thresholds: Sequence[float]
) -> dict[str, dict[str, float]]:
    """Apparent gain of each update less that by leave-one-out, per patient.

    The two are of the same outcomes, so that most of their chance variation cancels. Single
    patients are left out, also of clusters: the difference is then multiplied by the design effect.

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
    problem, none = comparison.problem, comparison.loo_of_cases["identity"]
    row, outcome = _distinct_cases(problem)
    share = none.count * comparison.design_effect / none.count.sum()
    result: dict[str, dict[str, float]] = {"brier": {}}
    result |= {net_benefit_name(threshold): {} for threshold in thresholds}
    for name, risk in after.items():
        density = np.exp(comparison.loo_of_cases[name].pointwise)
        apparent = (outcome - problem.stated[row]) ** 2 - (outcome - risk[row]) ** 2
        left_out = (1 - np.exp(none.pointwise)) ** 2 - (1 - density) ** 2
        result["brier"][name] = float(share @ (apparent - left_out))
        others = np.where(outcome > 0, density, 1 - density)
        for threshold in thresholds:
            more = treated(risk[row], threshold) - treated(others, threshold)
            rise = net_benefit(outcome * more, more, threshold)
            result[net_benefit_name(threshold)][name] = float(share @ rise)
    return result


def _distinct_cases(problem: Problem) -> tuple[NDArray[np.intp], Floats]:
    """Row and outcome of each of the cases that `LeaveOneOut` tells apart."""
    table = problem.table
    rows = [
        np.flatnonzero(problem.sum_of_rows(cases) > 0)
        for cases in (table.hits, table.trials - table.hits)
    ]
    return np.concatenate(rows), np.repeat([1.0, 0.0], [each.size for each in rows])
