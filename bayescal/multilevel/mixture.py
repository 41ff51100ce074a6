"""A mixture of curves, weighted at each score by the cases that each curve is of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

from bayescal.core.arrays import Floats
from bayescal.data.rows import Rows
from bayescal.model.curve import Curve, CurveAtScores, Frame

__all__ = ["MixtureCurve", "Shares", "mixture_of", "shares_of"]

MOST_SHARES = 20
CASES_OF_A_SHARE = 25


@dataclass(frozen=True, eq=False)
class Shares:
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
        """The shares at scores of any shape, of shape (*shape, curves)."""
        x = logit(score)
        above = np.clip(np.searchsorted(self.log_odds, x), 1, max(self.log_odds.size - 1, 1))
        if self.log_odds.size == 1:
            return np.broadcast_to(self.values[0], (*score.shape, self.values.shape[1]))
        low, high = self.log_odds[above - 1], self.log_odds[above]
        part = np.clip((x - low) / (high - low), 0, 1)[..., None]
        return np.asarray((1 - part) * self.values[above - 1] + part * self.values[above])


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
        self.stated = self._of.stated
        self._size, self._shares = curve.of.size, curve.shares.at(score)

    def log_odds(self, u: Floats) -> Floats:
        """Log-odds, of shape (draws, rows), for draws `u` of shape (draws, curves * d)."""
        return np.asarray(logit(self.probability(u)))

    def probability(self, u: Floats) -> Floats:
        """The mixtures, of shape (draws, rows), for draws `u` of shape (draws, curves * d)."""
        error = np.zeros((u.shape[0], self.stated.shape[-1]))
        for k in range(self._shares.shape[-1]):
            own = self._of.probability(u[:, k * self._size : (k + 1) * self._size])
            error += self._shares[..., k] * (own - self.stated)
        return np.asarray(self.stated + error)


def mixture_of(curve: Curve, shares: Shares) -> MixtureCurve:
    """A mixture of curves of a family, one for each column of the shares."""
    numbers = range(1, shares.values.shape[1] + 1)
    names = tuple(f"{name}_{k}" for k in numbers for name in curve.coordinates)
    values = {name: getattr(curve, name) for name in Curve.__dataclass_fields__}
    values |= {"coordinates": names, "derived": _none_derived}
    return MixtureCurve(**values, of=curve, shares=shares)


def _none_derived(u: dict[str, Any], frame: Frame, exp: Any) -> dict[str, Any]:
    """A mixture has no slope."""
    return {}
