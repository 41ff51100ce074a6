"""Pruned trees against those of scikit-learn."""

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from bayescal.recalibrate.trees import (
    DecisionTreeRecalibrator,
    Grown,
    _subtrees,
    fold_weights,
)


def test_subtrees_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    index = np.arange(120.0)[:, None]
    outcomes = (rng.random(120) < np.linspace(0.1, 0.9, 120)).astype(float)
    fitted = DecisionTreeRegressor(min_samples_leaf=3).fit(index, outcomes)
    tree = fitted.tree_
    loss = tree.impurity * tree.weighted_n_node_samples
    alphas, kept = _subtrees(Grown(fitted, tree.value, loss, loss))
    path = fitted.cost_complexity_pruning_path(index, outcomes)
    np.testing.assert_allclose(alphas, np.unique(path.ccp_alphas), atol=1e-12)
    for middle, terminal in zip((alphas[1:] + alphas[:-1]) / 2, kept[:-1], strict=True):
        between = DecisionTreeRegressor(min_samples_leaf=3, ccp_alpha=middle)
        assert between.fit(index, outcomes).get_n_leaves() == terminal.sum()


def test_folds_deal_out_the_cases_in_turn():
    folds = list(fold_weights(np.array([1.0, 3.0, 0.5, 0.0, 2.5]), 3))
    outside = np.array([left_out for _, left_out in folds])
    np.testing.assert_allclose(outside.sum(axis=0), [1, 3, 0.5, 0, 2.5])
    np.testing.assert_allclose(outside[:, 0], [1, 0, 0])
    np.testing.assert_allclose(outside[:, 1], [1, 1, 1])
    np.testing.assert_allclose(outside[:, 2], [0, 0.5, 0])
    for inside, left_out in folds:
        np.testing.assert_allclose(inside + left_out, [1, 3, 0.5, 0, 2.5])


def test_single_cases_are_in_every_fifth_fold_and_choose_the_tree_of_scikit_learn():
    n, folds = 300, np.arange(300) % 5
    for k, (inside, left_out) in enumerate(fold_weights(np.ones(n), 5)):
        np.testing.assert_array_equal(left_out, folds == k)
        np.testing.assert_array_equal(inside, folds != k)
    rng, index = np.random.default_rng(1), np.arange(n)[:, None]
    y = (rng.random(n) < np.repeat([0.1, 0.4, 0.3, 0.8], n // 4)).astype(float)
    ours = DecisionTreeRecalibrator(max_leaves=16).fit((index[:, 0] + 0.5) / n, y)

    def grown(cases, alpha):
        limits = {"max_leaf_nodes": 16, "min_samples_leaf": 5, "random_state": 0}
        return DecisionTreeRegressor(**limits, ccp_alpha=alpha).fit(index[cases], y[cases])

    alphas = np.unique(grown(folds >= 0, 0.0).cost_complexity_pruning_path(index, y).ccp_alphas)
    tried = np.append(np.sqrt(alphas[:-1] * alphas[1:]), 1e9)
    lost = [
        sum(
            ((y - grown(folds != k, alpha).predict(index)) ** 2)[folds == k].sum() for k in range(5)
        )
        for alpha in tried
    ]
    best = np.flatnonzero(np.array(lost) <= min(lost) * (1 + 1e-12))[-1]
    theirs = grown(folds >= 0, np.append(alphas, 1e9)[[best, best + 1]].mean())
    assert ours.n_leaves_ == theirs.get_n_leaves() > 1
    np.testing.assert_allclose(ours.transform((index[:, 0] + 0.5) / n), theirs.predict(index))
