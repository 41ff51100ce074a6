"""The posterior of crossed subgroups as an xarray.DataTree: its draws, and its dims."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.versions import library_versions
from bayescal.data.data import CalibrationData
from bayescal.data.stored import reading_tree
from bayescal.multilevel.factors.problem import SubgroupsProblem
from bayescal.multilevel.posterior.effect_draws import DrawnEffects
from bayescal.posterior.tree import as_dataset, with_chains

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["DrawnSubgroups", "is_subgroup_tree", "read_subgroups", "subgroups_tree"]


@dataclass(frozen=True)
class DrawnSubgroups:
    """What was fitted to crossed subgroups, and the draws: all that a tree is written from.

    Attributes
    ----------
    problem : SubgroupsProblem
    average : ndarray of shape (draws, d)
        Working coordinates of the average cell, chain by chain.
    scales : ndarray of shape (draws, terms, r)
        Standard deviations of the coordinates that differ: between the levels of each factor, and
        of the interaction.
    cells : ndarray of shape (cells, draws, d)
        Working coordinates of each cell.
    chains : int
    engine : str
    stats : dict of str to float
        As of `DrawnSites`.
    """

    problem: SubgroupsProblem
    average: Floats
    scales: Floats
    cells: Floats
    chains: int
    engine: str
    stats: dict[str, float]

    @classmethod
    def of_effects(cls, problem: SubgroupsProblem, drawn: DrawnEffects) -> DrawnSubgroups:
        """Draws of sums of effects."""
        scales = np.stack(drawn.scales, axis=1)
        return cls(
            problem, drawn.average, scales, drawn.groups, drawn.chains, drawn.engine, drawn.stats
        )

    def of_prior(self) -> Floats:
        """Joint prior draws of the coordinates of all cells, of shape (cells, draws, d)."""
        effects = self.problem.effects
        return DrawnEffects(effects, self.average, (), (), self.chains, "", {}).of_prior().groups


def subgroups_tree(drawn: DrawnSubgroups) -> xr.DataTree:
    """The groups of a fit of subgroups: posterior, sample_stats, observed_data, constant_data.

    Parameters
    ----------
    drawn : DrawnSubgroups

    Returns
    -------
    xarray.DataTree
    """
    import xarray as xr

    problem, chains = drawn.problem, drawn.chains
    names, effects = problem.pooled.curve.coordinates, problem.effects
    values: dict[str, Any] = {
        name: with_chains(column, chains)
        for name, column in zip(names, drawn.average.T, strict=True)
    }
    for k, (name, column) in enumerate(zip(effects.varying, effects.columns, strict=True)):
        by_term = with_chains(drawn.scales[:, :, k], chains)
        values[f"sd_{name}"] = (("chain", "draw", "term"), by_term)
        by_cell = with_chains(drawn.cells[:, :, column].T, chains)
        values[f"cell_{name}"] = (("chain", "draw", "cell"), by_cell)
    coords = {"term": list(problem.terms), "cell": list(problem.table.data.groups)}
    draws = len(drawn.average) // chains
    tree = xr.DataTree.from_dict(
        {
            "posterior": as_dataset(values, coords, chains, draws),
            "sample_stats": xr.Dataset(drawn.stats),
            "observed_data": xr.Dataset({"hits": ("row", problem.table.data.hits)}),
            "constant_data": problem.table.data.to_xarray(),
        }
    )
    versions = library_versions("bayescal", "numpy", "scipy", "arviz-stats")
    named = {"inference_library": "bayescal", "engine": drawn.engine, "versions": versions}
    tree.attrs.update(problem.to_attributes())
    tree.attrs.update({key: json.dumps(value) for key, value in named.items()})
    return tree


def is_subgroup_tree(tree: xr.DataTree) -> bool:
    """Whether a tree is that of crossed subgroups."""
    return "factors" in tree.attrs


@reading_tree()
def read_subgroups(tree: xr.DataTree) -> DrawnSubgroups:
    """Read back what `subgroups_tree` wrote.

    Raises
    ------
    InputError
        If the tree was edited or damaged.
    """
    data = CalibrationData.from_xarray(tree["constant_data"].to_dataset())
    problem = SubgroupsProblem.from_attributes(tree.attrs, data)
    posterior = tree["posterior"].to_dataset()
    if tuple(map(str, posterior["cell"].to_numpy())) != data.groups:
        raise InputError("the cells of the tree's posterior are not those of its data.")

    def draws(name: str) -> Floats:
        values = np.asarray(posterior[name].transpose("chain", "draw", ...), np.float64)
        return values.reshape(-1, *values.shape[2:])

    effects = problem.effects
    average = np.column_stack([draws(name) for name in problem.pooled.curve.coordinates])
    scales = np.stack([draws(f"sd_{name}") for name in effects.varying], axis=-1)
    cells = np.repeat(average[None], len(data.groups), axis=0)
    for name, column in zip(effects.varying, effects.columns, strict=True):
        cells[:, :, column] = draws(f"cell_{name}").T
    for values in (average, scales, cells):
        if not np.isfinite(values).all():
            raise InputError(
                "the tree's posterior holds draws that are not finite. Refit the data."
            )
    stats = tree["sample_stats"].to_dataset()
    return DrawnSubgroups(
        problem,
        average,
        scales,
        cells,
        posterior.sizes["chain"],
        str(json.loads(tree.attrs["engine"])),
        {str(name): float(stats[name]) for name in stats.data_vars},
    )
