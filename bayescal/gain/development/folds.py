"""Predictions for every case from a model that was fitted to other cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.text import shortened

__all__ = ["check_folds", "check_groups", "out_of_fold", "out_of_group", "seeded"]


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
    from sklearn.model_selection import StratifiedKFold

    predicted = np.empty((n_repeats, outcome.size))
    done = 0
    for row in predicted:
        splits = StratifiedKFold(n_folds, shuffle=True, random_state=int(rng.integers(2**31)))
        for seen, unseen in splits.split(outcome, outcome):
            cases = {} if weight is None else {"sample_weight": weight[seen]}
            row[unseen] = _of_unseen(model, X, outcome, seen, unseen, rng, **cases)
            done += 1
            if progress is not None:
                progress(done)
    return predicted


def check_groups(outcome: Floats, group: NDArray[np.int64], names: Sequence[str]) -> None:
    """Refuse groups without which there are no cases of one of the outcomes.

    Parameters
    ----------
    outcome : ndarray of shape (n,)
    group : ndarray of shape (n,)
        The number of each case's group.
    names : sequence of str
        Of the groups, by number.
    """
    if len(names) < 2:
        raise InputError(
            f"site has one site, {shortened(repr(names[0]))}, and the model is fitted to the "
            "cases of all sites but one. Leave site= out."
        )
    for number, name in enumerate(names):
        rest = outcome[group != number]
        if rest.min() == rest.max():
            raise InputError(
                f"without the cases of {shortened(repr(name))} all outcomes are {rest[0]:g}, and "
                "no model can be fitted. Join this group with another."
            )


def out_of_group(
    model: Any,
    X: Any,
    outcome: Floats,
    group: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    progress: Callable[[int], object],
) -> Floats:
    """Probabilities of the event from a model that saw no case of the same group.

    Parameters
    ----------
    model : estimator
        Cloned for each group.
    outcome : ndarray of shape (n,)
    group : ndarray of shape (n,)
        The number of each case's group.
    progress : callable
        Called after each fit with the number of fits that are done.

    Returns
    -------
    ndarray of shape (n,)
    """
    predicted = np.empty(outcome.size)
    for number in range(int(group.max()) + 1):
        unseen = np.flatnonzero(group == number)
        seen = np.flatnonzero(group != number)
        predicted[unseen] = _of_unseen(model, X, outcome, seen, unseen, rng)
        progress(number + 1)
    return predicted


def _of_unseen(
    model: Any,
    X: Any,
    outcome: Floats,
    seen: NDArray[np.intp],
    unseen: NDArray[np.intp],
    rng: np.random.Generator,
    **cases: Any,
) -> Floats:
    """Probabilities of some cases from the model fitted to others."""
    from sklearn.base import clone
    from sklearn.utils import _safe_indexing

    fitted = seeded(clone(model), rng)
    fitted.fit(_safe_indexing(X, seen), outcome[seen], **cases)
    return np.asarray(fitted.predict_proba(_safe_indexing(X, unseen))[:, 1])


def seeded(model: Any, rng: np.random.Generator) -> Any:
    """The same, with a seed of its own wherever it, or a part of it, has none."""
    options: dict[str, Any] = getattr(model, "get_params", dict)()
    unset = [name for name, value in options.items() if value is None]
    seeds = [name for name in unset if name.split("__")[-1] == "random_state"]
    if seeds:
        model.set_params(**{name: int(rng.integers(2**31)) for name in seeds})
    return model
