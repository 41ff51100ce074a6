"""to_datatree() of several curves, by the names that the tree of one curve has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.errors import InputError
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.tree import dataset_of
from bayescal.posterior.datatree import Observed, as_tree, derived_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["tree_of_several"]


def tree_of_several(post: Any, derived: bool, scores: ArrayLike | None) -> xr.DataTree:
    """The tree of several curves; see `MultilevelPosterior.to_datatree`."""
    fit, *others = post._fits
    if others:
        raise InputError(
            "ArviZ has no place for several imputations. Take that of one: "
            "post.sel(imputation=1).to_datatree()."
        )
    drawn: MultilevelDraws = fit.drawn
    problem, stored = drawn.problem, fit.tree
    posterior = stored["posterior"].to_dataset()
    if derived:
        of_all = posterior.drop_dims(problem.dim)
        scales = {name: each for name, each in of_all.items() if "term" in each.dims}
        posterior = derived_of(post.at(), of_all, scores).assign(scales)
    groups = {"posterior": posterior, "sample_stats": stored["sample_stats"].to_dataset()}
    of_prior: MultilevelDraws = fit.prior
    groups["prior"] = dataset_of(of_prior)
    if not problem.has_outcomes:
        return as_tree(groups, stored.attrs)
    at = [problem.labels.index(label) for label in problem.tables]
    seen, chains = Observed(list(problem.tables.values())), drawn.chains
    groups |= seen.data()
    of_obs = ("obs", np.array(at, np.intp)[seen.of_curve()])
    groups["constant_data"] = groups["constant_data"].assign({f"{problem.dim}_of_obs": of_obs})
    own, before = ([each.groups[k] for k in at] for each in (drawn, of_prior))
    groups["posterior_predictive"] = seen.predicted(own, chains, "predictive")
    groups["prior_predictive"] = seen.predicted(before, chains, "prior predictive")
    likelihood = seen.log_likelihood(own, chains)
    if likelihood is not None:
        groups["log_likelihood"] = likelihood
    return as_tree(groups, stored.attrs)
