"""Whether to update a model, and how: the simplest update that is clearly better."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from scipy.special import chdtrc

from bayescal.core.arrays import Floats, as_seed
from bayescal.core.errors import InputError, as_level, as_levels
from bayescal.core.optimise import fit_logistic, log_likelihood, log_odds_of
from bayescal.core.page import Page, Section
from bayescal.core.table import Column, Row, Table
from bayescal.core.text import capitalised, chance, count, per_thousand, percent
from bayescal.data.doors import CaseRoles, door, table_of
from bayescal.data.table import CalibrationData
from bayescal.fitting import compare, fit
from bayescal.gain._terms import net_benefit_name
from bayescal.gain.result import OfSeveral
from bayescal.gain.updates import gains_of
from bayescal.inference import CurveComparison
from bayescal.model.curves import CURVES, updates
from bayescal.model.priors import Prior
from bayescal.model.reversed import Reversed, reversed_scores
from bayescal.multilevel.posterior import MultilevelPosterior, as_multilevel
from bayescal.multilevel.term import VaryBy
from bayescal.multilevel.words import views_of
from bayescal.posterior.intervals import equal_tailed
from bayescal.posterior.posterior import CalibrationPosterior, as_posterior, check_outcomes

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "AT_LEAST",
    "FEWEST",
    "Recommendation",
    "SeveralRecommendations",
    "recommend",
    "recommendation",
]

# Events, and non-events, below which nothing is recommended.
FEWEST = 20

# Over 26 kinds of simulated sets (tests/truths/words.py, 60 sets each) the update that is chosen
# lowers the sum of the Brier scores of 1000 patients by .56 on average at .7, by .48 at .8, and by
# .55 under the rule of before; calibrated sets lose .14 to .26 at .7, and up to .17 at .8. It was
# chosen on these same sets.
# Least probability that the best update gains, for one to be recommended.
AT_LEAST = 0.7
# Share of the expected gain of the best that a simpler update must keep.
#
# At 1 the seed would choose among updates that are equally good.
KEPT = 0.8
# Events, and non-events, from which an update may have more than two parameters.
MANY_EVENTS, FEW_PARAMETERS = 200, 2
# Level of the closed test.
TESTED = 0.05

NET_BENEFIT = "net_benefit"
GAIN_ENDS = "gain", "lower", "upper"


@dataclass(frozen=True, eq=False)
class Recommendation:
    """Which update to make.

    Attributes
    ----------
    choice : str or None
        If the update that gains most is better than no update with probability 0.7 at least, the
        simplest family that keeps 80 % of its expected gain. One of more than two parameters
        needs 200 events and non-events. None where nothing is recommended: there are fewer than
        20 events or non-events, or the scores run the wrong way.
    table : pandas.DataFrame
        One row per family. `brier_gain`, the expected fall of the Brier score per patient relative
        to no update, and the ends `brier_lower` and `brier_upper` of its interval; for each
        threshold t, the rise of the net benefit, `net_benefit_gain@t`, `net_benefit_lower@t` and
        `net_benefit_upper@t`, and of their mean over the thresholds, `net_benefit_gain`,
        `net_benefit_lower` and `net_benefit_upper`. `prob_better`: the probability that the
        update is better than none, by the measure that decides.
    n : float
        Number of cases.
    too_few : str
        What there are too few of, such as "3 events"; empty where there are enough.
    thresholds : tuple of float
        If there are any, the mean net benefit at these decides; if not, the Brier score.
    ci_prob : float
        Probability of the intervals.
    closed_test : str or None
        What the closed testing procedure of Vergouwe et al. (2017) chooses among no update, a new
        intercept, and intercept and slope; None where outcomes are not known and independent.
    runs_wrong_way : Reversed or None
        That the scores run the wrong way, so that no update is offered.
    fewer : float
        Number of events, or of non-events if these are fewer.
    """

    choice: str | None
    table: pd.DataFrame
    n: float
    too_few: str = ""
    thresholds: tuple[float, ...] = ()
    ci_prob: float = 0.95
    closed_test: str | None = None
    runs_wrong_way: Reversed | None = None
    fewer: float = math.inf

    @property
    def measure(self) -> str:
        """What decides: "net_benefit" where thresholds were given, else "brier"."""
        return NET_BENEFIT if self.thresholds else "brier"

    @property
    def rule(self) -> str:
        """How the update is chosen, as a sentence."""
        return (
            "If the update that gains most is better than no update with probability "
            f"{AT_LEAST:g} or more, the simplest update is recommended that keeps "
            f"{percent(KEPT)} of its expected gain; one of more than two parameters needs "
            f"{MANY_EVENTS} events and non-events."
        )

    def shown(self, name: str, measure: str | None = None) -> str:
        """The gain of an update per 1000 patients and its interval: `6.7 (2.2 to 11.2)`.

        Parameters
        ----------
        name : str
            The family.
        measure : str, optional
            "brier", "net_benefit" or "net_benefit@t"; by default the one that decides.

        Returns
        -------
        str
        """
        kind, at, threshold = (measure or self.measure).partition("@")
        columns = [self.table[f"{kind}_{part}{at}{threshold}"] for part in GAIN_ENDS]
        middle, lower, upper = per_thousand(*(float(column[name]) for column in columns))
        return f"{middle} ({lower} to {upper})"

    def __str__(self) -> str:
        return " ".join(self.page().answer)

    def page(self) -> Page:
        """What is recommended, what each update would gain, and the closed test beside it."""
        sections = () if self.choice is None else (Section("Updates", (self._table(),)),)
        record = {
            "choice": self.choice,
            "closed_test": self.closed_test,
            "table": self.table.to_dict(orient="index"),
        }
        cases = count(self.n, "case")
        notes = () if self.choice is None else (self.rule, *self._closed)
        return Page("Which update to make", cases, self.answer, sections, notes, record)

    @cached_property
    def answer(self) -> tuple[str, ...]:
        """What is recommended, and what it gains, as sentences."""
        if self.runs_wrong_way is not None:
            return self.runs_wrong_way.first, self.runs_wrong_way.advice
        if self.choice is None:
            return (
                f"Nothing is recommended, with only {self.too_few}: at least {FEWEST} events and "
                f"{FEWEST} non-events are needed to choose an update.",
            )
        if self.choice != "identity":
            told = f"Recommended: {CURVES[self.choice].update}."
            return told, f"It {self._gained(self.choice, 's')}."
        best = self._best
        if best is None:
            return ("No update is recommended: none is expected to gain.",)
        return (
            f"No update is recommended: to {CURVES[best].update} would "
            f"{self._gained(best, '')}; {AT_LEAST:g} is required.",
        )

    def _gained(self, name: str, s: str) -> str:
        """What an update gains, as a clause; `s` ends its verb."""
        points, interval = self.shown(name).split(" (")
        helps = float(self.table["prob_better"][name])
        told = _below(helps) if self.choice == "identity" else chance(helps)
        what = f"lower{s} the sum of the Brier scores of 1000 patients"
        if self.thresholds:
            risks = ", ".join(f"{threshold:g}" for threshold in self.thresholds)
            mean = "mean " if len(self.thresholds) > 1 else ""
            what = f"raise{s} the {mean}net benefit at {risks} of 1000 patients"
        return f"{what} by {points} ({interval}, with probability {told}"

    @property
    def _best(self) -> str | None:
        """The update with the largest expected gain among those that may be chosen."""
        gains = self.table[f"{self.measure}_gain"][among_allowed(self.table.index[1:], self.fewer)]
        return str(gains.idxmax()) if len(gains) and gains.max() > 0 else None

    @property
    def _closed(self) -> tuple[str, ...]:
        if self.closed_test is None:
            return ()
        told = CURVES[self.closed_test].update.replace("do not", "not")
        return (f"The closed test of Vergouwe et al. (2017) would {told}.",)

    def _table(self) -> Table:
        """The expected gain of each update relative to no update."""
        heads = {"brier": "Fall of the Brier score"}
        heads |= {f"net_benefit@{t:g}": f"Rise of net benefit at {t:g}" for t in self.thresholds}
        rows = []
        for index, numbers in self.table.drop("identity").iterrows():
            name, chosen = str(index), index == self.choice
            hint = "recommended" if chosen else ""
            label = capitalised(CURVES[name].update)
            rows.append(Row(name, label, numbers.to_dict(), hint=hint, chosen=chosen))

        def gain(measure: str, head: str) -> Column:
            return Column(measure, head, lambda row: self.shown(row.name, measure))

        better = Column("prob_better", "P(better)", lambda row: chance(row["prob_better"]))
        return Table(
            "updates",
            f"Expected gain on new patients, per 1000 of them ({percent(self.ci_prob)} interval)",
            "Update",
            [*(gain(*each) for each in heads.items()), better],
            rows,
            stacks=True,
        )

    def __repr__(self) -> str:
        return f"Recommendation({self.choice!r}: {self})"

    def _repr_html_(self) -> str:
        return self._table().beneath("\n".join(self.answer))


def recommendation(
    comparison: CurveComparison,
    thresholds: Sequence[float] = (),
    ci_prob: float = 0.95,
    of: CalibrationPosterior | None = None,
    up_to: str | None = None,
) -> Recommendation:
    """Recommend an update of the model, or none, from families that were compared already."""
    import pandas as pd

    gains = dict(gains_of(comparison, thresholds, of, up_to))
    decides = gains["brier"]
    if thresholds:
        benefits = [gains[net_benefit_name(threshold)] for threshold in thresholds]
        decides = {name: np.mean([each[name] for each in benefits], axis=0) for name in decides}
        gains[NET_BENEFIT] = decides
    rows: dict[str, dict[str, float]] = {name: {} for name in decides}
    for measure, by_update in gains.items():
        kind, at, threshold = measure.partition("@")
        for name, draws in by_update.items():
            numbers = (float(draws.mean()), *equal_tailed(draws, ci_prob))
            for part, number in zip(GAIN_ENDS, numbers, strict=True):
                rows[name][f"{kind}_{part}{at}{threshold}"] = number
    for name, row in rows.items():
        row["prob_better"] = float(np.mean(decides[name] > decides["identity"]))
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "curve"
    data = comparison.imputations[0].data
    (fewer, rarer), reversed_ = _fewer(data), reversed_scores(data)
    too_few = count(fewer, rarer) if fewer < FEWEST else ""
    is_told = not too_few and reversed_ is None
    return Recommendation(
        simplest_that_keeps(decides, fewer) if is_told else None,
        table,
        data.n,
        too_few,
        tuple(thresholds),
        ci_prob,
        closed_test(data),
        reversed_,
        fewer,
    )


def simplest_that_keeps(gains: Mapping[str, Floats], fewer: float, level: float = AT_LEAST) -> str:
    """The simplest update that keeps most of the gain of the best, if that surely gains.

    Shapes: `gains` (draws,).
    """
    none, *others = gains
    allowed = among_allowed(others, fewer)
    expected = {name: float(gains[name].mean()) for name in allowed}
    best = max(allowed, key=expected.__getitem__, default=none)
    if best == none or np.mean(gains[best] > gains[none]) < level or expected[best] <= 0:
        return none
    return next(name for name in allowed if expected[name] >= KEPT * expected[best])


def among_allowed(names: Iterable[str], fewer: float) -> list[str]:
    """The updates for whose parameters there are enough events, and non-events.

    Of a spline or of cells the number of parameters is the data's.
    """
    curves = {name: CURVES[name] for name in names}
    return [
        name
        for name, curve in curves.items()
        if fewer >= MANY_EVENTS
        or (len(curve.coordinates) <= FEW_PARAMETERS and curve.sized is None)
    ]


def closed_test(data: CalibrationData) -> str | None:
    """What the closed testing procedure of Vergouwe et al. (2017) chooses, without revision.

    No update, unless intercept and slope together are better by a likelihood-ratio test; then a
    new intercept alone, unless the slope is better by another.
    """
    clustered = "cluster" in data.roles
    if data.follow_up is not None or clustered or not 0 < data.events < data.n:
        return None
    table = next(iter(data.imputations), data)
    x = log_odds_of(table.score)
    one = np.ones((1, x.size))
    both = np.stack([one[0], x])

    hits, trials = table.hits * table.weight_scale, table.trials * table.weight_scale

    def likelihood(basis: Floats, offset: Floats | None, start: Floats | float) -> float:
        totals = (basis @ hits)[None]
        line, _ = fit_logistic(basis, trials, totals, offset, start)
        value = log_likelihood(line, basis, trials, totals, offset)[0]
        return float(value + (0 if offset is None else offset @ hits))

    as_stated = float(x @ hits - trials @ np.logaddexp(0, x))
    line = likelihood(both, None, np.array([0.0, 1.0]))
    if np.ptp(x) == 0 or chdtrc(2, max(2 * (line - as_stated), 0)) >= TESTED:
        return "identity"
    return (
        "logistic"
        if chdtrc(1, max(2 * (line - likelihood(one, x, 0.0)), 0)) < TESTED
        else "intercept"
    )


def _below(probability: float) -> str:
    """A probability below the level, in so many digits that it looks so."""
    shown = chance(probability)
    return f"{math.floor(1000 * probability) / 1000:.3f}" if shown == f"{AT_LEAST:.2f}" else shown


def _fewer(data: CalibrationData) -> tuple[float, str]:
    """How many events or non-events there are, of which there are fewer, and which these are."""
    left = 0.0 if data.follow_up is None else data.follow_up.censored
    counts = {"event": data.events, "non-event": data.n - data.events - left}
    rarer = min(counts, key=counts.__getitem__)
    return counts[rarer] * data.weight_scale, rarer


@dataclass(frozen=True, repr=False)
class SeveralRecommendations(OfSeveral[Recommendation], Recommendation):
    """Which update to make where curves differ between sites, periods or factors.

    Made by `bayescal.recommend` of cases in groups. It is the recommendation for all cases
    together. Updates are fitted to all cases, one for all groups. One fit of all groups says what
    each update gains in a group, in the average group and in one that has not been seen.

    Attributes
    ----------
    comparison : CurveComparison
        Of all cases as one table, whose families are the updates.
    post : MultilevelPosterior
        The curves of the groups.

    Examples
    --------
    >>> import numpy as np
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("clinical-middle-overconfident", 600, random_state=1)
    >>> advice = bc.recommend(
    ...     y_true, y_prob, site=np.repeat(["A", "B", "C"], 200), random_state=1
    ... )
    >>> list(advice.by_curve().index)
    ['All cases', 'The average of 3 sites', 'A', 'B', 'C']
    """

    comparison: CurveComparison | None = None
    post: MultilevelPosterior | None = None

    def by_curve(self) -> pd.DataFrame:
        """What is recommended for all cases, for the average, for the next, and for each level.

        Returns
        -------
        pandas.DataFrame
            Index: all cases, the average, and of five sites or more the next; then the levels.
            Columns: `choice`, the update recommended there; and for the update that is recommended
            for all cases the `gain` there per patient, by the measure that decides, its `lower` and
            `upper` end, and `prob_better`, the probability that it is better than no update there.
            Of no update these are of the one that is most probably better in all cases.
        """
        import pandas as pd

        name, rows = self.asked, []
        views = [view for (view,) in [*self._populations(), *self._levels()]]
        for view in views:
            advice = self._answer(view)
            row = advice.table.loc[name]
            numbers = {end: row[f"{self.measure}_{end}"] for end in GAIN_ENDS}
            rows.append({"choice": advice.choice, **numbers, "prob_better": row["prob_better"]})
        table = pd.DataFrame(rows, pd.Index([view._title for view in views], name="curve"))
        table.attrs["update"] = name
        return table

    @property
    def asked(self) -> str:
        """The update that `by_curve` is about: the one recommended, or the most promising."""
        if self.choice not in (None, "identity"):
            return self.choice
        others = self.table.drop(index="identity")
        return str(others["prob_better"].idxmax())

    @property
    def answer(self) -> tuple[str, ...]:
        """As of any recommendation, and how probably it helps for others than these patients."""
        if self.choice in (None, "identity"):
            return super().answer
        _, *others = views_of(*self._posts).items()
        told = " and ".join(
            f"{chance(float(self._answer(view).table['prob_better'][self.choice]))} in "
            f"{_named(name, view)}"
            for name, view in others
        )
        return *super().answer, f"To {CURVES[self.choice].update} helps with probability {told}."

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.choice!r}: {self})"

    @property
    def _posts(self) -> tuple[MultilevelPosterior]:
        assert self.post is not None  # given by `recommend`
        return (self.post,)

    def _answer(self, *curves: CalibrationPosterior) -> Recommendation:
        assert self.comparison is not None  # given by `recommend`
        return recommendation(self.comparison, self.thresholds, self.ci_prob, of=curves[0])


def _named(name: str, view: CalibrationPosterior) -> str:
    """What a population is called in a sentence."""
    return view._title if name == "now" else view._title[0].lower() + view._title[1:]


@door
def recommend(
    y_true: Any,
    y_prob: Any = None,
    *,
    thresholds: Any = (),
    ci_prob: float = 0.95,
    prior: str | Prior | Mapping[str, Any] = "neutral",
    draws: int = 4000,
    random_state: int | np.random.Generator | None = None,
    vary: VaryBy | None = None,
    of: CalibrationPosterior | None = None,
    **roles: Unpack[CaseRoles],
) -> Recommendation:
    """Recommend an update of the model, or none, by what it probably gains.

    Each family's Bayesian recalibration is fitted to all the patients, as it would be used. What it
    gains on new patients follows from the calibration curve: the fall of the expected Brier score
    is computed in every draw of the averaged posterior, exact calibration among them. If the update
    that gains most is better than no update with probability 0.7 or more, the simplest is
    recommended that keeps 80 % of its expected gain; one of more than two parameters needs 200
    events and 200 non-events. With fewer than 20 of either nothing is recommended, and none where
    the scores run the wrong way.

    Parameters
    ----------
    %(cases)s
    thresholds : sequence of float
        Risks from which a patient is treated, in (0, 1). If there are any, the net benefit decides
        in place of the Brier score: its mean over the thresholds.
    ci_prob : float in (0, 1)
        Probability of the intervals.
    prior : {"neutral", "clinical"}, Prior, or mapping
    draws : int
    random_state : int or numpy.random.Generator, optional
    vary : str, Vary or sequence of them, optional
        What curves vary by, as in `bayescal.fit`; by default what the cases say.
    of : CalibrationPosterior, optional
        Whose draws say what updates gain, such as that of `bayescal.from_pymc`, beside its
        cases, `of.data`; by default the average over families.

    Returns
    -------
    Recommendation
        Of sites, periods or subgroups a SeveralRecommendations.

    Raises
    ------
    InputError
        If the input is not outcomes and probabilities of the same cases, or a threshold is not
        inside (0, 1).

    Notes
    -----
    The update is one for all sites, periods or subgroups. What it gains in each of them, in the
    average one and in one that has not been seen follows from curves of all, which are fitted
    together; updates are those up to the family of these curves. Of times to an event, updates and
    their gains are of the risk by the horizon, and a case that left before is no non-event.

    Let g be a draw of the curve, w its draw of the population of scores s, and T an update. The
    gain is E_w[(g - s)^2 - (g - T)^2]. In the draws that are exactly calibrated g is s. Curves
    and update follow the same outcomes, so that few patients make the gain too
    large. In one draw of four it is therefore lowered by the update's optimism: the gain that the
    outcomes show, less the same by leave-one-out (of clusters, times the design effect). For the
    optimism, the outcome of a case that left before the horizon is the probability of its event,
    given that it had none until then.

    `closed_test` is what the closed testing procedure of Vergouwe et al. chooses of the same
    patients among no update, a new intercept, and intercept and slope.

    References
    ----------
    Vehtari, Gelman & Gabry (2017), Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC, Statistics and Computing 27. Vergouwe et al. (2017), A closed testing
    procedure to select an appropriate method for updating prediction models, Statistics in Medicine
    36, for the updates tried. Vickers & Elkin (2006), Decision curve analysis, Medical Decision
    Making 26.

    Examples
    --------
    >>> import bayescal as bc
    >>> advice = bc.recommend(
    ...     *bc.simulate.sample("clinical-middle-calibrated", 300, random_state=1), random_state=1
    ... )
    >>> advice.choice
    'identity'
    """
    risks = tuple(sorted(set(as_levels(thresholds, "thresholds"))))
    level = as_level(ci_prob)
    seed = as_seed(random_state)
    data = table_of(y_true, y_prob, roles, times=True, classes=True)
    fixed: dict[str, Any] = {"prior": prior, "draws": draws, "random_state": seed}
    if of is not None:
        check_outcomes(as_posterior(of, "of"), "a recommendation")
        if of.data != data:
            raise InputError("of is a posterior of other cases. Pass its own, of.data.")
        return recommendation(compare(data, **fixed), risks, level, of)
    names = [name for name in data.levels if name != "imputation"]
    if not names:
        if vary is not None:
            raise InputError(
                "vary was given without sites. Say with site= which site each case is from, or "
                "pass a table that has sites, periods or subgroups."
            )
        return recommendation(compare(data, **fixed), risks, level)
    of_groups: dict[str, Any] = {**fixed, "vary": vary}
    post = as_multilevel(fit(data, **of_groups))
    curves = tuple(updates(up_to=post.problem.pooled.curve.name))
    comparison = compare(data.without(names), curves=curves, **fixed)
    here = recommendation(comparison, risks, level, of=post.at())
    return SeveralRecommendations(**vars(here), comparison=comparison, post=post)
