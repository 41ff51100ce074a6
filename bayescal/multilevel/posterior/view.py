"""SiteView: the posterior of one site's curve, or of the average or a new site's."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.validate import as_number, check_choice
from bayescal.model.problem import Problem
from bayescal.posterior.evaluation import Evaluation
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.populations.bootstrap import Mixture
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.posterior.tree import Drawn

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SiteView"]


class Sampled(Protocol):
    """Draws of several curves at once, in chains, by one engine, with its diagnostics."""

    @property
    def chains(self) -> int:
        """Number of chains."""

    @property
    def engine(self) -> str:
        """The engine that drew them: "importance" or "nuts"."""

    @property
    def stats(self) -> dict[str, float]:
        """Diagnostics, as of `Drawn`."""


class SiteView(CalibrationPosterior):
    """Part of a hierarchical posterior that answers as the posterior of one curve does.

    Attributes
    ----------
    title : str
        The site's name, or what stands in its place.
    is_new : bool
        Whether this is a site that has not been seen. Its curve is not estimated but predicted, so
        that the estimate of a distance from calibration is the median of its draws.
    """

    title: str
    is_new: bool = False
    _has_outcomes: bool = True
    _prob_calibrated: float | None = None
    _mixture: Mixture | None = None

    @classmethod
    def of_site(
        cls,
        title: str,
        problem: Problem,
        u: Floats,
        prior: Floats,
        drawn: Sampled,
        *,
        is_new: bool = False,
        has_outcomes: bool = True,
        prob_calibrated: float | None = None,
        mixture: Mixture | None = None,
    ) -> Self:
        """A view on draws of one site's coordinates.

        Parameters
        ----------
        title : str
        problem : Problem
            Of the site's table, or of one with its scores.
        u, prior : ndarray of shape (draws, d)
            Posterior and prior draws of the working coordinates.
        drawn : DrawnSites, or draws of another model of several curves
        is_new : bool
        has_outcomes : bool
            Whether those of the problem's table were observed at this site.
        prob_calibrated : float, optional
            Probability of exact calibration, for the lower end of distances.
        mixture : Mixture, optional
            Scores of several sites, and the site whose scores each draw has.

        Returns
        -------
        SiteView
        """
        stats, chains = drawn.stats, drawn.chains
        view = cls.of_draws(Drawn(problem, u, chains, drawn.engine, stats, prior=prior))
        view.title, view.is_new, view._mixture = title, is_new, mixture
        view._has_outcomes = has_outcomes and not is_new
        view._prob_calibrated = prob_calibrated
        return view

    @property
    def has_outcomes(self) -> bool:
        """Whether `data` has outcomes: a site that has not been seen has scores alone."""
        return self._has_outcomes

    @property
    def prob_calibrated(self) -> float | None:
        """Probability of exact calibration; None of a site seen, or where it was not computed.

        Of the average site, that its curve is the diagonal; of a new site, that every site's is.
        """
        return self._prob_calibrated

    @cached_property
    def _posterior(self) -> Evaluation:
        return Evaluation(self.problem, self._drawn.u, bootstrap=self._mixture)

    @cached_property
    def _prior(self) -> Evaluation:
        assert self._drawn.prior is not None
        return Evaluation(self.problem, self._drawn.prior, bootstrap=self._mixture)

    @property
    def tree(self) -> xr.DataTree:
        """Refused: the draws stand in the tree of the hierarchical posterior.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(
            f"{self.title} is a view on a hierarchical posterior and has no tree of its own. Read "
            "the tree of the posterior, or save that with to_netcdf."
        )

    def estimate(
        self,
        name: str = "tce",
        ci_prob: float = 0.95,
        *,
        population: str = "bootstrap",
        **options: Any,
    ) -> float:
        """Point estimate of a functional; of a distance at a new site, the median.

        Otherwise as `CalibrationPosterior.estimate`, with the same parameters.
        """
        if self.is_new and FUNCTIONALS[check_choice(name, FUNCTIONALS, "name")].is_distance:
            values = self._posterior.values([(name, options)], population)[name]
            return float(np.median(values))
        return super().estimate(name, ci_prob, population=population, **options)

    def value_of_information(
        self,
        thresholds: Any,
        n_more: Any = None,
        method: str = "curve",
        population: str = "bootstrap",
    ) -> xr.Dataset:
        """Value of knowing more; `n_more` are patients of this site.

        As `CalibrationPosterior.value_of_information`, with the same parameters. A site that has
        not been seen has no patients to count, so that `method` must be "curve".
        """
        if self.is_new and isinstance(method, str) and method == "cells":
            raise InputError(
                "method='cells' counts patients, and a site that has not been seen has none. Use "
                "method='curve'."
            )
        return super().value_of_information(thresholds, n_more, method, population)

    def prob_above(
        self, x: float, name: str = "tce", *, population: str = "bootstrap", **options: Any
    ) -> float:
        """Probability that a functional is above `x`.

        Of a distance, exact calibration has its share of the draws here, but not for `prob_below`.

        As `CalibrationPosterior.prob_above`, with the same parameters.
        """
        draws = self._with_calibrated(name, self._draws_of(name, population, options))
        return float(np.mean(draws > as_number(x, "x")))

    def _ends(self, name: str, values: Floats, ci_prob: float) -> tuple[float, float]:
        """The lower end of a distance is read where exact calibration has its share."""
        lower, _ = super()._ends(name, self._with_calibrated(name, values), ci_prob)
        return lower, super()._ends(name, values, ci_prob)[1]

    def _with_calibrated(self, name: str, values: Floats) -> Floats:
        """Draws of a distance, some of them exact calibration; of anything else as they are."""
        return np.where(self._calibrated, 0.0, values) if FUNCTIONALS[name].is_distance else values

    @cached_property
    def _calibrated(self) -> NDArray[np.bool_]:
        """Which draws stand for exact calibration, of shape (draws,)."""
        share = round((self._prob_calibrated or 0.0) * self.draws)
        order = self.problem.rng("calibrated draws").permutation(self.draws)
        return order < share

    @property
    def _interval_in_words(self) -> str:
        if self._prob_calibrated is None:
            return super()._interval_in_words
        return "equal-tailed; of distances, the lower end knows exact calibration"

    def __repr__(self) -> str:
        _, cases, *lines = super().__repr__().splitlines()
        return "\n".join([self.title, *([] if self.is_new else [cases]), *lines])
