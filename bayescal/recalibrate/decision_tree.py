"""A pruned decision tree on the score."""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from bayescal._base.arrays import Floats
from bayescal.data.build.builder import collapse
from bayescal.data.validate import as_count
from bayescal.recalibrate._pruning import MOST_LEAVES, Grown, grow_limits, members_of, pruned
from bayescal.recalibrate._steps import StepRecalibrator, Steps, cuts_between

__all__ = ["DecisionTreeRecalibrator"]


class DecisionTreeRecalibrator(StepRecalibrator):
    """A decision tree on the score, with cost-complexity pruning chosen by cross-validation.

    The tree splits the scores into intervals where it lessens the squared error most (the Gini
    criterion), and a score becomes the mean outcome of its interval.

    Parameters
    ----------
    max_leaves : int
        Most intervals before pruning.
    min_cases : int
        Fewest cases in an interval.
    n_folds : int
        Folds of the cross-validation that chooses how much to prune, at least 2.

    Attributes
    ----------
    edges_ : ndarray of shape (n_steps - 1,)
        Highest score of each interval but the last.
    levels_ : ndarray of shape (n_steps,)
        Recalibrated probability of each interval.
    classes_ : ndarray of shape (n_classes,)
    recalibrators_ : list of DecisionTreeRecalibrator
        With more than two classes, the one of each class against the rest.

    Notes
    -----
    Torabian & Urner hold that a leaf should mean something to a reader, and compare recalibration
    with trees for that; they published no code, so sizes and folds are ours, and the tree here
    sees nothing but the score. `ProbabilityCalibrationTreeRecalibrator` takes features.

    The cases are dealt to the folds in turn, in order of score, so that the result depends neither
    on chance nor on the order of the rows. Above 2048 distinct scores, neighbouring ones are
    merged. The map may fall, and an interval of one outcome gives exactly 0 or 1.

    References
    ----------
    Torabian & Urner, "Calibration through the Lens of Interpretability", arXiv:2412.00943, 2024.
    Breiman, Friedman, Olshen & Stone, "Classification and Regression Trees", 1984, chapter 3.

    Examples
    --------
    >>> from bayescal import recalibrate, simulate
    >>> y_true, y_prob = simulate.sample("D5", 10_000, random_state=1)
    >>> recalibrate.DecisionTreeRecalibrator().fit(y_prob, y_true).transform([0.5, 0.9]).round(2)
    array([0.25, 0.49])
    """

    def __init__(self, max_leaves: int = 64, min_cases: int = 5, n_folds: int = 10) -> None:
        self.max_leaves = max_leaves
        self.min_cases = min_cases
        self.n_folds = n_folds

    def _steps(self, scores: Floats, outcomes: Floats, weights: Floats | None) -> Steps:
        max_leaves = as_count(self.max_leaves, "max_leaves", 1, MOST_LEAVES)
        min_cases = as_count(self.min_cases, "min_cases")
        n_folds = as_count(self.n_folds, "n_folds", 2)
        rows = collapse(scores, outcomes, weights)
        position = np.arange(rows.score.size, dtype=np.float32)[:, None]

        def grow(inside: Floats, outside: Floats) -> Grown:
            misses, hits = inside.reshape(-1, 2).T
            unseen_misses, unseen_hits = outside.reshape(-1, 2).T
            trials = hits + misses
            rate = hits / np.where(trials > 0, trials, 1)
            limits = grow_limits(trials, min_cases, max_leaves)
            fitted = DecisionTreeRegressor(**limits).fit(position, rate, sample_weight=trials)
            level = np.clip(fitted.tree_.value.ravel(), 0, 1)
            loss, unseen = np.zeros_like(level), np.zeros_like(level)
            for node, members in enumerate(members_of(fitted, position)):
                miss, hit = level[node] ** 2, (1 - level[node]) ** 2
                loss[node] = misses[members].sum() * miss + hits[members].sum() * hit
                unseen[node] = (
                    unseen_misses[members].sum() * miss + unseen_hits[members].sum() * hit
                )
            return Grown(fitted, level, loss, unseen)

        cells = np.column_stack([rows.trials - rows.hits, rows.hits]).ravel()
        grown, leaves = pruned(grow, cells, n_folds)
        first = np.array([members.min() for members in members_of(grown.fitted, position)])[leaves]
        order = np.argsort(first)
        edges = cuts_between(rows.score, first[order][1:])
        return Steps(edges, grown.models[leaves][order])
