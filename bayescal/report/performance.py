"""The predictions overall, and at thresholds: discrimination, Brier scores, net benefit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, xlogy

from bayescal import estimators, scores
from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError, check_choice
from bayescal.core.text import Measured
from bayescal.data.table import CalibrationData
from bayescal.data.weights import effective_cases
from bayescal.estimators.integrated import indices_of
from bayescal.estimators.registry import ESTIMATORS, Tested
from bayescal.estimators.survival import NUMBERS_OF_TIMES
from bayescal.estimators.uncertainty import Applied, Resamples, applied_of
from bayescal.model.problem import Problem
from bayescal.posterior.functionals import MOST_AT_ENDS, share_at_ends
from bayescal.posterior.intervals import equal_tailed
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.scores.proper import WEIGHTED
from bayescal.validation.consistency import (
    RARE,
    RESAMPLES_OF_TIMES,
    CalibratedOutcomes,
    Consistency,
    check_consistency,
)

if TYPE_CHECKING:
    import pandas as pd

PANEL = ("ece", "debiased_ece", "sweep_ece", "smooth_ece", "ici", "ks_error")
# Columns of the panel.
OF_PANEL = (
    "title", "estimate", "calibrated_lower", "calibrated_upper", "prob_exceeds", "verdict",
)  # fmt: skip
RESAMPLES = 400
MANY_CASES = 20_000
LARGE_RESAMPLES = 200
LARGER_ON_AVERAGE = "larger than calibrated models give, on average over the imputations"
WITHIN_ON_AVERAGE = "within what calibrated models give, on average over the imputations"


def panel_of(
    posts: Sequence[CalibrationPosterior], names: Sequence[str], seed: int
) -> pd.DataFrame:
    """Each estimator on the data, and whether calibration alone explains it.

    Of imputations estimates are averaged, and simulated sets shared among them. There is no
    bootstrap interval: near calibration these estimators are biased, a resample once more, and 95 %
    intervals were [0, 0] for the debiased ECE in 42 % of simulated sets, or lacked their own
    estimate in 8 %.
    """
    import pandas as pd

    of_times = posts[0].problem.of_times
    titles = NUMBERS_OF_TIMES if of_times else ESTIMATORS
    check = (_checks_of_times if of_times else _checks_of_outcomes)(posts, seed)
    rows = {}
    for name in names:
        title = titles[name].title
        try:
            checks = check(name)
        except InputError as error:
            rows[name] = dict.fromkeys(OF_PANEL, np.nan) | {"title": title, "verdict": str(error)}
            continue
        simulated = np.concatenate([check.under_calibration for check in checks])
        known = [np.count_nonzero(~np.isnan(check.under_calibration)) for check in checks]
        exceeds = [check.prob_calibrated_exceeds for check in checks]
        low = np.nanquantile(simulated, RARE, method="lower")
        high = np.nanquantile(simulated, 1 - RARE, method="higher")
        share = float(np.average(exceeds, weights=known))
        rows[name] = {
            "title": title,
            "estimate": float(np.mean([check.observed for check in checks])),
            "calibrated_lower": float(low),
            "calibrated_upper": float(high),
            "prob_exceeds": share,
            "verdict": _verdict(checks, share),
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    table.index.name = "estimator"
    return table


def _checks_of_outcomes(
    posts: Sequence[CalibrationPosterior], seed: int
) -> Callable[[str], list[Consistency]]:
    """Of known outcomes: the simulated data sets are drawn once for all estimators."""
    size = max(resamples_for(posts[0].problem.data), len(posts))
    calibrated = [
        CalibratedOutcomes(post, size, seed, (k, len(posts))) for k, post in enumerate(posts)
    ]
    return lambda name: [each.check(applied_of(name, {})) for each in calibrated]


def _checks_of_times(
    posts: Sequence[CalibrationPosterior], seed: int
) -> Callable[[str], list[Consistency]]:
    """Of times to an event: every estimator sees the same simulated data sets."""
    size = -(-RESAMPLES_OF_TIMES // len(posts))
    how: dict[str, Any] = {"n_resamples": size, "predict": False, "random_state": seed}
    return lambda name: [check_consistency(post, name, **how) for post in posts]


def _verdict(checks: Sequence[Consistency], share: float) -> str:
    if len(checks) == 1:
        return checks[0].verdict
    return LARGER_ON_AVERAGE if share < RARE else WITHIN_ON_AVERAGE


def no_panel() -> pd.DataFrame:
    """The panel of no estimator: where outcomes are not known."""
    import pandas as pd

    return pd.DataFrame(columns=[*OF_PANEL], index=pd.Index([], name="estimator"))


def panel_for(data: CalibrationData, names: Sequence[str]) -> tuple[str, ...]:
    """The estimators of a table as they were named; of times to an event none by default."""
    if data.follow_up is None:
        for name in names:
            check_choice(name, ESTIMATORS, "estimators")
        return tuple(names)
    if tuple(names) == PANEL:
        return ()
    if not {*names} <= {*NUMBERS_OF_TIMES}:
        raise InputError(
            f"estimators={[*names]!r} was given with times to an event, and other estimators are "
            f"of outcomes that are known. Choose from {', '.join(NUMBERS_OF_TIMES)}."
        )
    return tuple(names)


def resamples_for(data: CalibrationData) -> int:
    """Number of resamples: 400, and 200 above 20,000 cases."""
    return LARGE_RESAMPLES if data.effective_size > MANY_CASES else RESAMPLES


RANK_ERROR = 5e-3
LOWEST_THRESHOLD, HIGHEST_THRESHOLD = 0.01, 0.99
# Measures at a threshold that describe whom it selects, by their names in `performance`.
CLASSIFIED = ("treated", "sensitivity", "specificity", "ppv", "npv")


class Overall(NamedTuple):
    """A measure of the predictions overall: its function in `bayescal.scores`, and its words."""

    function: Callable[..., Any]
    label: str
    hint: str
    ideal: float
    unit: str = "probability"


# Measures of the predictions overall, by their names in `bayescal.scores`.
OVERALL = {
    "c_statistic": Overall(
        scores.c_statistic, "C-statistic (AUC)", "discrimination: 0.5 is chance", 1
    ),
    "brier_score": Overall(
        scores.brier_score,
        "Brier score",
        "mean squared difference of prediction and outcome",
        0,
        "squared probability",
    ),
    "scaled_brier_score": Overall(
        scores.scaled_brier_score,
        "Scaled Brier score",
        "relative improvement over the base rate",
        1,
        "share",
    ),
}


def mean_score(data: CalibrationData) -> float:
    """Average predicted probability over the cases."""
    return float(data.trials @ data.score / data.n)


def with_ranks(data: CalibrationData) -> CalibrationData:
    """The table itself; of one on a grid, its cells as if they were scores.

    Two cases of one cell count as equal, so that the C-statistic is off by at most half the share
    of pairs within cells: at most 0.003 on twelve simulated sets of 5000 to 500 000 cases, where it
    was off by less than 0.00015. Where the bound is above 0.005, or cases are weighted by other
    than whole counts, the table is returned as it is, and has no ranks.
    """
    events, others = data.hits, data.trials - data.hits
    counted = (data.hits % 1 == 0).all() and (data.trials % 1 == 0).all()
    if not data.is_compressed or data.is_pseudo or not counted or not 0 < data.events < data.n:
        return data
    if events @ others / (2 * events.sum() * others.sum()) > RANK_ERROR:
        return data
    return CalibrationData.from_counts(data.score, data.trials, data.hits)


def performance_of(problem: Problem, ci_prob: float, seed: int) -> pd.DataFrame:
    """C-statistic and Brier scores with percentile bootstrap intervals; clusters are drawn whole.

    NaN where the data do not define them, as with one class only.
    """
    import pandas as pd

    data, clusters = problem.unclustered, problem.clusters
    if clusters is not None and clusters.are_single:
        clusters = None
    resamples = Resamples(with_ranks(data), resamples_for(data), seed, clusters)
    rows = {}
    for name, each in OVERALL.items():
        rows[name] = {"title": each.label, **dict.fromkeys(Measured._fields, np.nan)}
        with suppress(InputError):
            measure = Applied(name, each.function, {}, core=WEIGHTED[name])
            interval = resamples.interval(measure, "percentile", ci_prob)
            rows[name] |= {key: getattr(interval, key) for key in Measured._fields}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("measure")


def performance_by_curve(post: CalibrationPosterior, ci_prob: float) -> pd.DataFrame:
    """The same read off the curve, with the intervals of the posterior.

    They know what the curve knows: that hospitals differ, or that some cases left before the
    horizon, whose outcome nobody knows.
    """
    import pandas as pd

    *_, drawn = post._performances((), "bootstrap", False)
    events, brier = (drawn[name].ravel() for name in ("events", "brier"))
    values = {
        "c_statistic": drawn["c_statistic"].ravel(),
        "brier_score": brier,
        "scaled_brier_score": 1 - brier / (events * (1 - events)),
    }
    rows = {
        name: {"title": each.label, **told(values[name], ci_prob)} for name, each in OVERALL.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("measure")


def told(draws: Floats, ci_prob: float) -> dict[str, float]:
    """Mean, lower and upper end of draws."""
    return Measured(float(draws.mean()), *equal_tailed(draws, ci_prob))._asdict()


def combined_estimates(tables: Sequence[pd.DataFrame], ci_prob: float) -> pd.DataFrame:
    """The mean of estimates over imputations; intervals know how these differ.

    Either arm of an interval is the root of the mean squared arm within an imputation and
    z^2 (1 + 1 / m) B, with z the normal quantile and B the variance of the estimates (Rubin 1987,
    Multiple Imputation for Nonresponse in Surveys, section 3.1). Columns beside the title are
    averaged; one table alone is returned as it is.
    """
    first = tables[0]
    if len(tables) == 1 or first.empty:
        return first
    table = first.copy()
    for column in first.columns.drop("title"):
        table[column] = np.mean([one[column].to_numpy(dtype=np.float64) for one in tables], axis=0)
    estimates = np.array([one["estimate"].to_numpy(dtype=np.float64) for one in tables])
    extra = ndtri((1 + ci_prob) / 2) ** 2 * (1 + 1 / len(tables)) * estimates.var(axis=0, ddof=1)
    for end, sign in (("lower", -1), ("upper", 1)):
        arms = [(one[end] - one["estimate"]).to_numpy(dtype=np.float64) for one in tables]
        table[end] = table["estimate"] + sign * np.sqrt(np.mean(np.square(arms), axis=0) + extra)
    return table


class DecisionRange(NamedTuple):
    """Thresholds over which the decision curve is drawn, and at which numbers are given."""

    lowest: float
    highest: float
    thresholds: tuple[float, ...]


def decision_range(post: CalibrationPosterior, given: Sequence[float]) -> DecisionRange:
    """From half to twice the prevalence, within [0.01, 0.99], and as far as given thresholds lie.

    Of times to an event the prevalence is the share by the horizon as the curve has it.
    """
    data = post.data
    prevalence = data.events / data.n
    if data.follow_up is not None:
        prevalence = float(post.estimate("observed_expected")) * mean_score(data)
    lowest, middle, highest = (
        float(f"{min(max(share * prevalence, LOWEST_THRESHOLD), HIGHEST_THRESHOLD):.2g}")
        for share in (0.5, 1, 2)
    )
    if highest <= lowest:  # events are rarer than the cap
        highest = 2 * lowest
    at = tuple(given) or tuple(sorted({lowest, middle, highest}))
    return DecisionRange(min(lowest, *at), max(highest, *at), at)


def classification(
    post: CalibrationPosterior, thresholds: Sequence[float], ci_prob: float
) -> pd.DataFrame:
    """Whom a threshold selects, from draws of the curve and of the population.

    NaN where it is not defined, such as the PPV of a threshold that nobody reaches.
    """
    import pandas as pd

    *_, drawn = post._performances(list(thresholds), "bootstrap", False)
    columns = {name: drawn[name].reshape(-1, len(thresholds)) for name in CLASSIFIED}
    rows = {}
    for at, threshold in enumerate(thresholds):
        row: dict[str, float] = {}
        for name, by_threshold in columns.items():
            known = by_threshold[:, at][~np.isnan(by_threshold[:, at])]
            ends = told(known, ci_prob) if known.size else dict.fromkeys(Measured._fields, np.nan)
            row |= {f"{name}_{part}": number for part, number in ends.items()}
        rows[float(threshold)] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("threshold")


def net_benefit(
    post: CalibrationPosterior, thresholds: Sequence[float], ci_prob: float
) -> pd.DataFrame:
    """Net benefit per patient of treating by the model (median), everyone, or no one (which is 0).

    prob_best is the probability that the model is better than everyone and than no one.
    """
    import pandas as pd

    columns = (*Measured._fields, "treat_all", "prob_best")
    rows = {}
    if thresholds:
        benefit = post.net_benefit(list(thresholds))
        ends = [0.5, (1 - ci_prob) / 2, (1 + ci_prob) / 2]
        own = np.quantile(benefit["model"].to_numpy(), ends, axis=(0, 1))
        everyone = np.median(benefit["treat_all"].to_numpy(), axis=(0, 1))
        best = benefit["prob_best"].to_numpy()
        for index, threshold in enumerate(thresholds):
            numbers = (*own[:, index], everyone[index], best[index])
            rows[float(threshold)] = dict(zip(columns, map(float, numbers), strict=True))
    table = pd.DataFrame.from_dict(rows, orient="index", columns=list(columns))
    return table.rename_axis("threshold")


class RawCases(NamedTuple):
    """Outcomes, scores and numbers of cases (of sampling weights: up to Kish's effective size)."""

    outcome: NDArray[Any]
    score: Floats
    weight: Floats | None


def raw_cases(data: CalibrationData) -> tuple[RawCases, ...]:
    """The cases behind a table on a grid, of each imputation; none where only the table is known.

    Its estimators are then those of the scores themselves.
    """
    return tuple(
        RawCases(
            outcome,
            score.astype(np.float64, copy=False),
            None if weight is None else effective_cases(weight, data.weight_type),
        )
        for outcome, score, weight in data._known_cases()
    )


# Names in the order of val.prob, and what each is.
VAL_PROB = {
    "Dxy": "Somers' rank correlation, 2 C - 1",
    "C (ROC)": "C-statistic",
    "R2": "Nagelkerke's R squared of the predictions as they are",
    "D": "discrimination index",
    "D:Chi-sq": "its likelihood ratio",
    "U": "unreliability index",
    "U:Chi-sq": "its likelihood ratio",
    "U:p": "its p-value, 2 degrees of freedom",
    "Q": "quality index, D - U",
    "Brier": "Brier score",
    "Intercept": "fitted jointly with the slope; not calibration-in-the-large",
    "Slope": "calibration slope",
    "Emax": "largest error of a lowess curve",
    "E90": "90th percentile of its error",
    "Eavg": "its average error",
    "S:z": "Spiegelhalter's z",
    "S:p": "its two-sided p-value",
}
OF_LOWESS = ("emax", "e90", "ici")


def no_val_prob() -> pd.Series:
    """The same names, none of them defined: of times to an event."""
    import pandas as pd

    return pd.Series(dict.fromkeys(VAL_PROB, float("nan")))


def val_prob(cases: CalibrationData | RawCases) -> pd.Series:
    """The statistics of `val.prob` of R's package rms (Harrell 2015, section 10.9), by its names.

    None is read off the posterior, so Eavg, E90 and Emax differ from ICI, E90 and Emax of an
    assessment. Slope and intercept are NaN where many scores are exactly 0 or 1; of a grid the
    statistics differ from those of the cases in their third digit.
    """
    import pandas as pd

    arrays: tuple[Any, ...]
    ranked: tuple[Any, ...]
    if isinstance(cases, CalibrationData):
        size, rate, at_ends = cases.effective_size, cases.events / cases.n, share_at_ends(cases)
        arrays, ranked, options = (cases,), (with_ranks(cases),), dict[str, Any]()
    else:
        arrays = ranked = outcome, score = cases[:2]
        options = {"sample_weight": cases.weight}
        size = float(outcome.size if cases.weight is None else cases.weight.sum())
        rate = float(np.average(outcome, weights=cases.weight))
        at_ends = float(np.average((score == 0) | (score == 1), weights=cases.weight))

    def by(measure: Callable[..., Any], undefined: Any = np.nan, **more: Any) -> Any:
        try:
            return measure(*(ranked if measure is scores.somers_dxy else arrays), **options, **more)
        except InputError:
            return undefined

    dxy, no_test = by(scores.somers_dxy), Tested(np.nan, np.nan)
    index, unreliability = by(estimators.discrimination_index), by(estimators.unreliability)
    cox, spiegelhalter = (
        by(test, no_test) for test in (estimators.cox_test, estimators.spiegelhalter_test)
    )
    line = (estimators.calibration_intercept, estimators.calibration_slope)
    lowess = by(indices_of, dict.fromkeys(OF_LOWESS, np.nan), names=OF_LOWESS, smoother="lowess")
    ratio = index * size + 1  # twice the log likelihood of the scores, less that of the mean
    deviance = -2 * (xlogy(rate, rate) + xlogy(1 - rate, 1 - rate))  # 0 of one class
    numbers = (
        *(dxy, (1 + dxy) / 2),
        (1 - np.exp(-ratio / size)) / (1 - np.exp(-deviance)) if deviance else np.nan,
        *(index, ratio, unreliability, cox.statistic, cox.pvalue, index - unreliability),
        by(scores.brier_score),
        *(by(each) if at_ends < MOST_AT_ENDS else np.nan for each in line),
        *(lowess[name] for name in OF_LOWESS),
        *(spiegelhalter.statistic, spiegelhalter.pvalue),
    )
    return pd.Series(dict(zip(VAL_PROB, numbers, strict=True)), name="val_prob", dtype=float)
