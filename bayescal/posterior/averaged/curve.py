"""The curves of an average as they are drawn and predict, moved where nothing says otherwise.

The mean of draws that jump, each somewhere else and few at any one place, has notches; and a few
draws that fall far at the last cases make it hook. Neither is what the data say. So the mean passes
gradually from cell to cell unless a jump is at least as probable as none, and it rises unless a
fall is. Draws are moved with their mean; draws on the diagonal stay there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from bayescal.core.arrays import Floats, blocks
from bayescal.core.optimise import clipped
from bayescal.model.curve import PROBABLE, CurveAtScores
from bayescal.model.problem import Problem
from bayescal.posterior.line import nearest_shift

__all__ = ["DrawnCurve"]

MOST_AT_ONCE = 1 << 18  # numbers
MOST_MOVED = 2.0
"""Most that draws are moved, in log-odds."""


@dataclass(frozen=True)
class DrawnCurve:
    """Draws of an average's curve, for figures and predictions; distances are not read from it.

    Parameters
    ----------
    problem : Problem
        Of the average.
    u : ndarray of shape (draws, d)
        Draws of its coordinates.
    """

    problem: Problem
    u: Floats

    def at(self, scores: Floats) -> Floats:
        """The curves, of shape (draws, scores)."""
        at, stated = self.problem.inside(scores), clipped(scores)
        size = len(self.u)
        curves = np.empty((size, at.size))
        for part in blocks(at.size, size, MOST_AT_ONCE):
            plain = self._plain(at[part], stated[part])
            mean = self._rising(at[part], self._gradual(at[part], stated[part]))
            curves[:, part] = moved_to(mean, plain, stated[part])
        return curves

    def _plain(self, at: Floats, stated: Floats) -> Floats:
        problem = self.problem
        return problem.curve.at_scores(at, problem.frame, stated).probability(self.u)

    def _gradual(self, at: Floats, stated: Floats) -> Floats:
        """The mean curve, of shape (scores,), which passes improbable jumps gradually."""
        problem = self.problem
        curves = CurveAtScores(problem.curve, at, problem.frame, self._jumps, stated)
        return np.asarray(curves.probability(self.u).mean(axis=0))

    @cached_property
    def _jumps(self) -> NDArray[np.bool_] | None:
        """The borders between cells at which curves probably jump; None if there are none."""
        frame = self.problem.frame
        return self.problem.curve.jumps(self.u, frame) if len(frame.cells) > 2 else None

    def _rising(self, at: Floats, mean: Floats) -> Floats:
        """The mean curve without falls that are improbable.

        Between two scores of the data it stays between its values there.
        """
        level, fall = self._levels
        after = np.searchsorted(self.problem.score, at, side="right")
        lower, upper = np.append(0, level)[after], np.append(level, 1)[after]
        same = (fall[:-1] == fall[1:]) & (fall[1:] > 0)
        falls = np.concatenate([fall[:1] > 0, same, fall[-1:] > 0])[after]
        return np.where(falls, mean, np.clip(mean, lower, upper))

    @cached_property
    def _levels(self) -> tuple[Floats, NDArray[np.intp]]:
        """The mean curve at the scores of the data, and the number of the fall that each is in.

        Where the mean curve falls it is level instead, at its mean over these cases, unless at
        least half of the draws fall there, too. Such falls are numbered from 1.
        """
        from scipy.optimize import isotonic_regression

        score, stated = self.problem.score, self.problem.stated
        mean, plain = self._gradual(score, stated), self._plain(score, stated)
        pooled = isotonic_regression(mean, weights=self.problem.trials)
        level, fall = pooled.x, np.zeros(score.size, dtype=np.intp)
        for number, (start, stop) in enumerate(
            zip(pooled.blocks[:-1], pooled.blocks[1:], strict=True), start=1
        ):
            of_block = mean[start:stop]
            low = start + int(np.argmax(np.maximum.accumulate(of_block) - of_block))
            high = start + int(np.argmax(mean[start : low + 1]))
            if low > high and (plain[:, low] < plain[:, high]).mean() >= PROBABLE:
                level[start:stop], fall[start:stop] = of_block, number
        return level, fall


def moved_to(mean: Floats, curves: Floats, score: Floats) -> Floats:
    """Draws of curves, moved in log-odds so that they have another mean.

    Parameters
    ----------
    mean : ndarray of shape (scores,)
        The other mean.
    curves : ndarray of shape (draws, scores)
    score : ndarray of shape (scores,)
        Draws that are the score itself are not moved.

    Returns
    -------
    ndarray of shape (draws, scores)
        With this mean, unless draws would have to move by more than 2.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal.posterior.averaged.curve import moved_to
    >>> curves = np.array([[0.2], [0.4], [0.6]])
    >>> moved_to(np.array([0.5]), curves, np.array([0.2])).round(2)
    array([[0.2 ],
           [0.56],
           [0.74]])
    """
    off = curves != score
    count = off.sum(axis=0)
    needed = (count > 0) & (np.abs(curves.mean(axis=0) - mean) > np.finfo(float).eps)
    if not needed.any():
        return curves
    few, among, size = curves[:, needed], off[:, needed], count[needed]
    target = (mean[needed] * len(curves) - (few * ~among).sum(axis=0)) / size
    target = np.clip(target, 0, 1)
    shift = nearest_shift(target, (among / size).T, few.T)
    shift = np.clip(shift, -MOST_MOVED, MOST_MOVED)
    result = np.array(curves)
    result[:, needed] = np.where(among, expit(logit(few) + shift), few)
    return result
