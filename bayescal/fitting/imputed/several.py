"""Posteriors of several curves of several imputations: draws joined, views that mix imputations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, check_type
from bayescal.data.table import CalibrationData
from bayescal.model.draws import at_centre, one_table, worst_of
from bayescal.multilevel.changes import explanation_prior, explanation_probabilities
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.drift import DriftPosterior
from bayescal.multilevel.factors import SubgroupPosterior
from bayescal.multilevel.fit import posterior_of_tree
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.sites import HierarchicalPosterior
from bayescal.multilevel.view import CurveView
from bayescal.posterior.checks.verdict import of_imputations
from bayescal.posterior.imputed import in_turn, widened
from bayescal.posterior.posterior import CalibrationPosterior, mixture
from bayescal.posterior.stored import seen_on, tree_of_all, trees_of
from bayescal.posterior.words import missing_in_words

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayescal.inference.loo import LeaveOneOut

__all__ = ["ImputedCurves", "ImputedView", "mixed", "mixture_of_tree"]

NEAR_ONE = 1 - 1e-9
"""Largest correlation whose Fisher's z is taken."""


class ImputedView(CurveView):
    """One curve of several, such as that of a site, of several imputations."""

    _posts: tuple[CurveView, ...]

    @classmethod
    def of_posteriors(cls, posts: Sequence[CurveView]) -> Self:
        """The mixture of the views on one curve, one an imputation."""
        view, first = cls([post._parts[0] for post in posts]), posts[0]
        view._posts = tuple(posts)
        view.title, view.is_new, view._key = first.title, first.is_new, first._key
        view._has_outcomes = first._has_outcomes
        if first._fitted is not None:
            view._fitted = cls.of_posteriors([post._fitted for post in posts if post._fitted])
        return view

    @property
    def imputations(self) -> tuple[CurveView, ...]:  # type: ignore[override]
        """The view of each imputation."""
        return self._posts

    def _on(self, data: CalibrationData) -> Self:
        fitted = self if self._fitted is None else self._fitted
        return self.of_posteriors([post._on(data) for post in fitted._posts])

    @cached_property
    def _tree(self) -> xr.DataTree:
        if self._fitted is not None:
            return seen_on(self._fitted.tree, self._parts[0].problem.data)
        return tree_of_all([post.tree for post in self._posts])


class ImputedCurves(MultilevelPosterior):
    """Posterior of several related curves when scores were imputed several times.

    Made by `bayescal.fit` of data with imputations and sites, factors or periods, and by
    `bayescal.combine_imputations`. It is also the posterior of what was fitted, such as a
    `HierarchicalPosterior`, and answers as that of one table does. Each curve is an
    `CalibrationPosterior` of its own.

    Parameters
    ----------
    tree : xarray.DataTree
        As `to_netcdf` wrote it.

    Notes
    -----
    Standard deviations between levels are mixed, too: their logarithms are moved apart as
    `CalibrationPosterior` says, and correlations by Fisher's z. The coordinates in `tree` are as
    they were drawn.
    """

    _posts: tuple[MultilevelPosterior, ...]

    def __init__(self, tree: xr.DataTree) -> None:
        post = mixture_of_tree(tree)
        cure = "Read a file with bayescal.load."
        self._mix(check_type(post, type(self), "tree", cure)._posts)

    @classmethod
    def of_posteriors(cls, posts: Sequence[MultilevelPosterior]) -> Self:
        """The mixture of posteriors that `bayescal.combine_imputations` has checked.

        Parameters
        ----------
        posts : sequence of MultilevelPosterior
        """
        posterior = cls.__new__(cls)
        posterior._mix(posts)
        return posterior

    def _mix(self, posts: Sequence[MultilevelPosterior]) -> None:
        self._posts, self._free = tuple(posts), joined([post._free for post in posts])

    @property
    def imputations(self) -> tuple[Any, ...]:
        """The posterior of each imputation."""
        return self._posts

    @cached_property
    def _tree(self) -> xr.DataTree:
        return tree_of_all([post.tree for post in self._posts])

    @property
    def diagnostics(self) -> dict[str, float | str]:
        """How far the draws can be trusted: the worst of the imputations.

        Returns
        -------
        dict
            As `MultilevelPosterior.diagnostics`; `verdict` names the imputation, counted from 1.
        """
        each = [post.diagnostics for post in self._posts]
        verdict = of_imputations([one["verdict"] for one in each])
        return {"engine": self.engine, **worst_of(each), "verdict": verdict}

    @property
    def loo(self) -> LeaveOneOut:
        """Refused: leave-one-out is of one imputation."""
        raise InputError(
            "loo is of one imputation, whose cases are weighed one by one. Read it of each: "
            "imputations[0].loo."
        )

    @cached_property
    def prob_calibrated(self) -> dict[str, float] | None:
        """Probability of exact calibration, the mean over the imputations."""
        each = [post.prob_calibrated for post in self._posts]
        known = [one for one in each if one is not None]
        if len(known) < len(each):
            return None
        return {name: float(np.mean([one[name] for one in known])) for name in known[0]}

    @cached_property
    def missing_information(self) -> pd.DataFrame:
        """What the missing data cost, for each functional of every site, level or period.

        Returns
        -------
        pandas.DataFrame
            Index as of `summary`. Columns as of `CalibrationPosterior.missing_information`; those
            of the average are in `average().missing_information`.
        """
        import pandas as pd

        names, keys = self._index(None)
        tables = [self.at(each.levels).missing_information for each in self.parts()]
        return pd.concat(tables, keys=keys, names=[*names, "functional"])

    def at(self, levels: Any = None, /, **by_name: Any) -> ImputedView:
        """The posterior of the curve at some levels; see `MultilevelPosterior.at`."""
        view = super().at(levels, **by_name)
        assert isinstance(view, ImputedView)
        return view

    def _at(self, levels: dict[str, str]) -> CurveView:
        return self._of_each(lambda post: post._at(levels))

    def _kept(self, key: dict[str, Any], make: Callable[[], CurveView]) -> CurveView:
        return super()._kept(key, lambda: self._of_each(lambda post: post._view_of(key)))

    def _of_new(self, axis: str, data: CalibrationData | None, scores: Floats | None) -> CurveView:
        return self._of_each(lambda post: post._of_new(axis, data, scores))

    def _of_each(self, look: Callable[[MultilevelPosterior], CurveView]) -> ImputedView:
        """The view on one curve of every imputation, mixed."""
        return ImputedView.of_posteriors([look(post) for post in self._posts])

    def _lines(self) -> list[str]:
        first, *lines = super()._lines()
        average = self.average()
        assert isinstance(average, ImputedView)
        return [
            f"{len(self._posts)} imputations of {first}",
            *lines,
            f"{missing_in_words(average)} (of the average)",
        ]


class ImputedSites(ImputedCurves, HierarchicalPosterior):
    """Several sites, of several imputations."""

    _posts: tuple[HierarchicalPosterior, ...]

    def _share_off_average(self, view: CurveView, limit: float) -> float:
        """The mean over the imputations."""
        assert isinstance(view, ImputedView)
        pairs = zip(self._posts, view._posts, strict=True)
        return float(np.mean([post._share_off_average(one, limit) for post, one in pairs]))


class ImputedSubgroups(ImputedCurves, SubgroupPosterior):
    """Subgroups by several factors, of several imputations."""


class ImputedDrift(ImputedCurves, DriftPosterior):
    """Ordered periods, of several imputations."""

    @cached_property
    def _drawn(self) -> MultilevelDraws:
        return joined([post._drawn for post in self._posts])

    @cached_property
    def _steps(self) -> Floats:
        steps = np.stack([post._steps.T for post in self.imputations])
        return np.asarray(in_turn(steps).T)

    @cached_property
    def _gains(self) -> dict[tuple[str, str], Floats]:
        each = [post._gains for post in self.imputations]
        return {key: in_turn(widened(np.stack([one[key] for one in each]))) for key in each[0]}


FACES: dict[type[MultilevelPosterior], type[ImputedCurves]] = {
    HierarchicalPosterior: ImputedSites,
    SubgroupPosterior: ImputedSubgroups,
    DriftPosterior: ImputedDrift,
}


def mixed(posts: Sequence[Any]) -> CalibrationPosterior | ImputedCurves:
    """One posterior of those of all imputations: of several curves, of a view on one, or of one."""
    if all(isinstance(post, MultilevelPosterior) for post in posts):
        return FACES.get(type(posts[0]), ImputedCurves).of_posteriors(posts)
    if all(isinstance(post, CurveView) for post in posts):
        return ImputedView.of_posteriors(posts)
    one: CalibrationPosterior = mixture(posts)
    return one


def mixture_of_tree(tree: xr.DataTree) -> ImputedView | ImputedCurves:
    """Read back what the tree of several imputations of several curves holds."""
    post = mixed([posterior_of_tree(each) for each in trees_of(tree)])
    assert isinstance(post, ImputedView | ImputedCurves)
    return post


def joined(each: Sequence[MultilevelDraws]) -> MultilevelDraws:
    """The draws of all imputations in turn, of one problem that has their tables.

    Shifts are those at the centre of the first imputation.
    """
    first = each[0]
    pooled = one_table([one.problem.pooled for one in each])
    data = CalibrationData.from_imputations([one.problem.data for one in each])
    size = sum(one.size for one in each)
    optional: dict[str, Any] = {}
    correlations = [one.correlation for one in each if one.correlation is not None]
    if correlations:
        z = np.arctanh(np.clip(np.stack(correlations), -NEAR_ONE, NEAR_ONE))
        optional["correlation"] = np.tanh(in_turn(widened(z)))
    shares = [one.share_unlike for one in each if one.share_unlike is not None]
    indicators = [one.unlike.T for one in each if one.unlike is not None]
    if shares:
        optional["share_unlike"] = in_turn(np.stack(shares))
    if indicators:
        optional["unlike"] = in_turn(np.stack(indicators)).T
    if first.following is not None:
        optional["following"] = in_turn(_at_one_centre(each, lambda one: one.following))
    explanations = [one.explanation for one in each if one.explanation is not None]
    if explanations:
        optional["explanation"] = in_turn(np.stack(explanations))
        mean = np.mean([explanation_probabilities(one) for one in each], axis=0)
        relative = mean / explanation_prior(first.problem)
        optional["log_evidence"] = np.log(np.maximum(relative, np.finfo(float).tiny))
    scales = np.empty((0, size, len(first.problem.varying)))
    if len(first.scales):
        logs = np.stack([np.log(one.scales.swapaxes(0, 1)) for one in each])
        scales = np.exp(in_turn(widened(logs))).swapaxes(0, 1)
    groups = _at_one_centre(each, lambda one: one.groups.swapaxes(0, 1))
    return MultilevelDraws(
        replace(first.problem, data=data, pooled=pooled),
        in_turn(_at_one_centre(each, lambda one: one.average)),
        in_turn(groups).swapaxes(0, 1),
        scales,
        first.chains,
        ", ".join(sorted({one.engine for one in each})),
        worst_of([one.stats for one in each]),
        **optional,
    )


def _at_one_centre(
    each: Sequence[MultilevelDraws], of: Callable[[MultilevelDraws], Floats | None]
) -> Floats:
    """Coordinates, on the last axis, of shape (imputations, draws, ...)."""
    centre = each[0].problem.pooled.frame.centre
    moved = []
    for one in each:
        u, names = of(one), one.problem.pooled.curve.coordinates
        assert u is not None
        named = dict(zip(names, np.moveaxis(u, -1, 0), strict=True))
        at = at_centre(named, one.problem.pooled.frame.centre, centre)
        moved.append(np.stack([at[name] for name in names], axis=-1))
    return np.stack(moved)
