"""Cases of several groups together: their mixed curve, and each row with the curve of its group.

A mixture is weighted at each score by the cases that each curve is of. What is linear in the risk,
such as O/E, is the same of either, and errors of groups cancel in it; distances do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.data.rows import Rows
from bayescal.data.table import CalibrationData
from bayescal.model.curve import Curve, CurveAtScores, Frame, expit_in_place
from bayescal.model.problem import Problem
from bayescal.posterior.population import Bootstrap, CaseBootstrap, ClusterBootstrap

MOST_SHARES = 20
CASES_OF_A_SHARE = 25


class Shares(NamedTuple):
    """Which share of the cases near each score each curve is of.

    Values (points, curves), whose rows sum to one, at ascending log-odds; between them they are
    interpolated, beyond them constant.
    """

    log_odds: Floats
    values: Floats

    def at(self, score: Floats) -> Floats:
        """The shares at scores of any shape, of shape (curves, *shape)."""
        x = logit(score)
        return np.stack([np.interp(x, self.log_odds, share) for share in self.values.T])


def shares_of(table: Rows, parts: Sequence[Rows]) -> Shares:
    """Shares of the parts of a table, of ascending scores inside (0, 1).

    They are read off at most 20 ranges of scores with as many cases each, of at least 25 cases, so
    that chance in who has which score does not count as a difference between curves.
    """
    score, trials = table.score, table.trials
    total = trials.sum()
    ranges = int(np.clip(total // CASES_OF_A_SHARE, 1, MOST_SHARES))
    middle = (np.cumsum(trials) - trials / 2) / total
    of_row = (ranges * middle).astype(np.intp)
    between = (score[1:] + score[:-1]) / 2
    rows = [of_row[np.searchsorted(between, part.score)] for part in parts]
    counts = np.column_stack(
        [np.bincount(at, part.trials, ranges) for at, part in zip(rows, parts, strict=True)]
    )
    weight = np.bincount(of_row, trials, ranges)
    some = weight > 0
    total_log_odds = np.bincount(of_row, trials * logit(score), ranges)
    shares = counts[some] / counts[some].sum(axis=1, keepdims=True)
    return Shares(total_log_odds[some] / weight[some], shares)


@dataclass(frozen=True, eq=False)
class MixtureCurve(Curve):
    """A mixture of curves of one family, whose coordinates stand one curve after the other."""

    of: Curve | None = None
    shares: Shares | None = None

    def at(self, frame: Frame) -> Curve:
        """The mixture itself: its coordinates do not depend on the scores."""
        return self

    def at_scores(self, score: Floats, frame: Frame, stated: Floats | None = None) -> CurveAtScores:
        """The mixture at fixed scores, for many draws."""
        return MixtureAtScores(self, score, frame, stated)


class MixtureAtScores(CurveAtScores):
    """A mixture of curves at scores, of shape (rows,) or (draws, rows)."""

    def __init__(
        self, curve: MixtureCurve, score: Floats, frame: Frame, stated: Floats | None = None
    ) -> None:
        assert curve.of is not None and curve.shares is not None
        self._of = CurveAtScores(curve.of, score, frame, stated=stated)
        self.stated, self._shares = self._of.stated, curve.shares.at(score)
        self._moved = self._shares * (self.stated - score)  # what a curve on the diagonal lacks

    def log_odds(self, u: Floats) -> Floats:
        """Log-odds, of shape (draws, rows), for draws `u` of shape (draws, curves * d)."""
        return np.asarray(logit(self.probability(u)))

    def probability(self, u: Floats) -> Floats:
        """The mixtures, of shape (draws, rows), for draws `u` of shape (draws, curves * d)."""
        each = u.reshape(len(u), len(self._shares), -1).swapaxes(0, 1)
        curve = np.zeros((len(u), self.stated.shape[-1]))
        for share, own in zip(self._shares, each, strict=True):
            odds = self._of.log_odds(own)
            np.negative(odds, out=odds)
            with np.errstate(over="ignore"):
                np.exp(odds, out=odds)
            odds += 1
            curve += np.divide(share, odds, out=odds)
        on = np.logical_not(each.any(axis=2)).T
        if on.any():  # without the rounding of a trip through log-odds
            if self.stated.ndim == 1:  # other scores are read as they are
                curve += on @ self._moved
            np.copyto(curve, self.stated, where=on.all(axis=1, keepdims=True))
        return curve


def mixture_of(curve: Curve, shares: Shares) -> MixtureCurve:
    """A mixture of curves of a family, one for each column of the shares; it has no slope."""
    numbers = range(1, shares.values.shape[1] + 1)
    names = tuple(f"{name}_{k}" for k in numbers for name in curve.coordinates)
    values = {name: getattr(curve, name) for name in Curve.__dataclass_fields__}
    values |= {"coordinates": names, "derived": _none_derived}
    return MixtureCurve(**values, of=curve, shares=shares)


def _none_derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class OwnProblem(Problem):
    """The cases of several groups, whose rows are those of each `part`, in the order of scores."""

    parts: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, together: Problem, parts: tuple[Problem, ...]) -> OwnProblem:
        """Of the problem of all cases, and that of each group."""
        known: dict[str, Any] = {
            each.name: getattr(together, each.name) for each in fields(Problem)
        }
        return cls(**known, parts=parts)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Of the rows of one group after the other, those with the lowest scores first."""
        return np.argsort(np.concatenate([part.score for part in self.parts]), kind="stable")

    def by_row(self, of: Callable[[Problem], Floats]) -> Floats:
        """Values by row of each group, on the last axis, as rows of all."""
        return np.concatenate([of(part) for part in self.parts], axis=-1)[..., self.order]

    def mean_of_rows(self, values: Floats, cases: Floats | None = None) -> Floats:
        """Means over the cases of each row, of values by row of the table of all cases."""
        of = [part.mean_of_rows(values[self.data.rows_of(part.data.score)]) for part in self.parts]
        return np.concatenate(of)[self.order]

    @cached_property
    def score(self) -> Floats:
        """Scores inside (0, 1), ascending, of shape (rows,)."""
        return self.by_row(lambda part: part.score)

    @cached_property
    def stated(self) -> Floats:
        """The scores as they came in, of shape (rows,)."""
        return self.by_row(lambda part: part.stated)

    @cached_property
    def trials(self) -> Floats:
        """Cases of each row; sampling weights say which shares the groups have."""
        return self.by_row(lambda part: part.trials * (part.data.trials.sum() / part.n))

    @property
    def n(self) -> float:
        """All cases."""
        return float(self.trials.sum())

    @property
    def is_merged(self) -> bool:
        """Whether neighbouring rows of a group are merged."""
        return any(part.is_merged for part in self.parts)

    def curves_at(self, scores: Floats | None = None) -> Any:
        """The curve of each row's own group; at other scores the mean of the groups' curves."""
        return _OwnCurves(self) if scores is None else super().curves_at(scores)

    def weights(self, data: CalibrationData) -> Bootstrap:
        """The law of the weights of rows, of the cases as they stand in the table of groups."""
        clusters = data.with_several_clusters().clusters
        if clusters is None or clusters.are_single:
            counted = self.by_row(lambda part: part.trials)
            return CaseBootstrap(counted, self.trials / counted)
        row, first = np.empty(data.score.size, np.intp), 0
        rank, group = np.argsort(self.order), np.asarray(data.group)
        for label, part in zip(data.groups, self.parts, strict=True):
            own = group == label
            row[own] = rank[first + part.rows_of(data.score[own])]
            first += part.score.size
        return ClusterBootstrap.of(clusters, row[clusters.row], self.trials.size)


class _OwnCurves:
    """Each row at the curve of its own group: a family that is linear in its basis.

    All rows are taken at once, since a call for each of a thousand groups and a few draws costs
    twenty times their arithmetic.
    """

    def __init__(self, problem: OwnProblem) -> None:
        part = problem.parts[0]
        self.curve, self.stated = part.curve.at(part.frame), problem.stated
        self.offset, basis = self.curve.basis(problem.score, part.frame)
        self.basis = np.ascontiguousarray(basis.T)
        sizes = [each.score.size for each in problem.parts]
        self.owner = np.repeat(np.arange(len(sizes)), sizes)[problem.order]
        self.groups = len(sizes)

    def log_odds(self, u: Floats) -> Floats:
        """Of shape (draws, rows), for coordinates (draws, groups * d), one group after another."""
        by_group = u.reshape(len(u) * self.groups, -1)
        weights = self.curve.with_offset(by_group)[:, 1:].reshape(len(u), self.groups, -1)
        log_odds = np.tile(self.offset, (len(u), 1))
        for k, column in enumerate(self.basis):
            log_odds += weights[:, self.owner, k] * column
        return log_odds

    def probability(self, u: Floats) -> Floats:
        """The same as probabilities."""
        curve = expit_in_place(self.log_odds(u))
        calibrated = np.logical_not(u.reshape(len(u), self.groups, -1).any(axis=2))
        if calibrated.any():  # without the rounding of a trip through log-odds
            np.copyto(curve, self.stated, where=calibrated[:, self.owner])
        return curve
