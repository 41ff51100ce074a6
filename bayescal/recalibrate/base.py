"""What all recalibrators share: the reading of their input and the class they come from."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import isfunction
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from bayescal.core.arrays import Floats, blocks
from bayescal.core.errors import InputError, SeparationError, as_count, as_number
from bayescal.core.optimise import EDGE, maximise
from bayescal.core.text import documented, shortened
from bayescal.data.cases import (
    aligned,
    as_scores,
    as_vector,
    as_weights,
    check_same_length,
    column_names,
    columns_in_order,
    is_matrix,
)
from bayescal.data.columns import WeightType
from bayescal.data.matrices import as_probability_matrix, categories_of, order_told
from bayescal.data.rows import Rows, ends_of, levels_of
from bayescal.data.table import CalibrationData
from bayescal.data.weights import as_weight_type, effective_cases

_MOST_SHOWN = 4
_MOST_KNOTS = 1000


class Cases(NamedTuple):
    """Valid cases that count, those without weight left out.

    `proba` has one probability a case for two classes, or one a class; `code` is the index of the
    class of each. Sampling weights add up to Kish's effective size; `kept` says which of the rows
    these are, None for all.
    """

    proba: Floats
    code: NDArray[np.intp]
    weight: Floats | None
    classes: NDArray[Any]
    kept: NDArray[np.bool_] | None


def read_cases(
    X: Any,
    y: Any,
    sample_weight: Any,
    classes: Any,
    weight_type: WeightType | None = None,
) -> Cases:
    """Probabilities, classes and weights of the same cases."""
    if y is None:
        raise InputError(
            "y is missing: a recalibrator requires y to be passed, but the target y is None. "
            "Pass the labels after the probabilities."
        )
    ordered = categories_of(y)
    X, y, sample_weight = aligned(X=X, y=y, sample_weight=sample_weight)
    labels = as_vector(y, "y")
    named = _named_classes(X, labels) if classes is None else classes
    if named is None and is_matrix(X):
        if ordered is not None and len(ordered) == np.shape(X)[1]:
            named = as_vector(ordered, "y's categories")
        elif any(isinstance(label, str) for label in labels.tolist()):
            raise InputError(
                f"y holds words, such as {shortened(repr(labels.tolist()[0]))}, and nothing says "
                f"which column of X is which class. {order_told('y', 'X', 'classes=[...]')}"
            )
    proba = as_probabilities(in_order(X, named))
    classes = named if proba.ndim == 2 else classes
    check_same_length(labels.shape[0], "y", proba.shape[0], "X")
    weight = as_weights(sample_weight, labels.size)
    kept = None if weight is None or weight.all() else weight > 0
    if weight is not None and kept is not None:
        proba, labels, weight = proba[kept], labels[kept], weight[kept]
    code, names = _encode(labels, 2 if proba.ndim == 1 else proba.shape[1], classes)
    if names.size == 2 and proba.ndim == 2:
        proba = proba[:, 1]
    if weight is not None:
        weight = effective_cases(weight, as_weight_type(weight_type, weight))
    return Cases(proba, code, weight, names, kept)


def read_table(
    data: CalibrationData, given: Mapping[str, Any], weight_type: WeightType | None
) -> CalibrationData:
    """A table of one group, which came without arguments that it holds or cannot use."""
    extra = [name for name, value in given.items() if value is not None]
    if extra:
        raise InputError(
            f"{extra[0]} was given beside a CalibrationData, which holds scores, outcomes 0 and 1 "
            "and their weights, and nothing else of a case. Pass arrays, or the table alone."
        )
    if weight_type not in (None, data.weight_type):
        raise InputError(
            f"weight_type is {weight_type!r}, but the table holds weights of the type "
            f"{data.weight_type!r}. Leave weight_type out: the table knows."
        )
    return data.one_group().independent()


def in_order(X: Any, classes: Any) -> Any:
    """The columns of a data frame in the order of the classes, if its columns are the classes."""
    names = None if classes is None else as_vector(classes, "classes").tolist()
    return columns_in_order(X, names)


def as_fitted(X: Any, names: list[Any] | None, argument: str = "X") -> Any:
    """The columns of a data frame in the order of those that a recalibrator was fitted to."""
    now = column_names(X)
    if names is None or now is None or len(now) != len(names):
        return X
    other = [name for name in now if name not in names]
    if other:
        raise InputError(
            f"{argument} has the column {shortened(repr(other[0]))}, and this was fitted to the "
            f"columns {shortened(', '.join(map(repr, names)))}. Pass the same columns; if they are "
            f"the same under other names, in the same order, pass {argument}.to_numpy()."
        )
    return columns_in_order(X, names)


def as_probabilities(X: Any) -> Floats:
    """Probabilities of shape (n,), or (n, k) with rows that sum to 1; one column is a vector."""
    if isinstance(X, CalibrationData):
        raise InputError(
            "X is a CalibrationData, which has outcomes too. Pass X.score for the "
            "recalibrated probability of each of its rows."
        )
    try:
        array = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X)
    except ValueError as error:
        raise InputError(
            "X is not an array of numbers: a value is none, or rows differ in length."
        ) from error
    if array.ndim != 2 or array.shape[1] == 1:
        return as_scores(array, "X")
    if array.shape[1] == 0:
        raise InputError(
            f"X has 0 feature(s) (shape={array.shape}) while a minimum of 1 is required: "
            "pass a probability for each case."
        )
    return as_probability_matrix(array, "X")


def _named_classes(X: Any, labels: NDArray[Any]) -> NDArray[Any] | None:
    """Classes in sorted order, when each label in `y` is the name of a column of `X`."""
    columns = column_names(X)
    if columns is None or not set(labels.tolist()) <= set(columns):
        return None
    named: NDArray[Any] = np.unique(np.asarray(columns))
    return named if named.size == len(columns) else None


def _encode(
    labels: NDArray[Any], columns: int, classes: Any
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Index of the class of each case, and the classes in the order of the columns."""
    if classes is None and columns == 2 and labels.dtype.kind in "biuf":
        event = labels == 1
        if (event | (labels == 0)).all():
            return event.astype(np.intp), np.array([0, 1], dtype=labels.dtype)
    seen, code = _distinct(labels)
    if classes is None:
        _check_number(seen, columns)
        return code, seen
    names = as_vector(classes, "classes")
    check_same_length(names.size, "classes", columns, "the columns of X")
    column = {name: j for j, name in enumerate(names.tolist())}
    if len(column) < names.size:
        raise InputError(f"classes holds a label twice: {names.tolist()}.")
    unknown = [label for label in seen.tolist() if label not in column]
    if unknown:
        raise InputError(f"y holds the class {unknown[0]!r}, which classes does not list.")
    return np.array([column[label] for label in seen.tolist()])[code], names


def _distinct(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Sorted labels, and the index of each case's."""
    missing = np.array([label is None for label in labels]) if labels.dtype == object else None
    if labels.dtype.kind == "f":
        missing = ~np.isfinite(labels)
    if missing is not None and missing.any():
        at = int(missing.argmax())
        raise InputError(f"y[{at}] is {labels[at]}, not a label. Drop or impute it first.")
    if labels.dtype.kind == "c":
        raise InputError("Complex data not supported: y must hold the labels of classes.")
    try:
        distinct, code = np.unique(labels, return_inverse=True)
    except TypeError:
        raise InputError(
            "y mixes labels of types that have no common order. Use one type of label."
        ) from None
    return distinct, code


def _check_number(labels: NDArray[Any], columns: int) -> None:
    """As many classes as columns, unless it is plain why not."""
    if labels.size == columns:
        return
    shown = ", ".join(map(repr, labels[:_MOST_SHOWN].tolist()))
    shown += f" and {labels.size - _MOST_SHOWN} more" if labels.size > _MOST_SHOWN else ""
    if labels.size > columns and labels.dtype.kind == "f" and (labels % 1 != 0).any():
        raise InputError(
            f"Unknown label type: y holds the numbers {shown}. "
            "A recalibrator needs the labels of classes, not a continuous target."
        )
    if labels.size > columns:
        raise InputError(
            f"y holds {labels.size} classes ({shown}) but X has probabilities for "
            f"{columns}. Pass a matrix with one column for each class, in sorted order."
        )
    raise InputError(
        f"y holds {labels.size} class{'es' if labels.size > 1 else ''} ({shown}) but X has "
        f"probabilities for {columns}. Name them all, in the order of the columns, with classes=."
    )


def as_amount(value: Any, name: str) -> float:
    """A finite number of at least 0."""
    is_number = isinstance(value, (int, float, np.integer, np.floating))
    number = as_number(value, name) if is_number and not isinstance(value, bool) else -1.0
    if number < 0:
        raise InputError(
            f"{name} must be a finite number of at least 0, got {shortened(repr(value))}."
        )
    return number


def as_knots(n_knots: Any, fewest: int) -> int:
    """A number of knots, whose square still fits into memory."""
    return as_count(n_knots, "n_knots", fewest, _MOST_KNOTS)


class Recalibrator(ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A map from predicted probabilities to better ones, as a scikit-learn classifier.

    Its `X` are the probabilities that another model gave. A recalibrator for two classes
    writes `_fit(scores, outcomes, weights)`, which learns, and `_map(scores)`, which recalibrates
    probabilities of the event. With more than two classes each is recalibrated against the rest
    and the probabilities of a case are divided by their sum; a method that knows better overrides
    `_fit_classes` and `_map_classes`.

    Attributes
    ----------
    uses_features : bool
        Whether `RecalibratedClassifier` also hands it the `features` that the model saw.
    reaches_zero : bool
        Whether its map can be exactly 0. With more than two classes no class then gets less than
        0.5 / (n + 1) of n cases before the division, so that the log score stays finite.
    reads_log_odds : bool
        Whether it takes logarithms of the probabilities. Those of exactly 0 and 1 are then read as
        `bayescal.fit` reads them: a quarter of the way to the nearest other one.
    weight_type : {"counts", "sampling"} or None
        What `sample_weight` is; None for counts if all are whole numbers, else sampling weights.
    %(of_each_class)s
    """

    uses_features = False
    reaches_zero = False
    reads_log_odds = False
    ends_: tuple[float, float] = (0.0, 1.0)
    weight_type: WeightType | None = None
    _columns: list[Any] | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _with_paragraphs(cls)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, classes: Any = None) -> Self:
        """Learn to recalibrate, from cases that the model was not trained on.

        Parameters
        ----------
        X : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
            Predicted probabilities: of the event, or one column for each class. A data frame's
            columns are matched by name when they are the labels. Or a `CalibrationData`, which
            holds outcomes and weights itself.
        y : array-like of shape (n_samples,), optional
            Labels, of any type; none with a `CalibrationData`, whose labels are 0 and 1. Of two
            classes the greater is the event.
        sample_weight : array-like of shape (n_samples,), optional
            Case counts. If any is not whole they are rescaled to Kish's effective sample size.
        classes : array-like of shape (n_classes,), optional
            Labels in the order of the columns; by default numbers in `y`, sorted, or its
            categories. Beside a matrix without names of columns words need one of the two.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If these are not probabilities and labels of the same cases, if a table holds several
            groups, or if an option is out of range.
        SeparationError
            If the method is one of maximum likelihood and there is no maximum.
        """
        return self._fit_cases(X, y, sample_weight, classes)

    def transform(self, X: Any) -> Floats:
        """Recalibrated probabilities, in the shape that a reader of one column expects.

        Parameters
        ----------
        %(recalibrated_scores)s

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Of two classes, the probability of the event.

        %(refuses_others)s
        """
        return self._recalibrated(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns that `transform` gives, for `set_output` and pipelines.

        Parameters
        ----------
        input_features : ignored
            Only for scikit-learn.

        Returns
        -------
        ndarray of str
            "probability" for two classes; with more, the labels.
        """
        check_is_fitted(self)
        labels = [str(label) for label in self.classes_.tolist()]
        return np.array(["probability"] if len(labels) == 2 else labels, dtype=object)

    def predict_proba(self, X: Any) -> Floats:
        """Recalibrated probability of each class.

        Parameters
        ----------
        %(recalibrated_scores)s

        Returns
        -------
        ndarray of shape (n_samples, n_classes)

        %(refuses_others)s
        """
        return both_columns(self._recalibrated(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of the largest recalibrated probability.

        Parameters
        ----------
        %(recalibrated_scores)s

        Returns
        -------
        ndarray of shape (n_samples,)

        %(refuses_others)s
        """
        return self._labels(self._recalibrated(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of cases whose class `predict` gives, as scikit-learn's classifiers have it.

        Parameters
        ----------
        %(recalibrated_scores)s
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), optional
            Case counts.

        Returns
        -------
        float

        Raises
        ------
        InputError
            If these are not probabilities and labels of the same cases.
        """
        X, y, sample_weight = aligned(X=X, y=y, sample_weight=sample_weight)
        return float(super().score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn 1.6 and later ask for: a vector of probabilities will do as X."""
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        return tags

    def _fit(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> None:
        """Learn from probabilities of the event, outcomes 0 and 1, and positive case counts."""
        raise NotImplementedError

    def _map(self, scores: Floats) -> Floats:
        """Recalibrated probabilities of the event."""
        raise NotImplementedError

    def _fit_classes(
        self, proba: Floats, code: NDArray[np.intp], weights: Floats | None, **of_cases: Any
    ) -> None:
        """Learn from the probabilities and the classes 0, ..., k - 1 of cases, for k > 2."""
        self.recalibrators_ = []
        for j, label in enumerate(self.classes_.tolist()):
            member = clone(self)
            try:
                member.fit(proba[:, j], code == j, weights, **of_cases)
            except InputError as error:
                raise type(error)(f"Class {label!r} against the rest: {error}") from error
            self.recalibrators_.append(member)

    def _map_classes(self, proba: Floats, **of_cases: Any) -> Floats:
        """Recalibrated probabilities of more than two classes."""
        each = [
            member._recalibrated(column, **of_cases)
            for member, column in zip(self.recalibrators_, proba.T, strict=True)
        ]
        matrix = np.maximum(np.column_stack(each), self.least_)
        total = matrix.sum(axis=1, keepdims=True)
        even = np.full_like(matrix, 1 / matrix.shape[1])
        return np.asarray(np.divide(matrix, total, out=even, where=total > 0))

    def _fit_cases(self, X: Any, y: Any, sample_weight: Any, classes: Any, **of_cases: Any) -> Self:
        if isinstance(X, CalibrationData):
            given = {"y": y, "sample_weight": sample_weight, "classes": classes, **of_cases}
            self._fit_table(read_table(X, given, self.weight_type))
            return self
        cases = read_cases(X, y, sample_weight, classes, self.weight_type)
        for name, values in of_cases.items():
            rows = cases.code.size if cases.kept is None else cases.kept.size
            check_same_length(len(values), name, rows, "X")
        if cases.kept is not None:
            of_cases = {name: values[cases.kept] for name, values in of_cases.items()}
        self.classes_ = cases.classes
        self._columns = column_names(in_order(X, cases.classes))
        proba = self._with_ends(cases.proba)
        if cases.classes.size == 2:
            self._fit(proba, cases.code.astype(np.float64), cases.weight, **of_cases)
        else:
            number = cases.code.size if cases.weight is None else cases.weight.sum()
            self.least_ = 0.5 / (number + 1) if self.reaches_zero else 0.0
            self._fit_classes(proba, cases.code, cases.weight, **of_cases)
        return self

    def _fit_table(self, data: CalibrationData) -> None:
        """Learn from a table of one group, whose labels are 0 and 1."""
        self.classes_ = np.array([0, 1])
        outcomes, scores, weights = data.to_arrays()
        self._fit(self._with_ends(scores), outcomes, weights)

    def _with_ends(self, proba: Floats) -> Floats:
        """Probabilities to learn from, those of exactly 0 and 1 moved; where to is remembered."""
        self.ends_ = ends_of(proba) if self.reads_log_odds else (0.0, 1.0)
        return np.clip(proba, *self.ends_)

    def _recalibrated(self, X: Any, **of_cases: Any) -> Floats:
        """Probabilities of the event, or of each of more than two classes."""
        proba = self._read_scores(X, **of_cases)
        recalibrate = self._map if proba.ndim == 1 else self._map_classes
        return recalibrate(np.clip(proba, *self.ends_), **of_cases)

    def _read_scores(self, X: Any, **of_cases: Any) -> Floats:
        """Probabilities of the event, or of each of more than two classes, as they came."""
        check_is_fitted(self)
        proba = as_probabilities(as_fitted(in_order(X, self.classes_), self._columns))
        size, columns = self.classes_.size, 1 if proba.ndim == 1 else proba.shape[1]
        if columns != size and (size, columns) != (2, 1):
            raise InputError(
                f"X has {columns} column{'s' if columns > 1 else ''}, but {size} classes were "
                "seen when this was fitted. Pass a column for each class."
            )
        for name, values in of_cases.items():
            check_same_length(len(values), name, len(proba), "X")
        return proba[:, 1] if (size, columns) == (2, 2) else proba

    def _labels(self, recalibrated: Floats) -> NDArray[Any]:
        return np.asarray(self.classes_[both_columns(recalibrated).argmax(axis=1)])


def _with_paragraphs(kind: type) -> None:
    """Put the shared paragraphs into the docstrings of a class and of its methods."""
    documented(kind)
    for method in filter(isfunction, vars(kind).values()):
        documented(method)


_with_paragraphs(Recalibrator)


def both_columns(recalibrated: Floats) -> Floats:
    """A column for each class."""
    if recalibrated.ndim == 2:
        return recalibrated
    return np.column_stack([1 - recalibrated, recalibrated])


LOSSES = ("log", "brier")

_TOLERANCE = 1e-22
_FLAT = 1e-12
_CERTAIN = 1e-9
_TRIED_SLOPES = np.geomspace(0.01, 100, 41)
_NO_MAXIMUM = (
    "The maximum-likelihood estimate does not exist: a class has no cases, or the probabilities "
    "separate the classes. A posterior does: use bayescal.recalibrate.BayesianRecalibrator."
)


def log_probabilities(proba: Floats) -> Floats:
    """Log p, with p read as no less than 1e-12."""
    return np.asarray(np.log(np.maximum(proba, EDGE)))


def case_counts(size: int, weights: Floats | None) -> Floats:
    """Weight of each case; 1 where none is given."""
    return np.ones(size) if weights is None else weights


def exact_rows(scores: Floats, outcomes: Floats, weights: Floats | None) -> Rows:
    """One row for each distinct score."""
    levels = levels_of(scores, weights)
    return Rows(levels.score, levels.trials, levels.hits(outcomes))


def best_slope(logs: Floats, code: NDArray[np.intp], weights: Floats | None) -> float:
    """The b that maximises the likelihood of softmax(b log p)."""
    case = case_counts(code.size, weights)
    own = _of_class(logs, code)
    if not ((own < logs.max(axis=1)).any() and (own > logs.min(axis=1)).any()):
        raise SeparationError(_NO_MAXIMUM)

    def log_likelihood(slope: Floats) -> tuple[float, Floats, Floats]:
        value = gradient = information = 0.0
        for part in blocks(*logs.shape):
            eta = slope[0] * logs[part]
            fitted = softmax(eta, axis=1)
            mean = np.sum(fitted * logs[part], axis=1)
            spread = np.sum(fitted * (logs[part] - mean[:, None]) ** 2, axis=1)
            value += float(case[part] @ (slope[0] * own[part] - logsumexp(eta, axis=1)))
            gradient += float(case[part] @ (own[part] - mean))
            information += float(case[part] @ spread)
        return value, np.array([gradient]), np.array([[-information]])

    return float(maximise(log_likelihood, np.ones(1), tolerance=_TOLERANCE).point[0])


def least_squares_slope(logs: Floats, code: NDArray[np.intp], weights: Floats | None) -> float:
    """The b from 0.01 to 100 with the least Brier score of softmax(b log p).

    The Brier score is not convex in b: the best of slopes spread over the range is refined.
    """
    case = case_counts(code.size, weights)

    def brier(log_slope: float) -> float:
        total = 0.0
        for part in blocks(*logs.shape):
            fitted = softmax(np.exp(log_slope) * logs[part], axis=1)
            own = _of_class(fitted, code[part])
            total += float(case[part] @ (np.vecdot(fitted, fitted) - 2 * own))
        return total

    tried = np.log(_TRIED_SLOPES)
    at = int(np.argmin([brier(each) for each in tried]))
    near = tried[max(at - 1, 0)], tried[min(at + 1, tried.size - 1)]
    return float(np.exp(minimize_scalar(brier, bounds=near, options={"xatol": 1e-10}).x))


def best_scales(
    logs: Floats, code: NDArray[np.intp], weights: Floats | None
) -> tuple[Floats, Floats]:
    """The a and b that maximise the likelihood of softmax(a_j log p_j + b_j), sum of b zero."""
    case = case_counts(code.size, weights)
    size = logs.shape[1]
    unit = np.abs(logs).max(axis=0)
    scaled = logs / np.where(unit > 0, unit, 1)
    free = np.arange(2 * size - 1)

    def log_likelihood(coef: Floats) -> tuple[float, Floats, Floats]:
        slopes, biases = coef[:size], np.append(coef[size:], 0)
        value, gradient, information = 0.0, np.zeros(2 * size), np.zeros((2 * size, 2 * size))
        for part in blocks(*logs.shape):
            z, count = scaled[part], case[part]
            eta = slopes * z + biases
            fitted = softmax(eta, axis=1)
            miss = -fitted
            miss[np.arange(z.shape[0]), code[part]] += 1
            value += float(count @ (_of_class(eta, code[part]) - logsumexp(eta, axis=1)))
            gradient += np.concatenate([count @ (miss * z), count @ miss])
            pulled = np.hstack([fitted * z, fitted])
            information -= (pulled.T * count) @ pulled
            squares, products, ones = (np.diag(count @ (fitted * z**k)) for k in (2, 1, 0))
            information += np.block([[squares, products], [products, ones]])
        return value, gradient[free], -information[np.ix_(free, free)]

    start = np.concatenate([unit, np.zeros(size - 1)])
    mode = maximise(log_likelihood, start, tolerance=_TOLERANCE)
    curvature = np.linalg.eigvalsh(mode.information)
    flat = curvature[0] <= _FLAT * curvature[-1]
    if not mode.converged or flat or mode.value > -_CERTAIN:
        raise SeparationError(_NO_MAXIMUM)
    biases = np.append(mode.point[size:], 0)
    return mode.point[:size] / np.where(unit > 0, unit, 1), biases - biases.mean()


def _of_class(values: Floats, code: NDArray[np.intp]) -> Floats:
    """The entry of each row that belongs to its class."""
    return np.asarray(values[np.arange(code.size), code])
