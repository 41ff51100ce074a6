"""Curves: draws of several curves of one table, and each of them as a part of a posterior."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.data.cases import as_scores
from bayescal.data.table import CalibrationData
from bayescal.model.draws import OneOf, Part
from bayescal.model.problem import Problem
from bayescal.multilevel.calibrated import Explained, explained
from bayescal.multilevel.changes import changes_of_prior
from bayescal.multilevel.draws import MultilevelDraws, effects_of_prior, sites_of_prior
from bayescal.multilevel.mixture import OwnProblem
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.tree import multilevel_tree, read_draws, read_explained

if TYPE_CHECKING:
    import xarray as xr


# Axes that name their levels by themselves; those of a factor are named with the factor.
SELF_NAMED = ("site", "period")


@dataclass(frozen=True, eq=False)
class Curves:
    """Draws of several curves of one table; each curve of them is a part of a posterior.

    In those of the fit, `free`, nothing is exactly calibrated; `known` is what was stored of
    `explained`.
    """

    free: MultilevelDraws
    known: Explained | None = None

    @classmethod
    def of_tree(cls, tree: xr.DataTree) -> Curves:
        """Read back what `tree` wrote."""
        free = read_draws(tree)
        return cls(free, read_explained(tree, free.problem))

    @property
    def problem(self) -> MultilevelProblem:
        """The tables, the family of curves, the terms and the priors."""
        return self.free.problem

    @cached_property
    def explained(self) -> Explained:
        """The draws that every number is read from, some of them exactly calibrated."""
        return explained(self.free) if self.known is None else self.known

    @property
    def drawn(self) -> MultilevelDraws:
        """The draws of `explained`."""
        return self.explained.drawn

    @cached_property
    def prior(self) -> MultilevelDraws:
        """As many prior draws, which are the same whenever they are asked for."""
        of_prior = effects_of_prior
        if self.problem.is_walk:
            of_prior = changes_of_prior
        elif self.free.correlation is not None:
            of_prior = sites_of_prior
        return of_prior(self.problem, self.free.size, self.free.chains)

    @cached_property
    def tree(self) -> xr.DataTree:
        """The tree of all curves."""
        return multilevel_tree(self.free, self.explained)

    def part(self, key: Mapping[str, Any]) -> Part:
        """One curve, or that of each case's own group.

        By {"at": levels}, {"own": levels}, {"average": True}, or {"new": axis} with or without its
        "scores".
        """
        kinds = {"at": self._at, "own": self._own, "average": self._average, "new": self._new}
        return next(make(key) for kind, make in kinds.items() if kind in key)

    def _at(self, key: Mapping[str, Any]) -> Part:
        """The cases with some levels, whose curve is the mixture of those of their groups."""
        problem, groups = self.problem, self.problem.groups_with(key["at"])
        if len(groups) > 1 and problem.has_outcomes:
            groups = [k for k in groups if problem.labels[k] not in problem.summaries]
        title = ", ".join(
            level if axis in SELF_NAMED else f"{axis} {level}" for axis, level in key["at"].items()
        )
        title = title or "All cases"
        seen = not any(problem.labels[k] in problem.summaries for k in groups)
        which = OneOf(title, key, self, has_outcomes=seen)
        return self._part(
            which,
            problem.together(title, key["at"], groups),
            lambda drawn: _side_by_side(drawn, groups),
        )

    def _own(self, key: Mapping[str, Any]) -> Part:
        """The cases with some levels, each row with the curve of its own group."""
        problem, levels = self.problem, key["own"]
        data = problem.data.select(**levels) if levels else problem.data
        at = {cell: k for k, cell in enumerate(problem.cells)}
        groups = [at[tuple((levels | cell)[axis] for axis in problem.axes)] for cell in data.cells]
        if len(groups) < 2:
            return self._at({"at": levels})
        whose = f"The patients of {', '.join(levels.values())}" if levels else "These patients"
        which = OneOf(f"{whose}, with their own curves", key, self)
        together = problem.together(which.title, levels, groups)
        rows = OwnProblem.of(together, tuple(problem.groups[problem.labels[k]] for k in groups))
        part = self._part(which, together, lambda drawn: _side_by_side(drawn, groups))
        return replace(part, rows=rows, law=rows.weights(data))

    def _average(self, key: Mapping[str, Any]) -> Part:
        problem = self.problem
        title = f"The average of {counted(problem)}"
        if problem.is_walk:
            title = f"One curve for {counted(problem)}"
        elif problem.walk is not None:
            title += f", in {problem.walk.levels[-1]}"
        which = OneOf(title, key, self, has_outcomes=problem.has_outcomes)
        exact = None if problem.is_walk else "average_site"
        return self._part(which, problem.pooled, lambda drawn: drawn.average, exact)

    def _new(self, key: Mapping[str, Any]) -> Part:
        axis, pooled, walk = key["new"], self.problem.pooled, self.problem.walk
        title = f"A new {axis}" if axis in SELF_NAMED else f"A new level of {axis}"
        if walk is not None and axis == walk.name:
            title = f"The next {axis}"
            last = self.part({"at": {axis: walk.levels[-1]}}).problem
            is_walk = self.problem.is_walk
            pooled = last if is_walk else replace(pooled, data=last.data, seed=last.seed)
        if "scores" in key:
            scores = as_scores(key["scores"], "scores")
            pooled = replace(pooled, data=CalibrationData(np.zeros(scores.size), scores))
        which = OneOf(title, key, self, is_new=True, has_outcomes=False)
        return self._part(which, pooled, lambda drawn: _of_new_level(drawn, axis))

    def _part(
        self,
        which: OneOf,
        problem: Problem,
        of: Callable[[MultilevelDraws], Floats],
        exact: str | None = "every_site",
    ) -> Part:
        """The part whose coordinates `of` takes from draws of all curves.

        `exact` says which of the probabilities of exact calibration is that of the curve, if any.
        """
        known, drawn = self.explained.prob_calibrated, self.drawn
        return Part(
            *(problem, of(drawn), drawn.chains, drawn.engine, drawn.stats),
            prior=of(self.prior),
            of_several=None if known is None or exact is None else getattr(known, exact),
            one_of=which,
        )


def counted(problem: MultilevelProblem) -> str:
    """How many curves there are, of what."""
    walk = None if problem.is_walk else problem.walk
    axes = [(name, each) for name, each in problem.axes.items() if not walk or name != walk.name]
    if len(axes) > 1:
        return f"{len(problem.labels)} cells"
    ((name, each),) = axes
    return f"{len(each)} {name}s" if name in SELF_NAMED else f"{len(each)} levels of {name}"


def _side_by_side(drawn: MultilevelDraws, groups: list[int]) -> Floats:
    """Coordinates of groups, as (draws, groups * d)."""
    return np.asarray(drawn.groups[groups].transpose(1, 0, 2).reshape(drawn.size, -1))


def _of_new_level(drawn: MultilevelDraws, axis: str) -> Floats:
    """Coordinates of a level that has not been seen, of shape (draws, d)."""
    if drawn.problem.is_walk:
        assert drawn.following is not None
        return drawn.following
    if drawn.engine == "prior" and drawn.correlation is not None:
        return np.asarray(drawn.groups[0])  # a prior draw of a level: all are alike
    return drawn.of_new_level(axis)
