"""load(): a posterior read back: of one curve, sites, subgroups, periods or imputations."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from bayescal.core.errors import InputError
from bayescal.core.text import shortened
from bayescal.fitting.imputed.several import mixture_of_tree
from bayescal.multilevel.fit import posterior_of_tree
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.tree import is_multilevel_tree
from bayescal.posterior.posterior import CalibrationPosterior, as_seen
from bayescal.posterior.stored import open_tree, trees_of

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
        As it was: of several sites a HierarchicalPosterior, of subgroups by several factors a
        SubgroupPosterior, of periods a DriftPosterior. A view on one curve is read back as that
        view.

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
    first, *others = trees_of(tree)
    if not is_multilevel_tree(first):
        return as_seen(CalibrationPosterior(tree), tree)
    posterior = mixture_of_tree(tree) if others else posterior_of_tree(tree)
    _ = posterior.problem  # read now, so that a fault is named here
    return as_seen(posterior, tree) if isinstance(posterior, CalibrationPosterior) else posterior
