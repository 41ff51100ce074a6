"""The numbers of an assessment, without a word about them."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from bayescal.assessment.essentials import (
    DecisionRange,
    classification_table,
    decision_range,
    part_row,
)
from bayescal.assessment.followed import ratio_at_other_hazard
from bayescal.assessment.groups import LEAST_SITES, group_table
from bayescal.assessment.imputed import combined_estimates
from bayescal.assessment.panel import PANEL, no_panel, panel_of
from bayescal.assessment.performance import (
    is_extreme,
    mean_score,
    performance_by_curve,
    performance_of,
)
from bayescal.assessment.populations import error_row, populations_of, verdict_beside
from bayescal.assessment.stretches import Stretch, stretches_of
from bayescal.assessment.treatment import information_table, net_benefit_table
from bayescal.assessment.val_prob import no_val_prob, raw_cases, val_prob
from bayescal.assessment.verdict.equation import Equation, update_equation
from bayescal.assessment.verdict.off import Off, is_off
from bayescal.assessment.verdict.settle import more_to_settle
from bayescal.assessment.vocabulary import Words
from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_level, as_number, check_choice
from bayescal.core.sampling import BAD_K
from bayescal.core.text import in_natural_order
from bayescal.data.cases import as_scores
from bayescal.data.stored import fingerprint
from bayescal.data.table import CalibrationData, CrossedTable
from bayescal.fitting import compare, fit
from bayescal.gain import Recommendation, recommendation
from bayescal.inference import CurveComparison, LowerBound, tce_lower_bound
from bayescal.inference.lower_bound import FEWEST_UNITS
from bayescal.model.priors import Prior, as_prior
from bayescal.multilevel.calibrated import prior_of
from bayescal.multilevel.populations import (
    clearly_off,
    clearly_off_of,
    own_error,
    views_of,
)
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.term import crossed
from bayescal.posterior.intervals import share_below
from bayescal.posterior.posterior import CalibrationPosterior, versions_of

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Findings"]

STANDARD_WORDS = Words()
REVERSED = 0.5
"""C-statistic below which scores are no better than chance."""


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """What an assessment computes. Each number is computed when it is first read, and then kept.

    Attributes
    ----------
    comparison : CurveComparison
        The families of curves, of all cases as one table. They are the updates that are compared,
        and without groups the results are their average.
    data : CalibrationData
        All cases, with their groups.
    close : float
        A true calibration error that counts as close enough to none.
    ci_prob : float
        Probability of the intervals.
    panel : tuple of str
        Names of the frequentist estimators.
    options : mapping
        Further arguments of `bayescal.compare`: prior, prior_calibrated, draws and edge.
    thresholds : tuple of float
        Risks from which a patient is treated, for the net benefit.
    crossed : CrossedTable, optional
        The cases by several factors, for subgroups.
    labels : Words
        What the report calls cases, groups, risks and the event.
    """

    comparison: CurveComparison
    data: CalibrationData
    close: float
    ci_prob: float
    panel: tuple[str, ...]
    options: Mapping[str, Any]
    thresholds: tuple[float, ...] = ()
    crossed: CrossedTable | None = None
    labels: Words = STANDARD_WORDS

    @property
    def posterior(self) -> CalibrationPosterior:
        """The posterior that every result is of.

        Where one fit has a curve for each group (`several`), it is that of the patients of these
        groups, whose intervals know that groups differ. Else it is averaged over the families.
        """
        return self.comparison.posterior if self.several is None else self.several.at()

    @cached_property
    def several(self) -> MultilevelPosterior | None:
        """One fit of the curves of all groups, periods or subgroups; None of one curve for all."""
        if self.crossed is not None:
            return self.subgroups
        return self.periods if self.sites is None else self.sites

    @property
    def seed(self) -> int:
        """The seed: as `random_state` it gives the same numbers again."""
        return self.comparison.problem.seed

    @cached_property
    def ratio_at_other_hazard(self) -> float:
        """O/E if those who left before the horizon had a higher hazard; NaN if nobody left."""
        return ratio_at_other_hazard(self.posterior)

    def worded(self, text: str) -> str:
        """A sentence in the words of `labels`; names from the data stay as they are."""
        return self.labels.of(text, self.names)

    @cached_property
    def names(self) -> frozenset[str]:
        """Names from the data: groups, and levels of factors."""
        crossed = () if self.crossed is None else self.crossed.data.levels.items()
        levels = [name for role, each in crossed for name in (role, *each)]
        return frozenset([*self.data.groups, *levels])

    @property
    def prob_calibrated(self) -> float:
        """Posterior probability of exact calibration; of several groups, of each of them.

        Not a number where NUTS drew the curves of groups, since it computes no evidence.
        """
        exact = self.posterior.prob_calibrated
        return float("nan") if exact is None else exact

    @property
    def prior_calibrated(self) -> float:
        """Prior probability of exact calibration; of several groups, of each of them."""
        if self.several is not None:
            return prior_of(self.several.problem).every_site
        return self.comparison.prior_prob["identity"]

    def prob_calibrated_at(self, prior_calibrated: float = 0.5) -> float:
        """`prob_calibrated` from another prior probability.

        Parameters
        ----------
        prior_calibrated : float in (0, 1)

        Returns
        -------
        float
        """
        if self.several is None:
            return self.comparison.prob_calibrated_at(prior_calibrated)
        other = as_level(prior_calibrated, "prior_calibrated")
        now, before = self.prob_calibrated, self.prior_calibrated
        exact, rest = now * other / before, (1 - now) * (1 - other) / (1 - before)
        return exact / (exact + rest)

    @property
    def prior(self) -> Prior:
        """The prior on the curves."""
        return self.comparison.problem.prior

    @property
    def versions(self) -> dict[str, str]:
        """Versions of Python and of the libraries that computed it."""
        return versions_of(self.posterior) | {"python": platform.python_version()}

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of the data: equal for equal cases in any order, whatever their file."""
        return fingerprint(self.data)

    def prob_tce_below(self, x: float) -> float:
        """Probability that the true calibration error is below `x`.

        Of several groups it is the error against the curve of each patient's own group.

        Parameters
        ----------
        x : float

        Returns
        -------
        float
        """
        return share_below(self.error_draws, as_number(x, "x"))

    def prob_tce_above(self, x: float) -> float:
        """Probability that the true calibration error is not below `x`: 1 - `prob_tce_below`.

        Parameters
        ----------
        x : float

        Returns
        -------
        float
        """
        return 1 - self.prob_tce_below(x)

    @property
    def has_own_curves(self) -> bool:
        """Whether groups, periods or subgroups have curves of their own."""
        return self.several is not None or len(self.data.groups) > 1

    @cached_property
    def error_draws(self) -> Floats:
        """Draws of the true calibration error that size and verdict are read from.

        Of several groups, periods or subgroups it is that of these patients against the curve of
        their own group: errors on either side cancel in the curve of all.
        """
        if self.several is not None:
            return self.several.own().values_of("tce")
        if self.has_own_curves:
            return own_error(self.groups, self.data, self.posterior)
        return self.posterior.values_of("tce")

    @cached_property
    def error(self) -> dict[str, float]:
        """Estimate, lower and upper end of the error; see `error_draws`."""
        if self.has_own_curves:
            return error_row(self.error_draws, self.ci_prob)
        return {end: float(self.table[end]["tce"]) for end in ("estimate", "lower", "upper")}

    @cached_property
    def clearly_off(self) -> dict[str, dict[str, float]]:
        """O/E of groups, periods or subgroups whose interval excludes 1, the furthest first."""
        if self.several is not None:
            return clearly_off_of(self.several, self.ci_prob)
        return clearly_off(self.groups, self.ci_prob) if self.has_own_curves else {}

    def summary(self, ci_prob: float | None = None) -> pd.DataFrame:
        """Every functional with its credible interval; see `CalibrationPosterior.summary`.

        With thresholds, also the net benefit lost to miscalibration.

        Parameters
        ----------
        ci_prob : float in (0, 1), optional
            By default that of the assessment.

        Returns
        -------
        pandas.DataFrame
        """
        level = self.ci_prob if ci_prob is None else ci_prob
        return self.posterior.summary(level, thresholds=self.thresholds)

    @cached_property
    def table(self) -> pd.DataFrame:
        """The summary at the assessment's own `ci_prob`, computed once, without thresholds."""
        return self.posterior.summary(self.ci_prob)

    @cached_property
    def off(self) -> Off:
        """Whether the model is off, and which way: the first answer."""
        seen = (self.posterior, self.table, self.stretches, self.ci_prob, self.verdict)
        return is_off(*seen, self.error["lower"], bool(self.clearly_off))

    @property
    def verdict(self) -> str:
        """On the limit, one of "close enough", "miscalibrated" and "cannot tell".

        "close enough": `prob_tce_below(close)` is at least (1 + ci_prob) / 2. "miscalibrated":
        `prob_tce_above(close)` is at least that. "cannot tell": neither, or the first although
        groups are `clearly_off`, or draws that cannot be trusted.
        """
        if float(self.posterior.diagnostics.get("pareto_k", 0)) > BAD_K:
            return "cannot tell"
        return verdict_beside(self.prob_tce_below(self.close), self.ci_prob, self.clearly_off)

    @cached_property
    def more_to_settle(self) -> float:
        """More patients with which `verdict` would probably be settled; 0 if it is.

        Infinite if that takes more than 100 times the present ones. An approximation. NaN with
        fewer than 20 events or non-events, of which the posterior is too wide to foresee it.
        """
        if self.recommendation.too_few:
            return 0.0 if self.verdict != "cannot tell" else float("nan")
        size = self.posterior.data.effective_size
        return more_to_settle(self.error_draws, self.close, self.ci_prob, size)

    @cached_property
    def stretches(self) -> list[Stretch]:
        """Ranges of scores over which predictions are calibrated, too high or too low."""
        return stretches_of(self.posterior)

    def curve_at(self, scores: Floats) -> Floats:
        """The averaged calibration curve at some scores.

        Parameters
        ----------
        scores : ndarray of shape (n_scores,)

        Returns
        -------
        ndarray of shape (n_scores, 3)
            Posterior mean, and lower and upper end of the pointwise interval.
        """
        at, known = as_scores(scores, "scores"), self._known_of_curve
        missing = np.setdiff1d(at, [*known])
        if missing.size:
            draws = self.posterior.curve(missing).to_numpy().reshape(-1, missing.size)
            ends = np.quantile(draws, [(1 - self.ci_prob) / 2, (1 + self.ci_prob) / 2], axis=0)
            rows = np.column_stack([draws.mean(axis=0), *ends])
            known.update(zip(missing.tolist(), rows, strict=True))
        return np.reshape([known[score] for score in at.tolist()], (at.size, 3))

    @cached_property
    def _known_of_curve(self) -> dict[float, Floats]:
        """The curve at the scores at which it was read so far; a report shows some twice."""
        return {}

    @cached_property
    def estimators(self) -> pd.DataFrame:
        """The panel of estimators, each beside what calibrated models give at this n.

        Columns: title, estimate, calibrated_lower and calibrated_upper (the middle 90 % for
        calibrated models), prob_exceeds (the share of these with a larger estimate) and verdict:
        "larger" if that share is below 5 %. Of imputations: computed on each and averaged, and the
        simulated data sets shared among them. For an interval see
        `bayescal.estimators.estimator_interval`.
        """
        if not self.has_estimators:
            return no_panel()
        return panel_of(self.posterior.imputations, self.panel, self.seed)

    @property
    def has_estimators(self) -> bool:
        """Whether there is a panel; of times to an event only if it was named."""
        return not self.posterior.problem.of_times or self.panel not in ((), PANEL)

    @cached_property
    def performance(self) -> pd.DataFrame:
        """C-statistic and Brier scores: title, estimate, lower and upper (bootstrap).

        Where groups have a curve each, and of times to an event, they are read off the curve with
        its interval. Where scores separate no better than chance, as reversed ones, they are of the
        data all the same, since curves of groups cannot fall.
        """
        return self._performance_of(self.posterior)

    def risks(self, y_prob: Any, at: str | Mapping[str, Any] | None = None) -> pd.DataFrame:
        """The actual risk of single patients, with P(another decision) at each threshold.

        Parameters
        ----------
        y_prob : float or array-like of shape (n,)
            The model's probabilities of the patients.
        at : str or mapping of str to str, optional
            Where they are, such as their hospital, of an assessment with groups.

        Returns
        -------
        pandas.DataFrame
            As of `CalibrationPosterior.risks`; with groups as of `MultilevelPosterior.risks`: here,
            in another hospital or in the next period.

        Raises
        ------
        InputError
            If a score is outside [0, 1], there is no such group, or there are too few of them.
        """
        if self.several is not None:
            return self.several.risks(y_prob, self.thresholds, self.ci_prob, at=at)
        if at is None:
            post = self.posterior
        else:
            post = self.group(check_choice(str(at), self._group_names, "at"))
        return post.risks(y_prob, self.thresholds, self.ci_prob)

    def _performance_of(self, post: CalibrationPosterior) -> pd.DataFrame:
        """The same of a view of the posterior, or of the fit of a group."""
        if self.performance_is_of_curve:
            return performance_by_curve(post, self.ci_prob)
        return self._performance_in_data if post is self.posterior else self._by_outcomes(post)

    @property
    def performance_is_of_curve(self) -> bool:
        """Whether `performance` is read off the curve, and not computed from the outcomes."""
        if self.posterior.problem.of_times:
            return True
        if self.several is None:
            return False
        return not self._performance_in_data["estimate"]["c_statistic"] < REVERSED

    @cached_property
    def _performance_in_data(self) -> pd.DataFrame:
        """C-statistic and Brier scores of the outcomes, with bootstrap intervals."""
        return self._by_outcomes(self.posterior)

    def _by_outcomes(self, post: CalibrationPosterior) -> pd.DataFrame:
        parts = post.imputations
        each = [performance_of(part.problem, self.ci_prob, self.seed) for part in parts]
        return combined_estimates(each, self.ci_prob)

    @cached_property
    def decision_range(self) -> DecisionRange:
        """Thresholds of the decision curve: by default from half to twice the prevalence.

        They lie within [0.01, 0.99], and the range reaches the thresholds that were given. Only
        these decide a recommendation.
        """
        return decision_range(self.posterior, self.thresholds)

    @cached_property
    def classification(self) -> pd.DataFrame:
        """Sensitivity, specificity, PPV and NPV from draws, as description of thresholds.

        Of the thresholds that were given, or else of the prevalence and the ends of
        `decision_range`. Columns: of treated (the share that reaches the threshold), sensitivity,
        specificity, ppv and npv the `_estimate` (mean), `_lower` and `_upper`.
        """
        return classification_table(self.posterior, self.decision_range.thresholds, self.ci_prob)

    @cached_property
    def recommendation(self) -> Recommendation:
        """Which update to make, if any, by what it probably gains for the patients of `posterior`.

        An update is one for all patients.
        """
        return self._recommended(self.posterior)

    def _recommended(self, of: CalibrationPosterior) -> Recommendation:
        """For the patients of a curve: of several groups, updates up to the family of all."""
        up_to = None if self.several is None else self.several.problem.pooled.curve.name
        return recommendation(self.comparison, self.thresholds, self.ci_prob, of, up_to)

    @cached_property
    def prob_better_elsewhere(self) -> float | None:
        """Probability that the recommended update is better than none in the next group or period.

        None where none is recommended, or nothing is said of a next one.
        """
        chosen = self.recommendation.choice
        views = {} if self.several is None else views_of(self.several)
        if chosen in (None, "identity") or "next" not in views:
            return None
        there = self._recommended(views["next"])
        return float(there.table["prob_better"][chosen])

    @cached_property
    def equation(self) -> Equation | None:
        """The recommended update as an equation; None if none is recommended, or it has none."""
        return update_equation(self.comparison, self.recommendation.choice or "identity")

    @cached_property
    def net_benefit(self) -> pd.DataFrame:
        """Net benefit per patient at each threshold; empty if no thresholds were given.

        Columns: estimate (median), lower and upper of treating by the model, treat_all of
        treating everyone, and prob_best, the probability that the model is better than treating
        everyone or no one.
        """
        return net_benefit_table(self.posterior, self.thresholds, self.ci_prob)

    @cached_property
    def net_benefit_lost(self) -> pd.DataFrame:
        """Net benefit per patient lost to miscalibration; empty if no thresholds were given.

        A row a threshold and, of several, one of the most that is lost between the lowest and the
        highest. Columns as in `summary`.
        """
        return self.posterior.summary(self.ci_prob, names=(), thresholds=self.thresholds)

    @cached_property
    def information(self) -> pd.DataFrame:
        """Value of information per patient at each threshold; empty if none were given.

        Columns: best (the strategy with the highest expected net benefit), prob_best (that it is
        best), evpi, evpi_error and evpi_of_recalibrating; see
        `CalibrationPosterior.value_of_information`.
        """
        return information_table(self.posterior, self.thresholds)

    def val_prob(self) -> pd.Series:
        """What R's `val.prob` prints, by its names; of the data, not of the posterior.

        Returns
        -------
        pandas.Series
            Dxy, C (ROC), R2, D, D:Chi-sq, U, U:Chi-sq, U:p, Q, Brier, Intercept, Slope, Emax,
            E90, Eavg, S:z and S:p; NaN where the data do not define one. Of imputations, each is
            the mean over them. All are NaN of times to an event.
            More than 2048 distinct scores are used themselves where the cases
            were passed as arrays; a `CalibrationData` has the mean score of each cell of a grid.
        """
        return self._val_prob.copy()

    @cached_property
    def _val_prob(self) -> pd.Series:
        if self.posterior.problem.of_times:
            return no_val_prob()
        tables = (post.problem.unclustered for post in self.posterior.imputations)
        given = self.data if self.crossed is None else self.crossed.data
        known = raw_cases(given) if self.comparison.data.is_compressed else ()
        each = [val_prob(cases) for cases in known or tables]
        return sum(each[1:], each[0]) / len(each)

    @property
    def lower_bound(self) -> LowerBound | None:
        """A lower bound of the true calibration error that assumes no family of curves.

        See `bayescal.tce_lower_bound`. Sites stay together if there are ten or more; with fewer it
        is that of the cases at these sites. None where the bound is not defined, such as with
        imputed scores or sampling weights; `refused` says why.
        """
        return None if isinstance(self._lower_bound, str) else self._lower_bound

    @property
    def refused(self) -> dict[str, str]:
        """Why the lower bound is not defined of these data, by its name; empty where it is."""
        reason = self._lower_bound
        return {"lower_bound": reason} if isinstance(reason, str) else {}

    @cached_property
    def _lower_bound(self) -> LowerBound | str:
        if self.posterior.problem.of_times:
            return "outcomes are times to an event, which are not known of all cases."
        try:
            are_units = len(self.data.levels.get("site", ())) >= FEWEST_UNITS
            data = self.data if are_units else self.comparison.data
            return tce_lower_bound(data, random_state=self.seed)
        except InputError as error:
            return str(error)

    @cached_property
    def clinical(self) -> Self | None:
        """The same under the `clinical` prior, when the mean score is outside [0.05, 0.95].

        One of the two outcomes is rare there, so that the prior matters more. None otherwise, and
        under any other prior.
        """
        data = self.posterior.data
        if self.prior.name != "neutral" or not is_extreme(mean_score(data)):
            return None
        clinical = as_prior("clinical")
        options = {**self.options, "prior": clinical}
        return replace(self, comparison=self.comparison.under(clinical), options=options)

    @property
    def missing_information(self) -> pd.DataFrame | None:
        """What the missing data cost, by functional; None if nothing was imputed.

        See `CalibrationPosterior.missing_information`.
        """
        post = self.posterior
        return post.missing_information if len(post.imputations) > 1 else None

    @cached_property
    def groups(self) -> dict[str, CalibrationPosterior]:
        """The posterior of each group, as `group` gives it.

        Raises
        ------
        InputError
            If the assessment was made without groups.
        """
        return {name: self.group(name) for name in in_natural_order(self._group_names)}

    def group(self, name: str) -> CalibrationPosterior:
        """The posterior of one group.

        Where one fit has a curve for each group, as of three or more, it is that of its curve,
        which the other groups have a part in; else the averaged posterior of the group by itself.

        Parameters
        ----------
        name : str

        Returns
        -------
        CalibrationPosterior

        Raises
        ------
        InputError
            If there is no such group.
        """
        chosen = check_choice(name, self._group_names, "name")
        if self.several is not None:
            (axis,) = self.several.levels
            return self.several.at({axis: chosen})
        if chosen not in self._by_name:
            data = self.data.select(chosen).with_several_clusters()
            compared = compare(data, random_state=self.seed, **self.options)
            self._by_name[chosen] = compared.posterior
        return self._by_name[chosen]

    @property
    def _group_names(self) -> tuple[str, ...]:
        if not self.data.groups:
            raise InputError("there are no groups. Pass site= to assess, one label a case.")
        return self.data.groups

    @cached_property
    def _by_name(self) -> dict[str, CalibrationPosterior]:
        """The groups that are assessed by themselves so far."""
        return {}

    @property
    def has_sites(self) -> bool:
        """Whether there are groups enough to see how much they differ, which are no periods."""
        return len(self.data.groups) >= LEAST_SITES and self.data.periods is None

    @cached_property
    def sites(self) -> MultilevelPosterior | None:
        """The groups as sites of one hierarchical fit of logistic curves.

        None of fewer than three groups, between which no spread can be seen, and of periods.
        """
        if not self.has_sites:
            return None
        return cast(MultilevelPosterior, fit(self.data, **self._of_several))

    @cached_property
    def periods(self) -> MultilevelPosterior | None:
        """The curves of ordered periods, of one fit; None without periods."""
        if self.data.periods is None or len(self.data.groups) < 2:
            return None
        return cast(MultilevelPosterior, fit(self.data, **self._of_several))

    @property
    def _of_several(self) -> dict[str, Any]:
        """Options of a fit of several curves."""
        kept = {name: self.options[name] for name in ("draws", "edge") if name in self.options}
        return kept | {"curve": "logistic", "prior": self.prior, "random_state": self.seed}

    @cached_property
    def populations(self) -> pd.DataFrame | None:
        """Whom the results are true of, a row each, all of one fit (`several`).

        Of groups: these groups' patients, the average group and, of five groups or more, the next
        one. Of periods: these patients, the last period and the next. Of several factors: these
        patients and the average subgroup. Columns: error, O/E and slope with their intervals,
        prob_close, prob_miscalibrated and verdict. None of one curve for all.
        """
        if self.several is None:
            return None
        return populations_of(self.several, self.close, self.ci_prob)

    @cached_property
    def subgroups(self) -> MultilevelPosterior | None:
        """The subgroups by several factors, of one fit of logistic curves; None without factors."""
        if self.crossed is None:
            return None
        table, terms = self.crossed, crossed(self.crossed.names)
        return cast(MultilevelPosterior, fit(table.data, vary=terms, **self._of_several))

    @cached_property
    def by_subgroup(self) -> pd.DataFrame:
        """Each level and each combination of levels; see `MultilevelPosterior.table`.

        `prob_off` is the probability that the true calibration error is above `close`.

        Raises
        ------
        InputError
            If the assessment was made without several factors.
        """
        return self._with_subgroups.table(None, self.close, self.ci_prob)

    @property
    def _with_subgroups(self) -> MultilevelPosterior:
        if self.subgroups is None:
            raise InputError(
                "there are no subgroups. Pass subgroup= to assess, with two or more columns."
            )
        return self.subgroups

    @cached_property
    def by_group(self) -> pd.DataFrame:
        """Each group: cases, events, TCE, O/E, slope and P(close).

        Numbers are of the posteriors of `groups`. Where they are of one fit, which draws groups
        towards each other, `observed_expected_raw` and `calibration_slope_raw` are what the cases
        of the group say by themselves.

        Raises
        ------
        InputError
            If the assessment was made without groups.
        """
        return group_table(self.groups, self.close, self.ci_prob)

    @cached_property
    def essentials_by_group(self) -> pd.DataFrame:
        """C-statistic of each group and its net benefit at the thresholds of `decision_range`.

        Columns: cases, events, c_statistic_estimate, `_lower` and `_upper`, and of each
        threshold t net_benefit@t_estimate, `_lower`, `_upper` and treat_all@t, per patient.

        Raises
        ------
        InputError
            If the assessment was made without groups.
        """
        return self._essentials(self.groups)

    @cached_property
    def essentials_by_subgroup(self) -> pd.DataFrame:
        """The same of each level of each factor: index "factor: level".

        Both are by the one fit of all levels.

        Raises
        ------
        InputError
            If the assessment was made without several factors.
        """
        subgroups = self._with_subgroups
        return self._essentials(
            {
                f"{part.factor}: {part.level}": subgroups.at(part.levels)
                for part in subgroups.parts()
            }
        )

    def _essentials(self, parts: Mapping[str, CalibrationPosterior]) -> pd.DataFrame:
        import pandas as pd

        at = self.decision_range.thresholds
        rows = {}
        for name, post in parts.items():
            overall = self._performance_of(post)
            rows[name] = part_row(post, overall, at, self.ci_prob)
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "group"
        return table
