"""Residuals of cases multiplied in pairs, and weighed by how alike their scores are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayescal._base.arrays import Floats
from bayescal.data.table import Table
from bayescal.estimators.kernel._form import Form, form_of

__all__ = ["PairSums", "pairs_of_hits", "pairs_of_weights"]


class PairSums(NamedTuple):
    """Sums over pairs of cases of r r' k, with r the outcome minus the score.

    Attributes
    ----------
    every : ndarray of shape (replicates,)
        Over all pairs, each case with itself included.
    own : ndarray of shape (replicates,)
        Each case with itself.
    cases : float or ndarray of shape (replicates,)
        Their number.
    """

    every: Floats
    own: Floats
    cases: Any

    def root(self) -> Floats:
        """Root of the sum over all pairs, to the case."""
        root: Floats = np.sqrt(self.every) / self.cases
        return root

    def root_both(self) -> Floats:
        """The same of both classes together."""
        both: Floats = np.sqrt(2.0) * self.root()
        return both

    def biased(self) -> Floats:
        """Mean over all pairs, of both classes together."""
        mean: Floats = 2 * self.every / self.cases**2
        return mean

    def unbiased(self) -> Floats:
        """Mean over pairs of different cases, of both classes; NaN where there are none."""
        pairs = self.cases * (self.cases - 1.0)
        mean: Floats = 2 * (self.every - self.own) / np.where(pairs > 0, pairs, np.nan)
        return mean


def pairs_of_hits(table: Table, form: Form, hits: Floats) -> PairSums:
    """Sums over pairs, from the events at each distinct score, (replicates, rows)."""
    score, trials = table.score, table.trials
    own = np.einsum("ri,i->r", hits, 1 - 2 * score) + np.sum(trials * score**2)
    return PairSums(form(hits - trials * score), own, table.total)


def pairs_of_weights(
    scores: Floats, outcomes: Floats, weights: Floats, *, kernel: str, bandwidth: float
) -> PairSums:
    """Sums over pairs for many weightings, (replicates, n), of cases by ascending score."""
    form = form_of(scores, kernel, bandwidth)
    residual = outcomes - scores
    return PairSums(form(weights * residual), weights @ residual**2, weights.sum(axis=1))
