"""CalibrationPosterior: a thin view on the tree, and the questions one asks of it."""

from __future__ import annotations

import json
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal.data.data import CalibrationData
from bayescal.data.validate import as_level, as_number, as_scores, as_vector, check_choice
from bayescal.model.curves import Curve, stored_curve
from bayescal.model.problem import Settings
from bayescal.posterior import tree as _tree
from bayescal.posterior.evaluation import Evaluation, Wanted
from bayescal.posterior.functionals import FUNCTIONALS, net_benefit, net_benefit_of_all
from bayescal.posterior.intervals import (
    equal_tailed,
    lower_end,
    share_above,
    share_below,
    upper_end,
)
from bayescal.posterior.tree import with_chains

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["CalibrationPosterior", "load"]

ROUNDING = 1e-12


class CalibrationPosterior:
    """Posterior of a calibration curve and of everything computed from it.

    A view on an `xarray.DataTree` in ArviZ's schema, with no state of its own: everything it
    answers is read from the tree, so saving, loading and ArviZ's tools need nothing else.

    Parameters
    ----------
    tree : xarray.DataTree
        As written by `bayescal.fit`.

    Raises
    ------
    InputError
        If the tree was not written by bayescal.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> bool(0 < post.tce().mean() < 0.2)
    True
    """

    def __init__(self, tree: xr.DataTree) -> None:
        missing = {"curve", "prior", "frame", "edges", "seed"} - set(map(str, tree.attrs))
        if missing:
            raise InputError(
                f"the tree lacks the attributes {', '.join(sorted(missing))}: it was not written "
                "by bayescal.fit. Pass one that was, or refit the data."
            )
        self._tree = _tree.upgraded(tree)

    @property
    def tree(self) -> xr.DataTree:
        """The `xarray.DataTree` in ArviZ's schema.

        Likelihoods, predictions and prior draws are added when this is first read.
        """
        _tree.complete(self._tree)
        return self._tree

    @cached_property
    def settings(self) -> Settings:
        """Family, prior, centre, edges and seed of the fit."""
        return Settings.from_attributes(self._tree.attrs)

    @cached_property
    def data(self) -> CalibrationData:
        """The table that was fitted."""
        return _tree.read_data(self._tree)

    @property
    def family(self) -> Curve:
        """The family of curves."""
        return self.settings.curve

    @property
    def engine(self) -> str:
        """The engine that drew it: "importance" or "nuts"."""
        return str(json.loads(self._tree.attrs["engine"]))

    @property
    def versions(self) -> dict[str, str]:
        """Versions of the libraries that drew it."""
        found: dict[str, str] = json.loads(self._tree.attrs["versions"])
        return found

    @property
    def diagnostics(self) -> dict[str, float | str]:
        """How far the draws can be trusted.

        Returns
        -------
        dict
            For importance: pareto_k (above 0.7 is bad), ess, log_evidence and its error. For
            NUTS: the largest r_hat (above 1.01 is bad), smallest ess, and divergences. `verdict`
            is "ok" or says what is wrong.
        """
        stats = self._tree["sample_stats"].to_dataset()
        if self.engine == "importance":
            names = ("pareto_k", "ess", "log_evidence", "log_evidence_error")
            found: dict[str, float | str] = {name: float(stats[name]) for name in names}
            bad = float(found["pareto_k"]) > 0.7
            verdict = "Pareto k-hat is above 0.7: sample with engine='nuts'" if bad else "ok"
        else:
            found = self._nuts_diagnostics(stats)
            verdict = _nuts_verdict(found)
        return {"engine": self.engine} | found | {"verdict": verdict}

    def curve(self, scores: Any = None) -> xr.DataArray:
        """Draws of the calibration curve g.

        Parameters
        ----------
        scores : array-like of shape (k,), optional
            Where to evaluate it, in [0, 1]; by default the distinct scores of the data.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, score), values in (0, 1).

        Raises
        ------
        InputError
            If a score is outside [0, 1].
        """
        values = self.data.score if scores is None else as_scores(scores, "scores")
        return self._array(self._posterior.curve(values), "curve", score=values)

    def predict(self, y_prob: Any) -> xr.DataArray:
        """Recalibrated probabilities of new cases.

        Parameters
        ----------
        y_prob : array-like of shape (n,)
            The classifier's probabilities.

        Returns
        -------
        xarray.DataArray
            With dims (chain, draw, obs). Its mean over draws is the recalibrated probability.

        Raises
        ------
        InputError
            If a score is outside [0, 1].
        """
        values = as_scores(y_prob)
        return self._array(
            self._posterior.curve(values), "recalibrated", obs=np.arange(values.size)
        )

    def tce(
        self, p: float = 1, population: str = "bootstrap", *, reading: str = "average"
    ) -> xr.DataArray:
        """Posterior of the true calibration error, (E_w |g - s|^p)^(1/p).

        Parameters
        ----------
        p : float, at least 1
            The norm. At 1 this is the integrated calibration index; `inf` is the largest error.
        population : {"bootstrap", "sample", "beta"}
            Whose error: patients like these, these very patients, or a Beta density of scores.
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
            "prior" is what was believed of it before any outcome was seen.
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
            of = self._lower_reading(name, group)
        else:
            of = self._posterior if group == "posterior" else self._prior
        return self._array(of.values([(name, options)], population)[name].copy(), name)

    def net_benefit(self, thresholds: Any, population: str = "bootstrap") -> xr.Dataset:
        """Posterior of the net benefit of treating whoever has a score of at least a threshold.

        In each draw, E_w [1(s >= t) (g - (1 - g) t / (1 - t))]: the events treated per patient,
        less the non-events treated, each counted t / (1 - t) times.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
            Risks t at which a patient is treated, in (0, 1).
        population : {"bootstrap", "sample", "beta"}

        Returns
        -------
        xarray.Dataset
            `model` and `treat_all`, with dims (chain, draw, threshold); treating no one is worth
            0. `prob_best`, with dim threshold, is the probability that the model is better than
            either.

        Raises
        ------
        InputError
            If a threshold is not inside (0, 1), or the population is unknown.

        Notes
        -----
        To compare two models on the same patients use `bayescal.recalibration_gain`, which keeps
        the pairs. Scores of exactly 0 and 1 decide as they were given. In a table of more than 2048
        distinct scores the cell of the grid that holds a threshold is shared, by its width.

        References
        ----------
        Vickers & Elkin (2006), Decision curve analysis, Medical Decision Making 26.
        Cruz & Korthauer (2024), Bayesian decision curve analysis with bayesDCA, Statistics in
        Medicine 43: the probability that a model is useful.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> found = bc.fit(y_true, y_prob, random_state=1).net_benefit([0.1, 0.3])
        >>> found["model"].dims
        ('chain', 'draw', 'threshold')
        """
        import xarray as xr

        at = np.array(
            [as_level(value, "thresholds") for value in as_vector(thresholds, "thresholds")]
        )
        share = self.data.share_reaching(at)
        model, everyone = np.empty((2, self._posterior.u.shape[0], at.size))
        for part, draws in self._posterior.draws(population):
            own = draws.population.score.ndim == 1
            model[part] = net_benefit(draws, at, share if own else None)
            everyone[part] = net_benefit_of_all(draws, at)
        best = (model > np.maximum(everyone, 0) + ROUNDING).mean(axis=0)
        return xr.Dataset(
            {
                "model": self._array(model, "model", threshold=at),
                "treat_all": self._array(everyone, "treat_all", threshold=at),
                "prob_best": ("threshold", best),
            }
        )

    @property
    def prob_calibrated(self) -> float | None:
        """Probability of exact calibration, beside an averaged posterior; None for one family."""
        if self._families is None:
            return None
        return float(json.loads(self._tree.attrs["prob_calibrated"]))

    def prob_monotone(self) -> float:
        """Probability that the curve never falls over the range of the observed scores.

        Returns
        -------
        float
            1 for every family but `spline`, `pieces` and averages that hold one of them.
        """
        observed = self.settings.edges.inside(self.data.score)
        grid = expit(np.linspace(logit(observed[0]), logit(observed[-1]), 201))
        log_odds = self.family.log_odds(self._posterior.u, grid, self.settings.frame)
        return float((np.diff(log_odds, axis=1) >= -1e-12).all(axis=1).mean())

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
        ends = [upper_end(values, level) for values in (average, *lower)]
        return min(lower_end(values, level) for values in (average, *lower)), max(ends)

    def prob_below(
        self, x: float, name: str = "tce", *, population: str = "bootstrap", **options: Any
    ) -> float:
        """Probability that a functional is below `x`; of a distance, on the safe side.

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
        """Probability that a functional is above `x`; of a distance, on the safe side.

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
        of_mean = self._mean_curve.values([(name, options)], population)[name]
        return float(np.clip(of_mean.mean(), *ends))

    @property
    def _families(self) -> dict[str, float] | None:
        """Families of an averaged posterior and their prior probabilities."""
        if "families" not in self._tree.attrs:
            return None
        weights: dict[str, float] = json.loads(self._tree.attrs["families"])
        return weights

    def summary(
        self, ci_prob: float = 0.95, *, p: float = 1, population: str = "bootstrap"
    ) -> pd.DataFrame:
        """Every functional with its credible interval, as `interval` gives it.

        Parameters
        ----------
        ci_prob : float in (0, 1)
            Probability of the interval.
        p : float, at least 1
            Norm of the row "tce".
        population : {"bootstrap", "sample", "beta"}

        Returns
        -------
        pandas.DataFrame
            Index: functional. Columns: estimate, mean, median, lower, upper. The estimate of a
            distance from calibration is that of the posterior mean curve, brought into the
            interval; of anything else it is the posterior mean. `attrs` state the interval, the
            population, how many scores of 0 and 1 were moved and to where, how the weights are
            read (`weight_type`), and whether this is a pseudo-posterior.

        Notes
        -----
        The intervals of a single family never hold exact calibration, which is not one of its
        curves: `bayescal.compare` gives it a probability.
        """
        import pandas as pd

        level = as_level(ci_prob)
        wanted: Wanted = [(name, {"p": p} if name == "tce" else {}) for name in self._defined()]
        draws = self._posterior.values(wanted, population)
        distances = [item for item in wanted if FUNCTIONALS[item[0]].is_distance]
        self._mean_curve.values(distances, population)  # all at once, for what is asked below
        if distances and self._families is not None:
            self._lower_reading("tce").values(distances, population)
        rows = {}
        for name, options in wanted:
            values = draws[name]
            lower, upper = self.interval(name, level, population=population, **options)
            rows[name] = {
                "estimate": self.estimate(name, level, population=population, **options),
                "mean": values.mean(),
                "median": np.median(values),
                "lower": lower,
                "upper": upper,
            }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "functional"
        edges = self.settings.edges
        table.attrs.update(
            ci_prob=level,
            interval=self._interval_in_words,
            population=population,
            moved=edges.moved,
            zero_read_as=edges.low,
            one_read_as=edges.high,
            pseudo_posterior=self.data.is_pseudo,
            weight_type=self.data.weight_type,
        )
        return table

    def off_diagonal(self, ci_prob: float = 0.95) -> xr.DataArray:
        """Scores where the curve leaves the diagonal, as one joint statement.

        The largest set found such that, with probability at least `ci_prob`, the curve is above
        the diagonal on all of its "above" part and below it on all of its "below" part, at once.
        Scores enter in order of how sure their side is (the excursion sets of Bolin & Lindgren).

        This is a posterior statement, not a test: on simulated data sets of 150 patients from a
        calibrated model it was non-empty in 26 % at 0.95 and in 4 % at 0.99.

        Parameters
        ----------
        ci_prob : float in (0, 1)

        Returns
        -------
        xarray.DataArray
            With dim score: 1 where above, -1 where below, 0 where the diagonal cannot be ruled
            out. The attribute `probability` is the joint probability reached.

        References
        ----------
        Bolin & Lindgren (2015), Excursion and contour uncertainty regions for latent Gaussian
        models, JRSS B 77.
        """
        import xarray as xr

        level = as_level(ci_prob)
        error = self._posterior.curve(self.data.score) - self.settings.edges.inside(self.data.score)
        above, below = (error > 0).mean(axis=0), (error < 0).mean(axis=0)
        side = np.where(above >= below, 1, -1)
        order = np.argsort(-np.maximum(above, below), kind="stable")
        held = (error * side > 0)[:, order]
        joint = np.logical_and.accumulate(held, axis=1).mean(axis=0)
        size = int(np.count_nonzero(joint >= level))
        region = np.zeros(side.size, dtype=np.int8)
        region[order[:size]] = side[order[:size]]
        attributes = {"ci_prob": level, "probability": float(joint[size - 1]) if size else 1.0}
        return xr.DataArray(region, {"score": self.data.score}, "score", "off_diagonal", attributes)

    def prob_on_diagonal(self, scores: Any = None) -> xr.DataArray:
        """Probability that the curve lies exactly on the diagonal, by score.

        Of a fit of `pieces`, or of an averaged posterior: there it is that of the lower reading,
        which exact calibration is part of.

        Parameters
        ----------
        scores : array-like of shape (k,), optional
            Where, in [0, 1]; by default the distinct scores of the data.

        Returns
        -------
        xarray.DataArray
            With dim score, values in [0, 1].

        Raises
        ------
        InputError
            If the family has no stretches on the diagonal, or a score is outside [0, 1].

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 400, random_state=1)
        >>> post = bc.fit(y_true, y_prob, curve="pieces", random_state=1)
        >>> bool((post.prob_on_diagonal([0.2, 0.7]) > 0.1).all())
        True
        """
        import xarray as xr

        values = self.data.score if scores is None else as_scores(scores, "scores")
        on = self.errors_where_known(values) == 0
        return xr.DataArray(on.mean(axis=0), {"score": values}, "score", "prob_on_diagonal")

    def errors_where_known(self, scores: Floats) -> Floats:
        """Draws of the curve minus the score, exactly zero where a draw is on the diagonal.

        Of a fit of `pieces`, or of the lower reading of an averaged posterior.

        Parameters
        ----------
        scores : ndarray of shape (k,)

        Returns
        -------
        ndarray of shape (draws, k)

        Raises
        ------
        InputError
            If the family has no stretches on the diagonal.
        """
        of = self._posterior if self._families is None else self._lower
        if of is None or not (of.settings.curve.in_cells and of.settings.frame.cells):
            raise InputError(
                f"a curve of the family {self.family.name!r} is nowhere exactly on the diagonal "
                "unless it is everywhere. Fit curve='pieces', or use bayescal.compare."
            )
        values = as_scores(scores, "scores")
        return of.curve(values) - of.settings.edges.inside(values)

    def to_netcdf(self, path: str | PathLike[str]) -> None:
        """Write the whole tree to a NetCDF file; `bayescal.load` reads it back.

        Parameters
        ----------
        path : str or path-like
        """
        self.tree.to_netcdf(path, engine="h5netcdf")

    def __repr__(self) -> str:
        atom = self.prob_calibrated
        if atom is not None and self._lower is None:
            return "CalibrationPosterior\n  an average stored by an earlier version"
        lower, upper = self.interval("tce")
        return (
            "CalibrationPosterior\n"
            f"  {self.data.n:g} cases, {self.data.events:g} events\n"
            f"  {self.family.name} curve, {self.settings.prior.name} prior, {self.engine}\n"
            f"  TCE {self.estimate('tce'):.3f} (95 % CrI {lower:.3f} to {upper:.3f})"
            + (f"; P(calibrated) {atom:.3f}" if atom is not None else "")
        )

    def _defined(self) -> list[str]:
        """Functionals that these data, and the version that stored them, define."""
        distinct = np.unique(self.settings.edges.inside(self.data.score)).size
        undefined = {"calibration_intercept", "calibration_slope"} if distinct < 2 else set()
        if self._families is not None and self._lower is None:
            undefined |= {name for name, each in FUNCTIONALS.items() if each.is_distance}
        return [name for name in FUNCTIONALS if name not in undefined]

    @cached_property
    def _posterior(self) -> Evaluation:
        return Evaluation(self.settings, self.data, _tree.read_coordinates(self._tree))

    @cached_property
    def _prior(self) -> Evaluation:
        drawn = _tree.read_prior(self._tree)
        u = np.empty(self._posterior.u.shape)
        for column, name in enumerate(self.family.coordinates):
            u[:, column] = drawn[name]
        return Evaluation(self.settings, self.data, u)

    @cached_property
    def _mean_curve(self) -> Evaluation:
        """The posterior mean of the curve: the one that is drawn."""
        return self._posterior.of_mean()

    def _readings(self, name: str, population: str, options: dict[str, Any]) -> list[Floats]:
        """Draws in each reading: two of a distance in an average, one of anything else."""
        check_choice(name, FUNCTIONALS, "name")
        parts = [self._posterior]
        if self._families is not None and FUNCTIONALS[name].is_distance:
            parts.append(self._lower_reading(name))
        return [part.values([(name, options)], population)[name] for part in parts]

    def _lower_reading(self, name: str, group: str = "posterior") -> Evaluation:
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

    @cached_property
    def _lower(self) -> Evaluation | None:
        """Curves that like the diagonal; None where there are none."""
        u = _tree.read_lower_reading(self._tree)
        if u is None:
            return None
        return Evaluation(self.settings.of_family(stored_curve("pieces")), self.data, u)

    @property
    def _interval_in_words(self) -> str:
        if self._families is None:
            return "equal-tailed; exact calibration is not one of the curves"
        return "equal-tailed; of distances by two readings"

    def _array(self, values: Floats, name: str, **coords: Any) -> xr.DataArray:
        import xarray as xr

        posterior = self._tree["posterior"]
        axes = {dim: posterior[dim].to_numpy() for dim in ("chain", "draw")}
        shaped = with_chains(values, axes["chain"].size)
        return xr.DataArray(shaped, axes | coords, ("chain", "draw", *coords), name)

    def _nuts_diagnostics(self, stats: xr.Dataset) -> dict[str, float | str]:
        import arviz_stats

        posterior = self._tree["posterior"].to_dataset()
        family = self.family
        kept = {*family.variables, *family.coordinates} & set(posterior.data_vars)
        posterior = posterior[sorted(kept)]
        rhat = arviz_stats.rhat(posterior)
        bulk = arviz_stats.ess(posterior, method="bulk")
        tail = arviz_stats.ess(posterior, method="tail")
        return {
            "r_hat": float(rhat.to_array().max()),
            "ess_bulk": float(bulk.to_array().min()),
            "ess_tail": float(tail.to_array().min()),
            "divergences": float(stats["diverging"].sum()),
        }


def load(path: str | PathLike[str]) -> CalibrationPosterior:
    """Read a posterior that `to_netcdf` wrote.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    CalibrationPosterior

    Raises
    ------
    InputError
        If there is no such file, or it was not written by bayescal.

    Examples
    --------
    >>> import bayescal as bc
    >>> post = bc.load("posterior.nc")  # doctest: +SKIP
    """
    from pathlib import Path

    import xarray as xr

    if not Path(path).is_file():
        raise InputError(f"path {str(path)!r} is not a file.")
    try:
        tree = xr.load_datatree(path, engine="h5netcdf")
    except (OSError, ValueError) as error:
        raise InputError(f"path {str(path)!r} is not a NetCDF file: {error}.") from error
    return CalibrationPosterior(tree)


def _nuts_verdict(found: dict[str, float | str]) -> str:
    if float(found["divergences"]) > 0:
        return "divergences: the sampler missed part of the posterior; use a tighter prior"
    if float(found["r_hat"]) > 1.01:
        return "r-hat is above 1.01: the chains disagree; draw more"
    return "ok"
