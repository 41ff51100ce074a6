"""load(): a posterior read back from a file, of one curve, of sites or of periods."""

from __future__ import annotations

from os import PathLike

from bayescal.posterior.drift.posterior import DriftPosterior
from bayescal.posterior.drift.tree import is_drift_tree
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.sites.hierarchical import HierarchicalPosterior
from bayescal.posterior.sites.tree import is_site_tree
from bayescal.posterior.stored import open_tree

__all__ = ["load"]


def load(
    path: str | PathLike[str],
) -> CalibrationPosterior | HierarchicalPosterior | DriftPosterior:
    """Read a posterior that `to_netcdf` wrote.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    CalibrationPosterior, HierarchicalPosterior or DriftPosterior
        The second if several sites were fitted, and the third if periods were.

    Raises
    ------
    InputError
        If there is no such file, or it was not written by bayescal, or was edited or damaged.

    Examples
    --------
    >>> import bayescal as bc
    >>> post = bc.load("posterior.nc")  # doctest: +SKIP
    """
    tree = open_tree(path)
    if is_drift_tree(tree):
        return DriftPosterior(tree)
    if is_site_tree(tree):
        return HierarchicalPosterior(tree)
    posterior = CalibrationPosterior(tree)
    _ = posterior.problem  # read now, so that a fault is named here
    return posterior
