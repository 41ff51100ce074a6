"""Measures of a posterior: functionals of its curves, their intervals and their probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError, as_items
from bayescal.data.validate import as_level, as_number, check_choice
from bayescal.posterior.evaluation import Evaluated, Wanted, evaluate
from bayescal.posterior.functionals import FUNCTIONALS
from bayescal.posterior.intervals import equal_tailed, joint_interval, share_above, share_below
from bayescal.posterior.view import PosteriorView

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["Measures"]

SUMMARY = ["estimate", "mean", "median", "lower", "upper"]


class Measures(PosteriorView):
    """What one asks of the functionals of a posterior.

    A distance from calibration in an averaged posterior has two readings, one for each end of its
    interval; anything else has one.
    """

    def tce(
        self, p: float = 1, population: str = "bootstrap", *, reading: str = "average"
    ) -> xr.DataArray:
        """Posterior of the true calibration error, (E_w |g - s|^p)^(1/p).

        Parameters
        ----------
        p : float, at least 1
            The norm. At 1 this is the integrated calibration index; `inf` is the largest error.
        population : {"bootstrap", "sample", "beta"}
            Population of the error: patients like these, exactly these patients, or a Beta density.
        reading : {"average", "lower"}
            Of an averaged posterior; see `functional`.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw), values in [0, 1].

        Raises
        ------
        InputError
            If `p` is below 1, or the population or the reading unknown.

        Notes
        -----
        For an interval use `interval`, not quantiles of these draws: of an averaged posterior the
        lower end is read off other draws, because draws of a curve are further from the diagonal
        than the truth is when calibration is good.

        References
        ----------
        Dong et al. (2025), AAAI, Algorithm 2.
        """
        return self.functional("tce", population=population, reading=reading, p=p)

    def functional(
        self,
        name: str,
        population: str = "bootstrap",
        *,
        group: str = "posterior",
        reading: str = "average",
        **options: Any,
    ) -> xr.DataArray:
        """Posterior of a functional of the curve and the score distribution.

        All functionals of one fit share the same draws of the population, and asking twice gives
        the same numbers.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"}
        group : {"posterior", "prior"}
            "prior" is its distribution under the prior, without the outcomes.
        reading : {"average", "lower"}
            "average" is what everything is read off but the lower end of distances. "lower" is of
            curves that like the diagonal, exact calibration among them, and counts an error only
            where its side is nearly sure; it is for distances in an averaged posterior.
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
        check_choice(reading, ("average", "lower"), "reading")
        if reading == "lower":
            return self._array(self._lower_values(name, group, population, options), name)
        of = self._posterior if group == "posterior" else self._prior
        return self._array(of.values([(name, options)], population)[name], name)

    def interval(
        self,
        name: str = "tce",
        ci_prob: float = 0.95,
        *,
        kind: str = "auto",
        population: str = "bootstrap",
        **options: Any,
    ) -> tuple[float, float]:
        """Credible interval of a functional.

        Equal-tailed, read off draws that are not exactly calibrated: those of one family, or of
        the average over the families other than `identity`.

        Distances from calibration in an averaged posterior have two readings, one for each end.
        The upper end is a quantile of the average's draws. The lower end is a quantile in a
        posterior that likes the diagonal: exact calibration, and curves with stretches on it;
        there an error counts only where its side is known with probability 0.8, so that chance
        does not add up to an error. It is 0 where no part of the curve is surely off.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        ci_prob : float in (0, 1)
        kind : {"auto", "equal-tailed"}
            "auto" is as above; "equal-tailed" is so for distances in an average too.
        population : {"bootstrap", "sample", "beta"}
        **options
            Passed to the functional, such as `p` for "tce".

        Returns
        -------
        lower, upper : float

        Raises
        ------
        InputError
            If a name or the kind is unknown.
        """
        check_choice(kind, ("auto", "equal-tailed"), "kind")
        check_choice(name, FUNCTIONALS, "name")
        level = as_level(ci_prob)
        average, *lower = self._readings(name, population, options)
        if kind == "equal-tailed" or not lower:
            return equal_tailed(average, level)
        return joint_interval((average, *lower), level)

    def prob_below(
        self, x: float, name: str = "tce", *, population: str = "bootstrap", **options: Any
    ) -> float:
        """Probability that a functional is below `x`; conservative for a distance.

        For the statement that a model is close enough to calibrated. For a distance in an averaged
        posterior it is the smaller of the two readings' probabilities: it reaches
        (1 + ci_prob) / 2 if and only if the interval of that level lies below `x`.

        Parameters
        ----------
        x : float
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"}
        **options
            Passed to the functional, such as `p` for "tce".

        Returns
        -------
        float
        """
        limit = as_number(x, "x")
        readings = self._readings(name, population, options)
        return min(share_below(values, limit) for values in readings)

    def prob_above(
        self, x: float, name: str = "tce", *, population: str = "bootstrap", **options: Any
    ) -> float:
        """Probability that a functional is above `x`; conservative for a distance.

        For the statement that a model is miscalibrated. For a distance in an averaged posterior
        it is the smaller of the two readings' probabilities: it reaches (1 + ci_prob) / 2 if and
        only if the interval of that level lies above `x`. What it and `prob_below` leave to 1 is
        "cannot tell".

        Parameters
        ----------
        x : float
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        population : {"bootstrap", "sample", "beta"}
        **options
            Passed to the functional, such as `p` for "tce".

        Returns
        -------
        float
        """
        limit = as_number(x, "x")
        readings = self._readings(name, population, options)
        return min(share_above(values, limit) for values in readings)

    def prob_tce_below(self, x: float, *, p: float = 1, population: str = "bootstrap") -> float:
        """`prob_below` of the true calibration error."""
        return self.prob_below(x, "tce", population=population, p=p)

    def prob_tce_above(self, x: float, *, p: float = 1, population: str = "bootstrap") -> float:
        """`prob_above` of the true calibration error."""
        return self.prob_above(x, "tce", population=population, p=p)

    def estimate(
        self,
        name: str = "tce",
        ci_prob: float = 0.95,
        *,
        population: str = "bootstrap",
        **options: Any,
    ) -> float:
        """Point estimate of a functional.

        Of a distance from calibration it is the distance of the posterior mean curve, brought into
        the interval: draws of a curve are further from the diagonal than their mean is, so the
        mean or median of their distances is too large near calibration. Of anything else it is
        the posterior mean.

        Parameters
        ----------
        name : str
            A name in `bayescal.functionals.FUNCTIONALS`.
        ci_prob : float in (0, 1)
            Of the interval that the estimate of a distance is brought into.
        population : {"bootstrap", "sample", "beta"}
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
        if not FUNCTIONALS[name].is_distance:
            return float(self._posterior.values([(name, options)], population)[name].mean())
        ends = self.interval(name, ci_prob, population=population, **options)
        return self._of_mean_curve(name, population, options, ends)

    def summary(
        self,
        ci_prob: float = 0.95,
        *,
        p: float = 1,
        population: str = "bootstrap",
        names: Sequence[str] | None = None,
    ) -> pd.DataFrame:
        """Every functional with its credible interval, as `interval` gives it.

        Parameters
        ----------
        ci_prob : float in (0, 1)
            Probability of the interval.
        p : float, at least 1
            Norm of the row "tce".
        population : {"bootstrap", "sample", "beta"}
        names : sequence of str, optional
            Rows to compute, by names in `bayescal.functionals.FUNCTIONALS`; by default all
            that differ. Intercept and slope have no row where the scores do not define them: 0.5 %
            of the scores or more are exactly 0 or 1, or all are equal.

        Returns
        -------
        pandas.DataFrame
            Index: functional. Columns: estimate, mean, median, lower, upper. The estimate of a
            distance from calibration is that of the posterior mean curve, brought into the
            interval; of anything else it is the posterior mean. `attrs` state the interval, the
            population, how many scores of 0 and 1 were moved and to where, how the weights are
            read (`weight_type`), whether this is a pseudo-posterior, and why rows are `undefined`;
            of clusters also their number, design effects and the effective number of cases.

        Raises
        ------
        InputError
            If a name is unknown or `ci_prob` out of range.

        Notes
        -----
        The intervals of a single family never hold exact calibration, which is not one of its
        curves: `bayescal.compare` gives it a probability.
        """
        import pandas as pd

        level = as_level(ci_prob)
        if names is None:
            names = [name for name, each in FUNCTIONALS.items() if not each.same_as]
        defined = self._defined(names)
        wanted: Wanted = [(name, {"p": p} if name == "tce" else {}) for name in defined]
        distances = [item for item in wanted if FUNCTIONALS[item[0]].is_distance]
        parts: list[tuple[Evaluated, Wanted]] = [
            (self._posterior, wanted),
            (self._mean_curve, distances),
        ]
        if distances and self._families is not None:
            parts.append((self._lower_reading("tce"), distances))
        evaluate(parts, population)  # all at once, for what is asked below
        rows, tail = [], (1 - level) / 2
        for name, options in wanted:
            readings = self._readings(name, population, options)
            low, middle, high = np.quantile(readings[0], [tail, 0.5, 1 - tail])
            ends = (low, high) if len(readings) == 1 else joint_interval(readings, level)
            mean = estimate = readings[0].mean()
            if FUNCTIONALS[name].is_distance:
                estimate = self._of_mean_curve(name, population, options, ends)
            rows.append((estimate, mean, middle, *ends))
        index = pd.Index([name for name, _ in wanted], name="functional")
        table = pd.DataFrame(np.reshape(rows, (-1, 5)), index, SUMMARY)
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
            **({} if self.design is None else self.design.to_dict()),
        )
        return table

    def _of_mean_curve(
        self, name: str, population: str, options: dict[str, Any], ends: tuple[float, float]
    ) -> float:
        """A distance of the posterior mean curve, brought into an interval."""
        distance = self._mean_curve.values([(name, options)], population)[name].mean()
        return float(np.clip(distance, *ends))

    def _defined(self, names: Sequence[str]) -> list[str]:
        """Those of the functionals that these data, and the version that stored them, define."""
        undefined = set(self._undefined)
        if self._families is not None and self._lower is None:
            undefined |= {name for name, each in FUNCTIONALS.items() if each.is_distance}
        chosen = [check_choice(name, FUNCTIONALS, "names") for name in as_items(names, "names")]
        return [name for name in chosen if name not in undefined]

    def _readings(self, name: str, population: str, options: dict[str, Any]) -> list[Floats]:
        """Draws in each reading: two of a distance in an average, one of anything else."""
        check_choice(name, FUNCTIONALS, "name")
        parts: list[Evaluated] = [self._posterior]
        if self._families is not None and FUNCTIONALS[name].is_distance:
            parts.append(self._lower_reading(name))
        evaluate([(part, [(name, options)]) for part in parts], population)
        return [part.values([(name, options)], population)[name] for part in parts]

    def _lower_values(
        self, name: str, group: str, population: str, options: dict[str, Any]
    ) -> Floats:
        """Draws in the reading for the lower end of a distance."""
        return self._lower_reading(name, group).values([(name, options)], population)[name]

    def _lower_reading(self, name: str, group: str = "posterior") -> Evaluated:
        """The reading for the lower end of a distance."""
        if not FUNCTIONALS[name].is_distance or group != "posterior":
            raise InputError(
                f"reading='lower' is for the posterior of distances from calibration, not for "
                f"{name!r} of the {group}."
            )
        if self._lower is None:
            raise InputError(
                "this posterior has no lower reading of distances: it is of one family of curves, "
                "or was stored by an earlier version. Compare the data again with bayescal.compare."
            )
        return self._lower.on_sure_side

    @property
    def _interval_in_words(self) -> str:
        if self._families is None:
            return "equal-tailed; exact calibration is not one of the curves"
        return "equal-tailed; of distances by two readings"
