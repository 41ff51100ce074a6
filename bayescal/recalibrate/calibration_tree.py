"""Probability calibration trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit
from sklearn.tree import DecisionTreeClassifier

from bayescal._base.arrays import Floats
from bayescal._base.log_odds import log_odds_of
from bayescal._base.newton import maximise
from bayescal.data.build.builder import collapse
from bayescal.data.validate import as_count
from bayescal.recalibrate._input import as_amount
from bayescal.recalibrate._pruning import (
    MOST_LEAVES,
    Grown,
    grow_limits,
    leaf_numbers,
    members_of,
    pruned,
)
from bayescal.recalibrate._trees import TreeRecalibrator

__all__ = ["ProbabilityCalibrationTreeRecalibrator"]

_IDENTITY = np.array([0.0, 1.0])


class ProbabilityCalibrationTreeRecalibrator(TreeRecalibrator):
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
    of the nodes' models, as much as cross-validation chooses: in five folds, as Torabian & Urner
    prune these trees. `leaf` gives the cells that the tree parts cases into.

    Cases are dealt to the folds in turn, in order of score, so that the result depends neither on
    chance nor on the order of the rows. Scores of exactly 0 and 1 are read as a
    quarter of the way to the nearest other score, and none as nearer than 1e-12.

    References
    ----------
    Leathart, Frank, Holmes & Pfahringer, "Probability Calibration Trees", ACML 2017.
    Torabian & Urner, "Calibration through the Lens of Interpretability", arXiv:2412.00943, 2024,
    section 5.

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
    coefficients_: Floats

    def __init__(
        self,
        max_leaves: int = 16,
        min_cases: int = 20,
        shrinkage: float = 1.0,
        n_folds: int = 5,
    ) -> None:
        self.max_leaves = max_leaves
        self.min_cases = min_cases
        self.shrinkage = shrinkage
        self.n_folds = n_folds

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
        self._set_tree(grown.fitted, leaves)
        leaf = leaf_numbers(grown.fitted.tree_, leaves)
        first = np.flatnonzero(leaves)
        own = grown.models[first[np.argsort(leaf[first])]]
        self.coefficients_ = np.where(leaf[:, None] >= 0, own[leaf], grown.models)

    def _map(self, scores: Floats, features: Floats | None = None) -> Floats:
        intercept, slope = self.coefficients_[self._nodes(scores, features)].T
        probability: Floats = expit(intercept + slope * log_odds_of(scores))
        return probability

    def _nodes(self, scores: Floats, features: Floats | None) -> NDArray[np.intp]:
        self._check_features(features)
        nodes: NDArray[np.intp] = self.tree_.apply(
            log_odds_of(scores)[:, None] if features is None else features
        )
        return nodes


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
