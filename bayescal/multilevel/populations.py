"""Whom a fit of several curves is asked about: its own cases, the average group, the next one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.text import excludes
from bayescal.data.rows import add_up
from bayescal.data.table import CalibrationData
from bayescal.multilevel.drift import DriftPosterior
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.sites import HierarchicalPosterior
from bayescal.multilevel.view import CurveView, floored
from bayescal.posterior.populations.bootstrap import dirichlet
from bayescal.posterior.populations.clusters import ClusterBootstrap
from bayescal.posterior.posterior import CalibrationPosterior

__all__ = ["clearly_off", "clearly_off_of", "own_curves", "own_error", "views_of"]


def views_of(post: MultilevelPosterior) -> dict[str, CurveView]:
    """The populations that a fit of several curves tells apart, its own cases first.

    Of groups: these patients, the average group, and of five groups or more the next one. Of
    ordered periods: these patients, the last period and the next. Of subgroups by several factors:
    these patients and the average subgroup.
    """
    if isinstance(post, DriftPosterior):
        return {"these": post.at(), "now": post.now(), "next": post.new()}
    views = {"these": post.at(), "average": post.average()}
    if isinstance(post, HierarchicalPosterior) and not post.is_of_few:
        views["next"] = post.new()
    return views


def own_curves(post: MultilevelPosterior) -> dict[str, CurveView]:
    """The curve of each group of patients: of each site, period or cell of several factors."""
    problem = post.problem
    cells = dict(zip(problem.labels, problem.cells, strict=True))
    return {
        label: post.at(dict(zip(problem.axes, cells[label], strict=True)))
        for label in problem.data.groups
    }


def own_error(
    curves: Mapping[str, CalibrationPosterior],
    data: CalibrationData,
    pooled: CalibrationPosterior,
) -> Floats:
    """Draws of the true calibration error of patients against the curve of their own group.

    It is the mean of the errors of the groups, by the shares of the cases that they have in a draw
    of the population. In the error of the pooled curve, errors of groups on either side cancel.

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
        They pair with no draws of the curves, as those of any distance.
    """
    error = np.zeros(pooled.draws)
    shares = _shares(data.with_several_clusters(), error.size, pooled.problem.rng("shares"))
    for label, share in zip(data.groups, shares.T, strict=True):
        view = curves[label]
        # not values_of: floored by its own signed error, each group would be off in each draw
        error += share * view._read(view.tables, [("tce", {})], "bootstrap")["tce"]
    return floored(error, pooled.values_of("signed_error"))


def clearly_off(
    curves: Mapping[str, CalibrationPosterior], ci_prob: float
) -> dict[str, dict[str, float]]:
    """Estimate, lower and upper end of O/E where its interval excludes 1, the furthest first."""
    off = {}
    for label, view in curves.items():
        lower, upper = view.interval("observed_expected", ci_prob)
        if excludes(lower, upper, 1):
            estimate = view.estimate("observed_expected")
            off[label] = {"estimate": estimate, "lower": lower, "upper": upper}
    return _furthest_first(off)


def clearly_off_of(post: MultilevelPosterior, ci_prob: float) -> dict[str, dict[str, float]]:
    """The same of sites, of periods, or of levels of factors and their cells.

    A cell is left out if one of its levels is named and off on the same side.
    """
    levels = {view.title: view for view in (post.at(part.levels) for part in post.parts())}
    off = clearly_off(levels, ci_prob)
    if len(post.levels) == 1:
        return off
    cells, above = {}, {(label, row["estimate"] > 1) for label, row in off.items()}
    for part in post.parts(list(post.levels)):
        view = post.at(part.levels)
        too_few = view.estimate("observed_expected") > 1
        within = (post.at({axis: level}).title for axis, level in part.levels.items())
        if not any((label, too_few) in above for label in within):
            cells[view.title] = view
    return _furthest_first(off | clearly_off(cells, ci_prob))


def _furthest_first(off: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    return dict(sorted(off.items(), key=lambda row: -abs(np.log(row[1]["estimate"]))))


def _shares(data: CalibrationData, draws: int, rng: np.random.Generator) -> Floats:
    """Draws of the share of the cases that each group has, of shape (draws, groups).

    Sampling weights say how large a share is, and Kish's size of a group how well it is known.
    """
    names = data.groups
    order, labels = np.argsort(names), np.asarray(data.group)
    group = order[np.searchsorted(names, labels, sorter=order)]
    clusters = data.clusters
    if clusters is not None and not clusters.are_single:
        law = ClusterBootstrap.of(clusters, group[clusters.row], len(names))
        return law.weights(slice(0, draws), rng)
    weight = add_up(group, data.trials, len(names))
    size = np.array([data.select(name).effective_size for name in names])
    shares = dirichlet(size, draws, rng) * (weight / size)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
