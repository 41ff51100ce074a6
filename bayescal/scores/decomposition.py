"""A mean score as miscalibration - discrimination + uncertainty."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal.data.read import Needs, Outcomes, read_cases
from bayescal.data.validate import check_choice
from bayescal.scores import _core
from bayescal.scores._rules import BINARY

__all__ = ["Decomposition", "corp_decomposition", "murphy_decomposition"]


class Decomposition(NamedTuple):
    """score = miscalibration - discrimination + uncertainty.

    Attributes
    ----------
    score : float or ndarray
        The mean score.
    miscalibration : float or ndarray
        What recalibration would save. Also called reliability.
    discrimination : float or ndarray
        What the recalibrated scores save over the base rate. Also called resolution.
    uncertainty : float or ndarray
        The score of the base rate.
    """

    score: float | Floats
    miscalibration: float | Floats
    discrimination: float | Floats
    uncertainty: float | Floats


@documented
def corp_decomposition(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    score: str = "brier",
    sample_weight: ArrayLike | None = None,
) -> Decomposition:
    """CORP decomposition: recalibrated by isotonic regression, without bins.

    miscalibration = S - S(isotonic) and discrimination = S(base rate) - S(isotonic), where the
    isotonic fit of the outcomes on the scores is the best monotone recalibration for every
    proper score at once. Neither is negative.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities. Cases with equal scores are fitted by one value.
    score : {"brier", "log", "spherical"}
        As `brier_score`, `log_score` and `spherical_score` define them.
    %(counts)s

    Returns
    -------
    Decomposition
        A named tuple (score, miscalibration, discrimination, uncertainty), of floats, or of arrays
        with one for each replicate when `y_true` has leading dimensions. The log score and its
        miscalibration are infinite when a score of 0 or 1 is contradicted.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, or the score is not
        known.

    Notes
    -----
    The isotonic fit follows the outcomes closely, so that with few cases a calibrated model has a
    miscalibration well above 0. See `bayescal.check_consistency`.

    References
    ----------
    Dimitriadis, Gneiting & Jordan, "Stable reliability diagrams for probabilistic classifiers",
    PNAS 118, 2021.

    Examples
    --------
    >>> from bayescal import scores
    >>> parts = scores.corp_decomposition([0, 1, 0, 1], [0.2, 0.4, 0.7, 0.9])
    >>> [round(part, 4) for part in parts]
    [0.225, 0.1, 0.125, 0.25]
    """
    return _decompose(y_true, y_prob, score, sample_weight, _core.isotonic_groups, "rows")


@documented
def murphy_decomposition(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    score: str = "brier",
    sample_weight: ArrayLike | None = None,
) -> Decomposition:
    """Murphy's decomposition over the distinct scores: reliability, resolution, uncertainty.

    For the Brier score, miscalibration = sum_j w_j (s_j - r_j)^2 and discrimination
    = sum_j w_j (r_j - r)^2, with r_j the mean outcome of the cases at score s_j, w_j their share,
    and r the mean outcome.

    Parameters
    ----------
    %(replicates)s
    y_prob : array-like of shape (n_samples,)
        Predicted probabilities, of few distinct values. To decompose over bins, replace each score
        by the mean of its bin first.
    score : {"brier", "log", "spherical"}
        As in `corp_decomposition`.
    %(counts)s

    Returns
    -------
    Decomposition
        As `corp_decomposition` returns it.

    Raises
    ------
    InputError
        As `corp_decomposition`; if a table was compressed to the grid, where the distinct scores
        are lost.

    Notes
    -----
    When all scores differ, every outcome explains itself: discrimination is all of the uncertainty
    and miscalibration all of the score. `corp_decomposition` has no such limit.

    References
    ----------
    Murphy, "A new vector partition of the probability score", Journal of Applied Meteorology 12,
    1973. Broecker, "Reliability, sufficiency, and the decomposition of proper scores", Quarterly
    Journal of the Royal Meteorological Society 135, 2009.

    Examples
    --------
    >>> from bayescal import scores
    >>> parts = scores.murphy_decomposition([0, 1, 0, 1, 1], [0.2, 0.2, 0.2, 0.8, 0.8])
    >>> [round(part, 4) for part in parts]
    [0.16, 0.0267, 0.1067, 0.24]
    """
    return _decompose(y_true, y_prob, score, sample_weight, _alone, "scores")


def _alone(mass: Floats, hits: Floats) -> tuple[Floats, Floats]:
    """Every distinct score is a group."""
    return mass, hits


def _decompose(
    y_true: Outcomes,
    y_prob: ArrayLike | None,
    score: str,
    sample_weight: ArrayLike | None,
    pool: _core.Pool,
    needs: Needs,
) -> Decomposition:
    loss = BINARY[check_choice(score, BINARY, "score")]
    cases = read_cases(y_true, y_prob, sample_weight, needs=needs).counted()
    return Decomposition(*map(cases.result, _core.decompose(cases, loss, pool)))
