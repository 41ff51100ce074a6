"""RelatedCurves: what was fitted to several groups, and the view on each of their curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_flag, check_choice
from bayescal.core.text import shortened
from bayescal.data.cases import as_scores
from bayescal.data.table import CalibrationData
from bayescal.model.problem import Problem
from bayescal.multilevel.calibrated import Explained, explained
from bayescal.multilevel.changes import changes_of_prior
from bayescal.multilevel.compared import check_levels
from bayescal.multilevel.datatree import tree_of_several
from bayescal.multilevel.draws import MultilevelDraws, effects_of_prior, sites_of_prior
from bayescal.multilevel.own import OwnProblem, OwnView
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.term import Vary
from bayescal.multilevel.tree import multilevel_tree, read_draws, read_explained
from bayescal.multilevel.view import CurveView
from bayescal.posterior.stored import save_tree

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SELF_NAMED", "RelatedCurves"]

PERIOD = "period"
SELF_NAMED = ("site", PERIOD)
"""Axes that name their levels by themselves; those of a factor are named with the factor."""


class RelatedCurves:
    """What was fitted and drawn, kept as draws or as a tree, and the curves as views."""

    _free: MultilevelDraws
    """Draws of the fit, in which nothing is exactly calibrated."""

    def __init__(self, tree: xr.DataTree) -> None:
        self._tree, self._free = tree, read_draws(tree)
        stored = read_explained(tree, self._free.problem)
        if stored is not None:
            self._explained = stored
        if not self._serves(self.problem):
            raise InputError(
                f"the tree is not that of a {type(self).__name__}. Read its file with "
                "bayescal.load."
            )

    @staticmethod
    def _serves(problem: MultilevelProblem) -> bool:
        """Whether a fit of this problem is of this class."""
        return True

    @classmethod
    def of_draws(cls, drawn: MultilevelDraws) -> Self:
        """A posterior whose tree is written when it is first read."""
        posterior = cls.__new__(cls)
        posterior._free = drawn
        return posterior

    @cached_property
    def _tree(self) -> xr.DataTree:
        return multilevel_tree(self._free, self._explained)

    @cached_property
    def _explained(self) -> Explained:
        return explained(self._free)

    @property
    def _drawn(self) -> MultilevelDraws:
        """The draws that every number is read from, some of them exactly calibrated."""
        return self._explained.drawn

    @property
    def tree(self) -> xr.DataTree:
        """The `xarray.DataTree` in ArviZ's schema; coordinates have a dim for the curves."""
        return self._tree

    def to_datatree(self, derived: bool = False, scores: ArrayLike | None = None) -> xr.DataTree:
        """The posterior as a tree for ArviZ; see `CalibrationPosterior.to_datatree`.

        Parameters
        ----------
        derived : bool
            Whether the group posterior has `tce`, `observed_expected`, `calibration_slope` and
            `event_prob` of all cases together, the average's coordinates and the scales, in place
            of the coordinates of each curve.
        scores : array-like of shape (k,), optional

        Returns
        -------
        xarray.DataTree
            With the index of each observation's curve, such as `site_of_obs`, in constant_data.
        """
        return tree_of_several(self, as_flag(derived, "derived"), scores)

    def to_netcdf(self, path: str | PathLike[str]) -> None:
        """Write the tree to a NetCDF file; `bayescal.load` reads it back.

        Parameters
        ----------
        path : str or path-like
        """
        save_tree(self.tree, path)

    @property
    def problem(self) -> MultilevelProblem:
        """The tables, the family of curves, the terms and the priors."""
        return self._free.problem

    @property
    def data(self) -> CalibrationData:
        """The table that was fitted, with its groups; scores alone if there are no patients."""
        data = self.problem.data
        return data if self.has_outcomes else data.without_outcomes()

    @property
    def has_outcomes(self) -> bool:
        """Whether there are groups with patients, beside sites known by their summaries."""
        return self.problem.has_outcomes

    @property
    def imputations(self) -> tuple[Self, ...]:
        """The posterior of each imputation; empty where nothing was imputed."""
        return ()

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """What curves are told apart by, such as site, or sex and age, with its levels in order."""
        return dict(self.problem.axes)

    @property
    def vary(self) -> tuple[Vary, ...]:
        """The terms that curves vary by, as `bayescal.fit` takes them."""
        return tuple(
            Vary(
                term.axes,
                term.kind,
                term.robust if len(term.axes) > 1 or term.robust != term.correlated else None,
            )
            for term in self.problem.terms
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the curves, in order: of the sites, of the periods in time, or of the cells."""
        axes = self.problem.axes
        return next(iter(axes.values())) if len(axes) == 1 else self.problem.labels

    @property
    def centre(self) -> float:
        """Score at which the shift acts: that of the mean log-odds of all scores."""
        return self.problem.pooled.frame.centre

    @property
    def draws(self) -> int:
        """Number of draws, over all chains."""
        return self._free.size

    @property
    def engine(self) -> str:
        """The engine that drew it: "importance" or "nuts"."""
        return self._free.engine

    @property
    def diagnostics(self) -> dict[str, float | str]:
        """How far the draws can be trusted.

        Returns
        -------
        dict
            For importance: pareto_k (above 0.7 is bad; of periods, the worst of an explanation with
            at least a hundredth of the draws), ess, log_evidence and its error, and of sites
            site_ess, the least share of a site's proposals that count. For NUTS: the largest r_hat,
            the smallest ess, and divergences. `verdict` is "ok" or says what is wrong.
        """
        return {"engine": self.engine, **self._free.stats, "verdict": self._free.verdict}

    @property
    def prob_calibrated(self) -> dict[str, float] | None:
        """Probability of exact calibration, of every site and of the average site.

        Each of three models explains the data: the curve of every site is the diagonal, with prior
        probability 0.01; that of the average site is, and the sites' differ from it, with 0.11;
        neither. `average_site` is the probability of the first two together. Of ordered periods
        the first is exactly calibrated with prior probability 0.2, and every one with 0.1.

        Returns
        -------
        dict or None
            every_site and average_site: of several factors that every cell is exactly calibrated,
            or the average; of periods that every period is, or the first. None where NUTS drew,
            which computes no evidence.
        """
        exact = self._explained.prob_calibrated
        return None if exact is None else exact._asdict()

    def at(self, levels: Mapping[str, Any] | None = None, /, **by_name: Any) -> CurveView:
        """The posterior of the curve at some levels, which answers as any posterior does.

        Parameters
        ----------
        levels : mapping of str to str, optional
            The level of each axis that matters; for axes whose names are no Python names.
        **by_name
            The same, as `site="A"` or `sex="F", age="80+"`. All cases, if there are none.

        Returns
        -------
        CalibrationPosterior
            Of the cases with all of these levels. If they are of several groups its curve is, at
            each score, the mean of the curves of the groups, weighted by how many of the cases near
            that score each has.

        Raises
        ------
        InputError
            If there is no such axis or level, or no case has all of the levels.
        """
        problem = self.problem
        chosen = check_levels(problem.axes, problem.cells, as_mapping(levels) | by_name)
        return self._kept({"at": chosen}, lambda: self._at(chosen))

    def _at(self, levels: dict[str, str]) -> CurveView:
        problem, groups = self.problem, self.problem.groups_with(levels)
        if len(groups) > 1 and problem.has_outcomes:
            groups = [k for k in groups if problem.labels[k] not in problem.summaries]
        title = ", ".join(
            level if axis in SELF_NAMED else f"{axis} {level}" for axis, level in levels.items()
        )
        title = title or "All cases"
        observed = not any(problem.labels[k] in problem.summaries for k in groups)
        return self._view(
            title,
            problem.together(title, groups),
            lambda drawn: _side_by_side(drawn.groups[groups]),
            has_outcomes=observed,
        )

    def own(self) -> CurveView:
        """The posterior of these patients, each with the curve of their own group.

        Its distances are those of each patient's risk from the score, averaged over patients. In
        those of the pooled curve, `at()`, errors of groups cancel, and in O/E of either.

        Returns
        -------
        CalibrationPosterior
            Its measures; the curve itself is the pooled one.

        Raises
        ------
        InputError
            If there are no patients.
        """
        if not self.has_outcomes:
            raise InputError(
                "own() is of patients, and all sites are known by their summaries. Ask for at() "
                "of a site, average() or new()."
            )
        return self._kept({"own": True}, self._of_own)

    def _of_own(self) -> CurveView:
        problem = self.problem
        groups = [problem.labels.index(label) for label in problem.data.groups]
        title, parts = "These patients, with their own curves", tuple(problem.tables.values())
        together = problem.together(title, groups)
        rows = OwnProblem.of(together, parts)
        return self._view(
            *(title, together, lambda drawn: _side_by_side(drawn.groups[groups])),
            kind=OwnView,
            rows=rows,
            weights=rows.weights(problem.data),
        )

    def now(self, levels: Mapping[str, Any] | None = None, /, **by_name: Any) -> CurveView:
        """The posterior of the curve of the last period, where curves change with time.

        Parameters
        ----------
        levels : mapping of str to str, optional
            Levels of other axes, as `at` takes them.
        **by_name
            The same, as `site="A"`.

        Returns
        -------
        CalibrationPosterior

        Raises
        ------
        InputError
            If there are no periods, or as `at`.
        """
        walk, given = self.problem.walk, as_mapping(levels) | by_name
        name = PERIOD if walk is None else walk.name
        periods = self.levels.get(name)
        check_levels(self.problem.axes, self.problem.cells, given)
        if periods is None:
            raise InputError(
                f"now() is the last period, and there are levels of {' and '.join(self.levels)} "
                "alone. Fit data that say with period= when each case was, or ask for at(), "
                "average() or new()."
            )
        if name in given:
            raise InputError(
                f"now() is the last {name}, {periods[-1]!r}, and {name}={given[name]!r} was "
                f"given. Use at({name}=...) for another."
            )
        return self.at(given | {name: periods[-1]})

    def average(self) -> CurveView:
        """The posterior of the curve without effects, over the scores of all cases.

        Of sites it is that of the average site, the centre of those that are like each other; of
        ordered periods alone that of one curve for all of them, the answer were there no change.
        Where other terms stand beside periods it is the average in the last period.

        Returns
        -------
        CalibrationPosterior
        """
        return self._kept({"average": True}, self._of_average)

    def _of_average(self) -> CurveView:
        walk = self.problem.walk
        title = f"The average of {self._counted}"
        if self._is_walk:
            title = f"One curve for {self._counted}"
        elif walk is not None:
            title += f", in {walk.levels[-1]}"
        return self._view(
            title,
            self.problem.pooled,
            lambda drawn: drawn.average,
            has_outcomes=self.has_outcomes,
            exact=None if self._is_walk else "average_site",
        )

    def new(self, by: str | None = None, scores: ArrayLike | None = None) -> CurveView:
        """What a level that has not been seen will meet: a new site, or the next period.

        Parameters
        ----------
        by : str, optional
            What the level is of; it may be left out where all curves are of one axis. Effects of
            other axes are those of the average; of periods, those of the last one.
        scores : array-like of shape (n,), optional
            Its scores; by default those of all cases, of the next period those of the last one.

        Returns
        -------
        CalibrationPosterior
            Of the next period alone, the curve is one step on where curves drift, and as it is
            where the explanation is no change or a sudden one. Beside other terms it is that of
            the average, one step on.

        Raises
        ------
        InputError
            If there is no such axis, or a score is outside [0, 1].
        """
        return self._new(by, scores, "scores")

    def _new(self, by: str | None, scores: ArrayLike | None, named: str) -> CurveView:
        """A new level, with scores that the user calls so."""
        axis = self._one_axis(by)
        if scores is None:
            return self._kept({"new": axis}, lambda: self._of_new(axis, None, None))
        values = as_scores(scores, named)
        return self._of_new(axis, CalibrationData(np.zeros(values.size), values), values)

    def _of_new(self, axis: str, data: CalibrationData | None, scores: Floats | None) -> CurveView:
        problem = self.problem.pooled
        key: dict[str, Any] = {"new": axis}
        if scores is not None:
            key["scores"] = scores.tolist()
        walk = self.problem.walk
        if walk is not None and axis == walk.name:
            last = self.now().problem
            problem = last if self._is_walk else replace(problem, data=last.data, seed=last.seed)
            title = f"The next {axis}"
        else:
            title = f"A new {axis}" if axis in SELF_NAMED else f"A new level of {axis}"
        return self._view(
            title,
            problem if data is None else replace(problem, data=data),
            lambda drawn: _of_new_level(drawn, axis),
            key=key,
            is_new=True,
        )

    def _kept(self, key: dict[str, Any], make: Callable[[], CurveView]) -> CurveView:
        """A view, made once."""
        name = repr(key)
        if name not in self._views:
            view = make()
            view._key = key
            self._views[name] = view
        return self._views[name]

    @cached_property
    def _views(self) -> dict[str, CurveView]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the views, which are made again when they are asked for."""
        return {name: value for name, value in self.__dict__.items() if name != "_views"}

    def _view(
        self,
        title: str,
        problem: Problem,
        of: Callable[[MultilevelDraws], Floats],
        key: dict[str, Any] | None = None,
        exact: str | None = "every_site",
        kind: type[CurveView] = CurveView,
        **options: Any,
    ) -> CurveView:
        """The view on the curve whose coordinates `of` takes from draws of all curves.

        `exact` says which of the probabilities of exact calibration is that of the curve, if any.
        """
        known = self._explained.prob_calibrated
        return kind.of_curve(
            *(title, problem, of(self._drawn), of(self._prior)),
            None if known is None or exact is None else getattr(known, exact),
            *(self._drawn, key or {}, lambda: self.tree),
            **options,
        )

    def _view_of(self, key: Mapping[str, Any]) -> CurveView:
        """The view that a key in a stored tree names."""
        if "at" in key:
            return self.at(key["at"])
        if "own" in key:
            return self.own()
        return self.new(key["new"], key.get("scores")) if "new" in key else self.average()

    @cached_property
    def _prior(self) -> MultilevelDraws:
        """As many prior draws, which are the same whenever they are asked for."""
        drawn, of_prior = self._free, effects_of_prior
        if self._is_walk:
            of_prior = changes_of_prior
        elif drawn.correlation is not None:
            of_prior = sites_of_prior
        return of_prior(drawn.problem, drawn.size, drawn.chains)

    @property
    def _is_walk(self) -> bool:
        return self.problem.is_walk

    @property
    def _counted(self) -> str:
        """How many curves there are, of what."""
        walk = None if self._is_walk else self.problem.walk
        levels = {name: each for name, each in self.levels.items() if not walk or name != walk.name}
        (name, each), *more = levels.items()
        if more:
            return f"{len(self.problem.labels)} cells"
        return f"{len(each)} {name}s" if name in SELF_NAMED else f"{len(each)} levels of {name}"

    def _one_axis(self, by: Any) -> str:
        """The axis that is named, or the only one."""
        names = list(self.levels)
        return names[0] if by is None and len(names) == 1 else check_choice(by, names, "by")


def as_mapping(levels: Any) -> dict[str, Any]:
    """Levels by axis, as they are given by position."""
    given = {} if levels is None else levels
    if not isinstance(given, Mapping):
        raise InputError(
            "levels must be a level for each of some factors, such as {'sex': 'F'}, got "
            f"{shortened(repr(given))}."
        )
    return dict(given)


def _side_by_side(groups: Floats) -> Floats:
    """Coordinates of groups, of shape (groups, draws, d), as (draws, groups * d)."""
    return np.asarray(groups.transpose(1, 0, 2).reshape(groups.shape[1], -1))


def _of_new_level(drawn: MultilevelDraws, axis: str) -> Floats:
    """Coordinates of a level that has not been seen, of shape (draws, d)."""
    if drawn.problem.is_walk:
        assert drawn.following is not None
        return drawn.following
    if drawn.engine == "prior" and drawn.correlation is not None:
        return np.asarray(drawn.groups[0])  # a prior draw of a level: all are alike
    return drawn.of_new_level(axis)
