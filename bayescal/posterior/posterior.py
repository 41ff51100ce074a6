"""CalibrationPosterior: draws of a calibration curve, and the questions one asks of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from bayescal.core.arrays import Floats, is_single
from bayescal.core.errors import (
    InputError,
    as_flag,
    as_items,
    as_level,
    as_levels,
    as_number,
    check_choice,
    check_type,
)
from bayescal.core.optimise import clipped
from bayescal.core.page import Page
from bayescal.core.text import card, shortened
from bayescal.data.cases import as_scores, as_vector
from bayescal.data.stored import write_tree
from bayescal.data.table import CalibrationData
from bayescal.model.clusters import Design, cluster_design
from bayescal.model.draws import OneOf, Part, one_table
from bayescal.model.problem import Problem
from bayescal.posterior import performance as performing
from bayescal.posterior import stored
from bayescal.posterior.decisions import ROUNDING, information, net_benefits
from bayescal.posterior.departures import (
    AtPrevalence,
    Departure,
    prevalence_table,
    prevalences,
    scores_alone,
)
from bayescal.posterior.evaluation import (
    CurvesOfTable,
    FunctionalCall,
    FunctionalCalls,
    by_imputation,
    evaluate,
    means_of,
    read,
)
from bayescal.posterior.functionals import (
    FUNCTIONALS,
    LOST,
    lost_options,
    risk_table,
    undefined_measures,
    usual_functionals,
)
from bayescal.posterior.imputed import (
    in_turn,
    missing_information,
    mixed,
    mixed_coordinates,
    mixed_curves,
    mixed_performances,
)
from bayescal.posterior.intervals import (
    SUMMARY_COLUMNS,
    equal_tailed,
    share_below,
    summary_rows,
    sure_region,
)
from bayescal.posterior.population import POPULATIONS, scores_by
from bayescal.posterior.words import (
    diagnosed,
    lines_of,
    page_of_posterior,
    rates_table,
    told_beside,
)

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

SUMMARY = ["estimate", "mean", "median", "lower", "upper"]
# Functionals that are not of patients with their own group, and why.
NEEDS_ONE_CURVE = {
    "emax": "the largest error of any group grows with their number",
    "cutoff_error": "patients of one score are not told apart",
}


class CalibrationPosterior:
    """Posterior of a calibration curve and of everything computed from it.

    It holds draws of the curve and the table that was fitted; scores that were imputed several
    times give a table, and draws, for each imputation. Every number is read from these draws over
    the scores of a population. What was fitted and drawn is also in `tree`, an `xarray.DataTree` in
    ArviZ's schema. One of several curves, such as that of a site, answers as any other.

    Parameters
    ----------
    tree : xarray.DataTree or sequence of Part
        As `to_netcdf` writes it; or the draws themselves.

    Raises
    ------
    InputError
        If the tree was not written by bayescal.

    Notes
    -----
    Of an average, the model is exactly calibrated in some of the draws, which `exact` marks: there
    every distance from calibration is 0. What is read off the curve itself is given that it is not.

    Of several imputations, the draws of all are mixed in equal shares, each measured on the scores
    of its own imputation; nothing is assumed to be normal. Draws of m imputations, mixed, have the
    variance W + B (m - 1) / m, with W the variance within imputations and B that of their means.
    Rubin's total variance is W + (1 + 1 / m) B, larger because m imputations do not show all that
    is possible. The deviations of the imputations from their common mean are therefore enlarged by
    sqrt((m + 1) / (m - 1)): of curves in log-odds, of distances from calibration by a factor, of
    anything else by addition. With 5 imputations this is 1.22 and with 100 it is 1.01. It does not
    replace imputations: with few of them B itself is uncertain, which Rubin's rules meet with a t
    distribution and these draws do not. The coordinates in `tree` are as they were drawn; those in
    `coordinates` are moved apart, too.

    References
    ----------
    Rubin (1987), Multiple Imputation for Nonresponse in Surveys. Zhou & Reiter (2010), A note on
    Bayesian inference after multiple imputation, The American Statistician 64: mixing draws.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 200, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> bool(0 < post.tce().mean() < 0.2)
    True
    """

    _parts: tuple[Part, ...]
    _fitted: Self | None = None
    _departure: Departure | None = None

    def __init__(self, tree: xr.DataTree | Sequence[Part]) -> None:
        if isinstance(tree, Sequence):
            if not tree or not all(isinstance(part, Part) for part in tree):
                raise InputError(
                    f"tree must be an xarray.DataTree, got {shortened(repr(tree))}. Read a file "
                    "with bayescal.load."
                )
            self._parts = tuple(tree)
        else:
            self._parts, self._tree = stored.read_parts(tree), tree

    def _with(self, parts: Sequence[Part]) -> Self:
        """A posterior of the same kind, of other parts."""
        other = type(self).__new__(type(self))
        other._parts = tuple(parts)
        return other

    # Whose it is

    def sel(self, *, imputation: int) -> Self:
        """The posterior of one imputation.

        Parameters
        ----------
        imputation : int
            Counted from 1.

        Returns
        -------
        CalibrationPosterior

        Raises
        ------
        InputError
            If there is no such imputation.
        """
        size = len(self._parts)
        if size == 1 or isinstance(imputation, bool) or imputation not in range(1, size + 1):
            told = "none was imputed" if size == 1 else f"they are numbered from 1 to {size}"
            raise InputError(f"imputation is {imputation!r}, and {told}.")
        return self.imputations[imputation - 1]

    @property
    def _one_of(self) -> OneOf | None:
        """Which of several curves it is; None of one that was fitted by itself."""
        return self._parts[0].one_of

    @property
    def _title(self) -> str:
        """Of one of several curves the level's name, or what stands in its place."""
        return "All cases" if self._one_of is None else self._one_of.title

    @cached_property
    def imputations(self) -> tuple[Self, ...]:
        """The posterior of each imputation; itself alone where nothing was imputed."""
        if len(self._parts) == 1:
            return (self,)
        each = [self._with([part]) for part in self._parts]
        if self._fitted is not None:
            for one, fitted in zip(each, self._fitted.imputations, strict=True):
                one._fitted = fitted
        return tuple(each)

    def on(self, scores: ArrayLike | CalibrationData, sample_weight: Any = None) -> Self:
        """The same curve seen on another population of scores, which needs no outcomes.

        Every measure is then of cases with these scores: the draws of the curve stay, and are
        averaged over the new scores. **This takes the curve as unchanged**: at each score, the risk
        of the new cases is that of the cases that were fitted. Nothing in scores alone can tell
        whether it is.

        Parameters
        ----------
        scores : array-like of shape (n,) or CalibrationData
            The model's probabilities for the new cases. Of a table, its outcomes are not used.
        sample_weight : array-like of shape (n,), optional
            Counts of cases, or sampling weights.

        Returns
        -------
        CalibrationPosterior
            Of the same kind. Its `population` is of the new scores: "bootstrap" is of patients like
            them, "sample" of exactly them. `outside` is the share of them that lies outside the
            range of the scores that were fitted, where the curve is extrapolated.

        Raises
        ------
        InputError
            If a score is outside [0, 1], or there is none.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> post = bc.fit(y_true, y_prob, curve="logistic", random_state=1)
        >>> sicker = post.on(0.3 + 0.7 * y_prob)
        >>> bool(sicker.curve([0.5]).equals(post.curve([0.5])))
        True
        """
        return self._on(scores_alone(scores, sample_weight))

    def _on(self, data: CalibrationData) -> Self:
        """The same, on a checked table whose outcomes stand for none."""
        self._refuse_own("a population of other scores")
        if self._departure is not None:
            raise InputError(
                "scores and a prevalence are told in the other order: "
                "post.on(scores).at_prevalence(prevalence), where the scores stay."
            )
        if self._fitted is not None:
            return self._fitted._on(data)
        seen = self._with([part.on(data) for part in self._parts])
        seen._fitted = self
        return seen

    def _over(self, population: Any) -> tuple[Self, str]:
        """The posterior on the scores that `population` gives, or itself, and the name of one."""
        if isinstance(population, CalibrationData) or (
            not isinstance(population, str) and hasattr(population, "__len__")
        ):
            return self._on(scores_alone(population, None, "population")), "bootstrap"
        if check_choice(population, POPULATIONS, "population") == "beta":
            self._refuse_own("a population of other scores")
        return self, population

    def at_prevalence(self, prevalence: Any) -> Self:
        """The posterior where the event is as frequent as is told: after case-control sampling.

        All risks are shifted by the same amount in log-odds, logit of the new prevalence less logit
        of the old one, in each draw. That is what follows if events and non-events have the scores
        that they have here and only their numbers differ, as in a case-control study, or where a
        disease is rarer. The scores of the population then follow as well.

        On other scores (`post.on(scores)`) this says more than can be true at once: the curve and
        the scores imply a prevalence. The scores stay, the curve gives way, and `prevalence_told`
        shows the conflict.

        Parameters
        ----------
        prevalence : float in (0, 1), or pair of numbers
            Or events and patients of another study, such as (45, 1000), so that its uncertainty
            counts: draws are of Beta(events + 1/2, others + 1/2).

        Returns
        -------
        CalibrationPosterior
            Without outcomes. It cannot be saved: save `post`, and ask again.

        Raises
        ------
        InputError
            If the prevalence is not inside (0, 1), or the pair is not events and patients.

        References
        ----------
        Prentice & Pyke (1979), Logistic disease incidence models and case-control studies,
        Biometrika 66.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> post = bc.fit(y_true, y_prob, random_state=1).at_prevalence(0.05)
        >>> float(post.performance(population="sample")["events"].mean().round(3))
        0.05
        """
        if self._departure is not None:
            raise InputError("the posterior is at a prevalence already. Ask the one before.")
        told = prevalences(prevalence, self.draws, self.problem.rng("prevalence"))
        return self._departing(AtPrevalence(told, keeps_scores=self._fitted is not None))

    def _refuse_own(self, what: str, why: str = "") -> None:
        """Refuse, of patients with their own group, what needs one curve for all scores."""
        if self._parts[0].rows is not None:
            raise InputError(
                f"{what} is of one curve, and these patients have one for each group{why}. Ask the "
                "pooled curve, at(), or each group."
            )

    def _departing(self, departure: Departure) -> Self:
        """The posterior of cases of which some have another curve; shares are of its rows."""
        if len(self._parts) > 1:
            raise InputError(
                "this shifts the curve of one imputation, and post is of several. Ask each of "
                "post.imputations, and compare."
            )
        other = self._with(self._parts)
        other._fitted, other._departure = self._fitted, departure
        return other

    @property
    def prevalence_told(self) -> pd.DataFrame:
        """What `at_prevalence` changed: a table of the prevalence before, told, and the shift.

        Returns
        -------
        pandas.DataFrame
            Rows implied (the mean risk before), told, and shift (in log-odds, of all risks);
            columns mean, lower and upper, of 95 %. A shift whose interval is far from zero is, on
            other scores, a conflict of the prevalence that was told with the curve.

        Raises
        ------
        InputError
            If no prevalence was told.
        """
        if not isinstance(self._departure, AtPrevalence):
            raise InputError("no prevalence was told: use post.at_prevalence(prevalence).")
        return prevalence_table(self._departure, self.tables[0])

    @property
    def outside(self) -> float:
        """Share of the scores outside the range of those fitted, where the curve is extrapolated.

        Zero unless the posterior is seen on other scores; see `on`.
        """
        (lower, upper), own = self._fitted_range, self.problem.data
        is_out = (own.score < lower) | (own.score > upper)
        return float(own.trials[is_out].sum() / own.trials.sum())

    @property
    def _fitted_range(self) -> tuple[float, float]:
        """Lowest and highest score of the cases with outcomes."""
        score = (self._fitted or self).problem.data.score
        return float(score[0]), float(score[-1])

    # What was fitted and drawn

    @cached_property
    def _tree(self) -> xr.DataTree:
        if self._fitted is None:
            return stored.tree_of_all([stored.tree_of(part) for part in self._parts])
        return stored.seen_on(self._fitted.tree, self._parts[0].problem.data)

    @property
    def tree(self) -> xr.DataTree:
        """The `xarray.DataTree` in ArviZ's schema.

        Likelihoods, predictions and prior draws are added when this is first read. Of a posterior
        that is seen on other scores it is that of the fit, with these scores in the group `on`. Of
        several imputations it has a group for each, and the draws of all, mixed. One of several
        curves has the tree of all in the group `several_curves`, from which it is read back.
        """
        if self._departure is not None:
            raise InputError(
                "a posterior at another prevalence has no tree of its own. Save the one that it "
                "was asked of, and ask at_prevalence again after loading."
            )
        if self.has_outcomes:
            stored.complete(self._tree, self._parts)
        return self._tree

    def to_datatree(self, derived: bool = False, scores: ArrayLike | None = None) -> xr.DataTree:
        """The posterior as a tree for ArviZ, by the names that a trace of the PyMC model has.

        Parameters
        ----------
        derived : bool
            Whether the group posterior has `tce`, `observed_expected`, `calibration_slope` and
            `event_prob` at a few scores, and of the coordinates those that a person reads.
        scores : array-like of shape (k,), optional
            Scores of `event_prob`; by default those that 5, 25, 50, 75 and 95 % of the cases are
            below, rounded to two digits.

        Returns
        -------
        xarray.DataTree
            Groups posterior, sample_stats, log_likelihood, posterior_predictive, observed_data (`y`
            by `obs`), constant_data (`score` and `trials` by `obs`), prior, prior_predictive and,
            of one family, log_prior. Of an average `family` and `exactly_calibrated` of each draw
            are coordinates of the draws, and a variable is NaN where the family of a draw does not
            have it. ArviZ before version 1 takes `arviz.from_datatree(tree)`.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> tree = bc.fit(y_true, y_prob, random_state=1).to_datatree(derived=True)
        >>> list(tree["posterior"].data_vars)
        ['tce', 'observed_expected', 'calibration_slope', 'event_prob']
        """
        from bayescal.posterior.datatree import tree_for_arviz

        return tree_for_arviz(self, as_flag(derived, "derived"), scores)

    def page(self) -> Page:
        """What it tells, as every result does: error and slope, all measures, and the curve.

        Returns
        -------
        Page
            Printed as text; with the table and the figure for the other renderers.
        """
        return page_of_posterior(self)

    def to_netcdf(self, path: str | PathLike[str]) -> None:
        """Write the whole tree to a NetCDF file; `bayescal.load` reads it back.

        Parameters
        ----------
        path : str or path-like
        """
        write_tree(self.tree, path)

    @cached_property
    def problem(self) -> Problem:
        """The table as it was read, with the family, prior, centre, edges and seed of the fit."""
        return one_table([part.problem for part in self._parts])

    @property
    def data(self) -> CalibrationData:
        """The table that was fitted, with the roles of its cases.

        It can be given back to whatever takes cases. Without outcomes it is refused there.
        """
        data = self.problem.data
        return data if self.has_outcomes else data.without_outcomes()

    @property
    def has_outcomes(self) -> bool:
        """Whether `data` has outcomes: those of a site that has not been seen are scores alone."""
        is_seen = self._one_of is None or self._one_of.has_outcomes
        return is_seen and self._fitted is None and self._departure is None

    @property
    def engine(self) -> str:
        """The engine that drew it: "importance" or "nuts"."""
        return ", ".join(sorted({part.engine for part in self._parts}))

    @property
    def draws(self) -> int:
        """Number of draws, over all chains and imputations."""
        return sum(len(part.u) for part in self._parts)

    @property
    def coordinates(self) -> dict[str, Floats]:
        """Draws of each working coordinate of the curve, those of all imputations in turn.

        The shift of each imputation is moved to the centre of the first. The centres of the
        imputations are moved apart as in `functional`; not for an average over families, which
        have different coordinates.
        """
        return mixed_coordinates(self._parts)

    @property
    def exact(self) -> xr.DataArray | None:
        """Draws in which the model is exactly calibrated, so that every distance is 0.

        Boolean, with dims (chain, draw); None of a fit of one family, which did not consider it.
        """
        each = [part.averaged.exact for part in self._parts if part.averaged is not None]
        return self._array(in_turn(np.stack(each)), "exact") if each else None

    @property
    def prior_weights(self) -> dict[str, float] | None:
        """Prior probability of each family of an average, identity included; else None."""
        averaged = self._parts[0].averaged
        return None if averaged is None else dict(averaged.weights)

    @property
    def prob_calibrated(self) -> float | None:
        """Probability of exact calibration, the mean over imputations; None for one family."""
        known = [p for part in self._parts if (p := part.prob_calibrated) is not None]
        return float(np.mean(known)) if len(known) == len(self._parts) else None

    @cached_property
    def design(self) -> Design | None:
        """What clusters make of the number of cases; None where cases are independent."""
        each = [cluster_design(p.problem) for p in self._parts if p.problem.clusters is not None]
        return Design.mean(each) if each else None

    @property
    def diagnostics(self) -> dict[str, float | str]:
        """How far the draws can be trusted.

        Returns
        -------
        dict
            For importance: pareto_k (above 0.7 is bad), ess, log_evidence and its error. For
            NUTS: the largest r_hat (above 1.01 is bad), smallest ess, and divergences. `verdict`
            is "ok" or says what is wrong. Of clusters also their number, the design effects of the
            number of events and of the slope, and the effective number of cases. Of several
            imputations it is the worst of each, and `verdict` names them, counted from 1.
        """
        return {"engine": self.engine, **diagnosed(self._parts, self.design)}

    # The curve

    @cached_property
    def tables(self) -> tuple[CurvesOfTable, ...]:
        """The curves of each imputation over draws of its scores; one where nothing was imputed."""
        return tuple(CurvesOfTable.of(part, self._departure) for part in self._parts)

    @cached_property
    def _prior(self) -> tuple[CurvesOfTable, ...]:
        """The same of prior draws, given that calibration is not exact."""
        pairs = zip(self._parts, (self._fitted or self)._parts, strict=True)
        parts = [replace(p, u=of.draw_prior()[0], averaged=None) for p, of in pairs]
        return tuple(map(CurvesOfTable.of, parts))

    @cached_property
    def _means(self) -> tuple[CurvesOfTable, ...]:
        """The same of the posterior mean of the curve, over all imputations: what is drawn."""
        return means_of(self.tables)

    def curve(self, scores: Any = None) -> xr.DataArray:
        """Draws of the calibration curve g.

        Parameters
        ----------
        scores : array-like of shape (k,), optional
            Scores at which to evaluate it, in [0, 1]; by default the distinct scores of the data.

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
        return self._array(self._drawn_curve(values), "curve", score=values)

    def predict(self, y_prob: Any) -> xr.DataArray:
        """Recalibrated probabilities of new cases.

        In a fit of `saturated`, the error at a score between two of those fitted is interpolated
        on the probability scale, and beyond them it is that of the last.

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
        return self._array(self._drawn_curve(values), "recalibrated", obs=np.arange(values.size))

    def risks(self, y_prob: Any, thresholds: Any = (), ci_prob: float = 0.95) -> pd.DataFrame:
        """The actual risk of single patients, by their score, with an interval.

        Parameters
        ----------
        y_prob : float or array-like of shape (n,)
            The model's probabilities of the patients.
        thresholds : float or array-like of shape (k,)
            Risks from which a patient is treated, in (0, 1).
        ci_prob : float in (0, 1)

        Returns
        -------
        pandas.DataFrame
            Index: patient, by position. Columns: score, risk (mean), lower, upper, and of each
            threshold t `flips@t`: the probability that the actual risk is on the other side of t
            than the score, so that the decision would be another.

        Raises
        ------
        InputError
            If a score is outside [0, 1] or a threshold outside (0, 1).

        Notes
        -----
        The interval is of the mean outcome of patients with this score, as far as the data say. It
        does not say how patients of one score differ by what the model does not know.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> post = bc.fit(y_true, y_prob, random_state=1)
        >>> post.risks(0.25, thresholds=0.2).columns.tolist()
        ['score', 'risk', 'lower', 'upper', 'flips@0.2']
        """
        values = as_scores([y_prob] if is_single(y_prob) else y_prob)
        return risk_table(self._drawn_curve(values), values, thresholds, ci_prob)

    def _drawn_curve(self, scores: Floats) -> Floats:
        """The curves at these scores, which do not depend on the scores they are seen on.

        Those of several imputations are moved apart in log-odds.
        """
        each = [table.curve(scores) for table in (self._fitted or self).tables]
        if len(each) == 1:
            curves = each[0]
            if self._departure is not None:
                curves = expit(logit(clipped(curves)) + self.tables[0].shift[:, None])
            return np.asarray(curves)
        return mixed_curves(each)

    def _errors_at(self, scores: Floats) -> Floats:
        """Draws of the curve minus the score: those that distances are read from."""
        if self._departure is not None:
            raise InputError(
                "where the curve leaves the diagonal is told of the curve that was fitted. Ask the "
                "posterior before at_prevalence."
            )
        return np.concatenate(
            [table.distances.curve(scores) - clipped(scores) for table in self.tables]
        )

    def floor_and_ceiling(self, ci_prob: float = 0.95) -> pd.DataFrame:
        """Lowest and highest risk of a curve with a floor and a ceiling, where the data tell them.

        Wrong labels, for example, keep the risk away from 0 and 1. On most clinical scores the data
        do not tell a floor from a flatter slope.

        Parameters
        ----------
        ci_prob : float in (0, 1)

        Returns
        -------
        pandas.DataFrame
            Rows "floor" and "ceiling"; columns estimate, lower and upper. A row is there only if
            its interval is at most half as long as under the prior, and none if fewer than half of
            the draws are of `noise` or `lapse`.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("D5", 2000, random_state=1)
        >>> wrong = (y_prob * 1e6).astype(int) % 20 == 0
        >>> y_true[wrong] = 1 - y_true[wrong]
        >>> bc.fit(y_true, y_prob, curve="lapse", random_state=1).floor_and_ceiling().index.tolist()
        ['ceiling']
        """
        return rates_table(self.coordinates, self.problem.prior, as_level(ci_prob))

    def off_diagonal(self, ci_prob: float = 0.95) -> xr.DataArray:
        """Scores where the curve leaves the diagonal, as one joint statement.

        The largest set such that, with probability at least `ci_prob`, the curve is above
        the diagonal on all of its "above" part and below it on all of its "below" part.
        Scores are added in descending order of the probability of their direction (the excursion
        sets of Bolin & Lindgren). Draws that are exactly on the diagonal are on neither side.

        This is a posterior statement, not a test: on simulated data sets of 150 patients from a
        calibrated model it was non-empty in 26 % at 0.95 and in 4 % at 0.99.

        Of several imputations it is told at no more than 128 scores: past that neighbouring ones
        are merged.

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
        score = self.data.score if len(self._parts) == 1 else self.problem.stated
        if len(self._parts) == 1 or self.prob_calibrated is not None:
            error = self._errors_at(score)
        else:
            error = self._drawn_curve(score) - score
        region, probability = sure_region(error, level)
        attributes = {"ci_prob": level, "probability": probability}
        return xr.DataArray(region, {"score": score}, "score", "off_diagonal", attributes)

    def prob_on_diagonal(self, scores: Any = None) -> xr.DataArray:
        """Probability that the curve is exactly on the diagonal, by score.

        Only for a fit of `pieces` or `saturated`, or an averaged posterior, whose draws include
        exact calibration.

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
        frames = [part.problem.frame for part in self._parts]
        if not all(frame.cells or frame.scores for frame in frames):
            raise InputError(
                f"a curve of the family {self.problem.curve.name!r} is nowhere exactly on the "
                "diagonal unless it is everywhere. Fit curve='pieces', or use bayescal.compare."
            )
        on = self._errors_at(values) == 0
        return xr.DataArray(on.mean(axis=0), {"score": values}, "score", "prob_on_diagonal")

    # Functionals

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
        if check_choice(group, ("posterior", "prior"), "group") == "posterior":
            return self._array(self.values_of(name, population, **options), name)
        check_choice(name, FUNCTIONALS, "name")
        of, kind = self._over(population)
        return self._array(read(of._prior, [(name, options)], kind, is_widened=False)[0], name)

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
        check_choice(name, FUNCTIONALS, "name")
        of, kind = self._over(population)
        return of._values([(name, options)], kind)[0]

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
        return equal_tailed(self.values_of(name, population, **options), level)

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
        (of, kind), level = self._over(population), as_level(ci_prob)
        return float(of._rows([(name, options)], level, kind)[0, 0])

    def summary(
        self,
        ci_prob: float = 0.95,
        *,
        p: float = 1,
        population: Any = "bootstrap",
        names: Sequence[str] | None = None,
        thresholds: Sequence[float] = (),
        by: ArrayLike | None = None,
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
        by : array-like of shape (n,), optional
            A label of each of the scores that `population` gives, such as the sex of each patient:
            then rows are of the patients of each label, all under this curve.

        Returns
        -------
        pandas.DataFrame
            Index: functional, or (group, functional). Columns: estimate, mean, median, lower,
            upper. The estimate is that of `estimate`: the mean, but for distances in one family.
            `attrs` state the interval, the population, how many scores of 0 and 1 were moved and to
            where, how the weights are read (`weight_type`), whether this is a pseudo-posterior, why
            rows are `undefined`, and which intervals call for `cautions`; of clusters also their
            number, design effects and the effective number of cases, and of several imputations
            their number.

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

        options: dict[str, Any] = {"p": p, "names": names, "thresholds": thresholds}
        if by is not None:
            groups = scores_by(population, by)
            tables = [self.summary(ci_prob, population=of, **options) for of in groups.values()]
            return pd.concat(tables, keys=list(groups), names=["group", "functional"])
        of, kind = self._over(population)
        if of is not self:
            return of.summary(ci_prob, population=kind, **options)
        level = as_level(ci_prob)
        if names is None:
            names = usual_functionals(of_times=self.data.follow_up is not None)
            if self._parts[0].rows is not None:
                names = [name for name in names if name not in NEEDS_ONE_CURVE]
        asked = [check_choice(name, FUNCTIONALS, "names") for name in as_items(names, "names")]
        told = told_beside(self, asked)
        calls: dict[str, FunctionalCall] = {
            name: (name, {"p": p} if name == "tce" else {})
            for name in asked
            if name not in told["undefined"]
        }
        calls |= {at: (LOST, option) for at, option in lost_options(thresholds).items()}
        rows = self._rows([*calls.values()], level, kind)
        table = pd.DataFrame(rows, pd.Index(list(calls), name="functional"), SUMMARY)
        table.attrs.update(ci_prob=level, population=kind, **told)
        return table

    def _rows(self, calls: FunctionalCalls, level: float, population: str = "bootstrap") -> Floats:
        """Estimate, mean, median, lower and upper end of functionals, of shape (calls, 5).

        The estimate of a distance in one family is that of the mean curve; not of a level that has
        not been seen, which is not its mean curve.
        """
        is_new = self._one_of is not None and self._one_of.is_new
        of_mean: list[int] = []
        if self.prob_calibrated is None and not is_new:
            of_mean = [k for k, (name, _) in enumerate(calls) if FUNCTIONALS[name].is_distance]
        distances = [calls[k] for k in of_mean]
        if of_mean:  # in one pass over the population
            for table, mean in zip(self.tables, self._means, strict=True):
                evaluate([(table, calls), (mean, distances)], population)
        rows = np.empty((len(calls), len(SUMMARY)))
        if not len(calls):
            return rows
        drawn = np.stack(self._values(calls, population))
        ends = (1 - level) / 2, 1 - (1 - level) / 2
        rows[:, 0] = rows[:, 1] = drawn.mean(axis=1)
        rows[:, 2:] = np.quantile(drawn, [0.5, *ends], axis=1).T
        if of_mean:
            means = read(self._means, distances, population, is_widened=False)
            rows[of_mean, 0] = np.clip(np.mean(means, axis=1), *rows[of_mean, 3:].T)
        return rows

    @cached_property
    def missing_information(self) -> pd.DataFrame:
        """What the missing data cost, for each functional.

        Returns
        -------
        pandas.DataFrame
            Index: functional. Columns: mean; sd_within, the root of W, the mean variance of the
            draws of an imputation; sd_between, the root of B, the variance of the m means; sd,
            the root of T = W + (1 + 1 / m) B; and missing_information, (1 + 1 / m) B / T, in
            [0, 1].

        References
        ----------
        Rubin (1987), Multiple Imputation for Nonresponse in Surveys, section 3.3.
        """
        if len(self._parts) == 1:
            raise InputError("nothing was imputed, so that no information is missing.")
        undefined = undefined_measures([part.problem for part in self._parts])
        names = [name for name in usual_functionals() if name not in undefined]
        return missing_information(by_imputation(self.tables, names), "functional")

    def _values(self, wanted: FunctionalCalls, population: str) -> list[Floats]:
        """The draws that everything about each functional is read from, each of shape (draws,)."""
        for name, _ in wanted:
            if name in NEEDS_ONE_CURVE:
                self._refuse_own(name, f": {NEEDS_ONE_CURVE[name]}")
        return read(self.tables, wanted, population)

    # Decisions

    def net_benefit(self, thresholds: Any, population: Any = "bootstrap") -> xr.Dataset:
        """Posterior of the net benefit of treating patients with a score of at least a threshold.

        In each draw, E_w [1(s >= t) (g - (1 - g) t / (1 - t))]: the events treated per patient,
        less the non-events treated, each counted t / (1 - t) times.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
            Risks t at which a patient is treated, in (0, 1).
        population : {"bootstrap", "sample", "beta"} or scores

        Returns
        -------
        xarray.Dataset
            `model` and `treat_all`, with dims (chain, draw, threshold); treating no one is worth
            0. `prob_best`, with dim threshold, is the probability that the model is better than
            either.

        Raises
        ------
        InputError
            If a threshold is not inside (0, 1), there are more than 1000, or the population is
            unknown.

        Notes
        -----
        To compare two models on the same patients use `bayescal.recalibration_gain`, which keeps
        the pairs. A score within a relative 1e-12 below a threshold reaches it, so that rounding
        decides nothing. Scores of exactly 0 and 1 decide as they were given. Past 128 distinct
        scores neighbouring ones are merged, and of the merged cases those whose score reaches the
        threshold are treated; in a table of more than 2048 the cell of the grid that holds a
        threshold is shared by its width. Of several imputations, each treats by the scores of its
        own.

        References
        ----------
        Vickers & Elkin (2006), Decision curve analysis, Medical Decision Making 26.
        Cruz & Korthauer (2024), Bayesian decision curve analysis with bayesDCA, Statistics in
        Medicine 43: the probability that a model is useful.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> benefit = bc.fit(y_true, y_prob, random_state=1).net_benefit([0.1, 0.3])
        >>> benefit["model"].dims
        ('chain', 'draw', 'threshold')
        """
        import xarray as xr

        at = _as_thresholds(thresholds)
        of, kind = self._over(population)
        each = [net_benefits(table, at, kind) for table in of.tables]
        model, everyone = mixed(each).swapaxes(0, 1)
        best = (model > np.maximum(everyone, 0) + ROUNDING).mean(axis=0)
        return xr.Dataset(
            {
                "model": of._array(model, "model", threshold=at),
                "treat_all": of._array(everyone, "treat_all", threshold=at),
                "prob_best": ("threshold", best),
            }
        )

    def value_of_information(
        self,
        thresholds: Any,
        n_more: Any = None,
        method: str = "curve",
        population: Any = "bootstrap",
    ) -> xr.Dataset:
        """Value of knowing more before patients are treated from a threshold on.

        Four strategies are compared: treating no one, treating everyone, treating by the model
        (s >= t), and treating by the updated model, whose risk is the posterior mean curve. What
        is lost because the best of them is not known for certain is the expected value of perfect
        information (EVPI), in net benefit per patient.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
            Risks t from which a patient is treated, in (0, 1).
        n_more : int or sequence of int, optional
            Patients of a further study, up to 1e9, for the expected value of sample information
            (EVSI).
        method : {"curve", "cells"}
            "curve" uses the posterior of the curve. "cells" uses the four counts alone, of
            patients with and without the event who reach the threshold or do not: their shares are
            Dirichlet(counts), the Bayesian bootstrap of Sadatsafavi et al., and there is no
            updated model.
        population : {"bootstrap", "sample"} or scores
            Of method "curve": whose net benefit it is. With "bootstrap" it is that of patients like
            these, so that their scores are uncertain, too; with "sample" that of exactly these;
            with scores that of patients like others, see `on`.

        Returns
        -------
        xarray.Dataset
            By threshold, in net benefit per patient: `evpi`, its Monte Carlo error `evpi_error`,
            and by strategy (dim `strategy`) the expected `net_benefit` and `prob_best`, the
            probability that no other strategy has more; of strategies that treat the same patients
            the simplest counts. By method "curve" also `evpi_of_recalibrating`. With `n_more` also
            `evsi`, `evsi_error` and, by "curve", `evsi_of_recalibrating`; these have a dim
            `n_more` if several numbers are given.

        Raises
        ------
        InputError
            If a threshold is not inside (0, 1), `n_more` is not a whole number of at least 1, or
            the method or the population is unknown, or clustered cases are asked for `n_more` or
            "cells", which take patients as independent.

        Notes
        -----
        Let NB_k be the net benefit of strategy k in a draw of the curve g and of the weights w of
        the population, and E the mean over draws. Then

            EVPI = E[max_k NB_k] - max_k E[NB_k].

        Whoever knew the curve would treat where it reaches t. Its value over the best strategy now,
        which may be the updated model, is

            EVPI of recalibrating = E[E_w[max(g - t, 0)]] / (1 - t) - max_k E[NB_k].

        It is never less than EVPI. For EVSI, 2000 data sets of `n_more` patients are drawn, each
        from a draw of the curve and the population. After each, the mean curve is that of the
        draws weighted by the likelihood of its outcomes, and the mean weights are known exactly.
        EVSI is the mean gain over the strategy that is best now, when the best of the same
        four strategies is chosen after the data; `evsi_of_recalibrating` is that of the model
        recalibrated on all data. Both are 0 or more, at most the respective EVPI, and grow in
        `n_more` up to Monte Carlo error. When `n_more` is many times the number of patients at
        hand, few draws carry the weight and both tend to be too large.

        Of an averaged posterior, the draws are of the families that are not exact calibration. Of
        several imputations, the draws are those of all, and the updated model has the mean curve
        of all; after more patients the best strategy is chosen in each imputation by itself.

        References
        ----------
        Sadatsafavi, Lee, Wynants, Vickers & Gustafson (2023), Value-of-information analysis for
        external validation of risk prediction models, Medical Decision Making 43.
        Heath et al. (2020), Calculating the expected value of sample information in practice,
        Medical Decision Making 40.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> post = bc.fit(y_true, y_prob, random_state=1)
        >>> worth = post.value_of_information([0.1, 0.3], n_more=500)
        >>> bool((worth["evsi"] <= worth["evpi"]).all())
        True
        """
        at = _as_thresholds(thresholds)
        of, kind = self._over(population)
        told = {"has_outcomes": of.has_outcomes}
        return information(of.tables, at, n_more, method, kind, **told)

    def performance(
        self, thresholds: Any = (), population: Any = "bootstrap", *, realised: bool = False
    ) -> xr.Dataset:
        """Posterior of the model's performance: Brier score, C-statistic, accuracy, and others.

        Each is a mean over outcomes that follow the curve, so that it needs none: on the scores of
        `post.on(scores)` it is an estimate before the outcomes are known. It holds if the curve is
        unchanged.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
            Scores from which an event is predicted, in (0, 1), for the measures that need one.
        population : {"bootstrap", "sample", "beta"} or scores
        realised : bool
            What the outcomes of exactly these cases will give, once they are known, instead of
            what they give on average. Outcomes are drawn, so that intervals are wider; `population`
            must then be left out, or "sample".

        Returns
        -------
        xarray.Dataset
            With dims (chain, draw): `events`, `brier`, `log_score` and `c_statistic`. With dims
            (chain, draw, threshold), if thresholds are given: `treated` (the share that reaches the
            threshold), `accuracy`, `sensitivity`, `specificity`, `ppv`, `npv` and `net_benefit`.
            NaN where a measure is not defined, such as the predictive value of a threshold that no
            score reaches.

        Raises
        ------
        InputError
            If a threshold is not inside (0, 1), the population is unknown, or realised outcomes are
            asked of sampling weights.

        Notes
        -----
        Past 128 distinct scores neighbouring ones are merged, as in `net_benefit`; two cases of
        one merged row count as equal scores in the C-statistic.

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> post = bc.fit(y_true[:200], y_prob[:200], random_state=1)
        >>> later = post.on(y_prob[200:])
        >>> later.performance([0.3])["accuracy"].dims
        ('chain', 'draw', 'threshold')
        """
        import xarray as xr

        at, _, of, values = self._performances(thresholds, population, realised)
        by = {1: {}, 2: {"threshold": at}}
        return xr.Dataset({k: of._array(drawn, k, **by[drawn.ndim]) for k, drawn in values.items()})

    def performance_summary(
        self,
        thresholds: Any = (),
        ci_prob: float = 0.95,
        *,
        population: Any = "bootstrap",
        realised: bool = False,
    ) -> pd.DataFrame:
        """`performance` as a table of means and credible intervals.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
        ci_prob : float in (0, 1)
        population : {"bootstrap", "sample", "beta"} or scores
        realised : bool
            All as in `performance`.

        Returns
        -------
        pandas.DataFrame
            Index: measure, at a threshold as "accuracy@0.3". Columns: label, mean, lower, upper.
            Draws in which a measure is not defined are left out; a measure defined in none has no
            row.
        """
        level = as_level(ci_prob)
        at, kind, of, values = self._performances(thresholds, population, realised)
        table = performing.summary(values, at, level)
        table.attrs.update(ci_prob=level, realised=realised, population=kind, outside=of.outside)
        return table

    def _performances(
        self, thresholds: Any, population: Any, realised: Any
    ) -> tuple[Floats, str, Self, dict[str, Floats]]:
        """Thresholds, population, whose it is, and draws of every measure."""
        none = isinstance(thresholds, tuple) and not thresholds
        at = np.empty(0) if none else _as_thresholds(thresholds)
        realised = as_flag(realised, "realised")
        of, kind = self._over(population)
        if realised:
            performing.check_realised(kind, of.problem, of._departure)
        each = [performing.performances(table, at, kind, realised=realised) for table in of.tables]
        return at, kind, of, mixed_performances(each)

    def shift_to_change(self, thresholds: Any) -> pd.DataFrame:
        """How far the risks must shift, in log-odds, before another decision is best.

        At each threshold, treating by the model is compared with treating all and treating none, by
        expected net benefit. A shift d replaces the curve g by expit(logit g + d) at every score:
        it stands for a change of the curve that scores without outcomes cannot show.

        Parameters
        ----------
        thresholds : array-like of shape (k,)
            In (0, 1).

        Returns
        -------
        pandas.DataFrame
            Index: threshold. Columns: best, which is "model", "treat all" or "treat none";
            lower and upper, the shifts between which it stays best, infinite where no shift within
            10 changes it; nearest, that of the two which is nearer to zero; and odds_ratio,
            exp(nearest).

        Examples
        --------
        >>> import bayescal as bc
        >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
        >>> post = bc.fit(y_true, y_prob, random_state=1)
        >>> post.on(y_prob).shift_to_change([0.2]).loc[0.2, "best"]
        'model'
        """
        return performing.shift_to_change(self.tables, _as_thresholds(thresholds))

    # Words

    def _array(self, values: Floats, name: str, **coords: Any) -> xr.DataArray:
        return stored.by_draw(values, self._parts[0].chains, name, coords)

    def __repr__(self) -> str:
        title = type(self).__name__ if self._one_of is None else self._one_of.title
        return "\n  ".join([title, *lines_of(self)])

    def _repr_html_(self) -> str:
        return card(repr(self), SUMMARY_COLUMNS, summary_rows(self.summary()))


def _as_thresholds(thresholds: Any) -> Floats:
    """Checked thresholds."""
    return np.array(as_levels(as_vector(thresholds, "thresholds"), "thresholds"))


def as_posterior(post: Any, name: str = "post") -> CalibrationPosterior:
    """A posterior, and nothing else that has one, which the error says how to take it from."""
    cure = "Pass what bayescal.fit returns, or the `posterior` of a comparison or an assessment."
    if hasattr(post, "average"):  # of several curves
        cure = f"Pass one of its curves by {' and '.join(post.levels)}, such as {name}.average()."
    return check_type(post, CalibrationPosterior, name, cure)


def check_outcomes(post: CalibrationPosterior, what: str) -> None:
    """Refuse a posterior whose data are scores alone.

    `what`: what needs the outcomes, at the start of a sentence.
    """
    if not post.has_outcomes:
        raise InputError(
            f"{what} needs outcomes, and post has none: it is of scores alone, those of a site "
            "without patients or those of `on`. Pass that of a site with patients, "
            "`post.at(site=name)`, or a fit of one curve."
        )


def mixture(posts: Sequence[CalibrationPosterior]) -> Any:
    """The posterior of several imputations, from that of each."""
    first = posts[0]
    mixed = first._with([post._parts[0] for post in posts])
    if first._fitted is not None:
        mixed._fitted = mixture([post._fitted for post in posts if post._fitted is not None])
    return mixed


def as_seen(post: CalibrationPosterior, tree: xr.DataTree) -> CalibrationPosterior:
    """A posterior on the scores that its tree says it is seen on; else as it is."""
    scores = stored.scores_seen(tree)
    return post if scores is None else post._on(scores)


def versions_of(post: CalibrationPosterior) -> dict[str, str]:
    """Versions of the libraries that drew a posterior."""
    if "_tree" not in vars(post):  # drawn here: a tree would be made for this alone
        return stored.versions_here()
    return stored.versions_of(post._tree)
