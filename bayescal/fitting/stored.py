"""load(): a posterior read back: of one curve, sites, subgroups, periods or imputations."""

from __future__ import annotations

from os import PathLike

from bayescal.fitting.imputed.posterior import ImputedPosterior
from bayescal.fitting.imputed.tree import is_imputed_tree
from bayescal.multilevel.drift.posterior import DriftPosterior
from bayescal.multilevel.drift.tree import is_drift_tree
from bayescal.multilevel.factors.posterior import SubgroupPosterior
from bayescal.multilevel.factors.tree import is_subgroup_tree
from bayescal.multilevel.posterior.hierarchical import HierarchicalPosterior
from bayescal.multilevel.posterior.tree import is_site_tree
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.stored import open_tree

__all__ = ["load"]


def load(
    path: str | PathLike[str],
) -> CalibrationPosterior | HierarchicalPosterior | SubgroupPosterior | DriftPosterior:
    """Read a posterior that `to_netcdf` wrote.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    CalibrationPosterior, HierarchicalPosterior, SubgroupPosterior or DriftPosterior
        The second if several sites were fitted, the third if subgroups by several factors, the
        last if periods were. Of imputations it is an ImputedPosterior.

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
    if is_subgroup_tree(tree):
        return SubgroupPosterior(tree)
    if is_drift_tree(tree):
        return DriftPosterior(tree)
    if is_site_tree(tree):
        return HierarchicalPosterior(tree)
    imputed = is_imputed_tree(tree)
    posterior = ImputedPosterior(tree) if imputed else CalibrationPosterior(tree)
    _ = posterior.problem  # read now, so that a fault is named here
    return posterior
