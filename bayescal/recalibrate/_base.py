"""What every recalibrator shares: the scikit-learn face, labels, and more than two classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.data.edges import ends_of
from bayescal.data.sources.alignment import aligned, column_names
from bayescal.data.validate import check_same_length
from bayescal.data.weights import WeightType
from bayescal.recalibrate._input import (
    as_fitted,
    as_probabilities,
    in_order,
    read_cases,
    read_table,
)

__all__ = ["Recalibrator", "both_columns"]


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
    classes_ : ndarray of shape (n_classes,)
        Labels, in the order of the columns of `predict_proba`; of two, the second is the event.
    recalibrators_ : list of Recalibrator
        With more than two classes, the one of each class against the rest.
    """

    uses_features = False
    reaches_zero = False
    reads_log_odds = False
    ends_: tuple[float, float] = (0.0, 1.0)
    weight_type: WeightType | None = None
    _columns: list[Any] | None = None

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
        X : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
            Predicted probabilities.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Of two classes, the probability of the event.

        Raises
        ------
        InputError
            If these are not probabilities of the classes it was fitted to.
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
        X : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
            Predicted probabilities.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)

        Raises
        ------
        InputError
            If these are not probabilities of the classes it was fitted to.
        """
        return both_columns(self._recalibrated(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of the largest recalibrated probability.

        Parameters
        ----------
        X : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
            Predicted probabilities.

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        InputError
            If these are not probabilities of the classes it was fitted to.
        """
        return self._labels(self._recalibrated(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of cases whose class `predict` gives, as scikit-learn's classifiers have it.

        Parameters
        ----------
        X : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
            Predicted probabilities.
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
        shares: Floats = np.divide(matrix, total, out=even, where=total > 0)
        return shares

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
        proba = self._read_scores(X)
        for name, values in of_cases.items():
            check_same_length(len(values), name, len(proba), "X")
        recalibrate = self._map if proba.ndim == 1 else self._map_classes
        return recalibrate(np.clip(proba, *self.ends_), **of_cases)

    def _read_scores(self, X: Any) -> Floats:
        """Probabilities of the event, or of each of more than two classes, as they came."""
        check_is_fitted(self)
        proba = as_probabilities(as_fitted(in_order(X, self.classes_), self._columns))
        size, columns = self.classes_.size, 1 if proba.ndim == 1 else proba.shape[1]
        if columns != size and (size, columns) != (2, 1):
            raise InputError(
                f"X has {columns} column{'s' if columns > 1 else ''}, but {size} classes were "
                "seen when this was fitted. Pass a column for each class."
            )
        return proba[:, 1] if (size, columns) == (2, 2) else proba

    def _labels(self, recalibrated: Floats) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[both_columns(recalibrated).argmax(axis=1)]
        return labels


def both_columns(recalibrated: Floats) -> Floats:
    """A column for each class."""
    if recalibrated.ndim == 2:
        return recalibrated
    return np.column_stack([1 - recalibrated, recalibrated])
