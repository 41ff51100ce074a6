"""SeveralCurves: what posteriors of several curves have in common, whatever the curves are of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeVar

from bayescal._base.card import card
from bayescal._base.files import as_path, replacing
from bayescal._base.text import rounded
from bayescal.multilevel.posterior.view import SiteView
from bayescal.posterior.checks.verdict import verdict_of
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.intervals import SUMMARY_COLUMNS

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SeveralCurves", "diagnosed"]


class HasEngine(Protocol):
    """Draws that know their engine."""

    @property
    def engine(self) -> str:
        """The engine that drew."""
        ...


D = TypeVar("D", bound=HasEngine)


class SeveralCurves(ABC, Generic[D]):
    """A posterior of several curves, kept as its draws or as a tree.

    Parameters
    ----------
    tree : xarray.DataTree
        As written by `bayescal.fit`.
    """

    _drawn: D

    def __init__(self, tree: xr.DataTree) -> None:
        self._tree, self._drawn = tree, self._read(tree)

    @classmethod
    def of_draws(cls, drawn: D) -> Self:
        """A posterior whose tree is written when it is first read."""
        posterior = cls.__new__(cls)
        posterior._drawn = drawn
        return posterior

    @staticmethod
    @abstractmethod
    def _read(tree: xr.DataTree) -> D:
        """The draws that a tree holds."""

    @staticmethod
    @abstractmethod
    def _written(drawn: D) -> xr.DataTree:
        """The tree of draws."""

    @abstractmethod
    def _lines(self) -> Sequence[str]:
        """What is printed below the name of the class."""

    @cached_property
    def _tree(self) -> xr.DataTree:
        return self._written(self._drawn)

    @property
    def tree(self) -> xr.DataTree:
        """The `xarray.DataTree` in ArviZ's schema; coordinates have a dim for the curves."""
        return self._tree

    @property
    def engine(self) -> str:
        """The engine that drew it: "importance" or "nuts"."""
        return self._drawn.engine

    def to_netcdf(self, path: str | PathLike[str]) -> None:
        """Write the tree to a NetCDF file; `bayescal.load` reads it back.

        Parameters
        ----------
        path : str or path-like
        """
        with replacing(as_path(path)) as file:
            self.tree.to_netcdf(file, engine="h5netcdf")

    def __repr__(self) -> str:
        return "\n".join([type(self).__name__, *(f"  {line}" for line in self._lines())])

    def _card(self, views: Mapping[str, SiteView]) -> str:
        """HTML for a notebook: error and O/E of a few of the curves, by their titles."""
        rows = {}
        for title, view in views.items():
            for name in ("tce", "observed_expected"):
                lower, upper = view.interval(name)
                middle, low, high = rounded((view.estimate(name), lower, upper), lower, upper)
                rows[f"{FUNCTIONALS[name].label}, {title}"] = middle, f"{low} to {high}"
        return card(repr(self), SUMMARY_COLUMNS, rows)


def diagnosed(engine: str, stats: Mapping[str, float]) -> dict[str, float | str]:
    """What a sampler reports, and a verdict: "ok", or what is wrong."""
    return {"engine": engine, **stats, "verdict": verdict_of(stats)}
