"""The posterior of several related curves as an xarray.DataTree: written, and read back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.core.versions import library_versions
from bayescal.data.stored import reading_tree
from bayescal.data.table import CalibrationData
from bayescal.multilevel.calibrated import Explained, ProbCalibrated
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.multilevel.problem import MultilevelProblem
from bayescal.multilevel.view import key_of_view
from bayescal.posterior.observed import Observed
from bayescal.posterior.stored import as_dataset, with_chains

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["dataset_of", "is_multilevel_tree", "multilevel_tree", "read_draws", "read_explained"]

CHAIN_DRAW = ("chain", "draw")


def multilevel_tree(free: MultilevelDraws, explained: Explained) -> xr.DataTree:
    """The groups of a fit of several curves: posterior, sample_stats, observed and constant data.

    Returns
    -------
    xarray.DataTree
        The posterior has the coordinates of the average (`shift`, ...); those of each group
        (`site_shift`, ..., by `site`, `period` or `cell`); the scales of each term (`sd_shift`,
        ..., by `term`) and their `correlation`; of a robust term the `share_unlike`, and of each
        group whether it is unlike the others (`site_unlike`); and of ordered periods those of the
        next (`next_shift`, ...) and, of these alone, the `explanation` of each draw: 0 for no
        change, k for a sudden change into the period of index k, and the number of periods for
        gradual drift. Some of these draws are exactly calibrated: coordinates are zero. `free` has
        the same of the fit, in which none is.
        Attributes describe the terms.
    """
    from bayescal.posterior.arviz_tree import PosteriorTree

    problem, drawn, exact = free.problem, explained.drawn, explained.prob_calibrated
    groups = {
        "posterior": dataset_of(drawn),
        "sample_stats": _stats(drawn),
        "observed_data": Observed(list(problem.tables.values())).data()["observed_data"],
        "constant_data": problem.data.to_xarray(),
    }
    if exact is not None:
        groups["free"] = dataset_of(free).merge(_stats(free))
    tree = PosteriorTree.from_dict(groups)
    versions = library_versions("bayescal", "numpy", "scipy", "arviz-stats")
    named = {"inference_library": "bayescal", "engine": drawn.engine, "versions": versions}
    if exact is not None:
        named["prob_calibrated"] = exact._asdict()
    tree.attrs.update(problem.to_attributes())
    tree.attrs.update({key: json.dumps(value) for key, value in named.items()})
    return tree


def _stats(drawn: MultilevelDraws) -> xr.Dataset:
    """How far draws can be trusted, and the evidence of each explanation."""
    import xarray as xr

    stats = xr.Dataset(drawn.stats)
    if drawn.log_evidence is not None:
        stats["explanation_log_evidence"] = ("explanation_number", drawn.log_evidence)
    return stats


def dataset_of(drawn: MultilevelDraws) -> xr.Dataset:
    """Draws by chain and draw."""
    problem, chains, dim = drawn.problem, drawn.chains, drawn.problem.dim
    values: dict[str, Any] = {}
    for column, name in enumerate(problem.pooled.curve.coordinates):
        values[name] = with_chains(drawn.average[:, column], chains)
        if name in _own(problem):
            by_group = with_chains(drawn.groups[:, :, column].T, chains)
            values[f"{dim}_{name}"] = ((*CHAIN_DRAW, dim), by_group)
        if drawn.following is not None:
            values[f"next_{name}"] = with_chains(drawn.following[:, column], chains)
    for column, name in enumerate(problem.varying if len(drawn.scales) else ()):
        by_term = with_chains(drawn.scales[:, :, column].T, chains)
        values[f"sd_{name}"] = ((*CHAIN_DRAW, "term"), by_term)
    if drawn.correlation is not None and len(problem.varying) > 1:
        values["correlation"] = with_chains(drawn.correlation, chains)
    if drawn.share_unlike is not None:
        values["share_unlike"] = with_chains(drawn.share_unlike, chains)
    if drawn.unlike is not None:
        unlike = with_chains(drawn.unlike.T.astype(np.int8), chains)
        values[f"{dim}_unlike"] = ((*CHAIN_DRAW, dim), unlike)
    if drawn.explanation is not None:
        values["explanation"] = with_chains(drawn.explanation, chains)
    coords = {dim: list(problem.labels), "term": [term.name for term in problem.terms]}
    return as_dataset(values, coords, chains, drawn.size // chains)


def is_multilevel_tree(tree: xr.DataTree) -> bool:
    """Whether a tree is that of several related curves, or of a view on one of them."""
    return "terms" in tree.attrs or key_of_view(tree) is not None


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
    names, varying, dim = problem.pooled.curve.coordinates, problem.varying, problem.dim
    if tuple(map(str, posterior[dim].to_numpy())) != problem.labels:
        raise InputError(f"the {dim}s of the tree's {group} are not those of its data.")

    def draws(name: str) -> Floats:
        """Of shape (draws, ...), chain by chain."""
        values = np.asarray(posterior[name].transpose(*CHAIN_DRAW, ...), np.float64)
        if not np.isfinite(values).all():
            raise InputError(f"the tree's {group} holds draws that are not finite. Refit the data.")
        return values.reshape(-1, *values.shape[2:])

    average = np.column_stack([draws(name) for name in names])
    groups = np.repeat(average[None], len(problem.labels), axis=0)
    for column, name in enumerate(names):
        if name in _own(problem):
            groups[:, :, column] = draws(f"{dim}_{name}").T
    common = (
        posterior.sizes["chain"],
        str(json.loads(tree.attrs["engine"])),
        {str(name): float(stats[name]) for name in stats.data_vars if not stats[name].dims},
    )
    following = None
    if problem.walk is not None:
        following = np.column_stack([draws(f"next_{name}") for name in names])
    if problem.is_walk:
        return MultilevelDraws(
            *(problem, average, groups, np.empty((0, len(average), len(varying))), *common),
            following=following,
            explanation=draws("explanation").astype(np.intp),
            log_evidence=np.asarray(stats["explanation_log_evidence"], np.float64),
        )
    scales = np.stack([draws(f"sd_{name}") for name in varying], axis=-1).transpose(1, 0, 2)
    correlation = None
    if problem.terms[0].correlated:
        correlation = draws("correlation") if len(varying) > 1 else np.zeros(len(average))
    robust: dict[str, Any] = {}
    if problem.robust_term is not None:
        robust["unlike"] = draws(f"{dim}_unlike").T > 0
    if problem.terms[0].robust and problem.terms[0].correlated:
        robust["share_unlike"] = draws("share_unlike")
    return MultilevelDraws(
        *(problem, average, groups, scales, *common),
        correlation=correlation,
        following=following,
        **robust,
    )


def _own(problem: MultilevelProblem) -> tuple[str, ...]:
    """Coordinates that groups do not share with the average."""
    return problem.pooled.curve.coordinates if problem.is_walk else problem.varying
