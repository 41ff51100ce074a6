"""Whom a fit of several curves is asked about: its own cases, the average group, the next one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.data.table import CalibrationData
from bayescal.multilevel.own import OwnProblem
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["LEAST_OF_NEXT", "own_error", "views_of"]

# Groups from which on something is said of one that has not been seen.
LEAST_OF_NEXT = 5


def views_of(post: MultilevelPosterior) -> dict[str, CalibrationPosterior]:
    """The populations that a fit of several curves tells apart, its own cases first.

    Of groups: these patients, the average group, and of five groups or more the next one. Of
    ordered periods: these patients, the last period and, of periods alone, the next. Of subgroups
    by several factors: these patients and the average subgroup.
    """
    problem, views = post.problem, {"these": post.at()}
    if problem.walk is not None:
        views["now"] = post.now()
    if problem.is_walk:
        return views | {"next": post.new()}
    views["average"] = post.average()
    axis = "site" if "site" in post.levels or problem.kind != "sites" else next(iter(post.levels))
    if len(post.levels.get(axis, ())) >= LEAST_OF_NEXT:
        views["next"] = post.new(axis)
    return views


def own_error(
    curves: Mapping[str, CalibrationPosterior],
    data: CalibrationData,
    pooled: CalibrationPosterior,
) -> Floats:
    """Draws of the true calibration error against one's own group, of groups fitted by themselves.

    It is the mean of the errors of the groups, by the shares of the cases that they have in a draw
    of the population. Of groups that were fitted together it is that of `own()`.

    Parameters
    ----------
    curves : mapping of str to CalibrationPosterior
        By group of the data.
    data : CalibrationData
        The cases, with their groups.
    pooled : CalibrationPosterior
        Of the cases of all groups.

    Returns
    -------
    ndarray of shape (draws,)
    """
    parts = tuple(curves[label].problem for label in data.groups)
    rows, rng = OwnProblem.of(pooled.problem, parts), pooled.problem.rng("shares")
    error = np.zeros(pooled.draws)
    for label, share in zip(data.groups, _shares(rows, data, pooled.draws, rng), strict=True):
        error += share * curves[label].values_of("tce")
    return error


def _shares(
    rows: OwnProblem, data: CalibrationData, draws: int, rng: np.random.Generator
) -> list[Floats]:
    """Draws of the share of the cases that each group has."""
    weight = rows.weights(data).weights(slice(0, draws), rng)
    owner = np.repeat(np.arange(len(rows.parts)), [part.score.size for part in rows.parts])
    return [weight[:, owner[rows.order] == k].sum(axis=1) for k in range(len(rows.parts))]
