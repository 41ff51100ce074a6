"""How alike the cases of a cluster are, for outcomes that are simulated."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from bayescal.core.arrays import Floats
from bayescal.core.optimise import clipped, zero_of
from bayescal.data.clusters import Clusters
from bayescal.estimators.uncertainty import AlikeCases

__all__ = ["alike_cases"]

ALIKE_NODES, ALIKE_WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
ALIKE_WEIGHTS = ALIKE_WEIGHTS / ALIKE_WEIGHTS.sum()
# Correlation from which cases of a cluster count as copies of one case.
NEARLY_EQUAL = 0.995
# Largest share of the information that one cluster is corrected for.
MOST_OF_ALL = 0.9
FOUND = 1e-4


def alike_cases(clusters: Clusters, fitted: Floats) -> AlikeCases:
    """The cases of clusters, and the correlation that their residuals show.

    Products of the residuals of two cases of one cluster, over squares of residuals, are as large
    in simulated outcomes as in the data. Residuals are from the fitted curve, so that an error of
    the model is no likeness; a cluster that bends the curve is corrected for its share of the
    information.
    """
    by_row = np.argsort(clusters.row, kind="stable")
    cases = np.rint(clusters.trials[by_row]).astype(np.intp)
    return AlikeCases(np.repeat(clusters.cluster[by_row], cases), _correlation(clusters, fitted))


def _correlation(clusters: Clusters, fitted: Floats) -> float:
    """Of the normal variables behind the outcomes of two cases of one cluster; at least 0."""
    p, trials, hits = clipped(fitted)[clusters.row], clusters.trials, clusters.hits
    others, spread = clusters.sums(trials) - 1, clusters.sums(trials * p * (1 - p))
    own = clusters.sums(hits * (1 - p) ** 2 + (trials - hits) * p**2)
    share = spread / spread.sum() if clusters.strata == 1 else 0 * spread
    total = clusters.sums(hits - trials * p) ** 2 / (1 - np.minimum(share, MOST_OF_ALL))
    seen = float((total - own).sum() / (others @ own))
    pairs = float(others @ spread)

    def excess(correlation: float) -> float:
        away, root = ndtri(p), np.sqrt(1 - correlation)
        covariance = 0.0
        for node, weight in zip(ALIKE_NODES, ALIKE_WEIGHTS, strict=True):
            more = ndtr((away - np.sqrt(correlation) * node) / root) - p
            squares = clusters.sums(trials * more) ** 2 - clusters.sums(trials * more**2)
            covariance += float(weight * squares.sum())
        return float(covariance / pairs) - seen

    if seen <= 0:
        return 0.0
    if excess(NEARLY_EQUAL) <= 0:
        return 1.0
    return zero_of(excess, 0.0, NEARLY_EQUAL, FOUND)
