"""The posterior of ordered periods as an xarray.DataTree."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.versions import library_versions
from bayescal.data.data import CalibrationData
from bayescal.data.stored import reading_tree
from bayescal.multilevel.drift.draws import DrawnDrift
from bayescal.multilevel.drift.problem import DriftProblem
from bayescal.posterior.tree import as_dataset, with_chains

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["drift_tree", "is_drift_tree", "read_drift"]

BY_PERIOD = ("chain", "draw", "period")


def drift_tree(drawn: DrawnDrift) -> xr.DataTree:
    """The groups of a fit of periods: posterior, sample_stats, observed_data, constant_data.

    Parameters
    ----------
    drawn : DrawnDrift

    Returns
    -------
    xarray.DataTree
        The posterior has the coordinates of each period's curve, those of the next period
        (`next_shift`, ...) and of one curve for all periods (`single_shift`, ...), and the
        `explanation` of each draw: 0 for no change, k for a sudden change into the period of index
        k, and the number of periods for gradual drift.
    """
    import xarray as xr

    problem, chains = drawn.problem, drawn.chains
    values: dict[str, Any] = {"explanation": with_chains(drawn.explanation, chains)}
    for column, name in enumerate(problem.pooled.curve.coordinates):
        values[name] = (BY_PERIOD, with_chains(drawn.periods[:, :, column].T, chains))
        values[f"next_{name}"] = with_chains(drawn.following[:, column], chains)
        values[f"single_{name}"] = with_chains(drawn.single[:, column], chains)
    draws, labels = len(drawn.following) // chains, list(problem.labels)
    stats = xr.Dataset(drawn.stats)
    stats["explanation_log_evidence"] = ("explanation", drawn.log_evidence)
    tree = xr.DataTree.from_dict(
        {
            "posterior": as_dataset(values, {"period": labels}, chains, draws),
            "sample_stats": stats,
            "observed_data": xr.Dataset({"hits": ("row", problem.data.hits)}),
            "constant_data": problem.data.to_xarray(),
        }
    )
    versions = library_versions("bayescal", "numpy", "scipy", "arviz-stats")
    named = {"inference_library": "bayescal", "engine": drawn.engine, "versions": versions}
    tree.attrs.update(problem.to_attributes())
    tree.attrs.update({key: json.dumps(value) for key, value in named.items()})
    return tree


def is_drift_tree(tree: xr.DataTree) -> bool:
    """Whether a tree is that of ordered periods."""
    return "periods" in tree.attrs


@reading_tree()
def read_drift(tree: xr.DataTree) -> DrawnDrift:
    """Read back what `drift_tree` wrote.

    Raises
    ------
    InputError
        If the tree was edited or damaged.
    """
    data = CalibrationData.from_xarray(tree["constant_data"].to_dataset())
    problem = DriftProblem.from_attributes(tree.attrs, data)
    posterior, stats = tree["posterior"].to_dataset(), tree["sample_stats"].to_dataset()
    labels = tuple(map(str, posterior["period"].to_numpy()))
    if labels != problem.labels or set(labels) != set(data.groups):
        raise InputError("the periods of the tree's posterior are not those of its data.")

    def draws(prefix: str) -> Floats:
        drawn = [
            np.asarray(posterior[f"{prefix}{name}"].transpose("chain", "draw", ...), np.float64)
            for name in problem.pooled.curve.coordinates
        ]
        stacked = np.stack(drawn, axis=-1)
        return stacked.reshape(-1, *stacked.shape[2:])

    periods, following, single = draws("").transpose(1, 0, 2), draws("next_"), draws("single_")
    if not all(np.isfinite(values).all() for values in (periods, following, single)):
        raise InputError("the tree's posterior holds draws that are not finite. Refit the data.")
    return DrawnDrift(
        problem,
        periods,
        following,
        single,
        posterior["explanation"].transpose("chain", "draw").to_numpy().ravel(),
        np.asarray(stats["explanation_log_evidence"], np.float64),
        posterior.sizes["chain"],
        "importance",
        {str(name): float(stats[name]) for name in stats.data_vars if not stats[name].dims},
    )
