"""Measures of a posterior: functionals of its curves, their intervals and their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal.core.arrays import Floats
from bayescal.core.errors import as_items, as_level, as_number, check_choice
from bayescal.posterior.evaluation import FunctionalCalls, SampledCurves, evaluate
from bayescal.posterior.functionals import FUNCTIONALS, usual_functionals
from bayescal.posterior.intervals import equal_tailed, share_below
from bayescal.posterior.lost import LOST, lost_options
from bayescal.posterior.view import PosteriorView

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["Measures"]

SUMMARY = ["estimate", "mean", "median", "lower", "upper"]


class Measures(PosteriorView):
    """What one asks of the functionals of a posterior, all of it read from one set of draws.

    In an averaged posterior the model is exactly calibrated in some of the draws, which `exact`
    marks: there every distance from calibration is 0. What is read off the curve itself is given
    that it is not.
    """

    def tce(self, p: float = 1, population: Any = "bootstrap") -> xr.DataArray:
        """Posterior of the true calibration error, (E_w |g - s|^p)^(1/p).

        Parameters
        ----------
        p : float, at least 1
            The norm. At 1 this is the integrated calibration index; `inf` is the largest error.
        population : {"bootstrap", "sample", "beta"} or scores
            Population of the error: patients like these, exactly these patients, a Beta density, or
            patients like others with these scores; see `on`.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw), values in [0, 1].

        Raises
        ------
        InputError
            If `p` is below 1, or the population unknown.

        Notes
        -----
        Draw by draw this is the mean of |curve - score| over the population; in the draws of an
        average that are exactly calibrated (`exact`) it is 0. Of more than 128 distinct scores (256
        from 100 000 cases on) neighbouring ones are merged to rows, and the curve is read at
        `post.problem.stated`, the mean score of each. Scores of 0 and 1 are compared as they came
        in.

        References
        ----------
        Dong et al. (2025), AAAI, Algorithm 2.
        """
        return self.functional("tce", population=population, p=p)

    def functional(
        self,
        name: str,
        population: Any = "bootstrap",
        *,
        group: str = "posterior",
        **options: Any,
    ) -> xr.DataArray:
        """Posterior of a functional of the curve and the score distribution.

        All functionals of one fit share the same draws of the population, and asking twice gives
        the same numbers.

        Every functional of a draw is of one curve and one population, so that no two contradict
        each other. In an averaged posterior distances (TCE, ICI, E50, E90, Emax) are 0 in the draws
        that are exactly calibrated. Of one of several curves, and over several imputations,
        distances do not pair with the other functionals.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"} or scores
        group : {"posterior", "prior"}
            "prior" is its distribution under the prior, without the outcomes, given that
            calibration is not exact.
        **options
            Passed to the functional, such as `p` for "tce".

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw).

        Raises
        ------
        InputError
            If the name, the population or the group is unknown.
        """
        check_choice(name, FUNCTIONALS, "name")
        check_choice(group, ("posterior", "prior"), "group")
        wanted: FunctionalCalls = [(name, options)]
        of, kind = self._over(population)
        if group == "prior":
            return of._array(of._prior.values(wanted, kind)[name], name)
        return of._array(of._values(wanted, kind)[name], name)

    def values_of(self, name: str, population: Any = "bootstrap", **options: Any) -> Floats:
        """The draws of `functional` as an array of shape (draws,).

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"} or scores
        **options
            Passed to the functional, such as `p` for "tce".

        Returns
        -------
        ndarray
        """
        of, kind = self._over(population)
        return of._draws_of(name, kind, options)

    def interval(
        self,
        name: str = "tce",
        ci_prob: float = 0.95,
        *,
        population: Any = "bootstrap",
        **options: Any,
    ) -> tuple[float, float]:
        """Credible interval of a functional: equal-tailed, of the draws of `functional`.

        In a fit of one family, exact calibration was not considered. In an average, and of one of
        several curves, the draws of a distance from calibration know it as a possibility; anything
        else is given that calibration is not exact.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        ci_prob : float in (0, 1)
        population : {"bootstrap", "sample", "beta"} or scores
        **options
            Passed to the functional, such as `p` for "tce".

        Returns
        -------
        lower, upper : float

        Raises
        ------
        InputError
            If a name is unknown.
        """
        level = as_level(ci_prob)
        of, kind = self._over(population)
        return of._ends(name, of._draws_of(name, kind, options), level)

    def prob_below(
        self, x: float, name: str = "tce", *, population: Any = "bootstrap", **options: Any
    ) -> float:
        """Probability that a functional is below `x`: the share of such draws.

        Parameters
        ----------
        x : float
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"} or scores
        **options
            Passed to the functional, such as `p` for "tce".

        Returns
        -------
        float
        """
        return share_below(self.values_of(name, population, **options), as_number(x, "x"))

    def prob_above(
        self, x: float, name: str = "tce", *, population: Any = "bootstrap", **options: Any
    ) -> float:
        """Probability that a functional is not below `x`: 1 - `prob_below`.

        Parameters
        ----------
        x : float
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"} or scores
        **options
            Passed to the functional, such as `p` for "tce".

        Returns
        -------
        float
        """
        return 1 - self.prob_below(x, name, population=population, **options)

    def prob_tce_below(self, x: float, *, p: float = 1, population: Any = "bootstrap") -> float:
        """`prob_below` of the true calibration error."""
        return self.prob_below(x, "tce", population=population, p=p)

    def prob_tce_above(self, x: float, *, p: float = 1, population: Any = "bootstrap") -> float:
        """`prob_above` of the true calibration error."""
        return self.prob_above(x, "tce", population=population, p=p)

    def estimate(
        self,
        name: str = "tce",
        ci_prob: float = 0.95,
        *,
        population: Any = "bootstrap",
        **options: Any,
    ) -> float:
        """Point estimate of a functional.

        The posterior mean; but of a distance from calibration in a fit of one family, the distance
        of the posterior mean curve, brought into the interval. There draws of a curve are further
        from the diagonal than their mean is, so that the mean of their distances is too large near
        calibration.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        ci_prob : float in (0, 1)
            Of the interval that the estimate of a distance in one family is brought into.
        population : {"bootstrap", "sample", "beta"} or scores
        **options
            Passed to the functional, such as `p` for "tce".

        Returns
        -------
        float

        Raises
        ------
        InputError
            If a name is unknown or `ci_prob` out of range.
        """
        check_choice(name, FUNCTIONALS, "name")
        of, kind = self._over(population)
        if of._is_read_off_mean_curve(name):
            ends = of.interval(name, ci_prob, population=kind, **options)
            return of._of_mean_curve(name, kind, options, ends)
        as_level(ci_prob)
        return float(of._draws_of(name, kind, options).mean())

    def summary(
        self,
        ci_prob: float = 0.95,
        *,
        p: float = 1,
        population: Any = "bootstrap",
        names: Sequence[str] | None = None,
        thresholds: Sequence[float] = (),
    ) -> pd.DataFrame:
        """Every functional with its credible interval, as `interval` gives it.

        Parameters
        ----------
        ci_prob : float in (0, 1)
            Probability of the interval.
        p : float, at least 1
            Norm of the row "tce".
        population : {"bootstrap", "sample", "beta"} or scores
        names : sequence of str, optional
            Rows to compute, by names in `bayescal.functionals.FUNCTIONALS`; by default all
            that differ. Intercept and slope have no row where the scores do not define them: 0.5 %
            of the scores or more are exactly 0 or 1, or all are equal.
        thresholds : sequence of float in (0, 1), optional
            Risks from which a patient is treated. For each there is a row "net_benefit_lost@t", of
            the net benefit lost to miscalibration, and if there are several a row of the most that
            is lost between the lowest and the highest, such as "net_benefit_lost@0.05 to 0.3".

        Returns
        -------
        pandas.DataFrame
            Index: functional. Columns: estimate, mean, median, lower, upper. The estimate is that
            of `estimate`: the mean, but for distances in one family. `attrs` state the interval,
            the population, how many scores of 0 and 1 were moved and to where, how the weights are
            read (`weight_type`), whether this is a pseudo-posterior, why rows are `undefined`, and
            which intervals call for `cautions`; of clusters also their number, design effects and
            the effective number of cases.

        Raises
        ------
        InputError
            If a name is unknown or `ci_prob` out of range.

        Notes
        -----
        In a fit of a single family exact calibration was not considered, so that no interval of a
        distance holds 0: `bayescal.compare` gives it a probability.
        """
        import pandas as pd

        of, kind = self._over(population)
        if of is not self:
            return of.summary(ci_prob, p=p, population=kind, names=names, thresholds=thresholds)
        level = as_level(ci_prob)
        if names is None:
            names = usual_functionals(of_times=self.data.follow_up is not None)
        rows = self._rows_of_summary(names, level, p=p, population=population)
        defined = list(rows)
        for at, options in lost_options(thresholds).items() if self._defined([LOST]) else ():
            draws = self._draws_of(LOST, population, options)
            rows[at] = self._row(LOST, draws, population, options, level)
        index = pd.Index(list(rows), name="functional")
        table = pd.DataFrame(np.reshape(list(rows.values()), (-1, 5)), index, SUMMARY)
        edges = self.problem.edges
        table.attrs.update(
            ci_prob=level,
            interval=self._interval_in_words,
            population=population,
            moved=edges.moved,
            zero_read_as=edges.low,
            one_read_as=edges.high,
            pseudo_posterior=self.data.is_pseudo,
            weight_type=self.data.weight_type,
            undefined={name: why for name, why in self._undefined.items() if name in names},
            cautions={name: why for name, why in self._cautions.items() if name in defined},
            **({} if self.design is None else self.design.to_dict()),
        )
        return table

    def _rows_of_summary(
        self, names: Sequence[str], level: float, *, p: float = 1, population: str = "bootstrap"
    ) -> dict[str, tuple[float, ...]]:
        """Estimate, mean, median, lower and upper end of those functionals that are defined."""
        defined = self._defined(names)
        wanted: FunctionalCalls = [(name, {"p": p} if name == "tce" else {}) for name in defined]
        read_off_mean = [item for item in wanted if self._is_read_off_mean_curve(item[0])]
        if read_off_mean:  # in one pass over the population
            evaluate([(self._posterior, wanted), (self._mean_curve, read_off_mean)], population)
        values = self._values(wanted, population)
        return {
            name: self._row(name, values[name], population, options, level)
            for name, options in wanted
        }

    def _row(
        self, name: str, draws: Floats, population: str, options: dict[str, Any], ci_prob: float
    ) -> tuple[float, ...]:
        """Estimate, mean, median, lower and upper end of a functional."""
        ends = self._ends(name, draws, ci_prob)
        mean = estimate = float(draws.mean())
        if self._is_read_off_mean_curve(name):
            estimate = self._of_mean_curve(name, population, options, ends)
        return estimate, mean, float(np.median(draws)), *ends

    def _is_read_off_mean_curve(self, name: str) -> bool:
        """Whether the estimate is that of the mean curve: of distances in one family."""
        return FUNCTIONALS[name].is_distance and not self.has_exact

    def _of_mean_curve(
        self, name: str, population: str, options: dict[str, Any], ends: tuple[float, float]
    ) -> float:
        """A distance of the posterior mean curve, brought into an interval."""
        distance = self._mean_curve.values([(name, options)], population)[name].mean()
        return float(np.clip(distance, *ends))

    def _defined(self, names: Sequence[str]) -> list[str]:
        """Those of the functionals that these data define."""
        chosen = [check_choice(name, FUNCTIONALS, "names") for name in as_items(names, "names")]
        return [name for name in chosen if name not in self._undefined]

    def _values(self, wanted: FunctionalCalls, population: str) -> dict[str, Floats]:
        """The draws that everything about each functional is read from, each of shape (draws,)."""
        evaluate([(self._posterior, wanted)], population)
        return self._posterior.values(wanted, population)

    def _draws_of(self, name: str, population: str, options: dict[str, Any]) -> Floats:
        """The same of one functional."""
        check_choice(name, FUNCTIONALS, "name")
        return self._values([(name, options)], population)[name]

    @property
    def curves_of_draws(self) -> SampledCurves:
        """The draws of the curve, over their draws of the population."""
        return self._posterior

    def _ends(self, name: str, values: Floats, ci_prob: float) -> tuple[float, float]:
        """The interval that draws of a functional give."""
        return equal_tailed(values, ci_prob)

    @property
    def _interval_in_words(self) -> str:
        if self.has_exact:
            return "equal-tailed; exact calibration is among the draws of distances"
        return "equal-tailed; exact calibration was not considered"
