"""Trees on disk: opened, and brought to what this version writes."""

from __future__ import annotations

import json
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.errors import InputError
from bayescal.core.files import existing_file
from bayescal.core.text import shortened
from bayescal.posterior.tree import as_dataset, with_chains

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["open_tree", "upgraded"]

RENAMED = {"alpha": "curve_alpha", "beta": "curve_beta", "c": "curve_c"}


def open_tree(path: str | PathLike[str]) -> xr.DataTree:
    """The tree in a NetCDF file."""
    import xarray as xr

    from bayescal.posterior.arviz_tree import PosteriorTree

    file = existing_file(path)
    try:
        return PosteriorTree.from_dict(xr.load_datatree(file, engine="h5netcdf").to_dict())
    except Exception as error:  # a file that is cut off can be any error of the layers below
        raise InputError(
            f"path {str(path)!r} is not a NetCDF file, or is cut off or damaged: "
            f"{shortened(error, 200)}."
        ) from error


def upgraded(tree: xr.DataTree) -> xr.DataTree:
    """A tree as this version writes it, from one that an earlier version wrote."""
    return _without_exact_calibration(_with_long_names(tree))


def _with_long_names(tree: xr.DataTree) -> xr.DataTree:
    """The beta family's parameters under names that are no dimension of ArviZ's."""
    import xarray as xr

    if "curve_alpha" in tree["posterior"] or "alpha" not in tree["posterior"]:
        return tree
    groups = {}
    for name, group in tree.children.items():
        dataset = group.to_dataset()
        old = [variable for variable in RENAMED if variable in dataset]
        groups[name] = dataset.rename({variable: RENAMED[variable] for variable in old})
    renamed = xr.DataTree.from_dict(groups)
    renamed.attrs.update(tree.attrs)
    return renamed


def _without_exact_calibration(tree: xr.DataTree) -> xr.DataTree:
    """An average without draws of exact calibration, which earlier versions had among its own.

    Their share is kept as `prob_calibrated`.
    """
    import xarray as xr

    families: dict[str, float] = json.loads(tree.attrs.get("families", "{}"))
    if "identity" not in families:
        return tree
    names, posterior = list(families), tree["posterior"].to_dataset()
    family = posterior["family"].to_numpy().ravel()
    chains = posterior.sizes["chain"]
    curved = np.flatnonzero(family != names.index("identity"))
    curved = curved[: curved.size - curved.size % chains]
    if not curved.size:
        raise InputError(
            "every draw of this averaged posterior is of exact calibration. Compare the data again."
        )
    kept = {
        str(name): with_chains(values.transpose("chain", "draw").to_numpy().ravel()[curved], chains)
        for name, values in posterior.data_vars.items()
    }
    others = [name for name in names if name != "identity"]
    kept["family"] = np.searchsorted([names.index(name) for name in others], kept["family"])
    groups = {
        "posterior": as_dataset(kept, {}),
        **{
            name: tree[name].to_dataset()
            for name in ("sample_stats", "observed_data", "constant_data")
        },
    }
    total = sum(families[name] for name in others)
    current = xr.DataTree.from_dict(groups)
    current.attrs.update(tree.attrs)
    current.attrs["families"] = json.dumps({name: families[name] / total for name in others})
    current.attrs["prob_calibrated"] = json.dumps(float(np.mean(family == names.index("identity"))))
    return current
