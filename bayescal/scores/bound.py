"""Upper bounds of calibration errors by proper scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal._base.arrays import Floats
from bayescal._base.docstrings import documented
from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.data.read import Outcomes
from bayescal.data.sources.alignment import aligned
from bayescal.data.validate import as_weights, check_choice
from bayescal.scores._classes import mean_loss
from bayescal.scores._rules import MULTICLASS

__all__ = ["calibration_upper_bound"]


@documented
def calibration_upper_bound(
    y_true: Outcomes,
    y_prob: ArrayLike | None = None,
    *,
    score: str | Callable[[Any, Any], ArrayLike] = "brier",
    least: float | None = None,
    root: bool = False,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Upper bound of the calibration error that belongs to a proper score.

    U_S = E S(P, Y) - inf_Q g(Q), with g(Q) = E S(Q, Y) for Y from Q, the entropy of the score. It
    is at least `proper_calibration_error`, and near it where predictions are nearly certain and
    right.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (..., n_samples), or CalibrationData
        Outcomes, 0 or 1; leading dimensions are replicates. With a matrix of probabilities,
        column numbers of shape (n_samples,). A table stands for `y_true`, `y_prob` and
        `sample_weight`. With a function for `score`, whatever that takes.
    y_prob : array-like of shape (n_samples,) or (n_samples, n_classes)
        Predicted probabilities of the event, or of each class; with a function for `score`,
        whatever that takes.
    score : {"brier", "log", "spherical"} or callable
        As `brier_score` with `scale_by_half=False`, also for an event; `log_score`;
        `spherical_score`. Or `score(y_true, y_prob)`, which gives the loss of each case, of shape
        (n_samples,), and must be proper: in expectation, the truth is the best prediction.
    least : float, optional
        The infimum of the entropy, for a function. The known ones have 0.
    root : bool
        Whether to take the root: of the Brier score, an upper bound of
        `canonical_calibration_error` of order 2, the root Brier score.
    %(counts)s

    Returns
    -------
    float or ndarray
        At least 0 for the known scores; infinite for "log" where what was given probability 0
        happened. One for each replicate when `y_true` has leading dimensions.

    Raises
    ------
    InputError
        If the arrays are not outcomes and probabilities of the same cases, the score is not known,
        a function comes without `least`, or the root is negative.

    Notes
    -----
    It is the mean of one number a case, and so unbiased, without bins; the root is not. A score
    whose entropy has no infimum, such as `dawid_sebastiani_score`, gives no bound.

    References
    ----------
    Gruber & Buettner, "Better Uncertainty Calibration via Proper Scores for Classification and
    Beyond", NeurIPS 2022, Theorem 4.3.

    Examples
    --------
    >>> from bayescal import scores
    >>> y_true, y_prob = [0, 2], [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    >>> round(scores.calibration_upper_bound(y_true, y_prob), 3)
    0.2
    >>> round(scores.calibration_upper_bound(y_true, y_prob, score="log"), 3)
    0.434

    Of a score of one's own, here the absolute error of a predicted median:

    >>> import numpy as np
    >>> def absolute_error(y_true, median):
    ...     return abs(y_true - median)
    >>> y_true, median = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0])
    >>> scores.calibration_upper_bound(y_true, median, score=absolute_error, least=0)
    0.5
    """
    bound: float | Floats
    if callable(score):
        bound = _mean_of(score, y_true, y_prob, sample_weight) - _as_least(least)
    else:
        loss = MULTICLASS[check_choice(score, MULTICLASS, "score")]
        if least is not None:
            raise InputError(f"least is for a function; of {score!r} it is 0. Leave it out.")
        bound = mean_loss(y_true, y_prob, sample_weight, loss, loss)
    if not isinstance(root, (bool, np.bool_)):
        raise InputError(f"root must be True or False, got {shortened(repr(root))}.")
    if not root:
        return bound
    if np.any(np.asarray(bound) < 0):
        raise InputError("the bound is negative and has no root: least is not the infimum.")
    rooted: float | Floats = bound**0.5
    return rooted


def _mean_of(
    score: Callable[[Any, Any], ArrayLike], y_true: Any, y_prob: Any, sample_weight: Any
) -> float:
    y_true, y_prob, sample_weight = aligned(
        y_true=y_true, y_prob=y_prob, sample_weight=sample_weight
    )
    try:
        losses = np.asarray(score(y_true, y_prob), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"score does not take these y_true and y_prob: {error}") from error
    if losses.ndim != 1 or not losses.size or np.isnan(losses).any():
        raise InputError(
            f"score must give one number for each case, of shape (n_samples,); its shape is "
            f"{losses.shape}."
        )
    weights = as_weights(sample_weight, losses.size)
    return float(np.average(losses, weights=weights))


def _as_least(least: Any) -> float:
    number = isinstance(least, (int, float, np.integer, np.floating))
    if not number or isinstance(least, bool) or not -1e300 < least < 1e300:
        raise InputError(
            "least must be the infimum of the entropy of this score, a finite number, got "
            f"{shortened(repr(least))}. Without one the score bounds nothing."
        )
    return float(least)
