"""What is known of a gain: of one curve or of several, and over imputations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats, as_seed
from bayescal.core.errors import InputError, as_flag, as_items, as_level, as_number, check_choice
from bayescal.core.page import Block, Figure, Page, Section
from bayescal.core.table import Column, Row, Table, rows_of
from bayescal.core.text import NO_CHANGE, chance, count, decimals, per_thousand, shortened, signed
from bayescal.data.cases import is_matrix
from bayescal.data.columns import WeightType
from bayescal.data.doors import Given
from bayescal.data.matrices import (
    as_imputations,
    as_imputed_outcomes,
    warn_of_few_outcomes,
)
from bayescal.data.table import CalibrationData
from bayescal.data.times import Survival
from bayescal.gain._terms import (
    PARTS,
    SCORES,
    are_certain,
    net_benefit_name,
    told_impossible,
    treated,
)
from bayescal.gain.paired import PairedPredictions, is_function
from bayescal.gain.routes import Posterior, by_view, calibration_mixture, in_shares, quantiles
from bayescal.model.priors import Prior
from bayescal.multilevel.posterior import MultilevelPosterior
from bayescal.multilevel.words import views_of
from bayescal.posterior.imputed import in_turn, missing_information, mixed
from bayescal.posterior.posterior import CalibrationPosterior

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = [
    "ImputedGain",
    "OfSeveral",
    "RecalibrationGain",
    "SeveralGains",
    "evidence_of",
    "gain_of_imputations",
]

CHAINS = 4
# With one or two patients moved across a threshold, 95 % intervals covered .47 to .85 of known
# changes in net benefit by the curve, and .09 to .66 by pairs.
FEW_MOVED = 10
MEASURE_LABELS = {
    "tce": "true calibration error",
    "brier": "Brier score",
    "log_score": "log score",
}
# What is said where both predictions were rounded.
OF_ROUNDING = (
    "Rounding: equal scores before have several scores after, no further apart than rounding can "
    "have left them. Their mean stands for the map."
)
CROSS_FITTED = (
    "about the procedure (95 % intervals covered its gain in .87 to 1.00 of simulations), not the "
    "map fitted to all patients (.79 to .94)"
)


class RecalibrationGain:
    """The posterior of the gain of a recalibration. Made by `bayescal.recalibration_gain`.

    Attributes
    ----------
    route : str
        "curve" or "paired": how the gains were computed.
    evidence : str
        On which patients: other patients than the map was fitted to (assumed), cross-fitted, or
        in-sample, and then whether that was stated or detected.
    in_sample : bool
        Whether the map was fitted to these patients, stated or detected.
    thresholds : tuple of float
    seed : int
        The random seed; with it the numbers can be reproduced.
    title : str
        Of one of several curves, whose gain it is: a level, or what stands in its place; else "".
    """

    def __init__(
        self,
        posterior: Posterior,
        pairs: PairedPredictions,
        *,
        route: str,
        evidence: str,
        in_sample: bool,
        thresholds: tuple[float, ...],
        prior: Prior,
        seed: int,
        title: str = "",
    ) -> None:
        self._posterior, self._pairs, self._prior = posterior, pairs, prior
        self.route, self.evidence, self.in_sample = route, evidence, in_sample
        self.thresholds, self.seed, self.title = thresholds, seed, title

    @property
    def n(self) -> float:
        """Number of cases; of sampling weights, Kish's effective number."""
        return float(self._pairs.weight.sum())

    @cached_property
    def prob_calibrated(self) -> dict[str, float]:
        """Posterior probabilities that "before", and that "after", is exactly calibrated.

        Computed by `bayescal.compare` for either prediction, with prior probability 0.05; for
        repeats of a cross-fit, their mean. Not a number where NUTS drew several curves.
        """
        of, how = self._pairs, (self._prior, self.seed)
        before, after = self._posterior.before, self._posterior.after
        if before is None:
            before = calibration_mixture(of.table_before, *how)
            after = tuple(calibration_mixture(table, *how) for table in of.tables_after)
        each = [one.prob_calibrated for one in (before, *after)]
        first, *others = (float("nan") if one is None else one for one in each)
        return {"before": first, "after": float(np.mean(others))}

    @property
    def weight_type(self) -> WeightType:
        """How the weights are read: "counts" of cases (also without weights), or "sampling"."""
        return self._pairs.weight_type

    @property
    def contradicted(self) -> dict[str, int]:
        """Patients to whom "before", and "after", gives probability 0 to what happened.

        The log loss of such a patient is infinite. Of repeats, the patients of any of them.
        """
        of = self._pairs
        wrong = {
            "before": told_impossible(of.outcome, of.before),
            "after": np.any(told_impossible(of.outcome, of.after), axis=0),
        }
        return {side: self._cases(patients) for side, patients in wrong.items()}

    @property
    def unchanged(self) -> tuple[str, ...]:
        """Gains that are exactly 0: of net benefit, where no patient crosses the threshold."""
        return tuple(name for name, values in self._posterior.draws.items() if not values.any())

    @property
    def notes(self) -> list[str]:
        """What a reader should know of infinite log losses, and of thresholds that few cross."""
        pairs, notes = self._pairs, []
        is_rounded = bool(self.title) and pairs.is_rounded_map and not pairs.is_map
        is_certain = are_certain(pairs.after)
        wrong = self.contradicted
        if wrong["before"] or wrong["after"]:
            sides = ", ".join(f"{side} to {count(n, 'case')}" for side, n in wrong.items())
            notes.append(
                f"Log score: probability 0 is given to what happened, {sides}, so that the loss is "
                "infinite. To compare a map that never says 0 or 1, pass its clipped predictions."
            )
        elif is_certain and not pairs.is_unchanged:
            certain = ((pairs.after == 0) | (pairs.after == 1)).any(axis=0)
            told = count(self._cases(certain), "case")
            notes.append(
                f"Log score: after gives probability 0 or 1 to {told}, and no outcome contradicts "
                "it. One that does makes the loss infinite."
            )
        for threshold in self.thresholds:
            moved = treated(pairs.after, threshold) != treated(pairs.before, threshold)
            cases = float((moved @ pairs.weight).mean())
            if not cases and not pairs.is_unchanged:
                notes.append(
                    f"Net benefit at {threshold:g}: unchanged, since no case crosses the threshold."
                )
            elif cases < FEW_MOVED and not pairs.is_unchanged:
                notes.append(
                    f"Net benefit at {threshold:g}: {cases:.3g} cases cross the threshold. With "
                    f"fewer than {FEW_MOVED} its interval is too narrow."
                )
        return [*notes, OF_ROUNDING] if is_rounded else notes

    def _cases(self, patients: NDArray[np.bool_]) -> int:
        """Number of some patients: cases by their counts, rows where weights are of sampling."""
        of = self._pairs
        return (
            round(float(of.weight[patients].sum()))
            if of.weight_type == "counts"
            else int(patients.sum())
        )

    @property
    def prob_improved(self) -> float:
        """Posterior probability that the Brier score improves."""
        return self.prob_above(0.0)

    def prob_above(self, minimum: float, measure: str = "brier") -> float:
        """Posterior probability that a gain exceeds a stated minimum.

        Parameters
        ----------
        minimum : float
        measure : str
            A row of `summary(parts=True)`.

        Returns
        -------
        float
        """
        least = as_number(minimum, "minimum")
        return float((self._posterior.draws[self._known(measure)] > least).mean())

    def interval(self, measure: str = "brier", ci_prob: float = 0.95) -> tuple[float, float]:
        """Credible interval of a gain.

        Parameters
        ----------
        measure : str
        ci_prob : float in (0, 1)

        Returns
        -------
        lower, upper : float
            Equal-tailed. Infinite where a log loss is. That of the fall in TCE holds the interval
            of the draws in which a side is exactly calibrated, if that is more probable than one
            tail.
        """
        tail = (1 - as_level(ci_prob)) / 2
        return self._posterior.interval(self._known(measure), tail)

    @property
    def draws(self) -> xr.Dataset:
        """Draws of every gain, with dims (chain, draw)."""
        import xarray as xr

        return xr.Dataset(
            {
                name: (("chain", "draw"), values.reshape(CHAINS, -1))
                for name, values in self._posterior.draws.items()
            }
        )

    def summary(self, ci_prob: float = 0.95, *, parts: bool = False) -> pd.DataFrame:
        """Every gain with its interval, positive where recalibration helped.

        Parameters
        ----------
        ci_prob : float in (0, 1)
        parts : bool
            Also what calibration and refinement contributed to the score gains.

        Returns
        -------
        pandas.DataFrame
            Rows tce, brier, log_score, net_benefit@t; columns estimate, mean, median, lower,
            upper, prob_improved. The estimate is the mean. Numbers of the log score are infinite
            where a log loss is. `attrs` hold ci_prob, route, evidence, in_sample,
            prob_calibrated, and `contradicted` and `unchanged` as the attributes.
        """
        import pandas as pd

        level = as_level(ci_prob)
        rows = {}
        for name in (
            *SCORES,
            *(PARTS if as_flag(parts, "parts") else ()),
            *map(net_benefit_name, self.thresholds),
        ):
            values = self._posterior.draws[name]
            lower, upper = self.interval(name, level)
            mean = _mean(values)
            rows[name] = {
                "estimate": mean,
                "mean": mean,
                "median": quantiles(values, 0.5)[0],
                "lower": lower,
                "upper": upper,
                "prob_improved": self.prob_above(0.0, name),
            }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "gain"
        table.attrs.update(
            ci_prob=level,
            route=self.route,
            evidence=self.evidence,
            weight_type=self.weight_type,
            in_sample=self.in_sample,
            prob_calibrated=self.prob_calibrated,
            contradicted=self.contradicted,
            unchanged=self.unchanged,
        )
        return table

    def page(self) -> Page:
        """What the recalibration gains, on which patients, and how that was computed."""
        summary = self.summary()
        exact = self.prob_calibrated
        row: Any = summary.loc["brier"]
        if "brier" in self.unchanged:
            first = "The Brier score does not change."
        else:
            falls = row["estimate"] >= 0
            ends = (row["lower"], row["upper"]) if falls else (-row["upper"], -row["lower"])
            middle, low, high = per_thousand(abs(row["estimate"]), *ends)
            first = (
                f"The sum of the Brier scores of 1000 cases {'falls' if falls else 'rises'} by "
                f"{middle} ({low} to {high}); "
                f"it improves with probability {chance(float(row['prob_improved']))}."
            )
        rows = rows_of(summary, MEASURE_LABELS)

        def gained(row: Row) -> str:
            middle, ends = self._shown(row.name, dict(row.values))
            return f"{middle} ({ends})" if ends else middle

        def improved(row: Row) -> str:
            return "" if row.name in self.unchanged else chance(float(row["prob_improved"]))

        columns = (
            Column("gained", "Gain (95 % interval)", gained),
            Column("prob_improved", "P(improved)", improved),
        )
        title = "Estimated gain per case; positive where the recalibration helped"
        table = Table("gain", title, "Measure", columns, rows, stacks=True)
        blocks: list[Block] = [
            Figure("gain", self, {}, "Gain of the recalibration"),
            table,
            f"{self._how[0].upper()}{self._how[1:]}. P(exactly calibrated) "
            f"{chance(exact['before'])} before, {chance(exact['after'])} after.",
        ]
        record: dict[str, Any] = {"gain": summary.to_dict(orient="index"), "route": self.route}
        record |= {"evidence": self.evidence, "prob_calibrated": exact, "seed": self.seed}
        record |= {"in_sample": self.in_sample, "contradicted": self.contradicted}
        evidence = f"{self.evidence[0].upper()}{self.evidence[1:]}."
        return Page(
            "What a recalibration gains",
            self._cases_in_words,
            (first, evidence),
            (Section("Gain", tuple(blocks)),),
            tuple(self.notes),
            record,
        )

    def __repr__(self) -> str:
        return f"RecalibrationGain\n{self.page()}"

    @property
    def _cases_in_words(self) -> str:
        cases = count(self.n, "case")
        if self.weight_type == "sampling":
            cases = f"sampling weights worth {self.n:.1f} cases"
        return cases

    @property
    def _how(self) -> str:
        """How the gains were computed."""
        if self.title:
            return f"{self.title}, of curves fitted together"
        if self.route == "curve":
            return "one curve, since after is a function of before"
        clusters = self._pairs.clusters
        units = "patients" if clusters is None else f"{clusters.size:,} clusters"
        return f"paired Bayesian bootstrap of the {units}"

    def _repr_html_(self) -> str:
        page = self.page()
        return page.tables["gain"].beneath("\n".join(page.answer))

    def _shown(self, name: str, row: Mapping[str, float]) -> tuple[str, str]:
        """An estimate and its interval, which is empty where there is nothing to add."""
        if name in self.unchanged:
            return NO_CHANGE, ""
        places = decimals(row["lower"], row["upper"])
        middle, lower, upper = (signed(row[key], places) for key in ("estimate", "lower", "upper"))
        return middle, "" if lower == upper else f"{lower} to {upper}"

    def _known(self, measure: str) -> str:
        return check_choice(measure, self._posterior.draws, "measure")


def _mean(values: Floats) -> float:
    """Mean of draws; minus infinity where any is, also beside infinity."""
    return -np.inf if (values == -np.inf).any() else float(values.mean())


def evidence_of(after: Any, in_sample: bool, detected: str | None) -> str:
    """The sentence that goes with every number.

    Shapes: `after` (n,) or (repeats, n).
    """
    if detected:
        return f"in-sample (detected: {detected}), so the gain is overestimated"
    if in_sample:
        return "in-sample: the map was fitted to these patients, so the gain is overestimated"
    shape = np.shape(after)
    if len(shape) == 2 and shape[1] != 1:
        return f"cross-fitted, {count(shape[0], 'repeat')}: {CROSS_FITTED}"
    return "map assumed to be fitted to other patients"


class ImputedGain(RecalibrationGain):
    """The gain of a recalibration over several imputations. Made by `recalibration_gain`.

    The draws are those of all imputations, the deviations of whose means are enlarged as for
    `CalibrationPosterior`.

    Parameters
    ----------
    gains : sequence of RecalibrationGain
        One for each imputation, by one route.
    """

    def __init__(self, gains: Sequence[RecalibrationGain]) -> None:
        self.gains = tuple(gains)
        first = next((gain for gain in gains if gain.in_sample), gains[0])
        super().__init__(
            _mixed([gain._posterior for gain in gains]),
            first._pairs,
            route=first.route,
            evidence=first.evidence,
            in_sample=first.in_sample,
            thresholds=first.thresholds,
            prior=first._prior,
            seed=first.seed,
        )

    @cached_property
    def prob_calibrated(self) -> dict[str, float]:
        """Probabilities that "before" and "after" are exactly calibrated, their means."""
        each = [gain.prob_calibrated for gain in self.gains]
        return {side: float(np.mean([one[side] for one in each])) for side in each[0]}

    @property
    def contradicted(self) -> dict[str, int]:
        """As of one gain; the most of any imputation."""
        each = [gain.contradicted for gain in self.gains]
        return {side: max(one[side] for one in each) for side in each[0]}

    @property
    def notes(self) -> list[str]:
        """What a reader should know of an imputation; see `RecalibrationGain.notes`."""
        told: dict[str, str] = {}
        for gain in self.gains:
            for note in gain.notes:
                told.setdefault(note.partition(":")[0], note)
        return list(told.values())

    @cached_property
    def missing_information(self) -> pd.DataFrame:
        """What the missing data cost, by gain; see `CalibrationPosterior.missing_information`.

        Without gains that are infinite in any imputation.
        """
        draws = [gain._posterior.draws for gain in self.gains]
        values = {name: np.stack([one[name] for one in draws]) for name in draws[0]}
        finite = {name: each for name, each in values.items() if np.isfinite(each).all()}
        return missing_information(finite, "gain")

    def __repr__(self) -> str:
        title, cases, *lines = super().__repr__().splitlines()
        told = f"  {len(self.gains)} imputations of {cases.strip()}"
        return "\n".join([title.replace("Recalibration", "Imputed"), told, *lines])


def gain_of_imputations(
    recalibration_gain: Callable[..., RecalibrationGain],
    given: Given,
    after: Any,
    *,
    route: str,
    random_state: Any,
    **options: Any,
) -> ImputedGain:
    """The gain on each imputation, with one seed and by one route, and combined.

    Shapes: `after` (n,) or (m, n).
    """
    y_true, before = given.y_true, given.y_prob
    of_cases = {**given.roles, **given.words}
    imputation = of_cases.pop("imputation", None)
    if before is not None and imputation is not None:
        raise InputError(
            "imputation was given beside before. Pass one of them: before for one score a case, "
            "imputation for several."
        )
    if isinstance(y_true, CalibrationData):
        table = y_true.complete(takes_times=True)
        cases = [(one, None) for one in table.imputations]
        maps, are_imputed = _by_imputation(after, len(cases)), table.has_imputed_outcomes
    elif is_matrix(y_true):
        cases = _of_outcomes(y_true, before, imputation)
        is_shared = imputation is None and not is_function(after) and not is_matrix(after)
        maps = [after] * len(cases) if is_shared else _by_imputation(after, len(cases))
        are_imputed = True
    else:
        one = y_true.time if isinstance(y_true, Survival) else y_true
        cases = [(y_true, score) for score in as_imputations(imputation, one)]
        maps, are_imputed = _by_imputation(after, len(cases)), False
    if are_imputed:
        warn_of_few_outcomes(len(cases))
    options |= {"random_state": as_seed(random_state), **of_cases}

    def gains(by: str) -> list[RecalibrationGain]:
        pairs = zip(cases, maps, strict=True)
        return [recalibration_gain(*case, new, route=by, **options) for case, new in pairs]

    each = gains(route)
    if len({gain.route for gain in each}) > 1:  # never of times
        each = gains("paired")
    return ImputedGain(each)


def _of_outcomes(y_true: Any, before: Any, imputation: Any) -> list[tuple[Any, Any]]:
    """Outcomes and predictions before of each imputation of the outcomes."""
    if imputation is None:
        if before is None:
            raise InputError(
                "y_true has a row for each imputation of the outcomes, and before is missing. Pass "
                "before, one prediction a case, or imputation, one row for each row of y_true."
            )
        return [(row, before) for row in as_imputed_outcomes(y_true, before, "before")]
    scores = as_imputations(imputation, as_items(y_true, "y_true")[0], outcomes="y_true[0]")
    outcomes = as_imputed_outcomes(y_true, scores[0], "imputation[0]")
    if len(outcomes) != len(scores):
        raise InputError(
            f"y_true has {len(outcomes)} rows and imputation has {len(scores)}. Pass one row of "
            "each for every imputation."
        )
    return list(zip(outcomes, scores, strict=True))


def _by_imputation(after: Any, m: int) -> list[Any]:
    """The predictions after of each imputation, or the same map for each."""
    if after is None or is_function(after):
        return [after] * m
    rows = as_items(after.to_numpy() if hasattr(after, "to_numpy") else after, "after")
    if len(rows) != m or np.ndim(rows[0]) == 0:
        raise InputError(
            f"after has {len(rows)} rows, and there are {m} imputations. Pass one row of "
            "predictions for each imputation, or the map from the predictions before."
        )
    return rows


def _mixed(posteriors: Sequence[Posterior]) -> Posterior:
    draws = {}
    for name in posteriors[0].draws:
        each = [one.draws[name] for one in posteriors]
        draws[name] = mixed(each, is_widened=bool(np.isfinite(each).all()))
    sides = [one.exact for one in posteriors if one.exact is not None]
    exact = in_turn(np.stack(sides)) if len(sides) == len(posteriors) else None
    return Posterior(draws, exact=exact)


Answer = TypeVar("Answer")


class OfSeveral(ABC, Generic[Answer]):
    """What is answered for all cases together, and for one of several curves."""

    @property
    @abstractmethod
    def _posts(self) -> tuple[MultilevelPosterior, ...]:
        """The fits of all curves: of the predictions, and of those after where these are asked."""

    @abstractmethod
    def _answer(self, *curves: CalibrationPosterior) -> Answer:
        """The answer for one curve of each fit."""

    def at(self, levels: Mapping[str, Any] | None = None, /, **by_name: Any) -> Answer:
        """The answer for the cases with some levels.

        Parameters
        ----------
        levels : mapping of str to str, optional
            As `MultilevelPosterior.at` takes them; all cases, if there are none.
        **by_name
            The same, as `site="A"`.

        Returns
        -------
        RecalibrationGain or Recommendation

        Raises
        ------
        InputError
            If there is no such level; of a gain, if its cases are of several groups with a map
            each.
        """
        return self._answer(*(post.at(levels, **by_name) for post in self._posts))

    def average(self) -> Answer:
        """The answer for the average site, over the scores of all cases.

        Returns
        -------
        RecalibrationGain or Recommendation

        Raises
        ------
        InputError
            Of a gain, if each group has a map of its own.
        """
        return self._answer(*(post.average() for post in self._posts))

    def new(self, by: str | None = None) -> Answer:
        """The answer for a level that has not been seen: the next site, or the next period.

        Parameters
        ----------
        by : str, optional
            What the level is of, as `MultilevelPosterior.new` takes it.

        Returns
        -------
        RecalibrationGain or Recommendation

        Raises
        ------
        InputError
            If there is no such axis; of a gain, if each group has a map of its own.
        """
        return self._answer(*(post.new(by) for post in self._posts))

    def _populations(self) -> list[tuple[CalibrationPosterior, ...]]:
        """The curves of all cases, of the average and of the next, of each fit."""
        return list(zip(*(views_of(post).values() for post in self._posts), strict=True))

    def _levels(self) -> list[tuple[CalibrationPosterior, ...]]:
        """The curves of each level, of each fit."""
        parts = self._posts[0].parts()
        return [tuple(post.at(part.levels) for post in self._posts) for part in parts]


TABLE_COLUMNS = ("estimate", "lower", "upper", "prob_improved")


class SeveralGains(OfSeveral[RecalibrationGain], RecalibrationGain):
    """The gain of a recalibration where curves differ between sites, periods or factors.

    Made by `bayescal.recalibration_gain` of cases in groups. It is the gain for all cases together,
    as any RecalibrationGain. One fit of all groups says beside it what the recalibration gains in
    each group, in the average group and in one that has not been seen.

    Attributes
    ----------
    before, after : MultilevelPosterior
        Curves of the predictions before, which gains are computed from; and of those after, which
        say how probable it is that these are exactly calibrated.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 600, random_state=1)
    >>> gains = bc.recalibration_gain(
    ...     y_true,
    ...     y_prob,
    ...     lambda s: 1 / (1 + np.exp(0.4 - 0.6 * np.log(s / (1 - s)))),
    ...     site=np.repeat(["A", "B", "C"], 200),
    ...     random_state=1,
    ... )
    >>> list(gains.table().index)
    ['All cases', 'The average of 3 sites', 'A', 'B', 'C']
    >>> gains.at(site="A").prob_improved > 0.5
    True
    """

    def __init__(
        self,
        before: MultilevelPosterior,
        after: MultilevelPosterior,
        pairs: PairedPredictions,
        **options: Any,
    ) -> None:
        self.before, self.after = before, after
        self._pairs, self._options = pairs, options
        self._kept: dict[CalibrationPosterior, RecalibrationGain] = {}
        views = before.at(), after.at()
        if pairs.is_rounded_map:
            posterior = by_view(views, pairs, options["thresholds"])
        else:
            each = [self.at(levels) for levels in pairs.groups]
            rng = np.random.default_rng([options["seed"], *b"shares of groups"])
            together = [gain._posterior for gain in each], np.array([gain.n for gain in each])
            posterior = replace(in_shares(*together, rng), before=views[0], after=views[1:])
        super().__init__(posterior, pairs, route="curve", title=views[0]._title, **options)
        self._kept[views[0]] = self

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """What curves are told apart by, with its levels."""
        return self.before.levels

    def table(self, measure: str = "brier", ci_prob: float = 0.95) -> pd.DataFrame:
        """One gain of every curve: of all cases, of the average, of the next, and of each level.

        Parameters
        ----------
        measure : str
            A row of `summary(parts=True)`.
        ci_prob : float in (0, 1)

        Returns
        -------
        pandas.DataFrame
            Index: all cases, the average, and of five sites or more the next; then the levels.
            Columns: cases (not a number where the curve is not of the cases themselves), estimate,
            lower, upper and prob_improved. Where each group has a map of its own, there is neither
            an average nor a next.
        """
        import pandas as pd

        level, rows = as_level(ci_prob), []
        check_choice(measure, self._posterior.draws, "measure")
        shown = self._gains([*self._populations(), *self._levels()])
        for view, gain in shown:
            which = view._one_of
            of_cases = which is not None and "at" in which.key
            row = gain.summary(level, parts=True).loc[measure]
            numbers = {name: row[name] for name in TABLE_COLUMNS}
            rows.append({"cases": gain.n if of_cases else float("nan"), **numbers})
        table = pd.DataFrame(rows, pd.Index([view._title for view, _ in shown], name="curve"))
        table.attrs.update(ci_prob=level, measure=measure, evidence=self.evidence)
        return table

    def __repr__(self) -> str:
        _, *lines = super().__repr__().splitlines()
        told = []
        for _, gain in self._gains(self._populations())[1:]:
            (row,) = (row for name, row in gain.summary().iterrows() if name == "brier")
            middle, interval = gain._shown(
                "brier", {end: float(row[end]) for end in ("estimate", "lower", "upper")}
            )
            if middle != NO_CHANGE:
                middle += f" ({interval})  P(improved) {chance(gain.prob_improved)}"
            told.append(f"  Brier score, {gain.title}: {middle}")
        return "\n".join(["SeveralGains", *lines, *told])

    @property
    def _posts(self) -> tuple[MultilevelPosterior, MultilevelPosterior]:
        return self.before, self.after

    def _gains(
        self, curves: Sequence[tuple[CalibrationPosterior, ...]]
    ) -> list[tuple[CalibrationPosterior, RecalibrationGain]]:
        """The gains for all cases, and for others whose cases have one map; each with its curve."""
        (these, _), *others = curves
        own = [views for views in others if self._cases_of(views[0]).is_rounded_map]
        return [(these, self), *((views[0], self._answer(*views)) for views in own)]

    def _cases_of(self, view: CalibrationPosterior) -> PairedPredictions:
        """The pairs with the scores of a curve: of the next period those of the last one."""
        walk, which = self.before.problem.walk, view._one_of
        key = {} if which is None else which.key
        levels = key.get("at")
        if walk is not None and key == {"new": walk.name}:
            levels = {walk.name: walk.levels[-1]}
        return self._pairs.at(levels) if levels else self._pairs

    def _answer(self, *curves: CalibrationPosterior) -> RecalibrationGain:
        before, after = curves
        if before not in self._kept:
            pairs = self._cases_of(before)
            if not pairs.is_rounded_map:
                raise InputError(
                    "after has another map of before in each group, and the gain of "
                    f"{shortened(before._title)} needs one for all. Ask for the gain of one group, "
                    "such as at(site=...), or pass one map."
                )
            posterior = by_view((before, after), pairs, self._options["thresholds"])
            how = {"route": "curve", "title": before._title, **self._options}
            self._kept[before] = RecalibrationGain(posterior, pairs, **how)
        return self._kept[before]
