"""cross_fit(): predictions for every patient from a map that has not seen that patient."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import paired

__all__ = ["cross_fit"]


def cross_fit(
    y_true: Any,
    y_prob: Any,
    recalibrator: Any,
    *,
    folds: int = 10,
    repeats: int = 5,
    sample_weight: Any = None,
    random_state: int | np.random.Generator | None = None,
) -> Floats:
    """Recalibrated predictions by repeated K-fold cross-fitting, the map fitted again each time.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Outcomes, 0 or 1.
    y_prob : array-like of shape (n,)
        Predicted probabilities.
    recalibrator : estimator
        Has `fit(y_prob, y_true)` and `predict_proba`, such as those of `bayescal.recalibrate`. It
        is cloned for each fold.
    folds : int
        At least 2; folds have equal shares of events.
    repeats : int
        How often to split afresh.
    sample_weight : array-like of shape (n,), optional
        Passed to `fit`; a fold counts cases as they stand.
    random_state : int or numpy.random.Generator, optional

    Returns
    -------
    ndarray of shape (repeats, n)
        For `recalibration_gain`, which averages the repeats within each draw: they are about the
        same patients and are no further data.

    Raises
    ------
    InputError
        If a class has fewer cases than there are folds, or a number is out of range.

    Notes
    -----
    The gain is then that of the procedure trained on (folds - 1) / folds of the cases, not that
    of the one map fitted to all of them. That maps of different folds share most of their
    training cases is not counted as uncertainty; no unbiased estimate of that part exists (Bengio
    & Grandvalet, 2004).

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> platt = bc.recalibrate.LogisticRecalibrator()
    >>> bc.cross_fit(y_true, y_prob, platt, repeats=2, random_state=0).shape
    (2, 200)
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    outcome, score, weight = paired(y_true, y_prob, sample_weight)
    for name, value, least in (("folds", folds, 2), ("repeats", repeats, 1)):
        if not isinstance(value, (int, np.integer)) or value < least:
            raise InputError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    rarest = int(min(outcome.sum(), outcome.size - outcome.sum()))
    if rarest < folds:
        raise InputError(
            f"folds is {folds}, but the rarer outcome has {rarest} cases: each fold needs one. "
            "Use fewer folds."
        )
    rng = np.random.default_rng(random_state)
    after = np.empty((repeats, outcome.size))
    for row in after:
        splits = StratifiedKFold(folds, shuffle=True, random_state=int(rng.integers(2**31)))
        for seen, unseen in splits.split(score[:, None], outcome):
            cases = () if weight is None else (weight[seen],)
            fitted = clone(recalibrator).fit(score[seen], outcome[seen], *cases)
            row[unseen] = fitted.predict_proba(score[unseen])[:, 1]
    return after
