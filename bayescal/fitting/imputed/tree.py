"""The posterior of several imputations as an xarray.DataTree: a group for each, and all mixed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayescal.core.errors import InputError
from bayescal.data.stored import reading_tree

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["imputed_tree", "is_imputed_tree", "mixed", "trees_of_imputations"]

IMPUTATIONS = "imputations"
"""Attribute: how many there are."""


def imputed_tree(trees: Sequence[xr.DataTree]) -> xr.DataTree:
    """One tree of the trees of the imputations.

    Parameters
    ----------
    trees : sequence of xarray.DataTree
        As `bayescal.fit` writes them, of one family and of as many chains and draws each.

    Returns
    -------
    xarray.DataTree
        Groups: imputation_1, imputation_2, ..., each a tree as of one fit; and posterior, the draws
        of all, in each chain those of
        the imputations in turn, with the `imputation` of each draw. A coordinate that an
        imputation does not have is zero in its draws.
    """
    from bayescal.posterior.arviz_tree import PosteriorTree

    groups: dict[str, xr.Dataset | xr.DataTree] = {
        "posterior": mixed([tree["posterior"].to_dataset() for tree in trees])
    }
    groups |= {_group(number): each.copy() for number, each in enumerate(trees, 1)}
    tree = PosteriorTree.from_dict(groups)
    tree.attrs.update(trees[0].attrs)
    tree.attrs[IMPUTATIONS] = json.dumps(len(trees))
    return tree


def mixed(parts: Sequence[xr.Dataset]) -> xr.Dataset:
    """The draws of all imputations in turn, chain by chain, with the `imputation` of each.

    Parameters
    ----------
    parts : sequence of xarray.Dataset
        Variables with dims (chain, draw, ...), one an imputation.
    """
    import xarray as xr

    numbered = []
    for number, draws in enumerate(parts, 1):
        shape = draws.sizes["chain"], draws.sizes["draw"]
        numbered.append(draws.assign(imputation=(("chain", "draw"), np.full(shape, number))))
    joined = xr.concat(
        numbered, "draw", data_vars="all", coords="minimal", compat="override", join="outer",
        fill_value=0,
    )  # fmt: skip
    index = np.arange(joined.sizes["draw"])
    in_turn = index.reshape(len(parts), -1).T.ravel()
    return joined.isel(draw=in_turn).assign_coords(draw=index)


def is_imputed_tree(tree: xr.DataTree) -> bool:
    """Whether a tree is that of several imputations."""
    return IMPUTATIONS in tree.attrs


@reading_tree()
def trees_of_imputations(tree: xr.DataTree) -> list[xr.DataTree]:
    """The tree of each imputation, from what `imputed_tree` made."""
    count = int(json.loads(tree.attrs[IMPUTATIONS]))
    missing = [_group(k) for k in range(1, count + 1) if _group(k) not in tree.children]
    if missing:
        raise InputError(f"the tree lacks the groups {', '.join(missing)}. Combine the fits again.")
    trees = []
    for number in range(1, count + 1):
        own = tree.children[_group(number)].copy()
        own.name = None
        trees.append(own)
    return trees


def _group(number: int) -> str:
    return f"imputation_{number}"
