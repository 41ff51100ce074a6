"""Trees on features: the paper's decision tree, leaves as cells, and bins cut breadth first."""

from collections import deque

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from bayescal.errors import InputError
from bayescal.recalibrate import (
    DecisionTreeRecalibrator,
    ProbabilityCalibrationTreeRecalibrator,
    RecalibratedClassifier,
)

TREES = [DecisionTreeRecalibrator, ProbabilityCalibrationTreeRecalibrator]
each_tree = pytest.mark.parametrize("kind", TREES, ids=lambda kind: kind.__name__)


def data(n=800, seed=0, decimals=8):
    """Scores, outcomes and features; the scores are off in ways that the features show."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3)).round(decimals)
    eta = np.where(X[:, 0] > 0.2, 0.8, np.where(X[:, 1] > -0.3, 0.35, 0.1))
    scores = np.clip(eta + rng.normal(0, 0.15, n), 0.02, 0.98)
    return scores, (rng.random(n) < eta).astype(int), X


def grown(n=800):
    """A tree on features with many leaves, and its cases."""
    scores, outcomes, X = data(n)
    rng = np.random.default_rng(1)
    outcomes = rng.random(n) < expit(3 * np.sin(4 * X[:, 0]) + 2 * np.cos(5 * X[:, 1]))
    return DecisionTreeRecalibrator().fit(scores, outcomes, features=X), scores, outcomes, X


# The decision tree on features


@pytest.mark.parametrize("n_folds", [5, 3])
def test_on_features_it_is_a_tree_pruned_as_a_loop_over_folds_chooses(
    n_folds,
):
    scores, outcomes, X = data(400)
    X, y = X[np.lexsort(X.T[::-1])], outcomes[np.lexsort(X.T[::-1])]
    options = {"min_samples_leaf": 5, "max_leaf_nodes": 64, "random_state": 0}
    path = DecisionTreeClassifier(**options).fit(X, y).cost_complexity_pruning_path(X, y)
    alphas = np.unique(np.maximum(path.ccp_alphas, 0).round(14))
    between = np.append(np.sqrt(alphas[:-1] * alphas[1:]), 1.0)
    lost = np.zeros(between.size)
    for fold in range(n_folds):
        left_out = np.arange(400) % n_folds == fold
        for j, alpha in enumerate(between):
            tree = DecisionTreeClassifier(**options, ccp_alpha=alpha)
            tree.fit(X[~left_out], y[~left_out])
            lost[j] += ((tree.predict_proba(X[left_out])[:, 1] - y[left_out]) ** 2).sum()
    alpha = between[np.flatnonzero(lost < lost.min() + 1e-9)[-1]]
    best = DecisionTreeClassifier(**options, ccp_alpha=alpha).fit(X, y)
    actual = DecisionTreeRecalibrator(n_folds=n_folds).fit(scores, y, features=X)
    assert 1 < actual.n_leaves_ < 64
    np.testing.assert_allclose(actual.transform(scores, X), best.predict_proba(X)[:, 1])


def test_on_features_the_probabilities_count_for_nothing():
    scores, outcomes, X = data()
    tree = DecisionTreeRecalibrator().fit(scores, outcomes, features=X)
    other = DecisionTreeRecalibrator().fit(np.full(800, 0.5), outcomes, features=X)
    np.testing.assert_array_equal(tree.transform(scores, X), other.transform(scores[::-1], X))
    assert tree.edges_.size == 0
    assert tree.n_split_features_ == 3


def test_five_folds_are_the_default_of_both():
    assert {kind().n_folds for kind in TREES} == {5}


# Leaves


@each_tree
@pytest.mark.parametrize("spaced", [False, True])
def test_leaves_are_numbered_and_each_has_one_map(kind, spaced):
    scores, outcomes, X = data()
    features = {"features": X} if spaced else {}
    tree = kind(max_leaves=12).fit(scores, outcomes, **features)
    leaf, risk = tree.leaf(scores, **features), tree.transform(scores, **features)
    np.testing.assert_array_equal(np.unique(leaf), np.arange(tree.n_leaves_))
    assert tree.n_leaves_ > 1
    for number in range(tree.n_leaves_):
        own = leaf == number
        if kind is DecisionTreeRecalibrator:
            assert risk[own] == pytest.approx(tree.levels_[number])
            assert risk[own] == pytest.approx(outcomes[own].mean())
        else:
            line = np.polyfit(logit(scores[own]), logit(risk[own]), 1)
            fitted = np.polyval(line, logit(scores[own]))
            np.testing.assert_allclose(logit(risk[own]), fitted, atol=1e-8)


def test_leaves_of_a_tree_on_the_score_are_its_intervals():
    scores, outcomes, _ = data()
    tree = DecisionTreeRecalibrator().fit(scores, outcomes)
    asked = np.concatenate([scores, tree.edges_, [0, 1]])
    expected = np.searchsorted(tree.edges_, asked, side="left")
    np.testing.assert_array_equal(tree.leaf(asked), expected)
    assert tree.levels_.size == tree.n_leaves_ == tree.edges_.size + 1


# Bins cut breadth first


def by_queue(tree, leaves, n_bins):
    """The frontier when nodes are parted in breadth-first order until it has so many."""
    left, right = tree.children_left, tree.children_right
    frontier, queue = [0], deque([0])
    while queue and len(frontier) < n_bins:
        node = queue.popleft()
        if node in leaves:
            continue
        frontier.remove(node)
        frontier += [left[node], right[node]]
        queue += [left[node], right[node]]
    return frontier


@each_tree
@pytest.mark.parametrize("n_bins", [1, 2, 3, 5, 8, 1000])
def test_bins_are_the_frontier_on_the_path_of_each_case(kind, n_bins):
    _, scores, outcomes, X = grown()
    tree = kind(max_leaves=32).fit(scores, outcomes, features=X)
    structure, own = tree.tree_.tree_, tree.leaf(scores, X)
    path = tree.tree_.decision_path(X).toarray().astype(bool)
    leaves = {
        node
        for node in range(structure.node_count)
        if path[:, node].any() and np.unique(own[path[:, node]]).size == 1
    }
    frontier = by_queue(structure, leaves, n_bins)
    assert len(frontier) == min(n_bins, tree.n_leaves_)
    actual = tree.breadth_first_bins(scores, n_bins, X)
    np.testing.assert_array_equal(np.unique(actual), np.arange(len(frontier)))
    assert (path[:, frontier].sum(axis=1) == 1).all()
    known = path[:, frontier].argmax(axis=1)
    assert len(set(zip(actual.tolist(), known.tolist(), strict=True))) == len(frontier)
    if n_bins >= tree.n_leaves_:
        np.testing.assert_array_equal(actual, own)


# What holds for both


@each_tree
def test_weights_are_repeats_and_the_order_does_not_matter(kind):
    scores, outcomes, X = data(300, decimals=1)
    rng = np.random.default_rng(8)
    weight, order = rng.integers(0, 4, 300), rng.permutation(300)
    tree = kind(min_cases=5)
    tree.fit(scores, outcomes, weight, features=X)
    risk, leaf = tree.transform(scores, X), tree.leaf(scores, X)
    s, y, features = (np.repeat(part, weight, axis=0) for part in (scores, outcomes, X))
    tree.fit(s, y, features=features)
    np.testing.assert_allclose(tree.transform(scores, X), risk)
    np.testing.assert_array_equal(tree.leaf(scores, X), leaf)
    tree.fit(scores[order], outcomes[order], weight[order], features=X[order])
    np.testing.assert_allclose(tree.transform(scores, X), risk)


@each_tree
def test_with_more_classes_each_has_its_tree(kind):
    rng = np.random.default_rng(9)
    proba, X = rng.dirichlet([1, 1, 1], 300), rng.normal(size=(300, 2))
    labels = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    tree = kind(max_leaves=4).fit(proba, labels, features=X)
    leaf = tree.leaf(proba, X)
    assert leaf.shape == (300, 3)
    for j, member in enumerate(tree.recalibrators_):
        np.testing.assert_array_equal(leaf[:, j], member.leaf(proba[:, j], X))
    assert tree.breadth_first_bins(proba, 2, X).max() <= 1
    np.testing.assert_allclose(tree.predict_proba(proba, X).sum(axis=1), 1)


@each_tree
def test_wants_the_features_it_was_fitted_to(kind):
    scores, outcomes, X = data(60)
    tree = kind().fit(scores, outcomes, features=X)
    for call in (tree.transform, tree.leaf, lambda s: tree.breadth_first_bins(s, 2)):
        with pytest.raises(InputError, match=r"features has 0 columns, but .* was fitted to 3"):
            call(scores)
    with pytest.raises(InputError, match="features has 59 observations but X has 60"):
        tree.leaf(scores, X[1:])
    for n_bins in (0, 1.5, True):
        with pytest.raises(InputError, match="n_bins"):
            tree.breadth_first_bins(scores, n_bins, X)


def test_a_wrapped_classifier_gives_the_tree_its_scores_alone():
    _, outcomes, X = data(600)
    model = LogisticRegression().fit(X[:200], outcomes[:200])
    wrapped = RecalibratedClassifier(model, DecisionTreeRecalibrator())
    wrapped.fit(X[200:], outcomes[200:])
    assert wrapped.recalibrator_.n_split_features_ == 0
    of_scores = DecisionTreeRecalibrator().fit(model.predict_proba(X[200:]), outcomes[200:])
    expected = of_scores.predict_proba(model.predict_proba(X))
    np.testing.assert_array_equal(wrapped.predict_proba(X), expected)


def test_bins_by_hand():
    """Of four leaves, two deep on the left and two on the right, the left part is parted first."""
    quarter = np.repeat(np.arange(4), 50)
    outcomes = np.concatenate([np.arange(50) < events for events in (1, 14, 36, 49)])
    tree = DecisionTreeRecalibrator().fit(np.full(200, 0.5), outcomes, features=quarter[:, None])
    assert tree.n_leaves_ == 4
    for n_bins, expected in ((1, 0), (2, quarter // 2), (3, [0, 1, 2, 2]), (4, quarter)):
        bins = tree.breadth_first_bins(np.full(200, 0.5), n_bins, quarter[:, None])
        expected = np.take(expected, quarter) if isinstance(expected, list) else expected
        np.testing.assert_array_equal(bins, np.broadcast_to(expected, 200))
