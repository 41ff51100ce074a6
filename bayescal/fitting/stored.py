"""load(): a posterior read back: of one curve, sites, subgroups, periods or imputations."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.multilevel.curves import Curves
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.posterior.posterior import CalibrationPosterior, as_seen
from bayescal.posterior.stored import SEVERAL, key_of, open_tree, trees_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["load"]


def load(path: str | PathLike[str]) -> CalibrationPosterior | MultilevelPosterior:
    """Read a posterior that `to_netcdf` wrote.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    CalibrationPosterior or MultilevelPosterior
        The second of sites, subgroups and periods; one of their curves is read back as that curve.

    Raises
    ------
    InputError
        If there is no such file, or it was not written by bayescal, or was edited or damaged.

    Examples
    --------
    >>> import bayescal as bc
    >>> post = bc.load("posterior.nc")  # doctest: +SKIP
    """
    try:
        return _posterior_of(open_tree(path))
    except InputError as error:
        raise InputError(f"path {shortened(repr(str(path)))} cannot be loaded: {error}") from None
    except RecursionError:
        raise InputError(
            f"path {shortened(repr(str(path)))} cannot be loaded: a text in it has brackets inside "
            "brackets without end. It was damaged: write it again."
        ) from None


def _posterior_of(tree: xr.DataTree) -> CalibrationPosterior | MultilevelPosterior:
    each = trees_of(tree)
    if "terms" in each[0].attrs:
        return MultilevelPosterior(tree)
    if key_of(each[0]) is None:
        return as_seen(CalibrationPosterior(tree), tree)
    parts = []
    for one in each:
        several = Curves.of_tree(one.children[SEVERAL].copy())
        parts.append(several.part(key_of(one) or {}))
    return as_seen(CalibrationPosterior(parts), tree)
