"""The numbers of an assessment, without a word about them."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import numpy as np

from bayescal._base.arrays import Floats
from bayescal._base.errors import InputError
from bayescal._base.text import in_natural_order
from bayescal.assessment.essentials import (
    DecisionRange,
    classification_table,
    decision_range,
    part_row,
    performance_table,
)
from bayescal.assessment.groups import group_table
from bayescal.assessment.imputed import combined_estimates
from bayescal.assessment.panel import no_panel, panel_of
from bayescal.assessment.performance import is_extreme, mean_score
from bayescal.assessment.populations import populations_of
from bayescal.assessment.stretches import Stretch, stretches_of
from bayescal.assessment.treatment import information_table, net_benefit_table
from bayescal.assessment.val_prob import RawCases, no_val_prob, val_prob
from bayescal.assessment.verdict.equation import Equation, update_equation
from bayescal.assessment.verdict.off import Off, is_off
from bayescal.assessment.verdict.settle import more_to_settle
from bayescal.data.crossed import CrossedTable
from bayescal.data.data import CalibrationData
from bayescal.data.fingerprint import fingerprint
from bayescal.data.validate import as_scores, check_choice
from bayescal.fitting import compare, fit
from bayescal.fitting.imputed.posterior import ImputedPosterior, by_imputation
from bayescal.gain import Recommendation, recommendation
from bayescal.inference import CurveComparison, EValue, LowerBound, e_value, tce_lower_bound
from bayescal.inference.lower_bound import FEWEST_UNITS
from bayescal.model.priors import Prior, as_prior
from bayescal.multilevel.compared import subgroups_of
from bayescal.multilevel.factors import SubgroupPosterior
from bayescal.multilevel.sites import HierarchicalPosterior
from bayescal.multilevel.term import crossed
from bayescal.posterior.intervals import verdict_of
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Findings"]

LEAST_SITES = 3
Asked = TypeVar("Asked")


@dataclass(frozen=True, eq=False, repr=False)
class Findings:
    """What an assessment computes. Each number is computed when it is first read, and then kept.

    Attributes
    ----------
    comparison : CurveComparison
        The families of curves.
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
    raw : tuple of RawCases
        The cases themselves, for `val_prob`: of the one data set, or of each imputation. Empty
        where they are not known, or a table tells as much.
    """

    comparison: CurveComparison
    data: CalibrationData
    close: float
    ci_prob: float
    panel: tuple[str, ...]
    options: Mapping[str, Any]
    thresholds: tuple[float, ...] = ()
    crossed: CrossedTable | None = None
    raw: tuple[RawCases, ...] = ()

    @property
    def posterior(self) -> CalibrationPosterior:
        """The posterior averaged over the families."""
        return self.comparison.posterior

    @property
    def seed(self) -> int:
        """The seed: as `random_state` it gives the same numbers again."""
        return self.comparison.problem.seed

    @property
    def prob_calibrated(self) -> float:
        """Posterior probability of exact calibration."""
        return self.comparison.prob_calibrated

    @property
    def prior(self) -> Prior:
        """The prior on the curves."""
        return self.comparison.problem.prior

    @property
    def versions(self) -> dict[str, str]:
        """Versions of Python and of the libraries that computed it."""
        return self.posterior.versions | {"python": platform.python_version()}

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of the data: equal for equal cases in any order, whatever their file."""
        return fingerprint(self.data)

    def prob_tce_below(self, x: float) -> float:
        """Probability that the true calibration error is below `x`.

        Parameters
        ----------
        x : float

        Returns
        -------
        float
        """
        return self.posterior.prob_tce_below(x)

    def prob_tce_above(self, x: float) -> float:
        """Probability that the true calibration error is not below `x`: 1 - `prob_tce_below`.

        Parameters
        ----------
        x : float

        Returns
        -------
        float
        """
        return self.posterior.prob_tce_above(x)

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
        return is_off(self.posterior, self.table, self.stretches, self.ci_prob, self.verdict)

    @property
    def verdict(self) -> str:
        """On the limit, one of "close enough", "miscalibrated" and "cannot tell".

        "close enough": `prob_tce_below(close)` is at least (1 + ci_prob) / 2. "miscalibrated":
        `prob_tce_above(close)` is at least that. "cannot tell": neither.
        """
        return verdict_of(self.prob_tce_below(self.close), self.ci_prob)

    @cached_property
    def more_to_settle(self) -> float:
        """More patients with which `verdict` would probably be settled; 0 if it is.

        Infinite if that takes more than 100 times the present ones. An approximation. NaN where a
        judge recorded the outcomes, whose errors more patients do not make better known.
        """
        problem = self.comparison.problem
        if not problem.likelihood.is_linear and not problem.of_times:
            return 0.0 if self.verdict != "cannot tell" else float("nan")
        error = self.posterior.values_of("tce")
        size = self.posterior.data.effective_size
        return more_to_settle(error, self.close, self.ci_prob, size)

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
        at = as_scores(scores, "scores")
        draws = self.posterior.curve(at).to_numpy().reshape(-1, at.size)
        ends = np.quantile(draws, [(1 - self.ci_prob) / 2, (1 + self.ci_prob) / 2], axis=0)
        return np.column_stack([draws.mean(axis=0), *ends])

    @cached_property
    def estimators(self) -> pd.DataFrame:
        """The panel of estimators, each beside what calibrated models give at this n.

        Columns: title, estimate, calibrated_lower and calibrated_upper (the middle 90 % for
        calibrated models), prob_exceeds (the share of these with a larger estimate) and verdict:
        "larger" if that share is below 5 %. Of imputations: computed on each and averaged. For an
        interval see `bayescal.estimators.estimator_interval`.
        """
        if self.posterior.problem.of_times:
            return no_panel()
        return combined_estimates(
            [panel_of(post, self.panel, self.seed) for post in by_imputation(self.posterior)],
            self.ci_prob,
        )

    @cached_property
    def performance(self) -> pd.DataFrame:
        """C-statistic and Brier scores: title, estimate, lower and upper (bootstrap).

        Of times to an event they are read off the curve, with its interval.
        """
        return performance_table(self.posterior, self.ci_prob, self.seed)

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
        """Which update to make, if any, by what it probably gains."""
        return recommendation(self.comparison, self.thresholds, self.ci_prob)

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
        tables = (post.problem.unclustered for post in by_imputation(self.posterior))
        each = [val_prob(cases) for cases in self.raw or tables]
        return sum(each[1:], each[0]) / len(each)

    @cached_property
    def lower_bound(self) -> LowerBound | None:
        """A lower bound of the true calibration error that assumes no family of curves.

        See `bayescal.tce_lower_bound`. Sites stay together if there are ten or more; with fewer it
        is that of the cases at these sites. None where the bound is not defined, such as with
        imputed scores, sampling weights or a judge.
        """
        data = self.data if len(self.data.levels.get("site", ())) >= FEWEST_UNITS else self._pooled
        return None if data is None else _unless_refused(tce_lower_bound, data, self.seed)

    @cached_property
    def e_value(self) -> EValue | None:
        """Evidence against calibration that may be looked at as often as one likes.

        See `bayescal.e_value`. None of clusters and groups, whose cases share what calibration does
        not know of, and where it is not defined otherwise.
        """
        data = None if self.data.groups else self._pooled
        return None if data is None else _unless_refused(e_value, data, self.seed)

    @property
    def _pooled(self) -> CalibrationData | None:
        """All cases as one group; None where a judge recorded the outcomes."""
        return self.posterior.data if self.comparison.problem.likelihood.is_linear else None

    @cached_property
    def clinical(self) -> Self | None:
        """The same under the `clinical` prior, when the mean score is outside [0.05, 0.95].

        There the neutral prior says little about the average risk. None otherwise, and under any
        other prior.
        """
        data = self.posterior.data
        if self.prior.name != "neutral" or not is_extreme(mean_score(data)):
            return None
        clinical = as_prior("clinical")
        options = {**self.options, "prior": clinical}
        return replace(self, comparison=self.comparison.under(clinical), data=data, options=options)

    @property
    def missing_information(self) -> pd.DataFrame | None:
        """What the missing data cost, by functional; None if nothing was imputed.

        See `ImputedPosterior.missing_information`.
        """
        post = self.posterior
        return post.missing_information if isinstance(post, ImputedPosterior) else None

    @cached_property
    def groups(self) -> dict[str, CalibrationPosterior]:
        """The averaged posterior of each group by itself.

        Raises
        ------
        InputError
            If the assessment was made without groups.
        """
        return {name: self.group(name) for name in in_natural_order(self._group_names)}

    def group(self, name: str) -> CalibrationPosterior:
        """The averaged posterior of one group by itself.

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
        if chosen not in self._by_name:
            compared = compare(self.data.select(chosen), random_state=self.seed, **self.options)
            self._by_name[chosen] = compared.posterior
        return self._by_name[chosen]

    @property
    def _group_names(self) -> tuple[str, ...]:
        if not self.data.groups:
            raise InputError("there are no groups. Pass groups= to assess, one label a case.")
        return self.data.groups

    @cached_property
    def _by_name(self) -> dict[str, CalibrationPosterior]:
        """The groups that are assessed so far."""
        return {}

    @property
    def has_sites(self) -> bool:
        """Whether there are groups enough to see how much they differ, which are no periods."""
        return len(self.data.groups) >= LEAST_SITES and self.data.periods is None

    @cached_property
    def sites(self) -> HierarchicalPosterior | None:
        """The groups as sites of one hierarchical fit of logistic curves.

        None of fewer than three groups, between which no spread can be seen, and of periods.
        """
        if not self.has_sites:
            return None
        kept = {name: self.options[name] for name in ("draws", "edge") if name in self.options}
        return cast(
            HierarchicalPosterior,
            fit(self.data, curve="logistic", prior=self.prior, random_state=self.seed, **kept),
        )

    @cached_property
    def populations(self) -> pd.DataFrame | None:
        """Whom the results are true of: these groups' patients, the average group, the next group.

        All of one hierarchical fit, each with its error, O/E, slope and verdict. None where there
        are fewer than three groups, or periods; the next group is left out with fewer than five.
        """
        if self.sites is None:
            return None
        return populations_of(self.sites, self.close, self.ci_prob)

    @cached_property
    def subgroups(self) -> SubgroupPosterior | None:
        """The subgroups by several factors, of one fit of logistic curves; None without factors."""
        if self.crossed is None:
            return None
        kept = {name: self.options[name] for name in ("draws", "edge") if name in self.options}
        table, terms = self.crossed, crossed(self.crossed.names)
        kept |= {"curve": "logistic", "prior": self.prior, "random_state": self.seed}
        return cast(SubgroupPosterior, fit(table.data, vary=terms, **kept))

    @cached_property
    def by_subgroup(self) -> pd.DataFrame:
        """Each level and each combination of levels; see `SubgroupPosterior.subgroups`.

        `prob_off` is the probability that the true calibration error is above `close`.

        Raises
        ------
        InputError
            If the assessment was made without several factors.
        """
        return self._with_subgroups.report(self.close, self.ci_prob)

    @property
    def _with_subgroups(self) -> SubgroupPosterior:
        if self.subgroups is None:
            raise InputError(
                "there are no subgroups. Pass groups= to assess with a column for each factor."
            )
        return self.subgroups

    @cached_property
    def by_group(self) -> pd.DataFrame:
        """Each group by itself, with no pooling: cases, events, TCE, O/E, slope and P(close).

        Raises
        ------
        InputError
            If the assessment was made without groups.
        """
        return group_table(self.groups, self.close, self.ci_prob)

    @cached_property
    def essentials_by_group(self) -> pd.DataFrame:
        """C-statistic of each group and its net benefit at the thresholds of `decision_range`.

        Columns: cases, events, c_statistic_estimate, `_lower` and `_upper` (bootstrap), and of each
        threshold t net_benefit@t_estimate, `_lower`, `_upper` and treat_all@t, per patient.

        Raises
        ------
        InputError
            If the assessment was made without groups.
        """
        return self._essentials(
            {name: (post, post.problem.unclustered) for name, post in self.groups.items()}
        )

    @cached_property
    def essentials_by_subgroup(self) -> pd.DataFrame:
        """The same of each level of each factor: index "factor: level".

        The net benefit is by the one fit of all levels, the C-statistic by the cases of the level.

        Raises
        ------
        InputError
            If the assessment was made without several factors.
        """
        subgroups = self._with_subgroups
        return self._essentials(
            {
                f"{part.factor}: {part.level}": (
                    subgroups.at(part.levels),
                    subgroups.table.data.select(**part.levels),
                )
                for part in subgroups_of(subgroups.table, "levels")
            }
        )

    def _essentials(
        self, parts: Mapping[str, tuple[CalibrationPosterior, CalibrationData]]
    ) -> pd.DataFrame:
        import pandas as pd

        at = self.decision_range.thresholds
        rows = {}
        for name, (post, data) in parts.items():
            row = {"cases": post.data.n, "events": post.data.events}
            rows[name] = row | part_row(post, data, at, self.ci_prob, self.seed)
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "group"
        return table


def _unless_refused(ask: Callable[..., Asked], data: CalibrationData, seed: int) -> Asked | None:
    """What is asked of the data; None where it is not defined for them."""
    try:
        return ask(data, random_state=seed)
    except InputError:
        return None
