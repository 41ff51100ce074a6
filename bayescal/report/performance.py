"""The predictions overall, and at thresholds: discrimination, Brier scores, net benefit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from bayescal import scores
from bayescal.core.arrays import Floats
from bayescal.core.errors import InputError
from bayescal.data.table import CalibrationData
from bayescal.estimators.uncertainty import Applied, Resamples
from bayescal.model.problem import Problem
from bayescal.posterior.intervals import equal_tailed
from bayescal.posterior.posterior import CalibrationPosterior
from bayescal.report.panel import resamples_for
from bayescal.scores.proper import WEIGHTED

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CLASSIFIED",
    "OVERALL",
    "DecisionRange",
    "classification",
    "combined_estimates",
    "decision_range",
    "mean_score",
    "net_benefit",
    "performance_by_curve",
    "performance_of",
    "with_ranks",
]

ENDS = ("estimate", "lower", "upper")
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

    Returns
    -------
    pandas.DataFrame
        Index: names in `bayescal.scores`. Columns: title, estimate, lower, upper; NaN where the
        data do not define them, as with one class only.
    """
    import pandas as pd

    data, clusters = problem.unclustered, problem.clusters
    if clusters is not None and clusters.are_single:
        clusters = None
    resamples = Resamples(with_ranks(data), resamples_for(data), seed, clusters)
    rows = {}
    for name, each in OVERALL.items():
        rows[name] = {"title": each.label, **dict.fromkeys(ENDS, np.nan)}
        with suppress(InputError):
            measure = Applied(name, each.function, {}, core=WEIGHTED[name])
            interval = resamples.interval(measure, "percentile", ci_prob)
            rows[name] |= {key: getattr(interval, key) for key in ENDS}
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
    return dict(zip(ENDS, (float(draws.mean()), *equal_tailed(draws, ci_prob)), strict=True))


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

    Returns
    -------
    pandas.DataFrame
        Index: thresholds. Of each name in `CLASSIFIED` the columns `_estimate` (mean), `_lower` and
        `_upper`; NaN where it is not defined, such as the PPV of a threshold that nobody reaches.
    """
    import pandas as pd

    *_, drawn = post._performances(list(thresholds), "bootstrap", False)
    columns = {name: drawn[name].reshape(-1, len(thresholds)) for name in CLASSIFIED}
    rows = {}
    for at, threshold in enumerate(thresholds):
        row: dict[str, float] = {}
        for name, by_threshold in columns.items():
            known = by_threshold[:, at][~np.isnan(by_threshold[:, at])]
            ends = told(known, ci_prob) if known.size else dict.fromkeys(ENDS, np.nan)
            row |= {f"{name}_{part}": number for part, number in ends.items()}
        rows[float(threshold)] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("threshold")


def net_benefit(
    post: CalibrationPosterior, thresholds: Sequence[float], ci_prob: float
) -> pd.DataFrame:
    """Net benefit per patient of treating by the model, everyone, or no one (which is 0).

    Returns
    -------
    pandas.DataFrame
        Index: thresholds. Columns: estimate (posterior median), lower, upper, treat_all (median)
        and prob_best, the probability that the model is better than everyone and than no one.
    """
    import pandas as pd

    columns = (*ENDS, "treat_all", "prob_best")
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
