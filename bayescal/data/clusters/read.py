"""The clusters of some cases, from the labels that a user gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayescal._base.errors import InputError
from bayescal._base.text import shortened
from bayescal.data.build.cases import check_cases
from bayescal.data.build.labels import GroupNames
from bayescal.data.clusters.clusters import Clusters
from bayescal.data.data import CalibrationData
from bayescal.data.sources.alignment import aligned

__all__ = [
    "ABOUT_TABLES",
    "check_strata",
    "number_clusters",
    "read_clusters",
    "refuse_clusters",
]

ABOUT_TABLES = (
    "cluster was given beside a CalibrationData, which no longer knows its cases. Pass the "
    "outcomes and probabilities as arrays, with the cluster of each case."
)
"""Why clusters of a table are refused."""


def read_clusters(
    data: CalibrationData,
    y_true: Any,
    y_prob: Any,
    cluster: Any,
    strata: Any = None,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> Clusters | None:
    """The clusters of the cases of a table.

    Parameters
    ----------
    data : CalibrationData
        The table of these cases.
    y_true, y_prob : array-like of shape (n,)
    cluster : array-like of shape (n,), Clusters, or None
        Label of the cluster of each case; or its clusters, which are returned; or None.
    strata : array-like of shape (n,), optional
        Label of the stratum of each case.
    sample_weight : array-like of shape (n,), optional
    pos_label : object, optional

    Returns
    -------
    Clusters or None

    Raises
    ------
    InputError
        If a label is missing, labels are more or fewer than cases, there is one cluster in all or
        in a stratum, a cluster lies in several strata, or the cases are not known.
    """
    if cluster is None:
        check_strata(strata)
        return None
    if isinstance(cluster, Clusters):
        return cluster
    if isinstance(y_true, CalibrationData):
        raise InputError(ABOUT_TABLES)
    y_true, y_prob, sample_weight, cluster, strata = aligned(
        y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, cluster=cluster, strata=strata
    )
    cases = check_cases(y_true, y_prob, sample_weight, pos_label=pos_label)
    weight = np.ones(cases.outcome.size) if cases.weight is None else cases.weight
    counted = weight > 0
    number, stratum = number_clusters(cluster, strata, counted)
    outcome = cases.outcome[counted].astype(np.float64)
    scaled = weight[counted] * data.weight_scale
    squares = scaled**2 if data.is_pseudo else scaled
    columns = {
        "trials": scaled,
        "hits": scaled * outcome,
        "square_trials": squares,
        "square_hits": squares * outcome,
    }
    row = data.rows_of(cases.score[counted].astype(np.float64))
    return Clusters.of_cases(number, row, columns, stratum)


def number_clusters(
    cluster: Any, strata: Any, counted: NDArray[np.bool_]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number of the cluster of each case that counts, and of the stratum of each cluster.

    Parameters
    ----------
    cluster : array-like of shape (n,)
    strata : array-like of shape (n,) or None
    counted : ndarray of shape (n,)
        Whether a case has a weight.

    Returns
    -------
    number : ndarray of shape (counted cases,)
    stratum : ndarray of shape (clusters,)

    Raises
    ------
    InputError
        As `read_clusters`.
    """
    names, layers = GroupNames(), GroupNames()
    code = names.codes(cluster, counted.size, "cluster")[counted]
    layer = np.zeros(code.size, np.intp)
    if strata is not None:
        layer = layers.codes(strata, counted.size, "strata")[counted]
    present, number = np.unique(code, return_inverse=True)
    _check_several(present, names.names)
    return number, _stratum_of(number, present, layer, names.names, layers.names)


def refuse_clusters(cluster: Any, strata: Any) -> None:
    """Refuse clusters beside groups or periods.

    Raises
    ------
    InputError
        If either is given.
    """
    if cluster is not None or strata is not None:
        raise InputError(
            "cluster was given beside groups or periods, and only one of them can stand. Use "
            "groups= for units that are of interest themselves, such as hospitals, each with its "
            "own curve; and cluster= for units that are not, such as patients seen several times."
        )


def check_strata(strata: Any) -> None:
    """Refuse strata without clusters."""
    if strata is not None:
        raise InputError(
            "strata was given without cluster: strata are of clusters. Say which cluster each "
            "case is of with cluster=; where cases were drawn one by one, number them: "
            "cluster=range(n)."
        )


def _check_several(present: NDArray[np.intp], names: list[str]) -> None:
    if present.size < 2:
        raise InputError(
            f"cluster holds one cluster, {shortened(repr(names[present[0]]))}, and at least two "
            "are needed to see how much clusters differ. Leave cluster= out if the cases are "
            "independent."
        )


def _stratum_of(
    number: NDArray[np.intp],
    present: NDArray[np.intp],
    layer: NDArray[np.intp],
    names: list[str],
    layers: list[str],
) -> NDArray[np.intp]:
    """Stratum of each cluster, numbered from 0 without gaps."""
    used, layer = np.unique(layer, return_inverse=True)
    stratum = np.zeros(present.size, np.intp)
    stratum[number] = layer
    split = stratum[number] != layer
    if split.any():
        at = int(split.argmax())
        name = shortened(repr(names[present[number[at]]]))
        both = " and ".join(
            shortened(repr(layers[used[each]])) for each in (stratum[number[at]], layer[at])
        )
        raise InputError(
            f"cluster {name} lies in several strata, {both}. If clusters are numbered anew in "
            "each stratum, make the labels unique: put the stratum's name before the cluster's."
        )
    alone = np.bincount(stratum) < 2
    if used.size > 1 and alone.any():
        name = shortened(repr(layers[used[int(alone.argmax())]]))
        raise InputError(
            f"strata: {name} holds one cluster, so that nothing shows how much its clusters "
            "differ. Merge it with a stratum that is alike."
        )
    return stratum
