"""From a table of periods to a posterior, and from that and more cases to the next."""

from __future__ import annotations

from typing import Any

from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.multilevel.drift.fit import fit_drift
from bayescal.multilevel.drift.posterior import DriftPosterior
from bayescal.multilevel.drift.problem import prepare_drift

__all__ = ["fit_periods", "update_periods"]


def fit_periods(data: CalibrationData, draws: int, engine: str, **options: Any) -> DriftPosterior:
    """The posterior of a table with a group a period.

    Parameters
    ----------
    data : CalibrationData
    draws : int
    engine : str
    **options
        Of `prepare_drift`.

    Returns
    -------
    DriftPosterior

    Raises
    ------
    InputError
        As `prepare_drift` and `fit_drift`.
    """
    return fit_drift(prepare_drift(data, **options), draws, engine)


def update_periods(post: DriftPosterior, more: CalibrationData) -> DriftPosterior:
    """The posterior of the cases of a posterior and of more.

    Parameters
    ----------
    post : DriftPosterior
    more : CalibrationData
        With a group a period.

    Returns
    -------
    DriftPosterior

    Raises
    ------
    InputError
        If periods are missing or of another kind, or as `fit_periods`.
    """
    if more.roles != ("period",):
        raise InputError(
            "post is of periods, so say with periods= when each of the new cases was, in the form "
            f"of those before, such as {post.labels[-1]!r}, and give no other role."
        )
    pooled, (walk,) = post.problem.pooled, post.problem.walk.terms
    was_given = pooled.edges != pooled.data.edges()
    return fit_periods(
        post.data + more,
        post.draws,
        post.engine,
        prior=pooled.prior,
        heterogeneity=walk.prior,
        curve=pooled.curve,
        edge=pooled.edges.low if was_given else None,
        random_state=pooled.seed,
    )
