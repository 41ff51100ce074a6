"""Is an observed estimate what perfect calibration, or the fitted curve, would produce?

Binned errors are never zero, and with few cases they are far from it even when the model is
perfectly calibrated. Simulated outcomes at the same scores say how far.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from bayescal.core.arrays import Floats, random_generator
from bayescal.core.errors import MOST_DRAWS, InputError, as_count, as_flag, as_level
from bayescal.core.optimise import clipped, zero_of
from bayescal.core.page import Page, Section
from bayescal.core.table import Table, chances, measured, rows_of
from bayescal.core.text import shortened
from bayescal.data.clusters import Clusters
from bayescal.estimators.survival import NUMBERS_OF_TIMES, Followed
from bayescal.estimators.uncertainty import (
    AlikeCases,
    Applied,
    SimulatedOutcomes,
    applied_of,
    cases_by_score,
)
from bayescal.posterior.posterior import CalibrationPosterior, as_posterior, check_outcomes
from bayescal.validation.followed import SimulatedTimes

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CalibratedOutcomes",
    "Consistency",
    "alike_cases",
    "check_consistency",
]

ALIKE_NODES, ALIKE_WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
ALIKE_WEIGHTS = ALIKE_WEIGHTS / ALIKE_WEIGHTS.sum()
# Correlation from which cases of a cluster count as copies of one case.
NEARLY_EQUAL = 0.995
# Largest share of the information that one cluster is corrected for.
MOST_OF_ALL = 0.9
FOUND = 1e-4


def alike_cases(clusters: Clusters, fitted: Floats) -> AlikeCases:
    """The cases of clusters, and the correlation that their residuals show.

    Products of the residuals of two cases of one cluster, over squares of residuals, are as large
    in simulated outcomes as in the data. Residuals are from the fitted curve, so that an error of
    the model is no likeness; a cluster that bends the curve is corrected for its share of the
    information.
    """
    by_row = np.argsort(clusters.row, kind="stable")
    cases = np.rint(clusters.trials[by_row]).astype(np.intp)
    return AlikeCases(np.repeat(clusters.cluster[by_row], cases), _correlation(clusters, fitted))


def _correlation(clusters: Clusters, fitted: Floats) -> float:
    """Of the normal variables behind the outcomes of two cases of one cluster; at least 0."""
    p, trials, hits = clipped(fitted)[clusters.row], clusters.trials, clusters.hits
    others, spread = clusters.sums(trials) - 1, clusters.sums(trials * p * (1 - p))
    own = clusters.sums(hits * (1 - p) ** 2 + (trials - hits) * p**2)
    share = spread / spread.sum() if clusters.strata == 1 else 0 * spread
    total = clusters.sums(hits - trials * p) ** 2 / (1 - np.minimum(share, MOST_OF_ALL))
    seen = float((total - own).sum() / (others @ own))
    pairs = float(others @ spread)

    def excess(correlation: float) -> float:
        away, root = ndtri(p), np.sqrt(1 - correlation)
        covariance = 0.0
        for node, weight in zip(ALIKE_NODES, ALIKE_WEIGHTS, strict=True):
            more = ndtr((away - np.sqrt(correlation) * node) / root) - p
            squares = clusters.sums(trials * more) ** 2 - clusters.sums(trials * more**2)
            covariance += float(weight * squares.sum())
        return float(covariance / pairs) - seen

    if seen <= 0:
        return 0.0
    if excess(NEARLY_EQUAL) <= 0:
        return 1.0
    return zero_of(excess, 0.0, NEARLY_EQUAL, FOUND)


Estimator = Callable[..., Any]

RARE = 0.05
RESAMPLES, RESAMPLES_OF_TIMES = 1000, 200
MATERIAL = 0.1
ROUNDING = 1e-12


_SOURCES = {"calibration": "if the model were calibrated", "posterior": "under the fitted curve"}


@dataclass(frozen=True, eq=False)
class Consistency:
    """An observed estimate, and its distribution if the model were calibrated.

    Attributes
    ----------
    estimator : str
        Name of the estimator.
    cases : float
        Number of cases; effective ones when the weights are sampling weights.
    observed : float
        The estimate on the data.
    under_calibration : ndarray of shape (replicates,)
        The estimate on outcomes simulated from the scores themselves.
    under_posterior : ndarray of shape (replicates,)
        The estimate on outcomes simulated from draws of the fitted curve; empty if not asked for.
    tce_bound : float
        The true calibration error is below this with posterior probability 0.95.
    material : float
        A true calibration error that would matter: 0.1, or half the mean score (or half of one
        minus it) when that is smaller.
    """

    estimator: str
    cases: float
    observed: float
    under_calibration: Floats
    under_posterior: Floats
    tce_bound: float
    material: float

    @property
    def prob_calibrated_exceeds(self) -> float:
        """Share of calibrated data sets whose estimate is at least the observed one.

        Given the scores this is the Monte Carlo p-value of the hypothesis that the model is
        calibrated. It says nothing of how likely that hypothesis is.
        """
        return _share_at_least(self.under_calibration, self.observed)

    @property
    def prob_posterior_exceeds(self) -> float:
        """Share of data sets from the fitted curve whose estimate is at least the observed one.

        A posterior predictive check. The curve was fitted to the outcomes, so values near one half
        are usual, and it is not a p-value. Values near 0 or 1 mean that this
        family of curves does not reproduce the estimate.
        """
        return _share_at_least(self.under_posterior, self.observed)

    @property
    def too_few_to_tell(self) -> bool:
        """Whether the data are compatible with perfect calibration and with a material error."""
        return self.prob_calibrated_exceeds >= RARE and self.tce_bound > self.material

    @property
    def verdict(self) -> str:
        """What the comparison says, in words."""
        if self.prob_calibrated_exceeds < RARE:
            return f"larger than in {_how_many(self)} data sets from a calibrated model"
        within = "within what perfect calibration produces at this n"
        if not self.too_few_to_tell:
            return within
        return (
            f"{within}, but n = {self.cases:.6g} is too small to tell: the true calibration error "
            f"may reach {self.tce_bound:.2g}"
        )

    def summary(self, ci_prob: float = 0.95) -> pd.DataFrame:
        """Both sets of replicates beside the observed value.

        Parameters
        ----------
        ci_prob : float in (0, 1)
            Probability of the equal-tailed intervals.

        Returns
        -------
        pandas.DataFrame
            Index: what the outcomes were simulated from. Columns: observed, mean, median, lower,
            upper, prob_exceeds. `attrs` hold the estimator, ci_prob and the verdict.

        Raises
        ------
        InputError
            If `ci_prob` is not strictly between 0 and 1.
        """
        import pandas as pd

        level = as_level(ci_prob)
        tails = [(1 - level) / 2, 0.5, (1 + level) / 2]
        rows = {}
        for name, values, exceeds in (
            ("calibration", self.under_calibration, self.prob_calibrated_exceeds),
            ("posterior", self.under_posterior, self.prob_posterior_exceeds),
        ):
            if not values.size:
                continue
            lower, median, upper = np.nanquantile(values, tails)
            rows[name] = {
                "observed": self.observed,
                "mean": np.nanmean(values),
                "median": median,
                "lower": lower,
                "upper": upper,
                "prob_exceeds": exceeds,
            }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table.index.name = "simulated_from"
        table.attrs.update(estimator=self.estimator, ci_prob=level, verdict=self.verdict)
        return table

    def __repr__(self) -> str:
        return f"Consistency({self.estimator} = {self.observed:.3g}: {self.verdict})"

    def page(self) -> Page:
        """The estimate beside what a calibrated model, and the fitted curve, would give."""
        summary = self.summary()
        labels = {name: _SOURCES[str(name)] for name in summary.index}
        keys = ("mean", "lower", "upper")
        columns = (
            measured("mean", "Mean (95 % interval)", keys),
            chances("prob_exceeds", "P(as large)"),
        )
        rows = rows_of(summary, labels)
        table = Table("consistency", "Simulated data sets", "Simulated from", columns, rows)
        told = f"{self.estimator} = {self.observed:.3g}: {self.verdict}."
        record = {"estimator": self.estimator, "observed": self.observed, "verdict": self.verdict}
        record |= {"simulated": summary.to_dict(orient="index")}
        section = Section("Simulated data sets", (table,))
        cases = f"{self.cases:.6g} cases"
        return Page("Is an estimate larger than chance?", cases, (told,), (section,), (), record)

    def _repr_html_(self) -> str:
        page = self.page()
        return page.tables["consistency"].beneath(page.answer[0])


def check_consistency(
    post: CalibrationPosterior,
    estimator: str | Estimator | None = None,
    *,
    n_resamples: int | None = None,
    resample_scores: bool = False,
    predict: bool = True,
    random_state: int | np.random.Generator | None = None,
    **options: Any,
) -> Consistency:
    """Compare an estimate with its distribution under calibration and under the fitted curve.

    Two sets of outcomes are simulated: from the scores, as if the model were perfectly
    calibrated (consistency resampling), and from draws of the fitted curve (a posterior
    predictive check). The estimator is applied to each.

    Parameters
    ----------
    post : CalibrationPosterior
        A fit; its table is the data, of known outcomes or of times to an event.
    estimator : str or callable, optional
        "ece" by default. A name in `bayescal.estimators`, or
        `estimator(y_true, y_prob, **options)` that returns a number, larger when calibration looks
        worse. One that takes outcomes of shape (replicates, n) and returns (replicates,) is called
        once, any other in a loop. It needs to take `sample_weight` only when there are repeated
        scores and many cases.
        Of times to an event one of "survival_ici" (the default), "survival_emax" and
        "survival_observed_expected" (the distance of log O/E from 0), or
        `estimator(cases, **options)`, where `cases` is taken by the estimators of times in place
        of `y_true`.
    n_resamples : int, optional
        Simulated data sets of each kind: 1000, and 200 of times to an event.
    resample_scores : bool
        False: the scores stay as they are, as everywhere in this package. The check is then exact:
        for a calibrated model the observed value is one more draw. True: scores are resampled
        with replacement as well, as Broecker & Smith do: the scores vary too, and repeats among
        them make the check approximate.
    predict : bool
        False omits the posterior predictive check, which saves half of the time.
    random_state : int, numpy.random.Generator or None
        By default it follows from the seed of the fit, so that asking twice gives equal numbers.
    **options
        Passed to the estimator, such as `n_bins`.

    Returns
    -------
    Consistency

    Raises
    ------
    InputError
        If `post` is not a posterior, it has no outcomes, or has several imputations, or clusters
        beside sampling weights or `resample_scores`, the estimator is unknown or does not return
        one finite number, times to an event have sampling weights or clusters, or `n_resamples` is
        not a whole number of at least 1.

    Notes
    -----
    Scores of exactly 0 and 1 are simulated as the fit reads them, a little inside, since at 0 and
    1 themselves a single outcome to the contrary would have probability zero. The estimator sees
    them as they were given.

    A table of more than 2048 distinct scores is on a grid, so its binned errors can differ a little
    from those of the raw scores; the replicates are on the same grid. With sampling weights the
    replicates have Kish's effective number of cases, spread evenly over the weighted scores.

    Of a fit with clusters, cases of one cluster are alike in simulated outcomes too: a normal
    variable behind each outcome is correlated within clusters, as much as the residuals from the
    fitted curve show. Each outcome keeps its probability. Strata are not used, which makes the
    check careful where they differ.

    Of times to an event, a simulated case has the event by the horizon with the probability of the
    curve, at a time that is drawn from the law of the fit, with the steps of Q at their likeliest
    values. Cases that left leave at the same time again, unless the event comes before. When a case
    with an event would have left later is drawn from those of the same fifth of the scores, by
    Kaplan and Meier. An estimator that is biased by who leaves is so in the replicates, too. One
    replicate of 1000 cases takes some milliseconds with pseudo-values or groups; with
    `method="cox"` or "ipcw-score" a Cox regression, about ten times as long.

    A replicate for which the estimator is undefined (one class only, say) is NaN and not counted.

    References
    ----------
    Broecker & Smith, "Increasing the Reliability of Reliability Diagrams", Weather and
    Forecasting 22, 2007.
    Gelman, Meng & Stern, "Posterior predictive assessment of model fitness via realized
    discrepancies", Statistica Sinica 6, 1996.

    Examples
    --------
    >>> import bayescal as bc
    >>> y_true, y_prob = bc.simulate.sample("calibrated", 300, random_state=1)
    >>> post = bc.fit(y_true, y_prob, random_state=1)
    >>> bc.check_consistency(post).verdict
    'within what perfect calibration produces at this n'
    """
    _check_table(as_posterior(post))
    is_followed = post.problem.of_times
    usual = RESAMPLES_OF_TIMES if is_followed else RESAMPLES
    size = as_count(usual if n_resamples is None else n_resamples, "n_resamples", 1, MOST_DRAWS)
    rng = (
        post.problem.rng("consistency") if random_state is None else random_generator(random_state)
    )
    if is_followed:
        asked = _OfTimes.of(estimator, options)
        as_is = not as_flag(resample_scores, "resample_scores")
        if not as_is:
            raise InputError(
                "resample_scores=True draws outcomes that are known, and post is of times to an "
                "event, whose scores stay as they are. Leave it out."
            )
        return _of_times(post, asked, size, as_flag(predict, "predict"), rng)
    table = _read(post)
    applied = applied_of("ece" if estimator is None else estimator, options)
    spread = as_flag(resample_scores, "resample_scores")
    alike = _alike(post, resample_scores=spread)
    observed = applied.to_data(post.problem.unclustered)
    replicated = [
        SimulatedOutcomes(*table, probability, rng, alike=alike, resample_scores=spread).estimates(
            applied
        )
        for probability in _chances(post, table.score, size, as_flag(predict, "predict"), rng)
    ]
    return _result(applied.name, observed, replicated, table, _tce_bound(post))


class CalibratedOutcomes:
    """Outcomes of a calibrated model at the scores of a fit, drawn once for several estimators.

    Cases of one cluster are alike, as in `check_consistency`; beside sampling weights they are
    independent. With a `turn` (k, m) it is the fit k of m, which share the data sets among them.
    """

    def __init__(
        self,
        post: CalibrationPosterior,
        n_resamples: int,
        seed: int,
        turn: tuple[int, int] = (0, 1),
    ) -> None:
        self._post, self._table, self._turn = post, _read(post), turn
        (calibrated,) = _chances(post, self._table.score, n_resamples)
        alike = None if post.problem.data.is_pseudo else _alike(post, resample_scores=False)
        self._simulated = SimulatedOutcomes(*self._table, calibrated, seed, turn, alike)

    def check(self, applied: Applied) -> Consistency:
        """As `check_consistency` of the same seed, without the posterior predictive check."""
        observed = applied.to_data(self._post.problem.unclustered)
        replicated = [self._simulated.estimates(applied)]
        return _result(applied.name, observed, replicated, self._table, self._tce_bound)

    @cached_property
    def _tce_bound(self) -> float:
        """NaN of one fit of several, by which alone nothing is judged."""
        return _tce_bound(self._post) if self._turn == (0, 1) else math.nan


class _Table(NamedTuple):
    """Distinct scores in ascending order, and how many cases there are at each."""

    score: Floats
    trials: NDArray[Any]


def _check_table(post: CalibrationPosterior) -> None:
    """Refuse a posterior that knows more of its cases than outcomes can be simulated with."""
    check_outcomes(post, "check_consistency")
    if len(post.imputations) > 1:
        raise InputError(
            "post is of several imputations, and outcomes are simulated at the scores of one. Pass "
            "each of post.imputations."
        )
    if not post.problem.of_times:
        return
    data = post.problem.data
    if post.problem.clusters is not None and not post.problem.clusters.are_single:
        raise InputError(
            "post is of times to an event with clusters, and times of one cluster would be "
            "simulated as if they were independent. Read the interval of post, which knows them."
        )
    followed = data.follow_up
    if data.is_pseudo or (followed is not None and (followed.weight % 1).any()):
        raise InputError(
            "post is of times to an event with sampling weights, and times are simulated of whole "
            "cases. Read the interval of post, which knows the weights, as in post.summary()."
        )


class _OfTimes(NamedTuple):
    """An estimator of times, with its options."""

    name: str
    function: Estimator
    options: dict[str, Any]

    @classmethod
    def of(cls, estimator: str | Estimator | None, options: dict[str, Any]) -> _OfTimes:
        """By its name, or any function of followed cases."""
        if callable(estimator):
            return cls(getattr(estimator, "__name__", type(estimator).__name__), estimator, options)
        wanted = "survival_ici" if estimator is None else estimator
        if wanted not in NUMBERS_OF_TIMES:
            names = ", ".join(NUMBERS_OF_TIMES)
            raise InputError(
                f"estimator={shortened(repr(wanted))} is not of times to an event, as post is. "
                f"Choose one of {names}, or pass a function of followed cases."
            )
        return cls(wanted, NUMBERS_OF_TIMES[wanted].function, options)

    def to(self, cases: Followed) -> float:
        """One number."""
        value = self.function(cases, **self.options)
        if np.shape(value) != () or not isinstance(value, (int, float, np.number)):
            raise InputError(
                f"estimator {self.name!r} returned {type(value).__name__}, not one number. Pass a "
                "function that takes one of its fields, such as lambda cases: f(cases).estimate."
            )
        return float(value)

    def or_nan(self, cases: Followed) -> float:
        """NaN where it is not defined."""
        try:
            return self.to(cases)
        except InputError:
            return math.nan


def _of_times(
    post: CalibrationPosterior,
    asked: _OfTimes,
    size: int,
    predict: bool,
    rng: np.random.Generator,
) -> Consistency:
    """The check of times to an event."""
    problem = post.problem
    simulated = SimulatedTimes(problem)
    observed = asked.to(simulated.observed)
    replicated = [
        np.array([asked.or_nan(each) for each in simulated.replicates(g[:, simulated.row], rng)])
        for g in _chances(post, problem.data.score, size, predict, rng)
    ]
    table = _Table(problem.table.score, problem.data.trials)
    return _result(asked.name, observed, replicated, table, _tce_bound(post))


def _alike(post: CalibrationPosterior, *, resample_scores: bool) -> AlikeCases | None:
    """Which cases are alike, and how much; None where they are independent."""
    problem = post.problem
    clusters = problem.clusters
    if clusters is None or clusters.are_single:
        return None
    if problem.data.is_pseudo:
        raise InputError(
            "post has clusters beside sampling weights, and outcomes are simulated of whole cases. "
            "Read the interval of post, which knows both, as in post.summary()."
        )
    if resample_scores:
        raise InputError(
            "resample_scores=True draws single cases, and post has clusters. Leave it out."
        )
    return alike_cases(clusters, post.curve().mean(["chain", "draw"]).to_numpy())


def _read(post: CalibrationPosterior) -> _Table:
    data = post.problem.data
    return _Table(*cases_by_score(data.score, data.trials * data.weight_scale))


def _chances(
    post: CalibrationPosterior,
    score: Floats,
    size: int,
    predict: bool = False,
    rng: np.random.Generator | None = None,
) -> list[Floats]:
    """Chances of events, of shape (size, scores): those of the scores and, if asked for, of draws.

    Scores are a little inside 0 and 1; no draw is taken twice unless there are too few.
    """
    chances = [np.broadcast_to(post.problem.inside(score), (size, score.size))]
    if predict and rng is not None:
        draws = post.curve(score).to_numpy().reshape(-1, score.size)
        chances.append(draws[rng.choice(len(draws), size, replace=size > len(draws))])
    return chances


def _result(
    name: str,
    observed: float,
    replicated: Sequence[Floats],
    table: _Table,
    tce_bound: float,
) -> Consistency:
    """The result, from the estimates under calibration and, if asked for, under the posterior."""
    if any(np.isnan(values).all() for values in replicated):
        raise InputError(
            f"estimator {name!r} is undefined on every simulated data set. Choose another."
        )
    cases = float(table.trials.sum())
    mean = float(table.score @ table.trials / cases)
    return Consistency(
        estimator=name,
        cases=cases,
        observed=observed,
        under_calibration=replicated[0],
        under_posterior=replicated[1] if len(replicated) > 1 else np.empty(0),
        tce_bound=tce_bound,
        material=min(MATERIAL, mean / 2, (1 - mean) / 2),
    )


def _tce_bound(post: CalibrationPosterior) -> float:
    """What the true calibration error is below with probability 0.95."""
    return post.interval("tce", 0.9)[1]


def _share_at_least(values: Floats, observed: float) -> float:
    known = values[~np.isnan(values)]
    if not known.size:
        return math.nan
    return float(np.mean(known >= observed - ROUNDING * max(1.0, abs(observed))))


def _how_many(result: Consistency) -> str:
    below = 1 - result.prob_calibrated_exceeds
    if below == 1:
        return f"all {np.count_nonzero(~np.isnan(result.under_calibration)):,}"
    return f"{min(math.floor(1000 * below + ROUNDING) / 10, 99.9):.3g} % of"
