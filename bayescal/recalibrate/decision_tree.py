"""A pruned decision tree on the score or on features."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from bayescal._base.arrays import Floats
from bayescal.data.build.builder import collapse
from bayescal.data.validate import as_count
from bayescal.recalibrate._pruning import (
    MOST_LEAVES,
    Grown,
    grow_limits,
    leaf_numbers,
    members_of,
    pruned,
)
from bayescal.recalibrate._steps import cuts_between
from bayescal.recalibrate._trees import TreeRecalibrator

__all__ = ["DecisionTreeRecalibrator"]


class DecisionTreeRecalibrator(TreeRecalibrator):
    """A decision tree with cost-complexity pruning chosen by cross-validation.

    With `features`, the tree parts the cases by them alone, and the probability of a case is the
    mean outcome of its leaf: a model whose cells a reader can name. Without, it parts the scores
    into intervals, and a score becomes the mean outcome of its interval. Splits are where they
    lessen the squared error most (the Gini criterion).

    Parameters
    ----------
    max_leaves : int
        Most leaves before pruning.
    min_cases : int
        Fewest cases in a leaf.
    n_folds : int
        Folds of the cross-validation that chooses how much to prune, at least 2.

    Attributes
    ----------
    edges_ : ndarray of shape (n_leaves - 1,)
        Highest score of each interval but the last. Empty if it was fitted to features.
    levels_ : ndarray of shape (n_leaves,)
        Recalibrated probability of each leaf, as `leaf` numbers them: intervals in ascending order.
    tree_ : sklearn.tree.DecisionTreeRegressor
        The tree before pruning; without features, on the rank of the score.
    n_leaves_ : int
        Leaves after pruning.
    n_split_features_ : int
        Features that it was fitted to; 0 if it parts the cases by the score.
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of DecisionTreeRecalibrator
        With more than two classes, the one of each class against the rest.

    Notes
    -----
    With features it is the decision tree (DT) that Torabian & Urner compare recalibrators with: a
    tree on the features of the cases that recalibrators are fitted to, pruned as five folds of
    these cases choose. The probabilities in `X` then count for nothing, and any will do; the model
    that gave them is replaced. `leaf` gives the cells for `bayescal.estimators.pde`. The authors do
    not say which trees they grow before pruning. `RecalibratedClassifier` hands it no features.

    The cases are dealt to the folds in turn, in order of score (or of the features, the first
    first), so that the result depends neither on chance nor on the order of the rows. Above 2048
    distinct scores, neighbouring ones are merged. The map may fall, and a leaf of one outcome gives
    exactly 0 or 1.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", arXiv:2412.00943, 2024,
    section 5.
    Breiman, Friedman, Olshen & Stone, "Classification and Regression Trees", 1984, chapter 3.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("D5", 10_000, random_state=1)
    >>> recalibrate.DecisionTreeRecalibrator().fit(y_prob, y_true).transform([0.5, 0.9]).round(2)
    array([0.25, 0.49])

    A tree on features, its leaves, and the calibration error over them:

    >>> import numpy as np
    >>> from bayescal import estimators
    >>> rng = np.random.default_rng(1)
    >>> age, sex = rng.integers(30, 80, 2000), rng.integers(0, 2, 2000)
    >>> y_prob = np.full(2000, 0.5)
    >>> y_true = rng.random(2000) < np.where((age >= 60) & (sex == 1), 0.8, 0.2)
    >>> X, half = np.column_stack([age, sex]), np.arange(2000) < 1000
    >>> tree = recalibrate.DecisionTreeRecalibrator()
    >>> tree = tree.fit(y_prob[half], y_true[half], features=X[half])
    >>> tree.n_leaves_, tree.levels_.round(2)
    (3, array([0.23, 0.23, 0.81]))
    >>> risk = tree.transform(y_prob[~half], X[~half])
    >>> cells = tree.leaf(y_prob[~half], X[~half])
    >>> round(estimators.pde(y_true[~half], risk, cells=cells), 3)
    0.018
    """

    reaches_zero = True
    edges_: Floats
    levels_: Floats

    def __init__(self, max_leaves: int = 64, min_cases: int = 5, n_folds: int = 5) -> None:
        self.max_leaves = max_leaves
        self.min_cases = min_cases
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
        if features is None:
            rows = collapse(scores, outcomes, weights)
            points = np.arange(rows.score.size, dtype=np.float64)[:, None]
            counts = np.column_stack([rows.trials - rows.hits, rows.hits])
        else:
            points, row = np.unique(features, axis=0, return_inverse=True)
            weight = np.ones(outcomes.size) if weights is None else weights
            counts = np.zeros((len(points), 2))
            np.add.at(counts, (row.ravel(), outcomes.astype(np.intp)), weight)
        limits = {"min_cases": min_cases, "max_leaves": max_leaves}
        grown, leaves = pruned(partial(_grow, points, limits), counts.ravel(), n_folds)
        self._set_tree(grown.fitted, leaves)
        ends = np.flatnonzero(leaves)
        ends = ends[np.argsort(leaf_numbers(grown.fitted.tree_, leaves)[ends])]
        self.levels_, self._ends = grown.models[ends], ends
        self.edges_ = np.empty(0)
        if features is None:
            first = np.array([inside.min() for inside in members_of(grown.fitted, points)])
            self.edges_ = cuts_between(rows.score, first[ends[1:]])

    def _map(self, scores: Floats, features: Floats | None = None) -> Floats:
        leaf = leaf_numbers(self.tree_.tree_, self._leaves)[self._nodes(scores, features)]
        levels: Floats = self.levels_[leaf]
        return levels

    def _nodes(self, scores: Floats, features: Floats | None) -> NDArray[np.intp]:
        self._check_features(features)
        nodes: NDArray[np.intp]
        if features is None:
            nodes = self._ends[np.searchsorted(self.edges_, scores, side="left")]
        else:
            nodes = self.tree_.apply(features)
        return nodes


def _grow(points: Floats, limits: dict[str, int], inside: Floats, outside: Floats) -> Grown:
    """A tree of mean outcomes; weights are of the misses and the hits of each point in turn."""
    misses, hits = inside.reshape(-1, 2).T
    unseen_misses, unseen_hits = outside.reshape(-1, 2).T
    trials = hits + misses
    rate = hits / np.where(trials > 0, trials, 1)
    fitted = DecisionTreeRegressor(**grow_limits(trials, **limits))
    fitted.fit(points, rate, sample_weight=trials)
    level = np.clip(fitted.tree_.value.ravel(), 0, 1)
    loss, unseen = np.zeros_like(level), np.zeros_like(level)
    for node, members in enumerate(members_of(fitted, points)):
        miss, hit = level[node] ** 2, (1 - level[node]) ** 2
        loss[node] = misses[members].sum() * miss + hits[members].sum() * hit
        unseen[node] = unseen_misses[members].sum() * miss + unseen_hits[members].sum() * hit
    return Grown(fitted, level, loss, unseen)
