"""Probability calibration trees."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_array

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.log_odds import log_odds_of
from bayescal._base.newton import maximise
from bayescal.data.build.builder import collapse
from bayescal.data.validate import as_count
from bayescal.recalibrate._base import Recalibrator, both_columns
from bayescal.recalibrate._input import as_amount
from bayescal.recalibrate._pruning import MOST_LEAVES, Grown, grow_limits, members_of, pruned

__all__ = ["ProbabilityCalibrationTreeRecalibrator"]

_IDENTITY = np.array([0.0, 1.0])


class ProbabilityCalibrationTreeRecalibrator(Recalibrator):
    """A decision tree on the features, with a logistic recalibration in each leaf.

    A model can be off in one way for some patients and in another for others. The tree parts the
    cases by their features; within a leaf, logit g = intercept + slope logit s. Without features
    it parts them by the score.

    Parameters
    ----------
    max_leaves : int
        Most leaves before pruning.
    min_cases : int
        Fewest cases in a leaf.
    shrinkage : float
        How strongly the model of a node is drawn to that of its parent, and the root's to the
        identity: half of this times the squared change in intercept and slope is taken off the
        log likelihood. Above 0 the model exists also where outcomes are separated.
    n_folds : int
        Folds of the cross-validation that chooses how much to prune, at least 2.

    Attributes
    ----------
    tree_ : sklearn.tree.DecisionTreeClassifier
        The tree before pruning.
    coefficients_ : ndarray of shape (n_nodes, 2)
        Intercept and slope that stand for each node of `tree_` after pruning.
    n_leaves_ : int
        Leaves after pruning.
    n_split_features_ : int
        Features that it was fitted to; 0 if it parts the cases by the score.
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of ProbabilityCalibrationTreeRecalibrator
        With more than two classes, the one of each class against the rest.

    Notes
    -----
    Leathart et al. start from logistic model trees, which split by information gain, boost each
    node's model on from its parent's, and prune back. Here too splits are by information gain, but
    scikit-learn's; a normal penalty towards the parent's model stands for boosting that starts
    there and stops early; and pruning is by cost and complexity, the cost being the squared error
    of the nodes' models, as much as cross-validation chooses.

    Cases are dealt to the folds in turn, in order of score, so that the result depends neither on
    chance nor on the order of the rows. Scores of exactly 0 and 1 are read as a
    quarter of the way to the nearest other score, and none as nearer than 1e-12.

    References
    ----------
    Leathart, Frank, Holmes & Pfahringer, "Probability Calibration Trees", ACML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from bayescal import recalibrate
    >>> rng = np.random.default_rng(1)
    >>> y_prob, sex = rng.uniform(0.1, 0.6, 4000), rng.integers(0, 2, 4000)
    >>> y_true = rng.random(4000) < np.where(sex == 1, y_prob, y_prob / 2)
    >>> recalibrator = recalibrate.ProbabilityCalibrationTreeRecalibrator()
    >>> recalibrator = recalibrator.fit(y_prob, y_true, features=sex[:, None])
    >>> recalibrator.transform([0.4, 0.4], features=[[0], [1]]).round(1)
    array([0.2, 0.4])
    """

    uses_features = True
    reads_log_odds = True
    tree_: DecisionTreeClassifier
    coefficients_: Floats
    n_leaves_: int
    n_split_features_: int

    def __init__(
        self,
        max_leaves: int = 16,
        min_cases: int = 20,
        shrinkage: float = 1.0,
        n_folds: int = 10,
    ) -> None:
        self.max_leaves = max_leaves
        self.min_cases = min_cases
        self.shrinkage = shrinkage
        self.n_folds = n_folds

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
        arrays = _as_features(features)
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
        return self._recalibrated(X, **_as_features(features))

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
        return both_columns(self._recalibrated(X, **_as_features(features)))

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
        return self._labels(self._recalibrated(X, **_as_features(features)))

    def _fit(
        self,
        scores: Floats,
        outcomes: Floats,
        weights: Floats | None,
        features: Floats | None = None,
    ) -> None:
        max_leaves = as_count(self.max_leaves, "max_leaves", 1, MOST_LEAVES)
        min_cases = as_count(self.min_cases, "min_cases")
        n_folds = as_count(self.n_folds, "n_folds", 2)
        shrinkage = as_amount(self.shrinkage, "shrinkage")
        cells = _cells(scores, outcomes, weights, features)

        def grow(inside: Floats, outside: Floats) -> Grown:
            limits = grow_limits(inside, min_cases, max_leaves)
            fitted = DecisionTreeClassifier(criterion="entropy", **limits)
            fitted.fit(cells.features, cells.outcome, sample_weight=inside)
            parent = _parents(fitted)
            models = np.tile(_IDENTITY, (parent.size, 1))
            loss, unseen = np.zeros(parent.size), np.zeros(parent.size)
            for node, members in enumerate(members_of(fitted, cells.features)):
                log_odds, outcome = cells.log_odds[members], cells.outcome[members]
                start = models[parent[node]]
                models[node] = _shrunk(log_odds, outcome, inside[members], start, shrinkage)
                miss = (outcome - expit(models[node, 0] + models[node, 1] * log_odds)) ** 2
                loss[node], unseen[node] = inside[members] @ miss, outside[members] @ miss
            return Grown(fitted, models, loss, unseen)

        grown, leaves = pruned(grow, cells.weight, n_folds)
        self.tree_, self.coefficients_ = grown.fitted, grown.models.copy()
        self.n_leaves_ = int(leaves.sum())
        settled = leaves.copy()
        for node, above in enumerate(_parents(self.tree_)):
            if settled[above]:
                self.coefficients_[node], settled[node] = self.coefficients_[above], True

    def _map(self, scores: Floats, features: Floats | None = None) -> Floats:
        columns = 0 if features is None else features.shape[1]
        if columns != self.n_split_features_:
            raise InputError(
                f"features has {columns} columns, but {type(self).__name__} was fitted to "
                f"{self.n_split_features_}. Pass the same features, in the same order."
            )
        log_odds = log_odds_of(scores)
        leaf = self.tree_.apply(log_odds[:, None] if features is None else features)
        intercept, slope = self.coefficients_[leaf].T
        probability: Floats = expit(intercept + slope * log_odds)
        return probability


class _Cells(NamedTuple):
    """Cases that are alike in every way, in ascending order of score."""

    log_odds: Floats
    outcome: Floats
    weight: Floats
    features: Floats


def _cells(
    scores: Floats, outcomes: Floats, weights: Floats | None, features: Floats | None
) -> _Cells:
    if features is None:
        rows = collapse(scores, outcomes, weights)
        log_odds = np.repeat(log_odds_of(rows.score), 2)
        outcome = np.tile([0.0, 1.0], rows.score.size)
        weight = np.column_stack([rows.trials - rows.hits, rows.hits]).ravel()
        filled = weight > 0
        return _Cells(log_odds[filled], outcome[filled], weight[filled], log_odds[filled, None])
    table = np.column_stack([scores, outcomes, features])
    table, row = np.unique(table, axis=0, return_inverse=True)
    weight = np.bincount(row.ravel(), weights).astype(np.float64)
    return _Cells(log_odds_of(table[:, 0]), table[:, 1], weight, table[:, 2:])


def _as_features(features: Any) -> dict[str, Floats]:
    if features is None:
        return {}
    return {"features": check_array(features, dtype=np.float64, input_name="features")}


def _parents(fitted: DecisionTreeClassifier) -> NDArray[np.intp]:
    """Parent of each node; the root's is itself."""
    parent = np.zeros(fitted.tree_.node_count, dtype=np.intp)
    for children in (fitted.tree_.children_left, fitted.tree_.children_right):
        has = np.flatnonzero(children >= 0)
        parent[children[has]] = has
    return parent


def _shrunk(
    log_odds: Floats, outcome: Floats, weight: Floats, start: Floats, shrinkage: float
) -> Floats:
    """Intercept and slope of largest penalised likelihood."""
    basis = np.column_stack([np.ones_like(log_odds), log_odds])
    sign = 2 * outcome - 1

    def objective(coef: Floats) -> tuple[float, Floats, Floats]:
        eta, away = basis @ coef, coef - start
        fitted = expit(eta)
        value = weight @ log_expit(sign * eta) - shrinkage / 2 * away @ away
        gradient = basis.T @ (weight * (outcome - fitted)) - shrinkage * away
        curvature = (basis.T * (weight * fitted * (1 - fitted))) @ basis
        return float(value), gradient, -curvature - shrinkage * np.eye(2)

    return maximise(objective, start, tolerance=1e-10).point
