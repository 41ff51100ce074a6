"""Trees on disk: opened, and brought to what this version writes."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from bayescal.core.errors import InputError
from bayescal.core.files import existing_file
from bayescal.core.text import shortened

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
    """A tree as this version writes it: parameters of beta are no dimensions of ArviZ's."""
    import xarray as xr

    if "families" in tree.attrs and "exact" not in tree["posterior"]:
        raise InputError(
            "this average was stored by an earlier version, in which distances had draws of their "
            "own. Compare the data again with bayescal.compare."
        )
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
