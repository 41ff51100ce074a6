"""Maps that are linear in their coefficients on the log-odds scale, by maximum likelihood."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal._base.errors import SeparationError
from bayescal._base.logistic import binomial_mle
from bayescal.data.build.builder import collapse
from bayescal.data.table import Rows
from bayescal.recalibrate._base import Recalibrator

__all__ = ["Design", "LinearRecalibrator", "maximum_likelihood", "of_all_cases"]

Design = Callable[[Floats], tuple[Floats, Floats | float]]


class LinearRecalibrator(Recalibrator):
    """Log-odds g(s) = offset(s) + basis(s) @ coef, fitted by unpenalised maximum likelihood.

    A method writes `_design`, and gives its coefficients names.
    """

    reads_log_odds = True
    coef_: Floats

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        self.coef_ = maximum_likelihood(self._design, scores, outcomes, weights)

    def _map(self, scores: Floats) -> Floats:
        basis, offset = self._design(scores)
        probability: Floats = expit(offset + basis @ self.coef_)
        return probability

    def _design(self, scores: Floats) -> tuple[Floats, Floats | float]:
        """Basis of shape (n, k) and offset at these scores."""
        raise NotImplementedError


def maximum_likelihood(
    design: Design, scores: Floats, outcomes: Floats, weights: Floats | None
) -> Floats:
    """Coefficients at the maximum of the likelihood of all cases.

    With many distinct scores the search starts from the maximum on a table of 2048 rows.
    """
    rows = collapse(scores, outcomes, weights)
    start: Floats | float = 0.0
    try:
        start = _on_rows(design, rows.score, rows.trials, rows.hits)
    except SeparationError:
        if rows.cell is None:
            raise
    return of_all_cases(design, rows, start, scores, outcomes, weights)


def of_all_cases(
    design: Design,
    rows: Rows,
    start: Floats | float,
    scores: Floats,
    outcomes: Floats,
    weights: Floats | None,
) -> Floats:
    """The same from the maximum on the table of the cases, which it is if the table is exact."""
    if isinstance(start, np.ndarray) and rows.cell is None:
        return start
    trials = np.ones_like(scores) if weights is None else weights
    return _on_rows(design, scores, trials, trials * outcomes, start)


def _on_rows(
    design: Design, scores: Floats, trials: Floats, hits: Floats, start: Floats | float = 0.0
) -> Floats:
    basis, offset = design(scores)
    return binomial_mle(basis, trials, hits, offset, start)[0]
