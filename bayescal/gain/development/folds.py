"""Predictions for every case from a model that was fitted to other cases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError

__all__ = ["check_folds", "out_of_fold", "seeded"]


def check_folds(outcome: Floats, n_folds: int, name: str) -> None:
    """Refuse more folds than the rarer outcome has cases.

    Parameters
    ----------
    outcome : ndarray of shape (n,)
    name : str
        What the user calls the outcomes.
    """
    rarest = int(min(outcome.sum(), outcome.size - outcome.sum()))
    if rarest < n_folds:
        raise InputError(
            f"n_folds is {n_folds}, but the rarer outcome of {name} has {rarest} cases: each fold "
            "needs one. Use fewer folds."
        )


def out_of_fold(
    model: Any,
    X: Any,
    outcome: Floats,
    n_folds: int,
    n_repeats: int,
    rng: np.random.Generator,
    *,
    weight: Floats | None = None,
    progress: Callable[[int], object] | None = None,
) -> Floats:
    """Probabilities of the event by repeated K-fold cross-validation.

    Parameters
    ----------
    model : estimator
        Cloned for each fold.
    outcome : ndarray of shape (n,)
    n_folds, n_repeats : int
        Folds have equal shares of events.
    rng : numpy.random.Generator
        Of the splits, and of a model that has no seed.
    weight : ndarray of shape (n,), optional
        Passed to `fit`.
    progress : callable, optional
        Called after each fit with the number of fits that are done.

    Returns
    -------
    ndarray of shape (n_repeats, n)
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold
    from sklearn.utils import _safe_indexing

    predicted = np.empty((n_repeats, outcome.size))
    done = 0
    for row in predicted:
        splits = StratifiedKFold(n_folds, shuffle=True, random_state=int(rng.integers(2**31)))
        for seen, unseen in splits.split(outcome, outcome):
            cases = {} if weight is None else {"sample_weight": weight[seen]}
            fitted = seeded(clone(model), rng)
            fitted.fit(_safe_indexing(X, seen), outcome[seen], **cases)
            row[unseen] = fitted.predict_proba(_safe_indexing(X, unseen))[:, 1]
            done += 1
            if progress is not None:
                progress(done)
    return predicted


def seeded(model: Any, rng: np.random.Generator) -> Any:
    """The same, with a seed of its own wherever it, or a part of it, has none."""
    options: dict[str, Any] = getattr(model, "get_params", dict)()
    unset = [name for name, value in options.items() if value is None]
    seeds = [name for name in unset if name.split("__")[-1] == "random_state"]
    if seeds:
        model.set_params(**{name: int(rng.integers(2**31)) for name in seeds})
    return model
