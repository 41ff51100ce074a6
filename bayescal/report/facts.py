"""The numbers of an assessment, without a word about them."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.special import expit, logit, ndtri

from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, as_level
from bayescal.core.text import Measured, excludes, in_natural_order
from bayescal.data.cases import as_scores
from bayescal.data.stored import fingerprint
from bayescal.data.table import CalibrationData
from bayescal.estimators.clinical import (
    calibration_in_the_large,
    calibration_in_the_large_interval,
    calibration_slope,
    calibration_slope_interval,
    observed_expected,
    observed_expected_interval,
)
from bayescal.fitting import compare, fit
from bayescal.gain import Recommendation, recommendation
from bayescal.inference import CurveComparison
from bayescal.model.prior import Prior
from bayescal.model.reversed import Reversed, reversed_scores
from bayescal.multilevel.compared import Part
from bayescal.multilevel.curves import prior_of
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.term import Vary
from bayescal.multilevel.words import own_error, views_of
from bayescal.posterior.intervals import share_below
from bayescal.posterior.posterior import CalibrationPosterior, versions_of
from bayescal.report.followed import ratio_at_other_hazard
from bayescal.report.groups import (
    LEAST_SITES,
    clearly_off,
    clearly_off_of,
    furthest_first,
    group_table,
    populations_of,
    roles_of_groups,
    terms_of_roles,
)
from bayescal.report.performance import (
    PANEL,
    DecisionRange,
    classification,
    combined_estimates,
    decision_range,
    net_benefit,
    no_panel,
    no_val_prob,
    panel_of,
    performance_by_curve,
    performance_of,
    raw_cases,
    told,
    val_prob,
)
from bayescal.report.words import Words

if TYPE_CHECKING:
    import pandas as pd

STANDARD_WORDS = Words()
ROUND = (
    *(0.001, 0.002, 0.005, 0.01, 0.02, 0.05),
    *(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    *(0.95, 0.98, 0.99, 0.995),
)
FEWEST_SCORES = 3
RIGHT_SPREAD = (0.8, 1.25)
# Of measures that data have without a prior: estimator and interval.
WITHOUT_PRIOR: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "observed_expected": (observed_expected, observed_expected_interval),
    "calibration_in_the_large": (calibration_in_the_large, calibration_in_the_large_interval),
    "calibration_slope": (calibration_slope, calibration_slope_interval),
}


@dataclass(frozen=True)
class Limit:
    """An error that is small enough, as the user says.

    `moved` if it was set, or set anew, after the result was seen; `mark` says of the model that it
    is "new" (made from few patients or by a machine), or "validated" before.
    """

    value: float
    moved: bool = False
    mark: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Facts:
    """What an assessment computes. Each number is computed when it is first read, and then kept.

    `comparison` is of all cases as one table: its families are the updates that are compared.
    `data` has the groups of the role that leads; `crossed` the cases by several roles. `options`
    are those of `compare`: prior, prior_calibrated, draws and edge.
    """

    comparison: CurveComparison
    data: CalibrationData
    limit: Limit | None
    ci_prob: float
    panel: tuple[str, ...]
    options: Mapping[str, Any]
    thresholds: tuple[float, ...] = ()
    crossed: CalibrationData | None = None
    labels: Words = STANDARD_WORDS

    def with_limit(self, limit: Limit | None) -> Self:
        """The same facts under another limit; all that was computed is kept."""
        other = replace(self, limit=limit)
        known = {name for name in vars(self) if name not in self.__dataclass_fields__}
        vars(other).update({name: vars(self)[name] for name in known})
        return other

    @property
    def posterior(self) -> CalibrationPosterior:
        """The posterior that every result is of.

        Where one fit has a curve for each group (`several`), it is that of the patients of these
        groups, whose intervals know that groups differ. Else it is averaged over the families.
        """
        return self.comparison.posterior if self.several is None else self.several.at()

    @cached_property
    def several(self) -> MultilevelPosterior | None:
        """One fit of the logistic curves of all groups, periods and subgroups.

        None of one curve for all, and of one or two sites, between which no spread can be seen.
        """
        least = LEAST_SITES if self.data.periods is None else 2
        if self.crossed is None and len(self.data.groups) < least:
            return None
        terms = () if self.crossed is None else terms_of_roles(self.given)
        made: MultilevelPosterior = self._fitted(self.given, terms)
        return made

    def _fitted(
        self, data: CalibrationData, terms: Sequence[Vary] = (), prior: Prior | None = None
    ) -> Any:
        """One fit of the logistic curves of several groups, or of one curve of all."""
        kept = {name: self.options[name] for name in ("draws", "edge") if name in self.options}
        kept |= {"curve": "logistic", "prior": prior or self.prior, "random_state": self.seed}
        return fit(data, vary=terms or None, **kept)

    @property
    def given(self) -> CalibrationData:
        """The table with all of its roles."""
        return self.data if self.crossed is None else self.crossed

    @property
    def kind(self) -> str:
        """What has a curve of its own, and leads: "site", "subgroup" or "period"."""
        if self.given.subgroups and "site" not in self.given.levels:
            return "subgroup"
        return "site" if "site" in self.given.levels or self.given.periods is None else "period"

    @property
    def own(self) -> str:
        """What a case has a curve of: its site or, of several roles, its site and period."""
        given = self.given
        roles = {
            "site": "site" in given.levels,
            "subgroup": bool(given.subgroups),
            "period": given.periods is not None,
        }
        return " and ".join(role for role, is_there in roles.items() if is_there) or self.kind

    @property
    def axes(self) -> list[str]:
        """The roles that lead: one, or several subgroups."""
        known = roles_of_groups(self.given)
        return list(self.given.subgroups) if self.kind == "subgroup" else known[:1]

    @property
    def is_imputed(self) -> bool:
        """Whether there are several imputations."""
        return len(self.posterior.imputations) > 1

    @property
    def seed(self) -> int:
        """The seed: as `random_state` it gives the same numbers again."""
        return self.comparison.problem.seed

    @cached_property
    def names(self) -> frozenset[str]:
        """Names from the data: groups, and levels of factors."""
        levels = () if self.crossed is None else self.given.levels.items()
        return frozenset(
            [*self.data.groups, *(name for role, each in levels for name in (role, *each))]
        )

    def worded(self, text: str) -> str:
        """A sentence in the words that the user chose; names from the data stay."""
        return self.labels.of(text, self.names)

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

    # What was measured

    @cached_property
    def table(self) -> pd.DataFrame:
        """The summary of all functionals at `ci_prob`."""
        return self.posterior.summary(self.ci_prob)

    @cached_property
    def error_draws(self) -> Floats:
        """Draws of the true calibration error that the answer is read from.

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
            return told(self.error_draws, self.ci_prob)
        return Measured.of(self.table.loc["tce"])._asdict()

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
        """`prob_calibrated` from another prior probability."""
        other = as_level(prior_calibrated, "prior_calibrated")
        now, before = self.prob_calibrated, self.prior_calibrated
        exact, rest = now * other / before, (1 - now) * (1 - other) / (1 - before)
        return exact / (exact + rest)

    @cached_property
    def is_exact(self) -> Floats:
        """In which draws the model is exactly calibrated: 1 or 0."""
        return np.asarray(self.posterior.values_of("tce") == 0, dtype=np.float64)

    def prob_within(self, name: str, lower: float, upper: float) -> float:
        """Probability that a ratio with the ideal 1 lies between two values.

        Ratios are drawn given that the model is not exactly calibrated; where it is, they are 1.
        """
        draws = np.where(self.is_exact == 1, 1.0, self.posterior.values_of(name))
        return float(np.mean((lower < draws) & (draws < upper)))

    @cached_property
    def alone(self) -> dict[str, dict[str, float]]:
        """What the data say without a prior: estimate and interval of O/E, CITL and slope.

        By maximum likelihood. Only of outcomes that are known, independent and not imputed, of
        which the formulas hold; without an interval where the formula has none.
        """
        data = self.comparison.data
        if not self._is_independent:
            return {}
        rows = {}
        for name, (estimator, interval) in WITHOUT_PRIOR.items():
            with suppress(InputError):
                rows[name] = {"estimate": float(estimator(data))}
                lower = upper = float("nan")
                with suppress(InputError):
                    lower, upper = interval(data, ci_prob=self.ci_prob)
                rows[name] |= {"lower": lower, "upper": upper}
        return {name: row for name, row in rows.items() if np.isfinite(row["estimate"])}

    @cached_property
    def runs_wrong_way(self) -> Reversed | None:
        """That the scores run the wrong way."""
        return reversed_scores(self.comparison.data)

    @property
    def prob_below_limit(self) -> float:
        """Probability that the error is below the limit."""
        assert self.limit is not None
        return share_below(self.error_draws, self.limit.value)

    @cached_property
    def performance(self) -> pd.DataFrame:
        """C-statistic and Brier scores: title, estimate, lower and upper (bootstrap).

        Where groups have a curve each, and of times to an event, they are read off the curve with
        its interval. Where scores run the wrong way they are of the data all the same, since curves
        of groups cannot fall.
        """
        if self.performance_is_of_curve:
            return performance_by_curve(self.posterior, self.ci_prob)
        parts = self.posterior.imputations
        each = [performance_of(part.problem, self.ci_prob, self.seed) for part in parts]
        return combined_estimates(each, self.ci_prob)

    @property
    def performance_is_of_curve(self) -> bool:
        """Whether `performance` is read off the curve, and not computed from the outcomes."""
        if self.posterior.problem.of_times:
            return True
        return self.several is not None and self.runs_wrong_way is None

    @cached_property
    def estimators(self) -> pd.DataFrame:
        """The panel of estimators, each beside what calibrated models give at this n.

        Columns: title, estimate, calibrated_lower and calibrated_upper (the middle 90 % for
        calibrated models), prob_exceeds (the share of these with a larger estimate) and verdict.
        """
        if not self.has_estimators:
            return no_panel()
        return panel_of(self.posterior.imputations, self.panel, self.seed)

    @property
    def has_estimators(self) -> bool:
        """Whether there is a panel; of times to an event only if it was named."""
        return not self.posterior.problem.of_times or self.panel not in ((), PANEL)

    @cached_property
    def curve(self) -> tuple[Floats, Floats]:
        """Round scores within the range of the data, and the curve there as `curve_at` gives it."""
        at = round_scores(self.posterior.data.score)
        return at, self.curve_at(at)

    def curve_at(self, scores: Floats) -> Floats:
        """The curve at some scores: posterior mean, and both ends, of shape (n_scores, 3)."""
        at = as_scores(scores, "scores")
        risks = self.posterior.risks(at, ci_prob=self.ci_prob)
        return risks[["risk", "lower", "upper"]].to_numpy()

    @cached_property
    def val_prob(self) -> pd.Series:
        """What R's `val.prob` prints, by its names; of the data, not of the posterior.

        Of imputations each is the mean over them; all are NaN of times to an event. More than 2048
        distinct scores are used themselves where the cases were passed as arrays.
        """
        if self.posterior.problem.of_times:
            return no_val_prob()
        tables = (post.problem.unclustered for post in self.posterior.imputations)
        known = raw_cases(self.given) if self.comparison.data.is_compressed else ()
        each = [val_prob(cases) for cases in known or tables]
        return sum(each[1:], each[0]) / len(each)

    @property
    def missing_information(self) -> pd.DataFrame | None:
        """What the missing data cost, by functional; None if nothing was imputed."""
        return self.posterior.missing_information if self.is_imputed else None

    @cached_property
    def ratio_at_other_hazard(self) -> float:
        """O/E if those who left before the horizon had a higher hazard; NaN if nobody left."""
        return ratio_at_other_hazard(self.posterior)

    # What to do

    @cached_property
    def recommendation(self) -> Recommendation:
        """Which update to make for all patients, if any, by what it probably gains for them."""
        return self._recommended(self.posterior)

    def _recommended(self, of: CalibrationPosterior) -> Recommendation:
        """For the patients of a curve: of several groups, updates up to the family of all."""
        up_to = None if self.several is None else self.several.problem.pooled.curve.name
        return recommendation(self.comparison, self.thresholds, self.ci_prob, of, up_to)

    @cached_property
    def prob_better_next(self) -> float | None:
        """Probability that the update is better than none in the next group or period, if any."""
        chosen = self.recommendation.choice
        views = {} if self.several is None else views_of(self.several)
        if chosen in (None, "identity") or "next" not in views or self.kind == "subgroup":
            return None
        return float(self._recommended(views["next"]).table["prob_better"][chosen])

    @cached_property
    def equation(self) -> Equation | None:
        """The recommended update as an equation; None if none is recommended, or it has none."""
        return update_equation(self.comparison, self.recommendation.choice or "identity")

    @cached_property
    def net_benefit(self) -> pd.DataFrame:
        """Net benefit per patient at each threshold; empty if no thresholds were given."""
        return net_benefit(self.posterior, self.thresholds, self.ci_prob)

    @cached_property
    def net_benefit_lost(self) -> pd.DataFrame:
        """Net benefit per patient lost to miscalibration; empty if no thresholds were given."""
        return self.posterior.summary(self.ci_prob, names=(), thresholds=self.thresholds)

    @cached_property
    def decision_range(self) -> DecisionRange:
        """Thresholds of the decision curve, as `performance.decision_range` says."""
        return decision_range(self.posterior, self.thresholds)

    @cached_property
    def classification(self) -> pd.DataFrame:
        """Sensitivity, specificity, PPV and NPV at the thresholds of `decision_range`."""
        return classification(self.posterior, self.decision_range.thresholds, self.ci_prob)

    # Groups, periods and subgroups

    @property
    def has_own_curves(self) -> bool:
        """Whether groups, periods or subgroups have curves of their own."""
        return self.several is not None or len(self.data.groups) > 1

    @cached_property
    def groups(self) -> dict[str, CalibrationPosterior]:
        """The posterior of each group: of its curve in one fit, or of its cases by themselves."""
        names = in_natural_order(self.data.groups)
        if self.several is not None:
            return {name: self.several.at({self.axes[0]: name}) for name in names}
        parts = {name: self.data.select(name).with_several_clusters() for name in names}
        how: dict[str, Any] = {"random_state": self.seed, **self.options}
        return {name: compare(part, **how).posterior for name, part in parts.items()}

    @cached_property
    def by_group(self) -> pd.DataFrame:
        """Each group: cases, events, TCE, O/E and slope; see `groups.group_table`."""
        return group_table(self.groups, self.ci_prob)

    @cached_property
    def clearly_off(self) -> dict[str, dict[str, float]]:
        """O/E of groups, periods or subgroups that are clearly off, the furthest first.

        Their interval excludes 1; or their own cases alone stand out from the others, which one fit
        of all draws towards these: then it is O/E of these cases alone.
        """
        off: dict[str, dict[str, float]] = {}
        if self.data.groups and self.has_own_curves:
            off = clearly_off(self.groups, self.ci_prob)
            off = off if self.several is None else self._standing_out | off
        elif self.several is not None:
            off = clearly_off_of(self.several, self.ci_prob, self.axes)
        return furthest_first(off)

    @cached_property
    def subgroups_off(self) -> dict[str, dict[str, float]]:
        """O/E of subgroups beside sites that are clearly off, by their intervals."""
        if self.several is None or self.kind != "site":
            return {}
        return furthest_first(clearly_off_of(self.several, self.ci_prob, self.given.subgroups))

    @property
    def _standing_out(self) -> dict[str, dict[str, float]]:
        """Groups whose number of events is not that of the others, by a test of each.

        The score test of O/E against that of all cases, at the level of one interval shared among
        the groups, so that with random labels none is named in 95 % of data sets. Only of outcomes
        that are known and independent.
        """
        groups, pooled = self.data.groups, self.comparison.data
        if not groups or not self._is_independent or not 0 < pooled.events < pooled.n:
            return {}
        common = pooled.events / (pooled.trials @ pooled.score)
        enough = ndtri(1 - (1 - self.ci_prob) / 2 / len(groups))
        off = {}
        for label in groups:
            mine = self.data.select(label)
            risk = np.clip(common * mine.score, 0, 1)
            expected, events = float(mine.trials @ risk), float(mine.events)
            spread = float(np.sqrt(mine.trials @ (risk * (1 - risk))))
            if events and spread and abs(events - expected) > enough * spread:
                ratio = events / float(mine.trials @ mine.score)
                lower = upper = 1.0
                with suppress(InputError):  # of one class there is no interval
                    lower, upper = observed_expected_interval(mine, ci_prob=self.ci_prob)
                if excludes(lower, upper, 1):
                    off[label] = {"estimate": ratio, "lower": lower, "upper": upper}
        return off

    @property
    def _is_independent(self) -> bool:
        """Whether outcomes are known, independent and not imputed, as formulas ask for."""
        data = self.comparison.data
        return data.follow_up is None and "cluster" not in data.roles and not self.is_imputed

    @property
    def sites(self) -> MultilevelPosterior | None:
        """The fit, if groups that have no order lead in it."""
        return self.several if self.data.groups and self.data.periods is None else None

    @property
    def spread(self) -> pd.DataFrame:
        """How much the groups of `sites` differ; see `MultilevelPosterior.heterogeneity`."""
        assert self.sites is not None
        spread = self.sites.heterogeneity
        if self.crossed is None:
            return spread
        own = spread.index.get_level_values("term") == self.axes[0]
        return spread[own].droplevel("term").drop(columns="prob_largest")

    @property
    def periods(self) -> MultilevelPosterior | None:
        """The fit, if it has ordered periods, alone or beside others."""
        return None if self.given.periods is None else self.several

    @cached_property
    def subgroups(self) -> list[Part]:
        """Levels of subgroups that are no groups, then the combinations of several."""
        if self.several is None or self.crossed is None:
            return []
        names = self.given.subgroups
        levels = [name for name in names if not self.data.groups or name not in self.axes]
        parts = [part for name in levels for part in self.several.parts(name)]
        return parts + (self.several.parts(names) if len(names) > 1 else [])

    @cached_property
    def prob_differ(self) -> float:
        """Probability that curves differ, at even odds before the data.

        Of sites, a curve for each against one for all, each with the other roles; of periods alone,
        that the curve has changed. Not a number of several subgroups, and where NUTS drew the
        curves, since it computes no evidence.
        """
        if self.data.groups:
            return self.prob_changed if self.kind == "period" else self._prob_of(self.axes[0])
        return float("nan")

    @cached_property
    def prob_changed(self) -> float:
        """Probability that curves changed over the periods, as `prob_differ`."""
        if self.periods is None:
            return float("nan")
        if self.kind == "period":
            return 1 - float(self.periods.explanations["constant"])
        return self._prob_of("period")

    def _prob_of(self, role: str) -> float:
        """Probability of the fit against one without a role, at even odds."""
        post = self.several
        if post is None:
            return float("nan")
        rest = self.given.without(role)
        if roles_of_groups(rest):
            without = self._fitted(rest, terms_of_roles(rest))
        else:
            without = self._fitted(rest, prior=post.problem.pooled.prior)
        of = [float(each.diagnostics.get("log_evidence", np.nan)) for each in (post, without)]
        return float(1 / (1 + np.exp(np.clip(of[1] - of[0], -700, 700))))

    @cached_property
    def populations(self) -> pd.DataFrame | None:
        """Whom the results are true of, a row each, all of one fit; None of one curve for all.

        Of groups: these groups' patients against their own group, and against the curve of all
        ("pooled"), the average group and, of five groups or more, the next one. Of periods: these
        patients, the last period and, of periods alone, the next. Of several factors: these
        patients and the average subgroup.
        """
        if self.several is None:
            return None
        rows = populations_of(self.several, self.ci_prob)
        return rows.drop(index="next", errors="ignore") if self.kind == "subgroup" else rows

    @cached_property
    def next_events(self) -> tuple[float, float] | None:
        """Events for 100 predicted to expect in the next group or period, as an interval."""
        if self.populations is None or self.kind == "subgroup":
            return None
        if "next" not in self.populations.index:
            return None
        row: Any = self.populations.loc["next"]
        low, high = (100 * float(row[f"observed_expected_{end}"]) for end in ("lower", "upper"))
        return low, high

    @cached_property
    def by_period(self) -> pd.DataFrame:
        """Each period, where periods stand beside other roles; see `MultilevelPosterior.table`."""
        assert self.several is not None
        return self.several.table("period", ci_prob=self.ci_prob)

    @cached_property
    def by_subgroup(self) -> pd.DataFrame:
        """Each of `subgroups`; see `MultilevelPosterior.table`."""
        import pandas as pd

        assert self.several is not None
        names = dict.fromkeys(tuple(part.levels) for part in self.subgroups)
        return pd.concat([self.several.table(list(of), ci_prob=self.ci_prob) for of in names])


def round_scores(score: Floats) -> Floats:
    """Round probabilities within the range of the scores, or some of the scores themselves."""
    values = np.array([value for value in ROUND if score.min() <= value <= score.max()])
    if values.size >= FEWEST_SCORES:
        return values
    distinct = np.unique(score)
    index = np.linspace(0, distinct.size - 1, min(distinct.size, 5)).round().astype(int)
    return np.asarray(distinct[index])


class Form(NamedTuple):
    """A recalibrated risk as text and as a sum: expit(offset + columns @ coefficients).

    If `bounded`, the last two coefficients are a floor and a ceiling of that.
    """

    text: str
    columns: Callable[[Floats], list[Floats]]
    offset: Callable[[Floats], Floats] = np.zeros_like
    bounded: bool = False

    def risk(self, score: Floats, coefficients: Floats) -> Floats:
        """The recalibrated risk of each score."""
        floor, ceiling = coefficients[-2:] if self.bounded else (0.0, 1.0)
        columns = np.column_stack(self.columns(score))
        h = expit(self.offset(score) + columns @ coefficients[: columns.shape[1]])
        return np.asarray(floor + (ceiling - floor) * h)


LEAST_INSIDE = 1e-6

# Of the families that have a short one, by name.
EQUATIONS = {
    "intercept": Form("expit({} + logit(risk))", lambda s: [np.ones_like(s)], logit),
    "temperature": Form("expit({} logit(risk))", lambda s: [logit(s)]),
    "logistic": Form("expit({} + {} logit(risk))", lambda s: [np.ones_like(s), logit(s)]),
    "lapse": Form(
        "{floor} + {range} expit({} + {} logit(risk))",
        lambda s: [np.ones_like(s), logit(s)],
        bounded=True,
    ),
    "beta": Form(
        "expit({} + {} ln(risk) - {} ln(1 - risk))",
        lambda s: [np.ones_like(s), np.log(s), -np.log1p(-s)],
    ),
}


class Equation(NamedTuple):
    """An update in coefficients, the intercept first, and a floor and a ceiling last."""

    curve: str
    coefficients: tuple[float, ...]

    def __str__(self) -> str:
        form, (*_, floor, ceiling) = EQUATIONS[self.curve], (0.0, 0.0, *self.coefficients)
        shown, bounds = map(_shown, self.coefficients), map(_shown, (floor, ceiling - floor))
        text = form.text.format(*shown, **dict(zip(("floor", "range"), bounds, strict=True)))
        return f"new risk = {text.replace('- -', '+ ')}"

    def __call__(self, risk: Floats) -> Floats:
        """The recalibrated risks of these, inside (0, 1)."""
        return EQUATIONS[self.curve].risk(risk, np.array(self.coefficients))


def _shown(value: float) -> str:
    return f"{round(value, 3) + 0.0:.3f}"


def update_equation(comparison: CurveComparison, curve: str) -> Equation | None:
    """The equation nearest to the posterior mean of a family's curve, over the scores of the data.

    The mean of curves of a family is not quite a curve of it, so that it is an approximation. None
    of a family that has no short equation.
    """
    if curve not in EQUATIONS:
        return None
    score, weight, risk = np.hstack([_mean_curve(one, curve) for one in comparison.imputations])
    form = EQUATIONS[curve]
    root = np.sqrt(weight * risk * (1 - risk))
    columns = np.column_stack(form.columns(score)) * root[:, None]
    coefficients = np.linalg.lstsq(columns, (logit(risk) - form.offset(score)) * root)[0]
    if form.bounded:
        coefficients = _between_bounds(form, coefficients, score, risk, np.sqrt(weight))
    return Equation(curve, tuple(map(float, coefficients)))


def _between_bounds(form: Form, start: Floats, score: Floats, risk: Floats, root: Floats) -> Floats:
    """The coefficients, a floor and a ceiling by least squares, from those without bounds on."""
    from scipy.optimize import least_squares

    first = np.r_[start, risk.min() / 2, (1 + risk.max()) / 2]
    free = np.full(start.size, np.inf)
    bounds = np.r_[-free, 0, 0.5], np.r_[free, 0.5, 1]
    fitted = least_squares(
        lambda each: (form.risk(score, each) - risk) * root,
        np.clip(first, bounds[0] + LEAST_INSIDE, bounds[1] - LEAST_INSIDE),
        bounds=bounds,
    )
    return np.asarray(fitted.x)


def _mean_curve(comparison: CurveComparison, curve: str) -> Floats:
    """Scores, cases and posterior mean of a family's curve, of shape (3, rows)."""
    problem, u = comparison.of_family(curve)
    return np.stack([problem.score, problem.trials, problem.probability(u).mean(axis=0)])
