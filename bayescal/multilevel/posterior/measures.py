"""Measures of every site of a hierarchical posterior, with a dimension `site`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from bayescal.data.validate import check_choice
from bayescal.multilevel.posterior.view import SiteView
from bayescal.multilevel.posterior.worst import ComparedCurves
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["SiteMeasures"]

CURVE_AT = np.linspace(0.05, 0.95, 19)

Measured = TypeVar("Measured", "xr.DataArray", "xr.Dataset")


class SiteMeasures(ComparedCurves):
    """What one asks of all sites at once: the measures of each, side by side."""

    _kind = "site"

    @abstractmethod
    def site(self, label: str) -> SiteView:
        """The posterior of one site's curve."""

    def curve(self, scores: ArrayLike | None = None) -> xr.DataArray:
        """Draws of the calibration curve of every site.

        Parameters
        ----------
        scores : array-like of shape (k,), optional
            Where to evaluate them, in [0, 1]; by default 0.05, 0.10, ..., 0.95.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, site, score).
        """
        at = CURVE_AT if scores is None else scores
        return self._by_site(lambda site: site.curve(at))

    def predict(self, y_prob: ArrayLike) -> xr.DataArray:
        """Recalibrated probabilities of new cases, were they from each site.

        Parameters
        ----------
        y_prob : array-like of shape (n,)

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, site, obs). `new_site().predict(y_prob)` is for cases of a site
            that has not been seen.
        """
        return self._by_site(lambda site: site.predict(y_prob))

    def tce(self, p: float = 1, population: str = "bootstrap") -> xr.DataArray:
        """Posterior of the true calibration error of every site.

        Parameters
        ----------
        p : float, at least 1
        population : {"bootstrap", "sample", "beta"}

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, site), values in [0, 1].
        """
        return self._by_site(lambda site: site.tce(p, population))

    def functional(self, name: str, population: str = "bootstrap", **options: Any) -> xr.DataArray:
        """Posterior of a functional at every site.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"}
        **options
            Passed to the functional.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, site).
        """
        check_choice(name, FUNCTIONALS, "name")
        return self._by_site(lambda site: site.functional(name, population, **options))

    def net_benefit(self, thresholds: ArrayLike, population: str = "bootstrap") -> xr.Dataset:
        """Posterior of the net benefit at every site, as `CalibrationPosterior.net_benefit`.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
        population : {"bootstrap", "sample", "beta"}

        Returns
        -------
        xarray.Dataset
            Its variables have a dim `site`.
        """
        return self._by_site(lambda site: site.net_benefit(thresholds, population))

    def value_of_information(
        self,
        thresholds: ArrayLike,
        n_more: Any = None,
        method: str = "curve",
        population: str = "bootstrap",
    ) -> xr.Dataset:
        """Value of knowing more at every site, as `CalibrationPosterior.value_of_information`.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
        n_more : int or sequence of int, optional
            Patients of a further study at the site.
        method : {"curve", "cells"}
        population : {"bootstrap", "sample"}

        Returns
        -------
        xarray.Dataset
            Its variables have a dim `site`.
        """
        return self._by_site(
            lambda site: site.value_of_information(thresholds, n_more, method, population)
        )

    def summary(self, ci_prob: float = 0.95, **options: Any) -> pd.DataFrame:
        """Every functional of every site with its credible interval.

        Parameters
        ----------
        ci_prob : float in (0, 1)
        **options
            `p`, `population` and `names`, as of `CalibrationPosterior.summary`.

        Returns
        -------
        pandas.DataFrame
            Index: (site, functional). Columns: estimate, mean, median, lower, upper.
        """
        import pandas as pd

        tables = {label: self.site(label).summary(ci_prob, **options) for label in self.labels}
        return pd.concat(tables, names=["site", "functional"])

    def _by_site(self, measure: Callable[[SiteView], Measured]) -> Measured:
        import xarray as xr

        each = [measure(self.site(label)) for label in self.labels]
        joined = xr.concat(each, xr.DataArray(list(self.labels), dims="site", name="site"))
        return joined.transpose("chain", "draw", "site", ..., missing_dims="ignore")
