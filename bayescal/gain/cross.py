"""Predictions for every case from a model that was fitted to other cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, random_generator
from bayescal.core.errors import InputError, as_count, check_callable
from bayescal.core.text import shortened
from bayescal.data.read import read_cases
from bayescal.data.table import CalibrationData
from bayescal.gain.paired import cases_of

__all__ = [
    "by_left_out",
    "check_folds",
    "cross_fit",
    "fitted_to",
    "in_folds",
    "out_of_sample",
    "seeded",
]


def check_folds(outcome: Floats, n_folds: int, name: str) -> None:
    """Refuse more folds than the rarer outcome has cases."""
    rarest = int(min(outcome.sum(), outcome.size - outcome.sum()))
    if rarest < n_folds:
        raise InputError(
            f"n_folds is {n_folds}, but the rarer outcome of {name} has {rarest} cases: each fold "
            "needs one. Use fewer folds."
        )


Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def in_folds(
    outcome: Floats, n_folds: int, n_repeats: int, rng: np.random.Generator
) -> Iterator[Iterable[Split]]:
    """For each repeat the cases to fit and the others, in folds with equal shares of events."""
    from sklearn.model_selection import StratifiedKFold

    for _ in range(n_repeats):
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=int(rng.integers(2**31)))
        yield folds.split(outcome, outcome)


def by_left_out(group: NDArray[np.intp]) -> Iterator[Iterable[Split]]:
    """The cases to fit and the others, where each group is left out in turn."""
    numbers = range(int(group.max()) + 1)
    yield ((np.flatnonzero(group != k), np.flatnonzero(group == k)) for k in numbers)


def out_of_sample(
    model: Any,
    X: Any,
    outcome: Floats,
    repeats: Iterable[Iterable[Split]],
    rng: np.random.Generator,
    progress: Callable[[int], object],
    weight: Floats | None = None,
) -> Floats:
    """Probabilities of the event for cases that were not fitted, of shape (repeats, n).

    The model is cloned for each split; `progress` is told how many fits are done.
    """
    from sklearn.utils import _safe_indexing

    predicted, done = [], 0
    for splits in repeats:
        row = np.empty(outcome.size)
        for seen, unseen in splits:
            fitted = fitted_to(model, X, outcome, seen, rng, weight)
            row[unseen] = fitted.predict_proba(_safe_indexing(X, unseen))[:, 1]
            done += 1
            progress(done)
        predicted.append(row)
    return np.stack(predicted)


def fitted_to(
    model: Any,
    X: Any,
    outcome: Floats,
    seen: NDArray[np.intp],
    rng: np.random.Generator,
    weight: Floats | None = None,
) -> Any:
    """A copy of the model that is fitted to some cases."""
    from sklearn.base import clone
    from sklearn.utils import _safe_indexing

    cases = {} if weight is None else {"sample_weight": weight[seen]}
    return seeded(clone(model), rng).fit(_safe_indexing(X, seen), outcome[seen], **cases)


def seeded(model: Any, rng: np.random.Generator) -> Any:
    """The same, with a seed of its own wherever it, or a part of it, has none."""
    options: dict[str, Any] = getattr(model, "get_params", dict)()
    unset = [name for name, value in options.items() if value is None]
    seeds = [name for name in unset if name.split("__")[-1] == "random_state"]
    if seeds:
        model.set_params(**{name: int(rng.integers(2**31)) for name in seeds})
    return model


MOST_REPEATS = 1000


def cross_fit(
    y_true: Any,
    y_prob: Any = None,
    recalibrator: Any = None,
    *,
    n_folds: int = 10,
    n_repeats: int = 5,
    sample_weight: Any = None,
    random_state: int | np.random.Generator | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Floats:
    """Recalibrated predictions by repeated K-fold cross-fitting, the map fitted again each time.

    Parameters
    ----------
    y_true : array-like of shape (n,) or CalibrationData
        Outcomes, 0 or 1, or a table of outcomes and probabilities; then pass `recalibrator=` by
        name.
    y_prob : array-like of shape (n,), optional
        Predicted probabilities.
    recalibrator : estimator
        Has `fit(X, y)` and `predict_proba(X)`, with probabilities of shape (n, 1) as X: those of
        `bayescal.recalibrate`, or a classifier of scikit-learn. It is cloned for each fold.
    n_folds : int
        At least 2; folds have equal shares of events.
    n_repeats : int
        Number of random splits into folds, at most 1000.
    sample_weight : array-like of shape (n,), optional
        Passed to `fit`; a fold counts cases as they stand.
    random_state : int or numpy.random.Generator, optional
        Seed of the splits, and of a recalibrator that was given none.
    progress : callable, optional
        Called after each fit with the number of fits that are done, and of all.

    Returns
    -------
    ndarray of shape (n_repeats, n)
        For `recalibration_gain`, which averages the repeats within each draw: they are about the
        same patients and are no further data. Of a table, the cases stand in ascending order of
        score, and events after the others with their score; pass them on with the same table.

    Raises
    ------
    InputError
        If a class has fewer cases than there are folds, a number is out of range, a table holds
        groups, sampling weights, or cells of the grid instead of cases, or `recalibrator` is a
        model of features, fitted to more than one or wrapping another.

    Notes
    -----
    The gain is then that of the procedure trained on (n_folds - 1) / n_folds of the cases, not that
    of the one map fitted to all of them. That maps of different folds share most of their
    training cases is not counted as uncertainty; no unbiased estimate of that part exists (Bengio
    & Grandvalet, 2004).

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> platt = bc.recalibrate.LogisticRecalibrator()
    >>> bc.cross_fit(y_true, y_prob, platt, n_repeats=2, random_state=0).shape
    (2, 200)
    """
    outcome, score, weight = _as_cases(y_true, y_prob, sample_weight)
    _check_recalibrator(recalibrator)
    check_callable(progress, "progress", "the numbers of fits that are done, and of all")
    n_folds = as_count(n_folds, "n_folds", 2)
    n_repeats = as_count(n_repeats, "n_repeats", 1, MOST_REPEATS)
    check_folds(outcome, n_folds, "y_true")

    rng = random_generator(random_state)

    def report(done: int) -> None:
        if progress is not None:
            progress(done, n_repeats * n_folds)

    splits = in_folds(outcome, n_folds, n_repeats, rng)
    return out_of_sample(recalibrator, score[:, None], outcome, splits, rng, report, weight)


def _check_recalibrator(recalibrator: Any) -> None:
    methods = all(hasattr(recalibrator, name) for name in ("fit", "predict_proba"))
    if not methods or isinstance(recalibrator, type):
        given = shortened(repr(recalibrator))
        raise InputError(
            f"recalibrator must have fit and predict_proba, got {given}. Pass one of "
            "bayescal.recalibrate, such as LogisticRecalibrator()."
        )
    inner = getattr(recalibrator, "estimator", None)
    if any(getattr(model, "n_features_in_", 1) != 1 for model in (recalibrator, inner)):
        what = type(recalibrator).__name__
        raise InputError(
            f"recalibrator is a {what} of patients' features, but here it would be fitted to the "
            "model's probabilities alone. Pass a recalibrator, such as "
            "bayescal.recalibrate.LogisticRecalibrator(); to cross-fit the model itself, pass "
            "after=sklearn.model_selection.cross_val_predict(model, X, y, "
            "method='predict_proba')[:, 1] to recalibration_gain."
        )


def _as_cases(y_true: Any, y_prob: Any, sample_weight: Any) -> tuple[Floats, Floats, Floats | None]:
    """Outcomes, scores and weights of the cases."""
    if not isinstance(y_true, CalibrationData):
        return read_cases(y_true, y_prob, sample_weight, replicates=False).one
    for name, value in (("y_prob", y_prob), ("sample_weight", sample_weight)):
        if value is not None:
            raise InputError(
                f"{name} was given beside a CalibrationData, which holds its own. Pass the table, "
                "and the recalibrator by name: cross_fit(data, recalibrator=...)."
            )
    outcome, score = cases_of(y_true.one_group())
    return outcome, score, None
