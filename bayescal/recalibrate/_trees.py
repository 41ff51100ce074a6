"""What recalibrators that part the cases by a tree share: features, leaves, and bins of leaves."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.sources.alignment import aligned, column_names
from bayescal.data.validate import as_count, check_same_length
from bayescal.recalibrate._base import Recalibrator, both_columns
from bayescal.recalibrate._input import as_fitted
from bayescal.recalibrate._pruning import breadth_first, leaf_numbers

__all__ = ["TreeRecalibrator"]


class TreeRecalibrator(Recalibrator):
    """A recalibrator by a pruned tree, on features or on the score.

    A method writes `_fit` and `_map`, which also take features, and `_nodes`.

    Attributes
    ----------
    tree_ : object
        The fitted tree of scikit-learn before pruning.
    n_leaves_ : int
        Leaves after pruning.
    n_split_features_ : int
        Features that it was fitted to; 0 if it parts the cases by the score.
    """

    tree_: Any
    n_leaves_: int
    n_split_features_: int
    _features: list[Any] | None = None

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        features: Any = None,
    ) -> Self:
        """Learn to recalibrate, from cases that the model was not trained on.

        Parameters
        ----------
        X : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
            Predicted probabilities: of the event, or one column for each class. Or a
            `CalibrationData`, which holds outcomes and weights itself, but no features.
        y : array-like of shape (n_samples,), optional
            Labels, of any type; none with a `CalibrationData`, whose labels are 0 and 1. Of two
            classes the greater is the event.
        sample_weight : array-like of shape (n_samples,), optional
            Case counts. If any is not whole they are rescaled to Kish's effective sample size.
        classes : array-like of shape (n_classes,), optional
            Labels in the order of the columns; by default those in `y`, sorted.
        features : array-like of shape (n_samples, n_features), optional
            Numeric features to part the cases by; without them the score does it.

        Returns
        -------
        self

        Raises
        ------
        InputError
            If these do not describe the same cases, or an option is out of range.
        """
        arrays = _as_features(features, X=X, y=y, sample_weight=sample_weight)
        self._features = column_names(features)
        self.n_split_features_ = arrays["features"].shape[1] if arrays else 0
        return self._fit_cases(X, y, sample_weight, classes, **arrays)

    def transform(self, X: Any, features: Any = None) -> Floats:
        """Recalibrated probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples,), (n_samples, 1) or (n_samples, n_classes)
            Predicted probabilities.
        features : array-like of shape (n_samples, n_features), optional
            The features of the cases, if it was fitted with features.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Of two classes, the probability of the event.

        Raises
        ------
        InputError
            If these are not the probabilities and features that it was fitted to.
        """
        return self._recalibrated(X, **self._as_fitted(X, features))

    def predict_proba(self, X: Any, features: Any = None) -> Floats:
        """Recalibrated probability of each class, of shape (n_samples, n_classes).

        Parameters
        ----------
        X, features : array-like
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)

        Raises
        ------
        InputError
            If these are not the probabilities and features that it was fitted to.
        """
        return both_columns(self._recalibrated(X, **self._as_fitted(X, features)))

    def predict(self, X: Any, features: Any = None) -> NDArray[Any]:
        """Class of the largest recalibrated probability.

        Parameters
        ----------
        X, features : array-like
            As in `transform`.

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        InputError
            If these are not the probabilities and features that it was fitted to.
        """
        return self._labels(self._recalibrated(X, **self._as_fitted(X, features)))

    def leaf(self, X: Any, features: Any = None) -> NDArray[np.intp]:
        """The leaf that each case is in, after pruning.

        Pass it as `cells` to `bayescal.estimators.pde`, `ece` or `probabilistic_count`, so that
        the leaves are the bins.

        Parameters
        ----------
        X, features : array-like
            As in `transform`.

        Returns
        -------
        ndarray of int of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            From 0 to `n_leaves_` - 1, from the left of the tree to its right; a column for the tree
            of each class.

        Raises
        ------
        InputError
            If these are not the probabilities and features that it was fitted to.
        """
        return self._leaf(X, None, **self._as_fitted(X, features))

    def breadth_first_bins(self, X: Any, n_bins: int, features: Any = None) -> NDArray[np.intp]:
        """The bin that each case is in when the tree is cut off at so many leaves (BFSL binning).

        From the root, nodes are parted level by level, from left to right, until the tree has
        `n_bins` leaves; these are the bins, and so each is a union of leaves.

        Parameters
        ----------
        X : array-like
            As in `transform`.
        n_bins : int
            Number of bins, at least 1. With `n_leaves_` or more, every leaf is a bin.
        features : array-like
            As in `transform`.

        Returns
        -------
        ndarray of int
            As `leaf` gives them, with bins for leaves.

        Raises
        ------
        InputError
            As `leaf`; also if `n_bins` is no positive number.

        References
        ----------
        Torabian & Urner, "Calibration through the Lens of Interpretability", arXiv:2412.00943,
        2024, appendix C.
        """
        return self._leaf(X, as_count(n_bins, "n_bins"), **self._as_fitted(X, features))

    def _leaf(self, X: Any, n_bins: int | None, **of_cases: Any) -> NDArray[np.intp]:
        """Number of the leaf of each case, in the pruned tree or in one of so many leaves."""
        proba = self._read_scores(X)
        for name, values in of_cases.items():
            check_same_length(len(values), name, len(proba), "X")
        if proba.ndim == 2:
            members = zip(self.recalibrators_, proba.T, strict=True)
            return np.column_stack([tree._leaf(each, n_bins, **of_cases) for tree, each in members])
        tree, leaves = self.tree_.tree_, self._leaves
        if n_bins is not None:
            leaves = breadth_first(tree, leaves, n_bins)
        nodes = self._nodes(np.clip(proba, *self.ends_), of_cases.get("features"))
        return leaf_numbers(tree, leaves)[nodes]

    def _set_tree(self, fitted: Any, leaves: NDArray[np.bool_]) -> None:
        """Keep a fitted tree, and which of its nodes are leaves after pruning."""
        self.tree_, self._leaves, self.n_leaves_ = fitted, leaves, int(leaves.sum())

    def _as_fitted(self, X: Any, features: Any) -> dict[str, Floats]:
        """Features of the cases of X, the columns of a data frame as in the fit."""
        return _as_features(as_fitted(features, self._features, "features"), X=X)

    def _check_features(self, features: Floats | None) -> None:
        columns = 0 if features is None else features.shape[1]
        if columns != self.n_split_features_:
            raise InputError(
                f"features has {columns} columns, but {type(self).__name__} was fitted to "
                f"{self.n_split_features_}. Pass the same features, in the same order."
            )

    def _nodes(self, scores: Floats, features: Floats | None) -> NDArray[np.intp]:
        """A node of `tree_` at or below the leaf of each case."""
        raise NotImplementedError


def _as_features(features: Any, **beside: Any) -> dict[str, Floats]:
    """Numeric features of the same cases as other arguments, if there are any."""
    if features is None:
        return {}
    aligned(**beside, features=features)
    return {"features": check_array(features, dtype=np.float64, input_name="features")}
