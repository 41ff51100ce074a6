"""A posterior as ArviZ's users read it: its tree, the observations in it, and to_datatree()."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from bayescal.core.arrays import Floats
from bayescal.data.cases import as_scores
from bayescal.model.curves import as_curve
from bayescal.model.draws import Part
from bayescal.model.law import BINOMIAL
from bayescal.model.problem import Problem
from bayescal.model.pymc import MOST_CASES, cases_of_table
from bayescal.model.times import cases_of_times
from bayescal.posterior.functionals import undefined_measures

# What the log likelihood of cases in clusters is not.
OF_SINGLE_CASES = (
    "Of single cases, as if they were independent: leave-one-out of this group does not leave out "
    "whole clusters. bayescal.compare(...).loo does."
)
# Draws that are on the diagonal, or the same draw many times, have equal likelihoods.
# `arviz_stats.loo` divides by a quartile of the largest weights less their smallest, which is then
# 0, and its answer was NaN in 3 of 4 data sets. With this the elpd of 400 cases is within .06 of
# that of ArviZ 0.23.
# Standard deviation of what is added to log likelihoods where more than so many are equal.
BESIDE_TIES, MOST_TIES = 1e-3, 8


class PosteriorTree(xr.DataTree):  # type: ignore[no-untyped-call]
    """An `xarray.DataTree` in ArviZ's schema, which an older ArviZ is told how to read.

    The package `arviz` before version 1, which is the last one for Python 3.11, reads no
    `DataTree`. It asks for an array of it, and is told which module reads the tree.
    """

    __slots__ = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            "a tree is no array, and arviz before version 1 cannot read it. Pass it as "
            "arviz.from_datatree(post.to_datatree()), or call the same function of arviz_stats or "
            "arviz_plots, which are installed with bayescal: arviz_stats.summary(post.tree), "
            "arviz_plots.plot_forest(post.tree)."
        )


class Observed:
    """The observations of one curve or of several, in the order of their scores, events first.

    The order does not depend on how many curves there are, so that leave-one-out compares them.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        each = [cases_of_table(problem.data) for problem in self.problems]
        many = sum(problem.data.n for problem in self.problems) > MOST_CASES
        self.are_cases = not many and all(one is not None for one in each)
        self._rows: list[Any] = []
        for problem, cases in zip(self.problems, each, strict=True):
            if self.are_cases and cases is not None:
                self._rows.append((cases[0], np.ones(cases[0].size), cases[1]))
            else:
                table = problem.table
                self._rows.append((slice(None), table.trials, problem.data.hits))

        score = [p.data.score[row] for p, (row, *_) in zip(problems, self._rows, strict=True)]
        self._of_curve = np.repeat(np.arange(len(score)), [each.size for each in score])
        self._score = np.concatenate([np.empty(0), *score])
        events = np.concatenate([np.empty(0), *(each for *_, each in self._rows)])
        self._order = np.lexsort((-events, self._score))

    def data(self) -> dict[str, xr.Dataset]:
        """The groups observed_data and constant_data."""
        coords = {"obs": np.arange(self._order.size)}
        trials, events = (
            np.concatenate([np.empty(0), *(rows[at] for rows in self._rows)])[self._order]
            for at in (1, 2)
        )
        given = {"score": ("obs", self._score[self._order]), "trials": ("obs", trials)}
        return {
            "observed_data": xr.Dataset({"y": ("obs", events)}, coords),
            "constant_data": xr.Dataset(given, coords),
        }

    def of_curve(self) -> NDArray[np.intp]:
        """Which curve each observation is of."""
        return self._of_curve[self._order]

    def predicted(self, draws: Sequence[Floats], chains: int, purpose: str) -> xr.Dataset:
        """Events drawn anew, given draws `u` of each curve."""
        each = []
        for problem, u, (row, trials, _) in zip(self.problems, draws, self._rows, strict=True):
            prob = expit(problem.curves_at(problem.data.score).log_odds(u))[:, row]
            rng = problem.rng(purpose)
            if self.are_cases:
                each.append((rng.random(prob.shape) < prob).astype(np.int8))
            else:
                cases = np.rint(trials).astype(np.int64)
                each.append(problem.likelihood.draw(rng, cases, prob).astype(np.int32))
        return _by_obs(np.concatenate(each, axis=1)[:, self._order], chains)

    def log_likelihood(self, draws: Sequence[Floats], chains: int) -> xr.Dataset | None:
        """Of each case; None where there is no such number.

        Of times to an event it is of each kind of case, `followed` by `kind`.
        """
        if not self.are_cases:
            (problem, *others), (u, *_) = self.problems, draws
            if others or problem.likelihood.is_linear or problem.data.n > MOST_CASES:
                return None
            return _by_obs(cases_of_times(problem, u)[0], chains, "followed", "kind")
        each = []
        for problem, u, (row, _, events) in zip(self.problems, draws, self._rows, strict=True):
            log_odds = problem.curves_at(problem.data.score).log_odds(u)
            event, other = (BINOMIAL.log_case(which, log_odds)[:, row] for which in (True, False))
            told = np.where(events == 1, event, other)
            if np.unique(told[:, 0], return_counts=True)[1].max() > MOST_TIES:
                told += BESIDE_TIES * problem.rng("ties").standard_normal(told.shape)
            each.append(told)
        by_case = _by_obs(np.concatenate(each, axis=1)[:, self._order], chains)
        clusters = [problem.data.clusters for problem in self.problems]
        if any(one is not None and not one.are_single for one in clusters):
            by_case.attrs["note"] = OF_SINGLE_CASES
        return by_case


def _by_obs(values: NDArray[Any], chains: int, name: str = "y", dim: str = "obs") -> xr.Dataset:
    shaped = values.reshape(chains, -1, values.shape[1])
    coords = {
        "chain": np.arange(chains),
        "draw": np.arange(shaped.shape[1]),
        dim: np.arange(values.shape[1]),
    }
    return xr.Dataset({name: (("chain", "draw", dim), shaped)}, coords)


# Functionals of the group posterior, by their names, beside `event_prob`.
DERIVED = ("tce", "observed_expected", "calibration_slope")
# Shares of the cases below the scores at which `event_prob` is given by default.
NAMED_SCORES = (0.05, 0.25, 0.5, 0.75, 0.95)
ONLY_STORED = ("exact", "family")


def tree_for_arviz(post: Any, derived: bool, scores: ArrayLike | None) -> xr.DataTree:
    """The tree of the posterior of one curve; see `CalibrationPosterior.to_datatree`."""
    stored = post.tree
    groups = {
        name: stored[name].to_dataset()
        for name in ("sample_stats", "log_likelihood", "posterior_predictive", "log_prior")
        if name in stored.children
    }
    for name in ("posterior", "prior"):
        if name in stored.children:
            groups[name] = plain_coordinates(stored[name].to_dataset(), post.problem, stored.attrs)
    if derived:
        groups["posterior"] = derived_of(post, groups["posterior"], scores)
    parts: Sequence[Part] = post._parts
    if len(parts) == 1 and post.has_outcomes:
        (part,) = parts
        seen = Observed([part.problem])
        groups |= seen.data()
        if "prior" in groups:
            drawn, _ = part.draw_prior()
            groups["prior_predictive"] = seen.predicted([drawn], part.chains, "prior predictive")
    return as_tree(groups, stored.attrs)


def as_tree(groups: Mapping[str, xr.Dataset], attributes: Mapping[Any, Any]) -> xr.DataTree:
    """A tree of these groups, which says what an older ArviZ is to do with it."""
    tree = PosteriorTree.from_dict(dict(groups))
    named = ("inference_library", "engine", "curve", "versions")
    tree.attrs.update({name: attributes[name] for name in named if name in attributes})
    return tree


def plain_coordinates(
    drawn: xr.Dataset, problem: Problem, attributes: Mapping[Any, Any]
) -> xr.Dataset:
    """Draws of the coordinates, without those that follow from others.

    Of an average the family of each draw, and whether it is exactly calibrated, are coordinates of
    the draws; a variable is NaN where the family of the draw does not have it.
    """
    if "family" not in drawn:
        return drawn[[name for name in drawn.data_vars if name in problem.curve.variables]]
    names = list(json.loads(attributes["families"]))
    index = drawn["family"].astype(int)
    family = np.array(names)[index]
    variables = {name: set(as_curve(name).at(problem.frame).variables) for name in names}
    kept = {}
    for variable in drawn.data_vars:
        name = str(variable)
        of = [k for k, each in enumerate(names) if _has(name, each, variables[each])]
        if name not in ONLY_STORED and of:
            kept[name] = drawn[name].where(index.isin(of))
    told = {"family": (("chain", "draw"), family)}
    if "exact" in drawn:
        told["exactly_calibrated"] = (("chain", "draw"), drawn["exact"].to_numpy() != 0)
    return drawn.drop_vars(list(drawn.data_vars)).assign(kept).assign_coords(told)


def _has(variable: str, family: str, own: set[str]) -> bool:
    """Whether a family has a variable of the average, under its own name or after its own."""
    return variable in own or variable in {f"{family}_{name}" for name in own}


def derived_of(post: Any, drawn: xr.Dataset, scores: ArrayLike | None) -> xr.Dataset:
    """What a person asks of a curve, before its coordinates.

    Left out are coordinates that are numbered, such as the deviations of a spline, and those of an
    average, whose meaning depends on the family.
    """
    undefined = undefined_measures([part.problem for part in post._parts])
    values = {name: post.functional(name) for name in DERIVED if name not in undefined}
    at = _scores(post.data.score, post.data.trials) if scores is None else as_scores(scores)
    curve = post.curve(at)
    of_draws = {} if "family" in drawn.coords else dict(drawn.data_vars)
    plain = {name: each for name, each in of_draws.items() if set(each.dims) == {"chain", "draw"}}
    made = drawn.drop_vars(list(drawn.data_vars))
    asked: dict[str, Any] = {
        name: (("chain", "draw"), each.to_numpy()) for name, each in values.items()
    }
    asked["event_prob"] = (("chain", "draw", "score"), curve.to_numpy())
    shown = made.assign(asked).assign_coords(score=at).assign(plain)
    unused = set(shown.dims) - {dim for each in shown.data_vars.values() for dim in each.dims}
    return shown.drop_dims(list(unused))


def _scores(score: Floats, trials: Floats) -> Floats:
    """Scores that few, a quarter, half, ... of the cases are below, of two digits."""
    below = (np.cumsum(trials) - trials / 2) / trials.sum()
    at = np.interp(NAMED_SCORES, below, score)
    return np.unique([float(f"{each:.2g}") for each in at])
