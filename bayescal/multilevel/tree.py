"""The posterior of several curves as an xarray.DataTree: written, read, and as ArviZ has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.data.stored import reading_tree
from bayescal.data.table import CalibrationData
from bayescal.multilevel.draws import Explained, MultilevelDraws, ProbCalibrated
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.posterior.stored import as_dataset, assembled, with_chains

if TYPE_CHECKING:
    import xarray as xr

CHAIN_DRAW = ("chain", "draw")


def multilevel_tree(free: MultilevelDraws, explained: Explained) -> xr.DataTree:
    """The groups of a fit of several curves: posterior, sample_stats, observed and constant data.

    Some of the posterior's draws are exactly calibrated: coordinates are zero. `free` has the same
    of the fit, in which none is.
    """
    from bayescal.posterior.datatree import Observed

    problem, drawn, exact = free.problem, explained.drawn, explained.prob_calibrated
    groups = {
        "posterior": dataset_of(drawn),
        "sample_stats": _stats(drawn),
        "observed_data": Observed(list(problem.tables.values())).data()["observed_data"],
        "constant_data": problem.data.to_xarray(),
    }
    named: dict[str, Any] = {}
    if exact is not None:
        groups["free"] = dataset_of(free).merge(_stats(free))
        named["prob_calibrated"] = exact._asdict()
    return assembled(groups, problem.to_attributes(), drawn.engine, named)


def _stats(drawn: MultilevelDraws) -> xr.Dataset:
    """How far draws can be trusted, and the evidence of each explanation."""
    import xarray as xr

    stats = xr.Dataset(drawn.stats)
    if drawn.log_evidence is not None:
        stats["explanation_log_evidence"] = ("explanation_number", drawn.log_evidence)
    return stats


def _variables(
    problem: MultilevelProblem,
) -> Iterator[tuple[str, str | None, dict[str, int | None]]]:
    """Each array of draws: its further dimension, and the column that each variable is of."""
    coordinates, varying, dim = problem.pooled.curve.coordinates, problem.varying, problem.dim
    at = {name: column for column, name in enumerate(coordinates)}
    own, correlated = _own(problem), problem.terms[0].correlated
    yield "average", None, {**at}
    yield "groups", dim, {f"{dim}_{name}": at[name] for name in own}
    if problem.walk is not None:
        yield "following", None, {f"next_{name}": column for name, column in at.items()}
    if problem.is_walk:
        yield "explanation", None, {"explanation": None}
    else:
        yield "scales", "term", {f"sd_{name}": column for column, name in enumerate(varying)}
    if correlated and len(varying) > 1:
        yield "correlation", None, {"correlation": None}
    if correlated and problem.terms[0].robust:
        yield "share_unlike", None, {"share_unlike": None}
    if problem.robust_term is not None:
        yield "unlike", dim, {f"{dim}_unlike": None}


def dataset_of(drawn: MultilevelDraws) -> xr.Dataset:
    """Draws by chain and draw."""
    problem, values = drawn.problem, {}
    for field, dim, columns in _variables(problem):
        array = getattr(drawn, field)
        array = array.astype(np.int8) if array.dtype == np.bool_ else array
        for name, column in columns.items():
            one = array if column is None else array[..., column]
            by_chain = with_chains(one if dim is None else one.T, drawn.chains)
            values[name] = by_chain if dim is None else ((*CHAIN_DRAW, dim), by_chain)
    coords = {problem.dim: list(problem.labels), "term": [term.name for term in problem.terms]}
    return as_dataset(values, coords, drawn.chains, drawn.size // drawn.chains)


@reading_tree()
def read_draws(tree: xr.DataTree) -> MultilevelDraws:
    """Read back the draws of the fit that `multilevel_tree` wrote."""
    data = CalibrationData.from_xarray(tree["constant_data"].to_dataset())
    problem = MultilevelProblem.from_attributes(tree.attrs, data)
    return _read(tree, "free" if "free" in tree.children else "posterior", problem)


@reading_tree()
def read_explained(tree: xr.DataTree, problem: MultilevelProblem) -> Explained | None:
    """Read back the draws of all components; None of NUTS, or if an earlier version wrote it."""
    if "free" not in tree.children:
        return None
    exact = ProbCalibrated(**json.loads(tree.attrs["prob_calibrated"]))
    return Explained(_read(tree, "posterior", problem), exact)


def _read(tree: xr.DataTree, group: str, problem: MultilevelProblem) -> MultilevelDraws:
    """The draws of a group."""
    posterior = tree[group].to_dataset()
    stats = posterior if group == "free" else tree["sample_stats"].to_dataset()
    dim = problem.dim
    if tuple(map(str, posterior[dim].to_numpy())) != problem.labels:
        raise InputError(f"the {dim}s of the tree's {group} are not those of its data.")

    def draws(name: str) -> Floats:
        """Of shape (draws, ...), chain by chain."""
        values = np.asarray(posterior[name].transpose(*CHAIN_DRAW, ...), np.float64)
        if not np.isfinite(values).all():
            raise InputError(f"the tree's {group} holds draws that are not finite. Refit the data.")
        return values.reshape(-1, *values.shape[2:])

    arrays: dict[str, Any] = {}
    for field, of, columns in _variables(problem):
        each = [draws(name) for name in columns]
        array = each[0] if None in columns.values() else np.stack(each, axis=-1)
        arrays[field] = array if of is None else array.swapaxes(0, 1)
    average, own = arrays["average"], arrays["groups"]
    columns_of_own = [problem.pooled.curve.coordinates.index(name) for name in _own(problem)]
    arrays["groups"] = np.repeat(average[None], len(problem.labels), axis=0)
    arrays["groups"][..., columns_of_own] = own
    if problem.is_walk:
        arrays["explanation"] = arrays["explanation"].astype(np.intp)
        arrays["log_evidence"] = np.asarray(stats["explanation_log_evidence"], np.float64)
        arrays["scales"] = np.empty((0, len(average), len(problem.varying)))
    elif problem.terms[0].correlated:
        arrays.setdefault("correlation", np.zeros(len(average)))
    if "unlike" in arrays:
        arrays["unlike"] = arrays["unlike"] > 0
    return MultilevelDraws(
        problem,
        **arrays,
        chains=posterior.sizes["chain"],
        engine=str(json.loads(tree.attrs["engine"])),
        stats={str(name): float(stats[name]) for name in stats.data_vars if not stats[name].dims},
    )


def _own(problem: MultilevelProblem) -> tuple[str, ...]:
    """Coordinates that groups do not share with the average."""
    return problem.pooled.curve.coordinates if problem.is_walk else problem.varying


def tree_of_several(post: Any, derived: bool, scores: ArrayLike | None) -> xr.DataTree:
    """The tree of several curves; see `MultilevelPosterior.to_datatree`."""
    from bayescal.posterior.datatree import Observed, as_tree, derived_of

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
