"""From cases with their periods to a posterior, and from that and more cases to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData, as_data
from bayescal.data.validate import check_same_length
from bayescal.multilevel.drift import DriftPosterior
from bayescal.multilevel.fit import fit_problem
from bayescal.multilevel.periods import Periods, periods_of_labels, read_periods
from bayescal.multilevel.problem import prepare_terms
from bayescal.multilevel.term import walk

__all__ = ["fit_periods", "update_periods"]

GROUPS = "groups"


def fit_periods(
    y_true: Any,
    y_prob: Any,
    periods: Any,
    groups: Any,
    draws: int,
    engine: str,
    *,
    table: Mapping[str, Any],
    **options: Any,
) -> DriftPosterior:
    """The posterior of cases with their periods.

    Parameters
    ----------
    y_true, y_prob, periods, groups
        As of `bayescal.fit`.
    draws : int
    engine : str
    table : mapping
        Options of `CalibrationData`.
    **options
        Of `prepare_terms`.

    Returns
    -------
    DriftPosterior

    Raises
    ------
    InputError
        If there are groups too, or as `read_periods`, `prepare_terms` and `fit_problem`.
    """
    return _fitted(*_table(y_true, y_prob, periods, groups, table), draws, engine, options)


def update_periods(
    post: DriftPosterior, y_true: Any, y_prob: Any, periods: Any, groups: Any, **table: Any
) -> DriftPosterior:
    """The posterior of the cases of a posterior and of more.

    Parameters
    ----------
    post : DriftPosterior
    y_true, y_prob, periods, groups
        As of `bayescal.update`.
    **table
        Options of `CalibrationData`.

    Returns
    -------
    DriftPosterior

    Raises
    ------
    InputError
        If periods are missing or of another kind, or as `fit_periods`.
    """
    if periods is None:
        raise InputError(
            "post is of periods, so say with periods= when each of the new cases was, in the form "
            f"of those before, such as {post.labels[-1]!r}."
        )
    problem = post.problem
    pooled = problem.pooled
    more, added = _table(y_true, y_prob, periods, groups, table)
    was_given = pooled.edges != pooled.data.edges()
    options = {
        "prior": pooled.prior,
        "heterogeneity": problem.heterogeneity,
        "curve": pooled.curve,
        "edge": pooled.edges.low if was_given else None,
        "random_state": pooled.seed,
    }
    assert problem.periods is not None
    joined = problem.periods.joined(added)
    return _fitted(post.data + more, joined, post.draws, post.engine, options)


def _fitted(
    data: CalibrationData,
    periods: Periods,
    draws: int,
    engine: str,
    options: Mapping[str, Any],
) -> DriftPosterior:
    drift: DriftPosterior = fit_problem(
        prepare_terms(data, walk(), periods=periods, **options), draws, engine, {}
    )
    return drift


def _table(
    y_true: Any, y_prob: Any, periods: Any, groups: Any, table: Mapping[str, Any]
) -> tuple[CalibrationData, Periods]:
    """The table with a group a period, and the order of these."""
    if groups is not None:
        raise InputError(
            "groups and periods were both given: a fit is of sites, or of periods. Fit the periods "
            "of each site by itself, or sites over all periods."
        )
    if isinstance(periods, str) and periods == GROUPS:
        data = as_data(y_true, y_prob, **table)
        if not data.groups:
            raise InputError(
                "periods='groups' says that the groups of a table are its periods, but the table "
                "has no groups. Make it with bc.CalibrationData(y_true, y_prob, groups=periods), "
                "or pass the period of each case."
            )
        return data, periods_of_labels(data.groups)
    if isinstance(y_true, CalibrationData):
        raise InputError(
            "periods cannot be given for each case of a table, whose cases are not kept apart. "
            "Make the table with groups=, and pass periods='groups'."
        )
    labels, read = read_periods(periods)
    check_same_length(np.size(y_true), "y_true", labels.size, "periods")
    return as_data(y_true, y_prob, groups=labels, **table), read
