"""What was observed, as numbers for a figure: proportions in bins of scores, and the scores."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayescal.core.arrays import Floats
from bayescal.core.errors import as_level
from bayescal.data.table import CalibrationData
from bayescal.data.times import TIME_STEPS, FollowUp
from bayescal.estimators.bins import as_bins
from bayescal.estimators.proportions import aalen_johansen, jeffreys
from bayescal.posterior.posterior import CalibrationPosterior, check_outcomes

__all__ = ["Observed", "ScoreCounts", "count_scores", "observed_of", "observed_proportions"]

HANDFUL = 5
MOST_BINS = 15


class Observed(NamedTuple):
    """Observed proportions of the event in bins of scores, ascending.

    Attributes
    ----------
    score : ndarray of shape (bins,)
        Mean score of the cases in the bin.
    trials, hits : ndarray of shape (bins,)
        Cases and events; effective ones when the weights are sampling weights, or cases left
        before the horizon.
    proportion, lower, upper : ndarray of shape (bins,)
        Observed proportion and its Jeffreys interval.
    """

    score: Floats
    trials: Floats
    hits: Floats
    proportion: Floats
    lower: Floats
    upper: Floats


class ScoreCounts(NamedTuple):
    """A histogram of the scores by outcome.

    Attributes
    ----------
    edges : ndarray of shape (bins + 1,)
    events, non_events : ndarray of shape (bins,)
        Cases in each bin.
    """

    edges: Floats
    events: Floats
    non_events: Floats


def observed_proportions(
    data: CalibrationData, bins: int | Literal["auto"] = "auto", ci_prob: float = 0.95
) -> Observed:
    """Observed proportions in bins that hold about equally many cases; ties stay together.

    Of times to an event they are those of Kaplan and Meier by the horizon, and with competing
    events those of Aalen and Johansen, without the bins in which at some time before it no case was
    under observation.

    Parameters
    ----------
    bins : int or "auto"
        At most this many bins. "auto" takes the cube root of the number of cases, at most 15 and
        with at least five cases each; when there are no more distinct scores than that and each
        has its five cases, every score is a bin.
    ci_prob : float in (0, 1)
        Probability of the Jeffreys intervals.

    References
    ----------
    Brown, Cai & DasGupta (2001), Interval estimation for a binomial proportion, Statistical
    Science 16, section 4.3: an endpoint is 0 (or 1) when no case (or every case) had the event.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.plots._observed import observed_proportions
    >>> data = bc.CalibrationData.from_counts([0.1, 0.5, 0.9], [10, 10, 10], [0, 4, 9])
    >>> observed_proportions(data).proportion
    array([0. , 0.4, 0.9])
    """
    trials, hits = data.trials * data.weight_scale, data.hits * data.weight_scale
    starts = _bin_starts(trials, bins)
    cases, events = np.add.reduceat(trials, starts), np.add.reduceat(hits, starts)
    score = np.add.reduceat(trials * data.score, starts) / cases
    if data.follow_up is not None:
        risks = _risks_of(data, data.follow_up, starts)
        known = np.isfinite(risks[:, 0])
        score, (risk, cases) = score[known], risks[known].T
        events = risk * cases
    return Observed(
        score, cases, events, events / cases, *jeffreys(cases, events, as_level(ci_prob))
    )


def observed_of(
    post: CalibrationPosterior, bins: int | Literal["auto"] | None, ci_prob: float
) -> Observed | None:
    """Observed proportions of a posterior's data; None if not asked for.

    Parameters
    ----------
    bins : int, "auto" or None
        "auto" is None of data without outcomes.
    """
    automatic = isinstance(bins, str) and bins == "auto"
    if bins is None or (automatic and not post.has_outcomes):
        return None
    check_outcomes(post, "n_bins")
    return observed_proportions(post.problem.unclustered, bins, ci_prob)


def count_scores(data: CalibrationData, low: float, high: float, bins: int = 50) -> ScoreCounts:
    """Count scores by outcome in equally wide bins from `low` to `high`.

    Scores without outcomes are counted among those without the event.

    Examples
    --------
    >>> import bayescal as bc
    >>> from bayescal.plots._observed import count_scores
    >>> data = bc.CalibrationData([0, 1, 1, 0], [0.2, 0.8, 0.9, 0.2])
    >>> count_scores(data, 0, 1, bins=2).non_events
    array([2., 0.])
    """
    edges = np.linspace(low, high, bins + 1)
    hits = data.hits if data.has_outcomes else np.zeros(data.score.size)
    events, _ = np.histogram(data.score, edges, weights=hits)
    non_events, _ = np.histogram(data.score, edges, weights=data.trials - hits)
    return ScoreCounts(edges, events, non_events)


def _risks_of(data: CalibrationData, followed: FollowUp, starts: NDArray[np.intp]) -> Floats:
    """Risk by the horizon and effective cases of each bin, of shape (bins, 2)."""
    bin_of = np.searchsorted(starts, followed.row, side="right") - 1
    weight = followed.weight * data.weight_scale
    parts = [bin_of == k for k in range(starts.size)]
    entry, last, event, other = followed.entry, followed.exit, followed.event, followed.other
    return np.array(
        [
            aalen_johansen(entry[k], last[k], event[k], other[k], weight[k], TIME_STEPS)
            for k in parts
        ]
    )


def _bin_starts(trials: Floats, bins: int | Literal["auto"]) -> NDArray[np.intp]:
    """Index of the first row of each bin; a bin takes rows until it has its share of the cases."""
    if isinstance(bins, str) and bins == "auto":
        if trials.size <= MOST_BINS and trials.min() >= HANDFUL:
            return np.arange(trials.size)
        wanted = min(round(trials.sum() ** (1 / 3)), int(trials.sum()) // HANDFUL, MOST_BINS)
    else:
        wanted = as_bins(bins)
    share = trials.sum() / max(wanted, 1) * (1 - 1e-9)
    starts, in_bin = [0], 0.0
    for row, cases in enumerate(trials.tolist()):
        if in_bin >= share:
            starts.append(row)
            in_bin = 0.0
        in_bin += cases
    if in_bin < min(share, HANDFUL) and len(starts) > 1:
        starts.pop()
    return np.array(starts)
