"""SeveralMeasures: the measures of one curve, of several side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from bayescal.core.errors import InputError, check_choice
from bayescal.core.text import shortened
from bayescal.multilevel.compared import Part, parts_of
from bayescal.multilevel.curves import SELF_NAMED, RelatedCurves
from bayescal.multilevel.view import CurveView
from bayescal.posterior.functionals import FUNCTIONALS

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["SeveralMeasures"]

CURVE_AT = np.linspace(0.05, 0.95, 19)

Measured = TypeVar("Measured", "xr.DataArray", "xr.Dataset")


class SeveralMeasures(RelatedCurves):
    """What one asks of every curve, by what they are compared by."""

    def parts(self, by: str | Sequence[str] | None = None) -> list[Part]:
        """The curves that a question compares.

        Parameters
        ----------
        by : str or sequence of str, optional
            One axis, whose levels are compared; or several, for the combinations of their levels
            that occur. By default the levels of every axis in turn.

        Returns
        -------
        list of Part
            Each with `factor`, `level`, and `levels`, which `at` takes.
        """
        return parts_of(self.problem.axes, self.problem.cells, by)

    def curve(self, scores: ArrayLike | None = None, *, by: Any = None) -> xr.DataArray:
        """Draws of the calibration curve of every site, level or period.

        Parameters
        ----------
        scores : array-like of shape (k,), optional
            Where to evaluate them, in [0, 1]; by default 0.05, 0.10, ..., 0.95.
        by : str or sequence of str, optional
            As in `functional`.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, site, score).
        """
        at = CURVE_AT if scores is None else scores
        return self._each(lambda view: view.curve(at), by)

    def predict(self, y_prob: ArrayLike, *, by: Any = None) -> xr.DataArray:
        """Recalibrated probabilities of new cases, were they from each site, level or period.

        Parameters
        ----------
        y_prob : array-like of shape (n,)
        by : str or sequence of str, optional
            As in `functional`.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, site, obs). `new().predict(y_prob)` is for cases of a site that
            has not been seen, and `now().predict(y_prob)` for cases of the last period.
        """
        return self._each(lambda view: view.predict(y_prob), by)

    def risks(
        self,
        y_prob: Any,
        thresholds: Any = (),
        ci_prob: float = 0.95,
        *,
        at: str | Mapping[str, Any] | None = None,
    ) -> pd.DataFrame:
        """The actual risk of single patients here, elsewhere and later, by their score.

        Parameters
        ----------
        y_prob : float or array-like of shape (n,)
            The model's probabilities of the patients.
        thresholds : float or array-like of shape (k,)
            Risks from which a patient is treated, in (0, 1).
        ci_prob : float in (0, 1)
        at : str or mapping of str to str, optional
            Where the patients are: a level, such as their hospital, or the levels of several axes,
            as `at` takes them. Its curve comes first.

        Returns
        -------
        pandas.DataFrame
            Index: (curve, patient). Curves of sites: the one of `at`, the average site and a new
            site; of periods: now and the next period; of factors: every level. Columns as of
            `CalibrationPosterior.risks`.

        Raises
        ------
        InputError
            If a score is outside [0, 1], a threshold outside (0, 1), or there is no such level.

        Examples
        --------
        >>> import numpy as np
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> site = np.resize(["A", "B", "C"], 300)
        >>> post = bc.fit(y_true, y_prob, site=site, curve="logistic", random_state=1)
        >>> post.risks(0.25, at="A").index.get_level_values("curve").tolist()
        ['A', 'average site', 'new site']
        """
        import pandas as pd

        views = self._shown()
        if at is not None:
            levels = self._levels_of(at)
            views = {", ".join(levels.values()): self.at(levels)} | views
        tables = [view.risks(y_prob, thresholds, ci_prob) for view in views.values()]
        return pd.concat(tables, keys=list(views), names=["curve", "patient"])

    def _shown(self) -> dict[str, CurveView]:
        """The curves that stand for all, by their titles."""
        new = [axis for axis in self.levels if axis == "site"]
        return {"average": self.average(), **{f"new {axis}": self.new(axis) for axis in new}}

    def _levels_of(self, at: Any) -> dict[str, str]:
        """The levels that `at` names, by axis; a single name is of the only axis."""
        axes = list(self.levels)
        if not isinstance(at, Mapping) and len(axes) == 1:
            return {axes[0]: check_choice(str(at), self.levels[axes[0]], "at")}
        if not isinstance(at, Mapping) or not at:
            told = ", ".join(f"{axis!r}: ..." for axis in axes)
            given = shortened(repr(at))
            raise InputError(f"at={given} names no axis. Pass a mapping: at={{{told}}}.")
        levels = {}
        for axis, level in at.items():
            known = self.levels[check_choice(axis, axes, "an axis of at")]
            levels[axis] = check_choice(str(level), known, f"at[{axis!r}]")
        return levels

    def tce(self, p: float = 1, population: Any = "bootstrap", *, by: Any = None) -> xr.DataArray:
        """Posterior of the true calibration error of every site, level or period.

        Parameters
        ----------
        p : float, at least 1
        population : {"bootstrap", "sample", "beta"} or scores
        by : str or sequence of str, optional
            As in `functional`.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, site), values in [0, 1].
        """
        return self._each(lambda view: view.tce(p, population), by)

    def functional(
        self, name: str, population: Any = "bootstrap", *, by: Any = None, **options: Any
    ) -> xr.DataArray:
        """Posterior of a functional of every site, level or period.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"} or scores
        by : str or sequence of str, optional
            What is compared: one axis, such as "sex", or several, for the combinations of their
            levels; by default the levels of every axis.
        **options
            Passed to the functional.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, site), or `period`; of factors `subgroup`, which has the
            coordinates `factor` and `level`.
        """
        check_choice(name, FUNCTIONALS, "name")
        return self._each(lambda view: view.functional(name, population, **options), by)

    def net_benefit(
        self, thresholds: ArrayLike, population: Any = "bootstrap", *, by: Any = None
    ) -> xr.Dataset:
        """Posterior of the net benefit of every curve, as `CalibrationPosterior.net_benefit`.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
        population : {"bootstrap", "sample", "beta"} or scores
        by : str or sequence of str, optional
            As in `functional`.

        Returns
        -------
        xarray.Dataset
            Its variables have a dim `site`, `period` or `subgroup`.
        """
        return self._each(lambda view: view.net_benefit(thresholds, population), by)

    def value_of_information(
        self,
        thresholds: ArrayLike,
        n_more: Any = None,
        method: str = "curve",
        population: Any = "bootstrap",
        *,
        by: Any = None,
    ) -> xr.Dataset:
        """Value of knowing more of every curve, as `CalibrationPosterior.value_of_information`.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
        n_more : int or sequence of int, optional
            Patients of a further study of the level.
        method : {"curve", "cells"}
        population : {"bootstrap", "sample"} or scores
        by : str or sequence of str, optional
            As in `functional`.

        Returns
        -------
        xarray.Dataset
            Its variables have a dim `site`, `period` or `subgroup`.
        """
        return self._each(
            lambda view: view.value_of_information(thresholds, n_more, method, population), by
        )

    def summary(self, ci_prob: float = 0.95, *, by: Any = None, **options: Any) -> pd.DataFrame:
        """Every functional of every curve with its credible interval.

        Parameters
        ----------
        ci_prob : float in (0, 1)
        by : str or sequence of str, optional
            As in `functional`.
        **options
            `p`, `population` and `names`, as of `CalibrationPosterior.summary`.

        Returns
        -------
        pandas.DataFrame
            Index: (site, functional), or `period`; of factors (factor, level, functional). Columns:
            estimate, mean, median, lower, upper.
        """
        import pandas as pd

        names, keys = self._index(by)
        tables = [self.at(each.levels).summary(ci_prob, **options) for each in self.parts(by)]
        return pd.concat(tables, keys=keys, names=[*names, "functional"])

    def interval(
        self, name: str = "tce", ci_prob: float = 0.95, *, by: Any = None, **options: Any
    ) -> pd.DataFrame:
        """Credible interval of a functional of every curve, as `CalibrationPosterior.interval`.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        ci_prob : float in (0, 1)
        by : str or sequence of str, optional
            As in `functional`.
        **options
            `population`, and what the functional takes.

        Returns
        -------
        pandas.DataFrame
            Index: site, period, or (factor, level). Columns: lower, upper.
        """
        import pandas as pd

        names, keys = self._index(by)
        ends = [self.at(each.levels).interval(name, ci_prob, **options) for each in self.parts(by)]
        index = pd.Index(keys, name=names[0]) if len(names) == 1 else None
        if index is None:
            index = pd.MultiIndex.from_tuples(keys, names=names)
        return pd.DataFrame(ends, index, ["lower", "upper"])

    def _index(self, by: Any) -> tuple[list[str], list[Any]]:
        """Names and keys of the rows of a table of curves."""
        parts = self.parts(by)
        if len({each.factor for each in parts}) == 1 and parts[0].factor in SELF_NAMED:
            return [parts[0].factor], [each.level for each in parts]
        return ["factor", "level"], [(each.factor, each.level) for each in parts]

    def _each(self, measure: Callable[[CurveView], Measured], by: Any) -> Measured:
        """A measure of every curve, side by side."""
        import xarray as xr

        parts = self.parts(by)
        (dim, *_), labels = self._index(by)
        each = [measure(self.at(part.levels)) for part in parts]
        if dim in SELF_NAMED:
            joined = xr.concat(each, xr.DataArray(labels, dims=dim, name=dim))
            return joined.transpose("chain", "draw", dim, ..., missing_dims="ignore")
        joined = xr.concat(each, "subgroup").assign_coords(
            factor=("subgroup", [part.factor for part in parts]),
            level=("subgroup", [part.level for part in parts]),
        )
        return joined.transpose("chain", "draw", "subgroup", ..., missing_dims="ignore")
