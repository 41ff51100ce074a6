"""CurveView: one curve of several, which answers as the posterior of one curve does."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.model.problem import Problem
from bayescal.multilevel.draws import MultilevelDraws
from bayescal.posterior.departures import Departure
from bayescal.posterior.evaluation import CurvesOfTable, SampledCurves
from bayescal.posterior.populations.bootstrap import Bootstrap
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.tree import Drawn, sample_tree

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
    _weights: Bootstrap | None = None
    _rows: Problem | None = None
    _key: dict[str, Any]
    _prob_calibrated: float | None
    _all_curves: Callable[[], xr.DataTree]

    @classmethod
    def of_curve(
        cls,
        title: str,
        problem: Problem,
        u: Floats,
        prior: Floats,
        prob_calibrated: float | None,
        drawn: MultilevelDraws | Drawn,
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
        drawn : MultilevelDraws or Drawn
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
        view = cls.of_draws(Drawn(problem, u, drawn.chains, drawn.engine, drawn.stats, prior=prior))
        view.title, view.is_new, view._weights, view._rows = title, is_new, weights, rows
        view._has_outcomes = has_outcomes and not is_new
        view._prob_calibrated = prob_calibrated
        view._key, view._all_curves = key, all_curves
        return view

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: of the other curves what this view needs, in place of what asks them."""
        from bayescal.core.arrays import Known

        state = self.__dict__.copy()
        if "_all_curves" in state:  # else it is one of several imputations
            state["_all_curves"] = Known(self._all_curves())
        return state

    def _with_draws(self, drawn: Drawn) -> Self:
        """The same curve, not fitted to the table of these draws."""
        view = self.of_draws(drawn)
        view.title, view.is_new, view._has_outcomes = self.title, self.is_new, False
        view._prob_calibrated = self._prob_calibrated
        view._key, view._all_curves = self._key, self._all_curves
        return view

    def _departing(self, departure: Departure) -> Self:
        """The posterior of cases of which some have another curve."""
        other = super()._departing(departure)
        other._weights = self._weights
        return other

    @property
    def is_of_cases(self) -> bool:
        """Whether it is of the cases with some levels, and not of the average or of a new level."""
        return "at" in self._key

    @property
    def has_outcomes(self) -> bool:
        """Whether `data` has outcomes: a level that has not been seen has scores alone."""
        return self._has_outcomes

    @property
    def prob_calibrated(self) -> float | None:
        """Probability that the curve is exactly the diagonal; None where it was not computed.

        Of the average site, that the average is exactly calibrated; of all others, that every
        site, cell or period is.
        """
        return self._prob_calibrated

    @property
    def has_exact(self) -> bool:
        """Whether some of the draws may be exactly calibrated."""
        return self.prob_calibrated is not None

    @property
    def _law(self) -> Bootstrap | None:
        """The law of the weights of rows; None for that of independent cases."""
        return self._bootstrap if self._weights is None else self._weights

    @cached_property
    def _posterior(self) -> SampledCurves:
        of = self._rows or self.problem, self._drawn.u
        return CurvesOfTable(*of, bootstrap=self._law, departure=self._departure)

    @cached_property
    def _prior(self) -> SampledCurves:
        assert self._drawn.prior is not None
        of = self._rows or self.problem, self._drawn.prior
        return CurvesOfTable(*of, bootstrap=self._law)

    @cached_property
    def _tree(self) -> xr.DataTree:
        if self._fitted is not None:
            return self._seen_tree(self._fitted)
        tree = sample_tree(self._drawn)
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

    def _nuts_diagnostics(self, stats: xr.Dataset) -> dict[str, float]:
        return self._drawn.stats

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
