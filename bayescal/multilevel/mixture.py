"""A mixture of curves, weighted at each score by the cases that each curve is of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.data.rows import Rows
from bayescal.model.curve import Curve, CurveAtScores, Frame

__all__ = ["MixtureCurve", "Shares", "mixture_of", "shares_of"]

MOST_SHARES = 20
CASES_OF_A_SHARE = 25


class Shares(NamedTuple):
    """Which share of the cases near each score each curve is of.

    Attributes
    ----------
    log_odds : ndarray of shape (points,)
        Ascending.
    values : ndarray of shape (points, curves)
        Every row sums to one. Between points they are interpolated, beyond them constant.
    """

    log_odds: Floats
    values: Floats

    def at(self, score: Floats) -> Floats:
        """The shares at scores of any shape, of shape (curves, *shape)."""
        x = logit(score)
        return np.stack([np.interp(x, self.log_odds, share) for share in self.values.T])


def shares_of(table: Rows, parts: Sequence[Rows]) -> Shares:
    """Shares of the parts of a table.

    They are read off at most 20 ranges of scores with as many cases each, of at least 25 cases, so
    that chance in who has which score does not count as a difference between curves.

    Parameters
    ----------
    table : Rows
        Scores inside (0, 1), ascending.
    parts : sequence of Rows
        Whose scores are among those of the table, or are merged in its rows.
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
    """A mixture of curves of one family, whose coordinates stand one curve after the other.

    Attributes
    ----------
    of : Curve
        The family, at its frame.
    """

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

    def log_odds(self, u: Floats) -> Floats:
        """Log-odds, of shape (draws, rows), for draws `u` of shape (draws, curves * d)."""
        return np.asarray(logit(self.probability(u)))

    def probability(self, u: Floats) -> Floats:
        """The mixtures, of shape (draws, rows), for draws `u` of shape (draws, curves * d)."""
        error = np.zeros((u.shape[0], self.stated.shape[-1]))
        for share, own in zip(self._shares, np.split(u, len(self._shares), axis=1), strict=True):
            error += share * (self._of.probability(own) - self.stated)
        return np.asarray(self.stated + error)


def mixture_of(curve: Curve, shares: Shares) -> MixtureCurve:
    """A mixture of curves of a family, one for each column of the shares; it has no slope."""
    numbers = range(1, shares.values.shape[1] + 1)
    names = tuple(f"{name}_{k}" for k in numbers for name in curve.coordinates)
    values = {name: getattr(curve, name) for name in Curve.__dataclass_fields__}
    values |= {"coordinates": names, "derived": _none_derived}
    return MixtureCurve(**values, of=curve, shares=shares)


def _none_derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    return {}
