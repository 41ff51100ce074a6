"""to_datatree(): a posterior as ArviZ's users read it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import Floats
from bayescal.data.cases import as_scores
from bayescal.model.curves import as_curve
from bayescal.model.draws import Part
from bayescal.model.problem import Problem
from bayescal.posterior.observed import Observed
from bayescal.posterior.undefined import undefined_measures

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["DERIVED", "as_tree", "derived_of", "plain_coordinates", "tree_for_arviz"]

DERIVED = ("tce", "observed_expected", "calibration_slope")
"""Functionals of the group posterior, by their names, beside `event_prob`."""
NAMED_SCORES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Shares of the cases below the scores at which `event_prob` is given by default."""
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
    from bayescal.posterior.arviz_tree import PosteriorTree

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
