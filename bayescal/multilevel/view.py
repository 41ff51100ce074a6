"""CurveView: one curve of several, which answers as the posterior of one curve does."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from bayescal.core.arrays import Floats, Known
from bayescal.core.errors import InputError
from bayescal.model.draws import Part
from bayescal.model.problem import Problem
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.posterior.populations.bootstrap import Bootstrap
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.stored import tree_of

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["ALL_CURVES", "CurveView", "key_of_view"]

ALL_CURVES, KEY = "several_curves", "view"
"""Group of a view's tree that has the tree of all curves, and attribute that says which it is."""


class CurveView(CalibrationPosterior):
    """One curve of a posterior of several, which answers as the posterior of one curve does.

    Attributes
    ----------
    title : str
        The level's name, or what stands in its place.
    is_new : bool
        Whether this is a level that has not been seen, such as a new site. Its curve is not
        estimated but predicted.
    """

    title: str
    is_new: bool = False
    _has_outcomes: bool = True
    _key: dict[str, Any]
    _all_curves: Callable[[], xr.DataTree]

    @classmethod
    def of_curve(
        cls,
        title: str,
        problem: Problem,
        u: Floats,
        prior: Floats,
        prob_calibrated: float | None,
        drawn: MultilevelDraws | Part,
        key: dict[str, Any],
        all_curves: Callable[[], xr.DataTree],
        *,
        is_new: bool = False,
        has_outcomes: bool = True,
        weights: Bootstrap | None = None,
        rows: Problem | None = None,
    ) -> Self:
        """A view on draws of one curve's coordinates.

        Parameters
        ----------
        problem : Problem
            Of the curve's own table, or of one with its scores.
        u, prior : ndarray of shape (draws, d)
            Posterior and prior draws of the working coordinates.
        prob_calibrated : float, optional
            That the curve is exactly calibrated, as in some of the draws.
        drawn : MultilevelDraws or Part
            Of all curves, or of the only one: chains, engine and statistics of the draws.
        key : dict
            Which curve it is, as JSON has it, and how to read it back.
        all_curves : callable
            Gives the tree of all curves.
        has_outcomes : bool
            Whether those of the problem's table were observed.
        weights : Bootstrap, optional
            What draws of the population are, if not those of the problem's cases.
        rows : Problem, optional
            Where functionals are evaluated, if not at the rows of the problem.
        """
        part = Part(
            *(problem, u, drawn.chains, drawn.engine, drawn.stats),
            prior=prior,
            of_several=prob_calibrated,
            rows=rows,
            law=weights,
        )
        view = cls([part])
        view.title, view.is_new = title, is_new
        view._has_outcomes = has_outcomes and not is_new
        view._key, view._all_curves = key, all_curves
        return view

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the tree of all curves, in place of what asks them for it."""
        state = self.__dict__.copy()
        if "_all_curves" in state:  # else it is one of several imputations
            state["_all_curves"] = Known(self._all_curves())
        return state

    def _with(self, parts: Sequence[Part]) -> Self:
        """The same curve, with other parts."""
        view = super()._with(parts)
        view.title, view.is_new = self.title, self.is_new
        kept: dict[str, Any] = {
            name: self.__dict__[name] for name in ("_key", "_all_curves") if name in vars(self)
        }
        view.__dict__.update(kept, _has_outcomes=False)
        return view

    @property
    def is_of_cases(self) -> bool:
        """Whether it is of the cases with some levels, and not of the average or of a new level."""
        return "at" in self._key

    @property
    def has_outcomes(self) -> bool:
        """Whether `data` has outcomes: a level that has not been seen has scores alone."""
        return self._has_outcomes

    @cached_property
    def _tree(self) -> xr.DataTree:
        if self._fitted is not None:
            return super()._tree
        tree = tree_of(self._parts[0])
        if not self.has_outcomes:
            del tree["observed_data"]
        tree[ALL_CURVES] = self._all_curves().copy()
        tree.attrs[KEY] = json.dumps(self._key)
        return tree

    @property
    def tree(self) -> xr.DataTree:
        """The `xarray.DataTree` in ArviZ's schema, of this curve.

        The tree of all curves is in its group `several_curves`, from which `bayescal.load` reads
        the view back. Likelihoods and predictions are there if it has outcomes.
        """
        return self._tree if self._departure is None and not self.has_outcomes else super().tree

    def _is_read_off_mean_curve(self, name: str) -> bool:
        """As of one curve; but a level that has not been seen is not its mean curve."""
        return super()._is_read_off_mean_curve(name) and not self.is_new

    def value_of_information(
        self,
        thresholds: Any,
        n_more: Any = None,
        method: str = "curve",
        population: Any = "bootstrap",
    ) -> xr.Dataset:
        """Value of knowing more; `n_more` are patients of this curve.

        As `CalibrationPosterior.value_of_information`, with the same parameters. A site that has
        not been seen has no patients to count, so that `method` must be "curve".
        """
        if self.is_new and isinstance(method, str) and method == "cells":
            raise InputError(
                "method='cells' counts patients, and a site that has not been seen has none. Use "
                "method='curve'."
            )
        return super().value_of_information(thresholds, n_more, method, population)

    def __repr__(self) -> str:
        _, cases, *lines = super().__repr__().splitlines()
        return "\n".join([self.title, *([] if self.is_new else [cases]), *lines])


def key_of_view(tree: xr.DataTree) -> dict[str, Any] | None:
    """Which curve the tree of a view is of; None if it is not that of a view."""
    key: dict[str, Any] | None = json.loads(tree.attrs[KEY]) if KEY in tree.attrs else None
    return key
