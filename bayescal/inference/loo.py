"""Expected log predictive density by PSIS leave-one-out, and stacking weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from bayescal.core.arrays import Floats, blocks, log_sum
from bayescal.core.optimise import clipped, maximise
from bayescal.core.sampling import smooth_rows
from bayescal.inference.samples import FamilySamples
from bayescal.model.curves import CURVES
from bayescal.model.likelihood.binomial import BINOMIAL
from bayescal.model.likelihood.times.cases import cases_of_times
from bayescal.model.likelihood.times.steps import Steps
from bayescal.model.likelihood.times.told import log_density_by_entry
from bayescal.model.problem import Problem

__all__ = [
    "LeaveOneOut",
    "LeftOut",
    "elpd_difference",
    "leave_one_out",
    "risks_left_out",
    "stacking_weights",
]

DRAWS = 1000
THINNED = 64
"""Draws that say how the cases of a row differ from their mean score."""
COLUMNS_AT_ONCE = 512


@dataclass(frozen=True)
class LeaveOneOut:
    """Leave-one-out densities of the distinct cases, and how many there are of each.

    Cases are distinct by row of the problem and outcome. Where whole clusters are left out, each
    cluster stands for one case.

    Attributes
    ----------
    elpd : float
        Sum over patients.
    pointwise : ndarray of shape (distinct,)
        Log predictive density of one patient left out, or the sum over the patients of a cluster.
    count : ndarray of shape (distinct,)
    pareto_k : float
        Largest over what is left out; above 0.7 the estimate is shaky.
    """

    elpd: float
    pointwise: Floats
    count: Floats
    pareto_k: float

    @property
    def error(self) -> float:
        """Standard error of `elpd`, by how the patients, or clusters, differ."""
        total = self.count.sum()
        return float(np.sqrt(self.count @ (self.pointwise - self.elpd / total) ** 2))


class LeftOut(Mapping[str, LeaveOneOut]):
    """Leave-one-out of families by name, each computed when it is first asked for and kept.

    Parameters
    ----------
    samples : FamilySamples
        Draws of each family.
    method : callable
        Takes the problem of a family and its draws.
    """

    def __init__(
        self, samples: FamilySamples, method: Callable[[Problem, Floats], LeaveOneOut]
    ) -> None:
        self._samples, self._method = samples, method
        self._known: dict[str, LeaveOneOut] = {}

    def __getitem__(self, name: str) -> LeaveOneOut:
        if name not in self._known:
            draws = self._samples[name].draws
            family = self._samples.problem.of_family(CURVES[name])
            self._known[name] = self._method(family, draws)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)


def leave_one_out(problem: Problem, draws: Floats, steps: Steps | None = None) -> LeaveOneOut:
    """PSIS-LOO of one family, run once per row of the problem and outcome.

    Where cases of several scores share a row, the mean of their own log densities stands in for
    that at their mean score. Of a likelihood whose cases are not independent, rows of the table
    are left out.

    Parameters
    ----------
    problem : Problem
        Of that family.
    draws : ndarray of shape (draws, d)
        Working coordinates in random order, of which the first 1000 are used.
    steps : Steps, optional
        Of times to an event of one of several groups: the steps of Q that these have in common.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC, Statistics and Computing 27.
    """
    table, thin = problem.table, draws[:: max(len(draws) // THINNED, 1)]
    parts, counts, within = [], [], []
    if problem.of_times:
        density, count = cases_of_times(problem, draws[:DRAWS], steps)
        return _summed(density, count, draws.shape[1])
    each_case = problem.curves_at(problem.data.score).log_odds(thin) if problem.is_merged else None
    for event, cases in ((True, table.hits), (False, table.trials - table.hits)):
        number = problem.sum_of_rows(cases)
        if not number.any():
            continue  # outcomes of one class
        score = problem.mean_of_rows(table.score, cases)[number > 0]
        stated = problem.mean_of_rows(clipped(problem.data.score), cases)[number > 0]
        curves = problem.curve.at_scores(score, problem.frame, stated)
        parts.append(BINOMIAL.log_case(event, curves.log_odds(draws[:DRAWS])))
        counts.append(number[number > 0])
        if each_case is not None:
            at_row, at_case = (
                BINOMIAL.log_case(event, log_odds)
                for log_odds in (curves.log_odds(thin), each_case)
            )
            mean = problem.mean_of_rows(at_case.mean(axis=0), cases)[number > 0]
            within.append(mean - at_row.mean(axis=0))
    left_out = _summed(np.hstack(parts), np.concatenate(counts), draws.shape[1])
    if not within:
        return left_out
    pointwise = left_out.pointwise + np.concatenate(within)
    elpd = float(left_out.count @ pointwise)
    return replace(left_out, elpd=elpd, pointwise=pointwise)


def risks_left_out(problem: Problem, draws: Floats) -> tuple[Floats, Floats]:
    """The risk of one case of each entry of the follow-up, by all cases and by all but this one.

    Parameters
    ----------
    problem : Problem
        Of one family, of times to an event.
    draws : ndarray of shape (draws, d)
        As `leave_one_out` takes them.

    Returns
    -------
    risk, left_out : ndarray of shape (entries,)
        Means of the curve over the draws, and over the draws weighted by PSIS.
    """
    followed = problem.data.follow_up
    assert followed is not None
    log_odds = problem.curves_at(problem.data.score).log_odds(draws[:DRAWS])
    risk = expit(log_odds).mean(axis=0)[followed.row]
    left_out = np.empty_like(risk)
    for some in blocks(risk.size, room=COLUMNS_AT_ONCE):
        weight, _ = smooth_rows(-log_density_by_entry(problem, log_odds, some).T)
        share, g = np.exp(weight), expit(log_odds[:, followed.row[some]]).T
        left_out[some] = np.vecdot(share, g) / share.sum(axis=1)
    return risk, left_out


def _summed(likelihood: Floats, count: Floats, size: int) -> LeaveOneOut:
    """Of log densities by draw and what is left out; draws without coordinates are all equal."""
    if not size:
        pointwise, worst = likelihood[0], -np.inf
    else:
        left_out = [
            _left_out(likelihood[:, part].T) for part in blocks(count.size, room=COLUMNS_AT_ONCE)
        ]
        pointwise = np.concatenate([part for part, _ in left_out])
        worst = max(pareto_k for _, pareto_k in left_out)
    return LeaveOneOut(float(count @ pointwise), pointwise, count, worst)


def _left_out(likelihood: Floats) -> tuple[Floats, float]:
    """Log density of each row of cases when it is left out, and the largest k-hat."""
    weight, pareto_k = smooth_rows(-likelihood)
    pointwise = log_sum(weight + likelihood, axis=1) - log_sum(weight, axis=1)
    return pointwise, float(pareto_k.max())


def elpd_difference(part: LeaveOneOut, reference: LeaveOneOut) -> tuple[float, float]:
    """How much better a family predicts than another, and the standard error of that.

    Parameters
    ----------
    part, reference : LeaveOneOut
        Of the same cases.

    Returns
    -------
    difference, error : float
        Sum over patients of the differences in log predictive density, positive where `part`
        predicts better; and the square root of the number of patients times their variance.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), section 5.
    """
    difference = part.pointwise - reference.pointwise
    total = part.count.sum()
    spread = part.count @ (difference - part.count @ difference / total) ** 2
    return float(part.count @ difference), float(np.sqrt(spread))


def stacking_weights(parts: Sequence[LeaveOneOut]) -> Floats:
    """Weights of the mixture of predictions with the best leave-one-out density.

    Parameters
    ----------
    parts : sequence of LeaveOneOut
        One a family, of the same cases.

    Returns
    -------
    ndarray of shape (families,)
        Non-negative, summing to 1.

    References
    ----------
    Yao, Vehtari, Simpson & Gelman (2018), Using stacking to average Bayesian predictive
    distributions, Bayesian Analysis 13.
    """
    densities = np.stack([part.pointwise for part in parts], axis=1)
    peak = densities.max(axis=1, keepdims=True)
    relative, share = np.exp(densities - peak), parts[0].count / parts[0].count.sum()

    def objective(root: Floats) -> tuple[float, Floats, Floats]:
        # Weights are squares, less their sum: at the maximum it is 1, and none is negative.
        weights = root**2
        mixed = relative @ weights
        each = relative / mixed[:, None]
        slope = share @ each - 1
        bend = np.outer(root, root) * ((each.T * share) @ each)
        value = float(share @ np.log(mixed) - weights.sum())
        return value, 2 * root * slope, 2 * np.diag(slope) - 4 * bend

    best = maximise(objective, np.full(len(parts), len(parts) ** -0.5)).point ** 2
    return np.asarray(best / best.sum())
