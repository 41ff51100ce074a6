"""Whether scores order cases as their probabilities do, with outcomes for these."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal.data.table import tabulate
from bayescal.estimators.door import OutcomesLike, Statistic, evaluate, read_ranked

__all__ = ["probabilistic_kendall_tau"]


@documented
def probabilistic_kendall_tau(
    y_true: OutcomesLike, y_prob: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None
) -> float | Floats:
    """How far scores order cases as their probabilities of the event do.

    P((s - s')(y - y') > 0) - P((s - s')(y - y') < 0) for two different cases: Kendall's tau-a of
    scores and outcomes. Given the cases it is, on average over outcomes,
    E[sign(s - s') (q - q')] with q the probability of the event.

    Parameters
    ----------
    %(replicates)s
    %(scores)s
    %(weights_by_kish)s

    Returns
    -------
    float or ndarray
        From -1 to 1; one for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    InputError
        As `ece`; also if there are fewer than two cases.

    Notes
    -----
    It is no calibration error: it stays the same under any rising map of the scores. With m
    events among n cases and A the area under the ROC curve, it is
    2 m (n - m) (2 A - 1) / (n (n - 1)).

    The probability of the event of a single case is not observed, so outcomes stand for it; the
    definition of the authors has it, and counts signs of differences.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", 2024, arXiv:2412.00943.

    Examples
    --------
    >>> from bayescal import estimators
    >>> round(estimators.probabilistic_kendall_tau([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.9]), 3)
    0.333
    """
    return evaluate(_core, read_ranked(y_true, y_prob, sample_weight))


def _core(scores: Floats, weights: Floats | None) -> Statistic:
    """Core of `probabilistic_kendall_tau`."""
    table = tabulate(scores, weights)
    total, trials = table.total, table.trials
    if total <= 1:
        raise InputError(f"y_prob has {total:.3g} cases, and a pair takes two.")

    def statistic(outcomes: NDArray[Any]) -> Floats:
        hits = table.hits(outcomes)
        misses = trials - hits
        below = np.cumsum(misses, axis=1) - misses
        above = misses.sum(axis=1, keepdims=True) - below - misses
        net: Floats = (hits * (below - above)).sum(axis=1)
        return 2 * net / (total * (total - 1))

    return statistic
