"""Maps that are linear in their coefficients on the log-odds scale, by maximum likelihood."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from bayescal._base.arrays import Floats
from bayescal._base.errors import SeparationError
from bayescal._base.logistic import binomial_mle
from bayescal.data.table import CHUNK, EDGE, collapse
from bayescal.recalibrate._base import Recalibrator

__all__ = ["Design", "LinearRecalibrator", "log_odds_of", "logarithms", "maximum_likelihood"]

_STEPS = 20
_CLOSE = 1e-14

Design = Callable[[Floats], tuple[Floats, Floats | float]]


class LinearRecalibrator(Recalibrator):
    """Log-odds g(s) = offset(s) + basis(s) @ coef, fitted by unpenalised maximum likelihood.

    A method writes `_design`, and gives its coefficients names.
    """

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


def logarithms(scores: Floats) -> tuple[Floats, Floats]:
    """Log s and log(1 - s), with s read as no nearer to 0 and 1 than 1e-12."""
    inside = np.clip(scores, EDGE, 1 - EDGE)
    return np.log(inside), np.log1p(-inside)


def log_odds_of(scores: Floats) -> Floats:
    """Logit s, with s read as no nearer to 0 and 1 than 1e-12."""
    log_s, log_q = logarithms(scores)
    return log_s - log_q


def maximum_likelihood(
    design: Design, scores: Floats, outcomes: Floats, weights: Floats | None
) -> Floats:
    """Coefficients at the maximum of the likelihood of all cases.

    With many distinct scores the search starts from the maximum on a table of 2048 rows, and
    a Newton step or two over all cases take it to theirs.
    """
    rows = collapse(scores, outcomes, weights)
    try:
        coef = _on_rows(design, rows.score, rows.trials, rows.hits)
        if rows.cell is None:
            return coef
        return _finished(coef, design, scores, outcomes, weights)
    except (SeparationError, np.linalg.LinAlgError):
        if rows.cell is None:
            raise
    trials = np.ones_like(scores) if weights is None else weights
    return _on_rows(design, scores, trials, trials * outcomes)


def _on_rows(design: Design, scores: Floats, trials: Floats, hits: Floats) -> Floats:
    basis, offset = design(scores)
    return binomial_mle(basis, trials, hits, offset)[0]


def _finished(
    coef: Floats, design: Design, scores: Floats, outcomes: Floats, weights: Floats | None
) -> Floats:
    """Newton steps over all cases, a chunk at a time."""
    for _ in range(_STEPS):
        gradient, information = np.zeros(coef.size), np.zeros((coef.size, coef.size))
        for start in range(0, scores.size, CHUNK):
            part = slice(start, start + CHUNK)
            basis, offset = design(scores[part])
            fitted = expit(offset + basis @ coef)
            miss, curvature = outcomes[part] - fitted, fitted * (1 - fitted)
            if weights is not None:
                miss, curvature = miss * weights[part], curvature * weights[part]
            gradient += basis.T @ miss
            information += (basis.T * curvature) @ basis
        step = np.linalg.solve(information, gradient)
        coef = coef + step
        if not gradient @ step > _CLOSE:
            return coef
    raise SeparationError("The search for the maximum of the likelihood did not end.")
