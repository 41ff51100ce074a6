"""Cost-complexity pruning of trees whose nodes each hold a model, chosen by cross-validation."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats

__all__ = [
    "MOST_LEAVES",
    "Grown",
    "breadth_first",
    "fold_weights",
    "grow_limits",
    "leaf_numbers",
    "members_of",
    "pruned",
]

MOST_LEAVES = 100_000
_ROUNDING = 1e-6


class Grown(NamedTuple):
    """A tree with a model in every node, and what the models lose.

    Attributes
    ----------
    fitted : object
        A fitted scikit-learn tree.
    models : ndarray of shape (nodes, ...)
        What each node's model is.
    loss : ndarray of shape (nodes,)
        Loss of each node's model over the training cases in the node.
    unseen : ndarray of shape (nodes,)
        The same over the cases that were left out.
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


def members_of(fitted: Any, features: Any) -> Iterator[NDArray[np.intp]]:
    """The cases in each node, in the order of the nodes."""
    paths = fitted.decision_path(features).tocsc()
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
