"""Trees whose leaves are recalibrated."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import check_array

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_count
from bayescal.core.optimise import log_odds_of, maximise
from bayescal.data.cases import aligned, column_names
from bayescal.data.rows import Rows, collapse
from bayescal.recalibrate.base import Recalibrator, as_amount, as_fitted, both_columns
from bayescal.recalibrate.steps import cuts_between

MOST_LEAVES = 100_000
_ROUNDING = 1e-6


class Grown(NamedTuple):
    """A fitted scikit-learn tree with a model in every node, and what the models lose.

    `loss` is that over the training cases in each node, and `unseen` that over the cases left out.
    """

    fitted: Any
    models: Floats
    loss: Floats
    unseen: Floats


Grow = Callable[[Floats, Floats], Grown]


def pruned(grow: Grow, weight: Floats, n_folds: int) -> tuple[Grown, NDArray[np.bool_]]:
    """A tree on all cases, and the nodes that are its leaves after pruning.

    `grow` takes weights of training cases and of held-out ones. Of the nested subtrees of least
    loss + alpha * leaves it keeps the one whose alpha loses least when trees grown without a fold
    and pruned with that alpha meet the fold (Breiman et al.); of equals, the smallest.
    """
    full = grow(weight, np.zeros_like(weight))
    alpha, leaves = _subtrees(full)
    between = np.append(np.sqrt(alpha[:-1] * alpha[1:]), np.inf)
    lost = np.zeros(alpha.size)
    for inside, outside in fold_weights(weight, n_folds):
        part = grow(inside, outside)
        own, kept = _subtrees(part)
        each = np.array([part.unseen[terminal].sum() for terminal in kept])
        lost += each[np.searchsorted(own, between, side="right") - 1]
    best = int(np.flatnonzero(lost <= lost.min() * (1 + 1e-12))[-1])
    return full, leaves[best]


def fold_weights(weight: Floats, n_folds: int) -> Iterator[tuple[Floats, Floats]]:
    """Weights to train on and to test on, for each fold.

    Cases are dealt to the folds in turn, in the order given, so that a row of three cases is in
    three folds. Nothing depends on chance. A single case makes no fold.
    """
    above = np.concatenate([[0.0], np.cumsum(weight)])
    number = min(n_folds, int(above[-1] + _ROUNDING))
    for fold in range(number if number > 1 else 0):
        dealt = n_folds * np.floor(above / n_folds)
        before = dealt / n_folds + np.clip(above - dealt - fold, 0, 1)
        outside = np.diff(before)
        yield np.maximum(weight - outside, 0), outside


def grow_limits(weight: Floats, min_cases: int, max_leaves: int) -> dict[str, Any]:
    """Options of a scikit-learn tree that stops at these sizes, for cases with weights."""
    total = float(weight.sum())
    stump = total < 2 * min_cases - _ROUNDING or max_leaves == 1
    return {
        "max_leaf_nodes": max(max_leaves, 2),
        "min_samples_split": weight.size + 1 if stump else 2,
        "min_weight_fraction_leaf": 0.0 if stump else (min_cases - _ROUNDING) / total,
        "random_state": 0,
    }


def members_of(fitted: Any, cells: _Cells) -> Iterator[NDArray[np.intp]]:
    """The cells in each node, in the order of the nodes."""
    paths = fitted.decision_path(cells.features).tocsc()
    for node in range(paths.shape[1]):
        yield paths.indices[paths.indptr[node] : paths.indptr[node + 1]]


def leaf_numbers(tree: Any, leaves: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Number of the leaf at or above each node, counted from the left; -1 above all leaves."""
    number = np.full(tree.node_count, -1)
    count, pending = 0, [(0, -1)]
    while pending:
        node, own = pending.pop()
        if own < 0 and leaves[node]:
            own, count = count, count + 1
        number[node] = own
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left >= 0:
            pending += [(right, own), (left, own)]
    return number


def breadth_first(tree: Any, leaves: NDArray[np.bool_], n_leaves: int) -> NDArray[np.bool_]:
    """Leaves of the shortest subtree from the root with so many, or as many as there are.

    Nodes are parted level by level, from left to right, until there are enough.
    """
    ends = np.zeros(tree.node_count, dtype=bool)
    ends[0] = True
    count, queue = 1, deque([0])
    while queue and count < n_leaves:
        node = queue.popleft()
        if not leaves[node]:
            children = [int(tree.children_left[node]), int(tree.children_right[node])]
            ends[node], ends[children] = False, True
            count += 1
            queue.extend(children)
    return ends


def _subtrees(grown: Grown) -> tuple[Floats, list[NDArray[np.bool_]]]:
    """Nested subtrees by weakest links: ascending alphas, and the terminal nodes of each.

    Alphas are losses per case, so that trees on different numbers of cases can be compared.
    """
    tree = grown.fitted.tree_
    loss = grown.loss / tree.weighted_n_node_samples[0]
    under = _descendants(tree)
    inner = tree.children_left >= 0
    alpha, alphas, kept = 0.0, [], []
    while True:
        while True:
            cut_off = (under.T & ~inner).any(axis=1)
            terminal = ~inner & ~cut_off
            leaves = (under & terminal).sum(axis=1)
            below = under @ (loss * terminal)
            split = inner & ~cut_off
            link = np.where(split, (loss - below) / np.maximum(leaves - 1, 1), np.inf)
            weak = link <= alpha
            if not weak.any():
                break
            inner = inner & ~weak
        alphas.append(alpha)
        kept.append(terminal)
        if not split.any():
            return np.array(alphas), kept
        alpha = float(link.min())


def _descendants(tree: Any) -> NDArray[np.bool_]:
    """Which nodes (columns) lie strictly below each node (rows); parents come before children."""
    under = np.zeros((tree.node_count, tree.node_count), dtype=bool)
    for node, children in enumerate(zip(tree.children_left, tree.children_right, strict=True)):
        for child in children:
            if child >= 0:
                under[:, child] = under[:, node]
                under[node, child] = True
    return under


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
        %(recalibrated_scores)s
        features : array-like of shape (n_samples, n_features), optional
            The features of the cases, if it was fitted with features.

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_classes) with more than two classes
            Of two classes, the probability of the event.

        %(refuses_others)s
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

        %(refuses_others)s
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

        %(refuses_others)s
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

        %(refuses_others)s
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
        proba = self._read_scores(X, **of_cases)
        if proba.ndim == 2:
            members = zip(self.recalibrators_, proba.T, strict=True)
            return np.column_stack([tree._leaf(each, n_bins, **of_cases) for tree, each in members])
        tree, leaves = self.tree_.tree_, self._leaves
        if n_bins is not None:
            leaves = breadth_first(tree, leaves, n_bins)
        nodes = self._nodes(np.clip(proba, *self.ends_), of_cases.get("features"))
        return leaf_numbers(tree, leaves)[nodes]

    def _fit_tree(self, grow: Callable[..., Grown], weight: Floats) -> tuple[Floats, Any]:
        """Keep a pruned tree; the model of each node, and the leaves from left to right.

        `grow` is called with weights of training and of held-out cases, and with the limits of
        the tree by the names of `grow_limits`.
        """
        limits = {
            "max_leaves": as_count(self.max_leaves, "max_leaves", 1, MOST_LEAVES),
            "min_cases": as_count(self.min_cases, "min_cases"),
        }
        n_folds = as_count(self.n_folds, "n_folds", 2)
        grown, self._leaves = pruned(partial(grow, **limits), weight, n_folds)
        self.tree_, ends = grown.fitted, np.flatnonzero(self._leaves)
        self.n_leaves_ = ends.size
        return grown.models, ends[np.argsort(leaf_numbers(self.tree_.tree_, self._leaves)[ends])]

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


class _Cells(NamedTuple):
    """Cases that are alike in every way, in the order in which they are dealt to folds."""

    features: Floats
    outcome: Floats
    weight: Floats

    def grown(
        self,
        fitted: Any,
        models: Floats,
        inside: Floats,
        outside: Floats,
        risk: Callable[[int, NDArray[np.intp]], Floats],
    ) -> Grown:
        """A fitted tree and what the risk in each node loses; parents are asked before children."""
        loss, unseen = np.zeros((2, fitted.tree_.node_count))
        for node, members in enumerate(members_of(fitted, self)):
            miss = (self.outcome[members] - risk(node, members)) ** 2
            loss[node], unseen[node] = inside[members] @ miss, outside[members] @ miss
        return Grown(fitted, models, loss, unseen)


def _of_rows(rows: Rows, feature: Floats) -> _Cells:
    """Non-events and events of each row of a table, with one feature."""
    weight = np.column_stack([rows.trials - rows.hits, rows.hits]).ravel()
    filled = weight > 0
    outcome = np.tile([0.0, 1.0], rows.score.size)[filled]
    return _Cells(np.repeat(feature, 2)[filled, None], outcome, weight[filled])


def _distinct(weights: Floats | None, *columns: Floats) -> tuple[Floats, Floats]:
    """The distinct rows of some columns, in ascending order, and the weight of each."""
    table, row = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
    return table, np.bincount(row.ravel(), weights).astype(np.float64)


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
    %(of_each_class)s

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
        if features is None:
            rows = collapse(scores, outcomes, weights)
            cells = _of_rows(rows, np.arange(rows.score.size, dtype=np.float64))
        else:
            table, weight = _distinct(weights, features, outcomes)
            cells = _Cells(table[:, :-1], table[:, -1], weight)

        def grow(inside: Floats, outside: Floats, **limits: int) -> Grown:
            fitted = DecisionTreeRegressor(**grow_limits(inside, **limits))
            fitted.fit(cells.features, cells.outcome, sample_weight=inside)
            level = np.clip(fitted.tree_.value.ravel(), 0, 1)
            return cells.grown(fitted, level, inside, outside, lambda node, _: level[node])

        levels, ends = self._fit_tree(grow, cells.weight)
        self.levels_, self._ends = levels[ends], ends
        self.edges_ = np.empty(0)
        if features is None:
            first = [int(cells.features[each].min()) for each in members_of(self.tree_, cells)]
            self.edges_ = cuts_between(rows.score, np.array(first)[ends[1:]])

    def _map(self, scores: Floats, features: Floats | None = None) -> Floats:
        leaf = leaf_numbers(self.tree_.tree_, self._leaves)[self._nodes(scores, features)]
        return np.asarray(self.levels_[leaf])

    def _nodes(self, scores: Floats, features: Floats | None) -> NDArray[np.intp]:
        self._check_features(features)
        nodes: NDArray[np.intp]
        if features is None:
            nodes = self._ends[np.searchsorted(self.edges_, scores, side="left")]
        else:
            nodes = self.tree_.apply(features)
        return nodes


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
    %(of_each_class)s

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
        shrinkage = as_amount(self.shrinkage, "shrinkage")
        if features is None:
            rows = collapse(scores, outcomes, weights)
            cells = _of_rows(rows, log_odds_of(rows.score))
            log_odds = cells.features[:, 0]
        else:
            table, weight = _distinct(weights, scores, outcomes, features)
            cells, log_odds = _Cells(table[:, 2:], table[:, 1], weight), log_odds_of(table[:, 0])

        def grow(inside: Floats, outside: Floats, **limits: int) -> Grown:
            fitted = DecisionTreeClassifier(criterion="entropy", **grow_limits(inside, **limits))
            fitted.fit(cells.features, cells.outcome, sample_weight=inside)
            parent = _parents(fitted)
            models = np.tile(_IDENTITY, (parent.size, 1))

            def risk(node: int, members: NDArray[np.intp]) -> Floats:
                x, start = log_odds[members], models[parent[node]]
                outcome, weight = cells.outcome[members], inside[members]
                models[node] = _shrunk(x, outcome, weight, start, shrinkage)
                return np.asarray(expit(models[node, 0] + models[node, 1] * x))

            return cells.grown(fitted, models, inside, outside, risk)

        models, ends = self._fit_tree(grow, cells.weight)
        leaf = leaf_numbers(self.tree_.tree_, self._leaves)
        self.coefficients_ = np.where(leaf[:, None] >= 0, models[ends][leaf], models)

    def _map(self, scores: Floats, features: Floats | None = None) -> Floats:
        intercept, slope = self.coefficients_[self._nodes(scores, features)].T
        return np.asarray(expit(intercept + slope * log_odds_of(scores)))

    def _nodes(self, scores: Floats, features: Floats | None) -> NDArray[np.intp]:
        self._check_features(features)
        nodes: NDArray[np.intp] = self.tree_.apply(
            log_odds_of(scores)[:, None] if features is None else features
        )
        return nodes


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
