"""The tree of a posterior, which says what to call where an older ArviZ cannot read it."""

from __future__ import annotations

from typing import Any, NoReturn

import xarray as xr

__all__ = ["PosteriorTree"]


class PosteriorTree(xr.DataTree):  # type: ignore[no-untyped-call]
    """An `xarray.DataTree` in ArviZ's schema.

    The package `arviz` before version 1, which is the last one for Python 3.11, reads no
    `DataTree`. It asks for an array of it, and is told which module reads the tree.
    """

    __slots__ = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(
            "a tree is no array, and arviz before version 1 cannot read it. Pass it as "
            "arviz.from_datatree(post.to_datatree()), or call the same function of arviz_stats or "
            "arviz_plots, which are installed with bayescal: arviz_stats.summary(post.tree), "
            "arviz_plots.plot_forest(post.tree)."
        )
