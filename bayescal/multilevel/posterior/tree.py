"""The posterior of several sites as an xarray.DataTree: what each group holds, and its dims."""

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
from bayescal.multilevel.sites_problem import SitesProblem
from bayescal.posterior.tree import as_dataset, with_chains

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["DrawnSites", "is_site_tree", "read_sites", "sites_tree"]


@dataclass(frozen=True)
class DrawnSites:
    """What was fitted to several sites, and the draws: all that a tree is written from.

    Attributes
    ----------
    problem : SitesProblem
    average : ndarray of shape (draws, d)
        Working coordinates of the average site, chain by chain.
    scales : ndarray of shape (draws, r)
        Standard deviations between sites of the coordinates that differ.
    correlation : ndarray of shape (draws,)
        Zero where only one coordinate differs.
    sites : ndarray of shape (sites, draws, d)
        Working coordinates of each site, in the order of its labels.
    chains : int
    engine : str
    stats : dict of str to float
        Of importance sampling: pareto_k, ess, log_evidence, log_evidence_error and site_ess. Of
        NUTS: r_hat, ess_bulk, ess_tail and divergences.
    """

    problem: SitesProblem
    average: Floats
    scales: Floats
    correlation: Floats
    sites: Floats
    chains: int
    engine: str
    stats: dict[str, float]

    def of_new_site(self) -> Floats:
        """Working coordinates (draws, d) of a site that has not been seen."""
        return _round(self.average, self.problem, self.scales, self.correlation, "new site")

    def of_prior(self) -> tuple[Floats, Floats]:
        """Prior draws of the average site and of one site, each of shape (draws, d)."""
        problem, size = self.problem, len(self.average)
        prior, varying = problem.heterogeneity, problem.varying
        rng = problem.pooled.rng("prior")
        average = problem.pooled.sample_prior(rng, size)
        scales = prior.scales(rng.standard_normal((size, len(varying))), varying)
        correlation = prior.correlations(rng.standard_normal(size))
        return average, _round(average, problem, scales, correlation, "prior of a site")


def _round(
    average: Floats, problem: SitesProblem, scales: Floats, correlation: Floats, purpose: str
) -> Floats:
    """Sites drawn round average sites, one for each draw."""
    standard = problem.pooled.rng(purpose).standard_normal(scales.shape)
    if scales.shape[1] > 1:
        own = np.sqrt((1 - correlation) * (1 + correlation))
        standard[:, 1] = correlation * standard[:, 0] + own * standard[:, 1]
    drawn = average.copy()
    drawn[:, problem.columns] += scales * standard
    return drawn


def sites_tree(drawn: DrawnSites) -> xr.DataTree:
    """The groups of a hierarchical fit: posterior, sample_stats, observed_data, constant_data.

    Parameters
    ----------
    drawn : DrawnSites

    Returns
    -------
    xarray.DataTree
    """
    import xarray as xr

    problem, chains = drawn.problem, drawn.chains
    names = problem.pooled.curve.coordinates
    columns = dict(zip(names, drawn.average.T, strict=True))
    columns |= {f"sd_{name}": drawn.scales[:, k] for k, name in enumerate(problem.varying)}
    if len(problem.varying) > 1:
        columns["correlation"] = drawn.correlation
    values: dict[str, Any] = {name: with_chains(column, chains) for name, column in columns.items()}
    for name, column in zip(problem.varying, problem.columns, strict=True):
        by_site = with_chains(drawn.sites[:, :, column].T, chains)
        values[f"site_{name}"] = (("chain", "draw", "site"), by_site)
    coords = {"site": list(problem.labels)}
    constant = problem.data.to_xarray()
    tree = xr.DataTree.from_dict(
        {
            "posterior": as_dataset(values, coords, chains, len(drawn.average) // chains),
            "sample_stats": xr.Dataset(drawn.stats),
            "observed_data": xr.Dataset({"hits": ("row", problem.data.hits)}),
            "constant_data": constant,
        }
    )
    versions = library_versions("bayescal", "numpy", "scipy", "arviz-stats")
    named = {"inference_library": "bayescal", "engine": drawn.engine, "versions": versions}
    tree.attrs.update(problem.to_attributes())
    tree.attrs.update({key: json.dumps(value) for key, value in named.items()})
    return tree


def is_site_tree(tree: xr.DataTree) -> bool:
    """Whether a tree is that of several sites."""
    return "heterogeneity" in tree.attrs


@reading_tree()
def read_sites(tree: xr.DataTree) -> DrawnSites:
    """Read back what `sites_tree` wrote.

    Raises
    ------
    InputError
        If the tree was edited or damaged.
    """
    data = CalibrationData.from_xarray(tree["constant_data"].to_dataset())
    problem = SitesProblem.from_attributes(tree.attrs, data)
    posterior = tree["posterior"].to_dataset()
    if tuple(map(str, posterior["site"].to_numpy())) != problem.labels:
        raise InputError("the sites of the tree's posterior are not those of its data.")

    def draws(name: str) -> Floats:
        return np.asarray(posterior[name].transpose("chain", "draw", ...), np.float64)

    names, varying = problem.pooled.curve.coordinates, problem.varying
    average = np.column_stack([draws(name).ravel() for name in names])
    scales = np.column_stack([draws(f"sd_{name}").ravel() for name in varying])
    both = len(varying) > 1
    correlation = draws("correlation").ravel() if both else np.zeros(len(average))
    sites = np.repeat(average[None], len(problem.labels), axis=0)
    for name, column in zip(varying, problem.columns, strict=True):
        sites[:, :, column] = draws(f"site_{name}").reshape(len(average), -1).T
    for values in (average, scales, correlation, sites):
        if not np.isfinite(values).all():
            raise InputError(
                "the tree's posterior holds draws that are not finite. Refit the data."
            )
    stats = tree["sample_stats"].to_dataset()
    return DrawnSites(
        problem,
        average,
        scales,
        correlation,
        sites,
        posterior.sizes["chain"],
        str(json.loads(tree.attrs["engine"])),
        {str(name): float(stats[name]) for name in stats.data_vars},
    )
